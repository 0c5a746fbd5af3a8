"""A server of many hosts, some of which fail ("sick"): names below localhost, distinguished by the Host header.

    with SickHosts() as hosts:
        hosts.url("ms150.h1", "/a")                   answers after 150 ms
        hosts.url("down.h2", "/a", at="refused")      refuses connections
        hosts.log()["ms150.h1"]["answers"]

A host's name sets its behaviour, by parts between dots. The last part may be anything.

| part | what the host does |
| --- | --- |
| `ms150` | it answers after 150 ms |
| `hang` | it takes requests and never answers |
| `limit50` | it says 429 above 50 answers in a second |
| `slots6` | it says 429 to a request while 6 others are under way |
| `odd10` | it says 503 for a tenth of its paths, for ever |
| `each10` | it says 503 to each tenth request |
| `gone` | it says 404 |
| `busy3` | it says 503 for 3 s |
| `drop3` | it closes connections for 3 s |
| `after2` | it says 503 with `Retry-After: 2` to one request |
| `away3` | its port, which must be `away`, closes for 3 s, with all its connections; once for all hosts there |
| `from100` | the last four rows begin with the host's 100th request, not with its first |
| `timed` | the log has the times of its requests |

There are four ports: `http`; `refused`, which refuses connections; `away`; and `tls`, with a self-signed certificate.

`SickHosts({"127.0.0.2": "ms60"})` gives such parts to addresses: `http` is served there, too. A path that begins with
`/hang/` is never answered, and with `/busy/` the answer is 503. Each URL has a different picture: a small PNG, or one
of the JPEGs of a folder with a different comment. With `is_well` all parts of names but `ms` are ignored.

The host `control.localhost` has three paths. `/log` answers with a JSON object: for each host the numbers of its
answers by status (0 for no answer, -1 for a closed connection), the most requests at once, and the times of its 429s.
`/served` has the numbers of good answers for URLs with more than one. `/anew` starts the behaviour of all hosts from
the beginning; their counts go on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import urllib.request
import zlib
from collections import Counter, deque
from pathlib import Path
from types import TracebackType
from typing import Any, Deque, Dict, List, Optional, Sequence, Set, Type

PART = re.compile(r"([a-z]+)(\d*)$")
PORTS = ["http", "refused", "away", "tls"]
NONE, CLOSED, AWAY = 0, -1, -2  # statuses of requests without an answer


def png(number: bytes) -> bytes:
    """Returns a picture of 8 x 8 pixels with these 24 bytes as the colours of a row."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + number) * 8, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def is_odd(path: str, share: int) -> bool:
    """Returns whether an `odd` host always answers this path with 503. It does so for one path of several."""
    return zlib.crc32(path.encode()) % share == 0


class Host:
    """The behaviour of a host, and its statistics."""

    def __init__(self, parts: Sequence[str]) -> None:
        found = [PART.match(part) for part in parts]
        self.ways: Dict[str, int] = {match[1]: int(match[2] or 0) for match in found if match}
        self.delay = self.ways.get("ms", 0) / 1000
        self.answers: Counter[int] = Counter()
        self.overloads: List[float] = []
        self.requests: List[float] = []
        self.under_way = self.most = 0
        self.forget()

    def forget(self) -> None:
        """Starts the behaviour from the beginning."""
        self.asked = 0
        self.since: Optional[float] = None
        self.good: Deque[float] = deque()

    def status(self, path: str, now: float) -> int:
        """Returns the status of an answer, and counts the request as under way."""
        ways = self.ways
        if "hang" in ways:
            return NONE
        if "gone" in ways:
            return 404
        if "odd" in ways and is_odd(path, ways["odd"]):
            return 503
        if "slots" in ways and self.under_way > ways["slots"]:
            return 429
        self.asked += 1
        if "each" in ways and self.asked % ways["each"] == 0:
            return 503
        if self.since is None and self.asked >= ways.get("from", 1):
            self.since = now
            if "after" in ways:
                return 503
            if "away" in ways:
                return AWAY
        if self.since is not None:
            age = now - self.since
            if age < ways.get("drop", 0):
                return CLOSED
            if age < ways.get("busy", 0):
                return 503
        if "limit" in ways:
            while self.good and self.good[0] <= now - 1:
                self.good.popleft()
            if len(self.good) >= ways["limit"]:
                return 429
            self.good.append(now)
        return 200


