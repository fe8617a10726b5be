"""The Python SDK as a client: `python python_client.py legacy|auto|VERSION stdio|http|sse TARGET...`; one JSON line for each step."""

import asyncio
import json
import sys

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client


async def step(name, work):
    try:
        print(json.dumps({"step": name, "value": await work()}), flush=True)
    except Exception as error:
        print(json.dumps({"step": name, "error": f"{type(error).__name__}: {error}"}), flush=True)


async def run(client):
    async def revision():
        return str(client.protocol_version)

    async def tools():
        return sorted(tool.name for tool in (await client.list_tools()).tools)

    async def call():
        add = await client.call_tool("add", {"a": 1, "b": 2})
        pixel = await client.call_tool("pixel", {})
        weather = await client.call_tool("weather", {})
        fail = await client.call_tool("fail", {})
        return {
            "add": add.content[0].text,
            "pixel": pixel.content[0].mime_type,
            "weather": (weather.structured_content or {}).get("degrees"),
            "fail": fail.is_error is True,
        }

    async def read():
        return (await client.read_resource("example://greeting")).contents[0].text

    async def prompt():
        return (await client.get_prompt("greet", {"name": "Ada"})).messages[0].content.text

    await step("connect", revision)
    await step("tools/list", tools)
    await step("tools/call", call)
    await step("resources/read", read)
    await step("prompts/get", prompt)


async def main():
    mode, channel, command, *args = sys.argv[1:]
    if channel == "http":
        target = command
    elif channel == "sse":
        target = sse_client(command)
    else:
        target = stdio_client(StdioServerParameters(command=command, args=args))
    try:
        async with Client(target, mode=mode) as client:
            await run(client)
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(json.dumps({"step": "connect", "error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
