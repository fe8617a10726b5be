"""A client of no SDK, for servers alone and behind a bridge: `python compared.py PLAN REVISION stdio|http TARGET...`.

PLAN is a list of `[step, method, params]`. Each step is one JSON line: the result or the error as it came, and the
notifications and the requests of the server before it.
"""

import json
import queue
import subprocess
import sys
import threading
import urllib.error
import urllib.request

PLAN, REVISION, CHANNEL, TARGET = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
HAS_HANDSHAKE = REVISION < "2026"
PREFIX = "io.modelcontextprotocol/"
CAPABILITIES = {"elicitation": {} if REVISION < "2025-11-25" else {"form": {}}} if REVISION >= "2025-06-18" else {}
CLIENT = {"name": "compared", "version": "1"}
PATIENCE = 60


def answer_to(method):
    if method == "elicitation/create":
        return {"action": "accept", "content": {"value": "Monday"}}
    return {}


class Stdio:
    def __init__(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(TARGET, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def messages(self, message):
        self.send(message)
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise EOFError("the server has ended")
            yield json.loads(line)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Http:
    def __init__(self):
        self.session = None

    def post(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        method, params = message.get("method"), message.get("params") or {}
        if method != "initialize":
            headers["MCP-Protocol-Version"] = REVISION
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if not HAS_HANDSHAKE:
            headers["Mcp-Method"] = method
            name = params.get("name") or params.get("uri")
            if name:
                headers["Mcp-Name"] = name
        request = urllib.request.Request(TARGET[0], json.dumps(message).encode(), headers)
        try:
            response = urllib.request.urlopen(request, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            response = error
        self.session = response.headers.get("Mcp-Session-Id") or self.session
        return response

    def send(self, message):
        self.post(message).read()

    def messages(self, message):
        response = self.post(message)
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            body = response.read()
            try:
                yield json.loads(body)
            except ValueError:
                raise EOFError(f"HTTP status {response.status}: {body[:200]!r}")
            return
        data = []
        for line in response:
            line = line.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                text, data = "\n".join(data), []
                if text.strip():
                    yield json.loads(text)

    def close(self):
        pass


class Client:
    def __init__(self):
        self.connection = Stdio() if CHANNEL == "stdio" else Http()
        self.number = 0

    def ask(self, method, params):
        """Returns the response, and what came before it."""
        self.number += 1
        before = []
        if not HAS_HANDSHAKE:
            meta = {PREFIX + "protocolVersion": REVISION, PREFIX + "clientInfo": CLIENT}
            meta[PREFIX + "clientCapabilities"] = CAPABILITIES
            meta[PREFIX + "logLevel"] = "info"
            params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        for told in self.connection.messages(message):
            if "method" not in told:
                if told.get("id") == message["id"]:
                    return told, before
                raise EOFError(f"a response to no request: {told}")
            before.append({"method": told["method"], "params": told.get("params")})
            if "id" in told:
                response = {"jsonrpc": "2.0", "id": told["id"], "result": answer_to(told["method"])}
                # Over HTTP its stream is being read here.
                self.connection.send(response)
        raise EOFError("no response")

    def step(self, name, method, params):
        before = []
        try:
            while True:
                response, told = self.ask(method, params)
                before += told
                result = response.get("result") or {}
                if result.get("resultType") != "input_required":
                    break
                asked = result.get("inputRequests") or {}
                before += [{"method": one["method"], "params": one.get("params")} for one in asked.values()]
                answers = {key: answer_to(one["method"]) for key, one in asked.items()}
                params = {**params, "inputResponses": answers}
                if "requestState" in result:
                    params["requestState"] = result["requestState"]
            found = {"error": response["error"]} if "error" in response else {"result": response["result"]}
        except Exception as error:
            found = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps({"step": name, "method": method, "before": before, **found}), flush=True)


client = Client()
if HAS_HANDSHAKE:
    named = {"protocolVersion": REVISION, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
    client.step("connect", "initialize", named)
    client.connection.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
else:
    client.step("connect", "server/discover", {})
for step in PLAN:
    client.step(*step)
client.connection.close()
