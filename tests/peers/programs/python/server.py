from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import Completion

server = MCPServer("example", version="1.0.0")


@server.tool()
def add(a: float, b: float) -> float:
    """Adds two numbers."""
    return a + b


@server.tool()
def sky() -> str:
    """How the sky is."""
    return "clear"


@server.tool()
def fail() -> str:
    """Fails, and says so."""
    raise ToolError("there is no such city")


@server.resource("example://hello", name="hello")
def hello() -> str:
    return "Hello."


@server.prompt()
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}."


@server.completion()
async def complete(ref, argument, context):
    return Completion(values=["Ada", "Alan"])


server.run()
