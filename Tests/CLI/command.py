"""The command as the tests run it."""

import subprocess
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "build" / "nuthatch")

Outcome = subprocess.CompletedProcess
Runner = Callable[..., "Outcome[bytes]"]
