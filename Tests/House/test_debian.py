"""The files of debian/ say what other files of the project say. `make packages` tests the packages themselves."""

import re
import subprocess
from pathlib import Path
from typing import List, Set

import pytest


def names_in(text: str, field: str) -> Set[str]:
    """Returns the packages that a field of debian/control names."""
    found = re.search(r"^%s:(.*(?:\n +.*)*)" % field, text, re.MULTILINE)
    assert found, field
    return {re.split(r"[ :(]", item.strip())[0] for item in found.group(1).split(",")}


def of_bootstrap(root: Path, name: str) -> Set[str]:
    text = (root / "Scripts" / "bootstrap").read_text()
    found = re.search(r"^%s=\(([^)]*)\)" % name, text, re.MULTILINE)
    assert found, name
    return set(found.group(1).split())


def test_the_symbols_file_lists_every_function_with_its_version(root: Path) -> None:
    text = (root / "Sources/NuthatchABI/nuthatch.map").read_text()
    node = re.search(r"^(NUTHATCH_[\d.]+) \{", text, re.MULTILINE)
    assert node
    functions: List[str] = re.findall(r"^ +(nh_\w+);", text, re.MULTILINE)
    listed = re.findall(
        r"^ (nh_\S+)@(\S+) (\S+)$", (root / "debian/libnuthatch1.symbols").read_text(), re.MULTILINE
    )
    assert [name for name, _, _ in listed] == functions
    assert {version for _, version, _ in listed} == {node.group(1)}


def test_the_build_needs_what_bootstrap_installs(root: Path) -> None:
    wanted = names_in((root / "debian/control").read_text(), "Build-Depends")
    own = {"debhelper-compat", "dh-python"}
    swift_and_libc = {'"${for_swift[@]}"', "libc6-dev"}
    given = set(re.sub(r'"\$\{for_swift\[@\]\}"', "", " ".join(of_bootstrap(root, "for_building"))).split())
    assert wanted - own == given - swift_and_libc


def test_the_static_library_comes_with_the_libraries_that_it_names(root: Path) -> None:
    """Each of them in the development package's recommendations."""
    text = (root / "Scripts" / "install").read_text()
    found = re.search(r"^system=\((.*)\)", text, re.MULTILINE)
    assert found
    packages = {"crypto": "libssl-dev", "ssl": "libssl-dev", "stdc++": "g++", "isal": "libisal-dev"}
    packages.update({"curl": "libcurl4-openssl-dev", "png16": "libpng-dev", "jpeg": "libjpeg-dev"})
    packages.update({"lcms2": "liblcms2-dev", "webp": "libwebp-dev", "dav1d": "libdav1d-dev"})
    # The others belong to libc.
    wanted = {packages[name] for name in found.group(1).split() if name not in ("m", "dl", "pthread")}
    development = (root / "debian/control").read_text().split("Package: libnuthatch-dev")[1]
    assert wanted <= names_in(development, "Recommends")


def test_the_copyright_file_names_what_is_linked_in(root: Path) -> None:
    """The targets of Package.swift that are linked statically, the runtime, and headers with code in them."""
    text = (root / "debian/copyright").read_text()
    for name in ("Swift runtime", "LLVM", "Unicode", "xxHash", "Zstandard", "liblzma"):
        assert name in text, name
    assert re.findall(
        r'\["(\w+)", "(\w+)"\]\.map \{ \.linkedLibrary\(":lib', (root / "Package.swift").read_text()
    ) == [("lzma", "zstd")]
    license = " ".join((root / "LICENSE").read_text().split("\n\n", 2)[2].split())
    assert license in " ".join(re.sub(r"^ \.?", "", text, flags=re.MULTILINE).split())


def test_files_of_packages_for_several_architectures_are_alike_or_lie_apart(root: Path) -> None:
    """dpkg refuses to install such a package twice if a file of the same path differs. The bill of materials does."""
    control = (root / "debian/control").read_text()
    packages = re.findall(r"^Package: (\S+)\n(?:.+\n)*?Multi-Arch: same$", control, re.MULTILINE)
    assert packages == ["libnuthatch1", "libnuthatch-dev"]
    for package in packages:
        listed = (root / "debian" / (package + ".install")).read_text().split()
        alike = ("usr/include", "usr/share/man/")
        assert [path for path in listed if not path.startswith(("usr/lib/*/", *alike))] == []
    assert "usr/lib/*/nuthatch/nuthatch.cdx.json" in (root / "debian/libnuthatch1.install").read_text()


def test_the_version_stands_in_no_file_of_debian(root: Path) -> None:
    version = subprocess.run(["sh", "Scripts/version"], cwd=root, capture_output=True, check=True, text=True)
    listed = subprocess.run(
        ["git", "ls-files", "debian"], cwd=root, capture_output=True, check=True, text=True
    )
    named = [name for name in listed.stdout.split() if not name.endswith(".symbols")]
    files = [name for name in named if (root / name).exists()]
    if not files:
        pytest.skip("not a checkout of git")
    assert [name for name in files if version.stdout.strip() in (root / name).read_text()] == []
    assert "debian/changelog" not in files
