"""A wrong argument is refused with its name and the allowed values."""

import asyncio
import copy
import pickle
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, ok

URL = "http://127.0.0.1:9/"

#: Messages of the interpreter that don't help: they have neither the argument nor the remedy.
INSIDE = ("supported between", "operand", "unpack", "iterable,", "interpreted", "invalid literal", "argument 1",
          "argument 2", "argument 3", "not callable", "unhashable", "ctypes", "cannot convert", "int()")  # fmt: skip

SECONDS: List[Any] = ["x", b"1", [1], object(), {"a": 1}, 1j]
NUMBERS: List[Any] = [*SECONDS, 1.5]
FLAGS: List[Any] = ["yes", b"", [], {}, object(), float("nan"), float("inf")]
WORDS: List[Any] = ["x", b"x", 5, ["x"], {"x": 1}]
TEXTS: List[Any] = [b"x", 5, ["x"], Path("x")]
PAIRS: List[Any] = ["x", b"x", 5, [1], ["ab"], [("a",)], [("a", "b", "c")], object()]
HEADERS: List[Any] = [*PAIRS, {"X": 1}, {1: "x"}, {"X": b"x"}]
FUNCTIONS: List[Any] = ["x", 5, [len]]
PATHS: List[Any] = [5, ["x"], 1.5, "\ud800", "a\0b"]

#: Options of requests, sites and caches.
LIMITS: Dict[str, List[Any]] = {
    "headers": HEADERS,
    "timeout": SECONDS,
    "deadline": SECONDS,
    "retries": NUMBERS,
    "max_bytes": [*NUMBERS, -1],
    "max_pixels": [*NUMBERS, -1],
    "policy": WORDS,
    "addresses": WORDS,
    "validator_ttl": SECONDS,
    "image_ttl": SECONDS,
    "no_cache_ttl": SECONDS,
    "heuristic": SECONDS,
    "expire_after": SECONDS,
    "redirects": NUMBERS,
    "partition": TEXTS,
    "netrc": PATHS,
    "ca_file": PATHS,
    "ca_dir": PATHS,
    "insecure": FLAGS,
    "keep_headers_across_origins": ["x", b"x", 5, [1]],
    "ask_headers": FUNCTIONS,
    "ask_credentials": FUNCTIONS,
    "ask_challenge": FUNCTIONS,
    "ask_verdict": FUNCTIONS,
}
TOGETHER: Dict[str, List[Any]] = {**LIMITS, "user_agent": TEXTS, "accept": TEXTS, "proxy": TEXTS}
OF_CACHES: Dict[str, List[Any]] = {
    **TOGETHER,
    "path": PATHS,
    "memory_bytes": NUMBERS,
    "memory_items": NUMBERS,
    "disk_bytes": NUMBERS,
    "outbox_bytes": NUMBERS,
    "outbox_items": NUMBERS,
    "spill": WORDS,
    "check_bytes": WORDS,
    "thumb_store": WORDS,
    "outbox": WORDS,
    "keep_source": FLAGS,
    "allow_files": FLAGS,
}
OF_SITES: Dict[str, List[Any]] = {**TOGETHER, "cookie_jar": WORDS, "user": ["x", 5, ("a",), ("a", 5)]}
OF_REQUESTS: Dict[str, List[Any]] = {
    **LIMITS,
    "method": TEXTS,
    "body": ["text", 5, [1, 2]],
    "json": [],
    "form": PAIRS,
    "files": [*PAIRS, {"a": 1}],
    "user": OF_SITES["user"],
    "sign_in": WORDS,
    "bearer": TEXTS,
    "cert": [5, {"a": 1}, (5,), ("a", "b", "c", "d")],
    "save_to": [1.5, object(), -1, 2**32 + 1, True],
    "append": FLAGS,
    "resume": FLAGS,
    "progress_events": FLAGS,
    "fit": WORDS,
    "scaling": WORDS,
    "delivery": WORDS,
    "enlarge": FLAGS,
    "allow_damaged": FLAGS,
    "early_stop": FLAGS,
    "ignore_query": FLAGS,
    "cache_key": [*TEXTS, ""],
    "tag": TEXTS,
    "priority": [*NUMBERS, 100, -11],
    "freezable": FLAGS,
    "outbox_durable": FLAGS,
    "outbox_queue": TEXTS,
    "outbox_handler": TEXTS,
    "password_provider": TEXTS,
    "secrets": [*PAIRS, {"a": 5}],
    "outbox_attempts": [*NUMBERS, 0, -1],
    "outbox_max_age": SECONDS,
    "outbox_key_lifetime": SECONDS,
    "size": ["256", b"..", 1.5, 0, -1, (0, 1), (1, 2, 3), {1, 2}, {1: 2}, [1.5, 2], 65536],
    "sizes": [256, 0, 1.5, "256", b"..", {1: 2}, [(0, 1)], ["x"], object()],
}


