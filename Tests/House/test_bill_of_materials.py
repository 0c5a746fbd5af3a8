"""The bill of materials (CycloneDX 1.5) of the wheel and of `make install`."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Dict, List

import pytest

LICENSE = r"[\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*"
PLACES = {"inside", "beside", "system"}


@pytest.fixture(scope="session")
def told(build: Path) -> Dict[str, Dict[str, Any]]:
    """The libraries, as the command names them."""
    printed = subprocess.run(
        [build / "nuthatch", "--version", "--format=json"], stdout=subprocess.PIPE, check=True
    ).stdout
    return {library["name"]: library for library in json.loads(printed)["libraries"]}


@pytest.fixture(scope="session")
def of_the_wheel(wheel: Path) -> Dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if "/sboms/" in name]
        assert re.fullmatch(r"nuthatch-[\d.]+\.dist-info/sboms/nuthatch\.cdx\.json", name)
        found: Dict[str, Any] = json.loads(archive.read(name))
    return found


def check(bill: Dict[str, Any]) -> None:
    """Checks what the schema of CycloneDX 1.5 demands of the members that are used."""
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    assert set(bill) == {
        *("$schema", "bomFormat", "specVersion", "serialNumber", "version"),
        *("metadata", "components", "dependencies"),
    }
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    root = bill["metadata"]["component"]
    (tool,) = bill["metadata"]["tools"]["components"]
    for part in [root, tool, *bill["components"]]:
        assert (
            {"type", "name"}
            <= set(part)
            <= {*("type", "name", "bom-ref", "version", "licenses", "cpe", "purl", "properties")}
        )
        assert part["type"] in ("library", "application") and part["name"]
        for license in part.get("licenses", []):
            assert set(license) == {"expression"} and re.fullmatch(LICENSE, license["expression"])
        assert re.fullmatch(r"pkg:[a-z]+/[\w.+%/-]+@[\w.+%~-]+(\?[\w=&.-]+)?", part.get("purl", "pkg:a/b@1"))
        assert re.fullmatch(
            r"cpe:2\.3:a:[\w.-]+:[\w.-]+:[\w.-]+(:\*){7}", part.get("cpe", "cpe:2.3:a:b:c:1" + ":*" * 7)
        )
        for pair in part.get("properties", []):
            assert set(pair) == {"name", "value"} and isinstance(pair["value"], str)
    names: List[str] = [part["bom-ref"] for part in [root, *bill["components"]]]
    assert len(set(names)) == len(names)
    referring = [entry["ref"] for entry in bill["dependencies"]]
    assert len(set(referring)) == len(referring) and referring[0] == root["bom-ref"]
    for entry in bill["dependencies"]:
        assert {entry["ref"], *entry["dependsOn"]} <= set(names)


def place(part: Dict[str, Any]) -> str:
    (found,) = [pair["value"] for pair in part["properties"] if pair["name"] == "nuthatch:place"]
    assert found in PLACES
    return str(found)


def test_the_wheel_names_what_it_contains(
    of_the_wheel: Dict[str, Any], told: Dict[str, Any], wheel: Path
) -> None:
    check(of_the_wheel)
    parts = {part["name"]: part for part in of_the_wheel["components"]}
    assert set(parts) == set(told)
    assert of_the_wheel["metadata"]["component"]["purl"].startswith("pkg:pypi/nuthatch@")
    with zipfile.ZipFile(wheel) as archive:
        beside = [name for name in archive.namelist() if re.match(r"nuthatch/nh-.*\.so", name)]
    assert sum(place(part) == "beside" for part in parts.values()) == len(beside)
    for name, part in parts.items():
        assert (place(part) == "inside") == (told[name]["linked"] == "static"), name
        # The system's version can be another one on each machine.
        assert part.get("version") == (None if place(part) == "system" else told[name]["version"]), name


def test_swift_has_the_version_of_the_compiler(told: Dict[str, Any], of_the_wheel: Dict[str, Any]) -> None:
    """Its runtime is linked in, and may say another one."""
    if shutil.which("swift") is None:
        pytest.skip("no swift in PATH")
    said = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Swift version (\d+\.\d+)(\.\d+)?", said)
    assert found
    version = found.group(1) + (found.group(2) or ".0")
    assert (told["Swift"]["version"], told["Swift"]["version_from"]) == (version, "build")
    (part,) = [part for part in of_the_wheel["components"] if part["name"] == "Swift"]
    assert part["version"] == version and part["purl"] == "pkg:generic/swift@" + version


def test_an_installation_names_what_is_linked_in(prefix: Path, told: Dict[str, Any]) -> None:
    bill = json.loads((prefix / "share/nuthatch/nuthatch.cdx.json").read_text())
    check(bill)
    assert {place(part) for part in bill["components"]} == {"inside", "system"}
    assert {part["name"] for part in bill["components"]} == set(told)


@pytest.mark.skipif(not Path("/var/lib/dpkg/status").exists(), reason="not a Debian system")
def test_a_part_from_a_debian_package_names_the_package(of_the_wheel: Dict[str, Any]) -> None:
    purls = {part["name"]: part.get("purl", "") for part in of_the_wheel["components"]}
    assert re.match(r"pkg:deb/debian/libpng16-16\w*@1\.6\.\d+-.*\?arch=\w+&distro=debian-", purls["libpng"])
    assert purls["Zstandard"].startswith("pkg:deb/debian/libzstd-dev@")
    assert purls["Swift"].startswith("pkg:generic/swift@6.")


def test_an_unknown_file_is_refused(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "Scripts/make-sbom", "--carried", "libnut.so.1"],
        cwd=str(root),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "has the file libnut.so.1" in done.stderr
