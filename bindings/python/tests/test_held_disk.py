"""A disk that doesn't answer must not stop other threads of the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from testserver import TestServer, ok

# Opening a file with this name waits until the file $GO_ON exists. Meanwhile $IS_HELD exists.
HELD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int openat(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    int (*next)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
    if (strstr(path, "held-up")) {
        close(next(AT_FDCWD, getenv("IS_HELD"), O_CREAT | O_WRONLY, 0600));
        while (access(getenv("GO_ON"), F_OK)) usleep(10000);
    }
    return next(folder, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return openat(AT_FDCWD, path, flags, mode);
}
"""

PROGRAM = """
import os, sys, threading, time, nuthatch
url, folder, options = sys.argv[1:]
with nuthatch.Cache(folder) as cache:
    asking = threading.Thread(target=lambda: cache.get(url, **eval(options)))
    asking.start()
    while asking.is_alive() and not os.path.exists(os.environ["IS_HELD"]):
        time.sleep(0.01)
    # Not reached while the other thread holds the GIL.
    if os.path.exists(os.environ["IS_HELD"]):
        open(os.environ["GO_ON"], "w").close()
    asking.join()
"""


@pytest.mark.parametrize(
    "options", ["save_to='held-up'", "method='POST', body=pathlib.Path('held-up')", "netrc='held-up'"]
)
def test_the_interpreter_runs_while_a_call_waits_for_a_file(
    server: TestServer, tmp_path: Path, options: str
) -> None:
    server.on("/a", ok(b"a", "text/plain"))
    shim, source = tmp_path / "held.so", tmp_path / "held.c"
    source.write_text(HELD)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"], check=True)
    (tmp_path / "held-up").write_text("machine example.org login a password b\n")
    (tmp_path / "held-up").chmod(0o600)
    command = [sys.executable, "-c", "import pathlib\n" + PROGRAM, server.url("/a"), str(tmp_path / "c")]
    environment = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "IS_HELD": str(tmp_path / "is-held"),
        "GO_ON": str(tmp_path / "go-on"),
    }
    command.append(f"dict({options})")
    subprocess.run(command, cwd=tmp_path, env=environment, timeout=60, check=True)
    assert (tmp_path / "go-on").exists()
