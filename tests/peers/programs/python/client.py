import asyncio
import sys

from mcp import Client, StdioServerParameters, stdio_client


async def main():
    command, *args = sys.argv[1:]
    server = stdio_client(StdioServerParameters(command=command, args=args))
    async with Client(server) as client:
        for tool in (await client.list_tools()).tools:
            print(tool.name)


asyncio.run(main())
