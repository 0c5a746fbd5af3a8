"""Names of options that curl and wget also have, and shortened names."""

from pathlib import Path
from typing import List

import pytest
from command import Runner
from pictures import png
from testserver import TestServer, ok

#: Refused names, with words of both meanings.
READ_DIFFERENTLY = [
    ("get --key k.pem http://x/", ["curl's --key", "--cert-key", "--cache-key"]),
    ("prefetch --key={} list", ["curl's --key", "--cert-key", "--cache-key"]),
    ("explain --key k http://x/", ["curl's --key", "--cert-key", "--cache-key"]),
    ("get --head http://x/", ["curl's --head", "the headers only", "--method HEAD", "--header"]),
    ("explain --head http://x/", ["curl's --head", "--header"]),
    ("get --cookie a=b http://x/", ["curl's --cookie", "--header 'Cookie: NAME=VALUE'", "--cookie-jar"]),
    ("get --no-cache http://x/", ["wget's --no-cache", "--policy reload", "--no-cache-ttl"]),
    ("prefetch --no-cach 5 list", ["wget's --no-cache", "--no-cache-ttl"]),
    ("prefetch --form a=b list", ["curl's --form", "--format"]),
    ("prefetch --url http://x/", ["curl's --url", "an argument", "--url-field"]),
    ("prefetch --fail list", ["curl's --fail", "--failed-out"]),
    ("prefetch --si list", ["curl's --silent", "--quiet", "--size"]),
    ("get --pass p http://x/", ["curl's --pass", "--password-provider"]),
    ("get --time 5 http://x/", ["curl's --time-cond", "--timeout"]),
    ("get --spi eager http://x/", ["wget's --spider", "--spill"]),
    ("get --ignore http://x/", ["curl's --ignore-content-length", "--ignore-query"]),
    ("get --del first http://x/", ["curl's --delegation", "--delivery"]),
    ("get --met GET http://x/", ["curl's --metalink", "--method"]),
    ("prefetch --mi 1 list", ["wget's --mirror", "--min-success"]),
    ("prefetch --keep no list", ["curl's --keepalive-time", "--keep-source"]),
]

#: Names of curl and wget that have another name here, or are not needed.
NAMED_OTHERWISE = [
    ("get --max-time 5 http://x/", "curl's is --deadline here."),
    ("get --retry 5 http://x/", "curl's is --retries here."),
    ("get --request PUT http://x/", "curl's is --method here."),
    ("get --data-binary @f http://x/", "curl's is --data here."),
    ("get --max-filesize 5 http://x/", "curl's is --max-bytes here."),
    ("get --location http://x/", "curl's is always done, but for --redirects none, here."),
    ("get --output-document f http://x/", "wget's is --output here."),
    ("get --url http://x/", "curl's is an argument without an option here."),
    ("get --data-urlencode a=b http://x/", "curl's sends a body that it encodes first."),
]


@pytest.mark.parametrize("line, words", READ_DIFFERENTLY)
def test_a_name_that_curl_or_wget_reads_differently_is_refused(
    nuthatch: Runner, line: str, words: List[str]
) -> None:
    done = nuthatch(*line.split(" "))
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b""), said
    assert said.startswith(f"nuthatch: {line.split()[0]}: --") and said.count("\n") == 1
    for word in words:
        assert word in said


@pytest.mark.parametrize("line, words", NAMED_OTHERWISE)
def test_a_name_that_only_curl_or_wget_has_is_refused_with_ours(
    nuthatch: Runner, line: str, words: str
) -> None:
    done = nuthatch(*line.split(" "))
    assert done.returncode == 2
    assert done.stderr.decode().rstrip().endswith(words)


def test_names_without_another_meaning_may_be_shortened(
    nuthatch: Runner, server: TestServer, tmp_path: Path
) -> None:
    server.on("/a", ok(png(8, 8), "image/png"))
    url = server.url("/a")
    for options in (
        ["--heade", "X-A: 1", "--out", "a.png"],
        ["--dead=9", "--retr", "0", "--outp=a.png"],
        ["--timeo", "9", "--max-b", "1M", "--user-a", "me", "--pol", "kit", "--acc", "*/*", "-o", "a.png"],
    ):
        done = nuthatch("get", *options, url)
        assert done.returncode == 0, (options, done.stderr)
    (tmp_path / "list").write_text(url + "\n")
    assert nuthatch("prefetch", "--rep", "r.html", "--failed", "f", "--min-s", "1", "list").returncode == 0


def test_a_suffix_list_of_wgets_accept_is_refused(nuthatch: Runner, server: TestServer) -> None:
    server.on("/a", ok("x"))
    for value in ("jpg", "jpg,png", "*.jpg"):
        done = nuthatch("get", "--accept", value, server.url("/a"))
        assert done.returncode == 2 and b"wget's --accept" in done.stderr, value
    for value in ("image/png,*/*;q=0.1", "*/*", ""):
        assert nuthatch("get", "--accept", value, server.url("/a")).returncode == 0, value


def test_cache_key_may_not_be_shortened_to_key(nuthatch: Runner, server: TestServer) -> None:
    server.on("/a", ok("first", headers=[("Cache-Control", "max-age=60")]))
    server.on("/b", ok("second", headers=[("Cache-Control", "max-age=60")]))
    assert nuthatch("get", "--cache-key", "k", server.url("/a")).stdout == b"first"
    assert nuthatch("get", "--cache-key", "k", server.url("/b")).stdout == b"first"
    refused = nuthatch("get", "--key", "k", server.url("/b"))
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert nuthatch("get", server.url("/b")).stdout == b"second"
