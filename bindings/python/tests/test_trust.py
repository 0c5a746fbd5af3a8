"""Trusted certificates: `ca_file`, `ca_dir` and `insecure`. Answers of different trust stay apart."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List

import nuthatch
import pytest
from secure_server import SecureServer, needs_openssl
from testserver import TestServer, ok

pytestmark = needs_openssl


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[SecureServer]:
    server = SecureServer(tmp_path)
    # Fresh for the time of the test.
    server.answers["/"] = (200, {"Cache-Control": "max-age=600"})
    yield server
    server.stop()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[SecureServer]:
    server = SecureServer(tmp_path, "other")
    yield server
    server.stop()


def code(cache: Any, url: str, **options: Any) -> str:
    try:
        response = cache.get(url, **options)
    except nuthatch.Error as error:
        return error.code
    return "hit" if response.is_in_cache else str(response.text)


def test_ca_file_names_trusted_certificates(
    cache: nuthatch.Cache, secure: SecureServer, other: SecureServer
) -> None:
    url = secure.url()
    assert code(cache, url) == "tls"
    assert code(cache, url, ca_file=secure.certificate) == "secure"
    assert code(cache, url, ca_file=str(secure.certificate)) == "hit"
    # No hit for requests with other trust, and no reuse of an open connection.
    assert code(cache, url) == "tls"
    assert code(cache, url, ca_file=other.certificate) == "tls"
    assert code(cache, url, ca_file="") == "tls"
    assert len(secure.requests) == 1
    # A relative path from another working directory names the same file.
    before = Path.cwd()
    os.chdir(secure.certificate.parent)
    try:
        assert code(cache, url, ca_file=secure.certificate.name) == "hit"
    finally:
        os.chdir(before)


def test_a_ca_file_that_can_not_be_read_is_an_error(
    cache: nuthatch.Cache, secure: SecureServer, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, words in [
        ("nowhere", "No such file"),
        ("", "is not a regular file"),
        ("pipe", "is not a regular file"),
    ]:
        with pytest.raises(nuthatch.Error, match=f"{words}.*{secure.url()}" if words[:2] == "is" else words):
            cache.get(secure.url(), ca_file=tmp_path / name)
    for bad in (True, 7, ["a"]):
        with pytest.raises(TypeError, match="ca_file"):
            cache.get(secure.url(), ca_file=bad)  # type: ignore[arg-type]
    with pytest.raises(nuthatch.Invalid, match="NUL"):
        cache.get(secure.url(), ca_file="a\0b")
    with pytest.raises(nuthatch.Invalid, match="5000 bytes"):
        cache.get(secure.url(), ca_file="a" * 5000)


def test_ca_dir_names_a_folder_of_trusted_certificates(
    cache: nuthatch.Cache, secure: SecureServer, other: SecureServer
) -> None:
    folder = secure.certificate.parent / "folder"
    folder.mkdir()
    shutil.copy(secure.certificate, folder)
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    url = secure.url()
    assert [code(cache, url, ca_dir=folder) for _ in range(2)] == ["secure", "hit"]
    assert code(cache, url) == code(cache, url, ca_file=other.certificate) == "tls"
    # Certificates of both count.
    for ca_file, wanted in [(secure.certificate, "secure"), (other.certificate, "secure")]:
        assert code(cache, url, ca_file=ca_file, ca_dir=folder) == wanted
    assert code(cache, other.url(), ca_file=other.certificate, ca_dir=folder) == "secure"
    with pytest.raises(nuthatch.Error, match=r"trusted certificates can't be read: .* is not a folder"):
        cache.get(url, ca_dir=other.certificate)
    with pytest.raises(nuthatch.Error, match="nowhere: No such file"):
        cache.get(url, ca_dir=folder / "nowhere")


LOGGED = """
import sys, nuthatch
with nuthatch.Cache(sys.argv[1]) as cache:
    site = cache.site(sys.argv[2], insecure=True)
    print([site.get(path).text for path in ("/", "/b", "/c")], site.options["insecure"])
