"""The product `Nuthatch` in a package that depends on it: the example, and the Swift code of README and docs/SWIFT.md.

All of it is built in build/swift-package, once, because the library is built again for a package that depends on it.
"""

import os
import shutil
from pathlib import Path
from typing import Dict, Iterator

import pytest
from commands import sh
from examples import LOGO, all_hosts, examples

# The library is built for it, on a machine that may be busy.
pytestmark = pytest.mark.timeout(1800)

PAGES = {"readme": "README.md", "page": "docs/SWIFT.md"}


def write(path: Path, text: str) -> bool:
    """Whether it has changed: what hasn't isn't compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text() == text:
        return False
    path.write_text(text)
    return True


@pytest.fixture(scope="module")
def programs(root: Path) -> Path:
    """The folder of what was built: `thumbnails`, `readme` and `page`."""
    package = root / "build" / "swift-package"
    example = root / "Examples" / "thumbnails"
    manifest = (example / "Package.swift").read_text()
    for name, page in PAGES.items():
        write(package / "Sources" / name / "main.swift", "".join(examples(root / page)["swift"]))
        added = f'.executableTarget(name: "{name}", dependencies: [.product(name: "Nuthatch", package: "nuthatch")]),'
        manifest = manifest.replace("  targets: [\n", f"  targets: [\n    {added}\n")
    write(package / "Package.swift", manifest)
    shutil.copytree(example / "Sources", package / "Sources", dirs_exist_ok=True)
    sources = sorted(str(path.relative_to(root)) for path in (root / "Sources").rglob("*.*"))
    if write(package / "sources", "\n".join(sources)):
        # Which files a package has that another one depends on, the package manager looks up only when it plans anew.
        (package / ".build" / "debug.yaml").unlink(missing_ok=True)
    sh(["swift", "build", "--package-path", str(package)], dict(os.environ), root)
    return package / ".build" / "debug"


@pytest.fixture
def reader() -> Iterator[Dict[str, str]]:
    """An environment in which the hosts of the examples answer."""
    with all_hosts() as hosts:
        yield {**os.environ, **hosts}


def test_the_thumbnails_example_runs(programs: Path, reader: Dict[str, str], tmp_path: Path) -> None:
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
    assert printed == f"128x36 of 290x82\ncached true {len(LOGO)}\n"


def test_the_swift_code_of_the_page_runs(programs: Path, reader: Dict[str, str], tmp_path: Path) -> None:
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
