"""Swift's tests, also under a sanitizer."""

import concurrent.futures
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, Iterator, List, Optional

from suites.running import MINUTE, OUT, ROOT, Suite, Wanted, distinct, ending

# Tests that await. Most others block the thread that they run on, of which there are as many as processors. Those that
# await would wait for one of them for minutes, and their questions would go unanswered: they have a process of their
# own. The others have two, side by side, since blocked threads leave the processors idle.
AWAITING = r"^NuthatchTests\."
LARGEST = r"^NuthatchCoreTests\."

# These rooms start no thread: their code runs on the caller's. Under the thread sanitizer a test takes ten times as
# long. So only those of their tests run there that start threads themselves, or run `nuthatch-storecrash mix`, which
# does.
CALLERS_THREAD = ("Base", "HTTP", "Imaging", "Store")
SEVERAL_THREADS = r"\bThread\.|\bDispatchQueue\.|TaskGroup\(|\[\"mix\""


def run(suite: Suite, wanted: Wanted, sanitizer: Optional[str] = None) -> None:
    """Builds the tests and runs them."""
    name = suite.name
    for old in OUT.glob(name + "*.xml"):
        old.unlink()
    env = suite.environment()
    env["NUTHATCH_OPTIMISED"] = "1"
    sanitized: List[str] = []
    if sanitizer:
        sanitized = ["--sanitize", sanitizer, "--scratch-path", ".build/" + sanitizer]
        env["NUTHATCH_SANITIZED"] = "1"
        # A process takes ten times as long to start; what kills find is found without sanitizers, too.
        env.setdefault("NUTHATCH_CRASH_ROUNDS", "5")
        # Memory that can't be had is asked for on purpose, and must come back as an error.
        env["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1:" + env.get("ASAN_OPTIONS", "")
        env["TSAN_OPTIONS"] = "allocator_may_return_null=1:" + env.get("TSAN_OPTIONS", "")
    # Built first: what the tests run under is not for compilers, and they run side by side.
    build = ["swift", "build", "--build-tests", *sanitized]
    status, output = suite.run(build, 40 * MINUTE, _shown, OUT / (name + "-build.log"), env)
    if status != 0:
        suite.fail("swift build", "\n".join([ending(status), *distinct(r"^(?:.*: )?error: .*", output)]))
        return
    command = ["swift", "test", "--disable-xctest", "--skip-build", "--ignore-lock", *sanitized]
    skipped = f"{AWAITING}|{LARGEST}"
    if sanitizer == "thread":
        env["LD_PRELOAD"] = str(_thread_sanitizer_library())
        skipped += "|" + "|".join(_names(file) for file in _tests_of_one_thread())
    if wanted.filter or wanted.files:
        names = wanted.filter or "|".join(_names(file) for file in wanted.files)
        _run_tests(suite, name, [*command, "--filter", names], env)
        return
    _run_tests(suite, name + "-await", [*command, "--filter", AWAITING], env)
    parts = {
        name + "-core": ["--filter", LARGEST],
        name + "-rest": ["--skip", skipped],
    }
    # Each has a suite of its own, so that none takes another's failures for its own.
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        runs = [
            pool.submit(_run_tests, Suite(suite.name), part, command + tests, env)
            for part, tests in parts.items()
        ]
    for ended in runs:
        suite.add(ended.result())


def _run_tests(suite: Suite, name: str, command: List[str], env: Dict[str, str]) -> Suite:
    before = len(suite.failed)
    report = ["--xunit-output", str(OUT / (name + ".xml"))]
    status, output = suite.run(command + report, 40 * MINUTE, _shown, OUT / (name + ".log"), env)
    # The tool adds to the name, and not in all of its versions.
    reports = [OUT / (name + ".xml"), OUT / (name + "-swift-testing.xml")]
    count = sum(suite.read_junit(path) for path in reports if path.exists())
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
    """What finds the tests of a file."""
    types = re.findall(
        r"^(?:@Suite.*\n?)?(?:final )?(?:struct|class|extension) (\w+)", file.read_text(), re.MULTILINE
    )
    return r"^%s\.(%s)/" % (file.parent.name, "|".join(dict.fromkeys(types)))


def _tests_of_one_thread() -> Iterator[Path]:
    for room in CALLERS_THREAD:
        for file in sorted((ROOT / "Tests" / f"Nuthatch{room}Tests").rglob("*Tests.swift")):
            if not re.search(SEVERAL_THREADS, file.read_text()):
                yield file


def _shown(line: str) -> Optional[str]:
    """Of Swift's output: the build, whole suites, and what did not pass."""
    # Linking under a sanitizer, the linker tells a hundred times that it hides names, as it was asked to.
    if "warning: Cannot export local symbol" in line:
        return None
    # The name of a case may hold ends of lines, so that its beginning and its end are told apart from the rest.
    if re.match(r"^\S+ Test case passing |^\S+ Test (?!run\b).* passed after |.* started\.$", line):
        return None
    return line


def _unfinished(output: str) -> List[str]:
    """The tests that began and never ended, when the process died."""
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
    """Built with the toolchain's clang, which knows Swift's calling convention; see the source for what it is for."""
    library = OUT / "mutex.so"
    clang = Path(shutil.which("swift") or "").resolve().parent / "clang"
    source = ROOT / "Tests" / "Sanitizers" / "mutex.c"
    subprocess.run([str(clang), "-O2", "-fPIC", "-shared", "-o", str(library), str(source)], check=True)
    return library
