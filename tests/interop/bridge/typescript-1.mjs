// The TypeScript SDK 1.x behind a bridge: `node typescript-1.mjs PLAN handshake stdio|http TARGET...`
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { args, channel, command, elicited, go, sampled } from './plan.mjs';

const transport = channel === 'http'
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args });
let agreed;
const keep = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => { agreed = version; keep?.(version); };
const client = new Client({ name: 'interop', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
client.setRequestHandler(CreateMessageRequestSchema, sampled);
client.setRequestHandler(ElicitRequestSchema, elicited);
const updated = new Promise((heard) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (said) => heard(said.params.uri));
});
await go({ client, transport, updated, revision: () => agreed, watch: (uri) => client.subscribeResource({ uri }) });