class Connection(asyncio.Protocol):
    def __init__(self, server: Server, port: Port) -> None:
        self.server, self.port = server, port
        self.waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.port.connections.add(self)

    def connection_lost(self, error: Optional[Exception]) -> None:
        self.port.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while b"\r\n\r\n" in self.waiting:
            head, _, self.waiting = self.waiting.partition(b"\r\n\r\n")
            self.take(head)

    def take(self, head: bytes) -> None:
        begin = head.lower().index(b"\r\nhost:") + 7
        end = head.find(b"\r\n", begin)
        name = head[begin : end if end > 0 else None].strip().decode()
        path = head.split(b" ", 2)[1].decode()
        if name.startswith("control."):
            self.send(200, self.server.control(path), "application/json")
        else:
            self.visit(self.server.host(name), name, path)

    def visit(self, host: Host, name: str, path: str) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        if "timed" in host.ways:
            host.requests.append(now)
        host.under_way += 1
        host.most = max(host.most, host.under_way)
        status = self.server.status(host, path, now)
        if status == AWAY:
            status = CLOSED if self.port.leave(host.ways["away"]) else 200
        host.answers[status] += 1
        if status == 429:
            host.overloads.append(round(now, 3))
        if status == NONE:
            return
        if status == CLOSED:
            host.under_way -= 1
            self.transport.abort()
        elif host.delay:
            loop.call_later(host.delay, self.answer, host, status, name + path)
        else:
            self.answer(host, status, name + path)

    def answer(self, host: Host, status: int, url: str) -> None:
        host.under_way -= 1
        if status == 200:
            if not self.transport.is_closing():
                self.server.served[url] += 1
            self.send(200, self.server.picture(url), self.server.kind)
        else:
            after = f"Retry-After: {host.ways['after']}\r\n" if "after" in host.ways else ""
            self.send(status, b"no", "text/plain", after)

    def send(self, status: int, body: bytes, kind: str, more: str = "") -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(f"{head}Cache-Control: max-age=86400\r\n{more}\r\n".encode() + body)


class Port:
    """A reserved port. The server may listen there or not."""

    def __init__(self, server: Server, context: Optional[ssl.SSLContext] = None) -> None:
        self.server, self.context = server, context
        self.connections: Set[Connection] = set()
        self.kept = self.bind(("127.0.0.1", 0))
        self.number: int = self.kept.getsockname()[1]
        self.listening: List[asyncio.AbstractServer] = []
        self.has_left = False

    @staticmethod
    def bind(address: Any) -> socket.socket:
        """Returns a bound socket. Until it listens, connections are refused, and other sockets can have the same
        address."""
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        return bound

    async def listen(self, addresses: Sequence[str] = ("127.0.0.1",)) -> None:
        loop = asyncio.get_running_loop()
        for address in addresses:
            bound = self.bind((address, self.number))
            made = await loop.create_server(
                lambda: Connection(self.server, self), sock=bound, backlog=4096, ssl=self.context
            )
            self.listening.append(made)

    def leave(self, seconds: float) -> bool:
        """Refuses connections for some time, but only at the first call."""
        if self.has_left:
            return False
        self.has_left = True
        for listening in self.listening:
            listening.close()
        self.listening.clear()
        for connection in list(self.connections):
            connection.transport.abort()
        loop = asyncio.get_running_loop()
        loop.call_later(seconds, lambda: self.server.keep(loop.create_task(self.listen())))
        return True


