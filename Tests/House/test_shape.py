"""The library libnuthatch.so.1, which has the command's code, and the command's launcher: exported symbols, needed
libraries, and absent parts."""

import os
import re
import time
from pathlib import Path
from typing import Callable, List, Set

import elf
import pytest

ALLOWED = {
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
    "libc.so.6",
    "libcrypto.so.3",
    "libcurl.so.4",
    "libgcc_s.so.1",
    "libjpeg.so.62",
    "libm.so.6",
    "libpng16.so.16",
}

# What the launchers of the command and of the decoder call.
ENTRIES = ["nhs_run_command", "nhs_run_decoder"]


@pytest.fixture(params=["libnuthatch.so.1", "nuthatch", "nuthatch-decoder"])
def built(request: pytest.FixtureRequest, build: Path) -> Path:
    return build / str(request.param)


@pytest.fixture
def unstripped(root: Path) -> Path:
    return root / ".build" / "release" / "libnuthatch-c.so"


def documented_libraries(root: Path) -> Set[str]:
    """Returns the first column of the table "Libraries needed at run time" in docs/DECISIONS.md."""
    page = root / "docs" / "DECISIONS.md"
    if not page.exists():
        return set()
    parts = re.split(r"^#+ .*Libraries needed at run time.*$", page.read_text(), flags=re.MULTILINE)
    if len(parts) < 2:
        return set()
    table = re.split(r"^#", parts[1], maxsplit=1, flags=re.MULTILINE)[0]
    return set(
        re.findall(r"^\|[^|\n]*?`?((?:lib|ld-)[\w+.-]*\.so[\w.]*)`?[^|\n]*\|", table, flags=re.MULTILINE)
    )


def test_the_soname_is_that_of_the_first_abi(build: Path) -> None:
    assert elf.soname(build / "libnuthatch.so.1") == "libnuthatch.so.1"
    assert os.readlink(build / "libnuthatch.so") == "libnuthatch.so.1"


def test_the_library_exports_what_the_header_declares(build: Path, header_functions: List[str]) -> None:
    assert header_functions
    names = elf.exported(build / "libnuthatch.so.1")
    assert [name for name in names if name not in ENTRIES] == header_functions


def test_the_library_exports_only_names_with_its_prefix(build: Path) -> None:
    names = elf.exported(build / "libnuthatch.so.1")
    assert [name for name in names if not name.startswith("nh_")] == ENTRIES


def test_no_symbol_of_the_library_can_be_replaced_by_a_program(build: Path) -> None:
    """So the libraries that are linked in can't be confused with others of the process."""
    assert {"SYMBOLIC"} <= set(elf.flags(build / "libnuthatch.so.1"))


def test_only_documented_libraries_are_needed(built: Path, root: Path) -> None:
    needed = set(elf.dynamic(built, "NEEDED"))
    assert needed - ALLOWED - documented_libraries(root) == set()
    assert "libc.so.6" in needed


def test_the_library_contains_zstd_and_xz(build: Path, root: Path) -> None:
    """So neither a system nor a wheel needs them."""
    unpackers = {"ZSTD_decompressStream", "lzma_code"}
    assert unpackers <= set(elf.all_symbols(root / ".build" / "release" / "libnuthatch-c.so"))
    for name in ("nuthatch", "libnuthatch.so.1"):
        needed = elf.dynamic(build / name, "NEEDED")
        assert [library for library in needed if "zstd" in library or "lzma" in library] == []


def test_the_library_can_not_be_unloaded(build: Path) -> None:
    assert "NODELETE" in elf.flags(build / "libnuthatch.so.1")


def test_the_library_can_be_loaded_by_a_running_program(build: Path) -> None:
    """A running program may have no room for static thread-local storage."""
    assert "STATIC_TLS" not in elf.output("readelf", "-dW", str(build / "libnuthatch.so.1"))


def test_the_code_of_the_library_is_position_independent(built: Path) -> None:
    assert "TEXTREL" not in elf.flags(built)
    assert "TEXTREL" not in elf.output("readelf", "-dW", str(built))


def test_the_stack_is_not_executable_and_relocations_are_read_only(built: Path) -> None:
    segments = elf.loaded_segments(built)
    assert re.search(r"GNU_STACK .* RW +0", segments)
    assert "GNU_RELRO" in segments


def test_no_folder_of_the_build_is_searched_for_libraries(built: Path) -> None:
    folders = ":".join(elf.dynamic(built, "RPATH") + elf.dynamic(built, "RUNPATH")).split(":")
    assert [folder for folder in folders if folder not in ("", "$ORIGIN")] == []


def test_the_library_contains_no_dispatch_and_no_foundation(unstripped: Path) -> None:
    names = elf.all_symbols(unstripped)
    assert any("NuthatchCore" in name for name in names), "stripped: this test would find nothing"
    banned = re.compile(
        r"^_?_?dispatch_|^\$s\d+Foundation|^_?CF[A-Z]|^OBJC_CLASS_\$_.*Foundation|^OBJC_.*OS_dispatch"
    )
    assert [name for name in names if banned.search(name)] == []


def test_built_files_stay_below_their_size_limit(built: Path, figure: Callable[[str, str], None]) -> None:
    size = built.stat().st_size
    figure("size of %s" % built.name, "%.2f MB" % (size / 1e6))
    assert size < (50_000 if built.name == "nuthatch" else 13_000_000)


def test_the_command_starts_within_20_ms(build: Path, figure: Callable[[str, str], None]) -> None:
    program = str(build / "nuthatch")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    times: List[float] = []
    # Other processes only make a start slower, so one fast start is proof. Wait for it on a busy machine.
    end = time.monotonic() + 120
    while len(times) < 20 or (min(times) >= 20 and time.monotonic() < end):
        begin = time.perf_counter()
        pid = os.posix_spawn(
            program, [program, "--version"], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, 1)]
        )
        _, status = os.waitpid(pid, 0)
        times.append((time.perf_counter() - begin) * 1000)
        assert status == 0
    os.close(nowhere)
    text = "%.1f ms (median %.1f)" % (min(times), sorted(times)[len(times) // 2])
    figure("start of the command, best of %d" % len(times), text)
    assert min(times) < 20
