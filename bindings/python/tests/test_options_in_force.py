"""Caches and sites return the options that are in force."""

import asyncio
import math
from pathlib import Path
from typing import Any, Dict

import nuthatch

URL = "http://127.0.0.1:9/a/"


def test_options_returns_the_defaults(cache: nuthatch.Cache) -> None:
    told = cache.options
    assert (
        told["policy"] == "kit"
        and told["retries"] == 3
        and told["timeout"] == 30
        and told["heuristic"] == 0.1
    )
    assert (
        told["max_bytes"] == 64 << 20 and told["max_pixels"] == 100_000_000 and told["allow_files"] is False
    )
    assert told["image_ttl"] == 7 * 86400 and told["spill"] == "eager" and told["outbox_bytes"] == 256 << 20
    assert not {"netrc", "headers", "user", "cookie_jar", "priority"} & set(told)


def test_options_returns_the_given_options(tmp_path: Path) -> None:
    said: Dict[str, Any] = {
        "timeout": "250ms", "deadline": None, "retries": 0, "max_bytes": "64K", "heuristic": 0, "no_cache_ttl": "none",
        "image_ttl": "forever", "netrc": False, "policy": "reload", "partition": "p", "user_agent": "",
        "keep_source": True,
        "headers": [("X-Kind", "seed"), ("Authorization", "Bearer hush-9")], "proxy": "http://a:hush-9@127.0.0.1:9",
    }  # fmt: skip
    with nuthatch.Cache(tmp_path / "c", **said) as cache:
        told: Any = cache.options
        assert {name: told.get(name, "absent") for name in said} == {
            **said, "timeout": 0.25, "max_bytes": 65536, "no_cache_ttl": 0, "image_ttl": math.inf,
            "headers": [("X-Kind", "seed"), ("Authorization", "***")], "proxy": told["proxy"],
        }  # fmt: skip
        assert "hush-9" not in repr(told) and "127.0.0.1:9" in told["proxy"]
        names = ["X-A", "X-B"]
        given: Dict[str, Any] = {"timeout": 7, "cookie_jar": "memory", "cert": ("a.pem", "b.pem")}
        site = cache.site(URL, user=("me", "hush-8"), keep_headers_across_origins=names, **given)
        here: Any = site.options
        assert (here["timeout"], here["retries"], here["deadline"], here["cookie_jar"]) == (
            7,
            0,
            None,
            "memory",
        )
        assert (
            here["keep_headers_across_origins"] == names
            and here["cert"] == ("a.pem", "b.pem")
            and "hush" not in repr(here)
            and "user" not in here
        )
        # The returned options can be given again.
        told.pop("proxy"), told.pop("headers")
        with nuthatch.Cache(tmp_path / "other", **told) as other:
            assert {**other.options, "proxy": 0} == {**told, "proxy": 0}


def test_options_of_an_async_cache_are_the_same(tmp_path: Path) -> None:
    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c", retries=7) as cache:
            assert cache.options["retries"] == 7
            assert cache.site(URL, timeout=3).options["timeout"] == 3

    asyncio.run(main())
