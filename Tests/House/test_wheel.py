"""The Python wheel for this machine: two builds are equal, and it works in an empty environment."""

import base64
import hashlib
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Callable, Dict, List

import elf
import hidden_toolchain
import pytest
from commands import make_wheel

CARRIED = ["dav1d", "isal", "jpeg", "lcms2", "png16", "webp"]
# Libraries of the manylinux lists, and those that the wheel says it needs.
ALLOWED = "libc|libm|libz|libgcc_s|libstdc\\+\\+|ld-linux-[\\w-]+|libcurl|libcrypto|libssl"

WHAT_IS_LOADED = """
import sys, nuthatch
cache = nuthatch.Cache(sys.argv[1])
response = cache.get(sys.argv[2])
print(response.status, len(response.body))
image = cache.thumbnail(sys.argv[3], 16)
assert image.width == 16 and len(nuthatch.Response.image(cache.get(sys.argv[3]), 8).pixels) == 8
image.save(sys.argv[1] + ".jpg")
foreign = ("libjpeg", "libpng", "liblcms", "libisal", "libwebp", "libdav1d", "libswift")
assert not [line for line in open("/proc/self/maps") if any(name in line for name in foreign)]
print(nuthatch.__file__)
print(next(line.split()[-1] for line in open("/proc/self/maps") if "libnuthatch" in line))
"""

IMPORT_TIME = """
import time, ctypes, sys
begin = time.perf_counter()
import nuthatch
print(time.perf_counter() - begin)
"""


def test_two_builds_of_the_wheel_are_equal(wheel: Path, root: Path, tmp_path: Path) -> None:
    # By digests: pytest would compare 10 MB of bytes for minutes to show the difference.
    again = make_wheel(root, tmp_path)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


def test_the_wheel_lists_its_files(wheel: Path, figure: Callable[[str, str], None]) -> None:
    figure("size of the wheel", "%.2f MB" % (wheel.stat().st_size / 1e6))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith("/RECORD")]
        lines = dict(line.split(",", 1) for line in archive.read(record).decode().splitlines())
        assert sorted(lines) == sorted(names)
        for name, rest in lines.items():
            data = archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert rest == ("," if name == record else "sha256=%s,%d" % (digest, len(data)))
    for needed in (
        "nuthatch/__init__.py",
        "nuthatch/py.typed",
        "nuthatch/_fetching.pyi",
        "nuthatch/libnuthatch.so.1",
        "nuthatch/nuthatch",
    ):
        assert needed in names
    assert [name for name in names if "__pycache__" in name or name.startswith("tests/")] == []


