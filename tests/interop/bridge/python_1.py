"""The Python SDK 1.x behind a bridge: `python python_1.py PLAN initialize stdio|http TARGET...`; one JSON line a step."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

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


@asynccontextmanager
async def connected(channel, command, args):
    if channel == "http":
        async with streamablehttp_client(command) as (read, write, _):
            yield read, write
    else:
        async with stdio_client(StdioServerParameters(command=command, args=args)) as streams:
            yield streams


async def run(session, updated):
    async def text(tool):
        return (await session.call_tool(tool[0], tool[1])).content[0].text

    async def revision():
        return str((await session.initialize()).protocolVersion)

    async def listed():
        return len((await session.list_tools()).tools) > 0

    async def resource():
        return (await session.read_resource(PLAN["resource"])).contents[0].text

    async def subscription():
        await session.subscribe_resource(PLAN["resource"])
        await text(PLAN["touch"])
        return await asyncio.wait_for(updated, 10)

    async def prompt():
        return (await session.get_prompt(PLAN["prompt"])).messages[0].content.text

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
    _, channel, command, *args = sys.argv[2:]
    updated = asyncio.get_running_loop().create_future()

    async def heard(message):
        message = getattr(message, "root", message)
        if getattr(message, "method", None) == "notifications/resources/updated" and not updated.done():
            updated.set_result(str(message.params.uri))

    callbacks = {"sampling_callback": sampled, "message_handler": heard}
    if hasattr(types, "ElicitResult"):
        callbacks["elicitation_callback"] = elicited
    try:
        async with connected(channel, command, args) as (read, write):
            async with ClientSession(read, write, **callbacks) as session:
                await run(session, updated)
    except BaseException as error:
        while hasattr(error, "exceptions"):
            error = error.exceptions[0]
        print(json.dumps({"step": "end", "error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
