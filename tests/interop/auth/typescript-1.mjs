// The TypeScript SDK 1.x signs in to a server: `node typescript-1.mjs URL`; one JSON line for each step.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run } from './sign_in.mjs';

const url = new URL(process.argv[2]);
const connection = (authProvider) => {
  const transport = new StreamableHTTPClientTransport(url, { authProvider });
  return {
    client: new Client({ name: 'interop', version: '1' }),
    transport,
    revision: () => transport.protocolVersion,
  };
};
await run(connection, (error) => error instanceof UnauthorizedError);
