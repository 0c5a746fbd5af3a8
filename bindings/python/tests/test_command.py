"""`python -m nuthatch` replaces Python by the command."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import nuthatch
from testserver import TestServer


def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "nuthatch", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def test_python_m_nuthatch_runs_the_command(server: TestServer, tmp_path: Path) -> None:
    assert run("--version").stdout.decode() == f"nuthatch {nuthatch.__version__}\n"
    done = run("get", "--cache", str(tmp_path / "cache"), server.url("/bytes/1000"), "-o", "a", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "a").read_bytes() == b"x" * 1000
    assert run("get", "--cache", str(tmp_path / "cache"), server.url("/status/404")).returncode == 4
    assert run("gett").returncode == 2


def test_the_command_does_not_inherit_signals_that_python_ignores() -> None:
    program = "import nuthatch.__main__ as m; m.command = lambda: '/bin/grep'; m.main(['SigIgn', '/proc/self/status'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    # SIGPIPE is the 13th, SIGXFSZ the 25th.
    assert int(done.stdout.split()[1], 16) & (1 << 12 | 1 << 24) == 0


def test_python_m_nuthatch_without_a_command_says_so() -> None:
    program = "import nuthatch.__main__ as m; m.command = lambda: None; m.main([])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "the package has no command" in done.stderr
