"""Addresses that a server, a name or a proxy must not lead to: all spellings, ways and guards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: Classes of addresses: public; of this machine or network; link-local and cloud metadata.
OPEN, INNER, LINK = "open", "inner", "link"

#: The spelling in a URL, the same from a resolver, and the class.
TABLE = [
    ("127.0.0.1", "127.0.0.1", INNER),
    ("127.1", "127.0.0.1", INNER),
    ("127.0.1", "127.0.0.1", INNER),
    ("127.0.0.1.", "127.0.0.1", INNER),
    ("127.255.255.254", "127.255.255.254", INNER),
    ("2130706433", "127.0.0.1", INNER),
    ("0x7f000001", "127.0.0.1", INNER),
    ("0x7f.1", "127.0.0.1", INNER),
    ("0177.0.0.1", "127.0.0.1", INNER),
    ("017700000001", "127.0.0.1", INNER),
    ("%31%32%37.0.0.1", "127.0.0.1", INNER),
    ("localhost", "127.0.0.1", INNER),
    ("LOCALHOST", "127.0.0.1", INNER),
    ("localhost.", "127.0.0.1", INNER),
    ("a.localhost", "127.0.0.1", INNER),
    ("0.0.0.0", "0.0.0.0", INNER),
    ("0", "0.0.0.0", INNER),
    ("10.0.0.5", "10.0.0.5", INNER),
    ("10.5", "10.0.0.5", INNER),
    ("012.0.0.5", "10.0.0.5", INNER),
    ("172.16.0.1", "172.16.0.1", INNER),
    ("172.31.255.254", "172.31.255.254", INNER),
    ("192.168.1.1", "192.168.1.1", INNER),
    ("192.168.257", "192.168.1.1", INNER),
    ("3232235777", "192.168.1.1", INNER),
    ("100.64.0.1", "100.64.0.1", INNER),
    ("198.18.0.1", "198.18.0.1", INNER),
    ("192.0.2.1", "192.0.2.1", INNER),
    ("224.0.0.1", "224.0.0.1", INNER),
    ("240.0.0.1", "240.0.0.1", INNER),
    ("255.255.255.255", "255.255.255.255", INNER),
    ("169.254.169.254", "169.254.169.254", LINK),
    ("169.254.1.1", "169.254.1.1", LINK),
    ("169.254.43518", "169.254.169.254", LINK),
    ("2852039166", "169.254.169.254", LINK),
    ("0xa9fea9fe", "169.254.169.254", LINK),
    ("0xa9.0xfe.0xa9.0xfe", "169.254.169.254", LINK),
    ("0251.0376.0251.0376", "169.254.169.254", LINK),
    ("168.63.129.16", "168.63.129.16", LINK),
    ("100.100.100.200", "100.100.100.200", LINK),
    ("192.0.0.192", "192.0.0.192", LINK),
    ("[::1]", "::1", INNER),
    ("[0:0:0:0:0:0:0:1]", "::1", INNER),
    ("[::]", "::", INNER),
    ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", INNER),
    ("[::ffff:7f00:1]", "::ffff:127.0.0.1", INNER),
    ("[::127.0.0.1]", "::127.0.0.1", INNER),
    ("[::ffff:0:127.0.0.1]", "::ffff:0:127.0.0.1", INNER),
    ("[::ffff:10.0.0.5]", "::ffff:10.0.0.5", INNER),
    ("[64:ff9b::127.0.0.1]", "64:ff9b::127.0.0.1", INNER),
    ("[64:ff9b::10.0.0.5]", "64:ff9b::10.0.0.5", INNER),
    ("[2002:7f00:1::]", "2002:7f00:1::", INNER),
    ("[2002:a00:5::1]", "2002:a00:5::1", INNER),
    ("[2001:0:7f00:1::]", "2001:0:7f00:1::", INNER),
    ("[fc00::1]", "fc00::1", INNER),
    ("[fd12:3456::1]", "fd12:3456::1", INNER),
    ("[fec0::1]", "fec0::1", INNER),
    ("[ff02::1]", "ff02::1", INNER),
    ("[2001:db8::1]", "2001:db8::1", INNER),
    ("[::ffff:169.254.169.254]", "::ffff:169.254.169.254", LINK),
    ("[::ffff:a9fe:a9fe]", "::ffff:169.254.169.254", LINK),
    ("[::a9fe:a9fe]", "::169.254.169.254", LINK),
    ("[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe", LINK),
    ("[64:ff9b:1::a9fe:a9fe]", "64:ff9b:1::a9fe:a9fe", LINK),
    ("[2002:a9fe:a9fe::]", "2002:a9fe:a9fe::", LINK),
    ("[fe80::1]", "fe80::1", LINK),
    ("[febf::1]", "febf::1", LINK),
    ("[fd00:ec2::254]", "fd00:ec2::254", LINK),
    ("[fd00:ec2::23]", "fd00:ec2::23", LINK),
    ("[fd00:42::42]", "fd00:42::42", LINK),
    ("[fd20:ce::254]", "fd20:ce::254", LINK),
    ("93.184.216.34", "93.184.216.34", OPEN),
    ("1572395042", "93.184.216.34", OPEN),
    ("0x5db8d822", "93.184.216.34", OPEN),
    ("172.32.0.1", "172.32.0.1", OPEN),
    ("100.128.0.1", "100.128.0.1", OPEN),
    ("192.167.1.1", "192.167.1.1", OPEN),
    ("[2606:2800:220:1::1]", "2606:2800:220:1::1", OPEN),
    ("[::ffff:93.184.216.34]", "::ffff:93.184.216.34", OPEN),
    ("[64:ff9b::5db8:d822]", "64:ff9b::5db8:d822", OPEN),
    ("[2002:5db8:d822::]", "2002:5db8:d822::", OPEN),
]

#: Spellings that a resolver may not know, such as a dot at the end, and the message for them.
UNKNOWN = {"%31%32%37.0.0.1": "bad_url", "localhost.": "dns", "127.0.0.1.": "dns"}

WAYS = [
    "literal",
    "name",
    "redirect",
    "proxy",
    "proxy and name",
    "proxy and redirect",
    "proxy and a hidden name's redirect",
    "again",
]


def is_refused(kind: str, way: str, guard: str) -> bool:
    """Returns whether a guard allows an address (docs/HTTP.md)."""
    if guard == "any":
        return False
    if guard == "public":
        return kind != OPEN
    return kind == LINK or (kind == INNER and (way == "again" or "redirect" in way))


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("names") / "elsewhere.so"
    names = ROOT / "Tests" / "FakeNames"
    sources = [str(names / "fake_names.c"), str(HERE / "elsewhere.c")]
    command = [
        "cc",
        "-shared",
        "-fPIC",
        f"-I{names / 'include'}",
        *sources,
        "-o",
        str(path),
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(command, check=True)
    return str(path)


@pytest.mark.parametrize("guard", ["guarded", "public", "any"])
def test_the_guard_checks_every_address_in_every_way(preloaded: str, guard: str) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "try_addresses.py"), guard],
        input=json.dumps([[form, address] for form, address, _ in TABLE]),
        env={**os.environ, "LD_PRELOAD": preloaded, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcomes: Dict[str, Dict[str, str]] = json.loads(done.stdout)
    wrong = []
    for form, _, kind in TABLE:
        for way in WAYS:
            code = outcomes[form][way]
            if code != UNKNOWN.get(form) and (code == "denied") != is_refused(kind, way, guard):
                wrong.append(f"{form} ({kind}), {way}: {code}")
    assert not wrong, "\n".join(wrong)
    # At least some addresses are reached.
    assert outcomes["93.184.216.34"]["proxy and redirect"] == "ok"
    assert outcomes["93.184.216.34"]["redirect"] in ("http", "ok")
