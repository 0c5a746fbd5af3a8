"""The loopback HTTP test server, for Python tests.

    with TestServer() as server:
        server.on("/a.png", ok(png(64, 48), "image/png", etag='"1"'))
        fetch(server.url("/a.png"))
        assert server.count("/a.png") == 1

Scripts and steps are called S and STEP in the server's ``--help``; the functions below make them. Nothing here sleeps:
tests wait for events of the server. The executable is ``$NUTHATCH_TESTSERVER``, else ``build/nuthatch-testserver`` of
this checkout. It ends with this process.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Union
from urllib.parse import quote

Data = Union[str, bytes]
Headers = Sequence[tuple[str, str]]
Step = Union[str, dict[str, Any]]
Script = dict[str, Any]

HEAD: Step = "head"
LAST_CHUNK: Step = "lastChunk"
RESET: Step = "reset"
CLOSE: Step = "close"


def data(value: Data) -> Any:
    """Returns text unchanged, and bytes that aren't text as base64."""
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}


def body(value: Data) -> Step:
    """A step: sends bytes of the body."""
    return {"bytes": data(value)}


def fill(count: int, byte: int = 0) -> Step:
    """A step: sends one byte of the body repeatedly."""
    return {"fill": {"count": count, "byte": byte}}


def drip(value: Data, milliseconds: int, piece: int = 1) -> Step:
    """A step: sends bytes of the body in pieces, with a pause after each."""
    return {"drip": {"bytes": data(value), "piece": piece, "milliseconds": milliseconds}}


def head_part(count: int) -> Step:
    """A step: sends so many more bytes of the head."""
    return {"headPart": count}


def drip_head(milliseconds: int, piece: int = 1) -> Step:
    """A step: sends the rest of the head in pieces, with a pause after each."""
    return {"dripHead": {"piece": piece, "milliseconds": milliseconds}}


def chunk(value: Data) -> Step:
    """A step: sends a valid chunk."""
    return {"chunk": data(value)}


def bad_chunk(value: Data) -> Step:
    """A step: sends these bytes in place of a chunk."""
    return {"badChunk": data(value)}


def raw(value: Data) -> Step:
    """A step: sends any bytes."""
    return {"raw": data(value)}


def interim(status: int, headers: Headers = ()) -> Step:
    """A step: sends an interim answer (1xx)."""
    return {"interim": {"status": status, "headers": list(headers)}}


def wait(gate: str) -> Step:
    """A step: waits until the gate with this name is open."""
    return {"wait": gate}


def pause(milliseconds: int) -> Step:
    """A step: waits for a time. Use it for delays, never for an order."""
    return {"pause": milliseconds}


def script(status: int = 200, headers: Headers = (), steps: Sequence[Step] = (), **others: Any) -> Script:
    """Returns a script. ``others`` are its further members, such as reason, framing, sendsHead or readsBody."""
    return {"status": status, "headers": [list(line) for line in headers], "steps": list(steps), **others}


def ok(
    content: Data = b"",
    type: str | None = None,
    *,
    headers: Headers = (),
    etag: str | None = None,
    last_modified: str | None = None,
    ranges: bool = False,
    before: Sequence[Step] = (),
) -> Script:
    """Returns a 200 with a body. Validators allow 304, ``ranges`` allows 206 and 416; ``before`` are steps before the
    body."""
    lines = list(headers)
    if type is not None:
        lines.append(("Content-Type", type))
    if etag is not None:
        lines.append(("ETag", etag))
    if last_modified is not None:
        lines.append(("Last-Modified", last_modified))
    if ranges:
        lines.append(("Accept-Ranges", "bytes"))
    is_conditional = etag is not None or last_modified is not None
    steps = [*before, body(content)]
    return script(headers=lines, steps=steps, answersConditions=is_conditional, answersRanges=ranges)


def answer(status: int, content: Data = b"", headers: Headers = ()) -> Script:
    """Returns a status with optional body and headers."""
    return script(status, headers, [body(content)] if content else [])


def redirect(location: str, status: int = 302) -> Script:
    """Returns a redirect."""
    return script(status, [("Location", location)])