@pytest.mark.skipif(
    not Path("/usr/share/doc/libzstd-dev/copyright").exists(), reason="not as Debian keeps it"
)
def test_the_wheel_has_the_licenses_of_its_libraries(wheel: Path) -> None:
    """Libraries that are linked in count, too."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "/licenses/" in name]
        texts = {re.split("/licenses/", name)[-1]: archive.read(name).decode() for name in names}
    assert "Lasse Collin" in texts["liblzma-dev.txt"] and "Facebook" in texts["libzstd-dev.txt"]
    assert "Yann Collet" in texts["libxxhash-dev.txt"]
    assert "Runtime Library Exception" in texts["swift.txt"] and "Apache License" in texts["swift.txt"]
    # Parts of Swift's runtime.
    assert "LLVM-exception" in texts["nuthatch.txt"] and "Unicode, Inc." in texts["nuthatch.txt"]
    assert [
        library for library in CARRIED if not any(library.rstrip("0123456789") in text for text in texts)
    ] == []


def test_the_wheel_works_in_an_empty_environment(
    python: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    outcome = subprocess.run(
        [
            *(str(python), "-c", WHAT_IS_LOADED, str(tmp_path / "cache")),
            *(server + "/bytes/5000", server + "/png/64/64"),
        ],
        cwd=str(tmp_path),
        env=clean_environment,
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stderr
    check_output(outcome.stdout.splitlines(), python)


@pytest.mark.skipif(hidden_toolchain.namespace() is None, reason="no mount namespace can be made here")
def test_the_wheel_works_without_swift(
    python: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    arguments = [str(tmp_path / "cache"), server + "/bytes/5000", server + "/png/64/64"]
    # Also hide the system's copies of libraries that the wheel contains.
    hidden = system_libraries()
    outcome = hidden_toolchain.run(
        [str(python), "-c", WHAT_IS_LOADED, *arguments], clean_environment, tmp_path, also=hidden
    )
    assert outcome.returncode == 0, outcome.stderr
    check_output(outcome.stdout.splitlines(), python)
    for command in ([str(python), "-m", "nuthatch"], [str(python.parent / "nuthatch")]):
        outcome = hidden_toolchain.run([*command, "--version"], clean_environment, tmp_path, also=hidden)
        assert (outcome.returncode, outcome.stderr) == (0, "")
        assert outcome.stdout.startswith("nuthatch ")
        env = dict(clean_environment, NUTHATCH_CACHE=str(tmp_path / "cache"))
        arguments = ["get", server + "/png/64/64", "--size", "16", "-o", "made.jpg"]
        outcome = hidden_toolchain.run([*command, *arguments], env, tmp_path, also=hidden)
        assert (outcome.returncode, outcome.stderr) == (0, "")
        assert (tmp_path / "made.jpg").read_bytes().startswith(b"\xff\xd8")
        (tmp_path / "made.jpg").unlink()


def system_libraries() -> List[Path]:
    """Returns the system's copies of the wheel's libraries, if they are installed."""
    listed = elf.output("/sbin/ldconfig", "-p")
    paths = re.findall(r"=> (/\S+/lib(?:%s)\.so\S*)" % "|".join(CARRIED), listed)
    assert len(paths) >= len(CARRIED)
    return sorted({Path(path).resolve() for path in paths})


def test_the_wheel_needs_what_it_may_need(
    wheel: Path, tmp_path: Path, figure: Callable[[str, str], None]
) -> None:
    assert re.search(r"-py3-none-linux_\w+\.whl$", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if archive.read(name).startswith(b"\x7fELF")]
        archive.extractall(tmp_path)
    files = [tmp_path / name for name in names]
    assert sorted(path.name[: path.name.index(".so")] for path in files if path.name.startswith("nh-")) == [
        "nh-" + name for name in CARRIED
    ]
    levels = []
    for path in files:
        others = [name for name in elf.dynamic(path, "NEEDED") if not (path.parent / name).exists()]
        assert [name for name in others if not re.fullmatch(r"(%s)\.so[.\d]*" % ALLOWED, name)] == []
        versions = elf.output("readelf", "-VW", str(path))
        levels += [int(number) for number in re.findall(r"GLIBC_2\.(\d+)", versions)]
        # Distributions name the symbol versions of libcurl differently.
        assert "CURL_" not in versions
        assert elf.dynamic(path, "RUNPATH") in ([], ["$ORIGIN"]) and elf.dynamic(path, "RPATH") == []
    # What the self-contained wheel promises.
    assert max(levels) <= 34
    figure("glibc that the wheel needs", "2.%d" % max(levels))


def check_output(lines: List[str], python: Path) -> None:
    fetched, package, library = lines
    environment = python.parent.parent
    assert fetched == "200 5000"
    assert environment in Path(package).parents
    assert environment in Path(library).parents


def test_the_package_is_imported_within_200_ms(
    python: Path, clean_environment: Dict[str, str], figure: Callable[[str, str], None]
) -> None:
    times = []
    for _ in range(5):
        printed = subprocess.run(
            [str(python), "-c", IMPORT_TIME], env=clean_environment, stdout=subprocess.PIPE, check=True
        )
        times.append(float(printed.stdout) * 1000)
    figure("import nuthatch, best of 5", "%.1f ms beyond ctypes" % min(times))
    assert min(times) < 200


def test_the_self_contained_wheel_is_linked_with_the_libraries_of_the_package(root: Path) -> None:
    """A library that is new in Package.swift must be in Scripts/link-wheel, too. `make packages` links and tests it."""
    package = (root / "Package.swift").read_text()
    (system,) = re.findall(r"name: \"CSystem\".*?linkerSettings: \[([^\]]*)\]", package, re.DOTALL)
    (archives,) = re.findall(r"\[([^\]]*)\]\.map \{ \.linkedLibrary\(\":lib", package)
    wanted = set(re.findall(r'"(\w+)"', system + archives))
    script = (root / "Scripts" / "link-wheel").read_text()
    (inside,) = re.findall(r"^inside=\((.*)\)", script, re.MULTILINE)
    linked = re.findall(r"(?<=\s)-l:?(?:lib)?(\w+?)(?:\.a)?(?= |$)", script, re.MULTILINE)
    assert wanted <= {*re.findall(r"lib(\w+)\.a", inside), *linked}
    assert {"lib%s" % name for name in CARRIED} >= {"lib" + name for name in linked} - {"liblzma", "libzstd"}
