// What each TypeScript client does, and how it tells.
const say = (step, value) => console.log(JSON.stringify({ step, value }));

async function step(name, work) {
  try {
    say(name, await work());
    return true;
  } catch (error) {
    console.log(JSON.stringify({ step: name, error: String(error?.message ?? error) }));
    return false;
  }
}

export async function steps(client, transport, revision, tasks) {
  const connected = await step('connect', async () => {
    await client.connect(transport);
    return await revision();
  });
  if (connected) {
    await step('tools/list', async () => (await client.listTools()).tools.map((tool) => tool.name).sort());
    await step('tools/call', async () => {
      const call = (name, args) => client.callTool({ name, arguments: args });
      const add = await call('add', { a: 1, b: 2 });
      const pixel = await call('pixel', {});
      const weather = await call('weather', {});
      const fail = await call('fail', {});
      return {
        add: add.content[0].text,
        pixel: pixel.content[0].mimeType,
        weather: weather.structuredContent?.degrees ?? null,
        fail: fail.isError === true,
      };
    });
    await step('resources/read', async () => (await client.readResource({ uri: 'example://greeting' })).contents[0].text);
    await step('prompts/get', async () => {
      const prompt = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
      return prompt.messages[0].content.text;
    });
    const task = tasks?.();
    if (task) await step('task', task);
  }
  await client.close().catch(() => {});
  process.exit(0);
}
