"""A server on loopback that answers each `.png` with the same picture, and other URLs with 404."""

import http.server
import sys
import threading
from typing import Any

from bare import ROOT

sys.path.insert(0, str(ROOT / "Tests" / "support"))
from pictures import png

PICTURE = png(400, 300)


class Pictures(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path.endswith(".png") and "missing" not in self.path
        body = PICTURE if found else b"not found"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "image/png" if found else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve() -> str:
    """Starts the server, which ends with the process. Returns its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]
