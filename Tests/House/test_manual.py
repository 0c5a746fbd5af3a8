"""Man pages that render without warnings, and completions that work in the shells."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARE = ROOT / "share"
PAGES = sorted((SHARE / "man").glob("man*/*"))


@pytest.fixture(scope="module")
def commands() -> List[Dict[str, Any]]:
    told = subprocess.run([ROOT / "build/nuthatch", "__describe"], stdout=subprocess.PIPE, check=True).stdout
    found: List[Dict[str, Any]] = json.loads(told)["commands"]
    return found


def needed(tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool} here")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_man_page_renders_without_a_warning(page: Path) -> None:
    needed("groff")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-c", page], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = re.sub(".\b", "", done.stdout)
    assert re.match(rf"{page.stem.upper()}\({page.suffix[1:]}\) .*\n+NAME\n", text)
    for mark in (r"\f", r"\-", r"\(", "[u"):
        assert mark not in text


def test_every_command_has_a_man_page_with_every_option(commands: List[Dict[str, Any]]) -> None:
    assert {f"nuthatch-{command['name']}" for command in commands} | {"nuthatch"} == {
        page.stem for page in PAGES if page.suffix == ".1"
    }
    for command in commands:
        text = (SHARE / f"man/man1/nuthatch-{command['name']}.1").read_text().replace("\\-", "-")
        for option in command["options"]:
            assert f"\\fB--{option['name']}\\fR" in text, (command["name"], option["name"])
        assert f"nuthatch-{command['name']}" in (SHARE / "man/man1/nuthatch.1").read_text().replace(
            "\\-", "-"
        )


def test_the_manual_of_the_library_has_its_overview_and_every_function(header_functions: List[str]) -> None:
    needed("groff")
    page = SHARE / "man/man3/nuthatch.3"
    told = subprocess.run(
        ["groff", "-man", "-Tutf8", "-rHY=0", "-P-c", page], stdout=subprocess.PIPE, check=True
    ).stdout
    text = re.sub(".\b", "", told.decode())
    named = re.findall(r"\bnh_\w+", text.split("\nFUNCTIONS\n")[1])
    assert sorted(named) == header_functions
    words = " ".join(text.split())
    header = (ROOT / "include/nuthatch.h").read_text().split("*/")[1]
    for line in re.sub(r"^ \* ?", "", header, flags=re.MULTILINE).splitlines():
        # Headings are in capitals, and the marks of lists differ.
        line = line.strip().removeprefix("- ")
        if line and not set(line) <= {"=", "/", "*"} and line.upper() not in text:
            assert " ".join(line.split()[1:]).rstrip(".") in words, line


@pytest.mark.parametrize(
    "shell, file",
    [
        ("bash", "bash-completion/completions/nuthatch"),
        ("zsh", "zsh/site-functions/_nuthatch"),
        ("fish", "fish/vendor_completions.d/nuthatch.fish"),
    ],
)
def test_the_command_prints_the_installed_completions(shell: str, file: str) -> None:
    told = subprocess.run(
        [ROOT / "build/nuthatch", "completions", shell], stdout=subprocess.PIPE, check=True
    ).stdout
    assert told.decode() == (SHARE / file).read_text()


@pytest.mark.parametrize("words", [[], ["tcsh"], ["bash", "zsh"], ["--shell", "bash"]], ids=" ".join)
def test_a_shell_without_completions_is_refused(words: List[str]) -> None:
    done = subprocess.run([ROOT / "build/nuthatch", "completions", *words], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"") and b"completions: " in done.stderr


#: Typed text, and words that are offered for its last word.
TYPED = [
    ("nuthatch pre", {"prefetch"}),
    ("nuthatch get --out", {"--output", "--outbox-queue"}),
    ("nuthatch get --fit ", {"inside", "cover", "stretch"}),
    ("nuthatch get --fit=c", {"cover"}),
    ("nuthatch explain --max-p", {"--max-pixels"}),
    ("nuthatch --he", {"--help"}),
    ("nuthatch outbox re", {"replay"}),
    ("nuthatch config ch", {"check"}),
    ("nuthatch config check li", {"list.txt"}),
    ("nuthatch completions z", {"zsh"}),
    ("nuthatch --version --verb", {"--verbose"}),
    ("nuthatch --version --format j", {"json"}),
    ("nuthatch ls --format j", {"json", "jsonl"}),
    ("nuthatch prefetch li", {"list.txt"}),
    ("nuthatch get --netrc-file li", {"list.txt"}),
    ("nuthatch stat --cache fo", {"folder"}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "list.txt").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


def offered_by_bash(typed: str, folder: Path) -> set[str]:
    parts = re.findall(r"=|[^\s=]+", typed) + ([""] if typed.endswith(" ") else [])
    script = f"source '{SHARE}/bash-completion/completions/nuthatch'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
    script += "_nuthatch; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(
        ["bash", "-c", script, "bash", *parts], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    offered = set(done.stdout.split())
    assert all(word.startswith(parts[-1].lstrip("=")) for word in offered), offered
    return offered


@pytest.mark.parametrize("typed, words", TYPED, ids=lambda value: value if isinstance(value, str) else "")
def test_bash_completes_commands_options_and_values(typed: str, words: set[str], folder: Path) -> None:
    assert words <= offered_by_bash(typed, folder)


@pytest.mark.parametrize("typed", ["config check ", "completions bash ", "outbox replay ", "help get "])
def test_bash_offers_the_words_of_an_operand_once(typed: str, folder: Path) -> None:
    expected = {"list.txt", "folder"} if typed == "config check " else set()
    assert offered_by_bash("nuthatch " + typed, folder) == expected


#: Typed text of which a later word looks like a command, and words that aren't offered.
LATER = [
    ("nuthatch help get --", {"--output"}),
    ("nuthatch export get --", {"--output"}),
    ("nuthatch rm prefetch --", {"--report"}),
    ("nuthatch rm prefetch li", {"list.txt"}),
    ("nuthatch --version ", {"get"}),
    ("nuthatch --config get --", {"--output"}),
    ("nuthatch http://a.test/ --version --", {"--verbose"}),
]


@pytest.mark.parametrize("typed, words", LATER, ids=lambda value: value if isinstance(value, str) else "")
def test_only_the_first_word_is_the_command(typed: str, words: set[str], folder: Path) -> None:
    assert not words & offered_by_bash(typed, folder)
    needed("fish")
    assert not words & offered_by_fish(typed, folder)


def test_fish_completes_after_operands_and_other_options(folder: Path) -> None:
    needed("fish")
    for typed in (
        "get http://a.test/ --ou",
        "get --size 9 --config list.txt http://a.test/ --ou",
        "get -q --ou",
    ):
        assert "--output" in offered_by_fish("nuthatch " + typed, folder), typed
    assert "list.txt" in offered_by_fish("nuthatch prefetch --size 9 list.txt li", folder)


@pytest.mark.parametrize("typed, words", TYPED, ids=lambda value: value if isinstance(value, str) else "")
def test_fish_completes_commands_options_and_values(typed: str, words: set[str], folder: Path) -> None:
    needed("fish")
    offered = offered_by_fish(typed, folder)
    assert words <= offered, offered


def offered_by_fish(typed: str, folder: Path) -> set[str]:
    script = f"source '{SHARE}/fish/vendor_completions.d/nuthatch.fish'; complete -C '{typed}'"
    env = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {re.split(r"[\t\n]", line)[0].split("=")[-1].rstrip("/") for line in done.stdout.splitlines()}


@pytest.mark.parametrize("typed, words", TYPED, ids=lambda value: value if isinstance(value, str) else "")
def test_zsh_completes_commands_options_and_values(typed: str, words: set[str], folder: Path) -> None:
    needed("zsh")
    start = f"PS1=; unsetopt zle_bracketed_paste; fpath=({SHARE}/zsh/site-functions $fpath); autoload -U compinit; "
    start += f"compinit -u -d {folder}/dump; setopt auto_list; unsetopt list_beep always_last_prompt; echo REA''DY\n"
    said = at_a_prompt(["zsh", "-f", "-i"], folder, start, "READY", typed + "\t\t", words)
    assert all(word in said for word in words), said


def test_zsh_completes_when_the_printed_completions_are_sourced(folder: Path) -> None:
    needed("zsh")
    start = "PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; "
    start += f"compinit -u -d {folder}/dump; setopt auto_list; unsetopt list_beep always_last_prompt; "
    start += f"source <({ROOT}/build/nuthatch completions zsh); echo REA''DY\n"
    said = at_a_prompt(["zsh", "-f", "-i"], folder, start, "READY", "nuthatch outbox re\t\t", {"replay"})
    assert "replay" in said


def at_a_prompt(shell: List[str], folder: Path, start: str, mark: str, keys: str, words: set[str]) -> str:
    """Returns the output of an interactive shell after key presses."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(TERM="dumb", HOME=str(folder))
        os.execvp(shell[0], shell)
    said = b""

    def read_until(is_enough: Any, seconds: float) -> None:
        nonlocal said
        end = time.monotonic() + seconds
        while not is_enough() and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                said += os.read(terminal, 65536)

    try:
        os.write(terminal, start.encode())
        read_until(lambda: mark.encode() in said, 60)
        said = b""
        os.write(terminal, keys.encode())
        read_until(lambda: all(word.encode() in said for word in words), 20)
    finally:
        os.kill(process, 9)
        os.close(terminal)
        os.waitpid(process, 0)
    return said.decode(errors="replace")
