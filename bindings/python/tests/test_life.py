"""Interruptions, processes, pickles, logs, notebooks, and lifetimes of memory."""

import asyncio
import copy
import gc
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterator, List

import nuthatch
import pytest
from asleep import wait_until_asleep
from nuthatch import _prototypes as abi
from nuthatch._library import library
from pictures import png
from testserver import Gate, TestServer, body, interim, ok, script

FRESH = [("Cache-Control", "max-age=600")]


@pytest.fixture
def url(server: TestServer) -> str:
    server.on("/a.png", ok(png(640, 480), "image/png", headers=FRESH))
    return server.url("/a.png")


# Ctrl-C


async def _await(cache: nuthatch.Cache, url: str) -> None:
    async with nuthatch.AsyncCache(**cache._arguments) as other:
        await other.get(url)


def _frozen(cache: nuthatch.Cache) -> int:
    with pytest.raises(nuthatch.Frozen) as frozen:
        cache.request("POST", "http://127.0.0.1:1/", freezable=True)
    return frozen.value.outbox_id


BLOCKING: Dict[str, Callable[[nuthatch.Cache, str], Any]] = {
    "get": lambda cache, url: cache.get(url, timeout=None),
    "request": lambda cache, url: cache.request("POST", url, body=b"x", timeout=None),
    "thumbnail": lambda cache, url: cache.thumbnail(url, 64, timeout=None),
    "result": lambda cache, url: cache.submit(url).result(),
    "result with a time": lambda cache, url: cache.submit(url).result(60),
    "events": lambda cache, url: list(cache.submit(url).events()),
    "wait_idle": lambda cache, url: (cache.submit(url), cache.wait_idle()),
    "wait_idle with a time": lambda cache, url: (cache.submit(url), cache.wait_idle(60)),
    "prefetch": lambda cache, url: list(cache.prefetch([url], ())),
    "saving": lambda cache, url: cache.get(url, timeout=None, save_to=lambda piece: None),
    "the outbox's wait": lambda cache, url: (cache.submit(url), cache.outbox.wait(_frozen(cache))),
    "the outbox's dispatch": lambda cache, url: (cache.submit(url), cache.outbox.dispatch(None)),
    "close": lambda cache, url: (cache.submit(url), cache.close(drain=60)),
    "a site's get": lambda cache, url: cache.site(url).get(url),
    "a site's thumbnail": lambda cache, url: cache.site(url).thumbnail(url, 64),
    "a site's prefetch": lambda cache, url: list(cache.site(url).prefetch([url], [64])),
    "asyncio": lambda cache, url: asyncio.run(_await(cache, url)),
}


@pytest.mark.parametrize("call", list(BLOCKING))
def test_ctrl_c_ends_a_call(server: TestServer, cache: nuthatch.Cache, call: str) -> None:
    gate = server.gate("never")
    server.on("/never", script(steps=[gate.step, body("x")]))
    sent = []
    is_over = threading.Event()

    def interrupt() -> None:
        assert gate.wait_until_reached()
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
        # asyncio misses a signal that comes just before its sleep. A user would press Ctrl-C again.
        while call == "asyncio" and not is_over.wait(2):
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            try:
                BLOCKING[call](cache, server.url("/never"))
            finally:
                is_over.set()
        # The promise is a fifth of a second. The machine may be busy.
        assert time.monotonic() - sent[-1] < 20
    finally:
        is_over.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    if call == "close":
        assert cache.closed
        return
    cache.cancel_all()
    assert cache.wait_idle(30)


def _goes_stale(server: TestServer) -> Gate:
    """Makes a stale answer whose background revalidation waits for the server."""
    gate = server.gate("never")
    stale = [("Cache-Control", "max-age=0, stale-while-revalidate=600")]
    server.on("/stale", ok("nut", headers=stale), script(steps=[gate.step, body("x")]))
    return gate


