"""A server on loopback that answers each `.png` with the same picture, and other URLs with 404."""

import http.server
import sys
import threading
from typing import Any, Tuple, Type

from bare import ROOT

sys.path.insert(0, str(ROOT / "Tests" / "support"))
from pictures import png

PICTURE = png(400, 300)


class Pictures(http.server.BaseHTTPRequestHandler):
    def answer(self) -> Tuple[int, str, bytes]:
        """Returns status, type and body."""
        if self.path.endswith(".png") and "missing" not in self.path:
            return 200, "image/png", PICTURE
        return 404, "text/plain", b"not found"

    def do_GET(self) -> None:
        status, kind, body = self.answer()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve(answers: Type[Pictures] = Pictures) -> str:
    """Starts the server, which ends with the process. Returns its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]
