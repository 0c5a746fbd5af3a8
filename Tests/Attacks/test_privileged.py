"""A program that runs with more rights than the user who starts it and sets its environment."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Callable, Dict, Iterator

import pytest
from testserver import TestServer, ok

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("NUTHATCH_LIBRARY", ROOT / "build" / "libnuthatch.so.1"))

#: The user who starts the program, and the user whose rights it has.
CALLER, OWNER = "nobody", "daemon"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users can read and write."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o1777)
    yield path
    shutil.rmtree(path)


@pytest.fixture(params=[True, False], ids=["setuid", "not setuid"])
def is_privileged(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def program(folder: Path, is_privileged: bool) -> Run:
    if os.geteuid() != 0:
        pytest.skip("only root can make a setuid program of another user")
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        pytest.skip(f"setuid programs have no rights in {folder}")
    path = folder / "program"
    shutil.copy(LIBRARY, folder / LIBRARY.name)
    command = ["cc", f"-I{ROOT / 'include'}", str(Path(__file__).with_name("privileged.c")), "-o", str(path)]
    subprocess.run([*command, str(folder / LIBRARY.name), f"-Wl,-rpath,{folder}"], check=True)
    os.chown(path, pwd.getpwnam(OWNER).pw_uid, -1)
    path.chmod(0o4755 if is_privileged else 0o755)

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        caller: Dict[str, int] = {"user": pwd.getpwnam(CALLER).pw_uid, "group": pwd.getpwnam(CALLER).pw_gid}
        return subprocess.run(
            [str(path), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=folder,
            check=False,
            extra_groups=[],
            **caller,
        )

    return run


def test_a_privileged_program_ignores_proxy_and_file_names_of_the_environment(
    server: TestServer, folder: Path, program: Run, is_privileged: bool
) -> None:
    server.on("/a", ok("x"))
    netrc = folder / "netrc"
    netrc.write_text("machine 127.0.0.1 login caller password theirs\n")
    keys, certificates = folder / "keys", folder / "certificates"
    certificates.write_text("none")
    with TestServer() as proxy:
        proxy.on_prefix("/", ok("x"))
        done = program(
            str(folder / "cache"),
            server.url("/a"),
            NETRC=str(netrc),
            SSLKEYLOGFILE=str(keys),
            NUTHATCH_LOG="debug",
        )
        assert done.returncode == 0, done.stdout
        signs_in = server.requests("/a")[0].header("authorization") is not None
        assert (signs_in, bool(done.stderr)) == (not is_privileged, not is_privileged)
        assert keys.exists() is not is_privileged
        server.on("/b", ok("x"))
        done = program(str(folder / "cache"), server.url("/b"), http_proxy=proxy.url(""))
        assert done.returncode == 0, done.stdout
        assert (server.count("/b"), bool(proxy.requests())) == (1, False) if is_privileged else (0, True)


def test_a_privileged_program_uses_its_owners_cache(
    server: TestServer, folder: Path, program: Run, is_privileged: bool
) -> None:
    server.on("/a", ok("x"))
    for variables in ({"NUTHATCH_CACHE": "cache"}, {"XDG_CACHE_HOME": ""}, {"HOME": ""}):
        environment = {name: str(folder / (value or "home")) for name, value in variables.items()}
        done = program("", server.url("/a"), **environment)
        for path in environment.values():
            assert Path(path).exists() is not is_privileged
        if is_privileged:
            # A folder where no other user can write.
            assert done.returncode == 1
            assert f"{pwd.getpwnam(OWNER).pw_dir}/.cache" in done.stdout
        else:
            assert done.returncode == 0, done.stdout


def test_a_privileged_program_runs_no_command_of_a_config_file(
    server: TestServer, folder: Path, program: Run, is_privileged: bool
) -> None:
    """The command would run with the owner's rights in the environment of the caller."""
    server.on("/a", ok("x"))
    ran = folder / "ran"
    command = folder / "token"
    command.write_text(f"#!/bin/sh\necho token\ntouch {ran}\n")
    command.chmod(0o755)
    config = folder / "config.toml"
    config.write_text(f'[host."{server.url("")}"]\nauth_command = ["{command}"]\n')
    config.chmod(0o644)
    done = program(str(folder / "cache"), server.url("/a"), str(config))
    assert ran.exists() is not is_privileged
    if is_privileged:
        assert done.returncode == 1
        assert "isn't run, because this program has more rights than its user" in done.stdout
        assert server.requests() == []
    else:
        assert done.returncode == 0, done.stdout
        assert server.requests("/a")[0].header("authorization") == "Bearer token"
