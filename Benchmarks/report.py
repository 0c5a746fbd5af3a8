"""Writes what a benchmark measured into a page: tables, the machine, and a plot.

A section of the page stands between `<!-- NAME begin -->` and `<!-- NAME end -->`, and is replaced as a whole. The plot
is an SVG in docs/pictures. Benchmarks in Python use `Section`. What any other benchmark prints becomes a section by

    make bench-store | python3 Benchmarks/report.py store docs/BENCHMARKS.md 'make bench-store'
"""

from __future__ import annotations

import datetime
import html
import os
import platform
import re
import sys
from pathlib import Path
from typing import NamedTuple, Sequence

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"


class Bar(NamedTuple):
    label: str
    value: float
    low: float
    high: float
    is_own: bool = False


def machine() -> str:
    """Returns processor, cores, kernel, day, and the load before the benchmark."""
    text = Path("/proc/cpuinfo").read_text()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    name = found.group(1) if found else platform.machine()
    kernel = ".".join(platform.release().split("-")[0].split(".")[:2])
    day = datetime.date.today().isoformat()
    return f"{name}, {os.cpu_count()} cores, Linux {kernel}, {day}; load of the minute before: {os.getloadavg()[0]:.1f}"


class Section:
    """The pieces of one section, in their order."""

    def __init__(self, name: str, command: str) -> None:
        self.name = name
        self.pieces = [f"`{command}`. {machine()}."]
        self.plots: dict[str, str] = {}

    def text(self, text: str) -> None:
        self.pieces.append(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        lines = [head, ["---"] + ["---:" if title else "---" for title in head[1:]], *rows]
        self.pieces.append("\n".join(f"| {' | '.join(line)} |" for line in lines))

    def plot(self, title: str, bars: Sequence[Bar]) -> None:
        number = len(self.plots)
        file = f"{self.name}{f'-{number}' if number else ''}.svg"
        self.plots[file] = plot(title, bars)
        self.pieces.append(f"![{title}](pictures/{file})")

    def write(self, page: Path) -> None:
        begin, end = f"<!-- {self.name} begin -->", f"<!-- {self.name} end -->"
        text = page.read_text()
        if text.count(begin) != 1 or text.count(end) != 1:
            # Don't end the program: a long run goes on with its other sections.
            print(f"{page}: {begin} and {end} must stand there once each", file=sys.stderr)
            return
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        page.write_text(before + "\n\n".join([begin, *self.pieces, end]) + after)
        PICTURES.mkdir(exist_ok=True)
        for file, drawing in self.plots.items():
            (PICTURES / file).write_text(drawing)


STYLE = """
  .ground { fill: #fff; stroke: #d0d7de } text { font: 15px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 16px } .soft { fill: #59636e } .bar { fill: #8c959f } .own { fill: #2d74a8 }
  .range { stroke: #1f2328 }
  @media (prefers-color-scheme: dark) { .ground { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc }
    .soft { fill: #9198a1 } .bar { fill: #656c76 } .own { fill: #4f9fd6 } .range { stroke: #f0f6fc } }
"""


def plot(title: str, bars: Sequence[Bar]) -> str:
    """Returns an SVG of bars with their ranges. It has a background, so that it can be read on any page."""
    width, left, step = 560, 190, 34
    height = 58 + step * len(bars) + 10
    scale = (width - left - 70) / max(bar.high for bar in bars)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="title" x="20" y="34">{html.escape(title)}</text>',
    ]
    for number, bar in enumerate(bars):
        top = 54 + step * number
        long, low, high = (round(left + scale * value, 1) for value in (bar.value, bar.low, bar.high))
        kind = "bar own" if bar.is_own else "bar"
        lines += [
            f'<text x="20" y="{top + 17}">{html.escape(bar.label)}</text>',
            f'<rect class="{kind}" x="{left}" y="{top}" width="{long - left:.1f}" height="24" rx="3"/>',
            f'<path class="range" d="M{low} {top + 12}H{high}M{low} {top + 8}v8M{high} {top + 8}v8"/>',
            f'<text class="soft" x="{max(long, high) + 8:.1f}" y="{top + 17}">{bar.value:,.0f}</text>',
        ]
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    section = Section(sys.argv[1], sys.argv[3])
    section.text(f"```text\n{sys.stdin.read().strip()}\n```")
    section.write(Path(sys.argv[2]))
