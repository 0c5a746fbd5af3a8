"""Programs of earlier releases run with this library: the C interface keeps what docs/PROMISES.md says."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Tuple

import pytest

DUMPS = sorted((Path(__file__).parent / "abi").glob("*.json"))
# Programs of these must be compiled anew. Version 0.2 changed the interface of 0.1.
BROKEN = {"0.1"}


def check(root: Path, dump: Path, *arguments: str) -> Tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "Scripts/abi-dump", "--check", str(dump), *arguments],
        cwd=str(root),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "dump", [dump for dump in DUMPS if dump.stem not in BROKEN], ids=lambda dump: dump.stem
)
def test_programs_of_a_release_run_with_this_library(dump: Path, root: Path) -> None:
    status, told = check(root, dump)
    assert status == 0, told


def test_the_newest_dump_is_compared() -> None:
    """For a release, `Scripts/abi-dump` writes a dump with its number."""
    newest = max(DUMPS, key=lambda dump: [int(part) for part in dump.stem.split(".")])
    assert newest.stem not in BROKEN


def test_the_break_with_0_1_is_seen(root: Path) -> None:
    status, told = check(root, DUMPS[0])
    assert DUMPS[0].stem == "0.1" and status == 1
    assert "the function nh_request_new is gone\n" in told and "docs/PROMISES.md" in told
    assert "the function nh_close was nh_status (nh_cache *) and is nh_status (nh_cache *, int64_t)\n" in told


HEADER = """
#include <stddef.h>
#include <stdint.h>
#define NH_NEVER (-1)
typedef struct nh_nut nh_nut;
typedef enum nh_kind { NH_HAZEL = 0, NH_ACORN = 4 } nh_kind;
typedef struct nh_tree {
    uint32_t struct_size;
    nh_kind kind;
    int64_t nuts;
    uint32_t reserved_1;
    int32_t age;
} nh_tree;
typedef struct nh_pair { int32_t left; int32_t right; } nh_pair;
typedef void (*nh_teller)(nh_nut *nut, void *user_data);
nh_kind nh_crack(nh_nut *nut, const char *how);
void nh_plant(const nh_tree *tree, nh_teller tell);
"""
SYMBOLS = "NUTHATCH_0.2 {\n  global:\n    nh_crack;\n    nh_plant;\n  local:\n    *;\n};\n"

# A change of the header, and what is said of it; nothing if programs don't notice it.
CHANGES: Dict[str, Tuple[str, str, str]] = {
    "nothing": ("", "", ""),
    "a comment": ("typedef struct nh_tree {", "/** A tree (old; dry). */\ntypedef struct nh_tree {", ""),
    "the name of a parameter": ("const char *how", "const char *tool", ""),
    "a new function": ("void nh_plant", "void nh_water(nh_nut *nut);\nvoid nh_plant", ""),
    "a new value": ("NH_ACORN = 4", "NH_ACORN = 4, NH_BEECH = 5", ""),
    "a new macro": ("#define NH_NEVER (-1)", "#define NH_NEVER (-1)\n#define NH_EVER 1", ""),
    "a member at the end": ("int32_t age;", "int32_t age;\n    int64_t height;", ""),
    "a member in place of a reserved one": ("uint32_t reserved_1;", "int32_t leaves;", ""),
    "a function that is gone": (
        "nh_kind nh_crack(nh_nut *nut, const char *how);",
        "",
        "the function nh_crack is gone",
    ),
    "a parameter more": ("const char *how", "const char *how, int32_t times", "the function nh_crack was "),
    "a parameter of another type": ("const char *how", "const void *how", "the function nh_crack was "),
    "another result": ("void nh_plant", "int32_t nh_plant", "the function nh_plant was "),
    "another callback": ("void *user_data", "nh_tree *tree", "the callback nh_teller was "),
    "another value": ("NH_ACORN = 4", "NH_ACORN = 3", "the value NH_ACORN was 4 and is 3"),
    "a value that is gone": ("NH_HAZEL = 0, ", "", "the value NH_HAZEL is gone"),
    "another macro": ("(-1)", "(-2)", "the value NH_NEVER was -1 and is -2"),
    "a macro that is gone": ("#define NH_NEVER (-1)", "", "the value NH_NEVER is gone"),
    "a wider enum": (
        "NH_ACORN = 4",
        "NH_ACORN = 4, NH_ALL = 0x100000000",
        "the size of the enum nh_kind was 4",
    ),
    "a member that is gone": ("int64_t nuts;", "", "the member of nh_tree nuts is gone"),
    "a narrower member": ("int64_t nuts;", "int32_t nuts;", "the member of nh_tree nuts was "),
    "members in another order": (
        "nh_kind kind;\n    int64_t nuts;",
        "int64_t nuts;\n    nh_kind kind;",
        "the member of nh_tree kind was ",
    ),
    "a member in the middle": (
        "int64_t nuts;",
        "int64_t nuts;\n    int64_t roots;",
        "the member of nh_tree age was ",
    ),
    "a struct without a size that grows": (
        "int32_t right;",
        "int32_t right; int32_t up;",
        "the size of nh_pair was 8",
    ),
    "a struct that is gone": (
        "typedef struct nh_pair { int32_t left; int32_t right; } nh_pair;",
        "",
        "the struct nh_pair is gone",
    ),
}


def dumped(root: Path, folder: Path, header: str, symbols: str) -> List[str]:
    """Writes a header and its symbols. Returns the options that name them."""
    (folder / "nuthatch.h").write_text(header)
    (folder / "nuthatch.map").write_text(symbols)
    return ["--header", str(folder / "nuthatch.h"), "--symbols", str(folder / "nuthatch.map")]


@pytest.fixture(scope="module")
def dump(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("abi")
    options = dumped(root, folder, HEADER, SYMBOLS)
    printed = subprocess.run(
        [sys.executable, "Scripts/abi-dump", *options], cwd=str(root), stdout=subprocess.PIPE, check=True
    )
    (folder / "0.2.json").write_bytes(printed.stdout)
    return folder / "0.2.json"


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_of_the_header_is_allowed_or_named(
    change: str, dump: Path, root: Path, tmp_path: Path
) -> None:
    old, new, said = CHANGES[change]
    assert old in HEADER
    symbols = "".join(
        f"    {name};\n" for name in re.findall(r"^\w+ (nh_\w+)\(", HEADER.replace(old, new, 1), re.M)
    )
    status, told = check(
        root, dump, *dumped(root, tmp_path, HEADER.replace(old, new, 1), f"NUTHATCH_0.2 {{\n{symbols}}};\n")
    )
    assert status == (1 if said else 0), told
    assert said in told


def test_a_symbol_keeps_the_version_of_its_release(dump: Path, root: Path, tmp_path: Path) -> None:
    status, told = check(root, dump, *dumped(root, tmp_path, HEADER, SYMBOLS.replace("0.2", "0.3")))
    assert (status, "the symbol nh_crack was NUTHATCH_0.2 and is NUTHATCH_0.3\n" in told) == (1, True)


def test_the_dump_is_that_of_the_compiler(root: Path, dump: Path) -> None:
    told = json.loads(dump.read_text())
    tree = told["structs"]["nh_tree"]
    assert (tree["size"], tree["align"]) == (24, 8)
    assert tree["members"]["nuts"] == {"type": "int64_t", "offset": 8, "size": 8}
    assert told["functions"]["nh_crack"] == "nh_kind (nh_nut *, const char *)"
    assert told["values"] == {"NH_HAZEL": 0, "NH_ACORN": 4, "NH_NEVER": -1}
