"""Measures how long the command and `import nuthatch` take to start. Fails above the limits.

run.py and wheel.py run it in bare systems:
    python3 starts.py COMMAND

The limits are for the time on the processor, because other programs of a busy machine take no part of that. The best of
many runs is one that the machine's caches were warm for.
"""

import os
import subprocess
import sys
import time
from typing import Callable, Optional, Tuple

RUNS = 100
# In milliseconds.
COMMAND_LIMIT, IMPORT_LIMIT = 20, 30
IMPORT = """
import ctypes, time
begin, used = time.perf_counter(), time.process_time()
import nuthatch
print(time.perf_counter() - begin, time.process_time() - used)
"""


def whole(*words: str) -> Tuple[float, float]:
    """Runs a program. Returns its time, and its time on the processor."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - begin
    process.returncode = status
    if status != 0:
        sys.exit("%s ended with %d" % (" ".join(words), status))
    return took, usage.ru_utime + usage.ru_stime


def imported() -> Tuple[float, float]:
    printed = subprocess.run([sys.executable, "-c", IMPORT], stdout=subprocess.PIPE, check=True).stdout
    took, used = printed.split()
    return float(took), float(used)


def show(name: str, measure: Callable[[], Tuple[float, float]], limit: Optional[int] = None) -> bool:
    """Prints the best time and the best time on the processor. Returns whether the latter is within the limit."""
    times = [measure() for _ in range(RUNS)]
    took, used = (min(values) * 1000 for values in zip(*times))
    text = "%-32s %5.1f ms at best of %d, %5.1f ms on the processor" % (name, took, RUNS, used)
    print(text + (" (at most %d)" % limit if limit else ""), flush=True)
    return limit is None or used <= limit


def main() -> None:
    command = sys.argv[1]
    python = sys.executable
    good = [
        show("nuthatch --version", lambda: whole(command, "--version"), COMMAND_LIMIT),
        show("python3 -c ''", lambda: whole(python, "-c", "")),
        show("python3 -c 'import nuthatch'", lambda: whole(python, "-c", "import nuthatch")),
        show("import nuthatch, beyond ctypes", imported, IMPORT_LIMIT),
    ]
    if not all(good):
        sys.exit("FAILED: the start takes longer than the limit")


if __name__ == "__main__":
    main()