def _is_being_revalidated(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = _goes_stale(server)
    assert not cache.get(server.url("/stale")).is_in_cache
    assert cache.get(server.url("/stale")).is_in_cache
    assert gate.wait_until_reached()


def test_ctrl_c_ends_a_close_that_waits_for_a_revalidation(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = nuthatch.Cache(tmp_path / "c")
    _is_being_revalidated(server, cache)
    # By a clock that stands still, the close doesn't end after two seconds.
    monkeypatch.setattr(sys.modules["nuthatch._cache"], "time", SimpleNamespace(monotonic=lambda: 0.0))
    is_over = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press() -> None:
        while not cache.closed:
            time.sleep(0.001)
        wait_until_asleep(os.getpid())
        # A signal after the close would end the tests.
        if not is_over.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    begin = time.monotonic()
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            try:
                cache.close()
            finally:
                is_over.set()
        # Without Ctrl-C the close waits until the request has failed, more than 30 seconds.
        assert time.monotonic() - begin < 20
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert cache.closed
    with nuthatch.Cache(tmp_path / "c") as again:
        assert again.stats()["activity"] == 0


def test_ctrl_c_ends_a_close_on_an_event_loop(server: TestServer, tmp_path: Path) -> None:
    never, gate = _goes_stale(server), server.gate("slow")
    server.on("/slow", script(steps=[gate.step, body("x")]))
    is_over = threading.Event()
    pressed: List[float] = []

    def press() -> None:
        # asyncio misses a signal that comes just before its sleep. A user would press Ctrl-C again.
        while not is_over.is_set():
            wait_until_asleep(os.getpid())
            if is_over.is_set():
                return
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
            is_over.wait(1.5)

    async def main() -> None:
        cache = nuthatch.AsyncCache(tmp_path / "c")
        assert [(await cache.get(server.url("/stale"))).is_in_cache for _ in range(2)] == [False, True]
        ticket = cache.submit(server.url("/slow"), timeout=None)
        assert gate.wait_until_reached() and never.wait_until_reached()
        caches.append(cache)
        thread.start()
        await cache.close(drain=60)
        assert ticket.url

    caches: List[nuthatch.AsyncCache] = []
    thread = threading.Thread(target=press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main())
        assert caches[0].closed and time.monotonic() - pressed[-1] < 20
    finally:
        is_over.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_a_close_can_wait_in_steps(server: TestServer, tmp_path: Path) -> None:
    cache, other = nuthatch.Cache(tmp_path / "c"), nuthatch.Cache(tmp_path / "c")
    _is_being_revalidated(server, cache)
    handle, last = cache._handle, other._handle
    # Only the last handle of the directory waits.
    assert library.nh_close(handle, 60_000) == abi.OK
    assert library.nh_close(handle, 0) == library.nh_close(handle, -1) == abi.INVALID
    assert library.nh_close(last, 1) == abi.TIMEOUT
    with pytest.raises(nuthatch.Closed):
        other.get(server.url("/stale"))
    assert library.nh_close(last, 10) == abi.TIMEOUT
    server.gate("never").open()
    assert library.nh_close(last, 60_000) == abi.OK
    assert library.nh_close(last, -1) == abi.INVALID
    cache._handle = other._handle = None


# Processes

shared: Any = None


def _hit(url: str) -> Any:
    """Uses, in a worker, the cache that the module has opened before."""
    image = shared.thumbnail(url, 64)
    return (
        os.getpid(),
        image.is_in_cache,
        image.size,
        shared.get(url).is_in_cache,
        shared.activity,
        shared.stats()["thumbs"],
    )


def _carried(cache: nuthatch.Cache, image: nuthatch.Image, url: str) -> Any:
    with cache:
        return os.getpid(), cache.thumbnail(url, 64).is_in_cache, bytes(image.pixels)


def _adopt(cache: nuthatch.Cache) -> None:
    global shared
    shared = cache


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_cache_works_in_multiprocessing_workers(
    server: TestServer, tmp_path: Path, url: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Path(__file__)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(here.parent), *sys.path]))
    monkeypatch.syspath_prepend(str(here.parent))
    import test_life as module  # the name under which the other process imports it

    with nuthatch.Cache(tmp_path / "c") as cache:
        image = cache.thumbnail(url, 64)
        context = multiprocessing.get_context(method)
        with context.Pool(2, initializer=module._adopt, initargs=(cache,)) as pool:
            for process, in_cache, size, body_in_cache, activity, thumbs in pool.map(module._hit, [url] * 8):
                assert process != os.getpid()
                assert (in_cache, size, body_in_cache, activity, thumbs) == (True, (64, 48), True, 0, 1)
            process, hit, pixels = pool.apply(module._carried, (cache, image, url))
            assert hit and process != os.getpid() and pixels == bytes(image.pixels)
        assert cache.thumbnail(url, 64).is_in_cache
    assert server.count("/a.png") == 1


