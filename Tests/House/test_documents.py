"""The documents: their links lead somewhere, and the examples of TUTORIAL.md and HOWTO.md run as they stand.

The hosts and ports of an example are replaced by those of servers on loopback. A block of Python that begins with a
comment `# name.py` is that file; blocks of shell run in their order.
"""

import py_compile
import re
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import pytest
from commands import sh
from pictures import png
from secure_server import SecureServer, needs_openssl
from testserver import TestServer, ok

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "Benchmarks/README.md"])
TUTORIAL = (ROOT / "docs/TUTORIAL.md").read_text()
HOWTO = (ROOT / "docs/HOWTO.md").read_text()
# Recipes whose programs need a package that the tests don't have.
COMPILED_ONLY = {"gtk_grid.py", "qt_grid.py", "service.py"}


def without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> List[str]:
    """The names that headings get on GitHub."""
    found: List[str] = []
    for heading in re.findall(r"^#+ +(.*?)$", without_code(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        again = sum(1 for other in found if re.fullmatch(re.escape(name) + r"(-\d+)?", other))
        found.append(f"{name}-{again}" if again else name)
    return found


def links(text: str) -> List[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", without_code(text))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_relative_links_lead_to_a_file_and_an_anchor(page: Path) -> None:
    for link in links(page.read_text()):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), f"{link}: no such file"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{link}: no such heading"


def test_anchors_are_named_as_github_names_them() -> None:
    text = "# A, `b` and C++\n## In a *small* [box](x.md)\n## In a small box\n```\n# no heading\n```\n### A_b / c\n"
    assert anchors(text) == ["a-b-and-c", "in-a-small-box", "in-a-small-box-1", "a_b--c"]


@pytest.mark.parametrize("name", ["docs/TUTORIAL.md", "docs/HOWTO.md"])
def test_documents_have_links_and_examples(name: str) -> None:
    text = (ROOT / name).read_text()
    assert len(links(text)) > 5 and len(programs(text)) > 0 and "```sh\n" in text


# Examples


def section(text: str, title: str) -> str:
    """The part of a page below one of its headings."""
    (found,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return str(found)


def programs(text: str) -> Dict[str, str]:
    return dict(re.findall(r"^```python\n(?=# (\w+\.py)$)(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def printed(text: str) -> List[str]:
    return [
        block.rstrip("\n") for block in re.findall(r"^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]


class Reader:
    """Follows a page in a folder of its own, with what the wheel has brought."""

    def __init__(self, python: Path, env: Dict[str, str], folder: Path) -> None:
        path = f"{python.parent}:{env['PATH']}"
        self.env = {**env, "PATH": path, "HOME": str(folder), "NUTHATCH_CACHE": str(folder / "home.cache")}
        for name in [name for name in self.env if name.lower().endswith("_proxy")]:
            del self.env[name]
        self.folder = folder

    def read(self, text: str, **replaced: Tuple[str, str]) -> str:
        """Saves the programs of a text and runs its shell; the output of the shell."""
        for old, new in replaced.values():
            assert old in text
            text = text.replace(old, new)
        for name, program in programs(text).items():
            (self.folder / name).write_text(program)
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        return sh(["bash", "-ec", "\n".join(blocks)], self.env, self.folder)

    def run(self, program: str) -> str:
        return sh(["python3", program], self.env, self.folder)


@pytest.fixture
def reader(python: Path, clean_environment: Dict[str, str], tmp_path: Path) -> Reader:
    return Reader(python, clean_environment, tmp_path)


@pytest.fixture
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        server.on("/nut.png", ok(png(32, 24), "image/png"))
        server.on("/seeds.json", ok('{"seeds": [1, 2, 3]}', "application/json"))
        yield server


def test_the_tutorial_runs(reader: Reader, server: TestServer) -> None:
    pictures = reader.folder / "pictures"
    pictures.mkdir()
    for number, name in enumerate(("acorn", "hazel", "nut")):
        (pictures / f"{name}.png").write_bytes(png(640 + 100 * number, 480, seed=number))
    server.serve(pictures)
    said = reader.read(TUTORIAL, server=("http://127.0.0.1:8000", server.url("")))
    assert "4 URLs: 0 hits, 3 fetched, 1 failed" in said and "4 URLs: 3 hits, 0 fetched, 1 failed" in said
    assert "exit status 4" in said and "hit: fresh" in said and "answers     3" in said
    assert "00000000.jpg\n00000001.jpg\n00000002.jpg\nmanifest.jsonl" in said
    missing = server.url("/missing.png")
    assert f"no picture: http {missing}\n3 pictures\n" in said
    assert "no picture: http http://127.0.0.1:8000/missing.png\n3 pictures" in printed(TUTORIAL)
    page = (reader.folder / "gallery.html").read_text()
    assert page.count("<img ") == 3 and "740 x 480" in page
    assert (reader.folder / "small/0.jpg").read_bytes().startswith(b"\xff\xd8")
    assert (reader.folder / "failed.txt").read_text() == missing + "\n"
    assert (reader.folder / "report.html").exists()
    # What cron does: nothing is new, so that it prints nothing and fetches no picture again.
    assert sh(["./update.sh"], reader.env, reader.folder) == ""
    assert server.count("/nut.png") == 1


@pytest.mark.parametrize("name", sorted(COMPILED_ONLY))
def test_programs_for_other_packages_compile(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(programs(HOWTO)[name])
    py_compile.compile(str(tmp_path / name), doraise=True)


def test_every_program_is_compiled_or_run() -> None:
    assert set(programs(HOWTO)) == COMPILED_ONLY | {"company.py", "strangers.py", "moved.py"}


@needs_openssl
def test_the_recipe_for_proxies_and_authorities_runs(reader: Reader, server: TestServer) -> None:
    secure = SecureServer(reader.folder)
    try:
        secure.certificate.rename(reader.folder / "company-ca.pem")
        reader.read(
            section(HOWTO, "Work behind a company's proxy and CA"),
            proxy=("http://proxy.example.com:3128", server.url("")),
            intranet=("https://intranet.example.com/", secure.url("/")),
        )
        assert reader.run("company.py") == "200\n"
    finally:
        secure.stop()
    assert (reader.folder / "nut.png").read_bytes() == png(32, 24)
    assert (reader.folder / "page.html").read_text() == "secure"
    assert len(secure.requests) == 3


def test_the_recipe_for_urls_of_strangers_runs(reader: Reader) -> None:
    text = section(HOWTO, "Fetch URLs of strangers")
    assert "1 failed" in reader.read(text)
    assert reader.run("strangers.py").rstrip("\n") == printed(text)[0]


def test_the_recipe_for_several_machines_runs(reader: Reader, server: TestServer) -> None:
    hosts = ["acorn", "beech", "cone", "hazel"]
    (reader.folder / "urls.txt").write_text("".join(f"http://{host}.example/nut.png\n" for host in hosts))
    reader.env.update(http_proxy=server.url(""))
    reader.read(section(HOWTO, "Use several machines"))
    files = [[file.name for file in reader.folder.glob(f"thumbs-{machine}/*.jpg")] for machine in (0, 1)]
    assert files[0] and files[1] and len(set(files[0] + files[1])) == 4
    assert server.count("/nut.png") == 4


def test_the_recipe_for_requests_cache_runs(reader: Reader, server: TestServer) -> None:
    text = section(HOWTO, "Move from requests-cache")
    (reader.folder / "moved.py").write_text(programs(text)["moved.py"])
    reader.env.update(http_proxy=server.url(""))
    assert reader.run("moved.py").rstrip("\n") in printed(text)
    assert [request.header("Authorization") for request in server.requests()] == ["Bearer token"]
