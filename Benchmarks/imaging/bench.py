"""Measures thumbnails by Nuthatch, by the codec alone and by three other libraries, in turn, with one thread.

    bench.py WORK [--rounds N] [--only WORD] [--json FILE] [--write FILE]

Every figure is the median of the rounds, with half the interquartile range. A goal is the greatest allowed ratio. All run on
one processor, because libvips decodes a WebP with two threads, whatever it is told.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

from program import Program
from rivals import RIVALS, versions

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Benchmarks"))
from report import Section  # noqa: E402

SIZES = (128, 256, 512)
PICTURES = [
    f"{name}{kind}"
    for kind in (".jpg", "-progressive.jpg", ".png", ".gif", "-interlaced.gif")
    for name in ("12mp", "2mp", "800x600", "640x480")
]
PICTURES += ["12mp.webp", "2mp.webp", "800x600.webp", "640x480.webp", "2mp-lossless.webp", "2mp-alpha.webp"]
PICTURES += ["12mp.avif", "2mp.avif", "800x600.avif", "640x480.avif", "2mp-alpha.avif"]
OWN = ("best", "fast", "all_scans", "limit")


def repeats(path: Path) -> int:
    """Returns the number of repeats in a round. Short jobs get more, so that each sample takes about the same time."""
    pixels = {"12mp": 1, "2mp": 4, "800x600": 12, "640x480": 20}
    return next(count for name, count in pixels.items() if path.name.startswith(name))


def measure_rival(name: str, data: bytes, size: int, count: int) -> float:
    best = float("inf")
    for _ in range(count):
        start = time.perf_counter()
        RIVALS[name](data, size)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


class Row:
    """One file and size, with every contender's samples in microseconds."""

    def __init__(self, file: str, size: int) -> None:
        self.file, self.size = file, size
        self.samples: dict[str, list[float]] = {}
        self.facts: dict = {}

    def median(self, name: str) -> float:
        return statistics.median(self.samples[name])

    def spread(self, name: str) -> float:
        values = sorted(self.samples[name])
        return (values[len(values) * 3 // 4] - values[len(values) // 4]) / 2

    def ratio(self, name: str, base: str) -> float:
        """Returns the median of the rounds' ratios: if the machine is slow in a round, both are slow."""
        return statistics.median(a / b for a, b in zip(self.samples[name], self.samples[base], strict=True))

    @property
    def own(self) -> tuple[str, ...]:
        """Returns our kinds. There is no codec of GIF alone: the decoder is ours."""
        return ("best", "fast") if self.is_gif else OWN

    @property
    def rivals(self) -> tuple[str, ...]:
        # Few builds of OpenCV read GIF.
        left_out = ("opencv",) if self.file.endswith((".gif", ".avif")) else ()
        return tuple(name for name in RIVALS if name not in left_out)

    @property
    def best_rival(self) -> str:
        return min(self.rivals, key=self.median)

    @property
    def is_progressive(self) -> bool:
        return "progressive" in self.file

    @property
    def is_png(self) -> bool:
        return self.file.endswith(".png")

    @property
    def is_gif(self) -> bool:
        return self.file.endswith(".gif")

    def goals(self) -> list[tuple[str, float, float]]:
        """Returns names, measured ratios, and the greatest allowed ratios."""
        found = []
        if self.is_png:
            return [("best/vips", self.ratio("best", "vips"), 0.7)]
        if self.is_gif:
            limits = {"pillow": 0.75, "vips": 0.65}
            return [(f"best/{name}", self.ratio("best", name), limit) for name, limit in limits.items()]
        if self.file.endswith(".webp"):
            small = self.file.startswith(("800", "640"))
            whole = "-" in self.file
            limits = (1.2, 0.85, 0.65) if small else (1.08, 0.8, 0.95) if whole else (1.05, 0.75, 0.75)
            bases = ("limit", "pillow", "vips")
            return [
                (f"best/{base}", self.ratio("best", base), most)
                for base, most in zip(bases, limits, strict=True)
            ]
        if self.file.endswith(".avif"):
            small = self.file.startswith(("800", "640"))
            limits = {"limit": 1.2 if small else 1.03, "pillow": 0.85, "vips": 0.65 if small else 0.33}
            return [(f"best/{name}", self.ratio("best", name), limit) for name, limit in limits.items()]
        rival = self.best_rival
        if self.is_progressive and self.file.startswith("12mp"):
            found.append((f"best/{rival}", self.ratio("best", rival), 0.2))
            if self.facts["denominator"] == 8:
                found.append((f"fast/{rival}", self.ratio("fast", rival), 0.1))
        elif not self.is_progressive:
            limit = None
            if self.file.startswith("12mp"):
                limit = 1.05
            elif self.facts["denominator"] == 1:
                limit = 1.4
            elif self.file.startswith("2mp") and self.size == 256:
                limit = 1.15
            elif self.file.startswith("640x480") and self.size == 128:
                limit = 1.25
            if limit:
                found.append(("best/limit", self.ratio("best", "limit"), limit))
        found.append((f"best/{rival}", self.ratio("best", rival), 1.0))
        return found


def measure(program: Program, pictures: Path, rounds: int, only: str) -> list[Row]:
    rows = [Row(file, size) for file in PICTURES for size in SIZES if only in f"{file}@{size}"]
    data = {row.file: (pictures / row.file).read_bytes() for row in rows}
    for step in range(rounds + 1):
        for row in rows:
            path = pictures / row.file
            count = repeats(path)
            for name in (*row.own, *row.rivals):
                if name in OWN:
                    answer = program.ask(name, path, row.size, count)
                    value = answer["us"]
                    if name == "best":
                        row.facts = answer
                else:
                    value = measure_rival(name, data[row.file], row.size, count)
                # The first round warms up. Leave it out.
                if step > 0:
                    row.samples.setdefault(name, []).append(value)
    return rows


def print_times(rows: list[Row]) -> None:
    names = (*OWN, *RIVALS)
    print(versions())
    print("milliseconds: median ± half the interquartile range")
    print(f"{'file':<24}{'px':>4} {'1/n':>4} {'read':>5}" + "".join(f"{name:>16}" for name in names))
    for row in rows:
        used = f"{row.facts['bytes_used'] * 100 // row.facts['file_bytes']}%"
        line = f"{row.file:<24}{row.size:>4} {row.facts['denominator']:>4} {used:>5}"
        for name in names:
            if name not in row.samples:
                line += f"{'-':>16}"
                continue
            line += f"{row.median(name) / 1000:>10.2f} ±{row.spread(name) / 1000:<4.2f}"
        print(line)


def print_goals(rows: list[Row]) -> int:
    missed = 0
    print("\ngoals")
    for row in rows:
        for name, ratio, limit in row.goals():
            verdict = "ok" if ratio <= limit else "MISSED"
            missed += ratio > limit
            print(f"{row.file:<24}{row.size:>4}  {name:<22}{ratio:>6.2f}  of at most {limit:<5} {verdict}")
    return missed


def write_section(rows: list[Row], page: Path) -> None:
    """Writes the ratios of GIF, WebP and other formats, with those of the goals."""
    section = Section("imaging", "make bench-imaging, with --write docs/BENCHMARKS.md")
    section.text(
        f"{versions()}; one thread. Milliseconds are medians; the others are medians of the rounds' ratios, "
        "with the goal in brackets."
    )
    head = ["file", "px", "ms", "of the codec alone", "of Pillow", "of libvips", "of OpenCV"]
    table = []
    for row in rows:
        goals = {name.partition("/")[2]: limit for name, _, limit in row.goals() if name.startswith("best/")}
        line = [row.file, str(row.size), f"{row.median('best') / 1000:.2f}"]
        for base in ("limit", "pillow", "vips", "opencv"):
            if base not in row.samples:
                line.append("-")
                continue
            goal = f" ({goals[base]})" if base in goals else ""
            line.append(f"{row.ratio('best', base):.2f}{goal}")
        table.append(line)
    section.table(head, table)
    section.write(page)


def print_encoding(program: Program, pictures: Path, rounds: int) -> int:
    path = pictures / "2mp.jpg"
    kinds = ("encode_jpeg", "encode_limit", "encode_png", "encode_png_small")
    samples: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            samples[kind].append(program.ask(kind, path, 256, 20 if kind != "encode_png_small" else 1)["us"])
    print("\nencoding a thumbnail of 256 px, microseconds")
    for kind in kinds:
        print(f"{kind:<24}{statistics.median(samples[kind]):>10.0f}")
    pairs = zip(samples["encode_jpeg"], samples["encode_limit"], strict=True)
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"encode_jpeg/encode_limit{ratio:>10.2f}  of at most 1.1 {'ok' if ratio <= 1.1 else 'MISSED'}")
    return int(ratio > 1.1)


def print_memory(pictures: Path) -> int:
    missed = 0
    print("\npeak memory above the input, 256 px, MiB")
    for file in ("12mp.jpg", "12mp.png", "12mp-progressive.jpg"):
        program = Program(ROOT)
        peak = program.ask("peak", "best", pictures / file, 256)["kib"] / 1024
        program.close()
        limit = None if "progressive" in file else 16
        verdict = "" if limit is None else "of at most 16 " + ("ok" if peak <= limit else "MISSED")
        missed += limit is not None and peak > limit
        print(f"{file:<24}{peak:>10.1f}  {verdict}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    pictures = options.work / "pictures"
    # Before the program starts, which inherits it.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    program = Program(ROOT)
    rows = measure(program, pictures, options.rounds, options.only)
    for row in rows:
        row.facts["file_bytes"] = (pictures / row.file).stat().st_size
    print_times(rows)
    missed = print_goals(rows)
    if options.write:
        write_section(rows, options.write)
    missed += print_encoding(program, pictures, options.rounds)
    program.close()
    missed += print_memory(pictures)
    if options.json:
        figures = [{"file": row.file, "size": row.size, "us": row.samples, **row.facts} for row in rows]
        options.json.write_text(json.dumps(figures, indent=1))
    print(f"\n{missed} goals missed" if missed else "\nall goals met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
