"""Config files: what they may have, which value holds, mistakes, and files that are refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional

import pytest
from command import COMMAND, Runner
from pictures import png
from secure_server import SecureServer, make_certificate, needs_openssl
from testserver import TestServer, ok, redirect

ROOT = Path(__file__).resolve().parents[2]

Write = Callable[..., Path]


@pytest.fixture
def environment(environment: Dict[str, str], tmp_path: Path) -> Dict[str, str]:
    kept = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
    for name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        kept.pop(name, None)
    return {**kept, "HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the user's file, or another one."""

    def write(text: str, name: str = "xdg/nuthatch/config.toml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        return path

    return write


@pytest.fixture
def config(nuthatch: Runner) -> Callable[..., List[Dict[str, Any]]]:
    """Returns what `nuthatch config` tells."""

    def config(*arguments: str, **env: str) -> List[Dict[str, Any]]:
        done = nuthatch("config", "--format", "json", *arguments, **env)
        assert done.returncode == 0, done.stderr
        found: List[Dict[str, Any]] = json.loads(done.stdout)
        return found

    return config


Config = Callable[..., List[Dict[str, Any]]]


def one(values: List[Dict[str, Any]], name: str, host: Optional[str] = None) -> Dict[str, Any]:
    (found,) = [value for value in values if value["name"] == name and value["host"] == host]
    return found


def sent(server: TestServer, path: str) -> Dict[str, str]:
    """The headers of the last request for a path, by their names in lower case."""
    request = [request for request in server.requests() if request.path == path][-1]
    return {name.lower(): value for name, value in request.headers}


# Which value holds


def test_the_users_file_is_read_and_the_command_line_overrides_it(
    nuthatch: Runner, server: TestServer, write: Write
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "no-store")]))
    write('user_agent = "file"\nheaders = { X-One = "file", X-Two = "file" }\n')
    assert nuthatch("get", server.url("/a")).returncode == 0
    headers = sent(server, "/a")
    assert (headers["user-agent"], headers["x-one"], headers["x-two"]) == ("file", "file", "file")
    assert nuthatch("get", "--user-agent", "line", "-H", "x-one: line", server.url("/a")).returncode == 0
    headers = sent(server, "/a")
    assert (headers["user-agent"], headers["x-one"], headers["x-two"]) == ("line", "line", "file")


def test_files_can_be_named_and_left_out(
    nuthatch: Runner, server: TestServer, write: Write, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "no-store")]))
    write('user_agent = "user"\nheaders = { X-User = "1" }')
    write('user_agent = "named"\n', "named.toml")
    assert nuthatch("get", "--config", "named.toml", server.url("/a")).returncode == 0
    headers = sent(server, "/a")
    assert headers["user-agent"] == "named" and "x-user" not in headers
    assert nuthatch("get", "--no-config", server.url("/a")).returncode == 0
    assert sent(server, "/a")["user-agent"].startswith("nuthatch/")
    both = nuthatch("get", "--no-config", "--config=named.toml", server.url("/a"))
    assert (both.returncode, both.stderr.count(b"exclude each other")) == (2, 1)
    missing = nuthatch("get", "--config", "none.toml", server.url("/a"))
    assert (missing.returncode, missing.stderr.count(b"none.toml: there is no such config file")) == (2, 1)


def test_without_xdg_config_home_the_file_is_in_the_home(config: Config, write: Write) -> None:
    path = write("retries = 7\n", "home/.config/nuthatch/config.toml")
    for base in ("", "relative"):
        found = one(config(XDG_CONFIG_HOME=base), "retries")
        assert (found["value"], found["file"], found["line"]) == ("7", str(path), 1)


def test_config_tells_where_each_value_comes_from(config: Config, write: Write, tmp_path: Path) -> None:
    path = write(
        'retries = 7\ntimeout = "9s"\nmax_bytes = 4096\nproxy = "http://ann:hunter2@p.test/"\ninsecure = true\n'
    )
    values = config("--timeout", "4s", http_proxy="")
    where = {"file": str(path), "variable": None, "host": None}
    assert one(values, "retries") == {"name": "retries", "value": "7", "source": "user", "line": 1, **where}
    assert one(values, "proxy")["value"] == "http://ann:***@p.test/"
    assert one(values, "insecure")["value"] == "true"
    given = one(values, "timeout")
    assert (given["value"], given["source"], given["line"]) == ("4s", "command line", None)
    assert one(values, "cache")["source"] == "environment"
    assert one(values, "cache")["variable"] == "NUTHATCH_CACHE"
    usual = one(values, "redirects")
    assert (usual["value"], usual["source"], usual["file"]) == ("10", "default", None)
    of_environment = one(config(http_proxy="http://ann:hunter2@q.test/"), "proxy")
    assert (of_environment["source"], of_environment["value"]) == ("environment", "http://ann:***@q.test/")


