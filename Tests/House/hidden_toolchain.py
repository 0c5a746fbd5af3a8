"""Runs commands without the Swift toolchain: it is not in PATH, and its folder is covered by an empty one."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Optional, Sequence

# Covers each given folder and file, prints a message if Swift is still there, then runs the command.
SCRIPT = r"""
set -e
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o size=4k none "$1"; else mount --bind /dev/null "$1"; fi
  shift
done
shift
if command -v swift >/dev/null && swift --version >/dev/null 2>&1; then
  echo "swift still works" >&2
  exit 97
fi
exec "$@"
"""


@functools.cache
def to_cover() -> List[str]:
    """Returns the toolchain's folder. If it is in /usr, returns its own parts there."""
    printed = subprocess.run(["swift", "-print-target-info"], stdout=subprocess.PIPE, check=True).stdout
    usr = Path(json.loads(printed)["paths"]["runtimeResourcePath"]).resolve().parents[1]
    if str(usr) not in ("/usr", "/usr/local", "/"):
        return [str(usr)]
    parts = [usr / "lib" / "swift", usr / "lib" / "swift_static", usr / "libexec" / "swift"]
    parts += [path for path in (usr / "bin").glob("swift*") if not path.is_symlink()]
    return [str(path) for path in parts if path.exists()]


def path_without_swift() -> str:
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not os.path.exists(os.path.join(folder, "swift")))


def namespace() -> Optional[List[str]]:
    """Returns the command that makes a mount namespace, or None if that is not possible."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        if (
            shutil.which("unshare")
            and subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode == 0
        ):
            return command
    return None


def run(
    command: List[str], env: Dict[str, str], cwd: Optional[Path] = None, also: Sequence[Path] = ()
) -> "subprocess.CompletedProcess[str]":
    """`also` names further files to hide, for example libraries of the system."""
    made = namespace()
    assert made is not None
    env = dict(env, PATH=path_without_swift())
    for name in ("LD_LIBRARY_PATH", "LD_PRELOAD"):
        env.pop(name, None)
    return subprocess.run(
        [*made, "sh", "-c", SCRIPT, "sh", *to_cover(), *map(str, also), "--", *command],
        env=env,
        cwd=str(cwd) if cwd else None,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
