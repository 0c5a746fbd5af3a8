"""Help, version, and wrong command lines."""

import json
import re
from pathlib import Path

import pytest
from command import ROOT, Runner


def test_version_prints_the_version(nuthatch: Runner) -> None:
    version = re.search(r'string = "(.*)"', (ROOT / "Sources/NuthatchCore/Cache.swift").read_text())
    assert version
    assert nuthatch("--version").stdout.decode() == f"nuthatch {version.group(1)}\n"


LIBRARIES = [
    *("libcurl", "OpenSSL", "libpng", "Little CMS", "zlib", "libwebp", "dav1d", "libjpeg-turbo"),
    *("ISA-L", "xxHash", "Swift", "Zstandard", "liblzma"),
]


def test_version_names_every_library_with_its_version(nuthatch: Runner) -> None:
    told = json.loads(nuthatch("--version", "--format=json").stdout)
    assert [library["name"] for library in told["libraries"]] == LIBRARIES
    text = nuthatch("--version", "--verbose").stdout.decode()
    assert text.startswith(f"nuthatch {told['version']}\n  SIMD           {told['simd']}\n")
    for library in told["libraries"]:
        assert re.fullmatch(r"\d+\.\d+(\.\d+)?[a-z]?(-\w+)?", library["version"]), library
        assert re.search(rf"^  {library['name']} +{re.escape(library['version'])}\b", text, re.MULTILINE)
    assert nuthatch("-V", "-v").stdout.decode() == text


def test_options_stand_anywhere_after_the_command(nuthatch: Runner) -> None:
    assert "Options stand anywhere after COMMAND; after -- there are none." in " ".join(
        nuthatch("help").stdout.decode().split()
    )
    for arguments in (["get", "--offline", "http://a.test/"], ["get", "http://a.test/", "--offline"]):
        assert b"no option --offline" in nuthatch(*arguments).stderr
    assert nuthatch("get", "--", "--no-config").returncode == 4
    refused = nuthatch("--no-config", "ls")
    assert (refused.returncode, refused.stdout) == (2, b"")


def test_members_of_the_version_are_documented(nuthatch: Runner) -> None:
    """docs/COMMAND.md names every member that is printed, and no other."""
    told = json.loads(nuthatch("--version", "--format=json").stdout)
    page = (ROOT / "docs/COMMAND.md").read_text()
    row = re.findall(r"^\| `--version` \| (.*) \|$", page, re.MULTILINE)
    printed = {*told, *(name for library in told["libraries"] for name in library)}
    documented = set(re.findall(r"`([a-z_]+)`", re.sub(r"\([^()]*\)", "", row[0])))
    assert printed == documented


@pytest.mark.parametrize(
    "line, hint",
    [
        ("--version now", "it takes no arguments"),
        ("--version --verbos --nonsense", "there is no option --nonsense"),
        ("--version --format xml", "it must be text or json"),
    ],
)
def test_wrong_usage_of_version_is_refused(line: str, hint: str, nuthatch: Runner) -> None:
    done = nuthatch(*line.split())
    assert (done.returncode, done.stdout, hint in done.stderr.decode()) == (2, b"", True)


def test_the_version_has_a_help(nuthatch: Runner) -> None:
    page = nuthatch("--version", "--help").stdout
    assert b"--verbose" in page and nuthatch("help", "--version").stdout == page


def test_help_prints_an_overview(nuthatch: Runner) -> None:
    overview = nuthatch("help")
    assert overview.returncode == 0 and b"get [OPTION" in overview.stdout
    for arguments in (["help", "get"], ["get", "--help"], ["get", "-h"]):
        page = nuthatch(*arguments)
        assert page.returncode == 0
        assert b"--max-bytes SIZE" in page.stdout and b"Examples:" in page.stdout
    assert nuthatch("--help").stdout == overview.stdout


