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


SHELF = {
    "stage://notes": {"mimeType": "text/plain", "text": "Two notes:\n\u200bdo, re.\x1b[2J\n"},
    "stage://dot": {"mimeType": "image/png", "blob": "iVBORw0KGgo="},
    "stage://torn": {"mimeType": "image/png", "blob": "iVBORw0KGg"},
}


def shelf(method, params):
    if method == "resources/list":
        listed = {"stage://notes": ("Notes", "What is sung."), "stage://dot": ("Dot", "")}
        entry = lambda uri, name, words: {"uri": uri, "name": name, "description": words, "mimeType": SHELF[uri]["mimeType"]}
        return {"resources": [entry(uri, *words) for uri, words in listed.items()]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "stage://act/{number}", "name": "An act"}]}
    if method == "prompts/list":
        arguments = [{"name": "whom", "required": True}, {"name": "how"}]
        return {"prompts": [{"name": "greet", "description": "Greets somebody.", "arguments": arguments}]}
    found = SHELF.get(params["uri"])
    return found and {"contents": [{"uri": params["uri"], **found}]}


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
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "stage", "version": "1.2.3"},
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = call(params["name"], params.get("arguments") or {})
    elif method == "ping":
        result = {}
    elif method.startswith(("resources/", "prompts/")):
        result = shelf(method, params)
        if result is None:
            error = {"code": -32602, "message": f"there is no {params['uri']}"}
            return send({"jsonrpc": "2.0", "id": request["id"], "error": error})
    else:
        return send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "unknown"}})
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=serve, args=(message,), daemon=True).start()
