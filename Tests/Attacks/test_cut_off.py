"""An attacker in the network ends a TLS connection. Then a body may be incomplete, even if it looks complete."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Dict, Iterator, List

import pytest

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=1000\r\n"

#: For each path, the bytes after the head. "close-notify" ends the connection with close_notify.
ANSWERS: Dict[str, bytes] = {
    "/whole-close-notify": b"Connection: close\r\n\r\nhalf",
    "/half": b"Connection: close\r\n\r\nhalf",
    "/nothing": b"Connection: close\r\n\r\n",
    "/length": b"Content-Length: 4\r\nConnection: close\r\n\r\nhalf",
    "/length-cut": b"Content-Length: 8\r\nConnection: close\r\n\r\nhalf",
    "/chunked": b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n\r\n",
    "/chunked-cut": b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
}

PROGRAM = """
import json, sys, nuthatch
told = {}
for rules in ("kit", "rfc9111"):
    with nuthatch.Cache(sys.argv[2] + rules, policy=rules) as cache:
        for path in sys.argv[3:]:
            says = []
            for _ in range(2):
                try:
                    response = cache.get(sys.argv[1] + path, retries=0)
                    says.append([response.text, response.is_truncated, response.is_stored, response.is_in_cache])
                except nuthatch.Error as error:
                    says.append([error.code])
            told[rules + path] = says
print(json.dumps(told))
"""


class CuttingServer(threading.Thread):
    """Answers one request on each connection, and ends it in one of several ways."""

    def __init__(self, files: Path) -> None:
        super().__init__(daemon=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(files / "certificate.pem", files / "key.pem")
        self.context.set_alpn_protocols(["http/1.1"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.paths: List[str] = []

    def run(self) -> None:
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                self.answer(self.context.wrap_socket(plain, server_side=True))

    def answer(self, peer: ssl.SSLSocket) -> None:
        path = peer.recv(65536).split()[1].decode()
        self.paths.append(path)
        peer.sendall(HEAD + ANSWERS[path])
        if path.endswith("-close-notify"):
            peer.unwrap()
        socket.socket(fileno=peer.detach()).close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CuttingServer]:
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    server = CuttingServer(tmp_path)
    server.start()
    yield server
    server.listener.shutdown(socket.SHUT_RDWR)
    server.listener.close()


def test_a_body_that_may_be_cut_off_is_marked_and_not_stored(server: CuttingServer, tmp_path: Path) -> None:
    url = f"https://127.0.0.1:{server.port}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, url, str(tmp_path / "cache-"), *ANSWERS],
        env={**os.environ, "CURL_CA_BUNDLE": str(tmp_path / "certificate.pem")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for rules in ("kit", "rfc9111"):
        # Complete, as far as such a body can be.
        first, second = told[f"{rules}/whole-close-notify"]
        assert first == ["half", False, rules == "rfc9111", False]
        assert second[3] is (rules == "rfc9111")
        # The same bytes, cut off.
        for path, text in (("/half", "half"), ("/nothing", "")):
            assert told[rules + path] == [[text, True, False, False]] * 2
        # If the length is known, a complete body is valid however the connection ends, and a short one is an error.
        for path in ("/length", "/chunked"):
            first, second = told[rules + path]
            assert first == ["half", False, True, False] and second[3]
        for path in ("/length-cut", "/chunked-cut"):
            assert told[rules + path] == [["truncated"]] * 2
