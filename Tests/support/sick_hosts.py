"""A server of many hosts, some of which are sick: names below localhost, told apart by the Host header.

    python sick_hosts.py            prints its port, serves until standard input ends

A host's name says how it behaves: parts between dots, the last before `localhost` is anything.

    ms150.h1.localhost      answers after 150 ms
    hang.h2.localhost       takes requests and never answers
    limit50.h3.localhost    says 429 above 50 answers in a second
    slots6.h4.localhost     says 429 to what comes while 6 are under way
    busy3.h5.localhost      says 503 for 3 s from its first request on
    after2.h6.localhost     says 503 with Retry-After: 2 to its first request
    drop3.h7.localhost      closes connections for 3 s from its first request on
    odd10.h8.localhost      says 503 for each tenth of its paths, for ever
    gone.h9.localhost       says 404

`/log` answers with a JSON object: for each host the numbers of its answers by status, the most requests at once, and the times of
its 429s. Every path has a picture of its own.
"""

from __future__ import annotations

import asyncio
import json
import re
import struct
import sys
import zlib
from collections import Counter, deque
from typing import Deque, Dict, List, Optional

PART = re.compile(r"([a-z]+)(\d*)$")


def png(number: int) -> bytes:
    """A picture of 8 x 8 pixels, of a colour of its own."""
    colour = struct.pack(">I", number * 2654435761 & 0xFFFFFFFF)[1:]
    rows = (b"\0" + colour * 8) * 8

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


class Host:
    def __init__(self, name: str) -> None:
        self.ways: Dict[str, int] = {}
        for part in name.split(":")[0].split(".")[:-2]:
            found = PART.match(part)
            if found:
                self.ways[found[1]] = int(found[2] or 0)
        self.first: Optional[float] = None
        self.answers: Counter = Counter()
        self.under_way = self.most = 0
        self.good: Deque[float] = deque()
        self.overloads: List[float] = []

    def verdict(self, path: str, now: float) -> int:
        """The status of an answer; 0 for none at all, -1 for a closed connection."""
        ways = self.ways
        if self.first is None:
            self.first = now
            if "after" in ways:
                return 503
        age = now - self.first
        if "hang" in ways:
            return 0
        if "drop" in ways and age < ways["drop"]:
            return -1
        if "busy" in ways and age < ways["busy"]:
            return 503
        if "gone" in ways:
            return 404
        if "odd" in ways and zlib.crc32(path.encode()) % ways["odd"] == 0:
            return 503
        if "slots" in ways and self.under_way > ways["slots"]:
            return 429
        if "limit" in ways:
            while self.good and self.good[0] <= now - 1:
                self.good.popleft()
            if len(self.good) >= ways["limit"]:
                return 429
            self.good.append(now)
        return 200


class Connection(asyncio.Protocol):
    def __init__(self, server: "Server") -> None:
        self.server = server
        self.waiting = b""
        self.transport: Optional[asyncio.Transport] = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while b"\r\n\r\n" in self.waiting:
            head, _, self.waiting = self.waiting.partition(b"\r\n\r\n")
            self.take(head)

    def take(self, head: bytes) -> None:
        assert self.transport is not None
        begin = head.lower().index(b"\r\nhost:") + 7
        end = head.find(b"\r\n", begin)
        name = head[begin : end if end > 0 else None].strip().decode()
        path = head.split(b" ", 2)[1].decode()
        if path == "/log":
            return self.send(200, self.server.log(), "application/json")
        server, loop = self.server, asyncio.get_running_loop()
        host = server.hosts.get(name)
        if host is None:
            host = server.hosts[name] = Host(name)
        host.under_way += 1
        host.most = max(host.most, host.under_way)
        status = host.verdict(path, loop.time())
        host.answers[status] += 1
        if status == 429:
            host.overloads.append(round(loop.time(), 3))
        if status == 0:
            return None
        if status == -1:
            host.under_way -= 1
            return self.transport.abort()
        delay = host.ways.get("ms", 0) / 1000
        if delay:
            loop.call_later(delay, self.answer, host, status, path)
        else:
            self.answer(host, status, path)
        return None

    def answer(self, host: Host, status: int, path: str) -> None:
        host.under_way -= 1
        if status == 200:
            self.send(200, png(zlib.crc32(path.encode())), "image/png")
        else:
            after = "Retry-After: 2\r\n" if "after" in host.ways else ""
            self.send(status, b"no", "text/plain", after)

    def send(self, status: int, body: bytes, kind: str, more: str = "") -> None:
        assert self.transport is not None
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(f"{head}Cache-Control: max-age=86400\r\n{more}\r\n".encode() + body)


class Server:
    def __init__(self) -> None:
        self.hosts: Dict[str, Host] = {}

    def log(self) -> bytes:
        return json.dumps(
            {
                name: {"answers": dict(host.answers), "most": host.most, "overloads": host.overloads}
                for name, host in self.hosts.items()
            }
        ).encode()


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = Server()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, backlog=4096)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
