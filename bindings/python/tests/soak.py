"""Requests thumbnails again and again, by every method: from memory, from disk, and from the network.

soak.py DIRECTORY COUNT URL...: prints the resident memory in KiB, after a fifth of the requests and after all.
"""

import asyncio
import gc
import sys
from typing import List

import nuthatch


def resident() -> int:
    gc.collect()
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def seen(image: nuthatch.Image) -> None:
    assert image.pixels[0, 0, 3] == 255 and image.width == 64 and image.final_url


async def main(folder: str, count: int, urls: List[str]) -> None:
    # Memory for a few of them, so that the others come from disk.
    limits = {"memory_bytes": 1 << 20, "disk_bytes": 64 << 20}
    with nuthatch.Cache(folder, **limits) as cache:
        async with nuthatch.AsyncCache(folder, **limits) as loop:
            for number in range(count):
                url = urls[(number // 10 * 7) % len(urls)]
                way = number % 100
                if way == 99:
                    seen(cache.thumbnail(url, 64, policy="reload"))
                elif way == 98:
                    seen(cache.submit(url, sizes=[64, 32]).result()[0])
                elif way == 97:
                    seen(await loop.submit(url, size=64))
                elif way == 96:
                    assert len(cache.get(url).body) == len(cache.get(url).view)
                elif way % 2:
                    seen(await loop.thumbnail(url, 64))
                else:
                    seen(cache.thumbnail(url, 64))
                if number % 5000 == 4999:
                    assert all(item.ok for item in cache.prefetch(urls, [64]))
                if number + 1 in (count // 5, count):
                    print(resident(), flush=True)


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
