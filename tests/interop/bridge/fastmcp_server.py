"""A server of FastMCP: `python fastmcp_server.py stdio|http [PORT]`; it starts LATE seconds late."""

import os
import sys
import time
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

time.sleep(float(os.environ.get("LATE", "0")))
server = FastMCP("fastmcp", version="1", instructions="Adds.")


@dataclass
class Sum:
    total: float


@server.tool(title="Sum", annotations={"readOnlyHint": True})
def add(a: float, b: float) -> Sum:
    """Adds two numbers."""
    return Sum(a + b)


@server.tool
def fail() -> str:
    raise ToolError("no luck")


@server.tool
async def report(context: Context) -> str:
    await context.report_progress(1, 2, "half")
    await context.info("reported")
    return "done"


@server.tool
async def ask(context: Context) -> str:
    answer = await context.elicit("Which day?", response_type=str)
    return getattr(answer, "data", answer.action)


@server.resource("data://hello", mime_type="text/plain")
def hello() -> str:
    return "Hello"


@server.resource("data://{name}/profile")
def profile(name: str) -> str:
    return f"Profile of {name}"


@server.prompt
def greet(name: str) -> str:
    return f"Greet {name}"


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False)
else:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
