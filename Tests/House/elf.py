"""Reads the output of binutils about a library or a program."""

import re
import subprocess
from pathlib import Path
from typing import List, NamedTuple, Optional


class Symbol(NamedTuple):
    kind: str
    name: str


def output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def dynamic(path: Path, tag: str) -> List[str]:
    """The values of one kind of entry in the dynamic section, such as NEEDED."""
    return re.findall(r"\(%s\)[^\[\n]*\[([^\]]*)\]" % tag, output("readelf", "-dW", str(path)))


def flags(path: Path) -> List[str]:
    found = re.findall(r"\((?:FLAGS|FLAGS_1)\)\s+(?:Flags:)?(.*)", output("readelf", "-dW", str(path)))
    return " ".join(found).split()


def soname(path: Path) -> Optional[str]:
    return next(iter(dynamic(path, "SONAME")), None)


def exported(path: Path) -> List[str]:
    """Returns the dynamic symbols that other files can link to, without the names of symbol versions."""
    lines = output("nm", "-D", "--defined-only", "--without-symbol-versions", str(path)).splitlines()
    symbols = [Symbol(*line.split()[-2:]) for line in lines]
    return sorted(symbol.name for symbol in symbols if symbol.kind != "A")


def all_symbols(path: Path) -> List[str]:
    """Returns every symbol, defined or not. Needs a file that is not stripped."""
    return [line.split()[-1] for line in output("nm", "-a", str(path)).splitlines() if line.strip()]


def loaded_segments(path: Path) -> str:
    return output("readelf", "-lW", str(path))
