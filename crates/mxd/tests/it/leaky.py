"""An MCP server that says its secret wherever a server can say something."""
import base64
import json
import os
import sys

secret = os.environ["LEAK"]
said = f"{secret} {base64.b64encode(b'x' + secret.encode()).decode()}"
print(f"starting with {said}", file=sys.stderr, flush=True)
tool = {"name": "leak", "description": "Says something.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    method = asked.get("method")
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        information = {"name": "leaky", "version": "1"}
        answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information}
    elif method == "tools/list":
        answer["result"] = {"tools": [tool]}
    elif method == "tools/call":
        print(f"called with {said}", file=sys.stderr, flush=True)
        answer["result"] = {"content": [{"type": "text", "text": f"the secret is {said}"}]}
    else:
        answer["error"] = {"code": -32601, "message": f"no such method, and {said}"}
    print(json.dumps(answer), flush=True)
