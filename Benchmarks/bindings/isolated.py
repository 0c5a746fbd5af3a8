"""What decoding in another process costs: `make`, then build/venv/bin/python Benchmarks/bindings/isolated.py

Thumbnails of 256 pixels are made of the same bytes here and there, in turn, on one thread. Prints a table: the least
of the rounds, and the first picture with and without a running decoder. For docs/ISOLATION.md:
build/venv/bin/python Benchmarks/bindings/isolated.py | python3 Benchmarks/report.py isolated docs/ISOLATION.md COMMAND
"""

import io
import sys
import tempfile
import time
from pathlib import Path

import numpy
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bindings" / "python")]

import nuthatch  # noqa: E402


def jpeg(width: int, height: int) -> bytes:
    """A soft picture with some grain, as a camera makes it."""
    rows, columns = numpy.mgrid[0:height, 0:width]
    grain = numpy.random.default_rng(1).normal(0, 6, (height, width))
    shades = [
        127 + 100 * numpy.sin(columns / width * 9 + rows / height * factor) + grain for factor in (3, 5, 8)
    ]
    out = io.BytesIO()
    picture = numpy.dstack(shades).clip(0, 255).astype(numpy.uint8)
    Image.fromarray(picture).save(out, "JPEG", quality=85)
    return out.getvalue()


SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'><circle cx='50' cy='50' r='40' fill='#39c'/>"
    b"<path d='M10 90 Q50 10 90 90' stroke='#000' fill='none'/><text x='20' y='55'>Nuthatch</text></svg>"
)


def milliseconds(response: "nuthatch.Response", decode: str) -> float:
    start = time.perf_counter()
    response.image(256, decode=decode)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, nuthatch.Cache(folder, allow_files=True) as cache:

        def stored(name: str, data: bytes) -> "nuthatch.Response":
            path = Path(folder) / name
            path.write_bytes(data)
            return cache.get(path.as_uri())

        small = stored("first.jpg", jpeg(640, 480))
        start = milliseconds(small, "isolated")
        print("| picture | bytes | here, ms | isolated, ms | more |\n| --- | --- | --- | --- | --- |")
        for text, size in (
            ("JPEG 640x480", (640, 480)),
            ("JPEG 2 MP", (1920, 1080)),
            ("JPEG 12 MP", (4000, 3000)),
        ):
            data = jpeg(*size)
            response = stored("%d.jpg" % size[0], data)
            for decode in ("here", "isolated"):
                milliseconds(response, decode)
            rounds = [(milliseconds(response, "here"), milliseconds(response, "isolated")) for _ in range(40)]
            here, there = (min(times) for times in zip(*rounds))
            print("| %s | %d | %.2f | %.2f | %.2f |" % (text, len(data), here, there, there - here))
        print("\nStarting the decoder for the first picture: %.0f ms." % start)
        drawing = stored("a.svg", SVG)
        start = milliseconds(drawing, "here")
        again = min(milliseconds(drawing, "here") for _ in range(40))
        print("The first SVG, with librsvg: %.0f ms; later ones of 420 bytes: %.1f ms." % (start, again))


if __name__ == "__main__":
    main()
