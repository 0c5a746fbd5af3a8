"""The product `Nuthatch` in programs that depend on it: the example, and the Swift code of README and docs/SWIFT.md.

They are linked with what `make` has built. A package that depends on this one would build the library again, which
takes minutes.
"""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Dict, Iterator, List

import pytest
from commands import sh
from examples import LOGO, all_hosts, examples

PAGES = {"readme": "README.md", "page": "docs/SWIFT.md"}


class Build:
    """What compiles and links a program with the library, as the package manager did for `nuthatch-visitor`."""

    def __init__(self, root: Path) -> None:
        manifest = (root / ".build" / "release.yaml").read_text()
        linked = re.search(
            r'^ +args: (\[.*/nuthatch-visitor",.*\.LinkFileList".*\])$', manifest, re.MULTILINE
        )
        assert linked, "no line of the linker in .build/release.yaml"
        words: List[str] = json.loads(linked[1])
        listed = next(word[1:] for word in words if word.startswith("@"))
        objects = shlex.split(Path(listed).read_text())
        built = (root / ".build" / "release").resolve()
        system = ["-Xcc", f"-fmodule-map-file={built}/CSystem.build/module.modulemap"]
        system += ["-Xcc", f"-I{root}/Sources/CSystem/include"]
        self.compiler = [words[0], "-swift-version", "6", f"-I{built}/Modules", *system]
        self.parts = [word for word in objects if "/nuthatch_visitor.build/" not in word]
        self.parts += [word for word in words if word.startswith("-l")]

    def program(self, source: Path, output: Path) -> None:
        library = ["-parse-as-library"] if "@main" in source.read_text() else []
        sh(
            [*self.compiler, *library, str(source), "-o", str(output), *self.parts],
            dict(os.environ),
            output.parent,
        )


@pytest.fixture(scope="module")
def programs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what was built: `thumbnails`, `readme` and `page`."""
    folder = tmp_path_factory.mktemp("programs")
    build = Build(root)
    build.program(root / "Examples/thumbnails/Sources/thumbnails/Thumbnails.swift", folder / "thumbnails")
    for name, page in PAGES.items():
        source = folder / f"{name}.swift"
        source.write_text("".join(examples(root / page)["swift"]))
        build.program(source, folder / name)
    return folder


@pytest.fixture
def reader() -> Iterator[Dict[str, str]]:
    """An environment in which the hosts of the examples answer."""
    with all_hosts() as hosts:
        yield {**os.environ, **hosts}


def test_a_package_can_depend_on_the_product(root: Path, tmp_path: Path) -> None:
    """The package manager refuses a dependency that lacks the product."""
    package = [
        "--package-path",
        str(root / "Examples" / "thumbnails"),
        "--scratch-path",
        str(tmp_path / "build"),
    ]
    printed = sh(
        ["swift", "package", *package, "show-dependencies", "--format", "json"], dict(os.environ), root
    )
    assert [each["identity"] for each in json.loads(printed)["dependencies"]] == [root.name.lower()]


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
        "png false 1 8",
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
