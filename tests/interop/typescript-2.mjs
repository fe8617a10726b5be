// The TypeScript SDK 2.x as a client: `node typescript-2.mjs legacy|auto|VERSION stdio|http TARGET...`; one JSON line for each step.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { steps } from './steps.mjs';

const [mode, channel, command, ...args] = process.argv.slice(2);
const transport = channel === 'http'
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args });
const modes = { legacy: 'legacy', auto: 'auto' };
const negotiation = { mode: modes[mode] ?? { pin: mode } };
const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: negotiation });
await steps(client, transport, () => client.getNegotiatedProtocolVersion());
