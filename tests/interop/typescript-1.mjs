// The TypeScript SDK 1.x as a client: `node typescript-1.mjs handshake stdio|http|sse TARGET...`; one JSON line for each step.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { steps } from './steps.mjs';

const [, channel, command, ...args] = process.argv.slice(2);
const transport = {
  http: () => new StreamableHTTPClientTransport(new URL(command)),
  sse: () => new SSEClientTransport(new URL(command)),
  stdio: () => new StdioClientTransport({ command, args }),
}[channel]();
// This SDK offers its newest revision and keeps the one that is agreed upon to its transport.
let agreed;
const keep = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => { agreed = version; keep?.(version); };
const client = new Client({ name: 'interop', version: '1' });
// Only its newest revision has tasks: the call asks for one, which the client looks at.
async function task() {
  const ends = [];
  const call = { name: 'count', arguments: { to: 3 } };
  for await (const said of client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: { ttl: 60000 } })) {
    if (said.type === 'error') throw said.error;
    if (said.type !== 'taskStatus') ends.push(said.result?.content[0].text ?? said.type);
  }
  return ends;
}
await steps(client, transport, () => agreed, () => agreed === '2025-11-25' && task);
