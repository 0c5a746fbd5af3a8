"""Help, versions, and command lines that can't be understood."""

import re
from pathlib import Path

import pytest
from command import ROOT, Runner


def test_version(nuthatch: Runner) -> None:
    version = re.search(r'string = "(.*)"', (ROOT / "Sources/NuthatchCore/Cache.swift").read_text())
    assert version
    assert nuthatch("--version").stdout.decode() == f"nuthatch {version.group(1)}\n"


def test_help(nuthatch: Runner) -> None:
    overview = nuthatch("help")
    assert overview.returncode == 0 and b"get [OPTION" in overview.stdout
    for arguments in (["help", "get"], ["get", "--help"], ["get", "-h"]):
        page = nuthatch(*arguments)
        assert page.returncode == 0
        assert b"--max-bytes N" in page.stdout and b"Examples:" in page.stdout
    assert nuthatch("--help").stdout == overview.stdout


def test_without_a_command_it_says_what_there_is(nuthatch: Runner) -> None:
    done = nuthatch()
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Usage: nuthatch COMMAND" in done.stderr


@pytest.mark.parametrize(
    "line, hint",
    [
        ("gte http://x/", "did you mean 'get'?"),
        ("fetch", "there is no command 'fetch'; did you mean 'prefetch'?"),
        ("delete http://x/", "did you mean 'rm'?"),
        ("nonsense", "there is no command 'nonsense'. See"),
        ("get --report r.html http://x/", "there is no option --report; prefetch has it."),
        ("ls --size 5", "there is no option --size; prefetch, get, explain, export have it."),
        ("prefetch --reprot r.html", "did you mean --report?"),
        ("stat --fromat json", "did you mean --format?"),
        ("export out --resum=1", "takes no value"),
        ("get http://x/ --image-ttl soon", "is not a whole number, 0 or more"),
        ("get http://x/ --heuristic 2", "is not a share between 0 and 1"),
        ("get", "exactly one URL"),
        ("get http://a/ http://b/", "exactly one URL"),
        ("get --ouput f http://x/", "did you mean --output?"),
        ("get --nonsense http://x/", "there is no option --nonsense"),
        ("get -Z http://x/", "there is no option -Z"),
        ("get --m http://x/", "could be any of --mode, --max-pixels, --method, --max-bytes"),
        ("get http://x/ --timeout", "--timeout needs a value"),
        ("get http://x/ -o", "-o needs a value"),
        ("get http://x/ --help=yes", "takes no value"),
        ("get http://x/ --timeout soon", "not a positive number of seconds"),
        ("get http://x/ --timeout -1", "not a positive number of seconds"),
        ("get http://x/ --max-bytes 5T", "not a number of bytes"),
        ("get http://x/ --disk-bytes 1M", "disk_bytes is 1048576; it must be 4 MiB to 64 TiB"),
        ("prefetch --disk-bytes 1M -", "disk_bytes is 1048576; it must be 4 MiB to 64 TiB"),
        ("get http://x/ --max-bytes 99999999999G", "not a number of bytes"),
        ("get http://x/ --header plain", "not of the form"),
        ("get http://x/ --data @nothing", "nothing can't be read"),
        ("get http://x/ --size 0", "is not a size, such as 256 or 320x240"),
        ("get http://x/ --size 10x", "is not a size"),
        ("get http://x/ --size 70000", "is not a size"),
        ("get http://x/ --size 9 --mode stretch", "is none of exact, fill, fit"),
        ("get http://x/ --size 9 -o a.gif", "must end in .png, .jpg or .jpeg"),
        ("get http://x/ --enlarge", "--enlarge goes with --size"),
        ("get http://x/ --size 9,10", "one size at a time"),
        ("get http://x/ --polcy kit", "did you mean --policy?"),
        ("get http://x/ --policy none", "is none of kit, offline, reload, rfc9111"),
        ("get http://x/ --deny-private --allow-private", "exclude each other"),
        ("get http://x/ --guard public --allow-private", "exclude each other"),
        ("get http://x/ --guard nobody", "is none of any, guarded, public"),
        ("get http://x/ --retries -1", "is not a whole number, 0 to 1000"),
        ("get http://x/ --concurrency 0", "is not a whole number, 1 to 512"),
        ("get http://x/ --rate none", "is not a positive number of requests a second"),
        ("get http://x/ --priority 11", "is not a whole number, -10 to 10"),
        ("get http://x/ --keep-source maybe", "is none of no, yes"),
        ("get http://x/ --delivery twice", "is none of first, fresh"),
        ("help nothing", "there is no command 'nothing'"),
    ],
)
def test_wrong_usage(nuthatch: Runner, line: str, hint: str) -> None:
    done = nuthatch(*line.split(" "))
    assert done.returncode == 2
    assert done.stdout == b""
    assert hint in done.stderr.decode()
    assert done.stderr.startswith(b"nuthatch: ")


def test_names_may_be_cut_and_options_may_follow(nuthatch: Runner) -> None:
    assert nuthatch("get", "http://127.0.0.1:1/", "--out", "f", "--dead=1").returncode == 4
    assert b"exactly one URL is needed, not 2" in nuthatch("get", "--", "-o", "f").stderr


def test_the_default_cache(nuthatch: Runner, tmp_path: Path) -> None:
    for env, folder in [
        ({"NUTHATCH_CACHE": "", "XDG_CACHE_HOME": str(tmp_path / "x")}, "x/nuthatch"),
        ({"NUTHATCH_CACHE": "", "XDG_CACHE_HOME": "", "HOME": str(tmp_path / "h")}, "h/.cache/nuthatch"),
        ({"NUTHATCH_CACHE": str(tmp_path / "n")}, "n"),
    ]:
        nuthatch("get", "http://127.0.0.1:1/", **env)
        assert (tmp_path / folder).is_dir()
