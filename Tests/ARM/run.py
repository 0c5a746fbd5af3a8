#!/usr/bin/env python3
"""Compiles everything in C for 64-bit ARM, and compares the pixels with those of this machine. Prints what it does.

`make arm` calls this. It needs root, the network for Debian's packages, mmdebstrap and qemu-user. Swift's own clang
compiles. The code in Swift isn't compiled: that needs Swift's standard library for ARM.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List, Optional

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "arm"
#: Debian's packages for ARM: unpacked, and not run.
SYSTEM = OUT / "system"
PACKAGES = ["libc6-dev", "libgcc-12-dev", "libstdc++6", "libcurl4-openssl-dev", "libisal-dev"]
PACKAGES += [
    "libdav1d-dev",
    "libjpeg-dev",
    "liblcms2-dev",
    "liblzma-dev",
    "libpng-dev",
    "libssl-dev",
    "libwebp-dev",
    "libxxhash-dev",
    "libzstd-dev",
]
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
LIBRARIES = [
    "-lcurl",
    "-ldav1d",
    "-lisal",
    "-ljpeg",
    "-llcms2",
    "-lpng16",
    "-lwebp",
    "-lcrypto",
    "-lssl",
    "-lz",
    "-lm",
    "-lpthread",
]


def main() -> int:
    for tool in ("mmdebstrap", "qemu-aarch64", "swift"):
        if shutil.which(tool) is None:
            sys.exit(
                "make arm: no %s in PATH; `Scripts/bootstrap arm` installs mmdebstrap and qemu-user" % tool
            )
    if not SYSTEM.exists():
        make_system()
    arm = ["--target=aarch64-linux-gnu", "--sysroot=%s" % SYSTEM]
    sources = sorted((ROOT / "Sources").rglob("*.c"))
    for source in sources:
        compile_c(source, OUT / "arm", arm)
    print("%d files in C compiled for ARM, without a warning" % len(sources))
    there = run(["qemu-aarch64", "-L", str(SYSTEM), str(link(OUT / "arm", arm))])
    here = run([str(link(OUT / "own", []))])
    pairs = list(zip(here.splitlines(), there.splitlines()))
    different = [pair for pair in pairs if pair[0] != pair[1]]
    for own, other in different:
        print("%s: %s\naarch64: %s" % (platform.machine(), own, other))
    same = len(pairs) - len(different)
    if different or len(here.splitlines()) != len(there.splitlines()) or same == 0:
        print("%d passed, %d failed" % (same, max(1, len(different))))
        return 1
    print("the same pixels on %s and ARM\n%d passed, 0 failed" % (platform.machine(), same))
    return 0


def make_system() -> None:
    print("making %s (mmdebstrap, half a minute)" % SYSTEM.relative_to(ROOT), flush=True)
    shutil.rmtree(OUT, ignore_errors=True)
    unfinished = OUT / "unfinished"
    unfinished.mkdir(parents=True)
    command = ["mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64", "--format=tar"]
    command += ["--include=" + ",".join(PACKAGES), "bookworm", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as made:
        subprocess.run(
            ["tar", "-xf", "-", "-C", str(unfinished), "--exclude=./dev/*"], stdin=made.stdout, check=True
        )
    if made.returncode != 0:
        sys.exit("make arm: mmdebstrap has failed")
    unfinished.rename(SYSTEM)


def clang() -> str:
    swift = Path(os.path.realpath(str(shutil.which("swift"))))
    return str(swift.with_name("clang"))


def compile_c(source: Path, folder: Path, target: List[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / (source.stem + ".o")
    includes = ["-I%s" % path for path in sorted((ROOT / "Sources").glob("*/include"))]
    run([clang(), *target, *FLAGS, *includes, "-c", str(source), "-o", str(made)])
    return made


def link(folder: Path, target: List[str]) -> Path:
    """Returns the program of pixels.c."""
    sources = [*sorted((ROOT / "Sources/CSystem").rglob("*.c")), ROOT / "Tests/ARM/pixels.c"]
    objects = [str(compile_c(source, folder, target)) for source in sources]
    program = folder / "pixels"
    run([clang(), *target, "-fuse-ld=lld", *objects, "-o", str(program), *LIBRARIES])
    return program


def run(command: List[str], cwd: Optional[Path] = None) -> str:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, cwd=cwd
    )
    if done.returncode != 0:
        sys.exit("%s\nFAILED: %s" % (done.stdout, " ".join(command)))
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
