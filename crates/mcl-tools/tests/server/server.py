"""A small MCP server for tests: its tools are those of tools.json beside it."""

import json
import os
import sys
import threading
from pathlib import Path

TOOLS = json.loads((Path(__file__).parent / "tools.json").read_text())
LOCK = threading.Lock()


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def call(name, args):
    if name == "echo":
        return text(args["text"])
    if name == "add":
        total = args["a"] + args["b"]
        return text(f"{total}", structuredContent={"sum": total, "of": [args["a"], args["b"]]})
    if name == "fail":
        return text("it is broken\nin two lines", isError=True)
    if name == "wait":
        threading.Event().wait()
    if name == "variable":
        return text(os.environ.get(args["name"], "(unset)"))
    if name == "die":
        print("I cannot go on", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "put":
        Path(args["path"]).write_text(args["text"])
        return text("written")
    raise KeyError(name)


def serve(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stage", "version": "1.2.3"},
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = call(params["name"], params.get("arguments") or {})
    elif method == "ping":
        result = {}
    else:
        return send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "unknown"}})
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=serve, args=(message,), daemon=True).start()
