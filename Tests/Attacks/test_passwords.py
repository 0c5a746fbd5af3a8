"""Passwords: the hosts that get them, and the outputs that may show them."""

from __future__ import annotations

import copy
import os
import pickle
import stat
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, answer, ok, redirect

COMMAND = str(Path(__file__).resolve().parents[2] / "build" / "nuthatch")
SECRET = "hazelnut"
SIGNED = "Basic YW5uOmhhemVsbnV0"


@pytest.fixture
def other() -> Iterator[TestServer]:
    """A server of another owner."""
    with TestServer() as server:
        yield server


@pytest.fixture
def lists(server: TestServer, other: TestServer) -> list[str]:
    """Lists of URLs at two origins. The other server's is first."""
    for one in (server, other):
        one.on("/a", ok(png(8, 8), "image/png"))
        one.on("/b", ok(png(8, 9), "image/png"))
    return [other.url("/a"), server.url("/a"), other.url("/b"), server.url("/b")]


def sent(server: TestServer) -> list[str | None]:
    return [one.header("Authorization") for path in ("/a", "/b") for one in server.requests(path)]


def run(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "NUTHATCH_CACHE": str(folder / "cache")}
    command = [COMMAND, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, timeout=120, check=False
    )


def host(server: TestServer) -> str:
    return server.url("/").split("/")[2]


# Hosts that get a password


@pytest.mark.parametrize("way", ["file", "input", "files"])
def test_user_for_a_list_of_several_origins_needs_a_host(
    server: TestServer, other: TestServer, lists: list[str], tmp_path: Path, way: str
) -> None:
    text = "".join(f"{url}\n" for url in lists).encode()
    (tmp_path / "urls").write_bytes(text)
    (tmp_path / "more").write_text(f"{other.url('/a')}\n")
    (tmp_path / "own").write_text(f"{server.url('/a')}\n")
    names = {"file": ["urls"], "input": ["-"], "files": ["own", "more"]}[way]
    done = run(tmp_path, "prefetch", "--user", f"ann:{SECRET}", *names, given=text)
    assert done.returncode == 2 and b"NAME:PASSWORD@HOST" in done.stderr
    assert SECRET.encode() not in done.stderr
    assert sent(server) == [] and sent(other) == []


@pytest.mark.parametrize("form", ["host", "origin"])
def test_a_password_is_sent_to_its_host_only(
    server: TestServer, other: TestServer, lists: list[str], tmp_path: Path, form: str
) -> None:
    text = "".join(f"{url}\n" for url in lists).encode()
    place = host(server) if form == "host" else f"http://{host(server)}"
    done = run(tmp_path, "prefetch", "--user", f"ann:{SECRET}@{place}", "-", given=text)
    assert done.returncode == 0, done.stderr
    assert sent(server) == [SIGNED] * 2 and sent(other) == [None] * 2


def test_a_password_with_an_at_sign_needs_a_host(
    server: TestServer, other: TestServer, tmp_path: Path
) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    other.on("/a", ok(png(8, 8), "image/png"))
    text = f"{server.url('/a')}\n".encode()
    done = run(tmp_path, "prefetch", "--user", f"ann:p@ss@{host(server)}", "-", given=text)
    assert (done.returncode, sent(server)) == (0, ["Basic YW5uOnBAc3M="])
    # The text after the last @ is a host. No message repeats it.
    lost = run(tmp_path, "prefetch", "--policy=reload", "--user", f"ann:p@{SECRET}", "-", given=text)
    assert b"NAME:PASSWORD@HOST" in lost.stderr and SECRET.encode() not in lost.stderr + lost.stdout
    odd = run(tmp_path, "prefetch", "--policy=reload", "--user", f"ann:p@{SECRET} x", "-", given=text)
    assert odd.returncode == 2 and SECRET.encode() not in odd.stderr
    assert sent(server)[1:] == [None]


