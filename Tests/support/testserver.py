"""The loopback HTTP test server, for Python tests.

    with TestServer() as server:
        server.on("/a.png", ok(png(64, 48), "image/png", etag='"1"'))
        fetch(server.url("/a.png"))
        assert server.count("/a.png") == 1

Scripts and steps are what the server's ``--help`` calls S and STEP; the functions below write them. Nothing
here sleeps: tests wait for what the server saw. The executable is ``$NUTHATCH_TESTSERVER``, else
``build/nuthatch-testserver`` of this checkout; it ends when this process does.
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
    """Text as it is, bytes that aren't text in base64."""
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}


def body(value: Data) -> Step:
    """Body bytes."""
    return {"bytes": data(value)}


def fill(count: int, byte: int = 0) -> Step:
    """Body: one byte repeated."""
    return {"fill": {"count": count, "byte": byte}}


def drip(value: Data, milliseconds: int, piece: int = 1) -> Step:
    """Body bytes in pieces, with a pause after each."""
    return {"drip": {"bytes": data(value), "piece": piece, "milliseconds": milliseconds}}


def head_part(count: int) -> Step:
    """The next so many bytes of the head."""
    return {"headPart": count}


def drip_head(milliseconds: int, piece: int = 1) -> Step:
    """The rest of the head in pieces, with a pause after each."""
    return {"dripHead": {"piece": piece, "milliseconds": milliseconds}}


def chunk(value: Data) -> Step:
    """A well-formed chunk."""
    return {"chunk": data(value)}


def bad_chunk(value: Data) -> Step:
    """Where a chunk should be: these bytes as they are."""
    return {"badChunk": data(value)}


def raw(value: Data) -> Step:
    """Any bytes, at any place."""
    return {"raw": data(value)}


def interim(status: int, headers: Headers = ()) -> Step:
    """An interim answer (1xx)."""
    return {"interim": {"status": status, "headers": list(headers)}}


def wait(gate: str) -> Step:
    """Waits until the gate of that name is opened."""
    return {"wait": gate}


def pause(milliseconds: int) -> Step:
    """Waits for a time: for latency, never for order."""
    return {"pause": milliseconds}


def script(status: int = 200, headers: Headers = (), steps: Sequence[Step] = (), **others: Any) -> Script:
    """A script; ``others`` are its further members, such as reason, framing, sendsHead or readsBody."""
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
    """200 with a body; validators make it answer 304, ``ranges`` 206 and 416; ``before`` comes before it."""
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
    """A status with optional body and fields."""
    return script(status, headers, [body(content)] if content else [])


def redirect(location: str, status: int = 302) -> Script:
    """A redirect."""
    return script(status, [("Location", location)])


def truncated(announced: int, sent: Data, type: str | None = None) -> Script:
    """A body of which only a part is sent before the connection is closed."""
    return ok(sent, type, headers=[("Content-Length", str(announced))])


def chunked(chunks: Sequence[Data]) -> Script:
    """A chunked body, whole."""
    return script(steps=[*(chunk(value) for value in chunks), LAST_CHUNK])


def raw_answer(value: Data) -> Script:
    """These bytes instead of an answer."""
    return script(steps=[raw(value)], sendsHead=False)


