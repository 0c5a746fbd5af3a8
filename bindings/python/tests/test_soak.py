"""Memory that doesn't grow, and random calls that never end the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pictures import png
from testserver import TestServer, ok


def test_memory_does_not_grow_with_requests(server: TestServer, tmp_path: Path) -> None:
    """For a longer run: NUTHATCH_SOAK=1000000"""
    server.on_prefix("/n/", ok(png(128, 96), "image/png", headers=[("Cache-Control", "max-age=86400")]))
    count = os.environ.get("NUTHATCH_SOAK", "100000")
    urls = [server.url(f"/n/{number}") for number in range(150)]
    command = [sys.executable, str(Path(__file__).with_name("soak.py")), str(tmp_path / "c"), count, *urls]
    done = subprocess.run(command, capture_output=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr.decode()
    early, late = (int(line) for line in done.stdout.split())
    assert late - early <= 2048, f"{early} KiB after a fifth, {late} KiB at the end"


@pytest.mark.parametrize("seed", ["hazel", "walnut"])
def test_random_calls_never_end_the_process(server: TestServer, tmp_path: Path, seed: str) -> None:
    """For a longer run: NUTHATCH_FUZZ_SECONDS=600"""
    env = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    seconds = os.environ.get("NUTHATCH_FUZZ_SECONDS", "5")
    worker = Path(__file__).with_name("call_randomly.py")
    command = [sys.executable, str(worker), server.url(""), str(tmp_path / "cache"), seed, seconds]
    done = subprocess.run(command, env=env, capture_output=True, timeout=float(seconds) + 120, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    assert int(done.stdout) > 100