def test_a_call_without_a_command_prints_the_overview(nuthatch: Runner) -> None:
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
        ("export out --skip-exist=1", "--skip-existing takes no value"),
        ("get http://x/ --image-ttl soon", "--image-ttl: image_ttl is 'soon'; it must be 0 or more, or none"),
        ("get http://x/ --heuristic 2", "heuristic is 2.0; it must be 0 to 1, or none"),
        ("get", "exactly one URL"),
        ("get http://a/ http://b/", "exactly one URL"),
        ("get --ouput f http://x/", "did you mean --output?"),
        ("get --nonsense http://x/", "there is no option --nonsense"),
        ("get -Z http://x/", "there is no option -Z"),
        (
            "get --m http://x/",
            "could be any of --max-bytes, --max-pixels, --method, --memory-bytes, --memory-items",
        ),
        ("get http://x/ --timeout", "--timeout needs a value"),
        ("get http://x/ -o", "-o needs a value"),
        ("get http://x/ --help=yes", "takes no value"),
        ("get http://x/ --timeout soon", "--timeout: timeout is 'soon'; it must be 1 ms or more, or none"),
        ("get http://x/ --timeout -1", "timeout is -1000 ms; it must be 1 ms or more, or none"),
        ("get http://x/ --max-bytes 5P", "max_bytes is '5P'; it must be 1 or more, or none"),
        ("get http://x/ --disk-bytes 1M", "disk_bytes is 1048576; it must be 4 MiB to 64 TiB"),
        ("prefetch --disk-bytes 1M -", "disk_bytes is 1048576; it must be 4 MiB to 64 TiB"),
        ("get http://x/ --max-bytes 0", "max_bytes is 0; it must be 1 or more, or none"),
        ("get http://x/ --header plain", "headers is 'plain'; it must be a name, a colon and a value"),
        ("get http://x/ --data @nothing", "nothing can't be read"),
        ("get http://x/ --size 0", "sizes is '0'; it must be N or NxM, 1 to 65535"),
        ("get http://x/ --size 10x", "sizes is '10x'; it must be"),
        ("get http://x/ --size 70000", "sizes is '70000'; it must be"),
        ("get http://x/ --size 9 --fit round", "fit is 'round'; it must be inside, cover or stretch"),
        ("get http://x/ --size 9 -o a.gif", "must end in .png, .jpg, .jpeg or .webp"),
        ("get http://x/ --append", "--append goes with --output"),
        ("get http://x/ --cert-key k.pem", "--cert-key goes with --cert"),
        ("prefetch --shard-by url -", "--shard-by goes with --shard"),
        ("get http://x/ --mode fit --fit inside -s 9", "--mode and --fit exclude each other"),
        ("get http://x/ -H :v", "headers is ''; it must be a name, a colon and a value"),
        ("prefetch -H :v -", "headers is ''; it must be a name, a colon and a value"),
        ("explain http://x/ -H :v", "headers is ''; it must be a name, a colon and a value"),
        ("get http://x/ --enlarge", "--enlarge goes with --size"),
        ("get http://x/ --size 9,10", "one size at a time"),
        ("get http://x/ --polcy kit", "did you mean --policy?"),
        ("get http://x/ --policy none", "policy is 'none'; it must be kit, rfc9111, offline or reload"),
        ("get http://x/ --deny-private --allow-private", "exclude each other"),
        ("get http://x/ --guard public --allow-private", "exclude each other"),
        ("get http://x/ --guard nobody", "--guard: addresses is 'nobody'; it must be guarded, public or any"),
        ("get http://x/ --retries -1", "retries is -1; it must be 0 to 1000, or none"),
        ("get http://x/ --concurrency 0", "concurrency is 0; it must be 1 to 512"),
        ("get http://x/ --rate 0", "rate is 0.0; it must be 0.000001 to 1000000, or none"),
        ("get http://x/ --priority 11", "priority is 11; it must be -10 to 10, or none"),
        ("get http://x/ --keep-source maybe", "keep_source is 'maybe'; it must be yes or no"),
        ("get http://x/ --delivery thrice", "delivery is 'thrice'; it must be twice, first or fresh"),
        ("help nothing", "there is no command 'nothing'"),
    ],
)
def test_a_wrong_command_line_is_refused_with_a_hint(nuthatch: Runner, line: str, hint: str) -> None:
    done = nuthatch(*line.split(" "))
    assert done.returncode == 2
    assert done.stdout == b""
    assert hint in done.stderr.decode()
    assert done.stderr.startswith(b"nuthatch: ")


def test_names_may_be_shortened_and_options_may_follow_arguments(nuthatch: Runner) -> None:
    assert nuthatch("get", "http://127.0.0.1:1/", "--out", "f", "--dead=1").returncode == 4
    assert b"exactly one URL is needed, not 2" in nuthatch("get", "--", "-o", "f").stderr


def test_the_default_cache_comes_from_the_environment(nuthatch: Runner, tmp_path: Path) -> None:
    for env, folder in [
        ({"NUTHATCH_CACHE": "", "XDG_CACHE_HOME": str(tmp_path / "x")}, "x/nuthatch"),
        ({"NUTHATCH_CACHE": "", "XDG_CACHE_HOME": "", "HOME": str(tmp_path / "h")}, "h/.cache/nuthatch"),
        ({"NUTHATCH_CACHE": str(tmp_path / "n")}, "n"),
    ]:
        nuthatch("get", "http://127.0.0.1:1/", **env)
        assert (tmp_path / folder).is_dir()
