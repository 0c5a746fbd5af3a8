#!/usr/bin/env python3
"""Writes a cache directory with an outbox by the command of a release, as VERSION.tar.gz. `test_releases.py` reads it.

    Tests/House/releases/write.py COMMAND VERSION

The contents are the same for each release. The index is left out, because it is made anew from the packs.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Dict, List

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

from pictures import png  # noqa: E402
from testserver import TestServer, ok  # noqa: E402

BODIES: Dict[str, bytes] = {
    "http://nuts.example/hazel.png": png(24, 16, seed=1),
    "http://nuts.example/acorn.png": png(40, 40, seed=2),
    "http://nuts.example/seeds.json": b'{"seeds": [1, 2, 3]}',
}
PICTURES = [url for url in BODIES if url.endswith(".png")]
#: Sent by a proxy that can't be reached.
WAITING = "http://later.example/seeds"
SENT = b"seeds=3"
#: They may be deleted at any time, or while no process has the cache open.
MADE_ANEW = {"index", "flights"}


def main() -> None:
    command, version = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder, TestServer() as server:
        for url, body in BODIES.items():
            kind = "image/png" if url in PICTURES else "application/json"
            server.on(
                url[len("http://nuts.example") :], ok(body, kind, headers=[("Cache-Control", "max-age=60")])
            )
        cache = Path(folder) / "cache"
        env = {name: text for name, text in os.environ.items() if not name.lower().endswith("_proxy")}
        env["NUTHATCH_CACHE"] = str(cache)

        def run(*words: str, status: int = 0, **more: str) -> None:
            done = subprocess.run(
                [command, *words], env={**env, **more}, cwd=folder, capture_output=True, text=True
            )
            if done.returncode != status:
                sys.exit(f"{' '.join(words)}: {done.returncode}: {done.stderr}")

        for number, url in enumerate(BODIES):
            run("get", url, "-o", str(number), http_proxy=server.url(""))
        for url in PICTURES:
            run("get", url, "--size", "8", "-o", "small.png", http_proxy=server.url(""))
        run("get", "--freezable", "--data", SENT.decode(), WAITING, status=4, http_proxy="http://127.0.0.1:9")
        write(cache, HERE / f"{version}.tar.gz")


def write(cache: Path, archive: Path) -> None:
    kept: List[Path] = [path for path in sorted(cache.rglob("*")) if path.name not in MADE_ANEW]
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as file:
        for path in kept:
            info = file.gettarinfo(path, str(path.relative_to(cache)))
            data = path.read_bytes() if info.isreg() else b""
            # A pack is 64 MiB of zeros, but for its records. The reader makes it as long again.
            info.pax_headers = {"NUTHATCH.size": str(len(data))} if info.isreg() else {}
            info.size = len(data.rstrip(b"\0"))
            file.addfile(info, io.BytesIO(data))
    print(f"{archive.name}: {archive.stat().st_size} bytes")


if __name__ == "__main__":
    main()