PRELOADED = """
import os, sys, threading
import nuthatch

folder, url = sys.argv[1:]
cache = nuthatch.Cache(folder)              # as a module has it that gunicorn loads before it forks
site = cache.site(url)
first = cache.thumbnail(url, 64)
never = cache.submit(url + "?never")
is_over = False

def hits():
    while not is_over:
        assert cache.peek(url, 64) and cache.thumbnail(url, 64) and cache.get(url)

threads = [threading.Thread(target=hits) for _ in range(4)]
for thread in threads:
    thread.start()
children = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert cache.peek(url, 64) is not None, "peek"
            assert cache.thumbnail(url, 64).is_in_cache and site.thumbnail(url, 64).is_in_cache
            assert bytes(first.pixels) == bytes(cache.thumbnail(url, 64).pixels)
            assert [item.ok for item in cache.prefetch([url], [64, 32])] == [True]
            assert cache.stats()["thumbs"] >= 1 and cache.activity == 0
            try:
                never.result(0.1)
            except nuthatch.Forked as error:
                assert error.code == "forked"
                status = 0
        finally:
            os._exit(status)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 40
is_over = True
for thread in threads:
    thread.join()
assert cache.thumbnail(url, 64).is_in_cache
never.cancel()
"""


def test_a_cache_of_a_module_works_after_a_server_forks(server: TestServer, tmp_path: Path, url: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", PRELOADED, str(tmp_path / "c"), url]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


# Pickles and copies

ERRORS = [
    value
    for value in vars(nuthatch).values()
    if isinstance(value, type) and issubclass(value, nuthatch.Error)
]


def test_images_and_responses_pickle_as_data(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on(
        "/alpha.png",
        script(
            headers=[["Content-Type", "image/png"], ["X", "1"], ["X", "2"]],
            steps=[interim(103, [("Link", "</a>")]), "head", body(png(40, 30))],
        ),
    )
    url = server.url("/alpha.png")
    response, image = cache.get(url), cache.thumbnail(url, 20)
    packed = pickle.dumps((image, response))
    cache.close()
    again, answer = pickle.loads(packed)
    assert again.pixels == image.pixels
    names = [
        "age", "final_url", "height", "is_in_cache", "is_partial", "is_stale", "original_size", "size", "source",
        "status", "url", "width",
    ]  # fmt: skip
    assert [getattr(again, name) for name in names] == [getattr(image, name) for name in names]
    assert again.encode("jpeg")[:2] == b"\xff\xd8"
    names = [
        "age", "body", "final_url", "is_in_cache", "is_stale", "ok", "reason", "redirects", "seconds", "source",
        "status", "text", "url",
    ]  # fmt: skip
    assert [getattr(answer, name) for name in names] == [getattr(response, name) for name in names]
    assert answer.headers.items() == response.headers.items() and answer.headers.get_all("x") == ["1", "2"]
    assert answer.image(20).pixels == image.pixels and bytes(answer.view) == answer.body
    assert [(status, headers.items()) for status, headers in answer.interim] == [(103, [("Link", "</a>")])]
    assert copy.copy(image) is image and copy.deepcopy([response])[0] is response
    assert pickle.loads(pickle.dumps(again)).pixels == image.pixels


class OwnCache(nuthatch.Cache):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, timeout=7)
        self.own = "cache"


class OwnAsyncCache(nuthatch.AsyncCache):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, timeout=7)
        self.own = "async cache"


class OwnSite(nuthatch.Site):
    pass


class OwnAsyncSite(nuthatch.AsyncSite):
    pass


class OwnImage(nuthatch.Image):
    __slots__ = ("own",)
    own: str


class OwnResponse(nuthatch.Response):
    pass


class OwnHeaders(nuthatch.Headers):
    pass


class OwnError(nuthatch.TimeoutError):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}", "timeout", "http://x/")


class OwnEvent(nuthatch.Event[Any]):
    pass


class OwnItem(nuthatch.Item):
    __slots__ = ("own",)
    own: str


class OwnOutbox(nuthatch.Outbox):
    pass


class OwnStats(nuthatch.Stats):
    pass


#: The objects whose handles others have.
_lent: List[Any] = []


def _like(thing: Any, kind: Any) -> Any:
    """Returns a copy as an object of a subclass with a further attribute. Don't use the old object afterwards."""
    made = kind.__new__(kind)
    _lent.append(thing)
    kinds = type(thing).__mro__
    names = [
        *getattr(thing, "__dict__", {}),
        *(name for one in kinds for name in one.__dict__.get("__slots__", ())),
    ]
    for name in names:
        if not name.startswith("__") and hasattr(thing, name):
            object.__setattr__(made, name, getattr(thing, name))
    made.own = "mine"
    return made


