"""The README's examples run unchanged. With proxy settings, example.org is the test server."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator

import pytest
from commands import sh
from pictures import png
from testserver import TestServer, body, ok, script


@pytest.fixture(scope="module")
def examples(root: Path) -> Dict[str, str]:
    text = (root / "README.md").read_text()
    return dict(re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL))


@pytest.fixture
def reader(user: Dict[str, str]) -> Iterator[Dict[str, str]]:
    """A user's environment in which example.org is the test server."""
    with TestServer() as server:
        server.on("/nut.png", ok(png(32, 24), "image/png"))
        server.on("/seeds.json", ok('{"seeds": [1, 2, 3]}', "application/json"))
        server.echo("/echo")
        server.on("/slow", script(steps=[server.gate("never").step, body("x")]))
        yield {**user, "http_proxy": server.url("")}


def test_readme_has_short_examples_for_shell_python_c_and_swift(examples: Dict[str, str]) -> None:
    assert sorted(examples) == ["c", "python", "sh", "swift"]
    for language, code in examples.items():
        assert 4 <= len(code.splitlines()) <= 16, language


def test_the_shell_example_of_the_readme_runs(
    examples: Dict[str, str], reader: Dict[str, str], tmp_path: Path
) -> None:
    printed = sh(["bash", "-c", examples["sh"]], reader, tmp_path)
    assert '"seeds": [' in printed
    assert (
        "2 URLs: " in printed
        and " 1 failed; " in printed
        and "hit: fresh" in printed
        and "1 files, 1 URLs not" in printed
    )
    assert (tmp_path / "failed.txt").read_text() == "http://example.org/missing.png\n"
    assert (tmp_path / "report.html").exists() and (tmp_path / "thumbs" / "00000000.png").exists()
    assert printed.endswith("exit status 4, and no file\n")
    assert (tmp_path / "nut.png").read_bytes() == png(32, 24)
    assert "seeds" in (tmp_path / "answer.json").read_text()
    assert not (tmp_path / "missing.png").exists()


def test_the_python_example_of_the_readme_runs(
    examples: Dict[str, str], reader: Dict[str, str], root: Path, prefix: Path, tmp_path: Path
) -> None:
    found = {
        "PYTHONPATH": str(root / "bindings/python"),
        "NUTHATCH_LIBRARY": str(prefix / "lib/libnuthatch.so.1"),
    }
    printed = sh([sys.executable, "-c", examples["python"]], {**reader, **found}, tmp_path)
    answer = f"200 image/png {len(png(32, 24))} False\n"
    assert printed == answer + "16 12 (32, 24) (12, 16, 4)\nTrue\ntimeout http://example.org/slow\n"
    assert (tmp_path / "thumbnail.jpg").read_bytes().startswith(b"\xff\xd8")


def test_the_c_example_of_the_readme_runs(
    examples: Dict[str, str], reader: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "app.c").write_text(examples["c"])
    sh(
        ["bash", "-c", "cc -Wall -Wextra -Werror app.c -o app $(pkg-config --cflags --libs nuthatch)"],
        reader,
        tmp_path,
    )
    assert sh(["./app"], reader, tmp_path) == "16x12 of 32x24\n"


def test_the_help_has_the_commands_of_the_readme(user: Dict[str, str]) -> None:
    page = subprocess.run(
        ["nuthatch", "help", "get"], env=user, capture_output=True, text=True, check=True
    ).stdout
    for option in ["--output", "--header", "--data"]:
        assert option in page
