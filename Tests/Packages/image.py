#!/usr/bin/env python3
"""Unpacks the image of dist/ and runs it with a read-only root, as its user. Prints a transcript.

`make image` makes the image and calls this. It needs root. A picture server runs on loopback, which the image shares.
It ends at the first failure, else with the line `N passed, 0 failed`.
"""

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

from bare import OUT, ROOT
from picture_server import serve

LARGEST = 60_000_000
FOLDER = OUT / "image"
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"
# As a container's runtime does it: only /cache, /proc and /dev can be written.
ENTER = r"""
set -e
root=$1 cache=$2 chroot=$3 user=$4
shift 4
mount --bind "$root" "$root"
mount --bind "$cache" "$root/cache"
mount -t proc none "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,ro,bind "$root"
exec "$chroot" --userspec="$user" "$root" "$@"
"""


class Image:
    """The only image of an OCI archive, unpacked."""

    def __init__(self, archive: Path) -> None:
        shutil.rmtree(FOLDER, ignore_errors=True)
        (FOLDER / "root").mkdir(parents=True)
        with tarfile.open(str(archive)) as tar:
            tar.extractall(str(FOLDER / "archive"))
        layout = json.loads((FOLDER / "archive/oci-layout").read_text())
        expect(layout == {"imageLayoutVersion": "1.0.0"}, "the layout's version")
        (entry,) = json.loads((FOLDER / "archive/index.json").read_text())["manifests"]
        self.manifest: Dict[str, Any] = json.loads(self.blob(entry))
        self.config: Dict[str, Any] = json.loads(self.blob(self.manifest["config"]))
        (layer,) = self.manifest["layers"]
        plain = gzip.decompress(self.blob(layer))
        expect(
            self.config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(plain).hexdigest()], "the layer"
        )
        unpack = ["tar", "-xf", "-", "-C", str(FOLDER / "root"), "--numeric-owner"]
        subprocess.run(unpack, input=plain, check=True)

    def blob(self, entry: Dict[str, Any]) -> bytes:
        kind, name = entry["digest"].split(":")
        content = (FOLDER / "archive/blobs" / kind / name).read_bytes()
        expect(len(content) == entry["size"], "the size of a blob")
        expect(hashlib.sha256(content).hexdigest() == name, "the digest of a blob")
        return content

    def run(self, *words: str, stdin: str = "", status: int = 0) -> str:
        """Runs the image's command with other arguments. Prints a transcript."""
        settings = self.config["config"]
        cache = FOLDER / "cache"
        if not cache.exists():
            cache.mkdir()
            owner = int(settings["User"].split(":")[0])
            shutil.chown(str(cache), owner, owner)
        print("# nuthatch %s" % " ".join(words), flush=True)
        enter = ["unshare", "--mount", "--propagation", "private", "env", "-i", *settings["Env"]]
        enter += ["sh", "-c", ENTER, "sh", str(FOLDER / "root"), str(cache), CHROOT, settings["User"]]
        done = subprocess.run(
            [*enter, *settings["Entrypoint"], *words],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        print(done.stdout.rstrip(), flush=True)
        expect(done.returncode == status, "exit status %d, not %d" % (status, done.returncode))
        return done.stdout


def expect(fact: bool, what: str) -> None:
    if not fact:
        sys.exit("FAILED: %s" % what)


def says_who_it_is(image: Image) -> None:
    settings = image.config["config"]
    expect(settings["Volumes"] == {"/cache": {}}, "/cache is its volume")
    expect(not settings["User"].startswith("0"), "it isn't root")
    expect("OpenSSL" in image.run("--version", "--verbose"), "the libraries")
    expect("prefetch" in image.run(*settings["Cmd"]), "without arguments, it prints its help")


def works_with_a_read_only_root(image: Image) -> None:
    url = serve()
    lines = "%s/a.png\n%s/missing.png\n" % (url, url)
    image.run("prefetch", "--size", "64", "-", stdin=lines, status=4)
    again = image.run("prefetch", "--size", "64", "--format", "jsonl", "-", stdin="%s/a.png\n" % url)
    expect('"is_in_cache":true' in again, "a hit")
    image.run("stat")
    image.run("verify")
    image.run("get", "--cache", "/other", "%s/a.png" % url, "-o", "/dev/null", status=1)


def has_certificates(image: Image) -> None:
    bundle = (FOLDER / "root/etc/ssl/certs/ca-certificates.crt").read_text()
    expect(bundle.count("BEGIN CERTIFICATE") > 100, "more than 100 certificates")


def knows_what_is_inside(image: Image) -> None:
    made = json.loads((FOLDER / "root/usr/share/nuthatch/image.cdx.json").read_text())
    names = {part["name"] for part in made["components"]}
    expect({"nuthatch", "libcurl4", "libssl3", "libc6"} <= names, "the packages: %s" % sorted(names))
    listed = (FOLDER / "root/var/lib/dpkg/status").read_text()
    expect(listed.count("\nStatus: install ok installed\n") == len(names), "dpkg's list")
    missing = [name for name in names if not (FOLDER / "root/usr/share/doc" / name).exists()]
    expect(missing == [], "the licenses of all packages: %s" % missing)
    set_ids = [
        path for path in (FOLDER / "root").rglob("*") if path.is_file() and path.stat().st_mode & 0o6000
    ]
    expect(set_ids == [], "no file with the rights of another user: %s" % set_ids)
    expect(not (FOLDER / "root/bin/sh").exists(), "no shell")


def main() -> int:
    archives: List[Path] = sorted((ROOT / "dist").glob("nuthatch_*_oci_*.tar"))
    expect(len(archives) == 1, "one image in dist/")
    begin = time.monotonic()
    size = archives[0].stat().st_size
    print("%s: %.1f MB" % (archives[0].name, size / 1e6))
    expect(size <= LARGEST, "at most %d bytes" % LARGEST)
    image = Image(archives[0])
    parts: List[Callable[[Image], None]] = [
        says_who_it_is,
        works_with_a_read_only_root,
        has_certificates,
        knows_what_is_inside,
    ]
    for part in parts:
        part(image)
    print("\n%.0f s\n%d passed, 0 failed" % (time.monotonic() - begin, len(parts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
