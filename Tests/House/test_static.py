"""libnuthatch.a: what it shows, and programs that are linked with it. They need no shared library of ours."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Callable, Dict, List

import elf
import pytest
from commands import sh

# Uses the parts of the C++ library that the Swift runtime uses as well.
TEMPLATES = """
#include <nuthatch.hpp>
#include <deque>
#include <functional>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
  std::unordered_map<std::string, std::vector<std::string>> words;
  for (int i = 0; i < 2000; i++) words["w" + std::to_string(i % 7)].push_back(std::string(i, 'x'));
  std::deque<std::function<size_t()>> calls{[&] { return words.at("w6").size(); }};
  try {
    words.at("none");
  } catch (const std::exception &) {
    std::cout << calls[0]() << " " << nh_version() << std::endl;
  }
}
"""
# A linker takes a reference to a discarded group from some objects, and not from others.
LINKERS = ["bfd", "gold", "lld"]


@pytest.fixture(scope="module")
def archive(prefix: Path) -> Path:
    return prefix / "lib" / "libnuthatch.a"


def has_linker(name: str) -> bool:
    return shutil.which("ld." + name) is not None


def needed_of_ours(program: Path) -> List[str]:
    return [name for name in elf.dynamic(program, "NEEDED") if "nuthatch" in name or "swift" in name]


def test_the_archive_shows_what_the_header_declares_and_nothing_else(
    archive: Path, header_functions: List[str]
) -> None:
    lines = elf.output("nm", "--extern-only", "--defined-only", str(archive)).splitlines()
    assert sorted(line.split()[-1] for line in lines if re.match(r"[0-9a-f]+ ", line)) == header_functions


def test_the_archive_stays_below_its_size_limit(archive: Path, figure: Callable[[str, str], None]) -> None:
    size = archive.stat().st_size
    figure("size of libnuthatch.a", "%.2f MB" % (size / 1e6))
    assert size < 22_000_000


@pytest.mark.parametrize("linker", LINKERS)
def test_a_program_contains_the_library(
    linker: str, user: Dict[str, str], root: Path, server: str, tmp_path: Path
) -> None:
    if not has_linker(linker):
        pytest.skip("no ld.%s in PATH" % linker)
    source = root / "Tests" / "House" / "app.c"
    command = "cc -std=c11 '%s' -o app -fuse-ld=%s -Wl,--gc-sections" % (source, linker)
    sh(["sh", "-c", command + " $(pkg-config --cflags --libs nuthatch-static)"], user, tmp_path)
    assert needed_of_ours(tmp_path / "app") == []
    alone = {name: value for name, value in user.items() if name != "LD_LIBRARY_PATH"}
    assert sh(["./app", "cache", server + "/bytes/70000"], alone, tmp_path) == "200 70000\n"


@pytest.fixture
def moved(prefix: Path, tmp_path: Path) -> Path:
    """An installation with both libraries in another folder, which the test may change."""
    folder = tmp_path / "moved"
    (folder / "lib").mkdir(parents=True)
    for path in (prefix / "lib").glob("libnuthatch.*"):
        shutil.copy(path, folder / "lib", follow_symlinks=False)
    shutil.copytree(prefix / "include", folder / "include")
    for path in (prefix / "lib/pkgconfig").iterdir():
        (folder / path.name).write_text(path.read_text().replace(str(prefix), str(folder)))
    return folder


@pytest.mark.parametrize("has_shared", [True, False], ids=["both", "static only"])
def test_a_program_takes_the_static_library_where_there_is_no_shared_one(
    has_shared: bool, moved: Path, user: Dict[str, str], root: Path, server: str, tmp_path: Path
) -> None:
    user = dict(user, PKG_CONFIG_PATH=str(moved), LD_LIBRARY_PATH=str(moved / "lib"))
    if not has_shared:
        for path in (moved / "lib").glob("*.so*"):
            path.unlink()
    source = root / "Tests" / "House" / "app.c"
    command = "cc '%s' -o app $(pkg-config --static --cflags --libs nuthatch)" % source
    sh(["sh", "-c", command], user, tmp_path)
    assert needed_of_ours(tmp_path / "app") == (["libnuthatch.so.1"] if has_shared else [])
    assert sh(["./app", "cache", server + "/bytes/70000"], user, tmp_path) == "200 70000\n"


@pytest.mark.parametrize("linker", LINKERS)
def test_names_of_cpp_in_the_archive_do_not_clash(linker: str, user: Dict[str, str], tmp_path: Path) -> None:
    if not has_linker(linker):
        pytest.skip("no ld.%s in PATH" % linker)
    (tmp_path / "app.cpp").write_text(TEMPLATES)
    command = "g++ -std=c++17 app.cpp -o app -fuse-ld=%s" % linker
    sh(["sh", "-c", command + " $(pkg-config --cflags --libs nuthatch-static)"], user, tmp_path)
    assert sh(["./app"], user, tmp_path).split()[0] == "285"


def test_a_plugin_can_contain_the_library(user: Dict[str, str], tmp_path: Path) -> None:
    source = "#include <nuthatch.h>\nconst char *told(void) { return nh_version(); }\n"
    (tmp_path / "plugin.c").write_text(source)
    command = "cc -shared -fPIC plugin.c -o plugin.so -Wl,--no-undefined -Wl,-z,nodelete"
    sh(["sh", "-c", command + " $(pkg-config --cflags --libs nuthatch-static)"], user, tmp_path)
    assert needed_of_ours(tmp_path / "plugin.so") == []
    assert "TEXTREL" not in elf.output("readelf", "-dW", str(tmp_path / "plugin.so"))
    load = (
        "import ctypes; f = ctypes.CDLL('./plugin.so').told; f.restype = ctypes.c_char_p; print(f().decode())"
    )
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", sh(["python3", "-c", load], user, tmp_path))


def test_pkg_config_names_the_libraries_that_the_shared_one_needs(
    user: Dict[str, str], prefix: Path, build: Path
) -> None:
    def named(*arguments: str) -> List[str]:
        found = re.findall(r"-l(\S+)", sh(["pkg-config", "--libs", *arguments], user, prefix))
        return [re.sub(r"^:lib(.*)\.so$", r"\1", name) for name in found]

    assert named("nuthatch") == ["nuthatch"]
    rest = named("--static", "nuthatch")[1:]
    assert named("nuthatch-static") == [":libnuthatch.a", *rest]
    of_the_compiler = {"c", "gcc_s", "ld-linux-x86-64", "ld-linux-aarch64"}
    needed = elf.dynamic(build / "libnuthatch.so.1", "NEEDED")
    wanted = {re.sub(r"^lib|\.so.*", "", name) for name in needed} - of_the_compiler
    # The shared library contains libstdc++; the archive doesn't.
    wanted.add("stdc++")
    # In newer versions of libc these two are empty.
    assert set(rest) - {"dl", "pthread"} == wanted


def test_a_static_library_that_is_not_built_is_said(root: Path, user: Dict[str, str], tmp_path: Path) -> None:
    outcome = subprocess.run(
        [str(root / "Scripts" / "make-archive"), str(tmp_path), str(tmp_path)],
        env=user,
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 1
    assert outcome.stderr.endswith("build the library first (make)\n")
