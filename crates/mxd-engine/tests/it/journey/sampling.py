"""A small MCP server that has a model write before it answers a call.

What it asks for is what the call says. With `modern` it keeps no state and asks in its results.
"""

import json
import sys

MODERN = "modern" in sys.argv[1:]
TOOL = {
    "name": "ask",
    "description": "Asks a model.",
    "inputSchema": {"type": "object", "properties": {"params": {"type": "object"}}},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
abilities = {}
call = None


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def say(number, words):
    text = json.dumps({"said": words, "abilities": sorted(abilities)})
    result = {"content": [{"type": "text", "text": text}]}
    send({"id": number, "result": {**result, "resultType": "complete"} if MODERN else result})


def called(number, params):
    global call
    wanted = params["arguments"].get("params", {})
    if not MODERN:
        call = number
        send({"id": "s", "method": "sampling/createMessage", "params": wanted})
    elif "inputResponses" in params:
        say(number, params["inputResponses"]["s"])
    else:
        question = {"s": {"method": "sampling/createMessage", "params": wanted}}
        send({"id": number, "result": {"resultType": "input_required", "inputRequests": question, "requestState": "x"}})


for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params", {})
    abilities = params.get("_meta", {}).get("io.modelcontextprotocol/clientCapabilities", abilities)
    if method is None:
        say(call, message.get("result") or message.get("error"))
    elif method == "server/discover" and MODERN:
        send({"id": number, "result": {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}})
    elif method == "initialize" and not MODERN:
        abilities = params["capabilities"]
        about = {"name": "writer", "version": "1.0.0"}
        version = params["protocolVersion"]
        send({"id": number, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}})
    elif method == "tools/list":
        send({"id": number, "result": {"resultType": "complete", "tools": [TOOL], "ttlMs": 0, "cacheScope": "private"}})
    elif method == "tools/call":
        called(number, params)
    elif method == "ping":
        send({"id": number, "result": {}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "unknown"}})
