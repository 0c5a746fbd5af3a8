"""Swift's tests, also under a sanitizer."""

import concurrent.futures
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Dict, Iterator, List, Optional

from suites.running import MINUTE, OUT, ROOT, Suite, Wanted, distinct, ending

PRODUCT = "nuthatchPackageTests"
TESTS = PRODUCT + ".xctest"
# Tests that await run in a process of their own. Most others block their thread, and there are only as many threads as
# processors. So tests that await would wait for a thread for minutes, and their questions would go unanswered. The
# others run in two processes side by side, because blocked threads leave the processors idle.
AWAITING = r"^NuthatchTests\."
LARGEST = r"^NuthatchCoreTests\."

# The code that these folders test starts no threads. Under the thread sanitizer a test takes ten times as long. So only
# files of tests run there that start threads themselves, or run `nuthatch-storecrash mix`.
CALLERS_THREAD = ("BaseTests", "CoreTests/Queue", "HTTPTests", "ImagingTests", "StoreTests")
SEVERAL_THREADS = r"\bThread\.|\bDispatchQueue\.|\binThreads\(|TaskGroup\(|\[\"mix\""


def run(suite: Suite, wanted: Wanted, sanitizer: Optional[str] = None) -> None:
    """Builds the tests and runs them."""
    name = suite.name
    for old in OUT.glob(name + "*.xml"):
        old.unlink()
    env = suite.environment()
    env.update(NUTHATCH_OWN_BUILD="1", NO_COLOR="1")
    kind = _configuration(wanted)
    # Build before `env` changes: the sanitizer's options and libraries are for the tests, not for compilers. Build only
    # what the tests link and start: `make` has built the command and the C library.
    if not _succeeds(suite, name + "-build", ["swift", "build", "-c", kind, "--product", PRODUCT], env):
        return
    tests = ROOT / ".build" / kind / TESTS
    if sanitizer:
        # Under a sanitizer, a process takes ten times as long to start. Kills find the same faults without one.
        env.setdefault("NUTHATCH_CRASH_ROUNDS", "5")
        tests = ROOT / ".build" / sanitizer / "debug" / TESTS
        if not _build_rooms(suite, sanitizer, kind, tests, env):
            return
        # Some tests ask for more memory than there is, and must get an error. Noting all callers of each allocation
        # would take an eighth of the time.
        common = "allocator_may_return_null=1:"
        env["ASAN_OPTIONS"] = "detect_leaks=0:malloc_context_size=2:" + common + env.get("ASAN_OPTIONS", "")
        env["TSAN_OPTIONS"] = common + env.get("TSAN_OPTIONS", "")
    command = [str(tests), "--testing-library", "swift-testing"]
    left_out = []
    if sanitizer == "thread":
        env["LD_PRELOAD"] = str(_thread_sanitizer_library())
        left_out = [_names(file) for file in _tests_of_one_thread()]
    if wanted.filter or wanted.files:
        names = wanted.filter or "|".join(_names(file) for file in wanted.files)
        _run_tests(suite, name, [*command, "--filter", names], env)
        return
    _run_tests(suite, name + "-await", [*command, "--filter", AWAITING], env)
    parts = {
        name + "-core": ["--filter", LARGEST, "--skip", "|".join([AWAITING, *left_out])],
        name + "-rest": ["--skip", "|".join([AWAITING, LARGEST, *left_out])],
    }
    # Each run has a suite of its own, because `_run_tests` must not count the failures of the other run.
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        runs = [
            pool.submit(_run_tests, Suite(suite.name), part, command + tests, env)
            for part, tests in parts.items()
        ]
    for ended in runs:
        suite.add(ended.result())


def _configuration(wanted: Wanted) -> str:
    """Returns the configuration to build.

    `make` has built everything but the tests for release, so the tests run what is installed. After a change, the files
    of tests that a developer names are run in a debug build, because it compiles only the files that changed.
    """
    tests = ROOT / ".build/release" / TESTS
    if not wanted.filter and not wanted.files:
        return "release"
    if not tests.exists():
        return "debug"
    sources = [ROOT / "Package.swift", *(ROOT / "Sources").rglob("*"), *(ROOT / "Tests").rglob("*.[chs]*")]
    return "release" if max(file.stat().st_mtime for file in sources) < tests.stat().st_mtime else "debug"


