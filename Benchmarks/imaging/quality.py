"""Compares thumbnails with an exact reference: the photograph decoded at full size, and Lanczos in floating point.

    quality.py WORK

Prints the peak signal-to-noise ratio over red, green and blue, in decibels, for every photograph at three sizes: `best`
and `fast`, from the file itself, from a progressive copy without its last scans where that is allowed, and from a GIF.
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
}


def lanczos_matrix(source: int, target: int) -> numpy.ndarray:
    """Returns a row of normalised weights for each target pixel."""
    scale = source / target
    centers = (numpy.arange(target) + 0.5) * scale
    distances = (numpy.arange(source)[None, :] + 0.5 - centers[:, None]) / max(1.0, scale)
    weights = numpy.where(abs(distances) < 3, numpy.sinc(distances) * numpy.sinc(distances / 3), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def reference(path: Path, width: int, height: int) -> numpy.ndarray:
    full = numpy.asarray(Image.open(path).convert("RGB"), dtype=numpy.float64)
    rows = lanczos_matrix(full.shape[0], height)
    columns = lanczos_matrix(full.shape[1], width)
    planes = [rows @ full[:, :, c] @ columns.T for c in range(3)]
    return numpy.clip(numpy.stack(planes, axis=2), 0, 255)


def psnr(got: numpy.ndarray, exact: numpy.ndarray) -> float:
    error = numpy.mean((got[:, :, :3].astype(numpy.float64) - exact) ** 2)
    return float(10 * numpy.log10(255**2 / error)) if error else 99.0


def measure(program: Program, path: Path, kind: str, size: int, out: Path) -> float:
    answer = program.ask("pixels", kind, path, size, out)
    shape = (answer["height"], answer["width"], 4)
    got = numpy.frombuffer(out.read_bytes(), numpy.uint8).reshape(shape)
    return psnr(got, reference(path, answer["width"], answer["height"]))


def main(work: Path) -> int:
    program = Program(ROOT)
    photographs = sorted((work / "photographs").glob("**/*.jpg"))
    found: dict[str, list[float]] = {name: [] for name in GOALS}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pixels"
        print(f"{'photograph':<32}{'px':>4}" + "".join(f"{name:>20}" for name in GOALS))
        for path in photographs:
            # Use a new name, because the program caches the files that it has read.
            progressive = Path(folder) / f"{path.stem}-progressive.jpg"
            Image.open(path).convert("RGB").save(progressive, quality=90, progressive=True)
            gif = Path(folder) / f"{path.stem}.gif"
            Image.open(path).convert("RGB").quantize(256).save(gif)
            for size in SIZES:
                line = f"{path.name:<32}{size:>4}"
                for name in GOALS:
                    file = progressive if "stop" in name else gif if "GIF" in name else path
                    value = measure(program, file, name.split(",")[0], size, out)
                    found[name].append(value)
                    line += f"{value:>20.1f}"
                print(line)
    program.close()
    print()
    missed = 0
    for name, (median, least) in GOALS.items():
        values = found[name]
        ok = statistics.median(values) >= median and min(values) >= least
        missed += not ok
        print(
            f"{name:<20} median {statistics.median(values):.1f} dB of at least {median}, "
            f"least {min(values):.1f} of at least {least}: {'ok' if ok else 'MISSED'}"
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
