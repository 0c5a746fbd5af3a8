"""A typical program without Nuthatch: aiohttp fetches, and Pillow makes thumbnails in two threads, each in a file.

aiohttp_pillow.py URLS OUT SIZE [TOTAL PER_HOST]

16 requests at once. With TOTAL and PER_HOST, all requests start at once, and aiohttp limits them.
"""

import asyncio
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
from PIL import Image


def keep(data: bytes, path: Path, size: int) -> None:
    picture = Image.open(io.BytesIO(data))
    picture.thumbnail((size, size))
    picture.save(path, quality=92)


async def main(urls: list[str], out: Path, size: int, limits: list[int]) -> None:
    loop = asyncio.get_running_loop()
    threads = ThreadPoolExecutor(2)
    numbers = iter(enumerate(urls))

    async def work(session: aiohttp.ClientSession) -> None:
        for number, url in numbers:
            async with session.get(url) as answer:
                answer.raise_for_status()
                data = await answer.read()
            await loop.run_in_executor(threads, keep, data, out / f"{number}.jpg", size)

    connector = aiohttp.TCPConnector(limit=limits[0], limit_per_host=limits[1]) if limits else None
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(work(session) for _ in range(len(urls) if limits else 16)))


if __name__ == "__main__":
    limits = [int(word) for word in sys.argv[4:6]]
    asyncio.run(main(Path(sys.argv[1]).read_text().split(), Path(sys.argv[2]), int(sys.argv[3]), limits))
