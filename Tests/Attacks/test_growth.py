"""For four times the bytes of a caller or a server, the library takes four times as long, not sixteen times.

callgrind counts instructions for the same input in three sizes. Each is four times the one before.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Tuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("NUTHATCH_LIBRARY", ROOT / "build" / "libnuthatch.so.1"))
COMMAND = ROOT / "build" / "nuthatch"

#: Makes an input of about so many bytes or lines.
Make = Callable[[int], bytes]
#: The work of the program, the input, and its sizes.
Case = Tuple[str, Make, Tuple[int, ...]]

#: A number of fcntl.h.
F_SETPIPE_SZ = 1031

TEXT = (2_000, 8_000, 32_000)
URL = (1_000, 4_000, 16_000)
LINES = (60, 240, 960)

pytestmark = pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind, to count")


def repeated(piece: bytes, begin: bytes = b"", end: bytes = b"") -> Make:
    """Returns BEGIN, then PIECE until so many bytes are there, then END."""
    return lambda count: begin + piece * ((count - len(begin) - len(end)) // len(piece)) + end


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(piece: bytes, *, behind: bool = False) -> Make:
    """Returns a PNG with so many bytes in a chunk before or after its pixels."""
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress((b"\0" + b"\x80" * 24) * 8))
    if behind:
        return repeated(piece, head + pixels, chunk(b"IEND", b""))
    return repeated(piece, head, pixels + chunk(b"IEND", b""))


def segment(marker: int, data: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def jpeg(piece: bytes) -> Make:
    """Returns a grey JPEG of 8x8 with so many bytes in a segment at its beginning."""
    table = bytes([0, 1] + [0] * 15 + [0])
    rest = segment(0xDB, b"\0" + b"\1" * 64) + segment(0xC0, bytes([8, 0, 8, 0, 8, 1, 1, 0x11, 0]))
    rest += segment(0xC4, table) + segment(0xC4, b"\x10" + table[1:])
    rest += segment(0xDA, bytes([1, 1, 0, 0, 63, 0])) + b"\x3f\xff\xd9"
    return repeated(piece, b"\xff\xd8", rest)


def urls() -> Iterator[Tuple[str, Case]]:
    pieces = {
        "letters": (b"", b"a"),
        "colons": (b"", b":"),
        "slashes": (b"", b"/"),
        "schemes": (b"", b"://"),
        "controls": (b"", b"\x01"),
        "marks": (b"", b"\xcc\x81"),
        "users": (b"http://", b"@"),
        "host": (b"http://", b"a"),
        "foreign host": (b"http://", b"\xc3\xa9"),
        "port": (b"http://h:", b"1"),
        "address": (b"http://[", b":"),
        "dots": (b"http://h.invalid/", b"a/../"),
        "escaped dots": (b"http://h.invalid/", b"%2e/"),
        "foreign": (b"http://h.invalid/", b"\xc3\xa9"),
        "query": (b"http://h.invalid/?", b"a=b&"),
        "fragment": (b"http://h.invalid/", b"#"),
        "file": (b"file:///", b"../"),
    }
    for name, (begin, piece) in pieces.items():
        yield f"url {name}", ("look_up", repeated(piece, begin), URL)
    for name in ("letters", "users"):
        begin, piece = pieces[name]
        yield f"long url {name}", ("look_up", repeated(piece, begin), (70_000, 280_000, 1_120_000))


def bodies() -> Iterator[Tuple[str, Case]]:
    pieces = {
        "letters": (b"data:,", b"a"),
        "base64": (b"data:;base64,", b"AAAA"),
        "escapes": (b"data:,", b"%41"),
        "padding": (b"data:;base64,", b"="),
        "no comma": (b"data:", b"a;"),
        "arrays": (b"data:,", b"["),
        "numbers": (b"data:,[", b"1,"),
        "digits": (b"data:,", b"1"),
        "text": (b'data:,"', b"\\u0041"),
        "halves": (b'data:,"', b"\\ud800"),
        "members": (b"data:,{", b'"a":1,'),
        "blanks": (b"data:,", b" "),
        "no text": (b"data:,", b"%ff"),
    }
    for name, (begin, piece) in pieces.items():
        yield f"data {name}", ("get", repeated(piece, begin), TEXT)
        yield f"read {name}", ("read_as", repeated(piece, begin), TEXT)


def pictures() -> Iterator[Tuple[str, Case]]:
    pieces = {
        "png text": png(chunk(b"tEXt", b"a\0b")),
        "png packed text": png(chunk(b"zTXt", b"a\0\0" + zlib.compress(b"b"))),
        "png profiles": png(chunk(b"iCCP", b"a\0\0" + zlib.compress(b"b" * 200))),
        "png unknown": png(chunk(b"abCd", b"")),
        "png exif": png(chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\0")),
        "png empty pixels": png(chunk(b"IDAT", b"")),
        "png behind": png(chunk(b"tEXt", b"a\0b"), behind=True),
        "jpeg other": jpeg(segment(0xE3, b"")),
        "jpeg comments": jpeg(segment(0xFE, b"x")),
        "jpeg exif": jpeg(segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\0")),
        "jpeg profiles": jpeg(segment(0xE2, b"ICC_PROFILE\0\x01\xffx")),
        "jpeg adobe": jpeg(segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")),
        "jpeg tables": jpeg(segment(0xDB, b"\0" + b"\1" * 64)),
        "jpeg filling": jpeg(b"\xff"),
    }
    for name, make in pieces.items():
        yield name, ("decode", make, TEXT)


#: Heads of a server: makes a line for each number.
HEADS: Dict[str, bytes] = {
    "plain": b"A%d: b\r\n",
    "same": b"A: %d\r\n",
    "control": b"Cache-Control: a%d=b\r\n",
    "vary": b"Vary: a%d\r\n",
    "links": b"Link: </%d>; rel=a\r\n",
    "cookie": b"Set-Cookie: a%d=b; Path=/; Domain=127.0.0.1\r\n",
    "connection": b"Connection: a%d\r\n",
    "lengths": b"Content-Length: 2\r\n",
    "codings": b"Content-Encoding: identity\r\n",
    "folded": b" a%d\r\n",
    "challenges": b"WWW-Authenticate: A b=%d\r\n",
    "dates": b"Expires: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
    "bare": b"a%d\r\n",
    "interim": b"HTTP/1.1 103 Early Hints\r\n\r\n",
}


def head(kind: str, count: int) -> bytes:
    """Returns a head with so many lines, or with one line of about so many bytes."""
    status = b"HTTP/1.1 401 No\r\n" if kind.endswith("challenges") else b"HTTP/1.1 200 OK\r\n"
    if kind == "interim":
        return HEADS[kind] * count + status
    if kind.startswith("one-"):
        name, value = HEADS[kind[4:]].rstrip().split(b": ")
        item = value.replace(b"%d", b"x") + b", "
        return status + name + b": " + item * (count // len(item)) + b"\r\n"
    lines = [line % number if b"%d" in (line := HEADS[kind]) else line for number in range(count)]
    return status + b"ETag: x\r\n" + b"".join(lines)


class HeadServer:
    """Answers /KIND/COUNT with such a head."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            while line := lines.readline():
                length = 0
                while field := lines.readline().strip():
                    if field.lower().startswith(b"content-length:"):
                        length = int(field.split(b":")[1])
                lines.read(length)
                path = line.split()[1].decode().strip("/").split("/")
                sent = head(path[0], int(path[1])) if len(path) == 2 else b"HTTP/1.1 200 OK\r\n"
                if path[0] != "lengths":
                    sent += b"Content-Length: 2\r\n"
                connection.sendall(sent + b"\r\nok")


