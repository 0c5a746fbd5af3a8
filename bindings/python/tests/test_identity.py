"""Cookies, netrc files, challenges, and a site's rules for all its requests."""

import asyncio
import pickle
from pathlib import Path
from typing import Any, Dict, List, Optional

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, answer, ok, redirect


def cookies(server: TestServer, path: str) -> List[Optional[str]]:
    return [request.header("Cookie") for request in server.requests(path)]


@pytest.fixture(autouse=True)
def _login(server: TestServer) -> None:
    server.on(
        "/login",
        {**redirect("/home", 303), "headers": [("Location", "/home"), ("Set-Cookie", "id=7; Path=/")]},
    )
    server.on("/home", ok("x"))


def test_cookies_in_memory_are_shared_by_handles_of_a_site(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    site = cache.site(server.url("/"), cookie_jar="memory")
    site.request("POST", "login", form={"user": "ann"})
    site.get("home")
    cache.site(server.url("/")).get("home")
    # Other handles of the process, other loops and other prefetches are the same site.
    assert [item.ok for item in site.prefetch(["home?p"], sizes=())] == [True]
    site.clear_cookies()
    site.get("home?q", policy="reload")
    assert cookies(server, "/home") == ["id=7", "id=7", None, "id=7", None]
    assert not any(b"id" in path.read_bytes() for path in (tmp_path / "cache").rglob("*.txt"))
    with pytest.raises(nuthatch.Invalid):
        cache.site(server.url("/"), cookie_jar="crumbs")
    with pytest.raises(nuthatch.Invalid, match="of a site, not of a cache"):
        nuthatch.Cache(tmp_path / "other", cookie_jar="memory")  # type: ignore[call-arg]


def test_cookies_on_disk_survive_a_restart(server: TestServer, tmp_path: Path) -> None:
    for place in ("login", "home"):
        with nuthatch.Cache(tmp_path / "cache") as cache:
            pickle.loads(pickle.dumps(cache.site(server.url("/"), cookie_jar="disk"))).get(place)
    assert cookies(server, "/home") == ["id=7", "id=7"]

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache") as ac:
            site = ac.site(server.url("/"), cookie_jar="disk")
            await site.get("home", policy="reload")
            await site.clear_cookies()
            await site.get("home", policy="reload")

    asyncio.run(main())
    assert cookies(server, "/home")[2:] == ["id=7", None]


def test_a_netrc_file_gives_user_and_password(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ann password pw\n")
    server.on("/a", ok("x"))
    monkeypatch.setenv("NETRC", str(netrc))
    ways: List[Dict[str, Any]] = [
        {"netrc": netrc},
        {"netrc": str(netrc)},
        {"netrc": True},
        {"netrc": False},
        {},
        {"netrc": True, "bearer": "t"},
    ]
    for options in ways:
        cache.get(server.url("/a"), policy="reload", **options)
    with nuthatch.Cache(tmp_path / "other", netrc=netrc) as other:
        other.get(server.url("/a"))
        other.site(server.url("/"), user=("bob", "x")).get("a")
    cache.site(server.url("/"), netrc=True).get("a", policy="reload")
    basic = "Basic YW5uOnB3"
    sent = [request.header("Authorization") for request in server.requests("/a")]
    assert sent == [basic, basic, basic, None, None, "Bearer t", basic, "Basic Ym9iOng=", basic]
    with pytest.raises(nuthatch.Error) as caught:
        cache.get(server.url("/a"), netrc="/does/not\nexist")
    assert caught.value.code == "io" and str(caught.value).startswith("/does/not\\nexist can't be read: ")


def test_thumbnails_of_different_users_stay_apart(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    kept = [("Cache-Control", "max-age=60")]
    server.on(
        "/a.png", ok(png(40, 40), "image/png", headers=kept), ok(png(80, 80), "image/png", headers=kept)
    )
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password pw\n")
    for _ in range(3):
        assert cache.thumbnail(server.url("/a.png"), 16).original_size == (40, 40)
    for _ in range(3):
        image = cache.thumbnail(server.url("/a.png"), 16, netrc=tmp_path / "netrc")
        assert image.original_size == (80, 80)
    assert cache.thumbnail(server.url("/a.png"), 16).original_size == (40, 40)
    cache.thumbnail(server.url("/a.png"), 16, cert="/none")
    cache.thumbnail(server.url("/a.png"), 16, sign_in="negotiate")
    assert server.count("/a.png") == 4


def test_thumbnails_follow_a_changed_netrc_file(server: TestServer, tmp_path: Path) -> None:
    kept = [("Cache-Control", "max-age=60")]
    server.on(
        "/a.png", ok(png(40, 40), "image/png", headers=kept), ok(png(80, 80), "image/png", headers=kept)
    )
    url, netrc = server.url("/a.png"), tmp_path / "netrc"

    def sign_in(name: str) -> None:
        netrc.write_text(f"machine 127.0.0.1 login {name} password pw\n")

    async def shown() -> List[Any]:
        async with nuthatch.AsyncCache(tmp_path / "cache", netrc=netrc) as ac:
            found = [(await ac.thumbnail(url, 16)).original_size[0] for _ in range(2)]
            sign_in("ann")
            return [*found, (await ac.thumbnail(url, 16)).original_size[0]]

    with nuthatch.Cache(tmp_path / "cache", netrc=netrc) as cache:
        sign_in("ann")
        for _ in range(2):
            assert cache.thumbnail(url, 16).original_size[0] == 40
        assert cache.peek(url, 16) is not None
        sign_in("bob")
        assert cache.peek(url, 16) is None
        assert cache.submit(url, size=16).result().original_size[0] == 80
        assert cache.thumbnail(url, 16).original_size[0] == 80
        assert asyncio.run(shown()) == [80, 80, 40]
    assert server.count("/a.png") == 2


def test_a_verdict_is_asked_before_a_stale_answer_is_returned(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    stale = [("Cache-Control", "max-age=0, stale-while-revalidate=600")]
    server.on("/a", ok("good", headers=stale), ok("bad", headers=stale))
    url = server.url("/a")
    assert cache.get(url).text == "good"
    with pytest.raises(nuthatch.Error):
        cache.get(url, delivery="first", ask_verdict=lambda response: response.text != "bad")
    assert cache.get(url, policy="offline").text == "good"
    assert server.count("/a") == 2


def steps(response: nuthatch.Response) -> Dict[str, str]:
    return {"Authorization": f"Nut {int(response.headers['WWW-Authenticate'][4:]) + 1}"}


def test_a_challenge_is_answered_by_a_function(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    def refused(step: int) -> Any:
        return answer(401, "who?", [("WWW-Authenticate", f"Nut {step}")])

    server.on("/a", refused(1), refused(2), ok("welcome"))
    response = cache.get(server.url("/a"), bearer="expired", ask_challenge=steps, save_to=tmp_path / "file")
    assert (response.text, (tmp_path / "file").read_bytes()) == ("welcome", b"welcome")
    sent = [request.values("Authorization") for request in server.requests("/a")]
    assert sent == [["Bearer expired"], ["Nut 2"], ["Nut 3"]]

    async def later(response: nuthatch.Response) -> Dict[str, str]:
        await asyncio.sleep(0)
        return steps(response)

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache", ask_challenge=later) as ac:
            server.on("/b", refused(1), ok("welcome"))
            assert (await ac.get(server.url("/b"))).text == "welcome"

    asyncio.run(main())
    server.on("/c", refused(1))
    assert cache.get(server.url("/c"), ask_challenge=lambda response: None).status == 401
    server.on("/d.png", refused(1), ok(png(32, 24), "image/png"))
    assert cache.thumbnail(server.url("/d.png"), 16, ask_challenge=steps).size == (16, 12)


def test_a_sites_verdict_can_reject_a_200(server: TestServer, cache: nuthatch.Cache) -> None:
    """This 200 is really an error."""
    kept = [("Cache-Control", "max-age=60")]

    def verdict(response: nuthatch.Response) -> Any:
        return {"busy": "retry", "error": False}.get(response.text, True)

    site = cache.site(server.url("/"), ask_verdict=verdict, ask_headers=lambda url: {"X-Token": url[-1]})
    server.on("/a", ok("busy", headers=kept), ok("good", headers=kept))
    assert site.get("a", retries=2).text == "good"
    server.on("/b", ok("error", headers=kept))
    for count in (1, 2):
        with pytest.raises(nuthatch.HTTPStatusError):
            site.get("b")
        assert server.count("/b") == count
    assert [request.header("X-Token") for request in server.requests("/a")] == ["a", "a"]
    assert site.get("b", ask_verdict=None).text == "error"


@pytest.mark.parametrize("freezable", [False, True])
def test_a_verdict_can_ask_for_another_attempt_with_any_method(
    server: TestServer, cache: nuthatch.Cache, freezable: bool
) -> None:
    def verdict(response: nuthatch.Response) -> Any:
        return "retry" if response.text == "busy" else True

    server.on("/a", ok("busy"), ok("busy"), ok("good"))
    options = {"body": b"x", "ask_verdict": verdict, "freezable": freezable}
    assert cache.request("POST", server.url("/a"), retries=2, **options).text == "good"
    keys = [request.header("Idempotency-Key") for request in server.requests("/a")]
    assert keys == [keys[0]] * 3 and (keys[0] is not None) == freezable
    server.on("/b", ok("busy"))
    with pytest.raises(nuthatch.HTTPStatusError):
        cache.request("POST", server.url("/b"), retries=0, **options)
    assert server.count("/b") == 1


@pytest.mark.parametrize("durable", [False, True])
def test_an_idempotency_key_of_a_function_is_the_only_one(
    server: TestServer, cache: nuthatch.Cache, durable: bool
) -> None:
    def headers(url: str) -> Any:
        return {"idempotency-key": '"mine"'}

    server.on("/a", ok("thanks"))
    cache.request("POST", server.url("/a"), freezable=True, outbox_durable=durable, ask_headers=headers)
    (sent,) = server.requests("/a")
    assert [text for name, text in sent.headers if name.lower() == "idempotency-key"] == ['"mine"']


def test_a_site_names_headers_that_other_origins_get(server: TestServer, cache: nuthatch.Cache) -> None:
    with TestServer() as other:
        other.on("/b", ok("x"))
        server.on("/a", redirect(other.url("/b")))
        headers = {"X-Tenant": "1", "X-Signature": "2", "Accept-Language": "de"}
        site = cache.site(server.url("/"), headers=headers, keep_headers_across_origins=["x-tenant"])
        assert site.get("a").body == b"x"
        seen = other.requests("/b")[0]
        assert (seen.header("x-tenant"), seen.header("x-signature")) == ("1", None)
        assert seen.header("accept-language") == "de"
        kept = ["X-Signature"]
        assert cache.get(server.url("/a"), headers=headers, keep_headers_across_origins=kept).body == b"x"
        seen = other.requests("/b")[1]
        assert (seen.header("x-tenant"), seen.header("x-signature")) == (None, "2")
    with pytest.raises(TypeError):
        cache.site(server.url("/"), keep_headers_across_origins="X-Tenant")  # type: ignore[arg-type]
