"""Pictures that are decoded in a process of their own."""

import contextlib
import ctypes.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import List

import numpy
import nuthatch
import pytest
from pictures import png
from testserver import TestServer, ok

NAMES = {"nuthatch-decoder", "nuthatch-guard", "nuthatch-decode"}
SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'>"
    b"<rect width='10' height='10' fill='#00f'/></svg>"
)
has_librsvg = pytest.mark.skipif(not ctypes.util.find_library("rsvg-2"), reason="librsvg2-2 isn't installed")


def decoders(environment: str) -> List[int]:
    """The decoders that a process with this word in its environment has started: the guard and its child."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = environment.encode() in (folder / "environ").read_bytes()
            if is_ours and (folder / "comm").read_text().strip() in NAMES:
                found.append(int(folder.name))
        except OSError:
            continue
    return sorted(found)


def has_ended(pid: int) -> bool:
    """Whether a process has closed its sockets, too: a while after its memory is gone, it becomes a zombie.

    Its first thread may be one before its other threads have ended.
    """
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return all((thread / "stat").read_text().rpartition(")")[2].split()[0] in "ZX" for thread in threads)
    except FileNotFoundError:
        # A thread has ended meanwhile, or all have.
        return not Path(f"/proc/{pid}").exists()
    except OSError:
        return True


def one_pair(environment: str) -> List[int]:
    """Waits until one guard and its child are left. Those of a process that has ended take a moment to end."""
    deadline = time.monotonic() + 60
    while len(found := decoders(environment)) != 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(found) == 2
    return found


def test_pixels_are_the_same(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a.png", ok(png(300, 200), "image/png"))
    url = server.url("/a.png")
    here = cache.get(url).image(64)
    there = cache.get(url).image(64, decode="isolated")
    assert (numpy.asarray(here) == numpy.asarray(there)).all()
    assert there.original_size == (300, 200)
    thumbnail = cache.thumbnail(url, 64, decode="isolated")
    assert (numpy.asarray(here) == numpy.asarray(thumbnail)).all()


@pytest.mark.parametrize("word", ["elsewhere", "process"])
def test_a_wrong_word_is_refused(cache: nuthatch.Cache, word: str) -> None:
    with pytest.raises(nuthatch.Invalid):
        cache.thumbnail("data:,", 64, decode=word)


@has_librsvg
def test_an_svg_is_drawn_at_the_size_that_is_asked_for(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a.svg", ok(SVG, "image/svg+xml"))
    image = cache.thumbnail(server.url("/a.svg"), 400)
    assert (image.size, image.original_size) == ((400, 200), (20, 10))
    pixels = numpy.asarray(image)
    assert (pixels[:, :200] == (0, 0, 255, 255)).all() and (pixels[:, 200:] == 0).all()
    assert cache.thumbnail(server.url("/a.svg"), 40).size == (40, 20)


LIMITED = """
import base64, sys
import nuthatch
from pictures import png
data = "data:image/png;base64," + base64.b64encode(png(60, 40)).decode()
with nuthatch.Cache(sys.argv[1]) as cache:
    print(cache.get(data).image(16, decode="isolated").size)
"""


def test_limits_of_the_caller_that_are_lower_stay(tmp_path: Path) -> None:
    limits = ["prlimit", "--as=3000000000", "--data=600000000", "--nofile=100"]
    # Root can raise its limits.
    powers = ["setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource"]
    caller = [sys.executable, "-c", LIMITED, str(tmp_path / "cache")]
    command = [*(powers if os.geteuid() == 0 else []), *limits, *caller]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (0, "(16, 11)\n")


# It runs in a process of its own, whose children and signals are its own.
CALLER = """
import os, signal, sys
import nuthatch
from pictures import png
signals = []
signal.signal(signal.SIGCHLD, lambda *_: signals.append(1))
cache = nuthatch.Cache(sys.argv[1])
data = "data:image/png;base64," + __import__("base64").b64encode(png(60, 40)).decode()
def decode():
    return cache.get(data).image(16, decode="isolated").size
assert decode() == (16, 11)
try:
    os.waitpid(-1, os.WNOHANG)
    raise SystemExit("wait found a child")
except ChildProcessError:
    pass
child = os.fork()
if child == 0:
    with nuthatch.Cache(sys.argv[1]) as own:
        size = own.get(data).image(16, decode="isolated").size
    os._exit(0 if size == (16, 11) else 1)
assert os.waitpid(child, 0)[1] == 0
signals.clear()
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(decode(), flush=True)
    except nuthatch.Error as error:
        print(error.code, flush=True)
print(len(signals), flush=True)
"""


def test_the_caller_notices_nothing(tmp_path: Path) -> None:
    mark = str(tmp_path / "home")
    environment = {**os.environ, "HOME": mark}
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, str(tmp_path / "cache")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    assert caller.stdin and caller.stdout
    try:
        assert caller.stdout.readline() == "ready\n"
        before = one_pair(mark)
        for pid in before:
            # The child ends by itself when its guard has ended.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            while not has_ended(pid):
                time.sleep(0.01)
        caller.stdin.write("\n")
        caller.stdin.flush()
        assert caller.stdout.readline() == "(16, 11)\n"
        # Ctrl-C at the caller's terminal goes to its process group.
        assert {os.getpgid(pid) for pid in one_pair(mark)}.isdisjoint({caller.pid})
        caller.stdin.close()
        assert caller.stdout.readline() == "0\n"
    finally:
        caller.kill()
        caller.wait()
        caller.stdout.close()
    while decoders(mark):
        time.sleep(0.01)
