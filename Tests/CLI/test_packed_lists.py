"""Lists compressed by gzip, zstd and xz: recognized by magic number, decompressed as needed, with clear errors."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Tuple

import packing
import pytest
from command import COMMAND, Runner, heed_signals

DRY = ["prefetch", "--dry-run", "--format=jsonl"]
KINDS = list(packing.PACKERS)


def urls(stdout: bytes) -> List[str]:
    return [json.loads(line)["url"] for line in stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_compressed_list_is_read_from_a_file_and_standard_input(
    kind: str, encoding: str, nuthatch: Runner, tmp_path: Path
) -> None:
    wanted = [f"http://x/{number}" for number in range(50_000)]
    text = "".join(f"{number},{url}\n" for number, url in enumerate(wanted))
    packed = packing.PACKERS[kind](("id,url\n" + text).encode(encoding))
    (tmp_path / "list").write_bytes(packed)
    named = f"list.csv{packing.SUFFIXES[kind]}"
    (tmp_path / named).write_bytes(packing.PACKERS[kind](text.encode(encoding)))
    for done in (nuthatch(*DRY, "list"), nuthatch(*DRY, given=packed), nuthatch(*DRY, named)):
        assert (urls(done.stdout), done.returncode) == (wanted, 0), done.stderr[-2000:]


@pytest.mark.parametrize("kind", KINDS)
def test_several_compressed_streams_follow_each_other(kind: str, nuthatch: Runner) -> None:
    pack = packing.PACKERS[kind]
    given = pack(b"http://x/a\nhttp") + pack(b"") + pack(b"://x/b\n")
    if kind == "zstd":
        given = packing.zstd_skipped(b"123") + given + packing.zstd_skipped(b"")
    if kind == "xz":
        given += bytes(8)
    done = nuthatch(*DRY, given=given)
    assert (urls(done.stdout), done.returncode) == (["http://x/a", "http://x/b"], 0), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_compressed_list_may_come_byte_by_byte(
    kind: str, environment: Dict[str, str], tmp_path: Path
) -> None:
    packed = packing.PACKERS[kind]("http://x/é\nhttp://x/b\n".encode("utf-16"))
    with subprocess.Popen(
        [COMMAND, *DRY],
        env=environment,
        cwd=str(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for byte in packed:
            process.stdin.write(bytes([byte]))
        process.stdin.close()
        assert urls(process.stdout.read()) == ["http://x/é", "http://x/b"]
    assert process.returncode == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_compressed_list_that_is_cut_anywhere_is_an_error(kind: str, nuthatch: Runner) -> None:
    """URLs before the cut are fetched."""
    packed = packing.PACKERS[kind](b"http://x/a\nhttp://x/b\n" + bytes(range(32, 127)) * 30)
    cuts = [len(packed) - 1, len(packed) // 2, 13, 8]
    if kind == "zstd":
        packed = packing.zstd(b"http://x/a\n") + packed
        cuts = [cut + len(packing.zstd(b"http://x/a\n")) for cut in [1, *cuts]]
    for cut in cuts:
        done = nuthatch(*DRY, given=packed[:cut])
        assert done.returncode == 2, (cut, done.stderr)
        assert f"standard input: the list ends in the middle of its {kind} stream".encode() in done.stderr
        if kind == "zstd":
            assert urls(done.stdout)[0] == "http://x/a"


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_compressed_list_is_an_error(kind: str, nuthatch: Runner) -> None:
    packed = bytearray(packing.PACKERS[kind](b"".join(b"http://x/%d\n" % number for number in range(9999))))
    packed[len(packed) // 2] ^= 0x55
    if kind == "zstd":
        packed = bytearray(packing.zstd_head(20) + b"\7\0\0")  # an invalid type of block
    done = nuthatch(*DRY, given=bytes(packed))
    assert done.returncode == 2
    assert f"standard input: the {kind} stream is damaged".encode() in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_data_after_a_compressed_stream_is_an_error(kind: str, nuthatch: Runner) -> None:
    done = nuthatch(*DRY, given=packing.PACKERS[kind](b"http://x/a\n") + b"http://x/b\n")
    assert (urls(done.stdout), done.returncode) == (["http://x/a"], 2)
    assert f"other data after the end of the {kind} stream".encode() in done.stderr


# A process starts with its parent's peak memory, so a small process must start it.
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(code)
"""


def run_measured(given: bytes, environment: Dict[str, str], folder: Path) -> Tuple[int, bytes, int]:
    """Returns the exit status, the output, and the peak memory in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, COMMAND, *DRY],
        env=environment,
        cwd=str(folder),
        input=given,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr, int(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_a_decompression_bomb_takes_little_memory(
    kind: str, environment: Dict[str, str], tmp_path: Path
) -> None:
    """A line of 300 MB, compressed to at most 300 KB."""
    if kind == "zstd":
        bomb = packing.zstd_head(17) + packing.zstd_blocks(b"a", 2400)
    else:
        bomb = packing.PACKERS[kind](b"a" * 300_000_000)
    code, said, most = run_measured(bomb, environment, tmp_path)
    assert code == 2 and b"line 1 is longer than 16 MiB" in said
    assert len(bomb) < 400_000 and most < 150_000_000


@pytest.mark.parametrize(
    "kind, fits, does_not, packer",
    [
        ("zstd", packing.zstd_head(27) + packing.ZSTD_LAST_BLOCK, packing.zstd_head(28), "zstd --long=27"),
        ("xz", packing.xz_filters(128 << 20), packing.xz_filters(192 << 20), "xz -9"),
    ],
    ids=["zstd", "xz"],
)
def test_a_list_that_needs_too_much_memory_to_decompress_is_an_error(
    kind: str, fits: bytes, does_not: bytes, packer: str, environment: Dict[str, str], tmp_path: Path
) -> None:
    code, said, _ = run_measured(fits, environment, tmp_path)
    assert code in (0, 4), said
    code, said, most = run_measured(does_not + packing.ZSTD_LAST_BLOCK, environment, tmp_path)
    assert code == 2 and most < 100_000_000
    assert f"the {kind} stream needs more than 128 MiB of memory; compress it with {packer}".encode() in said


def test_a_run_over_blank_lines_can_be_interrupted(environment: Dict[str, str], tmp_path: Path) -> None:
    """Four bytes of the compressed list are 131,072 blank lines."""
    with subprocess.Popen(
        [COMMAND, *DRY],
        env=environment,
        cwd=str(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stdin is not None
        # A pipe holds 64 KiB. When all is written, the command has read a part.
        process.stdin.write(packing.zstd_head(17) + packing.zstd_blocks(b"\n", 16_500))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
