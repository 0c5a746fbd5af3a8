"""Compares thumbnails with an exact reference: the photograph decoded at full size, and Lanczos in floating point.

    quality.py WORK

Prints the peak signal-to-noise ratio over red, green and blue, in decibels, for every photograph at three sizes: `best`
and `fast`, from the file itself, from a progressive copy without its last scans where that is allowed, from a GIF, and
from WebPs and AVIFs. With alpha, colours are multiplied by it before they are compared. A page of coloured text is
a WebP and an AVIF, too: its thumbnails are compared with the full decode, and both with the page itself.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image, ImageDraw, ImageFont
from program import Program

ROOT = Path(__file__).resolve().parents[2]
SIZES = (128, 256, 512)
# (median, minimum) in decibels
GOALS = {
    "best": (42, 36),
    "fast": (0, 30),
    "best, early stop": (40, 34),
    "fast, early stop": (0, 30),
    "best, GIF": (50, 50),
    "best, WebP": (44, 44),
    "best, small WebP": (50, 50),
    "best, lossless WebP": (50, 50),
    "best, WebP with alpha": (50, 50),
    "best, AVIF": (44, 44),
    "best, small AVIF": (50, 50),
    "best, AVIF with alpha": (44, 44),
}


def lanczos_matrix(source: int, target: int) -> numpy.ndarray:
    """Returns a row of normalised weights for each target pixel."""
    scale = source / target
    centers = (numpy.arange(target) + 0.5) * scale
    distances = (numpy.arange(source)[None, :] + 0.5 - centers[:, None]) / max(1.0, scale)
    weights = numpy.where(abs(distances) < 3, numpy.sinc(distances) * numpy.sinc(distances / 3), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def multiplied(rgba: numpy.ndarray) -> numpy.ndarray:
    """Returns red, green, blue and alpha, the colours multiplied by alpha."""
    alpha = rgba[:, :, 3:].astype(numpy.float64)
    return numpy.concatenate([rgba[:, :, :3] * alpha / 255, alpha], axis=2)


def reference(path: Path, width: int, height: int) -> numpy.ndarray:
    return reduced(Image.open(path), width, height)


def reduced(picture: Image.Image, width: int, height: int) -> numpy.ndarray:
    if picture.mode == "RGBA":
        full = multiplied(numpy.asarray(picture))
    else:
        full = numpy.asarray(picture.convert("RGB"), dtype=numpy.float64)
    rows = lanczos_matrix(full.shape[0], height)
    columns = lanczos_matrix(full.shape[1], width)
    planes = [rows @ full[:, :, c] @ columns.T for c in range(full.shape[2])]
    return numpy.clip(numpy.stack(planes, axis=2), 0, 255)


def psnr(got: numpy.ndarray, exact: numpy.ndarray) -> float:
    shown = multiplied(got) if exact.shape[2] == 4 else got[:, :, :3].astype(numpy.float64)
    error = numpy.mean((shown - exact) ** 2)
    return float(10 * numpy.log10(255**2 / error)) if error else 99.0


def thumbnail(program: Program, path: Path, kind: str, size: int, out: Path) -> numpy.ndarray:
    answer = program.ask("pixels", kind, path, size, out)
    return numpy.frombuffer(out.read_bytes(), numpy.uint8).reshape(answer["height"], answer["width"], 4)


def measure(program: Program, path: Path, kind: str, size: int, out: Path) -> float:
    got = thumbnail(program, path, kind, size, out)
    return psnr(got, reference(path, got.shape[1], got.shape[0]))


def copies(path: Path, folder: Path) -> dict[str, Path]:
    """Writes a photograph as WebPs and AVIFs: of its own size, small, and with alpha, as WebP also lossless."""
    whole = Image.open(path).convert("RGB")
    large, small = whole.copy(), whole.copy()
    large.thumbnail((1920, 1920), Image.Resampling.LANCZOS)
    small.thumbnail((800, 800), Image.Resampling.LANCZOS)
    clear = large.copy()
    # A round part is seen, with soft edges.
    clear.putalpha(Image.radial_gradient("L").resize(large.size).point(lambda level: 255 - level))
    kinds = {
        "best, WebP": (whole, {"quality": 80, "method": 2}),
        "best, small WebP": (small, {"quality": 80}),
        "best, lossless WebP": (large, {"lossless": True, "quality": 20, "method": 1}),
        "best, WebP with alpha": (clear, {"quality": 80, "method": 2}),
        "best, AVIF": (whole, {"quality": 60, "speed": 9}),
        "best, small AVIF": (small, {"quality": 60, "speed": 8}),
        "best, AVIF with alpha": (clear, {"quality": 60, "speed": 9}),
    }
    found = {}
    for number, (name, (picture, options)) in enumerate(kinds.items()):
        kind = "avif" if "AVIF" in name else "webp"
        found[name] = folder / f"{path.stem}-{number}.{kind}"
        picture.save(found[name], **options)
    return found


def page() -> Image.Image:
    """Returns a page of text in strong colours."""
    drawn = Image.new("RGB", (1920, 1080), "white")
    draw, font = ImageDraw.Draw(drawn), ImageFont.load_default(18)
    colours = ((200, 0, 0), (0, 0, 200), (0, 130, 0), (0, 0, 0), (160, 0, 160))
    words = ("Quick brown", "foxes", "jump over", "the lazy", "dog, and", "describe it", "in colours.")
    for place in range(43 * 15):
        row, column = divmod(place, 15)
        draw.text((24 + 125 * column, 20 + 24 * row), words[place % 7], colours[place % 5], font)
    return drawn


def measure_page(program: Program, folder: Path, out: Path) -> int:
    """Returns how many thumbnails are less than 44 dB from the full decode, and farther from the page than that."""
    drawn, missed = page(), 0
    print(
        "\na page of coloured text, dB: thumbnail and full decode; thumbnail and page; full decode and page"
    )
    for name, options in (("page.webp", {"quality": 80}), ("page.avif", {"quality": 60, "speed": 8})):
        path = folder / name
        drawn.save(path, **options)
        for size in SIZES:
            got = thumbnail(program, path, "best", size, out)
            full, true = (reduced(source, got.shape[1], got.shape[0]) for source in (Image.open(path), drawn))
            apart, ours, whole = psnr(got, full), psnr(got, true), psnr(full, true)
            missed += apart < 44 and ours < whole
            print(f"{name:<32}{size:>4}{apart:>8.1f}{ours:>8.1f}{whole:>8.1f}")
    return missed


def main(work: Path) -> int:
    program = Program(ROOT)
    photographs = sorted((work / "photographs").glob("**/*.jpg"))
    found: dict[str, list[float]] = {name: [] for name in GOALS}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pixels"
        print(f"{'photograph':<32}{'px':>4}" + "".join(f"{name:>24}" for name in GOALS))
        for path in photographs:
            # Use a new name, because the program caches the files that it has read.
            progressive = Path(folder) / f"{path.stem}-progressive.jpg"
            Image.open(path).convert("RGB").save(progressive, quality=90, progressive=True)
            gif = Path(folder) / f"{path.stem}.gif"
            Image.open(path).convert("RGB").quantize(256).save(gif)
            files = {"best, early stop": progressive, "fast, early stop": progressive, "best, GIF": gif}
            files |= copies(path, Path(folder))
            for size in SIZES:
                line = f"{path.name:<32}{size:>4}"
                for name in GOALS:
                    value = measure(program, files.get(name, path), name.split(",")[0], size, out)
                    found[name].append(value)
                    line += f"{value:>24.1f}"
                print(line)
        missed = measure_page(program, Path(folder), out)
    program.close()
    print()
    for name, (median, least) in GOALS.items():
        values = found[name]
        ok = statistics.median(values) >= median and min(values) >= least
        missed += not ok
        print(
            f"{name:<24} median {statistics.median(values):.1f} dB of at least {median}, "
            f"least {min(values):.1f} of at least {least}: {'ok' if ok else 'MISSED'}"
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
