"""Builds version 0.1 from the sources of its last commit. Later runs use the same build."""

import os
import subprocess
from pathlib import Path
from typing import List

from volumes import Unavailable

COMMIT = "d95ed94f932227168e89795d622a1b5ded2b5397"
BUILT = ["libnuthatch.so.1", "nuthatch"]


def run(words: List[str], folder: Path, log: Path) -> None:
    """Runs a command. Its output goes to a file."""
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"
    }
    with log.open("ab") as file:
        try:
            done = subprocess.run(
                words, cwd=str(folder), env=kept, stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )
        except OSError as error:
            raise Unavailable("version 0.1 can't be built: %s" % error) from error
    if done.returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise Unavailable(
            "version 0.1 can't be built: %s failed: %s; see %s" % (words[0], " ".join(last), log)
        )


def prepare(root: Path) -> Path:
    """Returns the folder with the old library and command. Builds them if they are missing, which takes minutes."""
    tree = root / "build" / "reliability" / "version-0.1"
    folder, stamp = tree / "build", tree / "build" / "commit"
    if stamp.is_file() and stamp.read_text() == COMMIT and all((folder / name).is_file() for name in BUILT):
        return folder
    log = tree.parent / "version-0.1.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    known = ["git", "cat-file", "-e", COMMIT + "^{commit}"]
    if subprocess.run(known, cwd=str(root), capture_output=True).returncode != 0:
        raise Unavailable("version 0.1 can't be built: this clone has no commit %s" % COMMIT[:7])
    if not (tree / "Makefile").is_file():
        # A tree that was deleted may still be on git's list.
        run(["git", "worktree", "prune"], root, log)
        run(["git", "worktree", "add", "--force", "--detach", str(tree), COMMIT], root, log)
    print("building version 0.1 in %s" % tree.relative_to(root), flush=True)
    run(["make"], tree, log)
    missing = [name for name in BUILT if not (folder / name).is_file()]
    if missing:
        raise Unavailable("version 0.1 was built without %s; see %s" % (missing[0], log))
    stamp.write_text(COMMIT)
    return folder
