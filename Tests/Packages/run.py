#!/usr/bin/env python3
"""Installs the packages of dist/ in a bare Debian 12, uses them as README says, and removes them. Prints a transcript.

`make packages` builds the packages and calls this. It needs root, and the network for Debian's packages. A picture
server runs on loopback, which the bare system shares. It ends at the first failure, else with
the line `N passed, 0 failed`.
"""

import sys
import time
from typing import Callable, Dict, List, NamedTuple, Optional

from bare import OUT, ROOT, Bare, why_not
from picture_server import serve

PACKAGES = ["libnuthatch-dev", "libnuthatch1", "nuthatch", "python3-nuthatch"]
#: Debian's own packages leave these after a purge.
LEFT_BY_OTHERS = ("etc/ssl", "etc/ca-certificates", "usr/local/", "usr/share/ca-certificates")

PYTHON = """
import importlib.metadata, sys
import nuthatch
with nuthatch.Cache("python.cache") as cache:
    image = cache.thumbnail(sys.argv[1], 64)
    image.save("python.jpg")
print(nuthatch.__file__, importlib.metadata.version("nuthatch"), image.size)
"""


class State(NamedTuple):
    packages: str
    files: Dict[str, Optional[str]]


def installed(bare: Bare) -> str:
    return bare.run("dpkg-query -W -f '${Package}\\n'", show=False)


def expect(fact: bool, what: str) -> None:
    if not fact:
        sys.exit("FAILED: %s" % what)


def packages_of(bare: Bare, *names: str) -> str:
    """Puts our packages into the bare system. Returns the arguments for apt that install them."""
    found: List[str] = []
    for name in names:
        (file,) = (ROOT / "dist").glob("%s_*.deb" % name)
        bare.put(file, file.name)
        found.append("./" + file.name)
    return " ".join(found)


def in_a_shell(bare: Bare, url: str) -> None:
    """The command and its library, where nothing else is installed."""
    wanted = packages_of(bare, "nuthatch", "libnuthatch1")
    bare.run("apt-get install --yes --no-install-recommends %s" % wanted)
    bare.run("printf '%%s\\n' %s/a.png %s/missing.png >urls.txt" % (url, url))
    said = bare.run("nuthatch prefetch --size 64 --report report.html urls.txt || echo status $?")
    expect("status 4" in said, "exit status 4 for the missing picture")
    bare.run("nuthatch export --size 64 --as jpg thumbs urls.txt || ls -l thumbs")
    expect(len(list((bare.folder / "root/thumbs").glob("*.jpg"))) == 1, "one thumbnail")
    bare.run("nuthatch explain --size 64 %s/a.png" % url)
    bare.run("ls /usr/share/bash-completion/completions/nuthatch /usr/share/zsh/vendor-completions/_nuthatch")
    bare.run("ls -l /usr/lib/*/nuthatch/nuthatch.cdx.json")


def in_python(bare: Bare, url: str) -> None:
    wanted = packages_of(bare, "libnuthatch1", "python3-nuthatch")
    bare.run("apt-get install --yes --no-install-recommends %s" % wanted)
    (bare.folder / "root/app.py").write_text(PYTHON)
    said = bare.run("python3 app.py %s/b.png" % url)
    expect("/usr/lib/python3/dist-packages/nuthatch/__init__.py" in said and "(64, 48)" in said, "the image")
    whole = bare.run("python3 -m nuthatch --version")
    expect(whole == bare.run("nuthatch --version"), "python3 -m nuthatch runs the command")
    bare.put(ROOT / "Tests/Packages/starts.py", "starts.py")
    bare.run("python3 starts.py /usr/bin/nuthatch")


def in_c(bare: Bare, url: str) -> None:
    """Everything, with what the packages recommend."""
    bare.run("apt-get install --yes gcc %s" % packages_of(bare, *PACKAGES))
    bare.put(ROOT / "Tests/House/app.c", "app.c")
    bare.run("cc app.c -o shared $(pkg-config --cflags --libs nuthatch)")
    bare.run("ldd shared | grep nuthatch")
    expect("200 " in bare.run("./shared c.cache %s/c.png" % url), "an answer")
    bare.run("cc app.c -o static $(pkg-config --cflags --libs nuthatch-static)")
    bare.run("pkg-config --static --libs nuthatch")
    bare.run("! ldd static | grep -e nuthatch -e swift")
    expect("200 " in bare.run("./static c.cache %s/d.png" % url), "an answer")
    bare.run(
        "for file in /usr/share/doc/libnuthatch-dev/examples/*.c; do cc -fsyntax-only $file || exit; done"
    )


def is_gone(bare: Bare, before: State) -> None:
    """Nothing of ours is left, and nothing else after a purge of what came with it."""
    names = " ".join(PACKAGES)
    bare.run("apt-get remove --yes %s" % names)
    # apt doesn't know a removed package that no source has.
    bare.run("dpkg --purge %s" % names)
    expect("nuthatch" not in installed(bare), "our packages are gone")
    left = [name for name in bare.files() if "nuthatch" in name]
    expect(left == [], "nothing of ours is left: %s" % left)
    # Scripts of other packages may be needed to the end, so show this only if it fails.
    others = " ".join(sorted(set(installed(bare).split()) - set(before.packages.split())))
    bare.run("apt-get purge --yes %s" % others, show=False)
    strange = sorted(set(bare.files()) - set(before.files))
    ours = [name for name in strange if not name.startswith(LEFT_BY_OTHERS)]
    print("files that were not there before: %s" % (", ".join(strange) or "none"))
    expect(ours == [], "the same files as before: %s" % ours)


def main() -> int:
    reason = why_not()
    if reason:
        print("make packages: no bare system can be made here: %s" % reason, file=sys.stderr)
        return 1
    begin = time.monotonic()
    url = serve()
    bare = Bare(OUT / "bare")
    bare.run("apt-get update")
    before = State(installed(bare), bare.files())
    parts: List[Callable[[], None]] = [
        lambda: in_a_shell(bare, url),
        lambda: in_python(bare, url),
        lambda: in_c(bare, url),
        lambda: is_gone(bare, before),
    ]
    for part in parts:
        part()
    print("\n%.0f s\n%d passed, 0 failed" % (time.monotonic() - begin, len(parts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
