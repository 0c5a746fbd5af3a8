"""The fuzzers run seldom (`make fuzz`). So that they can, they must compile with the sources as they are."""

import re
import subprocess
from pathlib import Path


def test_the_fuzzers_compile(root: Path, tmp_path: Path) -> None:
    headers = root / "Sources" / "CSystem" / "include"
    (tmp_path / "module.modulemap").write_text(
        f'module CSystem {{ umbrella header "{headers}/CSystem.h" export * }}\n'
    )
    command = [
        "swiftc",
        "-typecheck",
        "-swift-version",
        "6",
        "-parse-as-library",
        "-package-name",
        "nuthatch",
    ]
    command += ["-module-name", "Fuzz", "-I", str(tmp_path), "-Xcc", f"-I{headers}"]
    sources = [
        *(root / "Sources" / "NuthatchImaging").rglob("*.swift"),
        *(root / "Tests" / "Fuzz").glob("*.swift"),
    ]
    found = subprocess.run([*command, *map(str, sorted(sources))], text=True, capture_output=True)
    assert found.returncode == 0, found.stderr


def test_the_fuzzers_are_linked_with_all_that_they_call(root: Path) -> None:
    system = root / "Sources" / "CSystem"
    swift = [
        *(root / "Sources" / "NuthatchImaging").rglob("*.swift"),
        *(root / "Tests" / "Fuzz").glob("*.swift"),
    ]
    called = set(re.findall(r"\b(nhs_\w+)\(", "".join(path.read_text() for path in swift)))
    headers = "".join(path.read_text() for path in (system / "include").glob("*.h"))
    declared = set(re.findall(r"^[\w *]+?\b(nhs_\w+)\(", headers, re.MULTILINE))
    # As in Tests/Fuzz/run.sh.
    linked = [*(system / "Codecs").glob("*.c"), *(system / "Pixels").glob("*.c")]
    texts = headers + "".join(path.read_text() for path in linked)
    defined = set(re.findall(r"^[\w *]+?\b(nhs_\w+)\([^;{]*\{", texts, re.MULTILINE))
    assert len(called & declared) > 50
    assert called & declared - defined == set()
