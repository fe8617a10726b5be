// The TypeScript SDK 2.x behind a bridge: `node typescript-2.mjs PLAN legacy|auto|VERSION stdio|http TARGET...`
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { args, channel, command, elicited, go, mode, sampled } from './plan.mjs';

const transport = channel === 'http'
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args });
const modes = { legacy: 'legacy', auto: 'auto' };
const client = new Client({ name: 'interop', version: '1' }, {
  capabilities: { sampling: {}, elicitation: {} },
  versionNegotiation: { mode: modes[mode] ?? { pin: mode } },
});
client.setRequestHandler('sampling/createMessage', sampled);
client.setRequestHandler('elicitation/create', elicited);
const updated = new Promise((heard) => {
  client.setNotificationHandler('notifications/resources/updated', (said) => heard(said.params.uri));
});
// Where there is no handshake, a client listens.
const watch = (uri) => (client.getNegotiatedProtocolVersion() >= '2026'
  ? client.listen({ resourceSubscriptions: [uri] })
  : client.subscribeResource({ uri }));
await go({ client, transport, updated, revision: () => client.getNegotiatedProtocolVersion(), watch });
