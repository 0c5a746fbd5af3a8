"""Failures: their exceptions, and the state after them."""

import builtins
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict

import nuthatch
import pytest
from nuthatch import _prototypes
from testserver import TestServer, answer, body, ok, redirect, script, truncated


def test_error_words_are_those_of_the_library() -> None:
    from nuthatch._library import library

    for number, word in _prototypes.WORDS.items():
        assert library.nh_status_name(number).decode() == word
    assert library.nh_status_name(max(_prototypes.WORDS) + 1) == b"unknown"


@pytest.mark.parametrize(
    "url, kind, code",
    [
        ("ftp://example.org/", nuthatch.BadURL, "bad_url"),
        ("", nuthatch.BadURL, "bad_url"),
        ("http://a b/", nuthatch.BadURL, "bad_url"),
        ("http://x/\0", nuthatch.BadURL, "bad_url"),
        ("http://x/\r\nA: b", nuthatch.BadURL, "bad_url"),
        ("http://127.0.0.1:1/", nuthatch.TransportError, "refused"),
        ("http://nothing.invalid/", nuthatch.TransportError, "dns"),
    ],
)
def test_a_url_that_fails_raises_its_exception(cache: nuthatch.Cache, url: str, kind: Any, code: str) -> None:
    with pytest.raises(kind) as caught:
        cache.get(url)
    assert caught.value.code == code
    assert isinstance(caught.value, nuthatch.Error)


