"""small_container.py [MIB ...]: runs `nuthatch prefetch` in control groups with little memory (64 and 128 MiB).

40 photographs of 12 megapixels and 2 to 7 MB, ten runs each. The server runs outside of the group. Needs root, or a
control group in which the user may make others.
"""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "support"))

from memory_group import MemoryGroup
from PIL import Image
from testserver import TestServer, ok

RUNS = 10
KINDS = {
    "baseline 4:2:0": {"subsampling": 2},
    "baseline 4:4:4": {"subsampling": 0},
    "progressive 4:2:0": {"subsampling": 2, "progressive": True},
    "progressive 4:4:4": {"subsampling": 0, "progressive": True},
}


def photos(folder: Path, options: dict[str, object]) -> list[bytes]:
    """Returns 40 different JPEGs: eight pictures with five comments each."""
    made = []
    for number in range(8):
        grain = Image.merge("RGB", [Image.effect_noise((2000, 1500), 30 + 2 * number) for _ in range(3)])
        path = folder / "photo.jpg"
        grain.resize((4000, 3000)).save(path, quality=80 + number, **options)
        jpeg = path.read_bytes()
        made += [jpeg[:2] + b"\xff\xfe\x00\x04" + bytes([65, 65 + turn]) + jpeg[2:] for turn in range(5)]
    return made


def main() -> None:
    limits = [int(word) for word in sys.argv[1:]] or [64, 128]
    with TestServer() as server, tempfile.TemporaryDirectory() as folder:
        for kind, options in KINDS.items():
            jpegs = photos(Path(folder), options)
            sizes = sorted(len(jpeg) / 1e6 for jpeg in jpegs)
            urls = io.StringIO()
            for number, jpeg in enumerate(jpegs):
                server.on(f"/{kind}/{number}".replace(" ", "-"), ok(jpeg, "image/jpeg"))
                print(server.url(f"/{kind}/{number}".replace(" ", "-")), file=urls)
            print(f"{kind}, {sizes[0]:.1f} to {sizes[-1]:.1f} MB")
            for limit in limits:
                for size in (256, 512):
                    print(f"  {limit:4} MiB, {size} px: {rounds(limit, size, urls.getvalue())}")


def rounds(limit: int, size: int, urls: str) -> str:
    codes: dict[int, int] = {}
    seconds = []
    with MemoryGroup(limit << 20) as group:
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as cache:
                options = ["--cache", cache, "--size", str(size), "--progress", "never"]
                command = [*group.prefix, str(ROOT / "build" / "nuthatch"), "prefetch", *options]
                begin = time.monotonic()
                done = subprocess.run(command, input=urls.encode(), capture_output=True, check=False)
                seconds.append(time.monotonic() - begin)
            codes[done.returncode] = codes.get(done.returncode, 0) + 1
        ends = ", ".join(f"{count} ended with {code}" for code, count in sorted(codes.items()))
        return f"{ends}; {statistics.median(seconds):.1f} s; {group.kills} kills"


if __name__ == "__main__":
    main()
