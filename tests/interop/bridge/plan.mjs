// What each TypeScript client does at the other end of a bridge, by the plan in its first argument; one JSON line a step.
export const plan = JSON.parse(process.argv[2]);
export const [mode, channel, command, ...args] = process.argv.slice(3);

const say = (step, value) => console.log(JSON.stringify({ step, value }));

/** The responses of a model or a user to the requests of a server. */
export const sampled = () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Monday' } });
export const elicited = () => ({ action: 'accept', content: { day: 'Monday', name: 'Ada' } });

/** Goes through the plan; `watch` begins to listen to a resource, and `updated` is called with it. */
export async function go({ client, transport, revision, watch, updated }) {
  const step = async (name, work) => {
    try {
      say(name, await work());
      return true;
    } catch (error) {
      console.log(JSON.stringify({ step: name, error: String(error?.message ?? error) }));
      return false;
    }
  };
  const text = async ([name, args]) => (await client.callTool({ name, arguments: args })).content[0].text;
  const connected = await step('connect', async () => {
    await client.connect(transport);
    return await revision();
  });
  if (connected) {
    await step('tools/list', async () => (await client.listTools()).tools.length > 0);
    await step('tool', () => text(plan.tool));
    await step('sampling', () => text(plan.sampling));
    if (plan.elicitation) await step('elicitation', () => text(plan.elicitation));
    await step('resource', async () => (await client.readResource({ uri: plan.resource })).contents[0].text);
    if (plan.touch) await step('subscription', async () => {
      await watch(plan.resource);
      await text(plan.touch);
      return await Promise.race([
        updated,
        new Promise((_, fail) => setTimeout(() => fail(new Error('nothing was heard')), 10000)),
      ]);
    });
    await step('prompt', async () => (await client.getPrompt({ name: plan.prompt })).messages[0].content.text);
  }
  await Promise.race([client.close().catch(() => {}), new Promise((done) => setTimeout(done, 2000))]);
  process.exit(0);
}