def assert_said(name: str, wrong: Any, call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError, nuthatch.Error)) as caught:
        call()
    said = str(caught.value)
    assert type(caught.value) in (TypeError, ValueError) or isinstance(caught.value, nuthatch.Error), said
    assert not [words for words in INSIDE if words in said], f"{name}={wrong!r}: {said}"
    others = {
        "headers": "header",
        "sizes": "size",
        "save_to": "file",
        "user": "password",
        "secrets": "provider",
    }
    assert name in said or others.get(name, name) in said, f"{name}={wrong!r}: {said}"


def cases(table: Dict[str, List[Any]]) -> List[Tuple[str, Any]]:
    return [(name, wrong) for name, values in table.items() for wrong in values]


@pytest.mark.parametrize("name", OF_CACHES)
def test_a_cache_refuses_a_wrong_option_by_name(name: str, tmp_path: Path) -> None:
    for wrong in OF_CACHES[name]:
        given = {"path": tmp_path / "c", name: wrong}
        assert_said(name, wrong, lambda: nuthatch.Cache(**given))  # noqa: B023


@pytest.mark.parametrize("name", OF_SITES)
def test_a_site_refuses_a_wrong_option_by_name(name: str, cache: nuthatch.Cache) -> None:
    for wrong in OF_SITES[name]:
        assert_said(name, wrong, lambda: cache.site(URL, **{name: wrong}))  # noqa: B023


@pytest.mark.parametrize("name", OF_REQUESTS)
def test_a_request_refuses_a_wrong_option_by_name(name: str, cache: nuthatch.Cache) -> None:
    site = cache.site(URL)
    for wrong in OF_REQUESTS[name]:
        given: Dict[str, Any] = {name: wrong}
        for submit in (cache.submit, site.submit):
            assert_said(name, wrong, lambda: submit(URL, **given))  # noqa: B023
        if name == "size":
            for call in (cache.thumbnail, cache.peek, site.thumbnail, site.peek):
                assert_said(name, wrong, lambda: call(URL, wrong))  # noqa: B023
    assert cache.activity == 0


