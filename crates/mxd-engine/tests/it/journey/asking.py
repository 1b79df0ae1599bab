"""A small MCP server that asks the user something before it answers a call."""

import json
import sys

TOOL = {
    "name": "order",
    "description": "Orders as many as the user wants.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
FORM = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
call = None


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method is None:
        words = json.dumps(message.get("result") or message.get("error"))
        send({"id": call, "result": {"content": [{"type": "text", "text": words}]}})
    elif method == "initialize":
        about = {"name": "asking", "version": "1.0.0"}
        version = message["params"]["protocolVersion"]
        send({"id": number, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": [TOOL]}})
    elif method == "tools/call":
        call = number
        send({"id": "q", "method": "elicitation/create", "params": {"message": "How many?", "requestedSchema": FORM}})
    elif method == "ping":
        send({"id": number, "result": {}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "unknown"}})
