"""Benchmarks/report.py: what a benchmark measured becomes a section of a page, with a plot."""

import importlib.util
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

PAGE = "before\n\n<!-- nuts begin -->\nold\n<!-- nuts end -->\n\nafter\n"


@pytest.fixture
def report(root: Path, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("report", root / "Benchmarks" / "report.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["report"] = module
    spec.loader.exec_module(module)
    setattr(module, "PICTURES", tmp_path / "pictures")  # noqa: B010
    return module


def test_section_is_replaced_and_the_rest_of_the_page_stays(report: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    for figure in (1000, 2000):
        section = report.Section("nuts", "make nuts")
        section.table(("way", "a second"), [("ours", f"{figure:,}")])
        section.plot("Nuts & bolts", [report.Bar("ours", figure, figure - 10, figure + 10, True)])
        section.write(page)
    text = page.read_text()
    assert text.startswith("before\n\n<!-- nuts begin -->\n\n`make nuts`. ")
    assert text.endswith("\n\n<!-- nuts end -->\n\nafter\n")
    assert "| way | a second |\n| --- | ---: |\n| ours | 2,000 |\n" in text
    assert "old" not in text and "1,000" not in text and "cores, Linux" in text
    assert "![Nuts & bolts](pictures/nuts.svg)" in text
    drawing = ElementTree.parse(tmp_path / "pictures" / "nuts.svg").getroot()
    assert "2,000" in [element.text for element in drawing.iter()]


def test_a_page_without_the_section_is_not_changed(
    report: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    report.Section("bolts", "make bolts").write(page)
    assert page.read_text() == PAGE
    assert "bolts begin" in capsys.readouterr().err


def test_printed_text_becomes_a_section(root: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    command = [sys.executable, str(root / "Benchmarks/report.py"), "nuts", str(page), "make nuts"]
    subprocess.run(command, input="ours 17\n", text=True, check=True)
    assert "\n\n```text\nours 17\n```\n\n<!-- nuts end -->" in page.read_text()


def test_each_section_of_the_benchmarks_page_has_an_end(root: Path) -> None:
    text = (root / "docs/BENCHMARKS.md").read_text()
    begun = re.findall(r"^<!-- ([\w-]+) begin -->$", text, re.MULTILINE)
    assert "prefetch-small" in begun and "bindings" in begun
    assert re.findall(r"^<!-- ([\w-]+) end -->$", text, re.MULTILINE) == begun
