// The server, of the TypeScript SDK: `node typescript.mjs PORT sessions|stateless`, in a folder with its packages.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const [port, mode] = process.argv.slice(2);
const sessions = new Map();

async function transport() {
  const server = new McpServer({ name: 'example', version: '1.0.0' });
  const numbers = { a: z.number(), b: z.number() };
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema: numbers }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  const one = new StreamableHTTPServerTransport({
    sessionIdGenerator: mode === 'sessions' ? randomUUID : undefined,
    onsessioninitialized: id => sessions.set(id, one),
    enableJsonResponse: mode !== 'sessions',
  });
  await server.connect(one);
  return one;
}

const http = createServer(async (request, response) => {
  const known = sessions.get(request.headers['mcp-session-id']);
  await (known ?? (await transport())).handleRequest(request, response);
});
http.on('connection', socket => socket.setNoDelay(true));
http.listen(Number(port), '127.0.0.1');
