"""The Python SDK behind a bridge: `python python_bridged.py PLAN legacy|auto|VERSION stdio|http TARGET...`; one JSON line a step."""

import asyncio
import json
import sys

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

PLAN = json.loads(sys.argv[1])


async def step(name, work):
    try:
        print(json.dumps({"step": name, "value": await asyncio.wait_for(work(), 20)}), flush=True)
    except Exception as error:
        print(json.dumps({"step": name, "error": f"{type(error).__name__}: {error}"}), flush=True)


async def sampled(context, params):
    content = types.TextContent(type="text", text="Monday")
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def elicited(context, params):
    return types.ElicitResult(action="accept", content={"day": "Monday", "name": "Ada"})


async def run(client, updated):
    async def text(tool):
        return (await client.call_tool(tool[0], tool[1])).content[0].text

    async def revision():
        return str(client.protocol_version)

    async def listed():
        return len((await client.list_tools()).tools) > 0

    async def resource():
        return (await client.read_resource(PLAN["resource"])).contents[0].text

    async def subscription():
        uri = PLAN["resource"]
        if client.protocol_version >= "2026":
            async with client.listen(resource_subscriptions=[uri]) as stream:
                await text(PLAN["touch"])
                async for event in stream:
                    return str(event.uri)
        await client.subscribe_resource(uri)
        await text(PLAN["touch"])
        return await asyncio.wait_for(updated, 10)

    async def prompt():
        return (await client.get_prompt(PLAN["prompt"])).messages[0].content.text

    await step("connect", revision)
    await step("tools/list", listed)
    await step("tool", lambda: text(PLAN["tool"]))
    await step("sampling", lambda: text(PLAN["sampling"]))
    if PLAN["elicitation"]:
        await step("elicitation", lambda: text(PLAN["elicitation"]))
    await step("resource", resource)
    if PLAN["touch"]:
        await step("subscription", subscription)
    await step("prompt", prompt)


async def main():
    mode, channel, command, *args = sys.argv[2:]
    target = command
    if channel != "http":
        target = stdio_client(StdioServerParameters(command=command, args=args))
    updated = asyncio.get_running_loop().create_future()

    async def heard(message):
        message = getattr(message, "root", message)
        if getattr(message, "method", None) == "notifications/resources/updated" and not updated.done():
            updated.set_result(str(message.params.uri))

    callbacks = {"sampling_callback": sampled, "elicitation_callback": elicited, "message_handler": heard}
    try:
        async with Client(target, mode=mode, **callbacks) as client:
            await run(client, updated)
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(json.dumps({"step": "connect", "error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
