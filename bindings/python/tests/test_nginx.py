"""Tests with nginx: signing in, uploads by DAV, ranges, and a server that is killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterable, Iterator, List, Optional

import nuthatch
import pytest

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx isn't installed (apt-get install nginx)")

CONFIGURATION = """
daemon off;
{user}
pid {folder}/pid;
error_log {folder}/errors info;
worker_processes 1;
events {{ }}
http {{
  client_body_temp_path {folder}/temp;
  proxy_temp_path {folder}/temp;
  fastcgi_temp_path {folder}/temp;
  uwsgi_temp_path {folder}/temp;
  scgi_temp_path {folder}/temp;
  client_max_body_size 0;
  log_format told escape=none '$request_method $uri $status range=$http_range if=$http_if_range by=$remote_user';
  access_log {folder}/log told;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/files;
    location /slow/ {{ alias {folder}/files/; limit_rate 400k; }}
    location /private/ {{
      alias {folder}/files/;
      auth_basic "nuts";
      auth_basic_user_file {folder}/users;
    }}
    location /dav/ {{
      auth_basic "nuts";
      auth_basic_user_file {folder}/users;
      dav_methods PUT DELETE MKCOL MOVE;
      create_full_put_path on;
      dav_access user:rw;
    }}
  }}
  {more}
}}
"""


class Nginx:
    """An nginx that a test can kill and start again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = folder / "files"
        (self.files / "dav").mkdir(parents=True)
        (folder / "temp").mkdir()
        (folder / "users").write_text("ann:{PLAIN}p w\n")
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.port = 0
        #: The port of its second server.
        self.more = ""

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def start(self) -> None:
        for _ in range(20):
            if not self.port:
                with socket.socket() as place:
                    place.bind(("127.0.0.1", 0))
                    self.port = place.getsockname()[1]
            user = "user root;" if os.geteuid() == 0 else ""
            text = CONFIGURATION.format(folder=self.folder, port=self.port, user=user, more=self.more)
            (self.folder / "conf").write_text(text)
            command = [str(NGINX), "-c", str(self.folder / "conf"), "-p", str(self.folder)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            if self.answers():
                return
            self.port = 0  # another program has taken the port
        pytest.fail((self.folder / "errors").read_text())

    def answers(self, port: int = 0) -> bool:
        assert self.process is not None
        until = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < until:
            try:
                with socket.create_connection(("127.0.0.1", port or self.port), 1):
                    return self.process.poll() is None
            except OSError:
                time.sleep(0.01)
        return False

    def kill(self) -> None:
        """Kills master and worker at once."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def log(self, count: int = 0) -> List[str]:
        """Returns the lines of the log, when there are enough: nginx writes a line after its answer."""
        until = time.monotonic() + 30
        while True:
            lines = (self.folder / "log").read_text().splitlines()
            if len(lines) >= count or time.monotonic() >= until:
                return lines
            time.sleep(0.01)

    def wait_for(self, line: str) -> None:
        until = time.monotonic() + 30
        while line not in self.log():
            assert time.monotonic() < until, (line, self.log())
            time.sleep(0.01)


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[Nginx]:
    (tmp_path / "nginx").mkdir()
    server = Nginx(tmp_path / "nginx")
    server.start()
    yield server
    server.kill()


def test_basic_signs_in_at_nginx(nginx: Nginx, cache: nuthatch.Cache, tmp_path: Path) -> None:
    (nginx.files / "nut").write_text("hazel")
    url = nginx.url("/private/nut")
    assert cache.get(url).status == 401
    assert cache.get(url, user=("ann", "wrong")).status == 401
    # Sent at once, so that there is no 401 before it.
    assert cache.get(url, user=("ann", "p w")).text == "hazel"
    assert cache.get(url, user=("ann", "p w"), sign_in="any", policy="reload").text == "hazel"
    (tmp_path / "netrc").write_text('machine 127.0.0.1 login ann password "p w"\n')
    assert cache.get(url, netrc=tmp_path / "netrc", policy="reload").text == "hazel"
    assert cache.get(url, ask_credentials=lambda response: ("ann", "p w"), policy="reload").text == "hazel"
    statuses = [line.split(" ", 2)[2] for line in nginx.log(8)]
    good, bad, none = "200 range= if= by=ann", "401 range= if= by=ann", "401 range= if= by="
    assert statuses == [none, bad, good, none, good, good, none, good]


def test_dav_requests_remove_stored_answers(nginx: Nginx, cache: nuthatch.Cache, tmp_path: Path) -> None:
    content = os.urandom(1 << 20) * 20
    (tmp_path / "upload").write_bytes(content)
    site = cache.site(nginx.url("/dav/"), user=("ann", "p w"))
    assert site.request("PUT", "new/nut", body=tmp_path / "upload").status == 201
    assert (nginx.files / "dav/new/nut").read_bytes() == content
    assert site.request("PUT", "new/nut", body=b"small").status == 204
    assert site.get("new/nut").text == "small"
    # A request that changes the file removes the stored answer.
    assert site.request("PUT", "new/nut", body=b"large").status == 204
    answer = site.get("new/nut")
    assert (answer.text, answer.is_in_cache) == ("large", False)
    assert site.request("DELETE", "new/nut").status == 204
    assert site.get("new/nut").status == 404
    assert cache.request("PUT", nginx.url("/dav/other"), body=b"x").status == 401
    assert not (nginx.files / "dav/other").exists()


SECURE = """
  server {{
    listen 127.0.0.1:{port} ssl;
    root {folder}/files;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server-key.pem;
    ssl_client_certificate {folder}/ann.pem;
    ssl_verify_client on;
    location / {{ add_header X-Shown $ssl_client_s_dn; }}
  }}
"""
SHOWING = """
import sys, nuthatch
with nuthatch.Cache(sys.argv[1], retries=0) as cache:
    for cert in [None, tuple(sys.argv[3:5]), tuple(sys.argv[5:7])]:
        response = cache.get(sys.argv[2], cert=cert, policy="reload")
        print(response.status, response.headers.get("X-Shown"), "hazel" in response.text)
"""


def certificates(folder: Path, names: Iterable[str]) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl command")
    for name in names:
        words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={name}"
        words += f" -addext subjectAltName=IP:127.0.0.1 -keyout {name}-key.pem -out {name}.pem"
        subprocess.run([openssl, *words.split()], cwd=folder, check=True, capture_output=True)


def start_secure(nginx: Nginx, configuration: str) -> int:
    """Returns the port."""
    nginx.kill()
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
    nginx.more = configuration.format(folder=nginx.folder, port=port)
    nginx.start()
    assert nginx.answers(port)
    return port


def run_trusting(nginx: Nginx, program: str, *words: str) -> List[str]:
    """Runs a program that trusts the server's certificate. Returns its lines."""
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "CURL_CA_BUNDLE": str(nginx.folder / "server.pem")},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_client_certificate_signs_in_at_nginx(nginx: Nginx, tmp_path: Path) -> None:
    certificates(nginx.folder, ("server", "ann", "bob"))
    (nginx.files / "nut").write_text("hazel")
    port = start_secure(nginx, SECURE)
    files = [str(nginx.folder / name) for name in ("ann.pem", "ann-key.pem", "bob.pem", "bob-key.pem")]
    lines = run_trusting(nginx, SHOWING, str(tmp_path / "cache"), f"https://127.0.0.1:{port}/nut", *files)
    # nginx answers unknown clients with a page.
    assert lines == ["400 None False", "200 CN=ann True", "400 None False"]