def test_size_and_sizes_exclude_each_other(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    server.on("/a", ok(png(40, 30), "image/png"))
    both: Dict[str, Any] = {"size": 8, "sizes": [16]}
    for fetching in (cache, cache.site(URL)):
        with pytest.raises(nuthatch.Invalid, match="size and sizes"):
            fetching.submit(server.url("/a"), **both)
    # An iterator is allowed, too.
    ticket = cache.submit(server.url("/a"), sizes=iter([8, 16]))  # type: ignore[call-overload]
    for again in (ticket, ticket.resubmit()):
        assert [image.size for image in again.result()] == [(8, 6), (16, 12)]

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c") as other:
            with pytest.raises(nuthatch.Invalid, match="size and sizes"):
                other.submit(server.url("/a"), **both)
            with pytest.raises(nuthatch.Invalid, match="size and sizes"):
                [event async for event in other.events(server.url("/a"), **both)]
            ticket = other.submit(server.url("/a"), sizes=iter([8, 16]))  # type: ignore[call-overload]
            for again in (ticket, ticket.resubmit()):
                assert [image.size for image in await again] == [(8, 6), (16, 12)]

    asyncio.run(main())


def test_a_url_that_is_not_a_str_is_refused(cache: nuthatch.Cache) -> None:
    for wrong in (
        None,
        5,
        b"http://a/",
        ["http://a/"],
        Path("a"),
        "",
        "nonsense",
        "http://a\0/",
        "http://\ud800/",
    ):
        for call in (cache.get, cache.submit, cache.remove, cache.site, cache.site(URL).get):
            if wrong or call.__name__ != "get":
                assert_said("", wrong, lambda: call(wrong))  # noqa: B023
        for show in (cache.thumbnail, cache.peek):
            assert_said("", wrong, lambda: show(wrong, 16))  # noqa: B023


def test_urls_of_a_prefetch_must_be_an_iterable(cache: nuthatch.Cache) -> None:
    for wrong in (None, 5, URL, URL.encode()):
        assert_said("urls", wrong, lambda: cache.prefetch(wrong, [16]))  # noqa: B023
    for wrong in (None, 1.5, "16", b"..", {1: 2}, [0], object()):
        assert_said("size", wrong, lambda: cache.prefetch([URL], wrong))  # type: ignore[arg-type] # noqa: B023
    with pytest.raises(nuthatch.Invalid, match="timeout"):
        list(cache.prefetch([URL], [16], timeout="x"))


def test_a_wrong_timeout_is_refused_by_name(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("answered after all")
    server.on("/a", gate.step)
    ticket = cache.submit(server.url("/a"))
    for wrong in [*SECONDS, float("nan")]:
        assert_said("timeout", wrong, lambda: ticket.result(wrong))  # noqa: B023
        assert_said("timeout", wrong, lambda: next(ticket.events(wrong)))  # noqa: B023
        assert_said("timeout", wrong, lambda: cache.wait_idle(wrong))  # noqa: B023
        assert_said("timeout", wrong, lambda: cache.outbox.dispatch(wrong))  # noqa: B023
        assert_said("drain", wrong, lambda: nuthatch.Cache(cache._path).close(wrong))  # type: ignore[arg-type] # noqa: B023
    for wrong in NUMBERS:
        assert_said("priority", wrong, lambda: ticket.set_priority(wrong))  # noqa: B023
        assert_said("disk_bytes", wrong, lambda: cache.trim(wrong))  # noqa: B023
    ticket.cancel()
    for endless in (None, float("inf"), 10**400):
        assert cache.wait_idle(endless)
        nuthatch.Cache(cache._path).close(endless)  # type: ignore[arg-type]


def test_a_listener_that_can_not_be_called_is_refused(cache: nuthatch.Cache) -> None:
    for wrong in FUNCTIONS:
        assert_said("function", wrong, lambda: cache.outbox.attach("x", wrong))  # noqa: B023
        assert_said("function", wrong, lambda: cache.site(URL).watch_reachability(wrong))  # noqa: B023


def test_the_queue_refuses_a_wrong_limit_by_name() -> None:
    for name in ("rate", "inflight_bytes", "concurrency", "per_host"):
        for wrong in SECONDS:
            assert_said(name, wrong, lambda: nuthatch.queue(**{name: wrong}))  # noqa: B023


def test_an_image_refuses_a_wrong_argument_by_name(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(png(40, 30), "image/png"))
    response, image = cache.get(server.url("/a")), cache.thumbnail(server.url("/a"), 16)
    of_images = {
        name: OF_REQUESTS[name] for name in ("fit", "scaling", "enlarge", "allow_damaged", "max_pixels")
    }
    for name, wrong in cases(of_images):
        assert_said(name, wrong, lambda: response.image(16, **{name: wrong}))  # noqa: B023
    for wrong in OF_REQUESTS["size"]:
        assert_said("size", wrong, lambda: response.image(wrong))  # noqa: B023
    for wrong in [*NUMBERS, 0, 101, 2**64 + 92]:
        assert_said("quality", wrong, lambda: image.encode("jpeg", quality=wrong))  # noqa: B023
    for wrong in WORDS:
        assert_said("format", wrong, lambda: image.convert(wrong))  # noqa: B023
        assert_said("format", wrong, lambda: image.encode(wrong))  # noqa: B023
    assert 5 not in response.headers and response.headers.get(5) is None  # type: ignore[call-overload]


def test_async_methods_refuse_a_wrong_argument_by_name(tmp_path: Path) -> None:
    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c") as cache:
            site = cache.site(URL)
            for name, wrong in cases(OF_REQUESTS):
                given: Dict[str, Any] = {name: wrong}
                assert_said(name, wrong, lambda: cache.submit(URL, **given))  # noqa: B023
            for wrong in OF_REQUESTS["size"]:
                for waiting in (cache.thumbnail(URL, wrong), site.thumbnail(URL, wrong)):
                    with pytest.raises(nuthatch.Invalid, match="size"):
                        await waiting
            for wrong in SECONDS:
                kind = nuthatch.Invalid if isinstance(wrong, str) else TypeError
                with pytest.raises(kind, match="timeout"):
                    await cache.get(URL, timeout=wrong)
                with pytest.raises(kind, match="timeout"):
                    await cache.wait_idle(wrong)
            for wrong in (None, 5):
                with pytest.raises(TypeError, match="urls"):
                    await cache.prefetch(wrong).__anext__()
            with pytest.raises(nuthatch.Invalid, match="timeout"):
                await cache.submit("data:,a").result("x")

    asyncio.run(main())
    with pytest.raises(TypeError, match="tmeout"):
        nuthatch.AsyncCache(tmp_path / "c", tmeout=5)  # type: ignore[call-arg]


def test_numbers_of_other_libraries_are_accepted(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    """Any type of number is accepted."""
    from decimal import Decimal
    from fractions import Fraction

    class Whole:
        def __index__(self) -> int:
            return 3

    server.on("/a", ok(png(40, 30), "image/png"))
    number: Any = Whole()
    limits: Any = {"timeout": Decimal("7.5"), "deadline": Fraction(15, 2), "max_bytes": float("inf")}
    with nuthatch.Cache(tmp_path / "other", retries=number, max_pixels=40_000_000, **limits) as other:
        assert other.thumbnail(server.url("/a"), number, priority=number, retries=number, **limits).size == (
            3,
            2,
        )
        assert other.wait_idle(Decimal("7.5"))  # type: ignore[arg-type]


def test_tickets_can_not_be_copied_or_pickled(cache: nuthatch.Cache, tmp_path: Path) -> None:
    ticket = cache.submit("data:,a")
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="belongs to its process"):
            duplicate(ticket)

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c") as cache:
            with pytest.raises(TypeError, match="belongs to its process"):
                pickle.dumps(cache.submit("data:,a"))

    asyncio.run(main())
    assert ticket.result(30).body == b"a"


def test_an_internal_option_is_refused(cache: nuthatch.Cache) -> None:
    for name in ("quiet", "batched", "user_place", "password", "cert_key", "cert_password"):
        given: Dict[str, Any] = {name: "x"}
        with pytest.raises(TypeError, match=name):
            cache.submit(URL, **given)


def test_a_certificates_password_is_never_used_as_a_file_name(cache: nuthatch.Cache) -> None:
    with pytest.raises(nuthatch.Error) as caught:
        cache.get("https://127.0.0.1:1/", cert=("/none.pem", None, "hush-9"))  # type: ignore[arg-type]
    assert "hush-9" not in str(caught.value)
    with pytest.raises(TypeError):
        cache.get("https://127.0.0.1:1/", cert=(None, "/none.pem"))  # type: ignore[arg-type]


def test_a_site_with_a_certificates_password_can_not_be_pickled(cache: nuthatch.Cache) -> None:
    site = cache.site("https://example.org/", cert=("/a.pem", "/b.pem", "hush-9"), user=None)
    with pytest.raises(pickle.PicklingError, match="certificate"):
        pickle.dumps(site)
