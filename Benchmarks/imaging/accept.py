"""What a server saves that sends WebP or AVIF for JPEG, and what it costs to make thumbnails of them.

    accept.py WORK [--size 256] [--write FILE]

Each photograph, at 1920 px, is a JPEG of quality 80, and a WebP and an AVIF whose luma is as close to the photograph
(PSNR).
"""

import argparse
import io
import statistics
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image
from program import Program

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Benchmarks"))
from report import Section  # noqa: E402

FORMATS = {"JPEG": {}, "WEBP": {"method": 4}, "AVIF": {"speed": 8}}


def closeness(picture: Image.Image, data: bytes) -> float:
    """Returns the PSNR of the luma."""
    wanted, got = (
        numpy.asarray(one.convert("L"), numpy.float64) for one in (picture, Image.open(io.BytesIO(data)))
    )
    return float(10 * numpy.log10(255**2 / numpy.mean((wanted - got) ** 2)))


def encoded(picture: Image.Image, format: str, quality: int) -> bytes:
    file = io.BytesIO()
    picture.save(file, format, quality=quality, **FORMATS[format])
    return file.getvalue()


def as_close(picture: Image.Image, format: str, wanted: float) -> bytes:
    """Returns the file of the lowest quality that is as close."""
    low, high = 1, 100
    while low < high:
        middle = (low + high) // 2
        if closeness(picture, encoded(picture, format, middle)) >= wanted:
            high = middle
        else:
            low = middle + 1
    return encoded(picture, format, low)


def milliseconds(program: Program, path: Path, size: int) -> float | None:
    try:
        return statistics.median(program.ask("best", path, size, 5)["us"] for _ in range(5)) / 1000
    except RuntimeError:
        return None  # a build that doesn't decode the format


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    program = Program(ROOT)
    sizes: dict[str, list[int]] = {format: [] for format in FORMATS}
    times: dict[str, list[float]] = {format: [] for format in FORMATS}
    photographs = sorted((options.work / "photographs").glob("**/*.jpg"))
    with tempfile.TemporaryDirectory() as folder:
        for path in photographs:
            picture = Image.open(path).convert("RGB")
            picture.thumbnail((1920, 1920), Image.Resampling.LANCZOS)
            jpeg = encoded(picture, "JPEG", 80)
            wanted = closeness(picture, jpeg)
            for format in FORMATS:
                data = jpeg if format == "JPEG" else as_close(picture, format, wanted)
                file = Path(folder) / f"{path.stem}.{format.lower()}"
                file.write_bytes(data)
                sizes[format].append(len(data))
                time = milliseconds(program, file, options.size)
                if time is not None:
                    times[format].append(time)
    program.close()
    head = [
        "format",
        "bytes, in all",
        "of the JPEGs'",
        "thumbnail, ms",
        "of the JPEGs'",
        "ms for 100 KB saved",
    ]
    total, own = sum(sizes["JPEG"]), statistics.mean(times["JPEG"])
    table = []
    for format in FORMATS:
        row = [format, f"{sum(sizes[format]):,}", f"{sum(sizes[format]) / total:.2f}"]
        if times[format]:
            mean = statistics.mean(times[format])
            saved = (total - sum(sizes[format])) / len(photographs) / 100_000
            cost = f"{(mean - own) / saved:.1f}" if saved > 0 else "-"
            row += [f"{mean:.1f}", f"{mean / own:.1f}", cost]
        else:
            row += ["not decoded", "-", "-"]
        table.append(row)
    title = f"{len(photographs)} photographs of 1920 px, thumbnails of {options.size} px, one thread"
    print(title)
    for line in [head, *table]:
        print("".join(f"{cell:>20}" for cell in line))
    if options.write:
        section = Section("accept", "Benchmarks/imaging/accept.sh --write docs/BENCHMARKS.md")
        section.text(
            f"{title}. The WebPs and AVIFs are as close to the photograph as JPEGs of quality 80 (PSNR of the luma)."
        )
        section.table(head, table)
        section.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
