#!/usr/bin/env python3
"""Installs Nuthatch in bare systems and runs the examples of README.md there. Prints a transcript, to be read.

    Tests/Packages/readme.py [packages] [wheel] [source]

`make packages` builds the packages and the wheel, and calls this for both. `source` builds in a bare system, which
takes some minutes. A server on loopback answers in place of the hosts of the examples. Needs root and the network. It
ends at the first failure, else with the line `N passed, 0 failed`.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Dict, Tuple
from urllib.parse import urlsplit

from bare import OUT, ROOT, Bare, why_not
from picture_server import Pictures, serve
from run import expect

sys.path.insert(0, str(ROOT / "Tests" / "support"))
from pictures import png

#: The server is a proxy for http, so that https becomes http.
PAGE = (ROOT / "README.md").read_text().replace("https://", "http://")
CODE: Dict[str, str] = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))
ANSWERS: Dict[str, Tuple[str, bytes]] = {
    "/static/img/python-logo.png": ("image/png", png(290, 82)),
    "/json": ("application/json", b'{"slideshow": {}}'),
}


class Hosts(Pictures):
    """The hosts of the examples."""

    def answer(self) -> Tuple[int, str, bytes]:
        path = urlsplit(self.path).path
        if path.startswith("/delay/"):
            time.sleep(int(path.split("/")[2]))
        if path in ANSWERS:
            return (200, *ANSWERS[path])
        return 404, "text/plain", b"not found"


class Reader:
    """A user who enters what README says."""

    def __init__(self, way: str, proxy: str) -> None:
        self.bare = Bare(OUT / ("bare-readme-" + way))
        self._proxy = proxy
        self.bare.run("apt-get update", show=False)

    def run(self, command: str) -> str:
        return self.bare.run("export http_proxy=%s; %s" % (self._proxy, command))

    def write(self, name: str, text: str) -> None:
        (self.bare.folder / "root" / name).write_text(text)

    def in_a_shell(self, before: str = "") -> None:
        self.write("shell.sh", CODE["sh"])
        said = self.run(before + "sh -x shell.sh")
        expect("2 URLs: 0 hits, 1 fetched, 1 failed" in said, "the summary")
        expect('"slideshow": {}' in said, "the last line")

    def in_python(self, python: str = "python3") -> None:
        self.write("example.py", CODE["python"])
        said = self.run("%s example.py" % python)
        expect("(128, 36) (290, 82)" in said and "timeout http://" in said, "sizes, and the timeout")

    def in_c(self) -> None:
        self.write("app.c", CODE["c"])
        self.run("cc app.c $(pkg-config --cflags --libs nuthatch)")
        expect("128x36 of 290x82" in self.run("rm -rf assets.cache; ./a.out"), "the sizes")
        self.run("cc app.c $(pkg-config --cflags --libs nuthatch-static)")
        expect("128x36 of 290x82" in self.run("rm -rf assets.cache; ./a.out"), "the sizes, statically")


def packages(proxy: str) -> None:
    reader = Reader("packages", proxy)
    shutil.copytree(ROOT / "dist", reader.bare.folder / "root/dist")
    reader.bare.run("apt-get install --yes ./dist/*.deb")
    reader.bare.run("apt-get install --yes gcc libc6-dev python3")
    reader.in_a_shell()
    reader.in_python()
    reader.in_c()
    reader.bare.run("nuthatch; nuthatch help prefetch | head -30")
    reader.bare.run(
        "for words in 'prefetch --sise 64 urls.txt' thumb get; do nuthatch $words; echo status $?; done"
    )


def wheel(proxy: str) -> None:
    reader = Reader("wheel", proxy)
    shutil.copytree(ROOT / "dist", reader.bare.folder / "root/dist")
    reader.bare.run("apt-get install --yes --no-install-recommends python3-venv")
    reader.bare.run("python3 -m venv env && env/bin/pip install --quiet dist/nuthatch-*.whl")
    reader.in_a_shell("PATH=$PWD/env/bin:$PATH; ")
    reader.in_python("env/bin/python")
    reader.bare.run("env/bin/pip uninstall --yes nuthatch && ls env/bin")


def source(proxy: str) -> None:
    reader = Reader("source", proxy)
    swift = Path(shutil.which("swift") or "").resolve().parents[2]
    (reader.bare.folder / "opt/swift").mkdir(parents=True)
    reader.bare.mounts.append((swift, "opt/swift"))
    subprocess.run(
        ["git", "clone", "--quiet", str(ROOT), str(reader.bare.folder / "root/nuthatch")], check=True
    )
    path = "PATH=/opt/swift/usr/bin:$PATH; "
    reader.bare.run("apt-get install --yes --no-install-recommends make git ca-certificates python3")
    reader.bare.run(path + "cd nuthatch; make demo")
    reader.bare.run(path + "cd nuthatch; make install PREFIX=/usr/local")
    reader.in_a_shell()
    # As the last line of `make install` says.
    reader.bare.run("apt-get install --yes --no-install-recommends python3-venv")
    reader.bare.run(
        "python3 -m venv env && env/bin/pip install --quiet /usr/local/share/nuthatch/nuthatch-*.whl"
    )
    reader.in_python("env/bin/python")
    reader.in_c()
    from_source_distribution(reader, path)
    reader.bare.run(path + "cd nuthatch; make uninstall PREFIX=/usr/local")
    expect(reader.bare.run("find /usr/local -name '*nuthatch*'") == "", "nothing is left")


def from_source_distribution(reader: Reader, path: str) -> None:
    """pip builds it, and advises where there is no Swift."""
    reader.bare.run("cd nuthatch; make sdist; python3 -m venv ../env2")
    install = "env2/bin/pip install nuthatch/dist/nuthatch-*.tar.gz"
    said = reader.bare.run("%s || echo status $?" % install)
    expect("install Swift 6.2 or newer from swift.org" in said and "status 1" in said, "the advice")
    reader.bare.run(path + install)
    reader.in_python("env2/bin/python")


WAYS: Dict[str, Callable[[str], None]] = {"packages": packages, "wheel": wheel, "source": source}


def main() -> int:
    reason = why_not()
    if reason:
        print("make packages: no bare system can be made here: %s" % reason, file=sys.stderr)
        return 1
    begin = time.monotonic()
    ways = sys.argv[1:] or ["packages", "wheel"]
    proxy = serve(Hosts)
    for way in ways:
        print("\n=== %s" % way)
        WAYS[way](proxy)
    print("\n%.0f s\n%d passed, 0 failed" % (time.monotonic() - begin, len(ways)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
