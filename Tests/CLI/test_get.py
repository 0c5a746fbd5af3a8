"""`nuthatch get`: its output, and its exit status."""

import importlib
import os
import re
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Dict, List

import pytest
from command import COMMAND, Runner, heed_signals, names
from pictures import png
from testserver import LAST_CHUNK, TestServer, answer, body, chunk, drip, ok, redirect, script, truncated


def test_get_writes_the_body_to_standard_output(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(bytes(range(256)) * 1000))
    for arguments in ([], ["-o", "-"]):
        done = nuthatch("get", server.url("/a"), *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, bytes(range(256)) * 1000, b"")


def test_get_writes_the_body_to_several_files(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", redirect("/b"))
    server.on("/b", ok("nut"))
    done = nuthatch("get", "-o", "one", server.url("/a"), "--output=two", "-o-")
    assert (done.returncode, done.stdout) == (0, b"nut")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == b"nut"
    assert names(tmp_path) == ["one", "two"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o666 & ~umask


def test_get_keeps_the_old_file_if_there_is_no_new_body(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("old")
    server.on("/cut", truncated(100, "short"))
    server.on("/404", answer(404, "nothing here"))
    for path, word in [("/cut", b"truncated: "), ("/404", b"HTTP 404 ")]:
        done = nuthatch("get", server.url(path), "-o", "file")
        assert done.returncode == 4
        assert done.stderr.startswith(b"nuthatch: get: " + word) and server.url(path).encode() in done.stderr
        assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_get_replaces_a_file_only_when_the_new_one_is_complete(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/a", ok("new"))
    (tmp_path / "file").write_text("old and longer")
    (tmp_path / "link").symlink_to("file")
    inode = (tmp_path / "file").stat().st_ino
    assert nuthatch("get", server.url("/a"), "-o", "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "file").stat().st_ino != inode


def test_get_writes_into_devices(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("x"))
    assert nuthatch("get", server.url("/a"), "-o", "/dev/null").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    full = nuthatch("get", server.url("/a"), "-o", "/dev/full")
    assert (full.returncode, full.stderr[:22]) == (1, b"nuthatch: get: no_spac")


@pytest.mark.parametrize("arguments", [[], ["--append"], ["--method", "POST", "--freezable"]])
def test_get_writes_into_a_named_pipe(
    server: TestServer, nuthatch: Runner, tmp_path: Path, arguments: List[str]
) -> None:
    server.on("/a", ok("nut" * 100_000))
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cp", "pipe", "copy"], cwd=str(tmp_path)) as reader:
        # Wait here until the pipe has a reader, so that the command doesn't have to.
        with open(tmp_path / "pipe", "wb"):
            done = nuthatch("get", server.url("/a"), "-o", "pipe", "-o", "file", *arguments)
        assert done.returncode == 0, done.stderr
        assert reader.wait(60) == 0
    assert (tmp_path / "copy").read_bytes() == b"nut" * 100_000
    assert (tmp_path / "file").read_bytes() == b"nut" * 100_000


@pytest.mark.parametrize(
    "arguments", [[], ["--append"], ["--method", "POST", "--freezable"], ["--size", "8"]]
)
def test_get_fails_for_a_named_pipe_without_a_reader(
    server: TestServer, nuthatch: Runner, tmp_path: Path, arguments: List[str]
) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    os.mkfifo(tmp_path / "pipe.png")
    done = nuthatch("get", server.url("/a"), "-o", "pipe.png", *arguments)
    reason = "no process has this pipe open for reading; start its reader first"
    message = f"nuthatch: get: io: pipe.png can't be written: {reason}\n"
    assert (done.returncode, done.stderr.decode()) == (1, message)


def test_get_writes_an_error_page_to_standard_output(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", answer(500, "oops"))
    done = nuthatch("get", server.url("/a"))
    assert (done.returncode, done.stdout) == (4, b"oops")


def test_get_sends_method_headers_and_body(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    (tmp_path / "form").write_bytes(b"from=a&file")
    url = server.url("/a")
    nuthatch("get", url, "-H", "X-A: 1", "--header", "X-A:2", "--user", "u:p:q", "--user-agent", "own/1")
    nuthatch("get", url, "-d", "a=b")
    nuthatch("get", url, "-d@form", "-X", "PUT", "-HContent-Type: x/y")
    nuthatch("get", url, "--data", "@-", given=b"typed")
    nuthatch("get", url, "--method", "HEAD")
    one, two, three, four, five = server.requests("/a")
    assert (one.method, one.values("X-A"), one.header("User-Agent")) == ("GET", ["1", "2"], "own/1")
    assert one.header("Authorization") == "Basic dTpwOnE="
    assert (two.method, two.body) == ("POST", b"a=b")
    assert two.header("Content-Type") == "application/x-www-form-urlencoded"
    assert (three.method, three.body, three.values("Content-Type")) == ("PUT", b"from=a&file", ["x/y"])
    assert four.body == b"typed"
    assert five.method == "HEAD"


def test_get_uses_the_lifetime_of_the_command_line(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("nut", headers=[("Cache-Control", "no-cache")]))
    for more, count in [
        ([], 1),
        (["--expire-after=7d"], 1),
        (["--expire-after", "forever"], 1),
        (["--expire-after=0"], 2),
        (["--expire-after=none"], 3),
        (["--expire-after=1.5h", "--delivery=first"], 3),
    ]:
        done = nuthatch("get", server.url("/a"), "--policy=rfc9111", *more)
        assert (done.returncode, done.stdout, server.count()) == (0, b"nut", count), more
    explained = nuthatch("explain", server.url("/a"), "--policy=rfc9111", "--expire-after=1h").stdout
    assert b"expire-after (the lifetime is set by the request): 1 h" in explained and b"hit" in explained
    for more, fresh in [([], b"1, 0 of them fresh"), (["--expire-after=1h"], b"1, 1 of them fresh")]:
        assert fresh in nuthatch("stat", "--policy=rfc9111", *more).stdout


@pytest.mark.parametrize("word", ["always", "first"])
def test_get_checks_bytes_that_change_on_the_disk(
    word: str, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/a", ok("hazelnuts" * 1000, headers=[("Cache-Control", "max-age=600")]))
    command = ["get", server.url("/a"), "--cache=c", f"--check-bytes={word}"]
    # While a process has the directory open, a record is checked only once.
    with importlib.import_module("nuthatch").Cache(tmp_path / "c"):
        for _ in range(2):
            assert nuthatch(*command).stdout == b"hazelnuts" * 1000
        (pack,) = [path for path in (tmp_path / "c" / "packs").iterdir() if b"hazelnuts" in path.read_bytes()]
        with pack.open("r+b") as file:
            file.seek(pack.read_bytes().index(b"hazelnuts"))
            file.write(b"walnuts, ")
        assert (nuthatch(*command).stdout[:9] == b"hazelnuts") is (word == "always")
    assert server.count() == (2 if word == "always" else 1)


def test_get_sends_named_headers_to_other_origins(server: TestServer, nuthatch: Runner) -> None:
    with TestServer() as other:
        server.on("/a", redirect(other.url("/b")))
        other.on("/b", ok("x"))
        said = ["-H", "X-One: 1", "-H", "X-Two: 2", "-H", "Authorization: 3", "--keep-headers-across-origins"]
        for names in ("x-one,Authorization", "x-one Authorization Host"):
            assert nuthatch("get", server.url("/a"), *said, names, "--policy=reload").returncode == 0
            seen = other.requests("/b")[-1]
            assert [seen.header(name) for name in ("x-one", "x-two", "authorization")] == ["1", None, "3"]
            assert seen.header("host") == other.url("").split("/")[2]


def test_get_follows_no_more_redirects_than_allowed(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", {**redirect("/b"), "steps": [body("moved")]})
    server.on("/b", {**redirect("/c"), "steps": [body("moved")]})
    server.on("/c", ok("there"))
    for word in ("none", "0"):
        done = nuthatch("get", server.url("/a"), "--redirects", word, "--verbose", "--cache", "c")
        assert (done.returncode, done.stdout) == (0, b"moved") and b" 302 " in done.stderr
    done = nuthatch("get", server.url("/a"), "--redirects", "1", "--cache", "c")
    assert done.returncode == 4
    assert (
        done.stderr.decode()
        == f"nuthatch: get: too_many_redirects: more than 1 redirect, the last from: {server.url('/b')}\n"
    )
    done = nuthatch("get", server.url("/a"), "--redirects", "2", "--cache", "c")
    assert (done.returncode, done.stdout) == (0, b"there")
    # The answer is found only with the same options.
    for more, is_there in [([], True), (["--redirects", "none"], False)]:
        done = nuthatch("explain", server.url("/a"), *more, "--cache", "c")
        assert (b"nothing is stored" not in done.stdout) == is_there


def test_get_sends_a_header_as_often_as_it_is_given(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", redirect("/b"))
    server.on("/b", ok("x"))
    again = ["-H", "A: 1", "-H", "a: 2", "--header=X-Token: 3", "-HX-Token: 4"]
    for more in ([], ["-X", "POST"], ["-d", "x"]):
        server.clear_log()
        assert nuthatch("get", *again, *more, server.url("/b"), "--cache", "c").returncode == 0
        assert nuthatch("get", *again, *more, server.url("/a"), "--cache", "c").returncode == 0
        for request in server.requests():
            assert (request.values("A"), request.values("X-Token")) == (["1", "2"], ["3", "4"])
        assert server.count() == 3
    server.clear_log()
    nuthatch("prefetch", *again, "-", "--cache", "c", given=server.url("/b?1").encode())
    assert [request.values("A") for request in server.requests()] == [["1", "2"]]


def test_get_sends_the_method_in_capitals(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("x"))
    for method, expected in [("post", b"x"), ("head", b""), ("Delete", b"x"), ("purge", b"x")]:
        done = nuthatch("get", "-X", method, server.url("/a"))
        assert (done.returncode, done.stdout) == (0, expected)
    assert [request.method for request in server.requests()] == ["POST", "HEAD", "DELETE", "purge"]


def test_get_refuses_an_empty_cache_key(server: TestServer, nuthatch: Runner) -> None:
    for command in (["get"], ["get", "--size", "16"], ["explain"], ["rm"]):
        done = nuthatch(*command, "--cache-key", "", server.url("/a"))
        assert done.returncode == 2 and b"key" in done.stderr, command
    assert server.count() == 0


def test_get_sends_forms_json_and_files(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    (tmp_path / "nut.jpg").write_bytes(b"\xff\xd8" * 1_000_000)
    url = server.url("/a")
    for arguments in (
        ["--method", "POST", "--form", "title=a=b", "-F", "picture=@nut.jpg;type=image/jpeg;filename=n"],
        ["--json", '{"a": 1}'],
        ["--data", "a=1", "--data", "b=2"],
        ["-d@nut.jpg", "-X", "PUT", "-H", "Content-Type: image/jpeg"],
    ):
        done = nuthatch("get", url, *arguments)
        assert (done.returncode, done.stdout) == (0, b"x"), done.stderr
    form, json, two, file = server.requests("/a")
    assert form.method == "POST" and (form.header("Content-Type") or "").startswith("multipart/form-data; ")
    assert b'name="title"\r\n\r\na=b\r\n' in form.body
    assert b'name="picture"; filename="n"\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8' in form.body
    assert (json.body, json.header("Content-Type")) == (b'{"a": 1}', "application/json")
    assert two.body == b"a=1&b=2"
    assert (file.method, len(file.body), file.values("Content-Type")) == ("PUT", 2_000_000, ["image/jpeg"])
    assert nuthatch("get", url, "--form", "novalue").returncode == 2
    assert nuthatch("get", url, "--data", "a", "--json", "1").returncode == 2
    assert nuthatch("get", url, "--form", "f=@missing").returncode == 2
    assert len(server.requests("/a")) == 4


def test_get_resumes_a_broken_transfer(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    half = script(headers=[("ETag", '"1"'), ("Content-Length", "256000")], steps=[body(content[:100_000])])
    server.on("/a", half)
    url = server.url("/a")
    done = nuthatch("get", url, "-o", "file", "--retries", "0")
    assert (done.returncode, done.stderr[:24]) == (4, b"nuthatch: get: truncated")
    assert names(tmp_path) == [".file.nuthatch-info", ".file.nuthatch-part"]
    server.on("/a", ok(content, etag='"1"', ranges=True))
    assert nuthatch("get", url, "-o", "file", "-o", "copy").returncode == 0
    assert server.requests("/a")[-1].header("Range") == "bytes=100000-"
    assert (tmp_path / "file").read_bytes() == (tmp_path / "copy").read_bytes() == content
    assert nuthatch("get", url, "-o", "file", "--append").returncode == 0
    assert (tmp_path / "file").read_bytes() == content * 2
    server.on("/b", half)
    assert nuthatch("get", server.url("/b"), "-o", "other", "--retries", "0", "--no-resume").returncode == 4
    assert names(tmp_path) == ["copy", "file"]


def test_get_resumes_the_transfer_of_a_killed_process(
    server: TestServer, nuthatch: Runner, environment: Dict[str, str], tmp_path: Path
) -> None:
    content = os.urandom(1 << 20) * 6
    head = [("ETag", '"1"'), ("Content-Length", str(len(content)))]
    # The number of bytes is noted when some have come, after 4 MiB and after half a second.
    slow = drip(content[5 << 20 : (5 << 20) + 1000], 50)
    server.on("/a", script(headers=head, steps=[body(content[: 5 << 20]), slow]))
    command = [COMMAND, "get", server.url("/a"), "-o", str(tmp_path / "file")]
    with subprocess.Popen(command, env=environment) as process:
        info = tmp_path / ".file.nuthatch-info"
        due = time.monotonic() + 40
        noted = None
        while (not noted or int(noted[1]) < 4 << 20) and time.monotonic() < due:
            time.sleep(0.01)
            noted = re.search(r"^bytes (\d+)$", info.read_text(), re.MULTILINE) if info.exists() else None
        process.kill()
    server.on("/a", ok(content, etag='"1"', ranges=True))
    assert nuthatch("get", server.url("/a"), "-o", "file").returncode == 0
    assert int((server.requests("/a")[-1].header("Range") or "=0-")[6:-1]) >= 4 << 20
    assert (tmp_path / "file").read_bytes() == content
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system can be mounted by root only")
def test_get_to_a_full_disk_fails_and_leaves_no_file(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        server.on("/announced", ok(bytes(2 << 20), etag='"1"'))
        server.on("/chunked", script(headers=[("ETag", '"1"')], steps=[chunk(bytes(2 << 20)), LAST_CHUNK]))
        for path in ("/announced", "/chunked"):
            done = nuthatch("get", server.url(path), "-o", "small/file")
            assert (done.returncode, done.stderr[:23]) == (1, b"nuthatch: get: no_space")
            assert names(small) == []
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_get_ends_at_its_limits(server: TestServer, nuthatch: Runner) -> None:
    server.on("/never", script(steps=[server.gate("g").step, body("x")]))
    server.on("/large", ok("x" * 2000))
    for arguments, word in [
        (["--timeout", "0.2", server.url("/never")], b"timeout"),
        (["--timeout=none", "--deadline=0.2", server.url("/never")], b"timeout"),
        (["--max-bytes", "1K", server.url("/large")], b"too_large"),
    ]:
        done = nuthatch("get", *arguments)
        assert (done.returncode, done.stderr.split(b": ")[2]) == (4, word)
    assert nuthatch("get", "--max-bytes", "2k", server.url("/large")).returncode == 0


@pytest.mark.parametrize("number, code", [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_get_ends_with_the_signals_exit_status(
    server: TestServer, environment: Dict[str, str], tmp_path: Path, number: int, code: int
) -> None:
    gate = server.gate("never")
    server.on("/a", script(steps=[body("x"), gate.step, body("y")]))
    command = [COMMAND, "get", server.url("/a"), "-o", str(tmp_path / "file")]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, preexec_fn=heed_signals
    ) as process:
        assert gate.wait_until_reached()
        process.send_signal(number)
        assert process.wait(60) == code
    assert names(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_get_leaves_an_ignored_interrupt_ignored(
    server: TestServer, environment: Dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[gate.step, body("x")]))
    command = ["sh", "-c", f"trap '' {number.name[3:]}; exec '{COMMAND}' get '{server.url('/a')}'"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert gate.wait_until_reached()
        process.send_signal(number)
        gate.open()
        assert process.communicate(timeout=60)[0] == b"x"
    assert process.returncode == 0


def test_get_into_a_closed_pipe_prints_nothing(server: TestServer, environment: Dict[str, str]) -> None:
    server.on("/a", ok("x" * 1_000_000))
    command = f"'{COMMAND}' get '{server.url('/a')}'; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"{{ {command}; }} | head -c 1"], env=environment, capture_output=True, check=False
    )
    assert (done.stdout, done.stderr) == (b"x", b"141\n")


def test_get_without_a_usable_cache_fails(nuthatch: Runner) -> None:
    done = nuthatch("get", "http://127.0.0.1:1/", "--cache", "/dev/null/x")
    assert (done.returncode, done.stderr[:18]) == (1, b"nuthatch: get: io:")


def test_get_says_why_a_cache_can_not_be_created(environment: Dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    # Without its privileges, root must obey the modes of folders as other users do.
    unprivileged = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
    command = [
        *unprivileged,
        COMMAND,
        "get",
        "http://127.0.0.1:1/",
        "--cache",
        str(tmp_path / "closed" / "x"),
    ]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert done.returncode == 1 and b"Permission denied" in done.stderr


def test_get_shows_no_password_in_a_message(nuthatch: Runner) -> None:
    done = nuthatch("get", "http://user:sesame@127.0.0.1:1/")
    assert done.returncode == 4
    assert b"sesame" not in done.stderr and b"***@127.0.0.1" in done.stderr


def test_get_writes_into_files_that_a_shell_has_opened(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    """Under any path. Earlier output stays there, and output of other programs, too."""
    server.on("/a", ok("hello\n"))
    server.on("/b", answer(404))
    server.on("/c", ok(png(9, 9), "image/png"))
    script = """
        echo first
        "$0" get "$1/a" -o /dev/stdout
        "$0" get "$1/a" --output /proc/self/fd/3
        ln -s /dev/fd/1 link
        "$0" get "$1/a" -o link
        echo "$1/b" | "$0" prefetch --failed-out /dev/stderr 2>> errors
        echo "$1/c" | "$0" prefetch --report /dev/fd/4 4>> page
        "$0" get -s 9 "$1/c" -o /dev/stdout >> picture
        echo last
    """
    (tmp_path / "picture").write_bytes(b"before")
    (tmp_path / "page").write_bytes(b"before")
    with (tmp_path / "out").open("wb") as out:
        command = ["sh", "-c", f"exec 3>&1; {script}", COMMAND, server.url("")]
        subprocess.run(command, env=environment, cwd=str(tmp_path), stdout=out, check=True, timeout=60)
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[:4] == ["first", "hello", "hello", "hello"]
    assert lines[-1] == "last"
    said = (tmp_path / "errors").read_text().splitlines()
    assert server.url("/b") in said, "beside the messages"
    assert any(line.startswith("nuthatch: ") for line in said)
    assert (tmp_path / "picture").read_bytes().startswith(b"before\x89PNG")
    assert (tmp_path / "page").read_bytes().startswith(b"before<!")


def test_a_full_disk_is_not_reported_as_a_closed_pipe(
    server: TestServer, environment: Dict[str, str]
) -> None:
    server.on("/a", ok("x" * 100_000))
    for arguments in (["get", server.url("/a")], ["--version"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, *arguments], env=environment, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert b"standard output can't be written: No space left" in done.stderr


@pytest.mark.parametrize(
    "closed, arguments, code",
    [
        (">&-", "PLAIN", 1),
        ("2>&-", "MISSING -o file", 4),
        ("<&-", "PLAIN -d @-", 2),
        (">&- 2>&- <&-", "PLAIN", 1),
    ],
)
def test_get_fails_with_its_usual_status_if_standard_descriptors_are_closed(
    closed: str, arguments: str, code: int, server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    """Connections and files must not get their numbers: messages would be written into them."""
    server.on("/a", ok("x"))
    line = arguments.replace("PLAIN", server.url("/a")).replace("MISSING", server.url("/404"))
    command = ["sh", "-c", f"'{COMMAND}' get {line} {closed}"]
    assert subprocess.run(command, env=environment, cwd=str(tmp_path), timeout=60).returncode == code


def test_get_writes_into_a_non_blocking_pipe(server: TestServer, environment: Dict[str, str]) -> None:
    server.on("/a", ok("x" * 1_000_000))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with open(reading, "rb") as file:
        with subprocess.Popen([COMMAND, "get", server.url("/a")], env=environment, stdout=writing) as process:
            os.close(writing)
            assert len(file.read()) == 1_000_000
        assert process.returncode == 0


def test_get_can_be_interrupted_while_its_pipe_has_no_reader(
    server: TestServer, environment: Dict[str, str]
) -> None:
    server.on("/a", ok("x" * 1_000_000))
    command = [COMMAND, "get", server.url("/a")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        # After one byte has come, the command is writing the rest, and the pipe is full.
        assert process.stdout.read1(1) == b"x"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
        assert process.stderr.read() == b""


def test_get_replaces_a_draft_that_another_run_left(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    """In a container, every run may have the same process number."""
    server.on("/a", ok("new"))
    line = f"for n in 0 1; do : >.nuthatch-$$-$n.part; done; exec '{COMMAND}' get {server.url('/a')} -o file"
    assert subprocess.run(["sh", "-c", line], env=environment, cwd=str(tmp_path)).returncode == 0
    assert (tmp_path / "file").read_text() == "new"
    left = [name for name in names(tmp_path) if name.endswith(".part")]
    assert len(left) == 2, "another run's files are its own"


def test_get_writes_through_links_and_accepts_long_names(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/a", ok("new"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "to-nothing").symlink_to("folder/made")
    assert nuthatch("get", server.url("/a"), "-o", "to-nothing").returncode == 0
    assert (tmp_path / "to-nothing").is_symlink() and (tmp_path / "folder" / "made").read_text() == "new"
    (tmp_path / "loop").symlink_to("loop")
    assert nuthatch("get", server.url("/a"), "-o", "loop").returncode == 1
    assert (tmp_path / "loop").is_symlink()
    assert nuthatch("get", server.url("/a"), "-o", "n" * 255).returncode == 0
    (tmp_path / "private").write_text("old")
    (tmp_path / "private").chmod(0o600)
    assert nuthatch("get", server.url("/a"), "-o", "private").returncode == 0
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600
    assert nuthatch("get", server.url("/a"), "-o", "folder").returncode == 1


def test_messages_of_all_commands_show_no_password(server: TestServer, nuthatch: Runner) -> None:
    with_password = server.url("/404").replace("//", "//user:sesame@")
    for url in (
        with_password,
        "http://user:a/sesame@host/",
        "user:sesame@host/",
        "http://user:sesame@ho st/",
    ):
        done = nuthatch("get", url, "-o", "file")
        assert done.returncode == 4 and b"sesame" not in done.stderr
    done = nuthatch("explain", with_password)
    assert b"nothing is stored" in done.stdout and b"sesame" not in done.stdout + done.stderr
    for proxy in ("http://user:sesame@ho:st/", "http://user:sesame@127.0.0.1:1/"):
        for arguments in (["--proxy", proxy, server.url("/a")], ["http://nuthatch.invalid/"]):
            done = nuthatch("get", "--retries=0", *arguments, http_proxy=proxy)
            assert done.returncode in (2, 4) and b"sesame" not in done.stderr


def test_get_prints_no_control_characters_of_a_server(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", script(status=404, reason="\x1b[31mred", steps=[body("x")]))
    done = nuthatch("get", server.url("/a"), "-o", "file")
    assert done.returncode == 4 and b"\x1b" not in done.stderr and b"red" in done.stderr


def test_arguments_that_are_not_utf8_are_refused(environment: Dict[str, str]) -> None:
    command = [COMMAND.encode(), b"get", b"http://x/", b"-o", b"\xff"]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert (done.returncode, done.stderr[:31]) == (2, b"nuthatch: argument 4 is not UTF")


def test_get_uses_policy_partition_and_cache_key_of_the_command_line(
    server: TestServer, nuthatch: Runner
) -> None:
    server.on("/a", ok("nut", headers=[("Cache-Control", "max-age=60")]))
    url = server.url("/a")
    assert nuthatch("get", url, "--policy", "offline").stderr.startswith(b"nuthatch: get: offline")
    for arguments, requests in [
        ([], 1),
        (["--policy=rfc9111"], 1),
        (["--policy=offline"], 1),
        (["--policy=reload"], 2),
        (["--partition=mine"], 3),
        (["--cache-key=other"], 4),
        (["--ignore-query"], 4),
    ]:
        done = nuthatch(
            "get", f"{url}{'?signature=1' if arguments == ['--ignore-query'] else ''}", *arguments
        )
        assert (done.returncode, done.stdout) == (0, b"nut"), arguments
        assert len(server.requests("/a")) == requests, arguments


def test_get_uses_address_guard_retries_and_cache_directory(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/a", ok("nut"))
    server.on("/busy", answer(503))
    denied = nuthatch("get", server.url("/a"), "--addresses=public")
    assert (denied.returncode, denied.stderr[:21]) == (4, b"nuthatch: get: denied")
    assert nuthatch("get", server.url("/a"), "--addresses=any", "--per-host=1", "--rate=5").returncode == 0
    nuthatch("get", server.url("/busy"), "--retries=0")
    assert len(server.requests("/busy")) == 1
    small = nuthatch("get", server.url("/a"), "--disk-bytes=1M")
    assert (small.returncode, small.stderr[:22]) == (2, b"nuthatch: --disk-bytes")
    stored = ["--disk-bytes=8M", "--memory-bytes=1M", "--spill=pressure", "--thumb-store=raw"]
    assert nuthatch("get", server.url("/a"), *stored, "--cache", "other").stdout == b"nut"
    assert (tmp_path / "other").is_dir()


def test_get_signs_in_with_a_netrc_file(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    (tmp_path / "passwords").write_text("machine 127.0.0.1 login ann password pw\n")
    (tmp_path / ".netrc").write_text("default login any password one\n")
    server.on("/a", ok("x"))
    url = server.url("/a")
    for arguments in (["--netrc-file", "passwords"], ["--netrc"], [], ["--netrc", "--user", "bob:x"]):
        assert nuthatch("get", url, *arguments, HOME=str(tmp_path), NETRC="").returncode == 0
    sent = [request.header("Authorization") for request in server.requests("/a")]
    assert sent == ["Basic YW5uOnB3", "Basic YW55Om9uZQ==", None, "Basic Ym9iOng="]
    missing = nuthatch("get", url, "--netrc-file", "missing")
    assert (missing.returncode, missing.stderr[:16]) == (1, b"nuthatch: get: i")


def test_get_stores_and_sends_cookies(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    login = {**redirect("/home", 303), "headers": [("Location", "/home"), ("Set-Cookie", "id=7; Path=/")]}
    server.on("/login", login)
    server.on("/home", ok("x"))
    assert nuthatch("get", "--cookie-jar=disk", "--form", "user=ann", server.url("/login")).stdout == b"x"
    for arguments in (["--cookie-jar", "disk"], []):
        assert nuthatch("get", server.url("/home?again"), *arguments).returncode == 0
    sent = [request.header("Cookie") for request in server.requests("/home")]
    assert sent == ["id=7", "id=7", None]
    for arguments in (["--cookie-jar", "disk"], []):
        assert nuthatch("get", "http://", *arguments).returncode == 4
