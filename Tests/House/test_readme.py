"""The examples of README.md and docs/COMMAND.md run as they stand. A server on loopback answers for their hosts."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List

import pytest
from commands import sh
from examples import LOGO, all_hosts, examples


@pytest.fixture(scope="module")
def readme(root: Path) -> Dict[str, List[str]]:
    return examples(root / "README.md")


@pytest.fixture
def reader(user: Dict[str, str], tmp_path: Path) -> Iterator[Dict[str, str]]:
    """A user's environment in which the hosts of the examples answer, with an empty cache."""
    with all_hosts() as hosts:
        yield {**user, **hosts, "NUTHATCH_CACHE": str(tmp_path / "cache")}


def test_readme_has_one_short_example_for_each_language(readme: Dict[str, List[str]]) -> None:
    assert sorted(readme) == ["c", "python", "sh", "swift"]
    for language, (code,) in readme.items():
        assert 4 <= len(code.splitlines()) <= 16, language


def test_readme_has_two_pictures_and_at_most_130_lines(root: Path) -> None:
    text = (root / "README.md").read_text()
    pictures = re.findall(r"^!\[[^\]]+\]\((\S+)\)$", text, re.MULTILINE)
    assert len(pictures) == 2 and len(text.splitlines()) <= 130
    assert all(0 < (root / picture).stat().st_size < 150_000 for picture in pictures)


def test_the_shell_examples_run(readme: Dict[str, List[str]], reader: Dict[str, str], tmp_path: Path) -> None:
    printed = sh(["bash", "-c", readme["sh"][0]], reader, tmp_path)
    assert "2 URLs: 0 hits, 1 fetched, 1 failed" in printed and "still missing\n" in printed
    assert "hit: fresh" in printed and "1 file, 1 URL not" in printed and "00000000.jpg\n" in printed
    assert '"slideshow": {}' in printed
    assert (tmp_path / "failed.txt").read_text() == "http://www.python.org/no-such-picture.png\n"
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "python.png").read_bytes() == LOGO


def test_shell_examples_of_the_command_page(root: Path, reader: Dict[str, str], tmp_path: Path) -> None:
    (code,) = examples(root / "docs/COMMAND.md")["sh"]
    printed = sh(["bash", "-c", code], reader, tmp_path)
    assert "2 URLs: 1 hit, 0 fetched, 1 failed" in printed and '"is_in_cache":true' in printed
    assert '"slideshow": {}' in printed and "waiting" in printed
    assert "seeds" in (tmp_path / "answer.json").read_text()
    assert (tmp_path / "thumbnail.jpg").read_bytes().startswith(b"\xff\xd8")
    assert "ann" in (tmp_path / "login.json").read_text()
    assert printed.endswith("exit status 4, and no file\n") and not (tmp_path / "missing.png").exists()


def test_the_python_examples_run(
    readme: Dict[str, List[str]], reader: Dict[str, str], root: Path, prefix: Path, tmp_path: Path
) -> None:
    found = {
        "PYTHONPATH": str(root / "bindings/python"),
        "NUTHATCH_LIBRARY": str(prefix / "lib/libnuthatch.so.1"),
    }
    printed = sh([sys.executable, "-c", readme["python"][0]], {**reader, **found}, tmp_path)
    assert printed.splitlines() == [
        f"200 image/png {len(LOGO)} False",
        "(128, 36) (290, 82) (36, 128, 4)",
        "True",
        "timeout http://httpbin.org/delay/10",
    ]
    assert (tmp_path / "thumbnail.jpg").read_bytes().startswith(b"\xff\xd8")


def test_the_c_examples_run(readme: Dict[str, List[str]], reader: Dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(readme["c"][0])
    command = "cc -Wall -Wextra -Werror app.c -o app $(pkg-config --cflags --libs nuthatch)"
    sh(["bash", "-c", command], reader, tmp_path)
    assert sh(["./app"], reader, tmp_path) == "128x36 of 290x82\n"


def test_help_of_get_has_the_options_of_the_examples(user: Dict[str, str]) -> None:
    page = subprocess.run(
        ["nuthatch", "help", "get"], env=user, capture_output=True, text=True, check=True
    ).stdout
    for option in ["--output", "--header", "--data"]:
        assert option in page
