"""A program for type checkers. It never runs: `make lint` has mypy and pyright read it."""

from datetime import timedelta
from typing import List, Optional, Tuple

import nuthatch
from typing_extensions import assert_type

cache = nuthatch.Cache("thumbs.cache", policy="kit", memory_bytes=64 << 20)
assert_type(cache.thumbnail("url", 256), nuthatch.Image)
assert_type(cache.thumbnail("url", (256, 64), fit="cover").size, Tuple[int, int])
assert_type(cache.get("url", headers={"Accept": "image/png"}, timeout=10), nuthatch.Response)
assert_type(cache.get("url", headers=[("Accept", "image/png")], deadline=None), nuthatch.Response)
assert_type(cache.get("url", timeout="15m", deadline=timedelta(days=1), max_bytes="1.5G"), nuthatch.Response)
assert_type(cache.request("POST", "url", json={"seeds": 3}, freezable=True), nuthatch.Response)
assert_type(cache.peek("url", 256), Optional[nuthatch.Image])
assert_type(cache.submit("url").result(), nuthatch.Response)
assert_type(cache.submit("url", size=3).result(timeout=3), nuthatch.Image)
assert_type(cache.submit("url", sizes=[3, (4, 5)]).result(), List[nuthatch.Image])
assert_type(cache.site("url", user=("me", "password")).get("path"), nuthatch.Response)
assert_type(cache.outbox.collect(1), Optional[nuthatch.Outcome])
for item in cache.prefetch(["url"], sizes=[1, (2, 3)], progress=True):
    assert_type(item.images, List[nuthatch.Image])
for event in cache.submit("url", size=64).events():
    assert_type(event.image, Optional[nuthatch.Image])


async def main() -> None:
    async with nuthatch.AsyncCache("thumbs.cache", policy="kit") as ac:
        assert_type(await ac.thumbnail("url", 256), nuthatch.Image)
        assert_type(await ac.get("url"), nuthatch.Response)
        assert_type(await ac.submit("url", size=2), nuthatch.Image)
        async for event in ac.events("url", 64):
            assert_type(event.error, Optional[nuthatch.Error])
        async for item in ac.prefetch(["url"]):
            assert_type(item.ok, bool)
    try:
        pass
    except nuthatch.Frozen as frozen:
        assert_type(frozen.outbox_id, int)
    except nuthatch.HTTPStatusError as error:
        assert_type(error.retry_after, Optional[int])


# Both checkers must report errors here.
cache.get("url", nonsense=1)  # type: ignore[call-arg]
cache.get("url", size=1)  # type: ignore[call-arg]
cache.get("url", timeout=b"10")  # type: ignore[arg-type]
cache.thumbnail("url", "256")  # type: ignore[arg-type]
cache.request("POST", "url", method="PUT")  # type: ignore[misc]
nuthatch.Cache("thumbs.cache", ask=1)  # type: ignore[call-arg]
