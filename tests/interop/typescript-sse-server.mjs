// The TypeScript SDK 1.x as a server that speaks only HTTP+SSE; it says where it listens.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });

function example() {
  const server = new McpServer({ name: 'interop', version: '1' });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => text(String(a + b)));
  server.registerTool('pixel', {}, () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }));
  server.registerTool('weather', { outputSchema: { degrees: z.number() } }, () => ({ ...text('21.5'), structuredContent: { degrees: 21.5 } }));
  server.registerTool('fail', {}, () => ({ ...text('there is no such city'), isError: true }));
  server.registerResource('greeting', 'example://greeting', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'Hello from every revision.' }] }));
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name} in one sentence.` } }],
  }));
  return server;
}

const open = new Map();
const http = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const transport = open.get(searchParams.get('sessionId'));
  if (request.method === 'GET' && pathname === '/sse') {
    const transport = new SSEServerTransport('/messages', response);
    open.set(transport.sessionId, transport);
    response.on('close', () => open.delete(transport.sessionId));
    await example().connect(transport);
  } else if (request.method === 'POST' && pathname === '/messages' && transport) {
    await transport.handlePostMessage(request, response);
  } else {
    response.writeHead(404).end();
  }
});
http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}/sse`));
