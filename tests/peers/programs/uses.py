"""Uses all that the server of the table offers, and fails where it is not what it should be: `uses.py SERVER...`."""

import asyncio
import sys

from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import PromptReference


async def main():
    command, *args = sys.argv[1:]
    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:
        add = await client.call_tool("add", {"a": 1, "b": 2})
        sky = await client.call_tool("sky", {})
        fail = await client.call_tool("fail", {})
        hello = await client.read_resource("example://hello")
        greet = await client.get_prompt("greet", {"name": "Ada"})
        names = await client.complete(PromptReference(name="greet"), {"name": "name", "value": "A"})
        seen = {
            "add": float(add.content[0].text),
            "sky": sky.content[0].text,
            "fail": (fail.is_error, "there is no such city" in fail.content[0].text),
            "hello": hello.contents[0].text,
            "greet": greet.messages[0].content.text,
            "names": names.completion.values,
        }
    expected = {
        "add": 3.0,
        "sky": "clear",
        "fail": (True, True),
        "hello": "Hello.",
        "greet": "Greet Ada.",
        "names": ["Ada", "Alan"],
    }
    print("    uses" if seen == expected else f"    {seen}")
    sys.exit(seen != expected)


asyncio.run(main())