def test_the_text_of_config_has_the_lines(nuthatch: Runner, write: Write) -> None:
    path = write('retries = 7\n[host."a.test"]\ntimeout = "9s"\n')
    lines = nuthatch("config", "--redirects", "3").stdout.decode().splitlines()
    words = [line.split() for line in lines]
    assert ["retries", "7", f"{path}:1"] in words
    assert ["redirects", "3", "command", "line"] in words
    assert ["heuristic", "0.1", "default"] in words
    assert words[-2:] == [['[host."a.test"]'], ["timeout", "9s", f"{path}:3"]]


def test_the_environment_overrides_the_file(
    nuthatch: Runner, config: Config, server: TestServer, write: Write, tmp_path: Path
) -> None:
    server.on("/a", ok("x"))
    write(f'cache = "{tmp_path}/filed"\nproxy = "{server.url("")}"')
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert not (tmp_path / "filed").exists() and (tmp_path / "cache").exists()
    assert nuthatch("get", server.url("/a"), NUTHATCH_CACHE="").returncode == 0
    assert (tmp_path / "filed").exists()
    with TestServer() as proxy:
        proxy.on_prefix("/", ok("by proxy"))
        got = nuthatch("get", "http://p.test/b", http_proxy=proxy.url(""))
        assert got.stdout == b"by proxy"


def test_certificates_of_the_environment_override_those_of_the_file(config: Config, write: Write) -> None:
    write('ca_file = "/filed.pem"\nca_dir = "/filed"\n')
    assert [one(config(), name)["value"] for name in ("ca_file", "ca_dir")] == ["/filed.pem", "/filed"]
    values = config(SSL_CERT_FILE="/set.pem")
    assert one(values, "ca_file")["value"] == "/set.pem" and one(values, "ca_dir")["value"] is None
    values = config(SSL_CERT_DIR="/set")
    assert one(values, "ca_file")["value"] is None and one(values, "ca_dir")["value"] == "/set"
    assert one(config("--cacert", "/given.pem", SSL_CERT_FILE="/set.pem"), "ca_file")["value"] == "/given.pem"


def test_config_shows_no_certificates_beside_those_of_the_command_line(config: Config, write: Write) -> None:
    for text, variable in [
        ("", "SSL_CERT_DIR"),
        ("", "SSL_CERT_FILE"),
        ('ca_file = "/f"\nca_dir = "/d"', "X"),
    ]:
        write(text)
        for option, name, other in [("--cacert", "ca_file", "ca_dir"), ("--capath", "ca_dir", "ca_file")]:
            values = config(option, "/given", **{variable: "/set"})
            assert (one(values, name)["value"], one(values, other)["value"]) == ("/given", None)
            assert one(values, other)["source"] == "command line"


def test_config_leaves_out_what_the_command_line_overrides_in_sections(config: Config, write: Write) -> None:
    write(
        '[host."a.test"]\nuser_agent = "a"\ntimeout = 1\nrate = 2\nca_dir = "/d"\nuser = "ann:nuts"\n'
        'headers = { Authorization = "a", X-A = "a", X-B = "b" }\n[host."b.test"]\nauth_command = ["a"]\n'
    )

    def shown(*arguments: str) -> List[str]:
        return [value["name"] for value in config(*arguments) if value["host"]]

    given = ["--user-agent", "x", "--timeout", "2", "-H", "x-a: x", "--rate", "3", "--cacert", "/g"]
    assert shown(*given) == ["user", "headers", "headers", "auth_command"]
    assert shown(*given, "--netrc") == ["headers"]
    assert len(shown()) == 9


def test_config_takes_every_option_that_a_file_may_have(config: Config) -> None:
    values = config("--max-pixels", "5M", "--keep-source", "no", "-k", "--netrc", "--per-host-grows")
    for name, value in {"max_pixels": "5M", "keep_source": "no", "insecure": "true", "netrc": ""}.items():
        assert (one(values, name)["value"], one(values, name)["source"]) == (value, "command line")


