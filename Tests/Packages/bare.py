"""A bare Debian in a folder, in which commands run as root."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "packages"
#: What apt has downloaded, for the next run.
ARCHIVES = OUT / "archives"
# The mounts end with the command, because they are in a namespace of its own.
ENTER = r"""
set -e
mount -t proc none "$1/proc"
mount --rbind /dev "$1/dev"
mount --bind "$2" "$1/var/cache/apt/archives"
root=$1
shift 2
while [ "$1" != -- ]; do mount --rbind "$1" "$root/$2"; shift 2; done
shift
exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$@"
"""
APT = 'Dpkg::Use-Pty "0";\nAPT::Keep-Downloaded-Packages "true";\n'
# What apt says of each package of Debian.
CHATTER = re.compile(
    r"(Get:|Hit:|\(Reading|(Selecting|Preparing|Unpacking|Setting up|Removing|Purging)(?!.*nuthatch)).*"
)
# Written anew by package managers, whatever is installed.
KEPT_BY_OTHERS = (
    "dev/",
    "etc/ld.so.cache",
    "proc/",
    "tmp/",
    "var/cache/",
    "var/lib/apt/",
    "var/lib/dpkg/",
    "var/log/",
)


class Bare:
    """Unpacks the base into a folder. Makes the base first if there is none. The default is Debian 12."""

    def __init__(self, folder: Path, suite: str = "bookworm") -> None:
        self.folder = folder
        #: Folders of this machine, and where they are in the system.
        self.mounts: List[Tuple[Path, str]] = []
        base = OUT / ("base-%s.tar" % suite)
        if not base.exists():
            _make_base(base, suite)
        shutil.rmtree(folder, ignore_errors=True)
        (ARCHIVES / "partial").mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True)
        # The host's /dev is mounted over that of the base.
        unpack = ["tar", "-xf", str(base), "-C", str(folder), "--numeric-owner", "--exclude=./dev/*"]
        subprocess.run(unpack, check=True)
        shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
        (folder / "etc/apt/apt.conf.d/90packages").write_text(APT)
        # Packages ask this file before they start a service.
        policy = folder / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

    def run(self, command: str, show: bool = True) -> str:
        """Runs a shell command in the folder and prints a transcript. Ends the program if the command fails."""
        if show:
            print("# %s" % command, flush=True)
        enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh"]
        mounts = [str(word) for mount in self.mounts for word in mount]
        done = subprocess.run(
            [*enter, str(self.folder), str(ARCHIVES), *mounts, "--", "cd && { %s\n}" % command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=3600,
        )
        if show or done.returncode != 0:
            lines = done.stdout.rstrip().splitlines()
            shown = lines if done.returncode else [line for line in lines if not CHATTER.match(line)]
            print("\n".join(shown), flush=True)
        if done.returncode != 0:
            sys.exit("FAILED with exit status %d: %s" % (done.returncode, command))
        return done.stdout

    def put(self, source: Path, name: str) -> None:
        shutil.copy(source, self.folder / "root" / name)

    def files(self) -> Dict[str, Optional[str]]:
        """Returns every file of the system, with its target if it is a link."""
        found: Dict[str, Optional[str]] = {}
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder).as_posix()
            if not (name + "/").startswith(KEPT_BY_OTHERS) and not name.startswith("root/"):
                found[name] = str(path.readlink()) if path.is_symlink() else None
        return found


def why_not() -> Optional[str]:
    """Returns why no bare system can be made here, or None."""
    for tool in ("mmdebstrap", "unshare", "chroot"):
        if shutil.which(tool) is None:
            return "no %s in PATH: Scripts/bootstrap packages installs it" % tool
    tried = subprocess.run(["unshare", "--mount", "chroot", "/", "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else "not root: %s" % tried.stderr.strip()


def _make_base(base: Path, suite: str) -> None:
    """Keeps the base for later runs. `make clean` removes it."""
    print("making %s (mmdebstrap, some minutes)" % base.relative_to(ROOT), flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    unfinished = OUT / "unfinished.tar"
    made = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", suite, str(unfinished)]
    # A mirror that is a copy of an earlier day has lists of sid that are said to have expired.
    made.insert(1, '--aptopt=Acquire::Check-Valid-Until "false"')
    subprocess.run(made, check=True)
    unfinished.replace(base)
