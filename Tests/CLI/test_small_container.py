"""`nuthatch prefetch` in a control group with little memory: it is not killed, and errors have the numbers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Dict, Iterator, List

import pytest
from command import COMMAND, Outcome, lines
from memory_group import MemoryGroup, NoGroupError
from testserver import TestServer, ok

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    try:
        with MemoryGroup(64 << 20) as group:
            yield group
    except NoGroupError as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, bytes]:
    """JPEGs of two to five megabytes. All but one have 12 megapixels."""
    grain = Image.merge("RGB", [Image.effect_noise((1000, 750), 50) for _ in range(3)])
    large = grain.resize((4000, 3000), Image.BILINEAR)
    kinds = {
        "420": (large, {"subsampling": 2}),
        "444": (large, {"subsampling": 0}),
        "progressive": (large, {"subsampling": 0, "progressive": True}),
        "fitting": (grain.resize((2000, 1500)), {"subsampling": 0, "progressive": True}),
    }
    made = {}
    for kind, (image, options) in kinds.items():
        # Save to a file: Pillow can write large progressive JPEGs only to files.
        path = tmp_path_factory.mktemp("photos") / kind
        image.save(path, "JPEG", quality=90, **options)
        made[kind] = path.read_bytes()
    return made


def serve(server: TestServer, photos: Dict[str, bytes], kind: str, count: int) -> List[str]:
    """Returns URLs of so many pictures with different bytes. Equal ones would be decoded once."""
    jpeg = photos[kind]
    for number in range(count):
        comment = f"{kind} {number}".encode().ljust(30)
        server.on(f"/{kind}/{number}", ok(jpeg[:2] + b"\xff\xfe\x00\x20" + comment + jpeg[2:], "image/jpeg"))
    return [server.url(f"/{kind}/{number}") for number in range(count)]


def prefetch(
    group: MemoryGroup, folder: Path, environment: Dict[str, str], urls: List[str], *options: str
) -> Outcome[bytes]:
    command = [*group.prefix, COMMAND, "prefetch", "--format=jsonl", *options]
    return subprocess.run(
        command,
        cwd=str(folder),
        env=environment,
        input=lines(urls),
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_photographs_of_12_megapixels_are_decoded_in_64_mib(
    server: TestServer,
    group: MemoryGroup,
    photos: Dict[str, bytes],
    tmp_path: Path,
    environment: Dict[str, str],
) -> None:
    # At the usual size, the averages of a progressive picture's blocks are enough.
    kinds = {"420": 9, "444": 9, "progressive": 3}
    urls = [url for kind, count in kinds.items() for url in serve(server, photos, kind, count)]
    done = prefetch(group, tmp_path, environment, urls)
    assert (done.returncode, group.kills) == (0, 0), done.stderr
    assert all(json.loads(line)["ok"] for line in done.stdout.splitlines())


def test_a_picture_that_needs_too_much_memory_is_refused_with_the_numbers(
    server: TestServer,
    group: MemoryGroup,
    photos: Dict[str, bytes],
    tmp_path: Path,
    environment: Dict[str, str],
) -> None:
    kinds = {"progressive": 3, "fitting": 3, "420": 3}
    large, fitting, baseline = [serve(server, photos, kind, count) for kind, count in kinds.items()]
    done = prefetch(group, tmp_path, environment, [*large, *fitting, *baseline], "--size=512")
    assert (done.returncode, group.kills) == (4, 0), done.stderr
    records = {record["url"]: record for record in map(json.loads, done.stdout.splitlines())}
    assert len(records) == 9
    assert all(records[url]["ok"] for url in [*fitting, *baseline]), done.stdout
    for url in large:
        assert records[url]["error"] == "too_many_pixels"
        numbers = re.search(
            r"a progressive JPEG of 4000x3000 needs ([\d.]+) MiB of memory to decode, more than the ([\d.]+) MiB "
            r"that it may take, of 64\.0 MiB that the process's control group has",
            records[url]["message"],
        )
        assert numbers, records[url]["message"]
        assert 68 < float(numbers[1]) < 80
        assert 4 <= float(numbers[2]) <= 32
