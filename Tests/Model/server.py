"""The check's server: answers each request with a new version of its URL, and logs when each request arrived.

A line of its log is a JSON array: time (CLOCK_MONOTONIC, in nanoseconds), method, path, variant, version, status
(200, 302 or 304), whether the answer may be stored. The server ends at the end of its standard input.
"""

import argparse
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Dict, Tuple

from content import VARIANTS, Thing, is_picture, kind_of, located, make_body, make_picture
from mix import behaviour


class Versions:
    """The latest version of each URL, and the log. One lock guards both, so that versions rise with times."""

    def __init__(self, log: str, seed: str) -> None:
        self.seed = seed
        self.lock = threading.Lock()
        self.latest: Dict[Tuple[str, str], int] = {}
        self.file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def ask(self, method: str, path: str, variant: str, known: str) -> Tuple[int, Thing]:
        with self.lock:
            now = time.monotonic_ns()
            latest = self.latest.get((path, variant), 0)
            if method != "GET":
                self.write(now, method, path, variant, latest, 200, False)
                return 200, Thing(path, variant, latest)
            # Only the latest version may get a 304.
            if known == tag(Thing(path, variant, latest)) and latest % 3:
                self.write(now, method, path, variant, latest, 304, True)
                return 304, Thing(path, variant, latest)
            thing = Thing(path, variant, latest + 1)
            self.latest[path, variant] = thing.version
            status = 302 if kind_of(path) == "moved" else 200
            self.write(
                now, method, path, variant, thing.version, status, behaviour(self.seed, thing)["is_kept"]
            )
            return status, thing

    def write(self, *entry: object) -> None:
        os.write(self.file, json.dumps(entry).encode() + b"\n")


def tag(thing: Thing) -> str:
    return '"%s%d"' % (thing.variant, thing.version)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    versions: Versions
    is_slow = True

    def do_GET(self) -> None:
        variant = self.headers.get("X-Kind", "") if kind_of(self.path) in VARIANTS else ""
        status, thing = self.versions.ask("GET", self.path, variant, self.headers.get("If-None-Match", ""))
        manner = behaviour(self.versions.seed, thing)
        self.pause(manner["delay"] * manner["cut"])
        body = b""
        if status == 200:
            body = (make_picture if is_picture(self.path) else make_body)(thing)
        self.send_response(status)
        self.send_header("X-Version", str(thing.version))
        if not manner["is_kept"]:
            self.send_header("Cache-Control", "no-store")
        elif manner["age"] is not None:
            self.send_header("Cache-Control", "max-age=%d" % manner["age"])
        if status == 302:
            self.send_header("Location", located(*thing[::2]))
        elif kind_of(self.path) in ("tagged", "picture"):
            self.send_header("ETag", tag(thing))
        if kind_of(self.path) == "varied":
            self.send_header("Vary", "X-Kind")
        self.send_header("Content-Type", "image/png" if is_picture(self.path) else "application/octet-stream")
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if manner["cut"] < 1:
            self.wfile.flush()
            self.pause(manner["delay"] * (1 - manner["cut"]))
        self.wfile.write(body)

    def change(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        _, thing = self.versions.ask(self.command, self.path, "", "")
        self.pause(behaviour(self.versions.seed, thing)["delay"] / 10)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_DELETE = do_PATCH = change  # noqa: N815

    def pause(self, seconds: float) -> None:
        if seconds > 0 and self.is_slow:
            time.sleep(seconds)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: object) -> None:
        """Ignores errors: a client may be killed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log")
    parser.add_argument("seed")
    parser.add_argument("--at-once", action="store_true", help="no answer is delayed")
    options = parser.parse_args()
    Handler.is_slow = not options.at_once
    Handler.versions = Versions(options.log, options.seed)
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