def _build_rooms(suite: Suite, sanitizer: str, kind: str, tests: Path, env: Dict[str, str]) -> bool:
    """Builds the rooms under the sanitizer, and links them with the tests of the plain build.

    Compiling the tests takes most of a build, and the sanitizer need not look for faults in them.
    """
    name = suite.name
    build = ["swift", "build", "--sanitize", sanitizer, "--scratch-path", ".build/" + sanitizer]
    build += ["--disable-index-store"]
    if not _succeeds(suite, name + "-build", build, dict(env, NUTHATCH_SANITIZED="1")):
        return False
    rooms = {room.name + ".build" for room in (ROOT / "Sources").iterdir()}
    plain = (ROOT / ".build" / kind).resolve()
    # The command that linked the plain build.
    manifest = (ROOT / ".build" / (kind + ".yaml")).read_text()
    line = re.search(r'^ +args: (\[.*/%s",.*\.LinkFileList".*\])$' % TESTS, manifest, re.MULTILINE)
    assert line, "no line of the linker in .build/%s.yaml" % kind
    link: List[str] = json.loads(line.group(1))
    link[link.index("-o") + 1] = str(tests)
    place = next(at for at, word in enumerate(link) if word.startswith("@"))
    parts = [Path(word).relative_to(plain) for word in shlex.split(Path(link[place][1:]).read_text())]
    objects = [(tests.parent if part.parts[0] in rooms else plain) / part for part in parts]
    # A .swiftmodule.o describes a module for debuggers. Not every module has one.
    objects = [file for file in objects if file.exists() or not file.name.endswith(".swiftmodule.o")]
    listed = OUT / (name + ".objects")
    listed.write_text("".join(shlex.quote(str(file)) + "\n" for file in objects))
    link[place] = "@" + str(listed)
    return _succeeds(suite, name + "-link", [*link, "-sanitize=" + sanitizer], env)


def _succeeds(suite: Suite, name: str, command: List[str], env: Dict[str, str]) -> bool:
    """Runs a command that the tests need. If it fails, the suite fails, and the result is False."""
    status, output = suite.run(command, 40 * MINUTE, _shown, OUT / (name + ".log"), env)
    if status != 0:
        reason = [ending(status), *distinct(r"^(?:.*: )?error: .*", output)]
        suite.fail(" ".join(command[:2]), "\n".join(reason))
    return status == 0


def _run_tests(suite: Suite, name: str, command: List[str], env: Dict[str, str]) -> Suite:
    before = len(suite.failed)
    report = ["--xunit-output", str(OUT / (name + ".xml"))]
    status, output = suite.run(command + report, 40 * MINUTE, _shown, OUT / (name + ".log"), env)
    count = suite.read_junit(OUT / (name + ".xml"))
    for report_line in distinct(r"^SUMMARY: .*", output):
        suite.fail("sanitizer", report_line)
    ended = re.search(r"^\S+ Test run with .* after ", output, re.MULTILINE)
    if status != 0 and not (len(suite.failed) > before and ended):
        reason = [
            ending(status) + ("" if ended else " before the tests ended"),
            *distinct(r"^(?:.*: )?error: .*", output),
        ]
        reason += ["under way: " + test for test in _unfinished(output)]
        suite.fail("swift test", "\n".join(reason))
    elif count == 0:
        suite.fail("swift test", "ran no test: " + name)
    return suite


def _names(file: Path) -> str:
    """Returns the pattern for the names of the tests in a file."""
    types = re.findall(
        r"^(?:@Suite.*\n?)?(?:final )?(?:struct|class|extension) (\w+)", file.read_text(), re.MULTILINE
    )
    module = file.relative_to(ROOT / "Tests").parts[0]
    return r"^%s\.(%s)/" % (module, "|".join(dict.fromkeys(types)))


def _tests_of_one_thread() -> Iterator[Path]:
    for folder in CALLERS_THREAD:
        for file in sorted((ROOT / "Tests" / ("Nuthatch" + folder)).rglob("*Tests.swift")):
            if not re.search(SEVERAL_THREADS, file.read_text()):
                yield file


def _shown(line: str) -> Optional[str]:
    """Returns a line of Swift's output, or None for tests that begin or pass."""
    # Under a sanitizer, the linker prints this line a hundred times: it hides names, as it was asked to.
    if "warning: Cannot export local symbol" in line:
        return None
    # The name of a case may contain newlines, so the first and the last line of a case have patterns of their own.
    if re.match(r"^\S+ Test case passing |^\S+ Test (?!run\b).* passed after |.* started\.$", line):
        return None
    return line


def _unfinished(output: str) -> List[str]:
    """Returns the tests that had begun and not ended when the process died."""
    begun: Dict[str, None] = {}
    for line in output.splitlines():
        match = re.match(r"^\S+ Test (?!run\b|case\b)(.*?) started\.$", line)
        if match:
            begun[match.group(1)] = None
        match = re.match(
            r"^\S+ Test (?!run\b|case\b)(.*?) (with \d+ test cases? )?(passed|failed) after ", line
        )
        if match:
            begun.pop(match.group(1), None)
    return list(begun)


def _thread_sanitizer_library() -> Path:
    """Builds Tests/Sanitizers/mutex.c, which says what it is for. Returns the library.

    The compiler is the toolchain's clang, which knows Swift's calling convention.
    """
    library = OUT / "mutex.so"
    clang = Path(shutil.which("swift") or "").resolve().parent / "clang"
    source = ROOT / "Tests" / "Sanitizers" / "mutex.c"
    subprocess.run([str(clang), "-O2", "-fPIC", "-shared", "-o", str(library), str(source)], check=True)
    return library