def heads(base: str) -> Iterator[Tuple[str, Case]]:
    def url(kind: str) -> Make:
        return lambda count: f"{base}/{kind}/{count}".encode()

    for kind in HEADS:
        yield f"head {kind}", ("cookies" if kind == "cookie" else "get", url(kind), LINES)
    for kind in ("control", "vary", "connection", "codings", "challenges", "links", "dates"):
        yield f"line {kind}", ("get", url("one-" + kind), URL)


def sent(base: str) -> Iterator[Tuple[str, Case]]:
    def lines(count: int) -> bytes:
        return f"{base}/sent\n".encode() + b"".join(b"a%d=b\n" % number for number in range(count))

    for what in ("headers", "fields", "form", "headers_of_all"):
        sizes = LINES if what.startswith("headers") else (250, 1000, 4000)
        if what == "headers_of_all":
            sizes = (30, 120, 480)
        yield f"sent {what}", (what, lines, sizes)
    machines = repeated(b"machine h login a password b\n", f"# {base}/x\n".encode())
    yield "netrc machines", ("netrc", machines, TEXT)
    macros = repeated(b"macdef a\nb\n\n", f"# {base}/x\n".encode())
    yield "netrc macros", ("netrc", macros, TEXT)
    yield "netrc quoted", ("netrc", repeated(b"\\x", f'# {base}/x\nlogin "'.encode()), TEXT)
    yield (
        "hosts without a proxy",
        ("no_proxy", repeated(b",h.invalid", f"{base}/x,127.0.0.1".encode()), (8_000, 32_000, 128_000)),
    )
    yield (
        "dots without a proxy",
        ("no_proxy", repeated(b".", f"{base}/x,127.0.0.1,".encode()), (8_000, 32_000, 128_000)),
    )
    yield "outbox", ("outbox", lambda count: str(count).encode(), (10, 40, 160))