class Server:
    def __init__(self, addresses: Dict[str, str], pictures: Optional[Path], is_well: bool) -> None:
        self.addresses, self.is_well = addresses, is_well
        self.hosts: Dict[str, Host] = {}
        self.served: Counter[str] = Counter()
        self.pictures = [path.read_bytes() for path in sorted(pictures.iterdir())] if pictures else []
        self.kind = "image/jpeg" if pictures else "image/png"
        self.ports: Dict[str, Port] = {}
        self.tasks: Set[asyncio.Task[None]] = set()

    def keep(self, task: asyncio.Task[None]) -> None:
        """Keeps a reference to a task: without one, it may be collected before its end."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def host(self, name: str) -> Host:
        known = self.hosts.get(name)
        if known is None:
            plain = name.split(":")[0]
            known = Host(self.addresses.get(plain, plain).split("."))
            self.hosts[name] = known
        return known

    def status(self, host: Host, path: str, now: float) -> int:
        if self.is_well:
            return 200
        if path.startswith("/busy/"):
            return 503
        return NONE if path.startswith("/hang/") else host.status(path, now)

    def picture(self, url: str) -> bytes:
        number = hashlib.blake2b(url.encode(), digest_size=24).digest()
        if not self.pictures:
            return png(number)
        jpeg = self.pictures[number[0] % len(self.pictures)]
        return jpeg[:2] + b"\xff\xfe\x00\x1a" + number + jpeg[2:]

    def control(self, path: str) -> bytes:
        found: object = {}
        if path == "/anew":
            for host in self.hosts.values():
                host.forget()
            for port in self.ports.values():
                port.has_left = False
        elif path == "/served":
            found = {url: count for url, count in self.served.items() if count > 1}
        elif path == "/log":
            found = {
                name: {
                    "answers": dict(host.answers),
                    "most": host.most,
                    "overloads": host.overloads,
                    "requests": host.requests,
                }
                for name, host in self.hosts.items()
            }
        return json.dumps(found).encode()


def untrusted() -> ssl.SSLContext:
    """Returns a context with a self-signed certificate; without one if there is no openssl."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with contextlib.suppress(FileNotFoundError), tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/certificate.pem", f"{folder}/key.pem"]
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=nut"
        words = [*command.split(), "-out", files[0], "-keyout", files[1]]
        subprocess.run(words, check=True, capture_output=True)
        context.load_cert_chain(*files)
    return context


async def serve(server: Server) -> None:
    server.ports = {name: Port(server, untrusted() if name == "tls" else None) for name in PORTS}
    for name, port in server.ports.items():
        if name == "http":
            await port.listen(["127.0.0.1", *server.addresses])
        elif name != "refused":
            await port.listen()
    print(json.dumps({name: port.number for name, port in server.ports.items()}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


class SickHosts:
    """The server's process; a context manager."""

    def __init__(
        self,
        addresses: Optional[Dict[str, str]] = None,
        pictures: Optional[Path] = None,
        is_well: bool = False,
    ) -> None:
        command = [sys.executable, __file__, "--hosts", json.dumps(addresses or {})]
        command += ["--pictures", str(pictures)] if pictures else []
        command += ["--well"] if is_well else []
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.ports: Dict[str, int] = json.loads(self._process.stdout.readline())

    def __enter__(self) -> SickHosts:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._process.communicate()

    def url(self, host: str, path: str, at: str = "http") -> str:
        scheme = "https" if at == "tls" else "http"
        return f"{scheme}://{host}.localhost:{self.ports[at]}{path}"

    def log(self) -> Dict[str, Dict[str, Any]]:
        """Returns the statistics by host, under the names that `url` got. Statuses of answers are strings."""
        found: Dict[str, Dict[str, Any]] = self._ask("/log")
        return {name.split(".localhost:")[0]: host for name, host in found.items()}

    def served(self) -> Dict[str, int]:
        """Returns how often each URL had a good answer, for URLs with more than one."""
        found: Dict[str, int] = self._ask("/served")
        return {"http://" + url: count for url, count in found.items()}

    def anew(self) -> None:
        self._ask("/anew")

    def _ask(self, path: str) -> Any:
        url = f"http://127.0.0.1:{self.ports['http']}{path}"
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(urllib.request.Request(url, headers={"Host": "control.localhost"})) as answer:
            return json.load(answer)


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints its ports, and serves until standard input ends.")
    parser.add_argument("--hosts", type=json.loads, default={})
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--well", action="store_true", help="every host answers well, after its time")
    options = parser.parse_args()
    asyncio.run(serve(Server(options.hosts, options.pictures, options.well)))


if __name__ == "__main__":
    main()
