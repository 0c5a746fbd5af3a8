"""The command as the tests run it."""

import signal
import subprocess
from pathlib import Path
from typing import Callable, List

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "build" / "nuthatch")

Outcome = subprocess.CompletedProcess
Runner = Callable[..., "Outcome[bytes]"]


def heed_signals() -> None:
    """For a child that is to be interrupted: a script in the background starts its children with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def names(folder: Path) -> List[str]:
    """What stands in a folder beside the cache."""
    return sorted(path.name for path in folder.iterdir() if path.name != "cache")
