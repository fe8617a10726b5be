import { McpServer, completable } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const says = text => ({ content: [{ type: 'text', text }] });

serveStdio(() => {
  const server = new McpServer({ name: 'example', version: '1.0.0' });
  const numbers = z.object({ a: z.number(), b: z.number() });
  const add = { description: 'Adds two numbers.', inputSchema: numbers };
  server.registerTool('add', add, ({ a, b }) => says(String(a + b)));
  server.registerTool('sky', { description: 'How the sky is.' }, () => says('clear'));
  server.registerTool('fail', { description: 'Fails, and says so.' }, () => {
    throw new Error('there is no such city');
  });
  server.registerResource('hello', 'example://hello', {}, uri => ({
    contents: [{ uri: uri.href, text: 'Hello.' }],
  }));
  const names = z.object({ name: completable(z.string(), () => ['Ada', 'Alan']) });
  const greet = { description: 'Greets somebody.', argsSchema: names };
  server.registerPrompt('greet', greet, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}.` } }],
  }));
  return server;
});