def test_user_for_a_list_of_one_origin_needs_no_host(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    text = f"# mine\n{server.url('/a')}\nnonsense\ndata:,a\n".encode()
    run(tmp_path, "prefetch", "--user", f"ann:{SECRET}", "-", given=text)
    assert sent(server) == [SIGNED]


def test_a_redirect_gets_no_password(server: TestServer, other: TestServer, tmp_path: Path) -> None:
    other.on("/a", ok(png(8, 8), "image/png"))
    server.on("/a", redirect(other.url("/a"), 302))
    text = f"{server.url('/a')}\n".encode()
    run(tmp_path, "prefetch", "--user", f"ann:{SECRET}@{host(server)}", "-", given=text)
    assert sent(server) == [SIGNED] and sent(other) == [None]


def test_relative_looking_urls_of_a_site_get_no_password_at_other_hosts(
    server: TestServer, other: TestServer, tmp_path: Path
) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    other.on("/a", ok(png(8, 8), "image/png"))
    elsewhere = [f"//{host(other)}/a", f"\\\\{host(other)}/a", f" //{host(other)}/a", f"\t//{host(other)}/a"]
    with nuthatch.Cache(tmp_path / "c", policy="reload") as cache:
        for options in ({"bearer": SECRET}, {"user": ("ann", SECRET)}):
            site = cache.site(server.url("/"))
            for url in elsewhere:
                list(site.prefetch(["a", url], [8], retries=0, **options))
            assert server.requests("/a")[-1].header("Authorization") is not None
    assert all(sign is None for sign in sent(other))


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_python_needs_a_host_for_several_origins(
    server: TestServer, other: TestServer, lists: list[str], tmp_path: Path, kind: Any
) -> None:
    with nuthatch.Cache(tmp_path / "c") as cache:
        with pytest.raises(nuthatch.Invalid, match="name the host that gets the password") as caught:
            list(cache.prefetch(kind(lists), [8], user=("ann", SECRET)))
        assert SECRET not in str(caught.value) and sent(server) == sent(other) == []
        with pytest.raises(nuthatch.Invalid):
            list(cache.prefetch(kind(lists), [8], bearer=SECRET))
        assert sent(server) == sent(other) == []
        for place in (host(server), f"http://{host(server)}"):
            user = ("ann", SECRET, place)
            items = list(cache.prefetch(kind(lists), [8], user=user, policy="reload"))
            assert all(item.ok for item in items)
        assert sent(server) == [SIGNED] * 4 and sent(other) == [None] * 4
        own = [server.url("/a")]
        assert next(cache.prefetch(kind(own), [8], user=("ann", SECRET), policy="reload")).ok
        assert sent(server)[2:3] == [SIGNED]


def test_async_prefetch_needs_a_host_for_several_origins(
    server: TestServer, other: TestServer, lists: list[str], tmp_path: Path
) -> None:
    import asyncio

    async def urls() -> Any:
        for url in lists:
            yield url

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c") as cache:
            for source in (lists, urls()):
                with pytest.raises(nuthatch.Invalid):
                    async for _ in cache.prefetch(source, [8], user=("ann", SECRET)):
                        pass
            assert sent(server) == sent(other) == []
            async for item in cache.prefetch(urls(), [8], user=("ann", SECRET, host(server))):
                assert item.ok
        assert sent(server) == [SIGNED] * 2 and sent(other) == [None] * 2

    asyncio.run(main())


def test_prefetch_of_a_site_signs_in_at_the_site_only(
    server: TestServer, other: TestServer, lists: list[str], tmp_path: Path
) -> None:
    with nuthatch.Cache(tmp_path / "c") as cache:
        site = cache.site(server.url("/"))
        assert all(item.ok for item in site.prefetch(["a", *lists], [8], user=("ann", SECRET)))
    assert set(sent(server)) == {SIGNED} and sent(other) == [None] * 2


# No credentials


def test_no_credentials_are_sent_if_user_and_netrc_are_off(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login ann password {SECRET}\n")
    with nuthatch.Cache(tmp_path / "c", netrc=tmp_path / "netrc") as cache:
        url = server.url("/a")
        assert not cache.get(url).is_in_cache
        # An answer without credentials is another one than ann's.
        assert not cache.get(url, netrc=False).is_in_cache
        assert cache.get(url, user=None).is_in_cache and cache.get(url).is_in_cache
        reload = {"policy": "reload"}
        cache.get(url, netrc=None, **reload)  # type: ignore[arg-type]
        cache.get(url, user=None, **reload)  # type: ignore[arg-type]
        cache.site(server.url("/"), netrc=False).get("a", **reload)  # type: ignore[arg-type]
        assert sent(server) == [SIGNED, None, None, None, None]
        cache.get(url, user=None, netrc=tmp_path / "netrc", policy="reload")
        site = cache.site(server.url("/"), user=("bob", "x"))
        site.get("a", user=None, **reload)  # type: ignore[arg-type]
        site.get("a", netrc=False, **reload)  # type: ignore[arg-type]
        assert sent(server)[5:] == [SIGNED, None, "Basic Ym9iOng="]
        known = cache.site(server.url("/").replace("//", f"//ann:{SECRET}@"))
        known.get("a", user=None, **reload)  # type: ignore[arg-type]
        assert sent(server)[8:] == [None]


# Outputs without passwords


ODD = [
    "http://ann:{}@127.0.0.1:1/",
    "http://ann:{}@x@127.0.0.1:1/",
    "http://ann:x@{}@127.0.0.1:1/",
    "HTTP://ann:{}@127.0.0.1:1/",
    "  http://ann:{}@127.0.0.1:1/",
    "http://ann:a/{}@127.0.0.1:1/",
    "http://ann:a?{}@127.0.0.1:1/",
    "http://ann:a#{}@127.0.0.1:1/",
    "http://ann:%41{}@127.0.0.1:1/",
    "http://:{}@127.0.0.1:1/",
    "http://{}@127.0.0.1:1/",
    "http://{}:@127.0.0.1:1/",
    "http://ann:{}@127.0.0.1:nonsense/",
    "http://ann:{}@[::/",
    "http://ann:{}@",
    "http:\\\\ann:{}@127.0.0.1:1\\",
    "http:/ann:{}@127.0.0.1:1/",
    "http:ann:{}@127.0.0.1:1/",
    "http://http://ann:{}@127.0.0.1:1/",
    "//ann:{}@127.0.0.1:1/",
    "ann:{}@127.0.0.1:1/",
    "ann:{}@127.0.0.1:1/?next=http://x/",
    "ftp://ann:{}@127.0.0.1/",
    "http://ann:{}@127.0.0.1:1/\n",
    "\thttp://ann:{}@exa mple/",
]


@pytest.mark.parametrize("form", ODD)
def test_no_error_shows_a_password(form: str, tmp_path: Path) -> None:
    url = form.format(SECRET)
    with nuthatch.Cache(tmp_path / "c", retries=0) as cache:
        with pytest.raises(nuthatch.Error) as caught:
            cache.get(url)
        error = caught.value
        assert error.url == url
        shown = [
            str(error),
            repr(error),
            *map(str, error.args),
            "".join(traceback.format_exception_only(type(error), error)),
        ]
        (item,) = cache.prefetch([url], [8], retries=0)
        shown += [repr(item), str(item), str(item.error), repr(item.error)]
        assert item.url == url
        try:
            shown.append(repr(cache.submit(url)))
        except nuthatch.Error as refused:
            shown.append(str(refused))
        assert not [text for text in shown if SECRET in text]
        for wrong in (url, url.encode()):
            with pytest.raises(TypeError) as odd:
                cache.prefetch(wrong, [8])
            assert SECRET not in str(odd.value)
    (tmp_path / "list").write_text(url.strip("\n") + "\n")
    for arguments in (
        ["get", url],
        ["rm", url],
        ["explain", url],
        ["prefetch", "list"],
        ["export", "e", "list"],
    ):
        done = run(
            tmp_path, *arguments, "--retries=0" if arguments[0] in ("get", "prefetch") else "--format=text"
        )
        assert SECRET.encode() not in done.stderr + done.stdout, arguments


def test_attributes_and_logs_do_not_show_the_password_of_a_url(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    url = server.url("/a").replace("//", f"//ann:{SECRET}@")
    with nuthatch.Cache(tmp_path / "c") as cache:
        ticket = cache.submit(url, size=8)
        events = list(ticket.events(30))
        image, response = ticket.result(), cache.get(url)
        (item,) = cache.prefetch([url], [8])
        things = [image, response, item, ticket, *events, cache.site(url)]
        for thing in things:
            assert SECRET not in repr(thing) + str(thing) and f"{thing}".count("***@") < 2
        assert "ann:***@" in repr(image) and "ann:***@" in repr(item)
        assert [one.url for one in (image, response, item, ticket, events[0])] == [url] * 5


def test_output_of_the_command_shows_no_password(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    server.on("/b", answer(404))
    urls = [server.url(path).replace("//", f"//ann:{SECRET}@") for path in ("/a", "/b")]
    (tmp_path / "urls").write_text("\n".join(urls))
    files = ["--report", "report.html", "--failed-out", "failed"]
    done = run(tmp_path, "prefetch", "--retries=0", *files, "urls")
    assert done.returncode == 4
    run(tmp_path, "export", "folder", "urls")
    page = (tmp_path / "report.html").read_text()
    assert SECRET not in page and "ann:***@" in page
    manifest = (tmp_path / "folder" / "manifest.jsonl").read_text()
    assert SECRET not in manifest and "ann:***@" in manifest
    assert SECRET.encode() not in done.stdout + done.stderr
    # Files that are read again must contain it.
    assert (tmp_path / "failed").read_text() == urls[1] + "\n"
    assert stat.S_IMODE((tmp_path / "failed").stat().st_mode) == 0o600
    lines = run(tmp_path, "prefetch", "--format=jsonl", "urls").stdout
    assert lines.count(SECRET.encode()) == 2


# Passwords in files

CHILD = f"""
import sys
sys.path[:] = {sys.path!r}
import pickle, nuthatch
thing = pickle.loads(sys.stdin.buffer.read())
print(thing.get(sys.argv[1], policy="reload").status)
"""


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"Authorization": f"Bearer {SECRET}"}},
        {"headers": {"proxy-authorization": SECRET}},
        {"headers": [("COOKIE", SECRET)]},
        {"headers": {"X-Api-Key": SECRET}},
        {"proxy": f"http://ann:{SECRET}@127.0.0.1:1"},
        {"proxy": f"socks5h://{SECRET}@127.0.0.1:1"},
    ],
)
def test_a_cache_with_a_secret_can_not_be_pickled(options: Any, tmp_path: Path) -> None:
    with nuthatch.Cache(tmp_path / "c", **options) as cache:
        refused = [cache, cache.site("http://x/")]
        refused += [nuthatch.AsyncCache(tmp_path / "c", **options)]
        refused += [nuthatch.AsyncCache(tmp_path / "c").site("http://x/", **options)]
        for thing in refused:
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with pytest.raises(pickle.PicklingError, match="env:NAME") as caught:
                    pickle.dumps(thing, protocol)
                assert SECRET not in str(caught.value)
        for same in (copy.copy(cache), copy.deepcopy(cache)):
            assert not same.closed
            same.close()
    with nuthatch.Cache(
        tmp_path / "d", headers={"Accept": "text/plain"}, proxy="http://127.0.0.1:1"
    ) as plain:
        pickle.loads(pickle.dumps(plain)).close()


