"""The header is the manual: an overview of one screen, an example for each section, and examples that compile."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "nuthatch.h"

# Declarations that the examples use.
FRAME = """\
#include <nuthatch.h>
#include <poll.h>
#include <stdio.h>

void die(const char *why);
void show(const void *pixels, int32_t width, int32_t height, size_t stride);
void draw(nh_image *image);
void draw_frame(void);
void end(void *user_data, nh_status code, nh_image **images, size_t count);
void hear(nh_event *event, void *user_data);
void parse(const char *text, size_t size);
void write_line(nh_log_level level, const char *line, void *user_data);
"""
PARAMETERS = """\
nh_cache *cache, nh_site *site, nh_request *request, nh_ticket *ticket, nh_response *response, nh_image *image,
const char *url, void *cell, FILE *file"""


def blocks(comment: str) -> Iterator[str]:
    """Returns the blocks of code in a comment: lines with an indent of four more than its text."""
    lines: List[str] = []
    for line in [*comment.splitlines(), ""]:
        if line.startswith(" *     ") or (lines and line.rstrip() == " *"):
            lines.append(line[7:])
        else:
            code = "\n".join(lines).rstrip()
            if code and re.search(r"[;}](\s*//.*)?$", code):
                yield code
            lines = []


def sections() -> List[Tuple[str, str]]:
    parts = re.split(r"/\* ---- (.*?) -+ \*/\n", HEADER.read_text())
    return [("Overview", parts[0]), *zip(parts[1::2], parts[2::2])]


def examples() -> List[Tuple[str, str]]:
    return [
        (title, code)
        for title, text in sections()
        for comment in re.findall(r"/\*.*?\*/", text, re.DOTALL)
        for code in blocks(comment)
    ]


def test_the_overview_of_the_header_fits_a_screen() -> None:
    lines = HEADER.read_text().splitlines()
    assert lines.index(" * Caveats") <= 60
    assert len(max(lines, key=len)) <= 140


def test_functions_that_return_a_handle_say_how_to_release_it() -> None:
    code = re.findall(r"/\*\*\n((?: \*.*\n)+?) \*/\n(\w[^;{]*?\b(nh_\w+)\([^;]*\);)", HEADER.read_text())
    giving = [(doc, name) for doc, declared, name in code if re.search(r"\bnh_\w+ \*\*\w+[,)]", declared)]
    assert len(giving) >= 14
    silent = [
        name
        for doc, name in giving
        if not re.search(r"([Rr]elease|Close|Free) (it|each) with|As for nh_", doc)
    ]
    assert silent == []


def test_every_section_of_the_header_begins_with_an_example() -> None:
    for title, text in sections():
        intro = re.match(r"\s*/\*\n.*?\*/", text, re.DOTALL)
        assert title in ("Overview", "Types") or (intro and list(blocks(intro.group()))), title
    assert {"&(nh_options){", "NH_OPTIONS("} <= {
        word for _, code in examples() for word in re.findall(r"&\(nh_options\)\{|NH_OPTIONS\(", code)
    }


@pytest.mark.parametrize("standard", ["c11", "c17"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_example_of_the_header_compiles(compiler: str, standard: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} in PATH")
    shown = examples()
    assert len(shown) > 20
    functions = [
        f"/* {title} */\nvoid example_{number}({PARAMETERS});\nvoid example_{number}({PARAMETERS}) {{\n{{\n{code}\n}}\n"
        "(void)cache, (void)site, (void)request, (void)ticket, (void)response, (void)image;\n"
        "(void)url, (void)cell, (void)file;\n}\n"
        for number, (title, code) in enumerate(shown)
    ]
    source = tmp_path / "examples.c"
    source.write_text(FRAME + "\n" + "\n".join(functions))
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-but-set-parameter"]
    command = [
        compiler,
        *flags,
        "-Wno-unused-variable",
        "-fsyntax-only",
        f"-I{ROOT / 'include'}",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
