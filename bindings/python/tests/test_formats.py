"""Answers that are read as another format than they have."""

import pickle
from typing import Any, Callable, List, Tuple

import nuthatch
import pytest
from testserver import TestServer, ok

READERS: List[Tuple[Callable[[nuthatch.Response], Any], type]] = [
    (lambda response: response.json(), nuthatch.WrongFormat),
    (lambda response: response.xml(), nuthatch.WrongFormat),
    (lambda response: response.image(16), nuthatch.NotAnImage),
]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b"plain",
        b"[" * 200_000,
        b"<a>" * 100_000,
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    ],
    ids=["empty", "bytes", "text", "deep JSON", "deep XML", "entities"],
)
def test_a_wrong_format_raises_wrongformat(server: TestServer, cache: nuthatch.Cache, body: bytes) -> None:
    server.on("/a", ok(body, "text/plain; charset=utf-8"))
    response = cache.get(server.url("/a"))
    for read, kind in READERS:
        with pytest.raises(nuthatch.Error) as caught:
            read(response)
        assert type(caught.value) is kind
        assert caught.value.url == server.url("/a") and caught.value.code in ("wrong_format", "not_an_image")
        assert type(pickle.loads(pickle.dumps(caught.value))) is kind
        # Programs may expect the exceptions of the standard library.
        assert isinstance(caught.value, ValueError) or kind is nuthatch.NotAnImage
    assert isinstance(response.text, str)


@pytest.mark.parametrize(
    "other, own", [("content", "body"), ("status_code", "status"), ("from_cache", "is_in_cache")]
)
def test_names_of_other_libraries_lead_to_ours(
    server: TestServer, cache: nuthatch.Cache, other: str, own: str
) -> None:
    response = cache.get(server.url("/bytes/3"))
    with pytest.raises(AttributeError, match=f"no '{other}'; use '{own}'"):
        getattr(response, other)
    assert hasattr(response, own)
    assert not hasattr(response, "nonsense")


@pytest.mark.parametrize(
    "name",
    ["punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "zip", "rot13", "none\x80"],
)
def test_a_codec_that_is_not_a_charset_is_not_used(
    server: TestServer, cache: nuthatch.Cache, name: str
) -> None:
    # One of them takes a minute for 400 KB, some raise, and some give other characters.
    server.on("/a", ok("gü\\x41".encode(), f"text/plain; charset={name}"))
    assert cache.get(server.url("/a")).text == "gü\\x41"


def test_a_charset_inside_a_quoted_parameter_is_ignored(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("gü".encode(), 'text/plain; title="a; charset=latin-1"; charset="utf-8"'))
    assert cache.get(server.url("/a")).text == "gü"


@pytest.mark.parametrize(
    "encoding", ["zip", "idna", "undefined", "nonsense", "shift_jis", "utf-7", "gb18030"]
)
def test_xml_in_an_unknown_encoding_raises_wrongformat(
    server: TestServer, cache: nuthatch.Cache, encoding: str
) -> None:
    server.on("/a", ok(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode(), "application/xml"))
    with pytest.raises(nuthatch.WrongFormat):
        cache.get(server.url("/a")).xml()


def test_text_is_decoded_by_its_charset(server: TestServer, cache: nuthatch.Cache) -> None:
    cases = [
        ("latin-1", "gü"),
        ("utf-16", "gü€"),
        ("shift_jis", "あ"),
        ("windows-1252", "€"),
    ]
    for charset, text in cases:
        server.on("/a", ok(text.encode(charset), f'text/plain; charset="{charset}"'))
        assert cache.get(server.url("/a"), policy="reload").text == text
    server.on("/a", ok("ü".encode() + b"\xff", "text/plain; charset=nonsense"))
    assert cache.get(server.url("/a"), policy="reload").text == "ü\ufffd"
