"""Signing in: the credentials that are sent, to which server, and when."""

import base64
import hashlib
import http.server
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, Optional

import nuthatch
import pytest
from testserver import Script, TestServer, answer, ok, redirect


def challenge(text: str) -> Script:
    return answer(401, "who?", [("WWW-Authenticate", text)])


DIGEST = challenge('Digest realm="nuts", qop="auth", nonce="abc123", algorithm=MD5')


def fields(header: Optional[str]) -> Dict[str, str]:
    """Returns the parameters of a Digest answer."""
    assert header is not None and header.startswith("Digest ")
    return {key: value.strip('"') for key, value in re.findall(r'(\w+)=("[^"]*"|[^,\s]*)', header)}


def expected(given: Dict[str, str], user: str, password: str, method: str) -> str:
    """Computes the answer of RFC 7616, 3.4.1."""

    def md5(text: str) -> str:
        return hashlib.md5(text.encode()).hexdigest()

    one, two = md5(f"{user}:{given['realm']}:{password}"), md5(f"{method}:{given['uri']}")
    return md5(f"{one}:{given['nonce']}:{given['nc']}:{given['cnonce']}:{given['qop']}:{two}")


@pytest.mark.parametrize("way", ["digest", "any"])
@pytest.mark.parametrize("method, body", [("GET", None), ("POST", b"nut" * 1000)])
def test_digest_sends_the_right_answer(
    server: TestServer, cache: nuthatch.Cache, way: str, method: str, body: Optional[bytes]
) -> None:
    server.on("/a", DIGEST, ok("welcome"))
    response = cache.request(method, server.url("/a"), body=body, user=("ann", "p:w"), sign_in=way)
    assert (response.status, response.text) == (200, "welcome")
    first, second = server.requests("/a")
    assert first.header("Authorization") is None
    given = fields(second.header("Authorization"))
    assert given["username"] == "ann" and given["response"] == expected(given, "ann", "p:w", method)
    assert second.body == (body or b"")


def test_digest_sends_the_same_as_the_curl_command(server: TestServer, cache: nuthatch.Cache) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("there is no curl command")
    server.on("/a", DIGEST, ok("welcome"), DIGEST, ok("welcome"))
    cache.get(server.url("/a"), user=("ann", "pw"), sign_in="digest")
    subprocess.run(
        [curl, "-s", "--digest", "-u", "ann:pw", server.url("/a")], check=True, capture_output=True
    )
    ours, theirs = (fields(server.requests("/a")[place].header("Authorization")) for place in (1, 3))
    assert ours.keys() == theirs.keys()
    for key in ours.keys() - {"cnonce", "response"}:
        assert ours[key] == theirs[key]
    assert theirs["response"] == expected(theirs, "ann", "pw", "GET")


INTEGRITY = 'Digest realm="nuts", qop=%s, nonce="abc123", algorithm=MD5'


@pytest.mark.parametrize("way", ["digest", "any"])
def test_digest_that_must_cover_the_body_is_a_clear_error(
    server: TestServer, cache: nuthatch.Cache, way: str
) -> None:
    server.on("/a", challenge(INTEGRITY % '"auth-int"'), ok("welcome"))
    options = {"user": ("ann", "pw"), "sign_in": way}
    with pytest.raises(nuthatch.HTTPStatusError) as caught:
        cache.request("POST", server.url("/a"), body=b"nut", **options)
    assert caught.value.code == "http" and caught.value.status == 401 and "auth-int" in str(caught.value)
    # Neither the body nor a proof was sent.
    assert len(server.requests("/a")) == 1
    # Without a body, every client can do it.
    server.on("/b", challenge(INTEGRITY % '"auth-int"'), ok("welcome"))
    assert cache.get(server.url("/b"), **options).text == "welcome"
    assert fields(server.requests("/b")[1].header("Authorization"))["qop"] == "auth-int"


