"""Every function of the ABI, one by one, with handles that it must not accept.

The functions come from the generated prototypes, which are checked against header and library, so that none is
missing. Each function is called in another process: a crash is a failure that shows the calls before it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List

import pytest
from testserver import TestServer, body, interim, ok, script

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))

from nuthatch import _prototypes  # noqa: E402

WORKER = Path(__file__).with_name("call_wrongly.py")
RANDOM_WORKER = Path(__file__).with_name("call_randomly.py")
HANDLES = ["nh_cache", "nh_request", "nh_ticket", "nh_response", "nh_site", "nh_image", "nh_frozen"]


def takes_handles(name: str) -> List[str]:
    return [
        kind for kind in _prototypes.SIGNATURES[name][1] if kind.rstrip(" *") in HANDLES and "**" not in kind
    ]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with TestServer() as server:
        yield server.url("/png/16/16")


def test_every_function_that_takes_a_handle_answers_with_a_status() -> None:
    for name, (result, _) in _prototypes.SIGNATURES.items():
        if takes_handles(name):
            # A number is a count or a descriptor, and negative for a status. A handle is NULL for an error.
            assert result in ("nh_status", "int32_t", "nh_image *"), name


@pytest.mark.parametrize("name", list(_prototypes.SIGNATURES))
def test_wrong_arguments_are_refused(name: str, url: str, tmp_path: Path) -> None:
    env = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    command = [sys.executable, str(WORKER), name, url, str(tmp_path / "cache")]
    done = subprocess.run(command, env=env, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    calls = json.loads(done.stdout)
    # nh_log_set accepts every callback and pointer.
    assert calls or name == "nh_log_set" or not any("*" in kind for kind in _prototypes.SIGNATURES[name][1])
    wrong = [call for call in calls if call["status"] != "invalid"]
    assert not wrong


@pytest.mark.parametrize("seed", ["hazel", "walnut"])
def test_random_calls_never_end_the_process(seed: str, tmp_path: Path) -> None:
    """For a longer run: NUTHATCH_FUZZ_SECONDS=600 Scripts/test --only c --filter random"""
    env = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    seconds = os.environ.get("NUTHATCH_FUZZ_SECONDS", "5")
    with TestServer() as server:
        server.on("/hints", script(steps=[interim(103, [("Link", "</a>")]), body("nut")]))
        server.on("/cookie", ok("nut", headers=[("Set-Cookie", "a=b; Max-Age=60")]))
        command = [sys.executable, str(RANDOM_WORKER), server.url(""), str(tmp_path / "cache"), seed, seconds]
        limit = float(seconds) + 120
        # In a new folder: answers are saved to files with random names, and to the first descriptors.
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, timeout=limit, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    assert int(done.stdout.splitlines()[-1]) > 100
