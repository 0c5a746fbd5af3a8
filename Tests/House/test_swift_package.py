"""The product `Nuthatch` in a package that depends on it: the example, and the Swift code of README and docs/SWIFT.md.

All programs are built together in build/swift-package, because the library is built again for each package.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Dict, Iterator

import pytest
from commands import sh
from pictures import png
from testserver import TestServer, body, ok, script

# The library is built for it, and the machine may be busy.
pytestmark = pytest.mark.timeout(1800)

PAGES = {"readme": "README.md", "page": "docs/SWIFT.md"}


def code(page: Path) -> str:
    return "".join(re.findall(r"```swift\n(.*?)```", page.read_text(), re.DOTALL))


def write(path: Path, text: str) -> bool:
    """Writes a file only if it has changed: unchanged files are not compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text() == text:
        return False
    path.write_text(text)
    return True


@pytest.fixture(scope="module")
def programs(root: Path) -> Path:
    """The folder with the built programs `thumbnails`, `readme` and `page`."""
    package = root / "build" / "swift-package"
    example = root / "Examples" / "thumbnails"
    manifest = (example / "Package.swift").read_text()
    for name, page in PAGES.items():
        write(package / "Sources" / name / "main.swift", code(root / page))
        added = f'.executableTarget(name: "{name}", dependencies: [.product(name: "Nuthatch", package: "nuthatch")]),'
        manifest = manifest.replace("  targets: [\n", f"  targets: [\n    {added}\n")
    write(package / "Package.swift", manifest)
    shutil.copytree(example / "Sources", package / "Sources", dirs_exist_ok=True)
    sources = sorted(str(path.relative_to(root)) for path in (root / "Sources").rglob("*.*"))
    if write(package / "sources", "\n".join(sources)):
        # The package manager looks for new files of a dependency only when it plans again.
        (package / ".build" / "debug.yaml").unlink(missing_ok=True)
    sh(["swift", "build", "--package-path", str(package)], dict(os.environ), root)
    return package / ".build" / "debug"


@pytest.fixture
def reader() -> Iterator[Dict[str, str]]:
    """An environment in which example.org is the test server."""
    with TestServer() as server:
        server.on("/nut.png", ok(png(32, 24), "image/png"))
        server.on("/seeds.json", ok('{"seeds": [1, 2, 3]}', "application/json"))
        server.echo("/echo")
        server.on("/slow", script(steps=[server.gate("never").step, body("x")]))
        yield {**os.environ, "http_proxy": server.url(""), "no_proxy": "127.0.0.1"}


def test_the_swift_example_makes_thumbnails(programs: Path, reader: Dict[str, str], tmp_path: Path) -> None:
    env = {**reader, "NUTHATCH_CACHE": str(tmp_path / "cache")}
    url = "http://example.org/nut.png"
    command = [str(programs / "thumbnails"), "16", str(tmp_path)]
    assert sh([*command, url], env, tmp_path) == f"{tmp_path}/0.jpg: 16x12\n"
    assert (tmp_path / "0.jpg").read_bytes().startswith(b"\xff\xd8")
    assert sh([*command, url], env, tmp_path).endswith(": 16x12, from the cache\n")
    missing = "http://example.org/missing.png"
    printed = sh(["sh", "-c", '! "$@"', "sh", *command, url, missing], env, tmp_path)
    assert f"{missing}: http: " in printed


def test_the_swift_code_of_the_readme_runs(programs: Path, reader: Dict[str, str], tmp_path: Path) -> None:
    printed = sh([str(programs / "readme")], reader, tmp_path)
    assert printed == f"16x12 of 32x24\ncached true {len(png(32, 24))}\n"


def test_the_swift_code_of_swift_md_runs(programs: Path, reader: Dict[str, str], tmp_path: Path) -> None:
    lines = sh([str(programs / "page")], reader, tmp_path).splitlines()
    assert lines == [
        "16 12 32 false",
        "200 application/json 20",
        "http 404",
        "cancelled",
        "16 12",
        "8 8",
        "POST",
        "200",
        '{"seeds": [1, 2, 3]}',
        "cached true 200",
        "fresh false 200",
        "200",
        "POST true",
        "16 200",
    ]
