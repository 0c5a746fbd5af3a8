"""The main promise: an answer that one program fetched is a hit for every other program, in every language."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import pytest
from command import ROOT, Runner
from pictures import png
from testserver import TestServer, ok

VISITORS = ROOT / "Tests" / "Visitors"


class Visitor:
    """A program that has a cache open. A context manager."""

    def __init__(self, command: list[str], **env: str) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, **env},
        )
        assert self.read() == "open"

    def read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        return self.read()

    def __enter__(self) -> Visitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.communicate(timeout=60)
        assert error or self.process.returncode == 0


@pytest.fixture(scope="module")
def c_visitor(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = tmp_path_factory.mktemp("c") / "visitor"
    command = ["cc", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", str(VISITORS / "visitor.c")]
    command += ["-o", str(program), f"-L{ROOT / 'build'}", "-lnuthatch", f"-Wl,-rpath,{ROOT / 'build'}"]
    subprocess.run(command, check=True)
    return str(program)


def python_visitor(*options: str) -> list[str]:
    return [sys.executable, str(VISITORS / "visitor.py"), *options]


def swift_visitor() -> str:
    built = [ROOT / ".build" / kind / "nuthatch-visitor" for kind in ["release", "debug"]]
    found = [path for path in built if path.exists()]
    assert found, "swift build makes nuthatch-visitor"
    return str(max(found, key=lambda path: path.stat().st_mtime))


@pytest.mark.parametrize("store", ["packed", "lossless", "raw"])
def test_an_answer_that_prefetch_stored_is_a_hit_in_all_languages(
    server: TestServer, nuthatch: Runner, tmp_path: Path, c_visitor: str, store: str
) -> None:
    folder = str(tmp_path / "cache")
    urls = []
    for number in range(8):
        server.on(f"/{number}", ok(png(400 + number, 300, seed=number), "image/png"))
        urls.append(server.url(f"/{number}"))
    programs: dict[str, list[str]] = {
        "C": [c_visitor, folder],
        "Python": python_visitor(folder),
        "AsyncCache": python_visitor(folder, "async"),
        "Swift": [swift_visitor(), folder],
        "async Swift": [swift_visitor(), folder, "async"],
    }
    with ExitStack() as stack:
        # All programs open the empty directory first.
        visitors = {name: stack.enter_context(Visitor(command)) for name, command in programs.items()}
        done = nuthatch("prefetch", "--size", "256", "--thumb-store", store, given="\n".join(urls).encode())
        assert done.returncode == 0, done.stderr
        server.go_down()
        for late in [False, True]:
            for name, visitor in visitors.items():
                answers = [visitor.ask(url) for url in urls]
                assert [answer.split()[0] for answer in answers] == ["hit"] * 8, (name, late, answers)
                assert answers[0] == "hit 256x192", name
                assert visitor.ask(urls[0] + "?other") in ("refused", "circuit_open")
            # Again with programs that start only now, beside the others.
            if not late:
                visitors = {name: stack.enter_context(Visitor(command)) for name, command in programs.items()}
        again = nuthatch("prefetch", "--size=256", "--format=jsonl", given="\n".join(urls).encode())
        assert again.returncode == 0
        assert all(json.loads(line)["is_in_cache"] for line in again.stdout.splitlines())


@pytest.mark.parametrize("count", [1, 5])
def test_memory_pressure_makes_private_records_visible_to_other_processes(
    server: TestServer, tmp_path: Path, c_visitor: str, count: int
) -> None:
    folder = str(tmp_path / "cache")
    urls = []
    for number in range(count):
        server.on(f"/{number}", ok(png(400, 300, seed=number), "image/png"))
        urls.append(server.url(f"/{number}"))
    # Wait, so that no other event causes it.
    deaf = {"MEMORY_PRESSURE_WATCH": "/dev/null"}
    with (
        Visitor([c_visitor, folder, "pressure"], **deaf) as fetching,
        Visitor(python_visitor(folder)) as looking,
    ):
        assert [fetching.ask(url) for url in urls] == ["fetched 256x192"] * count
        assert json.loads(fetching.ask("stats"))["spilled_bytes"] == 0
        server.go_down()
        assert {looking.ask(url) for url in urls} <= {"refused", "circuit_open"}
        assert [fetching.ask(url) for url in urls] == ["hit 256x192"] * count
        assert fetching.ask("pressure") == "ok"
        assert json.loads(fetching.ask("stats"))["unwritten"] == 0
        assert [looking.ask(url) for url in urls] == ["hit 256x192"] * count
        statistics = json.loads(fetching.ask("stats"))
        # A body and its metadata take more than the compressed thumbnail.
        assert statistics["spilled_bytes"] > 5000 * count and statistics["spilled"] >= 3 * count
        assert statistics["pressure_warnings"] == 1 and statistics["pressure_criticals"] == 0
        assert [fetching.ask(url) for url in urls] == ["hit 256x192"] * count


def test_shell_python_and_c_programs_share_fetched_answers(
    server: TestServer, nuthatch: Runner, tmp_path: Path, c_visitor: str
) -> None:
    """What one program has fetched or removed, the others find or fetch again."""
    folder = str(tmp_path / "cache")
    server.on("/a", ok(png(400, 300), "image/png"))
    url = server.url("/a")
    with Visitor([c_visitor, folder]) as first, Visitor(python_visitor(folder)) as second:
        assert first.ask(url) == "fetched 256x192"
        assert second.ask(url) == "hit 256x192"
        assert b"hit: fresh" in nuthatch("explain", "--size=256", url).stdout
        assert nuthatch("rm", url).returncode == 0
        assert second.ask(url) == "fetched 256x192"
        assert first.ask(url) == "hit 256x192"
    assert server.count("/a") == 2
