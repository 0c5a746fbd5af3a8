"""Wrong values for every option of the table are refused in one line with option, value and range."""

import ctypes
import sys
from pathlib import Path
from typing import Dict, List

import pytest
from command import ROOT, Runner
from nuthatch import _prototypes as abi
from nuthatch._library import library

sys.path.insert(0, str(ROOT / "Scripts"))

import option_table
from option_table import Row

ROWS = [row for row in option_table.load().rows if row.flag]
#: Further arguments for options that need another option.
COMPANY: Dict[str, List[str]] = {
    "size": ["--size=9"],
    "cert": ["--cert=cert.pem"],
    "freezable": ["--freezable", "-d", "x", "-u", "ann"],
}

NO_NUMBERS = [
    "",
    " ",
    "soon",
    "NaN",
    "inf",
    "-inf",
    "0x10",
    "1e3",
    "1_000",
    "1,5",
    "1.",
    ".5",
    "-",
    "+5",
    " 5",
    "5 ",
]
NO_NUMBERS += [
    "5\n",
    "ms",
    "KiB",
    "5KB",
    "5P",
    "5y",
    "½",
    "٣",
    "1.5.5",
    "None",
    "5;rm",
    "%s",
    "\x1b[31m",
    "a" * 3000,
]
ODD: Dict[str, List[str]] = {
    "duration": [*NO_NUMBERS, "-1", "-1ms", "-0.5", "5k", "5M", "5 s"],
    "bytes": [*NO_NUMBERS, "-1", "-1K", "0.5", "5ms", "5d", "forever"],
    "count": [*NO_NUMBERS, "-11", "0.5", "5s", "5KiB", "forever"],
    "share": [*NO_NUMBERS, "-0.1", "1.1", "2", "5s", "1K", "9" * 400],
    "rate": [*NO_NUMBERS, "-1", "0", "0.0000001", "1000000.5", "5s", "1K", "9" * 400],
    "flag": ["", "true", "YES", "1"],
    "words": [
        "",
        " ",
        "nonsense",
        "0",
        "1",
        "-1",
        "none",
        "OFF",
        "auto auto",
        "a" * 3000,
        "\x1b[31m",
        "kit\n",
    ],
    "sizes": [
        "",
        " ",
        "0",
        "-1",
        "65536",
        "1x0",
        "x",
        "1x",
        "x1",
        "1x1x1",
        "1,",
        ",1",
        "1.5",
        "+1",
        "none",
        "9" * 400,
    ],
    "headers": ["", ":", ": v", "plain", "a b: c", "a\n: b", "a: b\nc: d", "é: x", "a: \x01"],
    "secrets": ["", "hush", "Authorization: hush", "Authorization: Bearer env:", "Authorization env:X"],
}


def odd(row: Row) -> List[str]:
    """Returns wrong values for an option."""
    assert row.flag
    values = list(ODD.get(row.kind, [])) if row.flag.value else []
    if row.range and row.kind in ("duration", "bytes", "count"):
        least, greatest = row.range
        values.append(f"{least - 1}ms" if row.kind == "duration" else f"{least - 1}")
        if greatest != option_table.GREATEST:
            values += [f"{greatest + 1}", "9" * 30, "9" * 400]
        if row.none is None:
            values.append("none")
    if row.kind in ("text", "path") and not row.empty:
        values.append("")
    if row.name == "password_provider":
        values += ["hush", "env:", "ENV:X"]
    if row.name == "accept":
        values += ["jpg", "*.jpg"]
    return [value for value in values if not (row.flag.units and value == "5M")]


def line(row: Row, value: str) -> List[str]:
    """Returns a command line with the option."""
    assert row.flag
    command = row.flag.commands[0]
    rest = "-" if command == "prefetch" else "http://127.0.0.1:1/"
    return [command, f"--{row.flag.name}={value}", *COMPANY.get(row.flag.needs or "", []), rest]


@pytest.mark.parametrize("row", [row for row in ROWS if odd(row)], ids=lambda row: row.name)
def test_an_odd_value_is_refused_with_option_value_and_range(row: Row, nuthatch: Runner) -> None:
    assert row.flag
    for value in odd(row):
        done = nuthatch(*line(row, value))
        said = done.stderr.decode()
        assert (done.returncode, done.stdout) == (2, b""), (value, said)
        assert said.startswith(f"nuthatch: --{row.flag.name}: {row.name} is "), (value, said)
        # One line without control characters.
        assert said.endswith("\n") and said[:-1].isprintable() and len(said) < 1500, (value, said)
        assert "; it must be " in said, (value, said)
        if row.range_text and row.kind != "sizes":
            assert said.endswith(f"; it must be {row.range_text}\n"), (value, said)
        for word, _ in row.words.members if row.words else ():
            assert word in said, (value, said)
        # The text of a provider may be the secret itself, so it isn't shown.
        assert "hush" not in said


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in ROWS
        if row.kind in ("duration", "bytes", "count") and {"cache", "process"} & set(row.levels)
    ],
    ids=lambda row: row.name,
)
def test_the_library_refuses_an_odd_value_with_the_same_words(
    row: Row, nuthatch: Runner, tmp_path: Path
) -> None:
    struct = abi.nh_options()
    struct.struct_size = ctypes.sizeof(struct)
    setattr(struct, row.name + ("_ms" if row.kind == "duration" else ""), -1)
    cache = ctypes.c_void_p()
    if "process" in row.levels:
        status = library.nh_queue_set(ctypes.byref(struct))
    else:
        status = library.nh_open(bytes(tmp_path / "other"), ctypes.byref(struct), ctypes.byref(cache))
    assert status == abi.INVALID
    said = nuthatch(*line(row, "-1ms" if row.kind == "duration" else "-1")).stderr.decode().rstrip()
    assert row.flag and said == f"nuthatch: --{row.flag.name}: {library.nh_error_message().decode()}"


def test_the_table_gives_many_odd_values() -> None:
    assert sum(len(odd(row)) for row in ROWS) > 900
