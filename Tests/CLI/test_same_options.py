"""An answer that was made with an option is explained, exported and removed with the same option, not without it."""

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from command import Runner, lines
from pictures import png
from testserver import TestServer, ok

#: Options of prefetch, and whether they are part of the cache key.
SAID = [
    (["--enlarge"], False),
    (["--fit=cover"], False),
    (["--scaling=fast"], False),
    (["--addresses=any"], False),
    (["--max-bytes=1M"], False),
    (["--max-pixels=1M"], False),
    (["--policy=rfc9111", "--heuristic=0.5"], False),
    (["--user-agent=me", "--accept=image/*"], False),
    (["-H", "X-Token: 7"], True),
    (["-H", "Authorization: Bearer 7", "--partition=mine"], True),
    (["--user=ann:pw"], True),
    (["--user=ann:pw", "--sign-in=basic", "--user-agent=me"], True),
    (["--netrc-file=passwords"], True),
    (["--cache-key=k-{}"], True),
    (["--ignore-query"], True),
    (["--redirects=2"], False),
    (["--redirects=none"], True),
    (["--cacert=passwords"], True),
    (["--capath=."], True),
    (["--insecure"], True),
]


def told(nuthatch: Runner, *arguments: str) -> Dict[str, Any]:
    done = nuthatch(*arguments, "--format=json")
    assert done.returncode == 0, done.stderr
    found: Dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "options, names", SAID, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_explain_export_and_rm_find_thumbnails_with_the_same_options(
    options: List[str], names: bool, nuthatch: Runner, server: TestServer, tmp_path: Path
) -> None:
    (tmp_path / "passwords").write_text("machine 127.0.0.1 login ann password pw\n")
    server.on("/a", ok(png(40, 20), "image/png", headers=[("Cache-Control", "max-age=600")]))
    url = server.url("/a") + "?x"
    assert nuthatch("prefetch", "-s64", *options, "-", given=lines([url])).returncode == 0
    asked = server.count()
    found = told(nuthatch, "explain", "-s64", *options, url)
    assert (found["prospect"], len(found["thumbs"])) == ("hit", 1), found
    plain = told(nuthatch, "explain", "-s64", url)
    assert (plain["prospect"] == "fetch") is names, plain
    for given in (["out", "-"], ["all"]):
        if given == ["all"] and any(option.startswith("--cache-key") for option in options):
            continue
        done = nuthatch("export", "-s64", *options, *given, given=lines([url]))
        assert (done.returncode, done.stdout[:7]) == (0, b"1 file,"), (given, done.stderr)
    narrow = [option for option in options if names]
    removed = nuthatch("rm", *narrow, url)
    assert (removed.returncode, removed.stdout) == (0, b"removed 1 answer\n"), removed.stderr
    assert server.count() == asked


def test_thumbnails_of_a_damaged_picture_are_found_with_allow_damaged(
    nuthatch: Runner, server: TestServer
) -> None:
    server.on("/a", ok(png(64, 64)[:-200], "image/png", headers=[("Cache-Control", "max-age=600")]))
    url = server.url("/a")
    assert nuthatch("prefetch", "-s16", "--allow-damaged", "-", given=lines([url])).returncode == 0
    assert told(nuthatch, "explain", "-s16", "--allow-damaged", url)["prospect"] == "hit"
    assert nuthatch("export", "-s16", "--allow-damaged", "out").stdout.startswith(b"1 file,")


def test_export_takes_the_user_of_a_list_as_prefetch_does(nuthatch: Runner, server: TestServer) -> None:
    server.on("/a", ok(png(40, 20), "image/png", headers=[("Cache-Control", "max-age=600")]))
    url, place = server.url("/a"), server.url("").split("//")[1].strip("/")
    user = f"--user=ann:p@w@{place}"
    assert nuthatch("prefetch", "-s64", user, "-", given=lines([url])).returncode == 0
    assert nuthatch("export", "-s64", user, "out", "-", given=lines([url])).stdout.startswith(b"1 file,")
    assert told(nuthatch, "explain", "-s64", "--user=ann:p@w", url)["prospect"] == "hit"


@pytest.mark.parametrize(
    "options", [["--bearer=t"], ["--cookie-jar=disk"], ["-u", "ann:pw", "--sign-in=basic"]]
)
def test_explain_and_rm_find_the_answer_of_get_with_the_same_options(
    options: List[str], nuthatch: Runner, server: TestServer
) -> None:
    fresh = ("Cache-Control", "max-age=600")
    server.on("/login", ok("x", headers=[("Set-Cookie", "id=7; Path=/")]))
    server.on("/a", ok("nut", headers=[fresh]))
    assert nuthatch("get", *options, server.url("/login")).stdout == b"x"
    assert nuthatch("get", *options, server.url("/a")).stdout == b"nut"
    assert told(nuthatch, "explain", *options, server.url("/a"))["prospect"] == "hit"
    assert told(nuthatch, "explain", server.url("/a"))["prospect"] == "fetch"
    assert nuthatch("rm", *options, server.url("/a")).stdout == b"removed 1 answer\n"


def test_explain_applies_the_limits_of_the_command_line(nuthatch: Runner, server: TestServer) -> None:
    server.on("/a", ok(png(40, 20), "image/png", etag='"1"'))
    url = server.url("/a")
    assert nuthatch("prefetch", "-s64", "-", given=lines([url])).returncode == 0
    for options, prospect in [
        ([], "hit"),
        (["--validator-ttl=none"], "revalidate"),
        (["--max-pixels=10"], "refuse"),
        (["--max-bytes=10"], "refuse"),
        (["--allow-damaged"], "hit"),
        (["--policy=reload"], "fetch"),
    ]:
        assert told(nuthatch, "explain", "-s64", *options, url)["prospect"] == prospect, options
    assert nuthatch("ls", "--validator-ttl=none").stdout.startswith(b"stale")
    assert json.loads(nuthatch("stat", "--validator-ttl=none", "--format=json").stdout)["fresh"] == 0


def test_a_picture_beyond_max_pixels_is_not_a_hit_of_prefetch(nuthatch: Runner, server: TestServer) -> None:
    server.on("/a", ok(png(40, 20), "image/png", headers=[("Cache-Control", "max-age=600")]))
    given = lines([server.url("/a")])
    assert b"1 fetched" in nuthatch("prefetch", "-s64", "-", given=given).stdout
    done = nuthatch("prefetch", "-s64", "--max-pixels=10", "-", given=given)
    assert (
        done.returncode == 4 and b"0 hits" in done.stdout and b"too_many_pixels" in done.stdout + done.stderr
    )
    assert (
        b"1 would be refused"
        in nuthatch("prefetch", "-s64", "--max-pixels=10", "--dry-run", "-", given=given).stdout
    )
