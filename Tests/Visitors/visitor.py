"""A program with a cache open: `visitor.py DIRECTORY [async]`. A URL a line in, a line about its thumbnail out."""

import asyncio
import sys

import nuthatch


def said(image: nuthatch.Image) -> str:
    return "%s %dx%d" % ("hit" if image.is_in_cache else "fetched", image.width, image.height)


def visit() -> None:
    with nuthatch.Cache(sys.argv[1]) as cache:
        print("open", flush=True)
        for line in sys.stdin:
            try:
                print(said(cache.thumbnail(line.strip(), 256)), flush=True)
            except nuthatch.Error as error:
                print(error.code, flush=True)


async def visit_async() -> None:
    async with nuthatch.AsyncCache(sys.argv[1]) as cache:
        print("open", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                print(said(await cache.thumbnail(line.strip(), 256)), flush=True)
            except nuthatch.Error as error:
                print(error.code, flush=True)


if len(sys.argv) > 2:
    asyncio.run(visit_async())
else:
    visit()