def complaint(counts: List[int]) -> str:
    """Returns a message if the work grows faster than the input, else an empty text."""
    # An allowance for instructions of other threads of the library.
    others = 300_000
    first, second, third = counts
    return "" if third - second <= 5 * (second - first + others) else f"{first:,} {second:,} {third:,}"


def measured(folder: Path, program: Path, cases: Dict[str, Case]) -> Dict[str, str]:
    """Runs all cases. Returns those that grow too fast."""
    folder.mkdir()
    jobs: List[str] = []
    ready = set()
    # First all cases of one size: unfinished work of other threads is counted for the next case.
    for place in (0, 1, 2):
        for name, (what, make, sizes) in cases.items():
            path = folder / f"{name}-{place}".replace(" ", "-")
            path.write_bytes(make(sizes[place]))
            # Leave out the first run of each kind, which initializes things.
            kind = (what, name.split()[0])
            if kind not in ready:
                jobs.append(f"{what} {path} first\n")
            ready.add(kind)
            jobs.append(f"{what} {path} {path.name}\n")
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts"]
    done = subprocess.run(
        [*tool, str(program), str(folder / "cache")],
        input="".join(jobs),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    counts: Dict[str, int] = {}
    for dump in folder.glob("counts.*"):
        text = dump.read_text(errors="replace")
        job = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
        if job and total:
            counts[job[1]] = int(total[1])
    told = {name: [counts[f"{name}-{place}".replace(" ", "-")] for place in (0, 1, 2)] for name in cases}
    return {name: why for name, three in told.items() if (why := complaint(three))}


def test_work_of_the_library_grows_in_proportion_to_its_input(tmp_path: Path) -> None:
    program = tmp_path / "growth"
    command = ["cc", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", str(Path(__file__).with_name("growth.c"))]
    subprocess.run([*command, "-o", str(program), str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    server = HeadServer()
    makers = [urls(), bodies(), pictures(), heads(server.url), sent(server.url)]
    cases = {name: case for maker in makers for name, case in maker}
    wrong: Dict[str, str] = {}
    # Regular work of the library may be counted once, but not each time for the same case.
    for attempt in range(4):
        wrong = measured(tmp_path / str(attempt), program, cases)
        cases = {name: cases[name] for name in wrong}
        if not wrong:
            break
    server.socket.close()
    assert not wrong


LISTS: Dict[str, Tuple[str, Make]] = {
    "one line": ("lines", repeated(b"a")),
    "text": ("jsonl", repeated(b"\\u0041", b'{"url":"', b'"}\n')),
    "members": ("jsonl", repeated(b'"a":1,', b"{", b'"url":"x"}\n')),
    "fields": ("csv", repeated(b"a,", b"url,b\nx,", b"\n")),
    "quotes": ("csv", repeated(b'""', b'url\n"', b'"\n')),
    "open quotes": ("csv", repeated(b"a\n", b'url\n"')),
}


def counted(folder: Path, form: str, content: bytes) -> int:
    """Returns the instructions of a run that reads a list from a pipe."""
    folder.mkdir()
    given, writing = os.pipe()
    # Each line comes in many pieces.
    fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
    command = [str(COMMAND), "prefetch", "-", "--cache", str(folder / "cache"), "--input", form]
    with subprocess.Popen(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", *command],
        stdin=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(given)
        with contextlib.suppress(BrokenPipeError), open(writing, "wb") as list_file:
            list_file.write(content)
        said = process.communicate(timeout=200)[1].decode(errors="replace")
    found = re.search(r"refs: +([\d,]+)", said)
    assert found and "is none of" not in said, said[-4000:]
    return int(found[1].replace(",", ""))


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Returns the instructions of a run with an empty list."""
    folder = tmp_path_factory.mktemp("start")
    return min(counted(folder / name, "lines", b"") for name in ("first", "second"))


@pytest.mark.parametrize("name", LISTS)
def test_work_of_the_command_grows_in_proportion_to_its_list(tmp_path: Path, name: str, start: int) -> None:
    form, make = LISTS[name]
    sizes = (1_200_000, 4_800_000) if name == "one line" else (32_000, 128_000)
    rounds: List[List[int]] = []
    # On a busy machine other threads of the command add instructions: the least of each size is its work.
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with ThreadPoolExecutor() as runs:
            counts = [runs.submit(counted, folder / str(size), form, make(size)) for size in sizes]
            rounds.append([start, *(count.result() for count in counts)])
        grows = complaint([min(each) for each in zip(*rounds)])
        if not grows:
            break
    assert not grows
