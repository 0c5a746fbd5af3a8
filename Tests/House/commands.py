"""Runs commands for the tests of the build."""

import subprocess
import sys
from pathlib import Path
from typing import Dict, List


def sh(command: List[str], env: Dict[str, str], cwd: Path) -> str:
    """Runs a command that must succeed and returns its standard output."""
    outcome = subprocess.run(command, env=env, cwd=str(cwd), capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def make_wheel(root: Path, folder: Path) -> Path:
    """Makes the wheel for this machine: the self-contained one needs the network. `make packages` tests that one."""
    command = [sys.executable, "Scripts/make-wheel", "--system", "--out", str(folder)]
    subprocess.run(command, cwd=str(root), check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel
