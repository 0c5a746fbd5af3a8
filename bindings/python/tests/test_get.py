"""Answers and requests."""

import json
import pickle
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Dict, Literal

import nuthatch
import pytest
from testserver import TestServer, answer, body, ok, redirect, script


def test_an_answer_has_all_attributes(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("grüße", "text/plain; charset=utf-8"))
    response = cache.get(server.url("/a"))
    assert (response.status, response.ok, response.body) == (200, True, "grüße".encode())
    assert response.text == "grüße"
    assert response.url == response.final_url == server.url("/a")
    assert response.headers["content-TYPE"] == "text/plain; charset=utf-8"
    assert (response.is_in_cache, response.source, response.redirects) == (False, "network", 0)
    assert response.seconds > 0
    assert repr(response) == f"<Response 200 {server.url('/a')} 7 bytes>"


def test_repeated_headers_are_available_one_by_one(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", script(headers=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], steps=[body("x")]))
    headers = cache.get(server.url("/a")).headers
    assert headers["set-cookie"] == "a=1"
    assert headers.get_all("set-cookie") == ["a=1", "b=2"]
    assert [value for name, value in headers.items() if name == "Set-Cookie"] == ["a=1", "b=2"]
    assert "SET-COOKIE" in headers and "x" not in headers and headers.get("x") is None
    assert len(headers) == len(list(headers))


def test_repeated_headers_are_joined_in_the_mapping(server: TestServer, cache: nuthatch.Cache) -> None:
    lines = [("Link", "</a>"), ("Vary", "Accept"), ("link", "</b>"), ("VARY", "Cookie"), ("Set-Cookie", "a=1, 2"),
             ("Set-Cookie", "b=2"), ("X-One", "1")]  # fmt: skip
    server.on("/a", script(headers=lines, steps=[body("x")]))
    headers = cache.get(server.url("/a")).headers
    for seen in (headers, pickle.loads(pickle.dumps(headers)), nuthatch.Headers(headers.lines)):
        assert (seen["link"], seen["VARY"]) == ("</a>, </b>", "Accept, Cookie")
        for view in (dict(seen), dict(seen.items())):
            assert (view["Link"], view["Vary"], view["X-One"]) == (seen["link"], seen["vary"], "1")
        assert [line for line in seen.lines if line[0].lower() in ("link", "vary")] == lines[:4]
        assert [pair for pair in seen.items() if pair[0] == "Set-Cookie"] == lines[4:6]
        assert seen["set-cookie"] == "a=1, 2" and seen.get_all("SET-cookie") == ["a=1, 2", "b=2"]
        assert seen.get_all("x-one") == ["1"] and seen.get_all("x") == [] and seen.get_all("Link") == [
            "</a>", "</b>",
        ]  # fmt: skip
        assert len(seen) == len(list(seen)) == len(seen.keys()) == len(seen.values())
    assert headers == nuthatch.Headers(headers.lines)


def test_headers_compare_by_names_and_values() -> None:
    one = nuthatch.Headers([("Vary", "Accept"), ("Vary", "Cookie"), ("ETag", "x")])
    same = {"VARY": "Accept, Cookie", "ETag": "x"}
    other = {"vary": "Cookie", "etag": "x"}
    assert one == nuthatch.Headers(reversed(same.items())) and one == same and same == one
    assert (
        one != nuthatch.Headers(other.items()) and one != other and one != [("Vary", "Accept")] and one != 5
    )
    cookies = [("Set-Cookie", "a"), ("Set-Cookie", "b")]
    assert nuthatch.Headers(cookies) != nuthatch.Headers(cookies[:1])
    assert nuthatch.Headers(iter(cookies)).get_all("set-cookie") == ["a", "b"]


def test_the_first_of_several_content_types_counts(server: TestServer, cache: nuthatch.Cache) -> None:
    lines = [("Content-Type", "text/plain; charset=latin-1"), ("Content-Type", "text/plain; charset=utf-16")]
    server.on("/a", script(headers=lines, steps=[body("é".encode("latin-1"))]))
    assert cache.get(server.url("/a")).text == "é"


def test_a_404_is_an_answer_and_raises_only_if_asked(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", answer(404, "gone"))
    response = cache.get(server.url("/a"))
    assert (response.status, response.ok, response.text) == (404, False, "gone")
    with pytest.raises(nuthatch.HTTPStatusError) as caught:
        response.raise_for_status()
    assert (caught.value.code, caught.value.url, caught.value.response) == (
        "http",
        server.url("/a"),
        response,
    )


def test_json_returns_the_parsed_body(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok('{"a": [1, "ü"]}', "application/json"))
    assert cache.get(server.url("/a")).json() == {"a": [1, "ü"]}
    server.on("/b", ok("no json", "application/json"))
    with pytest.raises(ValueError):
        cache.get(server.url("/b")).json()


@pytest.mark.parametrize("charset, text", [("iso-8859-1", "é"), ("utf-16", "日本"), ("no-such-charset", "x")])
def test_text_is_decoded_by_the_charset_of_content_type(
    server: TestServer, cache: nuthatch.Cache, charset: str, text: str
) -> None:
    encoded = text.encode("ascii" if charset.startswith("no") else charset)
    server.on("/a", ok(encoded, f"text/plain; charset={charset}"))
    assert cache.get(server.url("/a")).text == text


def test_redirects_are_followed(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", redirect("/b?c"))
    server.on("/b", ok("there"))
    response = cache.get(server.url("/a"))
    assert (response.text, response.redirects) == ("there", 1)
    assert (response.url, response.final_url) == (server.url("/a"), server.url("/b?c"))


def test_no_more_redirects_are_followed_than_allowed(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", redirect("/b"))
    server.on("/b", redirect("/c"))
    server.on("/c", ok("there"))
    answer = cache.get(server.url("/a"), redirects=0)
    assert (answer.status, answer.headers["Location"], answer.redirects) == (302, "/b", 0)
    assert cache.get(server.url("/a"), redirects=2).text == "there"
    with pytest.raises(nuthatch.TooManyRedirects, match=r"more than 1 redirect, the last from: .*/b"):
        cache.get(server.url("/a"), redirects=1)
    with pytest.raises(nuthatch.HTTPStatusError) as failed:
        cache.thumbnail(server.url("/a"), 16, redirects=0)
    assert failed.value.status == 302
    with nuthatch.Cache(tmp_path / "other", redirects=1) as other:
        assert other.options["redirects"] == 1
        site = other.site(server.url("/"), redirects=0)
        assert (site.get("a").status, site.get("a", redirects=2).status, site.options["redirects"]) == (
            302,
            200,
            0,
        )
        assert other.get(server.url("/b")).text == "there"
        # None means "as the level above". It must not become "none".
        assert site.get("a", redirects=None).status == 302


def change_on_disk(folder: Path, before: bytes, after: bytes) -> None:
    """Changes bytes of the packs, as a failing disk does."""
    (pack,) = [path for path in (folder / "packs").iterdir() if before in path.read_bytes()]
    with pack.open("r+b") as file:
        file.seek(pack.read_bytes().index(before))
        file.write(after)


@pytest.mark.parametrize("word", ["always", "first"])
def test_check_bytes_says_whether_changed_bytes_are_noticed(
    server: TestServer, tmp_path: Path, word: Literal["always", "first"]
) -> None:
    server.on("/a", ok("hazelnuts" * 1000, headers=[("Cache-Control", "max-age=600")]))
    with nuthatch.Cache(tmp_path / "c", check_bytes=word) as cache:
        assert cache.options["check_bytes"] == word
        for _ in range(2):
            text = cache.get(server.url("/a")).text
        change_on_disk(tmp_path / "c", b"hazelnuts" * 1000, b"walnuts, " * 1000)
        for _ in range(2):
            assert (cache.get(server.url("/a")).text == text) is (word == "always")
        assert server.count() == (2 if word == "always" else 1)
        with pytest.raises(nuthatch.Conflict, match="check_bytes"):
            nuthatch.Cache(tmp_path / "c", check_bytes="first" if word == "always" else "always")
        with nuthatch.Cache(tmp_path / "c") as again:
            assert again.options["check_bytes"] == word


def test_a_lifetime_given_by_the_caller_is_used(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", {**ok("nut", headers=[("Cache-Control", "max-age=600"), ("ETag", '"1"')])})
    server.on("/b", ok("nut", headers=[("Cache-Control", "no-store")]))
    url = server.url("/a")

    def source(**options: Any) -> str:
        return cache.get(url, **options).source

    assert source() == "network" and source() in ("memory", "disk")
    for word in (0, "0", timedelta(0)):
        before = server.count()
        source(expire_after=word)
        assert server.count() == before + 1
    for word in ("7d", "forever", 90, 1.5e9, timedelta(days=7), None):
        assert source(expire_after=word) in ("memory", "disk"), word
    for _ in range(2):
        assert cache.get(server.url("/b"), expire_after="7d").source == "network"
    with pytest.raises(nuthatch.Invalid, match="expire_after"):
        source(expire_after=-1)
    with nuthatch.Cache(tmp_path / "c", expire_after="2h") as other:
        assert other.options["expire_after"] == 7200
        assert other.get(url).source == "network" and other.get(url).source in ("memory", "disk")


def test_a_hit_without_a_request_equals_a_requested_one(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    """Without options a hit is found without a request. The result must be the same."""
    fresh = [("Cache-Control", "max-age=60"), ("X-Seed", "1")]
    server.on("/a", ok("nut", "text/plain", headers=fresh))
    server.on("/stale", ok("nut", "text/plain"))
    url = server.url("/a")
    first, short, long = cache.get(url), cache.get(url), cache.get(url, timeout=5)
    for name in ("body", "final_url", "is_stale", "reason", "redirects", "status", "text", "url"):
        assert getattr(first, name) == getattr(short, name) == getattr(long, name), name
    for name in ("age", "interim", "is_in_cache", "seconds", "source"):
        assert getattr(short, name) == getattr(long, name), name
    assert short.headers.items() == long.headers.items() and short.headers["x-seed"] == "1"
    assert bytes(short.view) == b"nut" and short.is_in_cache and not first.is_in_cache
    copy = pickle.loads(pickle.dumps(short))
    assert (copy.body, bytes(copy.view), copy.source, copy.status) == (b"nut", b"nut", "disk", 200)
    stats = cache.stats()
    assert (stats["requests"], stats["hits"], server.count("/a")) == (3, 2, 1)
    with nuthatch.Cache(tmp_path / "cache") as other:
        assert other.get(url).is_in_cache
        for one in (cache, other):
            # All handles count together, also hits without a request.
            stats = one.stats()
            assert (stats["requests"], stats["hits"]) == (4, 3)
    assert [cache.get(server.url("/stale")).is_in_cache for _ in range(2)] == [False, False]
    for wrong in ("nonsense", "http://a/\0", "http://a/\ud800"):
        with pytest.raises(nuthatch.BadURL):
            cache.get(wrong)
    with pytest.raises(TypeError):
        cache.get(5)  # type: ignore[arg-type]
    cache.remove(url)
    assert not cache.get(url).is_in_cache
    cache.close()
    with pytest.raises(nuthatch.Closed):
        cache.get(url)
    assert short.body == b"nut"


def test_hits_ask_the_questions_of_their_request(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("nut", headers=[("Cache-Control", "max-age=60")]))
    asked = []

    def headers(url: str) -> Dict[str, str]:
        asked.append(url)
        return {}

    with nuthatch.Cache(tmp_path / "c", ask_headers=headers) as cache:
        for _ in range(2):
            cache.get(server.url("/a"))
    assert asked == [server.url("/a")] * 2


def test_headers_may_be_a_mapping_or_pairs(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("x"))
    cache.get(server.url("/a"), headers={"X-One": "1"})
    cache.get(server.url("/a"), headers=[("X-Two", "1"), ("X-Two", "2")])
    first, second = server.requests("/a")
    assert first.header("X-One") == "1"
    assert second.values("X-Two") == ["1", "2"]
    assert (first.header("User-Agent") or "").startswith("nuthatch/")


def test_post_put_and_delete_send_body_and_credentials(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("x"))
    cache.request("POST", server.url("/a"), json={"a": 1})
    cache.request("PUT", server.url("/a"), body=bytearray(b"\0\1"), headers={"Content-Type": "x/y"})
    cache.request("DELETE", server.url("/a"), user=("u", "p"))
    post, put, delete = server.requests("/a")
    assert (post.method, json.loads(post.body), post.header("Content-Type")) == (
        "POST",
        {"a": 1},
        "application/json",
    )
    assert (put.method, put.body, put.header("Content-Type")) == ("PUT", b"\0\1", "x/y")
    assert (delete.method, delete.header("Authorization")) == ("DELETE", "Basic dTpw")


def test_an_answer_stays_valid_after_its_cache_is_closed(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    with nuthatch.Cache(tmp_path / "c") as cache:
        response = cache.get(server.url("/a"))
    assert response.body == b"x"


def test_many_threads_can_use_a_cache(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on_prefix("/a/", ok("x" * 1000))
    bodies = []

    def work() -> None:
        for number in range(25):
            bodies.append(cache.get(server.url(f"/a/{threading.get_ident()}/{number}")).body)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bodies == [b"x" * 1000] * 200
    assert server.count() == 200


def test_other_threads_run_during_a_call(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[gate.step, body("x")]))
    answers = []
    thread = threading.Thread(target=lambda: answers.append(cache.get(server.url("/a")).body))
    thread.start()
    # This thread could not run if the call held the GIL.
    assert gate.wait_until_reached()
    gate.open()
    thread.join(30)
    assert answers == [b"x"]


def test_xml_returns_the_parsed_body(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok('<?xml version="1.0"?><a xmlns="urn:x" b="1">t<c/>\u00fc</a>', "application/xml"))
    root = cache.get(server.url("/a")).xml()
    assert (root.tag, root.attrib, root.text, root[0].tag, root[0].tail) == (
        "{urn:x}a",
        {"b": "1"},
        "t",
        "{urn:x}c",
        "\u00fc",
    )
    bad = [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        "<a>&b;</a>",
        "<a>",
        "",
        "no xml",
    ]
    for place, text in enumerate(bad):
        server.on(f"/{place}", ok(text))
        with pytest.raises(ValueError):
            cache.get(server.url(f"/{place}")).xml()
