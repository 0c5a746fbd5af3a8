"""Compares thumbnails with an exact reference: the photograph decoded at full size, and Lanczos in floating point.

    quality.py WORK

Prints the peak signal-to-noise ratio over red, green and blue, in decibels, for every photograph at three sizes: `best`
and `fast`, from the file itself, from a progressive copy without its last scans where that is allowed, from a GIF, and
from WebPs and AVIFs. With alpha, colours are multiplied by it before they are compared.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image
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
    picture = Image.open(path)
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


def measure(program: Program, path: Path, kind: str, size: int, out: Path) -> float:
    answer = program.ask("pixels", kind, path, size, out)
    shape = (answer["height"], answer["width"], 4)
    got = numpy.frombuffer(out.read_bytes(), numpy.uint8).reshape(shape)
    return psnr(got, reference(path, answer["width"], answer["height"]))


def copies(path: Path, folder: Path) -> dict[str, Path]:
    """Writes a photograph as WebPs and AVIFs: of its own size and small, as WebP also lossless and with alpha."""
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
    }
    found = {}
    for number, (name, (picture, options)) in enumerate(kinds.items()):
        kind = "avif" if "AVIF" in name else "webp"
        found[name] = folder / f"{path.stem}-{number}.{kind}"
        picture.save(found[name], **options)
    return found


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
    program.close()
    print()
    missed = 0
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
