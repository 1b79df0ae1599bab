"""The same tools over HTTP, for whoever shows the key. It says its port on standard output."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOOLS = json.loads((Path(__file__).parent / "tools.json").read_text())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(405)

    def do_DELETE(self):
        self.answer(405)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("X-Key") != "a key of the stage":
            return self.answer(401)
        if "id" not in request:
            return self.answer(202)
        method, reply = request["method"], {"jsonrpc": "2.0", "id": request["id"]}
        if method == "initialize":
            version = request["params"]["protocolVersion"]
            about = {"name": "stage", "version": "2.0.0"}
            reply["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        elif method == "tools/list":
            reply["result"] = {"tools": TOOLS}
        elif method == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": -32601, "message": "unknown"}
        return self.answer(200, reply)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
sys.stdout.close()
server.serve_forever()
