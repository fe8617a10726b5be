// The TypeScript SDK 2.x signs in to a server: `node typescript-2.mjs URL`; one JSON line for each step.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { run } from './sign_in.mjs';

const url = new URL(process.argv[2]);
const connection = (authProvider) => {
  const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  return {
    client,
    transport: new StreamableHTTPClientTransport(url, { authProvider }),
    revision: () => client.getNegotiatedProtocolVersion(),
  };
};
await run(connection, (error) => error instanceof UnauthorizedError);
