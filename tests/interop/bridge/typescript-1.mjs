// The TypeScript SDK 1.x behind a bridge: `node typescript-1.mjs PLAN handshake stdio|http TARGET...`
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { args, channel, command, elicited, go, sampled } from './plan.mjs';

async function overHttp() {
  // The oldest ones have none.
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  return new StreamableHTTPClientTransport(new URL(command));
}
const transport = channel === 'http' ? await overHttp() : new StdioClientTransport({ command, args });
// Not every one of them says what was agreed on.
let agreed;
let hear;
Object.defineProperty(transport, 'onmessage', {
  get: () => hear,
  set(heard) {
    hear = heard && ((message, ...more) => {
      agreed ??= message.result?.protocolVersion;
      return heard(message, ...more);
    });
  },
});
const elicits = types.ElicitRequestSchema !== undefined;
const capabilities = { sampling: {}, ...(elicits ? { elicitation: {} } : {}) };
const client = new Client({ name: 'interop', version: '1' }, { capabilities });
client.setRequestHandler(types.CreateMessageRequestSchema, sampled);
if (elicits) client.setRequestHandler(types.ElicitRequestSchema, elicited);
const updated = new Promise((heard) => {
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (said) => heard(said.params.uri));
});
await go({ client, transport, updated, revision: () => agreed, watch: (uri) => client.subscribeResource({ uri }) });