def test_subclasses_pickle_with_their_own_attributes(server: TestServer, tmp_path: Path, url: str) -> None:
    with OwnCache(tmp_path / "c") as cache:
        again = pickle.loads(pickle.dumps(cache))
        assert (type(again), again.own, again._arguments["timeout"]) == (OwnCache, "cache", 7)
        assert again.get(url).ok and copy.copy(again).get(url).ok
        plain = cache.site(server.url("/"), headers={"X-A": "1"})
        site = OwnSite(cache, plain.base_url, plain._arguments)
        site.own = "site"  # type: ignore[attr-defined]
        other = pickle.loads(pickle.dumps(site))
        assert (type(other), other.own, other.base_url) == (OwnSite, "site", site.base_url)
        assert other.get("/a.png").ok and type(other._cache) is OwnCache
        made: List[Any] = [
            (OwnResponse, lambda: cache.get(url), lambda one: one.body),
            (OwnImage, lambda: cache.thumbnail(url, 64), lambda one: one.pixels),
            (OwnHeaders, lambda: cache.get(url).headers, dict),
            (OwnEvent, lambda: next(cache.submit(url, size=8).events()), lambda one: one.image.size),
            (
                OwnItem,
                lambda: next(iter(cache.prefetch([url], [8], images=True))),
                lambda one: one.image.size,
            ),
            (OwnOutbox, lambda: cache.outbox, lambda one: one.list()),
        ]
        for kind, make, shown in made:
            for protocol in (2, pickle.HIGHEST_PROTOCOL):
                thing = make()
                same = pickle.loads(pickle.dumps(thing, protocol))
                expected = shown(thing)
                assert type(same) is type(thing) and shown(same) == expected
                own = pickle.loads(pickle.dumps(_like(thing, kind), protocol))
                assert type(own) is kind and own.own == "mine" and shown(own) == expected
        id = _frozen(cache)
        request = cache.outbox.get(id)
        assert cache.outbox.drop(id) and request is not None
        stats = OwnStats(cache.stats())
        assert pickle.loads(pickle.dumps(stats)) == stats
        assert pickle.loads(pickle.dumps(request)).method == "POST"
        again.close()
        other._cache.close()
    error = OwnError(3, 4)
    error.status = 504
    raised = pickle.loads(pickle.dumps(error))
    assert (type(raised), str(raised), raised.code, raised.status) == (OwnError, "3 and 4", "timeout", 504)

    async def main() -> None:
        loops = pickle.loads(pickle.dumps(OwnAsyncCache(tmp_path / "c")))
        assert (type(loops), loops.own, loops._options) == (OwnAsyncCache, "async cache", {"timeout": 7})
        below = OwnAsyncSite(loops, server.url("/"), {})
        below.own = "site"  # type: ignore[attr-defined]
        below = pickle.loads(pickle.dumps(below))
        assert (type(below), below.own) == (OwnAsyncSite, "site")  # type: ignore[attr-defined]
        assert (await below.get("/a.png")).ok
        await below._owner.close()

    asyncio.run(main())


WITHOUT_ASSERTS = """
import pickle, sys, nuthatch
assert False, "asserts are not left out"
image = pickle.loads(sys.stdin.buffer.read())
print(image.width, image.height, image.original_size, image.source, image.age, image.status, image.size, image.is_stale)
print(len(bytes(image.pixels)))
"""


def test_images_unpickle_without_asserts(cache: nuthatch.Cache, url: str) -> None:
    image = cache.thumbnail(url, 64)
    done = subprocess.run(
        [sys.executable, "-O", "-c", WITHOUT_ASSERTS],
        input=pickle.dumps(image),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = f"64 48 (640, 480) {image.source} {image.age} 200 (64, 48) False\n{64 * 48 * 4}\n"
    assert done.stdout.decode() == told


@pytest.mark.parametrize(
    "error",
    [
        value
        for value in vars(nuthatch).values()
        if isinstance(value, type) and issubclass(value, nuthatch.Error)
    ],
)
def test_every_error_pickles_and_has_a_code(error: Any) -> None:
    made = error("what", "closed", "http://x/")
    made.retry_after = 5
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), again.code, again.url, again.retry_after, str(again)) == (
        error, "closed", "http://x/", 5, "what",
    )  # fmt: skip
    if error is nuthatch.Frozen:
        assert again.outbox_id == 0


# Lifetimes


