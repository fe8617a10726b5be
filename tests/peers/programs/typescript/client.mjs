import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'lister', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args }));
for (const tool of (await client.listTools()).tools) {
  console.log(tool.name);
}
await client.close();
