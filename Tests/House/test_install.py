"""The files of `make install`, and a program that is built with them by pkg-config."""

import os
import subprocess
from pathlib import Path
from typing import Dict

import pytest
from commands import sh


def version(root: Path) -> str:
    return sh(["sh", "Scripts/version"], dict(os.environ), root).strip()


def test_make_install_puts_every_file_in_its_place(prefix: Path, root: Path) -> None:
    names = sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir())
    wheel = [name for name in names if name.endswith(".whl")]
    assert len(wheel) == 1
    assert wheel[0].startswith("share/nuthatch/nuthatch-%s-py3-none-linux_" % version(root))
    assert [name for name in names if name not in wheel] == [
        "bin/nuthatch",
        "include/nuthatch.h",
        "include/nuthatch.hpp",
        "lib/cmake/Nuthatch/NuthatchConfig.cmake",
        "lib/cmake/Nuthatch/NuthatchConfigVersion.cmake",
        "lib/libnuthatch.a",
        "lib/libnuthatch.so",
        "lib/libnuthatch.so.1",
        "lib/nuthatch/nuthatch-decoder",
        "lib/pkgconfig/nuthatch-static.pc",
        "lib/pkgconfig/nuthatch.pc",
        "share/bash-completion/completions/nuthatch",
        "share/fish/vendor_completions.d/nuthatch.fish",
        *sorted("share/man/man1/" + page.name for page in (root / "share/man/man1").iterdir()),
        "share/man/man3/nuthatch.3",
        "share/nuthatch/LICENSE",
        "share/nuthatch/installed",
        "share/nuthatch/nuthatch.cdx.json",
        "share/zsh/site-functions/_nuthatch",
    ]
    assert os.readlink(prefix / "lib" / "libnuthatch.so") == "libnuthatch.so.1"


def test_pkg_config_and_the_command_say_the_version(prefix: Path, user: Dict[str, str], root: Path) -> None:
    number = version(root)
    assert number
    assert sh(["pkg-config", "--modversion", "nuthatch"], user, prefix).strip() == number
    assert number in sh(["nuthatch", "--version"], user, prefix).split()


@pytest.mark.parametrize(
    "compiler", ["cc -std=c99", "cc -std=c11", "g++ -std=c++11 -x c++", "g++ -std=c++17 -x c++"]
)
def test_a_program_builds_with_pkg_config_and_runs(
    compiler: str, user: Dict[str, str], root: Path, server: str, tmp_path: Path
) -> None:
    source = root / "Tests" / "House" / "app.c"
    command = "%s '%s' -o app -x none $(pkg-config --cflags --libs nuthatch)" % (compiler, source)
    sh(["sh", "-c", command], user, tmp_path)
    assert sh(["./app", "cache", server + "/bytes/70000"], user, tmp_path) == "200 70000\n"


def test_the_installed_examples_are_short_and_build(user: Dict[str, str], root: Path, tmp_path: Path) -> None:
    examples = sorted((root / "bindings" / "c").glob("**/*.c"))
    assert examples, "no example in bindings/c"
    for example in examples:
        assert len(example.read_text().splitlines()) <= 60, example.name
        command = "cc -Wall -Wextra -Werror '%s' -o app $(pkg-config --cflags --libs nuthatch)" % example
        sh(["sh", "-c", command], user, tmp_path)


def test_make_install_uses_destdir_and_make_uninstall_removes_all_of_it(
    clean_environment: Dict[str, str], root: Path, tmp_path: Path
) -> None:
    places = ["PREFIX=/usr", "LIBDIR=/usr/lib/here", "DESTDIR=%s" % (tmp_path / "root")]
    sh(["make", "install", *places], clean_environment, root)
    described = (tmp_path / "root/usr/lib/here/pkgconfig/nuthatch.pc").read_text()
    assert described.startswith("prefix=/usr\n")
    for file in (tmp_path / "root").rglob("*"):
        assert file.is_dir() or str(tmp_path).encode() not in file.read_bytes(), file
    assert sh([str(tmp_path / "root/usr/bin/nuthatch"), "--version"], clean_environment, tmp_path)
    sh(["make", "uninstall", *places], clean_environment, root)
    assert list((tmp_path / "root").iterdir()) == []


