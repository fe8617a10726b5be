"""A server of the Python SDK 1.x: `python python_1_server.py stdio|http [PORT]`."""

import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("python-1", port=int((sys.argv + ["8000"])[2]), log_level="ERROR")


class Answer(BaseModel):
    day: str


@server.tool()
def add(a: float, b: float) -> str:
    return str(a + b)


@server.tool()
async def sample(context: Context) -> str:
    question = SamplingMessage(role="user", content=TextContent(type="text", text="Which day?"))
    answer = await context.session.create_message(messages=[question], max_tokens=10)
    return answer.content.text


@server.tool()
async def ask(context: Context) -> str:
    return (await context.elicit("Which day?", schema=Answer)).data.day


@server.resource("file:///hello")
def hello() -> str:
    return "Hello"


@server.prompt()
def greet() -> str:
    return "Greet"


server.run(transport="stdio" if sys.argv[1] == "stdio" else "streamable-http")