def test_a_site_with_a_password_can_not_be_pickled(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    with nuthatch.Cache(tmp_path / "c") as cache:
        sites = [
            cache.site(server.url("/"), user=("ann", SECRET)),
            cache.site(server.url("/").replace("//", f"//ann:{SECRET}@")),
        ]
        for site in sites:
            with pytest.raises(pickle.PicklingError, match="env:NAME") as caught:
                pickle.dumps(site)
            assert SECRET not in str(caught.value)
            for same in (copy.copy(site), copy.deepcopy(site)):
                assert same.get("a", policy="reload").ok
    assert sent(server) == [SIGNED] * 4


def test_a_pickle_has_the_name_of_a_secrets_variable(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    monkeypatch.setenv("NUT_TOKEN", SECRET)
    monkeypatch.setenv("NUT_PROXY", "")
    named: Any = {"secrets": {"Authorization": ("Bearer ", "env:NUT_TOKEN")}}
    with nuthatch.Cache(tmp_path / "c", proxy="env:NUT_PROXY", **named) as cache:
        site = nuthatch.Cache(tmp_path / "c").site(
            server.url("/"), user=("ann", ""), password_provider="env:NUT_TOKEN"
        )
        for thing in (cache, site):
            packed = pickle.dumps(thing)
            assert SECRET.encode() not in packed and b"env:NUT_TOKEN" in packed
            done = subprocess.run(
                [sys.executable, "-c", CHILD, server.url("/a")], input=packed, capture_output=True, check=True
            )
            assert done.stdout == b"200\n"
        assert sent(server) == [f"Bearer {SECRET}", SIGNED]
        # Other handles of the process need the value, too.
        monkeypatch.delenv("NUT_TOKEN")
        assert next(cache.prefetch([server.url("/a")], [8], policy="reload")).ok
        assert sent(server)[2:] == [f"Bearer {SECRET}"]
        with pytest.raises(nuthatch.Invalid, match="the environment variable NUT_TOKEN is not set"):
            pickle.loads(pickle.dumps(cache))
    for wrong in ({"Authorization": SECRET}, {"Authorization": ("Bearer ", SECRET)}):
        with pytest.raises(nuthatch.Invalid, match="env:NAME") as caught:
            nuthatch.Cache(tmp_path / "c", secrets=wrong)
        assert SECRET not in str(caught.value)
