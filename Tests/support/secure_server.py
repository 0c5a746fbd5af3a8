"""A server with TLS and a self-signed certificate."""

import http.server
import shutil
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Dict, List, Tuple

import pytest

#: For fixtures: whether certificates can be made.
needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="there is no openssl command to make certificates with"
)


def make_certificate(folder: Path, name: str, *more: str) -> Path:
    """Makes a self-signed certificate, and its key in `NAME-key.pem` beside it."""
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-subj", f"/CN={name}", *more, "-keyout", f"{name}-key.pem", "-out", f"{name}.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / f"{name}.pem"


class SecureServer:
    """A server on 127.0.0.1. It sends the answer that `answers` has for a path, else 200 with the text "secure".

    If an answer has the header `X-Cut`, only so many bytes of its body are sent.
    """

    def __init__(self, folder: Path, name: str = "server") -> None:
        self.certificate = make_certificate(folder, name, "-addext", "subjectAltName=IP:127.0.0.1")
        self.answers: Dict[str, Tuple[int, Dict[str, str]]] = {}
        #: The requested paths, and the headers of the requests.
        self.requests: List[Tuple[str, Dict[str, str]]] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, folder / f"{name}-key.pem")
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # A client that ends the handshake is no error here.
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Returns the URL of a path."""
        return f"https://{host}:{self._server.server_port}{path}"

    def stop(self) -> None:
        """Stops the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> "type[http.server.BaseHTTPRequestHandler]":
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """A connection."""

            def do_GET(self) -> None:
                """Sends the answer."""
                server.requests.append((self.path, dict(self.headers.items())))
                status, headers = server.answers.get(self.path, (200, {}))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": "6"}.items():
                    self.send_header(name, value)
                self.end_headers()
                cut = headers.get("X-Cut")
                self.wfile.write(b"secure"[: int(cut) if cut else None])
                self.close_connection = cut is not None

            def log_message(self, *_: object) -> None:
                """Writes no log."""

        return Handler
