"""Network problems of a fetch: slow name look-ups, certificates, proxies."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, Iterator, List

import pytest
from command import COMMAND, Runner, heed_signals, lines
from secure_server import SecureServer, needs_openssl
from testserver import TestServer, ok


@pytest.fixture
def slow_names(tmp_path: Path, environment: Dict[str, str]) -> Dict[str, str]:
    """An environment in which the look-up of names that end in .slow takes a minute."""
    library = tmp_path / "slow_names.so"
    source = Path(__file__).with_name("slow_names.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return {**environment, "LD_PRELOAD": str(library)}


def test_a_slow_name_lookup_ends_at_the_time_limit(slow_names: Dict[str, str]) -> None:
    began = time.monotonic()
    command = [COMMAND, "get", "--timeout=0.3", "http://host.slow/"]
    done = subprocess.run(command, env=slow_names, capture_output=True, timeout=55, check=False)
    assert done.returncode == 4
    assert b"timeout: the name wasn't resolved within 0.3 s" in done.stderr
    # The look-up takes a minute. A command that waited for it would take much longer.
    assert time.monotonic() - began < 30


def test_a_command_can_be_interrupted_during_a_slow_name_lookup(slow_names: Dict[str, str]) -> None:
    command = [COMMAND, "get", "http://host.slow/"]
    with subprocess.Popen(
        command, env=slow_names, stderr=subprocess.PIPE, preexec_fn=heed_signals
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"looking up\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


@pytest.mark.parametrize("count", [6, 200])
def test_slow_name_lookups_do_not_delay_other_hosts(
    slow_names: Dict[str, str], server: TestServer, tmp_path: Path, count: int
) -> None:
    server.on("/a", ok("here"))
    urls = [f"http://host{number}.slow/" for number in range(count)] + [server.url("/a")]
    command = [
        COMMAND,
        "prefetch",
        "--cache",
        str(tmp_path / "cache"),
        "--concurrency=2",
        "--format=jsonl",
        "-",
    ]
    with subprocess.Popen(command, env=slow_names, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("".join(url + "\n" for url in urls).encode())
        process.stdin.close()
        began = time.monotonic()
        # The answer is not a picture, but the request has ended.
        assert json.loads(process.stdout.readline())["url"] == urls[-1]
        # The look-ups take a minute, and end after 30 s of silence. A request that waited for a place would take
        # longer.
        assert time.monotonic() - began < 20
        process.kill()


def test_proxies_of_the_environment_are_used(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("by proxy"))
    done = nuthatch("get", "http://nuthatch.invalid/a", http_proxy=server.url(""))
    assert (done.returncode, done.stdout) == (0, b"by proxy")
    done = nuthatch("get", "http://nuthatch.invalid/b", http_proxy=server.url(""), no_proxy=".invalid")
    assert (done.returncode, done.stderr[:19]) == (4, b"nuthatch: get: dns:")


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[SecureServer]:
    server = SecureServer(tmp_path)
    yield server
    server.stop()


def namespace() -> List[str]:
    """Returns a command prefix for a new mount namespace; empty if that is not possible."""
    for prefix in (["unshare", "-m"], ["unshare", "-rm"]):
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


TRUSTED = "/etc/ssl/certs/ca-certificates.crt"


@needs_openssl
def test_a_certificate_without_a_trusted_issuer_is_refused(secure: SecureServer, nuthatch: Runner) -> None:
    done = nuthatch("get", secure.url())
    assert (done.returncode, done.stderr[:19]) == (4, b"nuthatch: get: tls:")


@pytest.mark.skipif(
    shutil.which("openssl") is None or not namespace() or not os.path.exists(TRUSTED),
    reason="no certificates can be made, or no mount namespace in which one is trusted",
)
def test_a_trusted_certificate_is_valid_only_for_its_host(
    secure: SecureServer, environment: Dict[str, str]
) -> None:
    def get(host: str) -> "subprocess.CompletedProcess[bytes]":
        inside = (
            f"mount --bind '{secure.certificate}' {TRUSTED} && exec '{COMMAND}' get {secure.url('/', host)}"
        )
        return subprocess.run(
            [*namespace(), "sh", "-c", inside], env=environment, capture_output=True, timeout=60, check=False
        )

    good = get("127.0.0.1")
    assert (good.returncode, good.stdout, good.stderr) == (0, b"secure", b"")
    other = get("localhost")
    assert (other.returncode, other.stdout) == (4, b"")
    assert other.stderr.startswith(b"nuthatch: get: tls:")


@needs_openssl
def test_cacert_and_capath_name_trusted_certificates(
    secure: SecureServer, nuthatch: Runner, tmp_path: Path
) -> None:
    secure.answers["/"] = (200, {"Cache-Control": "max-age=600"})
    done = nuthatch("get", secure.url(), "--cacert", str(secure.certificate))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"secure", b"")
    assert nuthatch("get", secure.url()).returncode == 4
    for more, is_there in [([], False), (["--cacert", str(secure.certificate)], True)]:
        done = nuthatch("explain", secure.url(), *more)
        assert (b"nothing is stored" not in done.stdout) == is_there
    done = nuthatch("get", secure.url(), "--cacert", "nowhere.pem")
    path = tmp_path / "nowhere.pem"
    words = f"the trusted certificates can't be read: {path}: No such file or directory"
    assert (done.returncode, done.stderr.decode()) == (
        4,
        f"nuthatch: get: tls: {words}: {secure.url()}\n",
    )


@needs_openssl
def test_insecure_checks_no_certificates_and_warns(secure: SecureServer, nuthatch: Runner) -> None:
    warning = (
        "warning: certificates aren't checked (--insecure): others in the network can read and change requests "
        "and answers\n"
    )
    for flag in ("--insecure", "-k"):
        done = nuthatch("get", flag, secure.url())
        assert (done.returncode, done.stdout) == (0, b"secure")
        assert done.stderr.decode() == f"nuthatch: get: {warning}"
    done = nuthatch("get", "-kq", secure.url())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"secure", b"")
    urls = lines([secure.url(f"/{number}") for number in range(5)])
    done = nuthatch("prefetch", "--insecure", "-", given=urls)
    assert done.stderr.decode().count(f"nuthatch: prefetch: {warning}") == 1
    assert len([path for path, _ in secure.requests if path != "/"]) == 5
    assert b"warning" not in nuthatch("explain", "-k", secure.url()).stderr
    folder = secure.certificate.parent / "folder"
    folder.mkdir()
    shutil.copy(secure.certificate, folder)
    assert nuthatch("get", "--capath", str(folder), secure.url()).returncode == 4
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    done = nuthatch("get", "--capath", str(folder), secure.url())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"secure", b"")