def test_views_stay_valid_after_all_other_objects(server: TestServer, tmp_path: Path, url: str) -> None:
    numpy = pytest.importorskip("numpy")
    views: List[Any] = []
    with nuthatch.Cache(tmp_path / "c", thumb_store="raw") as cache:
        cache.thumbnail(url, 64)
        expected = bytes(cache.thumbnail(url, 64).pixels)
        views.append(cache.thumbnail(url, 64).pixels)
        views.append(numpy.asarray(cache.thumbnail(url, 64)))
        views.append(cache.thumbnail(url, 64).pixels.cast("B")[40:44])
        views.append(cache.get(url).view)
        if sys.version_info >= (3, 12):
            views.append(memoryview(cache.thumbnail(url, 64)))
            assert bytes(memoryview(cache.get(url))) == cache.get(url).body
        cache.clear()
        cache.trim(0)
    gc.collect()
    assert bytes(views[0]) == expected and views[1].tobytes() == expected
    assert bytes(views[3]) == png(640, 480)
    assert not views[1].flags.writeable and views[0].readonly and views[3].readonly
    with pytest.raises(TypeError):
        views[0][0, 0, 0] = 1
    if len(views) > 4:
        assert bytes(views[4]) == expected


def test_the_interpreter_can_end_before_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Free-threaded interpreters may delete the names of modules first."""
    cache, other = nuthatch.Cache(tmp_path / "c"), nuthatch.AsyncCache(tmp_path / "c")
    for module in (sys.modules["nuthatch._cache"], sys.modules["nuthatch._async"]):
        monkeypatch.setattr(module, "sys", None)
    cache.__del__()
    other.__del__()
    assert cache.closed


def test_threads_share_a_cache(cache: nuthatch.Cache, server: TestServer) -> None:
    server.on_prefix("/n/", ok(png(64, 48), "image/png", headers=FRESH))
    urls = [server.url(f"/n/{number}") for number in range(20)]
    site = cache.site(server.url("/"))
    failures: List[BaseException] = []

    def work(seed: int) -> None:
        try:
            for number in range(300):
                url = urls[(seed + number) % 20]
                image = cache.thumbnail(url, 16) if number % 3 else site.thumbnail(url, 16)
                assert image.size == (16, 12) and len(bytes(image.pixels)) == 16 * 12 * 4
                peeked = cache.peek(url, 16)
                assert peeked is not None and peeked.width == 16
                assert cache.get(url).headers["content-type"] == "image/png"
            assert all(item.ok for item in cache.prefetch(urls, [8]))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert server.count() == 20


# Outputs for programs


def test_notebooks_show_images_and_statistics(cache: nuthatch.Cache, url: str) -> None:
    image = cache.thumbnail(url, 16)
    assert image._repr_png_().startswith(b"\x89PNG")
    table = cache.stats()._repr_html_()
    assert table.startswith("<table><tr><td>requests</td>") or "<td>requests</td>" in table
    assert isinstance(cache.stats(), dict)


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    logger = logging.getLogger("nuthatch")
    before = logger.level
    yield logger
    logger.setLevel(before)
    from nuthatch import _log

    _log.follow()


def test_log_lines_go_to_the_logger_of_the_package(
    cache: nuthatch.Cache, url: str, log: logging.Logger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    cache.get(url)
    assert not caplog.records
    log.setLevel(logging.DEBUG)
    cache.get(url)
    cache.get(url)
    assert any(
        "status 200" in record.getMessage() and record.levelno == logging.DEBUG for record in caplog.records
    )
    assert {record.name for record in caplog.records} == {"nuthatch"}
    caplog.clear()
    log.setLevel(logging.INFO)
    with pytest.raises(nuthatch.TransportError):
        cache.get("http://127.0.0.1:1/", retries=0)
    cache.get(url)
    assert [record.levelno for record in caplog.records] == [logging.INFO]


def test_hits_are_logged_at_debug_level(
    cache: nuthatch.Cache, url: str, log: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    cache.thumbnail(url, 16)
    log.setLevel(logging.DEBUG)
    assert cache.thumbnail(url, 16).is_in_cache and cache.get(url).is_in_cache
    assert sum(url in record.getMessage() for record in caplog.records) == 2
    log.setLevel(logging.INFO)
    assert cache.thumbnail(url, 16).is_in_cache and cache.get(url).is_in_cache
    assert len(caplog.records) == 2


LOGGING = """
import logging, sys, threading, time
import nuthatch

class Sink:
    lines = 0

    def write(self, line):
        self.lines += 1

    def flush(self):
        pass

sink = Sink()
logging.basicConfig(level=logging.DEBUG, stream=sink)
cache = nuthatch.Cache(sys.argv[1])

def work():
    while True:
        cache.get(sys.argv[2])

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
while sink.lines < 1000:
    time.sleep(0.001)
"""


def test_the_interpreter_ends_while_log_lines_are_delivered(
    server: TestServer, tmp_path: Path, url: str
) -> None:
    for number in range(5):
        command = [sys.executable, "-c", LOGGING, str(tmp_path / str(number)), url]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