@dataclass(frozen=True)
class Request:
    """A request as the server saw it."""

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
        """Every value of a header field, in order."""
        return [value for other, value in self.headers if other.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """The first value of a header field."""
        return next(iter(self.values(name)), None)

    @classmethod
    def _from(cls, entry: dict[str, Any]) -> Request:
        content = entry["body"]
        is_text = isinstance(content, str)
        plain = content.encode("utf-8") if is_text else base64.b64decode(content["base64"])
        headers = [(name, value) for name, value in entry["headers"]]
        return cls(**{**entry, "headers": headers, "body": plain})


class Gate:
    """Where scripts wait: ``wait(name)``. Closed until it is opened; ``reset`` forgets it."""

    def __init__(self, server: TestServer, name: str) -> None:
        self._server = server
        self.name = name

    @property
    def step(self) -> Step:
        """The step that waits here."""
        return wait(self.name)

    def open(self) -> None:
        """Lets everybody pass."""
        self._server.call("gate", {"gate": self.name, "do": "open"})

    def close(self) -> None:
        """Closes it again."""
        self._server.call("gate", {"gate": self.name, "do": "close"})

    def admit(self, count: int = 1) -> None:
        """Lets so many pass."""
        self._server.call("gate", {"gate": self.name, "do": "admit", "count": count})

    @property
    def reached(self) -> int:
        """How many have come so far."""
        return int(self._counts()["reached"])

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return int(self._counts()["waiting"])

    def wait_until_reached(self, count: int = 1, seconds: float = 30) -> bool:
        """False when the time is over before so many have come."""
        return self._server.wait_for("gate", count, seconds=seconds, gate=self.name)

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = self._server.counts()["gates"].get(self.name, {"reached": 0, "waiting": 0})
        return counts


def executable() -> str:
    """Where the server is; raises FileNotFoundError when it isn't built."""
    named = os.environ.get("NUTHATCH_TESTSERVER")
    path = Path(named) if named else Path(__file__).resolve().parents[2] / "build" / "nuthatch-testserver"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: build the product nuthatch-testserver, or set NUTHATCH_TESTSERVER")
    return str(path)


class TestServer:
    """A server process; a context manager."""

    __test__ = False  # not a class of tests

    def __init__(self, *options: str) -> None:
        """Starts it; ``options`` are the command's, such as ``--ipv6``."""
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
        """Ends the process. Harmless when repeated."""
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
        """Ends the process in the middle of whatever it does."""
        self._process.kill()
        self._process.wait()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The URL of a path; ``host`` may be any spelling of loopback."""
        return f"http://{host}:{self.port}{path}"

    def on(self, path: str, *scripts: Script) -> None:
        """Puts scripts on a path: the first request gets the first, and so on; the last one stays."""
        self.call("on", {"path": path, "sequence": list(scripts)})

    def on_prefix(self, prefix: str, *scripts: Script) -> None:
        """Puts scripts on every path that begins so and has none of its own, as ``on`` does on one path."""
        self.call("on", {"prefix": prefix, "sequence": list(scripts)})

    def echo(self, path: str) -> None:
        """Answers a path with the request as JSON."""
        self.call("on", {"path": path, "echo": True})

    def serve(self, folder: str | Path, at: str = "/") -> None:
        """Serves a folder's files under a prefix; the prefix itself lists the URLs of its pictures."""
        self.call("on", {"prefix": at, "folder": str(folder)})

    def off(self, path: str) -> None:
        """Takes what is on a path or prefix away."""
        self.call("off", {"path": path})

    def gate(self, name: str) -> Gate:
        """The gate of that name."""
        return Gate(self, name)

    def reset(self) -> None:
        """Forgets scripts, gates (whoever waits passes), log and counts."""
        self.call("reset", {})

    def clear_log(self) -> None:
        """Forgets log and counts only."""
        self.call("reset", {"logOnly": True})

    def reset_connections(self, count: int) -> None:
        """Resets the next so many connections as soon as they are accepted."""
        self.call("host", {"resetNext": count})

    def go_down(self) -> None:
        """Resets what is open and refuses connections. The thread that calls this can call ``go_up``."""
        self.call("host", {"state": "down"})

    def go_up(self) -> None:
        """Listens again, on the same port."""
        self.call("host", {"state": "up"})

    def requests(self, path: str | None = None) -> list[Request]:
        """The requests for a path, with or without query (None: all)."""
        suffix = "" if path is None else f"?path={quote(path, safe='')}"
        return [Request._from(entry) for entry in self.call(f"log{suffix}")["requests"]]

    def count(self, path: str | None = None) -> int:
        """How many requests there were."""
        return int(self.counts()["requests"]) if path is None else len(self.requests(path))

    def counts(self) -> dict[str, Any]:
        """requests, byPath, connections, accepted, underWay, highWater, highWaterByHost, malformed, gates."""
        return self.call("counts")

    def high_water(self, host: str | None = None) -> int:
        """The most requests under way at once, in all or of one Host value."""
        counts = self.counts()
        return int(counts["highWater"] if host is None else counts["highWaterByHost"].get(host, 0))

    def wait_for_requests(self, count: int, path: str | None = None, seconds: float = 30) -> bool:
        """False when the time is over before there were so many."""
        return self.wait_for("requests", count, path=path, seconds=seconds)

    def wait_for_answers(self, count: int, path: str | None = None, seconds: float = 30) -> bool:
        """False when the time is over before so many were answered to the end of their script."""
        return self.wait_for("answers", count, path=path, seconds=seconds)

    def wait_for_disconnect(self, count: int = 1, path: str | None = None, seconds: float = 30) -> bool:
        """False when the time is over before so many clients have left in the middle."""
        return self.wait_for("disconnects", count, path=path, seconds=seconds)

    def wait_until_idle(self, seconds: float = 30) -> bool:
        """False when the time is over before no request is under way."""
        return self.wait_for("idle", seconds=seconds)

    def wait_for(self, what: str, count: int = 1, *, seconds: float = 30, **others: Any) -> bool:
        """The control interface's ``wait``."""
        question = {"for": what, "count": count, "seconds": seconds, **others}
        return bool(self.call("wait", question, seconds + 30)["reached"])

    def call(self, name: str, question: dict[str, Any] | None = None, seconds: float = 60) -> dict[str, Any]:
        """A call of the control interface, over a connection of this thread's own."""
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