def test_a_home_is_put_in_place_of_a_tilde(config: Config, write: Write, tmp_path: Path) -> None:
    write('ca_file = "~/ca.pem"\ncache = "~/thumbs"')
    values = config(NUTHATCH_CACHE="")
    assert one(values, "ca_file")["value"] == str(tmp_path / "home" / "ca.pem")
    assert one(values, "cache")["value"] == str(tmp_path / "home" / "thumbs")


def in_other_etc(folder: Path, *command: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a command with another /etc."""
    script = 'mount --bind "$0" /etc && exec "$@"'
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(folder), *command],
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_the_users_file_overrides_the_systems(
    environment: Dict[str, str], write: Write, tmp_path: Path
) -> None:
    etc = tmp_path / "etc"
    write(
        'retries = 1\ntimeout = "1s"\nheaders = { X-A = "s", X-B = "s" }\n'
        '[host."a.test"]\nretries = 1\nheaders = { X-A = "s", X-B = "s" }\n',
        "etc/nuthatch/config.toml",
    )
    if shutil.which("unshare") is None or in_other_etc(etc, "true", **environment).returncode != 0:
        pytest.skip("this machine allows no mounts")
    write('retries = 2\nheaders = { X-A = "u" }\n[host."a.test"]\nretries = 2\nheaders = { x-a = "u" }\n')
    done = in_other_etc(etc, COMMAND, "config", "--format", "json", **environment)
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    for host in (None, "a.test"):
        assert one(values, "retries", host)["source"] == "user"
        headers = [value for value in values if value["name"] == "headers" and value["host"] == host]
        assert sorted((value["value"].lower(), value["source"]) for value in headers) == [
            ("x-a: …", "user"),
            ("x-b: …", "system"),
        ]
    assert one(values, "timeout")["source"] == "system"
    assert one(values, "timeout")["file"] == "/etc/nuthatch/config.toml"


def test_the_example_of_the_document_has_no_mistake_and_holds(
    nuthatch: Runner, config: Config, write: Write
) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/CONFIG.md").read_text()
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    write(example)
    done = nuthatch("config", "check")
    assert (done.returncode, done.stderr) == (0, b"")
    values = config(NUTHATCH_CACHE="")
    assert one(values, "disk_bytes")["value"] == "20GiB"
    assert one(values, "rate", "img.example.org")["value"] == "5"
    assert one(values, "auth_command", "api.example.org")["value"] == "/usr/local/bin/api-token --read-only"


# Certificates


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[SecureServer]:
    server = SecureServer(tmp_path)
    # Neither the server's certificate nor its issuer.
    make_certificate(tmp_path, "other")
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(server.certificate, folder)
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    yield server
    server.stop()


@needs_openssl
def test_certificates_of_the_command_line_replace_those_of_the_file(
    nuthatch: Runner, secure: SecureServer, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for place in ("", f'[host."{secure.url("")}"]\n'):
        for option, given in [
            (f'ca_dir = "{tmp_path}/folder"', ["--cacert", "other.pem"]),
            (f'ca_file = "{secure.certificate}"', ["--capath", "empty"]),
        ]:
            write(f"{place}{option}\n")
            done = nuthatch("get", secure.url())
            assert (done.returncode, done.stdout) == (0, b"secure"), done.stderr
            done = nuthatch("get", *given, secure.url())
            assert (done.returncode, done.stderr[:19]) == (4, b"nuthatch: get: tls:")


@needs_openssl
def test_certificates_of_a_section_replace_those_above(
    nuthatch: Runner, secure: SecureServer, write: Write, tmp_path: Path
) -> None:
    one, two = f'ca_dir = "{tmp_path}/folder"', f'ca_file = "{tmp_path}/other.pem"'
    host = secure.url("").split("//")[1].rstrip("/")
    for general in ("", f'[host."{host}"]'):
        write(f'{general}\n{one}\n[host."{secure.url("")}"]\n{two}\n')
        done = nuthatch("get", secure.url())
        assert (done.returncode, done.stderr[:19]) == (4, b"nuthatch: get: tls:")
        write(f'{general}\n{two}\n[host."{secure.url("")}"]\n{one}\n')
        assert nuthatch("get", secure.url()).stdout == b"secure"
    # Both in one place are used together.
    write(f"{one}\n{two}\n")
    assert nuthatch("get", secure.url()).stdout == b"secure"


@needs_openssl
def test_certificates_of_the_users_file_replace_those_of_the_systems(
    environment: Dict[str, str], secure: SecureServer, write: Write, tmp_path: Path
) -> None:
    etc = tmp_path / "etc"
    write(f'ca_dir = "{tmp_path}/folder"\n', "etc/nuthatch/config.toml")
    if shutil.which("unshare") is None or in_other_etc(etc, "true", **environment).returncode != 0:
        pytest.skip("this machine allows no mounts")
    assert in_other_etc(etc, COMMAND, "get", secure.url(), **environment).stdout == b"secure"
    write(f'ca_file = "{tmp_path}/other.pem"\n')
    assert in_other_etc(etc, COMMAND, "get", secure.url(), **environment).returncode == 4


# Hosts


def test_a_host_gets_its_headers_and_no_other_host(
    nuthatch: Runner, server: TestServer, write: Write, tmp_path: Path
) -> None:
    with TestServer() as other:
        for one_server in (server, other):
            one_server.on("/a", ok(png(8, 8), "image/png"))
        write(
            f'[host."{server.url("")}"]\nheaders = {{ Authorization = "Bearer hunter2" }}\nuser_agent = "h"\n'
        )
        (tmp_path / "list").write_text(f"{server.url('/a')}\n{other.url('/a')}\n")
        assert nuthatch("prefetch", "list").returncode == 0
        assert sent(server, "/a")["authorization"] == "Bearer hunter2"
        assert sent(server, "/a")["user-agent"] == "h"
        assert "authorization" not in sent(other, "/a")
        assert sent(other, "/a")["user-agent"] != "h"
        # The same options lead to the same stored answer.
        again = nuthatch("prefetch", "--dry-run", "--format", "jsonl", "list")
        assert [json.loads(line)["plan"] for line in again.stdout.splitlines()] == ["hit", "hit"]
        explained = nuthatch("explain", "--size", "256", server.url("/a"))
        assert explained.stdout.startswith(b"hit")
        assert nuthatch("explain", "--no-config", "--size", "256", server.url("/a")).stdout.startswith(
            b"fetch"
        )


def test_headers_of_a_host_do_not_follow_a_redirect_to_another(
    nuthatch: Runner, server: TestServer, write: Write
) -> None:
    with TestServer() as other:
        other.on("/b", ok("x"))
        server.on("/a", redirect(other.url("/b")))
        write(f'[host."{server.url("")}"]\nheaders = {{ X-Token = "hunter2" }}\n')
        assert nuthatch("get", server.url("/a")).stdout == b"x"
        assert sent(server, "/a")["x-token"] == "hunter2"
        assert "x-token" not in sent(other, "/b")


def test_the_command_line_overrides_a_host_and_a_host_the_top(
    nuthatch: Runner, server: TestServer, write: Write
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "no-store")]))
    host = server.url("").split("//")[1].rstrip("/")
    write(
        f'user_agent = "top"\n[host."{server.url("")}"]\nuser_agent = "origin"\n[host."{host}"]\nuser_agent = "port"\n'
        '[host."127.0.0.1"]\nuser_agent = "other port"\nheaders = { X-A = "no" }\n'
    )
    nuthatch("get", server.url("/a"))
    headers = sent(server, "/a")
    assert headers["user-agent"] == "origin" and "x-a" not in headers
    nuthatch("get", "--user-agent", "line", server.url("/a"))
    assert sent(server, "/a")["user-agent"] == "line"


def test_a_host_signs_in_with_a_netrc_or_user(
    nuthatch: Runner, server: TestServer, write: Write, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "no-store")]))
    write("machine 127.0.0.1 login ann password nuts\n", "netrc")
    write(f'[host."{server.url("")}"]\nnetrc = "{tmp_path}/netrc"\n')
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert sent(server, "/a")["authorization"] == "Basic YW5uOm51dHM="
    for usual in ('""', "true"):
        write(f'[host."{server.url("")}"]\nnetrc = {usual}\n')
        assert nuthatch("get", server.url("/a"), NETRC=str(tmp_path / "netrc")).returncode == 0
        assert sent(server, "/a")["authorization"] == "Basic YW5uOm51dHM="
    write(f'[host."{server.url("")}"]\nuser = "bob:nuts"\n')
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert sent(server, "/a")["authorization"] == "Basic Ym9iOm51dHM="
    assert nuthatch("get", "--user", "ann:nuts", server.url("/a")).returncode == 0
    assert sent(server, "/a")["authorization"] == "Basic YW5uOm51dHM="


#: The header of `ann:nuts`.
ANN = "Basic YW5uOm51dHM="


@pytest.mark.parametrize(
    "section",
    [
        'user = "bob:nuts"',
        'headers = { Authorization = "Bearer section" }',
        'headers = { Authorization = "Bearer section" }\nuser = "bob:nuts"',
        'auth_command = ["echo", "section"]',
        "netrc = true",
    ],
)
def test_the_command_line_signs_in_and_not_the_section(
    nuthatch: Runner, server: TestServer, write: Write, section: str
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "no-store")]))
    write("machine 127.0.0.1 login ann password nuts\n", "netrc")
    write("machine 127.0.0.1 login bob password nuts\n", "home/.netrc")
    write(f'[host."{server.url("")}"]\n{section}\n')
    named = server.url("/a").replace("//", "//ann:nuts@")
    for arguments, wanted in [
        (["--netrc-file", "netrc"], ANN),
        (["--user", "ann:nuts"], ANN),
        (["--bearer", "line"], "Bearer line"),
        (["-H", "authorization: Bearer line"], "Bearer line"),
        ([named], ANN),
    ]:
        place = [] if named in arguments else [server.url("/a")]
        assert nuthatch("get", *arguments, *place).returncode == 0
        assert sent(server, "/a")["authorization"] == wanted, arguments
    assert nuthatch("get", "--netrc", server.url("/a"), NETRC="netrc").returncode == 0
    assert sent(server, "/a")["authorization"] == ANN
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert sent(server, "/a")["authorization"] in ("Basic Ym9iOm51dHM=", "Bearer section")


@pytest.mark.parametrize("special", ['user = "ann:nuts"', "netrc = true", 'auth_command = ["echo", "token"]'])
@pytest.mark.parametrize(
    "general", ['user = "bob:nuts"', 'headers = { Authorization = "x" }', 'auth_command = ["echo", "no"]']
)
def test_a_special_section_signs_in_and_not_a_general_one(
    nuthatch: Runner, server: TestServer, write: Write, special: str, general: str
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "no-store")]))
    write("machine 127.0.0.1 login ann password nuts\n", "home/.netrc")
    host = server.url("").split("//")[1].rstrip("/")
    write(f'[host."{server.url("")}"]\n{special}\n[host."{host}"]\n{general}\n')
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert sent(server, "/a")["authorization"] == ("Bearer token" if "token" in special else ANN)


def test_rm_without_options_removes_all_answers_whatever_the_file_says(
    nuthatch: Runner, server: TestServer, write: Write
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "max-age=60")]))
    write(f'[host."{server.url("")}"]\nheaders = {{ X-Token = "hunter2" }}\n')
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert nuthatch("get", "--no-config", server.url("/a")).returncode == 0
    assert nuthatch("rm", server.url("/a")).stdout == b"removed 2 answers\n"


def test_a_rate_of_a_host_limits_its_starts(
    nuthatch: Runner, server: TestServer, write: Write, tmp_path: Path
) -> None:
    with TestServer() as other:
        paths = [f"/{number}" for number in range(5)]
        for path in paths:
            for one_server in (server, other):
                one_server.on(path, ok(png(8, 8), "image/png"))
        write(f'[host."{server.url("")}"]\nrate = 2\n')
        (tmp_path / "limited").write_text("".join(server.url(path) + "\n" for path in paths))
        (tmp_path / "free").write_text("".join(other.url(path) + "\n" for path in paths))
        begin = time.monotonic()
        assert nuthatch("prefetch", "limited").returncode == 0
        # Five starts, half a second between two.
        assert time.monotonic() - begin >= 1.9
        assert (
            one(json.loads(nuthatch("config", "--format", "json").stdout), "rate", server.url(""))["value"]
            == "2"
        )
        assert nuthatch("prefetch", "free").returncode == 0


# Mistakes


@pytest.mark.parametrize(
    "text, place, words",
    [
        ("retries = 1\nretires = 2\n", "2:1", "did you mean retries?"),
        ("max-bytes = 5", "1:1", "its name is max_bytes here"),
        ("cacert = 5", "1:1", "its name is ca_file here"),
        ('header = "a"', "1:1", "its name is headers here"),
        ("cookies = true", "1:1", "goes into a section|its name is cookie_jar here"),
        ('method = "POST"', "1:1", "--method"),
        ("zzzzzz = 1", "1:1", "there is no option 'zzzzzz'"),
        ("timeout = 30s", "1:11", "needs quotes"),
        ('timeout = "30x"', "1:11", "timeout is '30x'; it must be 1 ms or more, or none"),
        ("timeout = true", "1:11", "in quotes"),
        ('  policy = "kitt"', "1:12", "policy is 'kitt'; it must be kit, rfc9111, offline or reload"),
        ("retries = 1001", "1:11", "retries is 1001"),
        ("retries = 1.5", "1:11", "retries is a number"),
        ("insecure = 1", "1:12", "true or false"),
        ('keep_source = "yes"', "1:15", "true or false"),
        ('ca_file = "ca.pem"', "1:11", "must begin with / or ~/"),
        ('proxy = "ftp://x"', "1:9", "proxy"),
        ('headers = "X: 1"', "1:11", "headers is a table"),
        ('headers = { "X Y" = "1" }', "1:21", "headers is 'X Y'"),
        ('headers = { Cookie = "hunter2" }', "1:13", "set it for a host"),
        ('user = "ann:hunter2"', "1:1", "goes into a section for a host"),
        ("host = 1", "1:1", "host is a section"),
        ("[host]\na = 1", "2:1", "host is a section"),
        ("[host.img.example.org]\nretries = 1", "1:11", "needs quotes"),
        ('[host."a b"]', "1:7", "is not host, host:port or https://host"),
        ('[host."a"]\nconcurrency = 1', "2:1", "counts for all hosts, and stands above all sections"),
        ('auth_command = ["/a"]', "1:1", "goes into a section"),
        ('[host."a"]\nauth_command = "/a b"', "2:16", "an array of texts"),
        ('[host."a"]\nauth_command = []', "2:16", "begins with / or ~/"),
        ('[host."a"]\nauth_command = ["./hunter2"]', "2:16", "begins with / or ~/"),
        ('[host."a"]\nauth_command = ["/a", 1]', "2:16", "an array of texts"),
        ('[host."a"]\nauth_comand = ["/a"]', "2:1", "did you mean auth_command?"),
        ('[host."a"]\nauth_timeout = "1s"', "2:1", "goes with auth_command"),
        ('[host."a"]\nauth_command = ["a"]\nauth_lifetime = "2d"', "3:17", "it must be 1s to 1d"),
        ('[host."a"]\nauth_command = ["a"]\nauth_timeout = "none"', "3:16", "it must be 100ms to 10m"),
        ('[host."a"]\nnetrc = true\nauth_command = ["a"]', "3:1", "exclude each other"),
        ('[host."a"]\nnetrc = 1', "2:9", "in quotes"),
        ('[host."a"]\ncache = "/x"', "2:1", "counts for all hosts"),
        ('[host."a"]\ncert_key = "/x"', "2:1", "goes with cert"),
        ('[host."a"]\nhaeders = {}', "2:1", "did you mean headers?"),
        # In other letters, and at another level.
        ("TIMEOUT = 1", "1:1", "its name is timeout here"),
        ('[host."a"]\nMax-Bytes = 1', "2:1", "its name is max_bytes here"),
        ("METHOD = 1", "1:1", "--method"),
        ('[Host."a"]\nretries = 1', "1:2", "did you mean host?"),
        (
            '[host."a"]\nConcurency = 1',
            "2:1",
            "did you mean concurrency? (concurrency counts for all hosts, and stands above all sections)",
        ),
        ('[host."a"]\ndisk-bytes = 1', "2:1", "its name is disk_bytes here (disk_bytes counts for all hosts"),
        (
            'auth_comand = ["a"]',
            "1:1",
            "did you mean auth_command? (auth_command goes into a section for a host",
        ),
        ('["img.example.org"]\nretries = 1', "1:2", '[host."img.example.org"]'),
        ('[host."a"]\nuser = ""', "2:8", "user is empty"),
        ("timeout = 1e-7", "1:11", "timeout is"),
        ("retries = 1e99", "1:11", "retries is"),
        ("date = 1979-05-27", "1:8", "dates"),
        ("retries = 1\nretries = 1", "2:1", "a second time"),
        ("retries = 1 \x00", "1:13", "NUL"),
        ("# \x1b[31m", "1:3", "control character"),
    ],
)
def test_a_mistake_has_its_place_and_the_nearest_name(
    nuthatch: Runner, write: Write, text: str, place: str, words: str
) -> None:
    path = write(text)
    for command in (["config", "check"], ["config", "check", str(path)]):
        checked = nuthatch(*command)
        said = checked.stderr.decode()
        assert (checked.returncode, said.count("\n")) == (2, 1), said
        assert said.startswith(f"{path}:{place}: "), said
        assert any(word in said for word in words.split("|")), said
        assert "hunter2" not in said
    for command in (["get", "http://127.0.0.1:9/"], ["ls"], ["config"]):
        refused = nuthatch(*command)
        assert (refused.returncode, refused.stdout) == (2, b"")
        assert refused.stderr.decode().startswith(f"nuthatch: {command[0]}: {path}:{place}: ")
    assert nuthatch("ls", "--no-config").returncode == 0
    assert nuthatch("help", "ls").returncode == 0 and nuthatch("ls", "--help").returncode == 0


def test_numbers_may_have_an_exponent_or_a_fraction_of_zero(config: Config, write: Write) -> None:
    write(
        "timeout = 1e3\nretries = 2.0\ndisk_bytes = 20e9\nmax_pixels = 1.5E8\nheuristic = 2.5e-1\ndeadline = 0.5\n"
    )
    values = config()
    wanted = {"timeout": "1000", "retries": "2", "disk_bytes": "20000000000", "max_pixels": "150000000"}
    wanted.update(heuristic="0.25", deadline="0.5")
    assert {name: one(values, name)["value"] for name in wanted} == wanted


def test_check_names_all_mistakes(nuthatch: Runner, write: Write) -> None:
    path = write('a = 1\nretries = 3\nb = 2\n[host."x"]\nc = 3\n')
    done = nuthatch("config", "check")
    assert [line.split(": ")[0] for line in done.stderr.decode().splitlines()] == [
        f"{path}:{place}" for place in ("1:1", "3:1", "5:1")
    ]
    assert nuthatch("config", "check", "missing.toml").returncode == 1
    path.write_text("retries = 3\n")
    done = nuthatch("config", "check")
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"{path}: no mistakes\n" in done.stdout.decode()
    path.unlink()
    assert nuthatch("config", "check").returncode == 0
    assert nuthatch("config", "chekc").returncode == 2


def test_a_text_that_is_not_utf8_is_refused(nuthatch: Runner, write: Write) -> None:
    path = write("")
    path.write_bytes(b"# ok\n# \xc3\xa9 \xff\n")
    done = nuthatch("config", "check")
    assert (done.returncode, done.stderr.decode()) == (2, f"{path}:2:5: the text is not UTF-8 here\n")


def test_a_file_of_any_size_and_depth_ends_in_a_message(nuthatch: Runner, write: Write) -> None:
    for text in (
        "#" * 300_000,
        "a = " + "[" * 200_000,
        "a = " + "{a=" * 60_000,
        ".".join(["a"] * 100_000) + " = 1",
    ):
        write(text)
        done = nuthatch("config", "check")
        assert done.returncode == 2 and any(word in done.stderr for word in (b"larger than", b"nested"))


# Secrets, and files of others


def test_no_secret_is_shown(nuthatch: Runner, write: Write) -> None:
    write(
        '[host."a.test"]\nheaders = { Authorization = "hunter2", X-A = ["hunter2", "hunter2"] }\nuser = "ann:hunter2"\n'
        'cert = "/c"\ncert_password = "hunter2"\n'
    )
    for form in ("text", "json"):
        done = nuthatch("config", "--format", form)
        assert done.returncode == 0 and b"hunter2" not in done.stdout + done.stderr
        assert done.stdout.decode().count("…") == 5
        assert "Authorization: …" in done.stdout.decode()
    done = nuthatch("config", "-H", "X-A: hunter2", "--proxy", "http://ann:hunter2@p.test")
    assert done.returncode == 0 and b"hunter2" not in done.stdout + done.stderr
    for text in (
        'headers = { Authorization = ["hunter2", 1] }',
        'headers = { "X Y" = "hunter2" }',
        'user = "hunter2\n',
    ):
        write('[host."a.test"]\n' + text)
        done = nuthatch("config", "check")
        assert done.returncode == 2 and b"hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_secrets_stand_only_in_files_that_not_all_users_can_read(
    nuthatch: Runner, write: Write, mode: int
) -> None:
    path = write(
        'retries = 1\nproxy = "http://P.test"\n[host."a.test"]\nheaders = { X-A = "1" }\nproxy = ""\n'
    )
    path.chmod(mode)
    assert nuthatch("ls").returncode == 0
    for line in (
        'user = "ann:hunter2"',
        'headers = { Authorization = "hunter2" }',
        'cert = "/c"\ncert_password = "hunter2"',
        'proxy = "http://ann:hunter2@p.test:3128"',
        'proxy = "socks5h://ann:hunter2@p.test"',
    ):
        write(f'[host."a.test"]\n{line}\n').chmod(mode)
        done = nuthatch("ls")
        assert done.returncode == (0 if mode & 4 == 0 else 2)
        assert (b"run chmod o-r" in done.stderr) == (mode & 4 != 0) and b"hunter2" not in done.stderr


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(nuthatch: Runner, write: Write, mode: int) -> None:
    path = write("retries = 1\n")
    path.chmod(mode)
    for command in (["ls"], ["config", "check"], ["ls", "--config", str(path)]):
        done = nuthatch(*command)
        assert done.returncode == 2
        assert b"is writable for other users (run chmod go-w)" in done.stderr
        assert done.stderr.decode().count(str(path)) == 1


def test_a_file_that_is_not_regular_or_not_readable_is_refused(
    nuthatch: Runner, write: Write, tmp_path: Path
) -> None:
    path = write("")
    path.unlink()
    os.mkfifo(path)
    assert b"is not a regular file" in nuthatch("ls").stderr
    path.unlink()
    path.mkdir()
    assert b"is not a regular file" in nuthatch("ls").stderr
    path.rmdir()
    path.symlink_to(write("retries = x\n", "dotfiles/config.toml"))
    assert f"{path}:1:11: " in nuthatch("ls").stderr.decode()
    path.unlink()
    path.symlink_to("/dev/null")
    assert nuthatch("ls").returncode == 0


def test_a_file_of_another_user_is_refused(nuthatch: Runner, write: Write) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    path = write("retries = 1\n")
    os.chown(path, 65534, 65534)
    done = nuthatch("ls")
    assert done.returncode == 2 and b"belongs to another user" in done.stderr


def test_a_privileged_command_reads_no_file_of_its_user(
    environment: Dict[str, str], write: Write, tmp_path: Path
) -> None:
    if os.geteuid() != 0 or os.statvfs("/var/tmp").f_flag & os.ST_NOSUID:
        pytest.skip("only root can make a setuid program of another user")
    path = write("no mistake is found = here\n")
    folder = Path(
        subprocess.run(["mktemp", "-d", "-p", "/var/tmp"], capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )
    try:
        folder.chmod(0o755)
        # A privileged launcher looks for the library only where the loader does.
        program = folder / "nuthatch"
        shutil.copy(Path(COMMAND).with_name("libnuthatch.so.1"), folder)
        launcher = ROOT / "Sources" / "NuthatchCLI" / "launcher.c"
        subprocess.run(["cc", str(launcher), "-o", str(program), f"-Wl,-rpath,{folder}", "-ldl"], check=True)
        program.chmod(0o755)
        (folder / "config").mkdir()
        shutil.copytree(path.parent, folder / "config" / "nuthatch")
        for file in folder.rglob("*.toml"):
            file.chmod(0o644)
            file.parent.chmod(0o755)
            os.chown(file, 65534, -1)

        def check(*arguments: str) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(
                [str(program), "config", *arguments],
                env={**environment, "XDG_CONFIG_HOME": str(folder / "config")},
                capture_output=True,
                user=65534,
                group=65534,
                extra_groups=[],
                cwd="/",
                timeout=60,
                check=False,
            )

        assert check("check").returncode == 2
        os.chown(program, 1, -1)
        program.chmod(0o4755)
        done = check("check")
        assert (done.returncode, done.stderr) == (0, b"") and b"/config/" not in done.stdout
        assert b"more rights than its user" in check("--config", "/dev/null").stderr
    finally:
        shutil.rmtree(folder)
