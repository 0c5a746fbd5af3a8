"""The examples of bindings/c are compiled and run as a user would. Each function of the header is in one of them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, List

import pytest
from testserver import TestServer, answer, body, interim, ok, script

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "bindings" / "c" / "examples"


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


def test_every_function_is_in_an_example() -> None:
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "include" / "nuthatch.h").read_text(), flags=re.DOTALL)
    functions = re.findall(r"^\w[\w *]*?\b(nh_\w+)\([^;]*\);", header, re.MULTILINE)
    assert len(functions) > 80 and "nh_open" in functions and "nh_option_next" in functions
    code = "".join(path.read_text() for path in EXAMPLES.glob("*.c"))
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    missing = [name for name in functions if not re.search(rf"\b{name}\(", code)]
    assert missing == [], "in no example of bindings/c/examples"


def test_every_example_is_run_here_and_short() -> None:
    tests = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.c"):
        assert f'run("{path.stem}"' in tests, path.name
        assert len(path.read_text().splitlines()) <= 60, path.name


@pytest.mark.parametrize("standard", ["c11", "c17"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_example_compiles(compiler: str, standard: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} in PATH")
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]
    sources = [str(path) for path in sorted(EXAMPLES.glob("*.c"))]
    command = [compiler, *flags, f"-I{ROOT / 'include'}", *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run(name: str, arguments: List[str], folder: Path, given: str = "") -> "subprocess.CompletedProcess[str]":
    program = folder / name
    if not program.exists():
        source = EXAMPLES / f"{name}.c"
        command = [
            "cc",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT / 'include'}",
            str(source),
            "-o",
            str(program),
        ]
        command += [f"-L{ROOT / 'build'}", "-lnuthatch", f"-Wl,-rpath,{ROOT / 'build'}"]
        subprocess.run(command, check=True)
    env = {**os.environ, "NUTHATCH_CACHE": str(folder / "cache"), "SWIFT_BACKTRACE": "enable=no"}
    return subprocess.run(
        [str(program), *arguments],
        env=env,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_thumbnail_example_writes_a_png(server: TestServer, tmp_path: Path) -> None:
    done = run("thumbnail", [server.url("/png/400/200"), str(tmp_path / "a.png")], tmp_path)
    assert (done.returncode, done.stdout) == (0, "256 x 128 of 400 x 200\n")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    failed = run("thumbnail", [server.url("/status/404"), str(tmp_path / "b.png")], tmp_path)
    assert failed.returncode == 1
    assert "404" in failed.stderr


def test_get_example_writes_the_body(server: TestServer, tmp_path: Path) -> None:
    done = run("get", [server.url("/bytes/1000"), str(tmp_path / "a")], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a").read_bytes() == b"x" * 1000


def test_many_example_fetches_all_urls(server: TestServer, tmp_path: Path) -> None:
    urls = "".join(server.url(f"/bytes/{n % 50}?{n}\n") for n in range(1000))
    done = run("many", [str(tmp_path / "cache")], tmp_path, urls)
    assert (done.returncode, done.stdout) == (0, "1000 of 1000, 0 failed\n"), done.stderr
    done = run("many", [str(tmp_path / "cache")], tmp_path, server.url("/truncated") + "\nnonsense\n")
    assert done.returncode == 1
    assert "/truncated" in done.stderr
    assert "nonsense" in done.stderr


def test_mainloop_example_dispatches_all_thumbnails(server: TestServer, tmp_path: Path) -> None:
    picture, nothing = server.url("/png/512/256"), server.url("/bytes/10")
    done = run("mainloop", [picture, nothing], tmp_path)
    assert done.returncode == 1
    assert f"{picture}: 256 x 128\n" in done.stdout
    assert done.stdout.count("\n") == 2


def test_site_example_sends_its_token(server: TestServer, tmp_path: Path) -> None:
    done = run("site", [server.url("/"), "hazel", "echo", "headers?Cache-Control=max-age%3D60"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Bearer hazel" in done.stdout
    assert "application/json" in done.stdout
    again = run("site", [server.url("/"), "walnut", "headers?Cache-Control=max-age%3D60"], tmp_path)
    assert "(cached)" in again.stdout


def test_outbox_example_sends_a_post_later(server: TestServer, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    server.on("/rows", ok("thanks"))
    url = server.url("/rows")
    assert run("outbox", [cache, "0", url, "now"], tmp_path).stdout == "200\n"
    server.go_down()
    kept = run("outbox", [cache, "0", url, "seeds"], tmp_path)
    assert kept.returncode == 0 and kept.stdout.startswith("can't be sent yet; kept in the outbox as 1")
    server.go_up()
    assert run("outbox", [cache, "5"], tmp_path).stdout == f"POST {url}: done\n"
    assert run("outbox", [cache, "0"], tmp_path).stdout == ""
    assert [request.body for request in server.requests("/rows")] == [b"now", b"seeds"]


def test_upload_example_sends_a_form_and_signs_in(server: TestServer, tmp_path: Path) -> None:
    server.on(
        "/a",
        answer(401, "who?", [("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')]),
        ok("danke"),
    )
    (tmp_path / "nut.jpg").write_bytes(b"\xff\xd8" * 100_000)
    done = run("upload", [server.url("/a"), str(tmp_path / "nut.jpg"), "ann", "pw"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "200 danke\n"), done.stderr
    sent = server.requests("/a")[-1]
    assert (sent.header("Authorization") or "").startswith('Digest username="ann"')
    assert b'name="picture"; filename="nut.jpg"\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff' in sent.body
    refused = run("upload", [server.url("/status/413"), str(tmp_path / "nut.jpg")], tmp_path)
    assert (refused.returncode, refused.stdout[:4]) == (1, "413 ")
    missing = run("upload", [server.url("/a"), str(tmp_path / "missing")], tmp_path)
    assert missing.returncode == 1 and "missing can't be read" in missing.stderr


def test_signin_example_answers_questions(server: TestServer, tmp_path: Path) -> None:
    url = server.url("/basic-auth/u/p")
    done = run("signin", [url, "u", "p"], tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("200, "), done.stderr
    refused = run("signin", [url + "?2", "u", "wrong"], tmp_path)
    assert refused.returncode == 1
    server.on("/empty", ok(""))
    empty = run("signin", [server.url("/empty"), "u", "p"], tmp_path)
    assert (empty.returncode, empty.stdout) == (1, "")
    assert "the answer is empty" in empty.stderr


def test_limits_example_prints_the_limits(server: TestServer, tmp_path: Path) -> None:
    done = run("limits", [str(tmp_path / "cache"), server.url("")], tmp_path)
    assert done.returncode == 0, done.stderr
    limits = [line.strip() for line in done.stdout.splitlines()]
    assert limits[1:5] == ["timeout_ms: 30000", "retries: 0", "max_bytes: 67108864", "max_pixels: 100000000"]
    assert limits[6:] == ["timeout_ms: 5000", "retries: 0", "max_bytes: no limit", "max_pixels: 100000000"]


def test_options_example_prints_the_options(tmp_path: Path) -> None:
    done = run("options", [], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "priority: place in the queue, higher ones first (request)\n    default: 0\n" in done.stdout
    assert "    one of: kit,rfc9111,offline,reload\n" in done.stdout
    assert run("options", ["timeout"], tmp_path).stdout.count("\n") == 4
    assert run("options", ["nonsense"], tmp_path).returncode == 1


def test_versions_example_prints_the_libraries_in_use(tmp_path: Path) -> None:
    done = run("versions", [], tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert done.stderr.startswith(f"Nuthatch {told['version']}, compiled for ")
    assert {"libcurl", "OpenSSL", "libpng", "Swift"} <= {library["name"] for library in told["libraries"]}


def test_upkeep_example_removes_trims_and_clears(server: TestServer, tmp_path: Path) -> None:
    cache, url = str(tmp_path / "cache"), server.url("/headers?Cache-Control=max-age%3D60")
    for path in (url, server.url("/png/40/40")):
        run("get", [path, str(tmp_path / "a")], tmp_path)

    def told(*arguments: str) -> str:
        done = run("upkeep", [cache, *arguments], tmp_path)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert '"warning":' in lines[1]
        return lines[0]

    assert told() == "2 answers, 0 thumbnails"
    assert told("remove", url) == "1 answers, 0 thumbnails"
    assert told("flush") == told("memory") == told("trim", "100000000") == "1 answers, 0 thumbnails"
    assert told("clear") == "0 answers, 0 thumbnails"
    failed = run("upkeep", [cache, "remove", "nonsense"], tmp_path)
    assert failed.returncode == 1 and failed.stderr.startswith("bad_url: ")


def test_peek_example_shows_all_thumbnails(server: TestServer, tmp_path: Path) -> None:
    urls = [server.url(f"/png/256/128?{n}") for n in range(6)] + [server.url("/bytes/10"), "nonsense"]
    done = run("peek", urls, tmp_path)
    assert done.returncode == 0, done.stderr
    expected = [f"{url}: 128 x 64" for url in urls[:6]] + [f"{url}: no picture" for url in urls[6:]]
    assert done.stdout.splitlines() == expected


def test_instant_example_sends_only_what_is_cached(server: TestServer, tmp_path: Path) -> None:
    picture, url = server.url("/png/64/32"), server.url("/headers?Cache-Control=max-age%3D60")
    first = run("instant", [], tmp_path, f"nonsense\n{url}\n")
    assert first.stdout.splitlines()[1:] == [f"{url}: ask again", "the last one is there now"]
    assert run("instant", [], tmp_path, url + "\n").stdout.startswith(f"{url}: ")
    assert "ask again" not in run("instant", [], tmp_path, url + "\n").stdout
    assert run("instant", ["16"], tmp_path, picture + "\n").stdout.startswith(f"{picture}: ask again\n")
    again = run("instant", ["16"], tmp_path, picture + "\n")
    assert again.stdout.startswith(f"{picture}: {16 * 8 * 4} bytes\n")


def test_saving_example_resumes_a_broken_transfer(server: TestServer, tmp_path: Path) -> None:
    content = b"nut" * 100_000
    head = [("ETag", '"1"'), ("Content-Length", str(len(content)))]
    broken = script(headers=head, steps=[body(content[:100_000])])
    server.on("/large", broken, ok(content, etag='"1"', ranges=True))
    done = run("saving", [server.url("/large"), str(tmp_path / "file")], tmp_path)
    assert done.returncode == 0 and f"{len(content)} bytes\n" in done.stderr, done.stderr
    assert (tmp_path / "file").read_bytes() == content
    assert server.requests("/large")[-1].header("Range") == "bytes=100000-"
    refused = run("saving", ["nonsense", str(tmp_path / "other")], tmp_path)
    assert refused.returncode == 1 and refused.stderr.startswith("bad_url (14): ")


def test_headers_example_prints_headers_without_secrets(server: TestServer, tmp_path: Path) -> None:
    lines = [("Server", "hazel"), ("Set-Cookie", "session=hush")]
    server.on("/hints", script(headers=lines, steps=[interim(103, [("Link", "</a>")]), body("nut")]))
    done = run("headers", [server.url("/hints").replace("http://", "http://ann:pw@")], tmp_path)
    assert done.returncode == 0, done.stderr
    address = server.url("/hints").replace("http://", "http://ann:***@")
    assert done.stdout.startswith(f"{address}\n103\nLink: </a>\n200 OK\n")
    assert "Set-Cookie: ***\n" in done.stdout and "hush" not in done.stdout
    assert done.stderr.startswith("hazel, in ")


def test_pixels_example_writes_pictures_of_files_and_urls(server: TestServer, tmp_path: Path) -> None:
    url, plain = server.url("/png/64/32"), tmp_path / "plain.ppm"
    assert run("pixels", [url, str(plain)], tmp_path).returncode == 0
    assert plain.read_bytes().startswith(b"P6 64 32 255\n") and plain.stat().st_size == 13 + 64 * 32 * 3
    run("get", [url, str(tmp_path / "a.png")], tmp_path)
    assert run("pixels", [str(tmp_path / "a.png"), str(tmp_path / "b.ppm")], tmp_path).returncode == 0
    assert (tmp_path / "b.ppm").read_bytes() == plain.read_bytes()
    failed = run("pixels", [str(plain), str(tmp_path / "c.ppm")], tmp_path)
    assert failed.returncode == 1 and failed.stderr.startswith("not_an_image: ")


def test_sizes_example_prints_three_sizes(server: TestServer, tmp_path: Path) -> None:
    done = run("sizes", [server.url("/png/800/400")], tmp_path)
    assert (done.returncode, done.stdout) == (0, "64 x 64\n256 x 256\n320 x 180\n"), done.stderr
    assert run("sizes", [server.url("/status/404")], tmp_path).returncode == 1


def test_polite_example_fetches_with_a_log(server: TestServer, tmp_path: Path) -> None:
    urls = "".join(server.url(f"/bytes/5?polite={n}\n") for n in range(3))
    done = run("polite", [str(tmp_path / "cache")], tmp_path, urls + server.url("/truncated\n"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("at work\n") and done.stdout.endswith("at rest\n"), done.stderr
    assert "note: " in done.stderr and "/truncated" in done.stderr


def test_frozen_and_sender_examples_list_and_send_requests(server: TestServer, tmp_path: Path) -> None:
    cache, url = str(tmp_path / "cache"), server.url("/posts")
    server.on("/posts", answer(503), ok("thanks"))
    server.go_down()
    for text in ("hazel", "walnut"):
        run("outbox", [cache, "0", url, text], tmp_path)
    listed = run("frozen", [cache], tmp_path).stdout.splitlines()
    assert [line.split(" ", 1)[1].split(":")[0] for line in listed] == ["waiting POST http"] * 2
    first, second = (line.split()[0] for line in listed)
    assert run("frozen", [cache, "show", first], tmp_path).stdout.startswith(listed[0])
    assert run("frozen", [cache, "answer", first], tmp_path).returncode == 1
    assert run("frozen", [cache, "drop", second], tmp_path).returncode == 0
    assert run("frozen", [cache, "show", second], tmp_path).returncode == 1
    server.go_up()
    assert run("frozen", [cache, "replay", first], tmp_path).stdout == "1 are sent again\n"
    sent = run("sender", [cache, "20"], tmp_path)
    assert (sent.returncode, sent.stdout) == (0, f"{first}: done\n"), sent.stderr
    assert run("frozen", [cache], tmp_path).stdout == ""
    assert [request.body for request in server.requests("/posts")] == [b"hazel", b"hazel"]


def test_session_example_signs_in_and_uploads(server: TestServer, tmp_path: Path) -> None:
    server.on("/login", ok('{"user":"ann"}', headers=[("Set-Cookie", "id=7")]))
    server.on("/files", ok("[1]"), ok("nonsense"))
    (tmp_path / "nut").write_bytes(b"nut")
    done = run("session", [server.url("/"), "ann", "p&w", str(tmp_path / "nut")], tmp_path)
    assert (done.returncode, done.stdout) == (0, '{"user":"ann"}\n[1]\n'), done.stderr
    assert server.requests("/login")[-1].body == b"user=ann&password=p%26w"
    sent = server.requests("/files")[-1]
    assert (sent.header("Cookie"), sent.body) == ("id=7", b"nut")
    assert run("session", [server.url("/"), "ann", "pw", str(tmp_path / "nut")], tmp_path).returncode == 1


def test_online_example_prints_changes(server: TestServer, tmp_path: Path) -> None:
    url = server.url("/")
    assert run("online", [url, "2"], tmp_path).stdout.endswith("yes\n")
    server.go_down()
    assert run("online", [url, "2"], tmp_path).stdout.endswith(f"{url} is away\nno\n")
    server.go_up()
