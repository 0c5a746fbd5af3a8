"""Requests every address of a table in every way, and prints the results.

Started by ``test_addresses.py``, with fake names and addresses.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

import nuthatch
from testserver import TestServer, ok, redirect

PUBLIC = "93.184.216.34"


def outcome(cache: nuthatch.Cache, url: str, **options: object) -> str:
    try:
        cache.get(url, retries=0, **options)  # type: ignore[arg-type]
    except nuthatch.Error as error:
        return error.code
    return "ok"


def main(table: List[List[str]], guard: str, folder: Path) -> Dict[str, Dict[str, str]]:
    names = ctypes.CDLL(None)
    names.fake_name_set(b"public.fake.test", PUBLIC.encode())
    outcomes: Dict[str, Dict[str, str]] = {}
    with TestServer() as server, TestServer() as proxy:
        port = server.port
        proxy.on_prefix("/", ok("from the proxy"))
        for number, (form, address) in enumerate(table):
            name = f"n{number}.fake.test"
            names.fake_name_set(name.encode(), address.encode())
            to = f"http://{form}:{port}/x"
            server.on(f"/to/{number}", redirect(to))
            proxy.on(f"/to/{number}", redirect(to))
        direct = nuthatch.Cache(folder / "direct", addresses=guard, proxy="")
        proxied = nuthatch.Cache(folder / "proxied", addresses=guard, proxy=proxy.url(""))
        with direct, proxied:
            for number, (form, _) in enumerate(table):
                to, name = f"http://{form}:{port}/x", f"http://n{number}.fake.test:{port}/x"
                public = f"http://public.fake.test:{port}/to/{number}"
                hidden = f"http://hidden.fake.test:{port}/to/{number}"
                outcomes[form] = {
                    "literal": outcome(direct, to),
                    "name": outcome(direct, name),
                    "redirect": outcome(direct, public),
                    "proxy": outcome(proxied, to),
                    "proxy and name": outcome(proxied, name),
                    "proxy and redirect": outcome(proxied, public),
                    # A name that only the proxy resolves may have any address.
                    "proxy and a hidden name's redirect": outcome(proxied, hidden),
                    # A stored redirect is judged as the redirect itself.
                    "again": outcome(proxied, public),
                }
    return outcomes


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        json.dump(main(json.load(sys.stdin), sys.argv[1], Path(folder)), sys.stdout)
    sys.stdout.flush()
    os._exit(0)
