// mcp-remote signs in to a server, and a client of the TypeScript SDK 1.x speaks through it: `node mcp-remote.mjs URL`.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { steps } from './steps.mjs';

const proxy = fileURLToPath(new URL('node_modules/mcp-remote/dist/proxy.js', import.meta.url));
// Its sign-ins are those of this run only, and it names the page on standard error.
const env = { ...process.env, MCP_REMOTE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'mcp-remote-')) };
const transport = new StdioClientTransport({ command: 'node', args: [proxy, process.argv[2]], env, stderr: 'inherit' });
await steps(new Client({ name: 'interop', version: '1' }), transport, () => transport.protocolVersion ?? 'connected');
