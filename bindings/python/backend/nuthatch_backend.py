"""Builds Nuthatch for pip (PEP 517), from a checkout or the source distribution. It needs Swift and Debian's libraries,
and no package of Python."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Optional

ROOT = Path(__file__).resolve().parents[3]

NO_SWIFT = (
    "nuthatch: to build it from source, install Swift 6.2 or newer from swift.org and put its usr/bin into PATH; "
    "or install a wheel of this version, which needs no Swift (`make wheel` makes it on a machine that has Swift)."
)
NOT_BUILT = "nuthatch: the build failed, see above. On Debian, Scripts/bootstrap installs the libraries that it needs."


def run(*command: str) -> None:
    """Ends the build with advice if the command fails."""
    if subprocess.run(command, cwd=ROOT, stdout=sys.stderr).returncode != 0:
        sys.exit(NOT_BUILT)


def get_requires_for_build_wheel(config_settings: Any = None) -> List[str]:
    """pip asks this first, before it shows a long build."""
    if shutil.which("swift") is None:
        sys.exit(NO_SWIFT)
    return []


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None
) -> str:
    """Makes the wheel for machines like this one. Its libcurl and OpenSSL are those of the system."""
    get_requires_for_build_wheel()
    # Nothing is installed on the machine: pip's user didn't ask for that.
    run("make", "release", "BOOTSTRAP=true")
    made = ROOT / "build" / "for-pip"
    shutil.rmtree(made, ignore_errors=True)
    build = str(ROOT / "build" / "release")
    run(sys.executable, "Scripts/make-wheel", "--system", "--build", build, "--out", str(made))
    (wheel,) = made.glob("*.whl")
    shutil.copy(wheel, wheel_directory)
    return wheel.name


def get_requires_for_build_sdist(config_settings: Any = None) -> List[str]:
    return []


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Makes the source distribution."""
    run(sys.executable, "Scripts/make-sdist", "--out", sdist_directory)
    newest = max(Path(sdist_directory).glob("nuthatch-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    return newest.name
