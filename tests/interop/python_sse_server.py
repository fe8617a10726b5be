"""The Python SDK as a server that speaks only HTTP+SSE; it says where it listens."""

import asyncio
import socket

import uvicorn
from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("interop")


class Weather(BaseModel):
    degrees: float


@server.tool()
def add(a: float, b: float) -> str:
    return str(int(a + b))


@server.tool()
def pixel() -> Image:
    return Image(data=b"000", format="png")


@server.tool()
def weather() -> Weather:
    return Weather(degrees=21.5)


@server.tool()
def fail() -> str:
    raise ToolError("there is no such city")


@server.resource("example://greeting")
def greeting() -> str:
    return "Hello from every revision."


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name} in one sentence."


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/sse", flush=True)
config = uvicorn.Config(server.sse_app(), log_level="error")
asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