HASTY = """
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server-key.pem;
    keepalive_requests {{requests}};
    location / {{ return 200 early; }}
  }}
"""
POSTING = """
import collections, sys, nuthatch
with nuthatch.Cache(sys.argv[1], retries=0) as cache:
    tickets = [cache.submit(sys.argv[2], method="POST", body=bytes(int(sys.argv[3]))) for _ in range(400)]
    ends = collections.Counter()
    for ticket in tickets:
        try:
            response = ticket.result(timeout=60)
            ends[f"{response.status} {response.text}"] += 1
        except nuthatch.Error as error:
            ends[str(error).split(": http")[0]] += 1
    print(dict(ends))
"""


# nginx answers without reading the body (RST_STREAM, NO_ERROR), and ends the connection after some requests (GOAWAY),
# even if others are on the way.
@pytest.mark.parametrize("requests", [20, 100_000])
@pytest.mark.parametrize("size", [0, 1000, 100_000, 2_000_000])
def test_no_request_is_lost_when_the_server_ends_connections_early(
    nginx: Nginx, tmp_path: Path, size: int, requests: int
) -> None:
    certificates(nginx.folder, ("server",))
    port = start_secure(nginx, HASTY.replace("{{requests}}", str(requests)))
    words = (str(tmp_path / "cache"), f"https://127.0.0.1:{port}/nut", str(size))
    assert run_trusting(nginx, POSTING, *words) == ["{'200 early': 400}"]


