"""include/nuthatch.h: plain C and C++ for every compiler, in agreement with the sources."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import List

import pytest

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror", "-fsyntax-only"]
STANDARDS = {
    "gcc": ["c89", "c99", "c11", "c17"],
    "clang": ["c11", "c17"],
    "g++": ["c++11", "c++17", "c++20"],
    "clang++": ["c++17", "c++20"],
}
COMPILERS = {
    f"{compiler} {standard}": [
        compiler,
        f"-std={standard}",
        *(["-Wold-style-cast", "-x", "c++"] if "++" in compiler else ["-Wstrict-prototypes", "-x", "c"]),
    ]
    for compiler, standards in STANDARDS.items()
    for standard in standards
}


@pytest.mark.parametrize("name", list(COMPILERS))
def test_the_header_compiles_alone(name: str, root: Path, tmp_path: Path) -> None:
    # clang is part of the toolchain. If it is not in PATH, gcc finds the same problems.
    if name.startswith("clang") and shutil.which(name.split()[0]) is None:
        pytest.skip("no %s in PATH" % name)
    source = tmp_path / "alone"
    source.write_text(
        "#include <nuthatch.h>\n#include <nuthatch.h>\nint main(void) { return 0; }\n".replace(
            "(void)", "()" if "++" in name else "(void)"
        )
    )
    include = ["-I", str(root / "include")]
    outcome = subprocess.run(
        [*COMPILERS[name], *STRICT, *include, str(source)], stderr=subprocess.PIPE, text=True
    )
    assert outcome.returncode == 0, outcome.stderr


def test_the_header_has_nothing_of_swift_or_objective_c(root: Path) -> None:
    text = (root / "include" / "nuthatch.h").read_text()
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    junk = r"SWIFT_\w*|_Nullable|_Nonnull|NSU?Integer|__has_\w+|__attribute__|OBJC_?\w*|@class|#import"
    assert re.findall(junk + "|[Ss]wift", code) == []
    assert "//" not in code, "C90 comments only, so that any C reads it"


def test_no_handle_of_the_header_is_a_void_pointer(root: Path, header_functions: List[str]) -> None:
    text = (root / "include" / "nuthatch.h").read_text()
    for handle in ("nh_cache", "nh_request", "nh_ticket", "nh_response"):
        assert "typedef struct %s %s;" % (handle, handle) in text
    assert "nh_open" in header_functions


def test_the_header_begins_with_overview_and_caveats(root: Path) -> None:
    lines = (root / "include" / "nuthatch.h").read_text().splitlines()
    guard = next(number for number, line in enumerate(lines) if line.startswith("#ifndef"))
    top = "\n".join(lines[:guard])
    for word in ("Overview", "Caveats", "Ownership", "Threads", "Fork", "Errors"):
        assert word in top


def test_every_function_of_the_header_is_documented(root: Path, header_functions: List[str]) -> None:
    text = (root / "include" / "nuthatch.h").read_text()
    silent = [name for name in header_functions if not re.search(r"\*/\n(?:[\w *]+[ *])%s\(" % name, text)]
    assert silent == []


def test_generated_files_agree_with_the_sources(root: Path) -> None:
    command = [str(root / "Scripts" / "make-header"), "--check"]
    outcome = subprocess.run(
        command, cwd=str(root), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert outcome.returncode == 0, outcome.stdout
