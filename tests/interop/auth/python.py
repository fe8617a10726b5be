"""The Python SDK signs in to a server: `python python.py URL`; one JSON line for each step."""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Memory:
    """Keeps what a provider stores."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def main():
    returned = asyncio.get_running_loop().create_future()

    async def answer(reader, writer):
        target = (await reader.readline()).split()[1].decode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nsigned in")
        await writer.drain()
        writer.close()
        if not returned.done():
            returned.set_result({name: values[0] for name, values in parse_qs(urlsplit(target).query).items()})

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    redirect = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/callback"

    async def show(page):
        print(page, file=sys.stderr, flush=True)

    async def callback():
        query = await returned
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    metadata = OAuthClientMetadata(client_name="interop", redirect_uris=[redirect], scope="read", token_endpoint_auth_method="none")
    provider = OAuthClientProvider(sys.argv[1], metadata, Memory(), show, callback)
    async with httpx2.AsyncClient(auth=provider, follow_redirects=True, timeout=30) as http:
        async with Client(streamable_http_client(sys.argv[1], http_client=http)) as client:
            print(json.dumps({"step": "connect", "value": str(client.protocol_version)}))
            tools = sorted(tool.name for tool in (await client.list_tools()).tools)
            print(json.dumps({"step": "tools/list", "value": tools}))
            added = await client.call_tool("add", {"a": 1, "b": 2})
            print(json.dumps({"step": "tools/call", "value": added.content[0].text}))
            # The first token has ended after this.
            await asyncio.sleep(5)
            read = await client.read_resource("example://greeting")
            print(json.dumps({"step": "resources/read", "value": read.contents[0].text}))


asyncio.run(main())
