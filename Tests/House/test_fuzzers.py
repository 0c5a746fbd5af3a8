"""The fuzzers run seldom (`make fuzz`). So that they can, they must compile with the sources as they are."""

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