def truncated(announced: int, sent: Data, type: str | None = None) -> Script:
    """Returns a body of which only a part is sent before the connection is closed."""
    return ok(sent, type, headers=[("Content-Length", str(announced))])


def chunked(chunks: Sequence[Data]) -> Script:
    """Returns a complete chunked body."""
    return script(steps=[*(chunk(value) for value in chunks), LAST_CHUNK])


def raw_answer(value: Data) -> Script:
    """Returns raw bytes instead of an answer."""
    return script(steps=[raw(value)], sendsHead=False)


@dataclass(frozen=True)
class Request:
    """A request that the server received."""

    number: int
    connection: int
    method: str
    target: str
    path: str
    query: str
    version: str
    headers: list[tuple[str, str]]
    body: bytes
    outcome: str
    """pending, answered, cut (by the script) or clientLeft"""

    def values(self, name: str) -> list[str]:
        """Returns every value of a header, in order."""
        return [value for other, value in self.headers if other.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """Returns the first value of a header."""
        return next(iter(self.values(name)), None)

    @classmethod
    def _from(cls, entry: dict[str, Any]) -> Request:
        content = entry["body"]
        is_text = isinstance(content, str)
        plain = content.encode("utf-8") if is_text else base64.b64decode(content["base64"])
        headers = [(name, value) for name, value in entry["headers"]]
        return cls(**{**entry, "headers": headers, "body": plain})


class Gate:
    """A gate at which scripts wait: ``wait(name)``. It is closed at first; ``reset`` removes it."""

    def __init__(self, server: TestServer, name: str) -> None:
        self._server = server
        self.name = name

    @property
    def step(self) -> Step:
        """The step that waits at this gate."""
        return wait(self.name)

    def open(self) -> None:
        """Opens the gate for all scripts."""
        self._server.call("gate", {"gate": self.name, "do": "open"})

    def close(self) -> None:
        """Closes the gate again."""
        self._server.call("gate", {"gate": self.name, "do": "close"})

    def admit(self, count: int = 1) -> None:
        """Lets so many scripts pass."""
        self._server.call("gate", {"gate": self.name, "do": "admit", "count": count})

    @property
    def reached(self) -> int:
        """The number of scripts that have come so far."""
        return int(self._counts()["reached"])

    @property
    def waiting(self) -> int:
        """The number of scripts that wait now."""
        return int(self._counts()["waiting"])

    def wait_until_reached(self, count: int = 1, seconds: float = 30) -> bool:
        """Waits until so many scripts have come. Returns False after the time."""
        return self._server.wait_for("gate", count, seconds=seconds, gate=self.name)

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = self._server.counts()["gates"].get(self.name, {"reached": 0, "waiting": 0})
        return counts


def executable() -> str:
    """Returns the path of the server. Raises FileNotFoundError if it isn't built."""
    named = os.environ.get("NUTHATCH_TESTSERVER")
    path = Path(named) if named else Path(__file__).resolve().parents[2] / "build" / "nuthatch-testserver"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: build the product nuthatch-testserver, or set NUTHATCH_TESTSERVER")
    return str(path)


class TestServer:
    """A server process. A context manager."""

    __test__ = False  # its name begins with "Test", but it is not a test class

    def __init__(self, *options: str) -> None:
        """Starts the server. ``options`` are those of its command, such as ``--ipv6``."""
        self._process = subprocess.Popen(
            [executable(), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line.startswith("http://"):
            raise RuntimeError(f"the test server ended with code {self._process.wait()}")
        self.port = int(line.rsplit(":", 1)[1])
        self._local = threading.local()

    def __enter__(self) -> TestServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the process. May be called again."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """Kills the process."""
        self._process.kill()
        self._process.wait()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Returns the URL of a path. ``host`` may be any spelling of loopback."""
        return f"http://{host}:{self.port}{path}"

    def on(self, path: str, *scripts: Script) -> None:
        """Sets scripts for a path: the first request gets the first one, and so on. The last one stays."""
        self.call("on", {"path": path, "sequence": list(scripts)})

    def on_prefix(self, prefix: str, *scripts: Script) -> None:
        """Sets scripts for every path with this prefix that has none of its own, as ``on`` for one path."""
        self.call("on", {"prefix": prefix, "sequence": list(scripts)})

    def echo(self, path: str) -> None:
        """Answers a path with the request as JSON."""
        self.call("on", {"path": path, "echo": True})

    def serve(self, folder: str | Path, at: str = "/") -> None:
        """Serves a folder's files under a prefix. The prefix itself lists the URLs of its pictures."""
        self.call("on", {"prefix": at, "folder": str(folder)})

    def off(self, path: str) -> None:
        """Removes the scripts of a path or prefix."""
        self.call("off", {"path": path})

    def gate(self, name: str) -> Gate:
        """Returns the gate with this name."""
        return Gate(self, name)

    def reset(self) -> None:
        """Removes scripts, gates, log and counts. Scripts that wait at a gate go on."""
        self.call("reset", {})

    def clear_log(self) -> None:
        """Clears log and counts only."""
        self.call("reset", {"logOnly": True})

    def reset_connections(self, count: int) -> None:
        """Resets the next so many connections as soon as they are accepted."""
        self.call("host", {"resetNext": count})

    def go_down(self) -> None:
        """Resets open connections and refuses new ones. The thread that calls this can call ``go_up``."""
        self.call("host", {"state": "down"})

    def go_up(self) -> None:
        """Listens again on the same port."""
        self.call("host", {"state": "up"})

    def requests(self, path: str | None = None) -> list[Request]:
        """Returns the requests for a path, with or without query (None: all)."""
        suffix = "" if path is None else f"?path={quote(path, safe='')}"
        return [Request._from(entry) for entry in self.call(f"log{suffix}")["requests"]]

    def count(self, path: str | None = None) -> int:
        """Returns the number of requests."""
        return int(self.counts()["requests"]) if path is None else len(self.requests(path))

    def counts(self) -> dict[str, Any]:
        """Returns requests, byPath, connections, accepted, underWay, highWater, highWaterByHost, malformed, gates."""
        return self.call("counts")

    def high_water(self, host: str | None = None) -> int:
        """Returns the most requests under way at once, in all or for one Host value."""
        counts = self.counts()
        return int(counts["highWater"] if host is None else counts["highWaterByHost"].get(host, 0))

    def wait_for_requests(self, count: int, path: str | None = None, seconds: float = 30) -> bool:
        """Waits until there were so many requests. Returns False after the time."""
        return self.wait_for("requests", count, path=path, seconds=seconds)

    def wait_for_answers(self, count: int, path: str | None = None, seconds: float = 30) -> bool:
        """Waits until so many requests were answered to the end of their scripts. Returns False after the time."""
        return self.wait_for("answers", count, path=path, seconds=seconds)

    def wait_for_disconnect(self, count: int = 1, path: str | None = None, seconds: float = 30) -> bool:
        """Waits until so many clients have left before the end. Returns False after the time."""
        return self.wait_for("disconnects", count, path=path, seconds=seconds)

    def wait_until_idle(self, seconds: float = 30) -> bool:
        """Waits until no request is under way. Returns False after the time."""
        return self.wait_for("idle", seconds=seconds)

    def wait_for(self, what: str, count: int = 1, *, seconds: float = 30, **others: Any) -> bool:
        """Calls ``wait`` of the control interface."""
        question = {"for": what, "count": count, "seconds": seconds, **others}
        return bool(self.call("wait", question, seconds + 30)["reached"])

    def call(self, name: str, question: dict[str, Any] | None = None, seconds: float = 60) -> dict[str, Any]:
        """Calls the control interface, over a connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            connection.connect()
            self._local.connection = connection
        connection.sock.settimeout(seconds)
        content = None if question is None else json.dumps(question)
        connection.request("GET" if content is None else "POST", f"/_control/{name}", content)
        response = connection.getresponse()
        result: dict[str, Any] = json.loads(response.read())
        if response.status != 200:
            raise ValueError(result.get("error", f"status {response.status}"))
        return result
