"""`nuthatch prefetch --report`: one page with all of it, looked at in a browser where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import Runner
from pictures import png
from testserver import TestServer, answer, ok

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def page(server: TestServer, nuthatch: Runner, tmp_path: Path) -> Path:
    for number in range(30):
        server.on(f"/nut-{number}", ok(png(60 + number, 40, seed=number), "image/png"))
    server.on("/gone", answer(404))
    server.on("/text", ok("no picture"))
    urls = [server.url(f"/nut-{number}") for number in range(30)]
    urls += [server.url("/gone"), server.url("/text"), "javascript:alert('</script><b>')"]
    given = "".join(f"{url}\n" for url in urls).encode()
    done = nuthatch("prefetch", "--size=64", "--report=report.html", given=given)
    assert done.returncode == 4 and b"report: report.html" in done.stdout
    return tmp_path / "report.html"


def test_one_file_has_all_of_it(page: Path) -> None:
    text = page.read_text()
    assert text.count("data:image/jpeg;base64,") == 30
    assert text.count("</script>") == 1, "what comes from outside must not end the script"
    # Nothing is loaded from anywhere.
    assert re.findall(r"(?:src|href)=\"?https?:", text) == []
    for word in ['"error":"http"', '"error":"not_an_image"', '"error":"bad_url"']:
        assert word in text


def test_an_empty_run_has_a_page(nuthatch: Runner, tmp_path: Path) -> None:
    assert nuthatch("prefetch", "--report", "r.html", given=b"").returncode == 0
    assert (tmp_path / "r.html").read_text().endswith("</html>\n")


def test_a_page_that_can_not_be_written(nuthatch: Runner) -> None:
    done = nuthatch("prefetch", "--report=none/r.html", given=b"")
    assert (done.returncode, done.stderr[:23]) == (1, b"nuthatch: prefetch: io:")


def browse(page: Path, fragment: str, folder: Path, *arguments: str) -> tuple[str, str]:
    """The page's elements and what the console said, after its script."""
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'browser'}",
            *arguments,
            f"{page.as_uri()}{fragment}",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=True,
    )
    console = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]
    return done.stdout.decode(), "\n".join(console)


@pytest.mark.skipif(BROWSER is None, reason="there is no chromium to look at the page with")
def test_in_a_browser(page: Path, tmp_path: Path) -> None:
    def shown(fragment: str) -> tuple[int, int]:
        elements, console = browse(page, fragment, tmp_path, "--dump-dom")
        assert console == ""
        body = elements.split("<script>")[0]
        return body.count("<figure>"), len(re.findall(r'<td class="bad">', body))

    assert shown("") == (30, 3)
    assert shown("#state=fetched") == (30, 0)
    assert shown("#reason=http") == (0, 1)
    assert shown("#text=nut-7") == (1, 0)
    elements, _ = browse(page, "", tmp_path, "--dump-dom")
    assert 'href="javascript:' not in elements
    picture = tmp_path / "page.png"
    for width in [390, 1200]:
        _, console = browse(
            page, "", tmp_path, f"--screenshot={picture}", f"--window-size={width},900", "--hide-scrollbars"
        )
        assert console == "" and picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 20_000
        picture.unlink()