def test_folders_may_have_blanks_and_other_characters(
    clean_environment: Dict[str, str], root: Path, server: str, tmp_path: Path
) -> None:
    prefix = tmp_path / "a b & é%"
    places = ["PREFIX=%s" % prefix]
    sh(["make", "install", *places], clean_environment, root)
    assert sh([str(prefix / "bin/nuthatch"), "--version"], clean_environment, tmp_path)
    user = dict(clean_environment, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    user["LD_LIBRARY_PATH"] = str(prefix / "lib")
    source = root / "Tests" / "House" / "app.c"
    for package in ("nuthatch", "nuthatch-static"):
        # pkg-config writes a backslash before the blank, for eval and for build tools.
        command = "eval \"cc '%s' -o app $(pkg-config --cflags --libs %s)\"" % (source, package)
        sh(["sh", "-c", command], user, tmp_path)
        assert sh(["./app", "cache", server + "/bytes/70000"], user, tmp_path) == "200 70000\n"
    sh(["make", "uninstall", *places], clean_environment, root)
    assert not prefix.exists()
    places = ["PREFIX=/usr", "DESTDIR=%s" % prefix]
    sh(["make", "install", *places], clean_environment, root)
    assert sh([str(prefix / "usr/bin/nuthatch"), "--version"], clean_environment, tmp_path)
    sh(["make", "uninstall", *places], clean_environment, root)
    assert list(prefix.iterdir()) == []


@pytest.mark.parametrize("character", list("\"'`\\$;#\n\t"), ids=repr)
def test_a_folder_that_no_build_tool_could_be_told_is_refused(
    character: str, clean_environment: Dict[str, str], root: Path, tmp_path: Path
) -> None:
    folder = tmp_path / ("a%sb" % character)
    for places in ([folder, tmp_path / "lib"], [tmp_path / "usr", folder]):
        command = ["Scripts/install", *map(str, places), ""]
        outcome = subprocess.run(command, env=clean_environment, cwd=root, capture_output=True, text=True)
        assert outcome.returncode == 1
        name = "PREFIX" if places[0] == folder else "LIBDIR"
        assert outcome.stderr.startswith("install: %s has a character that pkg-config or CMake" % name)
        assert list(tmp_path.iterdir()) == []


def test_make_uninstall_leaves_what_others_have_there(
    prefix: Path, clean_environment: Dict[str, str], root: Path, tmp_path: Path
) -> None:
    """`prefix` has had everything built."""
    others = [tmp_path / "bin", tmp_path / "lib/pkgconfig", tmp_path / "share/man/man1/other.1"]
    for path in others:
        path.mkdir(parents=True)
    install = ["Scripts/install", str(tmp_path), str(tmp_path / "lib"), ""]
    sh(install, clean_environment, root)
    # Files that came later, and one of an earlier version that this one doesn't have.
    later = tmp_path / "include" / "later.h"
    later.write_text("")
    earlier = tmp_path / "share" / "nuthatch" / "nuthatch-0.0.1-py3-none-any.whl"
    earlier.write_text("")
    with (tmp_path / "share" / "nuthatch" / "installed").open("a") as file:
        file.write(str(earlier) + "\n")
    sh(install, clean_environment, root)
    assert not earlier.exists()
    sh(["make", "uninstall", "PREFIX=%s" % tmp_path], clean_environment, root)
    left = {path for path in tmp_path.rglob("*") if path.is_file() or not any(path.iterdir())}
    assert left == {*others, later}


def test_make_uninstall_says_that_nothing_is_installed_there(
    clean_environment: Dict[str, str], root: Path, tmp_path: Path
) -> None:
    command = ["make", "uninstall", "PREFIX=%s" % tmp_path]
    outcome = subprocess.run(command, env=clean_environment, cwd=str(root), capture_output=True, text=True)
    assert outcome.returncode != 0
    assert "%s/share/nuthatch/installed is missing" % tmp_path in outcome.stderr
