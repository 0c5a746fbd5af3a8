"""Notation of option values, names and words of version 0.1, and shortened names."""

import json
import re
from pathlib import Path
from typing import Dict, List

import pytest
from command import ROOT, Runner
from pictures import png
from test_bad_values import ROWS, Row, line, option_table
from testserver import TestServer, ok

GOOD: Dict[str, List[str]] = {
    "duration": [
        "250ms",
        "90",
        "90s",
        "15m",
        "1.5h",
        "7d",
        "none",
        "forever",
        "0.9",
        "0.0015",
        "1ms",
        "9" * 40,
    ],
    "bytes": ["500000000", "1.5G", "2T", "64000K", "64000k", "64000KiB", "100mib"],
    "share": ["0", "1", "0.5", "none"],
    "rate": ["0.000001", "5.5", "1000000", "none"],
    "count": ["5"],
}


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind in GOOD], ids=lambda row: row.name)
def test_values_of_a_kind_have_the_same_notation_for_all_options(row: Row, nuthatch: Runner) -> None:
    """All values are accepted. Then the command fails because of its URL."""
    assert row.flag
    values = GOOD[row.kind] + (["100M", "1.5K", "2G"] if row.flag.units else [])
    values += ["none"] if row.kind in ("bytes", "count") and row.none else []
    values += [str(number) for number in row.range or () if number != row.range[1] and row.kind == "count"]
    for value in values:
        done = nuthatch(*line(row, value)[:-1], "http://", *(["x"] if row.flag.commands[0] == "ls" else []))
        assert f"--{row.flag.name}: " not in done.stderr.decode(), (value, done.stderr)
        assert done.returncode in (2, 4), (value, done.stderr)


def test_small_fractions_of_a_time_are_not_lost(nuthatch: Runner, server: TestServer) -> None:
    server.on("/a", ok(png(9, 9), "image/png", etag='"1"'))
    url = server.url("/a")
    assert nuthatch("get", url, "-o", "a").returncode == 0
    for text, seconds in [("0.9h", 3240), ("1.5m", 90), ("2d", 172_800), ("2000ms", 2), ("86400", 86_400)]:
        told = json.loads(nuthatch("explain", "--format=json", "--validator-ttl", text, url).stdout)
        assert told["lifetime"] == seconds, text
    asked = server.count()
    for text in ("0.9h", "forever"):
        assert nuthatch("get", "--validator-ttl", text, url, "-o", "a").returncode == 0
    assert server.count() == asked
    assert nuthatch("get", "--validator-ttl", "none", url, "-o", "a").returncode == 0
    assert server.count() == asked + 1


#: Names and words of version 0.1, and today's.
RENAMED = [
    ("get {url} -s9 --mode fill", "get {url} -s9 --fit cover"),
    ("get {url} -s9 --mode=exact --quality fast", "get {url} -s9 --fit=stretch --scaling fast"),
    ("get {url} -s9 --mode fit --allow-truncated", "get {url} -s9 --fit inside --allow-damaged"),
    ("get {url} --deny-private", "get {url} --addresses public"),
    ("get {url} --allow-private", "get {url} --addresses any"),
    ("get {url} --guard public", "get {url} --addresses public"),
    ("get {url} --cookies", "get {url} --cookie-jar disk"),
    ("get {url} --store raw", "get {url} --thumb-store raw"),
    ("explain {url} -s9 --mode fill", "explain {url} -s9 --fit cover"),
    ("export out --resume", "export out --skip-existing"),
    ("trim --to 1", "trim --to-bytes 1"),
    ("outbox replay --deadline 0.2", "outbox replay --wait 200ms"),
]


@pytest.mark.parametrize("before, now", RENAMED)
def test_option_names_of_version_0_1_mean_the_same(
    before: str, now: str, nuthatch: Runner, server: TestServer, tmp_path: Path
) -> None:
    server.on("/a", ok(png(40, 20), "image/png"))
    ends = []
    for number, text in enumerate((before, now)):
        words = text.format(url=server.url("/a")).split()
        done = nuthatch(*words, NUTHATCH_CACHE=str(tmp_path / f"cache-{number}"))
        ends.append((done.returncode, done.stdout, done.stderr))
    assert ends[0] == ends[1] and ends[0][0] in (0, 4), ends
    for name in re.findall(r"--[\w-]+", before):
        assert name in now or name not in nuthatch("help", before.split()[0]).stdout.decode().split(), name