def break_off(nginx: Nginx, cache: nuthatch.Cache, target: Path) -> int:
    """Cancels a download in its middle. Returns the size of its part."""
    ticket = cache.submit(nginx.url("/slow/nut"), save_to=target, progress_events=True)
    for event in ticket.events(60):
        if event.kind == "progress" and event.bytes_done > 200_000:
            ticket.cancel()
    part = target.with_name(f".{target.name}.nuthatch-part")
    info = target.with_name(f".{target.name}.nuthatch-info")
    until = time.monotonic() + 30
    while not info.exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert not target.exists()
    return part.stat().st_size


def test_a_download_from_nginx_resumes_with_a_range(
    nginx: Nginx, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    content = os.urandom(3 << 20)
    (nginx.files / "nut").write_bytes(content)
    tag = cache.request("HEAD", nginx.url("/nut")).headers["ETag"]
    for changed in (False, True):
        target = tmp_path / f"file-{changed}"
        there = break_off(nginx, cache, target)
        if changed:
            content = os.urandom(2 << 20)
            (nginx.files / "nut").write_bytes(content)
        # Another cache, as after a restart.
        with nuthatch.Cache(tmp_path / f"other-{changed}") as other:
            assert other.get(nginx.url("/slow/nut"), save_to=target).status == 200
        assert target.read_bytes() == content
        status = 200 if changed else 206
        nginx.wait_for(f"GET /slow/nut {status} range=bytes={there}- if={tag} by=")
    part = cache.get(nginx.url("/nut"), headers={"Range": "bytes=10-19"}, policy="reload")
    assert (part.status, part.body) == (206, content[10:20])


def test_an_upload_to_a_killed_nginx_is_repeated_only_if_that_is_safe(
    nginx: Nginx, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    with open(tmp_path / "large", "wb") as large:
        large.truncate(1 << 30)
    url = nginx.url("/dav/nut")
    options = {"method": "PUT", "body": tmp_path / "large", "user": ("ann", "p w"), "progress_events": True}
    ticket = cache.submit(url, retries=0, **options)  # type: ignore[arg-type]
    for event in ticket.events(60):
        if event.is_upload and event.bytes_done < 1 << 30:
            nginx.kill()
    with pytest.raises(nuthatch.TransportError) as caught:
        ticket.result()
    assert caught.value.code in ("reset", "refused")
    assert not (nginx.files / "dav/nut").exists()
    # The server comes back while attempts are left. Requests that are safe to repeat are sent again.
    with open(tmp_path / "large", "wb") as large:
        large.truncate(50 << 20)
    before = cache.stats()["transfers"]
    ticket = cache.submit(url, method="PUT", body=tmp_path / "large", user=("ann", "p w"), retries=20)
    for _ in range(3000):
        if cache.stats()["transfers"] >= before + 2:
            break
        time.sleep(0.01)
    nginx.start()
    assert ticket.result().status == 201
    assert cache.stats()["transfers"] > before + 2
    assert (nginx.files / "dav/nut").stat().st_size == 50 << 20
