"""Compares the forms in which thumbnails with alpha can be stored: bytes, and the time to encode and to decode them.

    alpha.py WORK FOLDER… [--size 256] [--write FILE]

Takes the PNG, WebP and GIF files below the folders of which a part is transparent, and whose thumbnails are large
enough to be packed (more than 16 KiB of pixels). Of equal thumbnails, one counts.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from program import Program

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Benchmarks"))
from report import Section  # noqa: E402

FORMS = ["png", "lossless-0", "lossless-1", "lossless-2", "lossless-3", "lossless-6", "lossy-90"]
MOST_RAW = 16_384


def chosen(program: Program, folders: list[Path], size: int) -> list[tuple[Path, dict]]:
    found, seen = [], set()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pixels"
        for path in sorted(path for folder in folders for path in folder.rglob("*")):
            if path.suffix.lower() not in (".png", ".webp", ".gif"):
                continue
            try:
                facts = program.ask("store:png", path, size, 1)
                program.ask("pixels", "best", path, size, out)
            except RuntimeError:
                continue  # not decodable
            pixels = out.read_bytes()
            if facts["is_opaque"] or len(pixels) <= MOST_RAW or pixels in seen:
                continue
            # A picture of one colour says nothing.
            if len({pixels[at : at + 4] for at in range(0, len(pixels), 4)}) < 64:
                continue
            seen.add(pixels)
            found.append((path, facts))
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    program = Program(ROOT)
    pictures = chosen(program, options.folders, options.size)
    rows = {form: {"bytes": [], "store": [], "load": []} for form in FORMS}
    for path, _ in pictures:
        for form in FORMS:
            for kind in ("store", "load"):
                answers = [
                    program.ask(f"{kind}:{form}", path, options.size, 3) for _ in range(options.rounds)
                ]
                rows[form][kind].append(statistics.median(answer["us"] for answer in answers))
            rows[form]["bytes"].append(answers[0]["bytes"])
    program.close()
    head = ["form", "bytes of all", "of the PNGs'", "median of the ratios", "encode, ms", "decode, ms"]
    base = rows["png"]["bytes"]
    table = []
    for form, row in rows.items():
        ratios = [own / png for own, png in zip(row["bytes"], base, strict=True)]
        total = sum(row["bytes"])
        table.append(
            [form, f"{total:,}", f"{total / sum(base):.2f}", f"{statistics.median(ratios):.2f}"]
            + [f"{statistics.mean(row[kind]) / 1000:.2f}" for kind in ("store", "load")]
        )
    title = f"{len(pictures)} thumbnails with alpha that fit {options.size} px; times are means"
    print(title)
    for line in [head, *table]:
        print("".join(f"{cell:>22}" for cell in line))
    for path, facts in pictures:
        print(f"  {path.name} {facts['width']}x{facts['height']}")
    if options.write:
        # The folders' places are those of one machine.
        section = Section("alpha", "Benchmarks/imaging/alpha.sh FOLDER… --write docs/BENCHMARKS.md")
        section.text(f"{title}.")
        section.table(head, table)
        section.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