def test_words_of_version_0_1_that_are_the_default_now_are_accepted(
    nuthatch: Runner, server: TestServer
) -> None:
    server.on("/a", ok("nut"))
    words = ["--concurrency", "auto", "--per-host=auto", "--rate", "off"]
    assert nuthatch("get", *words, server.url("/a")).stdout == b"nut"


def test_outbox_option_names_of_version_0_1_are_accepted(nuthatch: Runner) -> None:
    names = ["--durable", "--queue=q", "--handler=h", "--attempts=3", "--longest=3600", "--resend-late"]
    secrets = ["--secret=Authorization: Bearer env:T", "--password=env:P", "-u", "ann"]
    away = "http://127.0.0.1:1/"
    assert nuthatch("get", "--freezable", "-d", "x", *names, away, T="t").returncode == 4
    assert (
        nuthatch("get", "--freezable", "-d", "x", "--key-lifetime=9", *secrets[1:], away, P="p").returncode
        == 4
    )
    assert nuthatch("get", "--freezable", "-d", "x", secrets[0], away, T="t").returncode == 4
    listed = json.loads(nuthatch("outbox", "list", "--format=json").stdout)
    assert [item["queue"] for item in listed].count("q") == 1 and len(listed) == 3


BEFORE = option_table.load().before


@pytest.mark.parametrize("command", sorted(BEFORE))
def test_shortened_names_of_version_0_1_keep_their_meaning(command: str, nuthatch: Runner) -> None:
    """A short name means the same option, or is refused because curl or wget give it another meaning.

    A longer form can be confused with fewer options than a shorter one. So the shortest form that has a meaning is
    tried, with all refused ones before it, and the name itself.
    """
    names = BEFORE[command]
    assert len(names) == len(set(names))
    for name in names:
        forms = [name[:length] for length in range(1, len(name))]
        short = [form for form in forms if [other for other in names if other.startswith(form)] == [name]]
        while short and "two meanings" in meaning(nuthatch, command, short[0]):
            short.pop(0)
        for form in [*short[:1], name]:
            meaning(nuthatch, command, form)


def meaning(nuthatch: Runner, command: str, name: str) -> str:
    """Returns the message of a command that is given the option with a wrong value. The option must be known."""
    said = nuthatch(command, f"--{name}=\x01", "--nonsense").stderr.decode()
    assert "could be any of" not in said and not re.search(rf"no option --{name}[.;]", said), said
    assert "two meanings" not in said or f"--{name} has two meanings" in said
    return said


def test_a_new_option_does_not_change_a_shortened_name(
    nuthatch: Runner, server: TestServer, tmp_path: Path
) -> None:
    server.on("/a", ok("nut"))
    for short in ("--ca", "--cac", "--cach"):
        assert nuthatch("get", f"{short}={tmp_path / short}", server.url("/a")).stdout == b"nut"
        assert (tmp_path / short / "index").exists()


def test_no_command_reads_an_option_that_it_does_not_have(nuthatch: Runner, tmp_path: Path) -> None:
    """A command that did would crash."""
    (tmp_path / "list").write_text("http://127.0.0.1:1/\n")
    url = "http://127.0.0.1:1/"
    lines = [
        ["prefetch", "list"],
        ["get", url],
        ["get", "-s9", url],
        ["stat"],
        ["ls"],
        ["explain", url],
        ["rm", url],
    ]
    lines += [
        ["verify"],
        ["trim"],
        ["clear"],
        ["export", "out"],
        ["export", "out", "list"],
        ["help"],
        ["outbox", "list"],
    ]
    lines += [
        ["outbox", "replay"],
        ["get", "-d", "x", "--freezable", url],
        ["outbox", "drop", "1"],
        ["outbox", "collect", "2"],
    ]
    for arguments in lines:
        assert nuthatch(*arguments).returncode in (0, 4), arguments
    described = json.loads(nuthatch("__describe").stdout)
    sources = "".join(path.read_text() for path in (ROOT / "Sources/NuthatchCLI").rglob("*.swift"))
    declared = {option["name"] for command in described["commands"] for option in command["options"]}
    read = set(re.findall(r'arguments\.(?:has|value|values|last|word)\("([\w-]+)"', sources))
    assert read and read <= declared
