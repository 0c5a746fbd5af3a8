"""The option `config` of a cache: a file with options, sections for hosts, mistakes."""

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any, Callable

import nuthatch
import pytest
from testserver import TestServer, ok

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "config.toml", mode: int = 0o600) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


def test_a_file_gives_options_and_arguments_override_it(write: Write, tmp_path: Path) -> None:
    path = write('retries = 7\ntimeout = "9s"\nuser_agent = "file"\n')
    with nuthatch.Cache(tmp_path / "c", config=path, retries=2) as cache:
        told = cache.options
        assert (told["retries"], told["timeout"], told["user_agent"]) == (2, 9, "file")
    for none in (None, False):
        with nuthatch.Cache(tmp_path / "c", config=none) as cache:
            assert cache.options["retries"] == 3 and "config" not in cache.options
    with nuthatch.Cache(tmp_path / "c", config=str(path)) as cache:
        again = pickle.loads(pickle.dumps(cache))
        assert again.options["retries"] == 7
        again.close()


def test_true_means_the_usual_files(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    write("retries = 7\n", "xdg/nuthatch/config.toml")
    for usual in (True, ""):
        with nuthatch.Cache(tmp_path / "c", config=usual) as cache:
            assert cache.options["retries"] == 7
    with nuthatch.Cache(tmp_path / "c") as cache:
        assert cache.options["retries"] == 3


def test_a_mistake_names_its_place(write: Write, tmp_path: Path) -> None:
    path = write("retries = 1\nretires = 2\n")
    with pytest.raises(
        nuthatch.Invalid, match=f"{path}:2:1: there is no option 'retires'; did you mean retries"
    ):
        nuthatch.Cache(tmp_path / "c", config=path)
    with pytest.raises(nuthatch.Error) as caught:
        nuthatch.Cache(tmp_path / "c", config=write("", mode=0o622))
    assert caught.value.code == "unsafe_file"
    options: Any = {"config": path}
    with nuthatch.Cache(tmp_path / "c") as cache, pytest.raises(nuthatch.Invalid, match="of a cache"):
        cache.get("http://127.0.0.1:9/", **options)


def test_a_section_signs_in_at_its_host(server: TestServer, write: Write, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "max-age=600")]))
    go = tmp_path / "go"
    command = json.dumps(["sh", "-c", f"until [ -e '{go}' ]; do sleep 0.01; done; echo token"])
    path = write(f'[host."{server.url("")}"]\nauth_command = {command}\nuser_agent = "h"\n')

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c", config=path) as cache:
            # The event loop goes on while the program runs.
            answer = asyncio.ensure_future(cache.get(server.url("/a")))
            turns = 0
            while not answer.done():
                await asyncio.sleep(0.01)
                turns += 1
                if turns == 10:
                    go.touch()
            assert (await answer).body == b"x" and turns > 10

    asyncio.run(main())
    (request,) = server.requests("/a")
    assert request.header("Authorization") == "Bearer token" and request.header("User-Agent") == "h"
    with nuthatch.Cache(tmp_path / "c", config=path) as cache:
        assert cache.get(server.url("/a")).source == "disk"
