// A server of the TypeScript SDK 1.x: `node typescript-1-server.mjs stdio|http [PORT]`
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

const day = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
const said = (text) => ({ content: [{ type: 'text', text }] });

function made() {
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {} };
  const server = new Server({ name: 'typescript-1', version: '1' }, { capabilities });
  const watched = new Set();
  const on = (schema, answer) => server.setRequestHandler(schema, answer);
  on(types.ListToolsRequestSchema, () => ({
    tools: ['add', 'sample', 'ask', 'touch'].map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  on(types.CallToolRequestSchema, async ({ params }, { requestId }) => {
    const about = { relatedRequestId: requestId };
    switch (params.name) {
      case 'add': return said(String(params.arguments.a + params.arguments.b));
      case 'sample': {
        const messages = [{ role: 'user', content: { type: 'text', text: 'Which day?' } }];
        return said((await server.createMessage({ messages, maxTokens: 10 }, about)).content.text);
      }
      case 'ask': return said((await server.elicitInput({ message: 'Which day?', requestedSchema: day }, about)).content.day);
      default:
        for (const uri of watched) await server.sendResourceUpdated({ uri });
        return said('touched');
    }
  });
  on(types.ListResourcesRequestSchema, () => ({ resources: [{ name: 'hello', uri: 'file:///hello' }] }));
  on(types.ReadResourceRequestSchema, ({ params }) => ({ contents: [{ uri: params.uri, text: 'Hello' }] }));
  on(types.SubscribeRequestSchema, ({ params }) => { watched.add(params.uri); return {}; });
  on(types.ListPromptsRequestSchema, () => ({ prompts: [{ name: 'greet' }] }));
  on(types.GetPromptRequestSchema, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Greet' } }] }));
  return server;
}

if (process.argv[2] === 'stdio') {
  await made().connect(new StdioServerTransport());
} else {
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map();
  createServer(async (request, response) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await made().connect(transport);
    }
    await transport.handleRequest(request, response);
  }).listen(Number(process.argv[3]), '127.0.0.1');
}