def test_errors_are_also_built_in_exceptions(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/slow", script(steps=[server.gate("never").step, body("x")]))
    with pytest.raises(builtins.TimeoutError) as caught:
        cache.get(server.url("/slow"), timeout=0.1)
    assert isinstance(caught.value, nuthatch.TimeoutError)
    assert caught.value.url == server.url("/slow")
    with pytest.raises(nuthatch.TimeoutError, match="deadline"):
        cache.get(server.url("/slow"), deadline=0.1)
    with pytest.raises(ConnectionError):
        cache.get("http://127.0.0.1:1/")
    with pytest.raises(ValueError):
        cache.get("no url")


def test_a_server_fault_raises_its_exception(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/cut", truncated(100, "short"))
    server.on("/loop", redirect("/loop"))
    server.on("/large", ok("x" * 1001))
    faults: Dict[str, Any] = {
        "/cut": nuthatch.Error,
        "/loop": nuthatch.TooManyRedirects,
        "/large": nuthatch.TooLarge,
    }
    for path, kind in faults.items():
        with pytest.raises(kind) as caught:
            cache.get(server.url(path), max_bytes=1000)
        assert server.url(path) in str(caught.value)


@pytest.mark.parametrize(
    "headers", [{"X": "a\r\nb"}, {"X\n": "a"}, {"": "a"}, {"X": "a\0b"}, {"Content-Length": "9"}]
)
def test_a_header_that_cant_be_sent_is_refused(
    server: TestServer, cache: nuthatch.Cache, headers: Dict[str, str]
) -> None:
    with pytest.raises(nuthatch.BadHeader):
        cache.get(server.url("/a"), headers=headers)
    assert server.count() == 0


def test_a_wrong_argument_raises_invalid(cache: nuthatch.Cache, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        cache.get(b"http://x/")  # type: ignore[arg-type]
    with pytest.raises(nuthatch.Invalid):
        cache.get("http://x/", timeout=0)
    with pytest.raises(nuthatch.Invalid):
        cache.request("POST", "http://x/", body=b"", json={})
    with pytest.raises(nuthatch.Invalid):
        nuthatch.Cache(tmp_path / "c", max_bytes=0)
    with pytest.raises(nuthatch.Error) as caught:
        nuthatch.Cache("/dev/null/x")
    assert caught.value.code == "io"


def test_calls_of_a_closed_cache_raise_closed(server: TestServer, cache: nuthatch.Cache) -> None:
    cache.close()
    cache.close()
    assert cache.closed and "closed" in repr(cache)
    with pytest.raises(nuthatch.Closed) as caught:
        cache.get(server.url("/a"))
    assert caught.value.code == "closed"


def test_closing_a_cache_ends_waits_of_other_threads(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("never")
    server.on("/a", script(steps=[gate.step, body("x")]))
    caught = []

    def work() -> None:
        try:
            cache.get(server.url("/a"))
        except nuthatch.Closed as error:
            caught.append(error.code)

    thread = threading.Thread(target=work)
    thread.start()
    assert gate.wait_until_reached()
    cache.close()
    thread.join(30)
    assert caught == ["closed"]


def test_errors_pickle() -> None:
    error = pickle.loads(pickle.dumps(nuthatch.TooLarge("too large", "too_large", "http://x/")))
    assert (type(error), str(error), error.code, error.url) == (
        nuthatch.TooLarge,
        "too large",
        "too_large",
        "http://x/",
    )


def test_ctrl_c_ends_the_call_and_the_request(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("never")
    server.on("/a", script(steps=[gate.step, body("x")]))

    def interrupt() -> None:
        gate.wait_until_reached()
        os.kill(os.getpid(), signal.SIGINT)

    # In the background of a script, SIGINT is ignored at the start, and Python leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            cache.get(server.url("/a"), timeout=None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert server.wait_for_disconnect()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_cache_works_in_a_forked_child(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("x"))
    assert cache.get(server.url("/a")).body == b"x"
    for _ in range(10):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if cache.get(server.url("/a")).body == b"x" else 2
            finally:
                os._exit(status)
        assert cache.get(server.url("/a")).body == b"x"
        assert os.waitpid(child, 0)[1] == 0


def test_the_interpreter_ends_with_an_open_cache(server: TestServer, tmp_path: Path) -> None:
    program = (
        "import nuthatch, threading, sys\n"
        "cache = nuthatch.Cache(sys.argv[1])\n"
        "threading.Thread(target=lambda: cache.get(sys.argv[2]), daemon=True).start()\n"
        "input()\n"
    )
    gate = server.gate("never")
    server.on("/a", script(steps=[gate.step, body("x")]))
    command = [sys.executable, "-c", program, str(tmp_path / "c"), server.url("/a")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert gate.wait_until_reached()
        _, errors = process.communicate(b"\n", timeout=60)
    assert (process.returncode, errors) == (0, b"")


def test_a_closed_cache_leaves_no_threads_and_descriptors(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x"))

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    before = descriptors(), threads()
    for _ in range(50):
        with nuthatch.Cache(tmp_path / "c") as cache:
            cache.get(server.url("/a"))
    # A joined thread may still be in /proc for a moment.
    end = time.monotonic() + 30
    while (descriptors(), threads()) != before and time.monotonic() < end:
        time.sleep(0.01)
    assert (descriptors(), threads()) == before


@pytest.mark.parametrize("seconds", [float("inf"), 1e308, 10**400])
def test_endless_timeouts_mean_no_limit(server: TestServer, cache: nuthatch.Cache, seconds: float) -> None:
    server.on("/a", ok("x"))
    assert cache.get(server.url("/a"), timeout=seconds, deadline=seconds).body == b"x"


def test_numbers_beyond_64_bits_are_not_cut(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok("x" * 100))
    assert len(cache.get(server.url("/a"), max_bytes=2**64 + 5).body) == 100
    with nuthatch.Cache(tmp_path / "c", max_bytes=2**64 + 5) as other:
        assert len(other.get(server.url("/a")).body) == 100


def test_text_with_nul_or_surrogates_is_refused(cache: nuthatch.Cache) -> None:
    with pytest.raises(nuthatch.Invalid, match="NUL"):
        nuthatch.Cache("a\0b")
    with pytest.raises(nuthatch.BadURL, match="at character 9"):
        cache.get("http://x/\ud800")
    with pytest.raises(nuthatch.BadHeader):
        cache.get("http://x/", headers={"X": "\udcff"})
    with pytest.raises(nuthatch.BadURL, match="NUL"):
        cache.get("http://a%00b:c@x/")


@pytest.mark.parametrize("wrong", [5, "text", [1, 2]])
def test_a_body_must_be_bytes(cache: nuthatch.Cache, wrong: Any) -> None:
    with pytest.raises(TypeError):
        cache.request("POST", "http://x/", body=wrong)


def test_a_cache_that_is_closed_during_a_call_raises_closed(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    errors = []

    def work(cache: nuthatch.Cache) -> None:
        try:
            while True:
                cache.get(server.url("/a"))
        except nuthatch.Error as error:
            errors.append(type(error))

    for _ in range(50):
        cache = nuthatch.Cache(tmp_path / "c")
        threads = [threading.Thread(target=work, args=[cache]) for _ in range(2)]
        for thread in threads:
            thread.start()
        cache.get(server.url("/a"))
        cache.close()
        for thread in threads:
            thread.join(60)
    assert errors == [nuthatch.Closed] * 100


def thread_name(number: str) -> str:
    try:
        return Path(f"/proc/self/task/{number}/comm").read_text()
    except OSError:
        return ""  # the process has ended meanwhile


def test_threads_of_a_forked_child_reopen_the_cache_once(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("x"))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            bodies = []
            threads = [
                threading.Thread(target=lambda: bodies.append(cache.get(server.url("/a")).body))
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            loops = [name for name in os.listdir("/proc/self/task") if "nuthatch-loop" in thread_name(name)]
            status = 0 if bodies == [b"x"] * 8 and len(loops) == 1 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_caches_sites_images_and_errors_pickle(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", answer(404, "gone"))
    with pytest.raises(nuthatch.HTTPStatusError) as caught:
        cache.get(server.url("/a")).raise_for_status()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.url, again.response.body) == ("http", server.url("/a"), b"gone")
    original = nuthatch.Cache(tmp_path / "c", timeout=5, user_agent="own/1")
    with original, pickle.loads(pickle.dumps(original)) as copy:
        copy.get(server.url("/a"))
        assert repr(copy) == repr(original)
    assert server.requests("/a")[-1].header("User-Agent") == "own/1"