"""


def test_insecure_checks_no_certificates_and_logs_a_warning(
    tmp_path: Path, cache: nuthatch.Cache, secure: SecureServer, other: SecureServer
) -> None:
    url = secure.url()
    assert [code(cache, url, insecure=True) for _ in range(2)] == ["secure", "hit"]
    # Also for another host name: nothing is checked.
    assert code(cache, secure.url("/", "localhost"), insecure=True) == "secure"
    assert code(cache, url) == code(cache, url, insecure=False) == "tls"
    assert code(cache, url, ca_file=secure.certificate) == "secure"
    assert code(cache, url, ca_file=other.certificate, insecure=True) == "hit"
    secure.answers["/away"] = (302, {"Location": other.url("/there")})
    site = cache.site(url, insecure=True)
    assert code(site, "/away") == "tls"
    assert code(site, "/", insecure=False) == code(site, other.url("/there")) == "tls"
    assert code(cache, secure.url("/away"), insecure=True) == "secure"
    done = subprocess.run(
        [sys.executable, "-c", LOGGED, str(tmp_path / "logged"), url], env={**os.environ, "NUTHATCH_LOG": "warning"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout == "['secure', 'secure', 'secure'] True\n"
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"warning: certificates aren't checked (insecure); the first such request: {url}")


def test_a_sites_trust_applies_to_its_own_origin(
    tmp_path: Path, cache: nuthatch.Cache, secure: SecureServer, other: SecureServer
) -> None:
    secure.answers["/away"] = (302, {"Location": other.url("/there")})
    both = tmp_path / "both.pem"
    both.write_text(secure.certificate.read_text() + other.certificate.read_text())
    site = cache.site(secure.url(), ca_file=both)
    assert site.options["ca_file"] == str(both)
    assert code(site, "/") == "secure"
    assert code(site, "/away") == code(site, other.url("/there")) == "tls"
    assert code(site, "/away", ca_file=both) == "secure"
    assert code(cache, secure.url("/away"), ca_file=both) == "hit" or len(other.requests) == 2
    with nuthatch.Cache(tmp_path / "trusting", ca_file=both) as trusting:
        assert trusting.options["ca_file"] == str(both)
        assert code(trusting, secure.url("/away")) == "secure"
        assert code(trusting.site(secure.url(), ca_file=""), "/") == "tls"


def test_requests_at_the_same_time_have_their_own_trust(
    cache: nuthatch.Cache, secure: SecureServer, other: SecureServer
) -> None:
    files: List[Any] = [None, secure.certificate, other.certificate] * 3
    tickets = [cache.submit(secure.url("/together"), ca_file=file) for file in files]
    found = []
    for ticket in tickets:
        try:
            found.append(ticket.result().text)
        except nuthatch.Error as error:
            found.append(error.code)
    assert found == ["tls", "secure", "tls"] * 3


def test_a_wrong_certificate_does_not_count_as_a_fault_of_the_host(
    cache: nuthatch.Cache, secure: SecureServer, other: SecureServer
) -> None:
    for number in range(20):
        assert code(cache, secure.url(f"/{number}"), ca_file=other.certificate) == "tls"
        assert code(cache, secure.url(f"/{number}"), ca_file="/nowhere.pem") == "tls"
    assert code(cache, secure.url("/20"), ca_file=secure.certificate) == "secure"


def test_a_download_is_not_resumed_with_another_trust(
    cache: nuthatch.Cache, secure: SecureServer, tmp_path: Path
) -> None:
    secure.answers["/cut"] = (200, {"ETag": '"1"', "X-Cut": "3"})
    with pytest.raises(nuthatch.Error, match=r"truncated|bytes"):
        cache.get(secure.url("/cut"), save_to=tmp_path / "file", insecure=True, retries=0)
    assert any(path.name.endswith("-part") for path in tmp_path.iterdir())
    with pytest.raises(nuthatch.Error):
        cache.get(secure.url("/cut"), save_to=tmp_path / "file", ca_file=secure.certificate, retries=0)
    with pytest.raises(nuthatch.Error):
        cache.get(secure.url("/cut"), save_to=tmp_path / "file", ca_file=secure.certificate, retries=0)
    ranges = [headers.get("Range") for path, headers in secure.requests if path == "/cut"]
    assert ranges == [None, None, "bytes=3-"]


def test_removing_a_url_removes_the_answers_of_every_trust(
    cache: nuthatch.Cache, secure: SecureServer
) -> None:
    assert code(cache, secure.url(), ca_file=secure.certificate) == "secure"
    cache.remove(secure.url(), ca_file=secure.certificate)
    assert code(cache, secure.url(), ca_file=secure.certificate) == "secure"


BY_ENVIRONMENT = """
import sys, nuthatch
cache, url, options = nuthatch.Cache(sys.argv[1]), sys.argv[2], dict(pair.split("=") for pair in sys.argv[3:])
try:
    print(cache.get(url, **options).text)
except nuthatch.Error as error:
    print(error.code)
"""


def test_ca_options_override_the_environment(
    tmp_path: Path, secure: SecureServer, other: SecureServer
) -> None:
    """`ca_file` overrides `CURL_CA_BUNDLE`, which overrides `SSL_CERT_FILE`. `SSL_CERT_DIR` is used with either."""
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(secure.certificate, folder)
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    (good, bad) = (str(secure.certificate), str(other.certificate))
    cases: List[Any] = [
        ({}, "tls"),
        ({"CURL_CA_BUNDLE": good}, "secure"),
        ({"SSL_CERT_FILE": good}, "secure"),
        ({"SSL_CERT_DIR": str(folder)}, "secure"),
        ({"CURL_CA_BUNDLE": bad, "SSL_CERT_FILE": good}, "tls"),
        ({"CURL_CA_BUNDLE": good, "SSL_CERT_FILE": bad}, "secure"),
        ({"CURL_CA_BUNDLE": bad, "SSL_CERT_DIR": str(folder)}, "secure"),
        ({"CURL_CA_BUNDLE": good, "SSL_CERT_DIR": str(folder), "ca_file": bad}, "tls"),
        ({"CURL_CA_BUNDLE": bad, "ca_file": good}, "secure"),
    ]
    trusted = ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    plain = {name: value for name, value in os.environ.items() if name not in trusted}
    for number, (said, wanted) in enumerate(cases):
        options = [f"{name}={value}" for name, value in said.items() if name == "ca_file"]
        variables: Dict[str, str] = {name: value for name, value in said.items() if name != "ca_file"}
        done = subprocess.run(
            [sys.executable, "-c", BY_ENVIRONMENT, str(tmp_path / f"cache{number}"), secure.url(), *options],
            env={**plain, **variables}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (done.stdout.strip(), done.stderr) == (wanted, ""), said


def test_trust_options_apply_after_a_redirect_to_https(
    cache: nuthatch.Cache, server: TestServer, secure: SecureServer
) -> None:
    """The first URL needs no TLS, but its redirect may."""
    server.on("/a", ok("x", headers=[("Cache-Control", "max-age=600")]))
    assert [code(cache, server.url("/a"), ca_file=secure.certificate) for _ in range(2)] == ["x", "hit"]
    assert code(cache, server.url("/a")) == "x"