def test_digest_does_not_cover_the_body_if_it_need_not(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", challenge(INTEGRITY % '"auth-int,auth"'), ok("welcome"))
    cache.request("POST", server.url("/a"), body=b"nut", user=("ann", "pw"), sign_in="digest")
    given = fields(server.requests("/a")[1].header("Authorization"))
    assert given["qop"] == "auth" and given["response"] == expected(given, "ann", "pw", "POST")


def test_a_frozen_request_pauses_if_digest_must_cover_the_body(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on("/a", challenge(INTEGRITY % '"auth-int"'))
    server.go_down()
    cache.outbox.provide("pw", "secret")
    with pytest.raises(nuthatch.Frozen) as caught:
        cache.request(
            "POST",
            server.url("/a"),
            body=b"nut",
            user=("ann", ""),
            sign_in="digest",
            freezable=True,
            password_provider="pw",
        )
    server.go_up()
    cache.outbox.replay(caught.value.outbox_id)
    for _ in range(3000):
        (item,) = cache.outbox.list()
        if item.state == "paused":
            break
        time.sleep(0.02)
    assert item.state == "paused" and item.status == 401 and "auth-int" in (item.reason or "")


@pytest.mark.parametrize(
    "realm, sent",
    [
        (r"nu\"ts", 'nu"ts'),
        (r"a \\ b, Digest", r"a \ b, Digest"),
        (r"x\", qop=\"auth-int", 'x", qop="auth-int'),
    ],
)
def test_digest_works_for_realms_with_quotes(
    server: TestServer, cache: nuthatch.Cache, realm: str, sent: str
) -> None:
    server.on("/a", challenge(f'Digest nonce="n", realm="{realm}", qop="auth"'), ok("welcome"))
    assert cache.request("POST", server.url("/a"), body=b"x", user=("ann", "pw"), sign_in="digest").ok
    header = server.requests("/a")[1].header("Authorization") or ""
    assert f'realm="{realm}"' in header
    given = {**fields(header.replace(f'realm="{realm}"', 'realm="x"')), "realm": sent}
    assert given["response"] == expected(given, "ann", "pw", "POST")


def test_a_realm_that_looks_like_a_challenge_is_no_other_scheme(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on("/a", challenge(r'Basic realm="say \"x\", NTLM"'), ok("welcome"))
    assert cache.get(server.url("/a"), ask_credentials=lambda response: ("ann", "pw")).text == "welcome"
    sent = [request.header("Authorization") for request in server.requests("/a")]
    assert sent == [None, "Basic " + base64.b64encode(b"ann:pw").decode()]


def test_a_wrong_password_gives_the_401(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", DIGEST)
    response = cache.get(server.url("/a"), user=("ann", "wrong"), sign_in="digest")
    assert (response.status, response.text) == (401, "who?")
    assert len(server.requests("/a")) == 2


def test_a_streamed_body_is_sent_after_the_challenge(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"nut" * 1_000_000)
    server.on("/a", DIGEST, ok("thanks"))
    cache.request("PUT", server.url("/a"), body=tmp_path / "file", user=("ann", "pw"), sign_in="digest")
    assert server.requests("/a")[-1].body == b"nut" * 1_000_000


def test_ntlm_begins_with_its_first_message(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", challenge("NTLM"))
    assert cache.get(server.url("/a"), user=("ann", "pw"), sign_in="ntlm").status == 401
    sent = [request.header("Authorization") or "" for request in server.requests("/a")]
    first = next(text for text in sent if text.startswith("NTLM "))
    # Signature, type 1, flags. Neither domain nor workstation (MS-NLMP, 2.2.1.1).
    assert base64.b64decode(first[5:]) == b"NTLMSSP\0" + struct.pack("<II", 1, 0x00088206) + bytes(16)
    curl = shutil.which("curl")
    if curl is None:
        return
    command = [curl, "-s", "--noproxy", "*", "--ntlm", "-u", "ann:pw", server.url("/a")]
    subprocess.run(command, check=True, capture_output=True)
    theirs = [request.header("Authorization") or "" for request in server.requests("/a")][len(sent) :]
    assert first in theirs


#: A fake system library that has a ticket for every service.
TICKETS = """
#include <stdlib.h>
#include <string.h>
struct buffer { size_t length; void *value; };
unsigned gss_init_sec_context(unsigned *minor, void *who, void **context, void *name, void *mechanism, unsigned flags,
                              unsigned time, void *bindings, struct buffer *given, void **actual, struct buffer *token,
                              unsigned *kind, unsigned *lasts) {
    (void)who, (void)context, (void)name, (void)mechanism, (void)flags, (void)time, (void)bindings, (void)given;
    (void)actual, (void)kind, (void)lasts;
    *minor = 0;
    token->value = strdup("ticket");
    token->length = 6;
    return 0;
}
"""
WITH_TICKET = """
import sys, nuthatch
with nuthatch.Cache(sys.argv[1]) as cache:
    print(cache.get(sys.argv[2], sign_in="negotiate").text)
"""


def test_negotiate_sends_the_systems_ticket(server: TestServer, tmp_path: Path) -> None:
    curl, compiler = shutil.which("curl"), shutil.which("cc")
    if curl is None or compiler is None or "SPNEGO" not in subprocess.getoutput("curl --version"):
        pytest.skip("there is no curl command with Negotiate, or no compiler")
    (tmp_path / "tickets.c").write_text(TICKETS)
    command = [compiler, "-shared", "-fPIC", "-o", str(tmp_path / "tickets.so"), str(tmp_path / "tickets.c")]
    subprocess.run(command, check=True)
    with_tickets = {**os.environ, "LD_PRELOAD": str(tmp_path / "tickets.so")}
    for command in (
        [sys.executable, "-c", WITH_TICKET, str(tmp_path / "cache"), server.url("/a")],
        [curl, "-s", "--noproxy", "*", "--negotiate", "-u", ":", server.url("/a")],
    ):
        server.clear_log()
        server.on("/a", challenge("Negotiate"), ok("welcome"))
        done = subprocess.run(
            command, env=with_tickets, capture_output=True, text=True, timeout=120, check=False
        )
        sent = [request.header("Authorization") for request in server.requests("/a")]
        assert "Negotiate dGlja2V0" in sent, (command[0], sent, done.stderr)


def test_bearer_and_basic_are_sent_with_sign_in_any(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("x"))
    cache.get(server.url("/a"), bearer="hazel")
    assert server.requests("/a")[0].header("Authorization") == "Bearer hazel"
    server.on("/b", challenge('Basic realm="x"'), ok("x"))
    assert cache.get(server.url("/b"), user=("ann", "pw"), sign_in="any").status == 200
    first, second = server.requests("/b")
    assert (first.header("Authorization"), second.header("Authorization")) == (None, "Basic YW5uOnB3")


def test_a_server_with_endless_challenges_is_answered_ten_times(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on("/a", challenge('Digest realm="nuts", qop="auth", nonce="abc", stale=true'))
    with pytest.raises(nuthatch.Error, match="more than 10 authentication challenges") as caught:
        cache.request("POST", server.url("/a"), body=b"seeds", user=("ann", "pw"), sign_in="digest")
    assert caught.value.code == "http"
    assert len(server.requests("/a")) == 11


def test_sign_in_any_does_not_use_negotiate_for_a_password(server: TestServer, cache: nuthatch.Cache) -> None:
    # Directory servers offer both. Negotiate needs a ticket, and uses no password.
    server.on("/a", challenge('Negotiate, Basic realm="x"'), ok("x"))
    assert cache.get(server.url("/a"), user=("ann", "pw"), sign_in="any").text == "x"
    assert [request.header("Authorization") for request in server.requests("/a")] == [None, "Basic YW5uOnB3"]


@pytest.mark.parametrize("options", [{"user": ("ann", "pw"), "sign_in": "any"}, {"bearer": "hazel"}])
def test_another_origin_gets_no_credentials(
    server: TestServer, cache: nuthatch.Cache, options: Dict[str, object]
) -> None:
    with TestServer() as other:
        for asked in (DIGEST, challenge('Basic realm="x"'), challenge("NTLM")):
            server.on("/a", redirect(other.url("/b")))
            other.on("/b", asked)
            assert cache.get(server.url("/a"), policy="reload", **options).status == 401  # type: ignore[arg-type]
        assert all(request.header("Authorization") is None for request in other.requests("/b"))


def test_no_credentials_are_stored(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    kept = [("Cache-Control", "max-age=60")]
    server.on("/a", DIGEST, ok("of ann", headers=kept), DIGEST, ok("of bob", headers=kept))
    for name, is_in_cache in [("ann", False), ("bob", False), ("ann", True)]:
        response = cache.get(server.url("/a"), user=(name, "hazelnutpassword"), sign_in="digest")
        assert (response.text, response.is_in_cache) == (f"of {name}", is_in_cache)
    cache.flush()
    for path in (tmp_path / "cache").rglob("*"):
        assert not path.is_file() or b"hazelnutpassword" not in path.read_bytes()


def test_negotiate_without_a_ticket_gives_the_401(server: TestServer, cache: nuthatch.Cache) -> None:
    """If libcurl supports it, it has no ticket here. If not, nothing is sent."""
    server.on("/a", challenge("Negotiate"))
    for options in ({}, {"user": ("ann", "pw")}):
        response = cache.get(server.url("/a"), sign_in="negotiate", **options)  # type: ignore[arg-type]
        assert (response.status, response.text) == (401, "who?")
    assert all("YW5uOnB3" not in (one.header("Authorization") or "") for one in server.requests("/a"))


WITH_CERTIFICATE = """
import sys, nuthatch
cache, url, folder = sys.argv[1:]
with nuthatch.Cache(cache, retries=0) as cache:
    pair, locked = (f"{folder}/one.pem", f"{folder}/key.pem"), (f"{folder}/one.pem", f"{folder}/locked.pem")
    for cert in [None, f"{folder}/both.pem", pair, (*locked, "hush"), (*locked, "no"), locked]:
        try:
            print(cache.get(url, cert=cert, policy="reload").text)
        except nuthatch.Error as error:
            print(error.code)
"""


def test_client_certificates_are_sent(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl command")

    def make(name: str, *more: str) -> None:
        words = [
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ]
        words += ["-subj", f"/CN={name}", *more, "-keyout", f"{name}-key.pem", "-out", f"{name}.pem"]
        subprocess.run([str(openssl), *words], cwd=tmp_path, check=True, capture_output=True)

    make("server", "-addext", "subjectAltName=IP:127.0.0.1")
    make("one")
    (tmp_path / "one-key.pem").rename(tmp_path / "key.pem")
    (tmp_path / "both.pem").write_text(
        (tmp_path / "one.pem").read_text() + (tmp_path / "key.pem").read_text()
    )
    lock = ["pkey", "-in", "key.pem", "-aes256", "-passout", "pass:hush", "-out", "locked.pem"]
    subprocess.run([openssl, *lock], cwd=tmp_path, check=True, capture_output=True)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown = self.connection.getpeercert()  # type: ignore[attr-defined]
            text = dict(pair for part in shown["subject"] for pair in part)["commonName"].encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    ssl = pytest.importorskip("ssl")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server-key.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(tmp_path / "one.pem")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    # A key without its password is an error. It doesn't ask on the terminal.
    typed, typing = os.pipe()
    try:
        url = f"https://127.0.0.1:{server.server_port}/"
        done = subprocess.run(
            [sys.executable, "-c", WITH_CERTIFICATE, str(tmp_path / "cache"), url, str(tmp_path)],
            env={**os.environ, "CURL_CA_BUNDLE": str(tmp_path / "server.pem")},
            stdin=typed, start_new_session=True, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        os.close(typed)
        os.close(typing)
    assert done.returncode == 0, done.stderr
    refused, *shown, wrong, lacking = done.stdout.split()
    assert shown == ["one", "one", "one"]
    assert refused in ("tls", "reset") and wrong == lacking == "tls"
    assert "pass phrase" not in done.stderr


def test_a_missing_client_certificate_is_an_error(cache: nuthatch.Cache) -> None:
    with pytest.raises(nuthatch.Error) as caught:
        cache.get("https://127.0.0.1:1/", cert="/does/not/exist", retries=0)
    assert caught.value.code in ("tls", "refused")
