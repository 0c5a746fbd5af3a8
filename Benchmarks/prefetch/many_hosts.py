"""Parts of bench.py: lists with many hosts that answer late, or that fail in several ways."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterable

if TYPE_CHECKING:
    from bench import Bench

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests" / "support"))

from sick_hosts import SickHosts

Rows = dict[str, list[float]]

ROUNDS = 3
ALONE = "nuthatch by itself"
AUTOMATIC = "nuthatch --per-host-grows"
AT_SIX = [64, 128, 256, 512]
MORE_PER_HOST = [(128, 16), (256, 16), (512, 16), (512, 32), (512, 64)]
AIOHTTP = [(100, 6), (512, 6), (1000, 32)]


# MARK: late hosts


def late(bench: Bench, count: int) -> None:
    """Measures a hundred addresses: a third of them answers after 60 ms, a third after 150 ms, a third after 400 ms."""
    print(f"\n{count:,} URLs over 100 hosts, a third of which each answers after 60, 150 and 400 ms")
    addresses = {f"127.0.{n % 3 + 1}.{n + 1}": f"ms{(60, 150, 400)[n % 3]}" for n in range(100)}
    names = list(addresses)
    with SickHosts(addresses, bench.work / "late") as hosts:
        port = hosts.ports["http"]
        urls = [f"http://{names[n % 100]}:{port}/{n // 100}.jpg" for n in range(count)]
        random.Random(1).shuffle(urls)
        file = bench.out / "late.txt"
        file.write_text("".join(f"{url}\n" for url in urls))
        found = bench.rates(late_ways(bench, file, count), ROUNDS)
    at_six = best(found, (f"nuthatch {number}/6" for number in AT_SIX))
    of_all = best(found, (name for name in found if name.startswith("nuthatch ") and "/" in name))
    print(f"  the best at six a host: {at_six}; of all fixed ones: {of_all}")
    bench.compare(found, ALONE, at_six, 0.9)
    if AUTOMATIC in found:
        bench.compare(found, AUTOMATIC, of_all, 0.9)
    for total, per_host in AIOHTTP:
        name = f"aiohttp {total}/{per_host}"
        if name in found:
            own = ALONE if per_host == 6 or AUTOMATIC not in found else AUTOMATIC
            bench.compare(found, own, name, 1)
    fastest = best(found, found)
    for name in found:
        print(f"  {name:<38}{bench.ratio(found, name, fastest):>10.2f} of {fastest}")


def late_ways(bench: Bench, urls: Path, count: int) -> dict[str, Callable[[], float]]:
    """Returns the ways to measure. The numbers in a name are the requests at once, in all and at one host."""
    ways: dict[str, Callable[[], float]] = {ALONE: lambda: count / bench.prefetch(urls).seconds}
    for total, per_host in [*((total, 6) for total in AT_SIX), *MORE_PER_HOST]:
        options = [f"--concurrency={total}", f"--per-host={per_host}"]
        ways[f"nuthatch {total}/{per_host}"] = lambda o=options: count / bench.prefetch(urls, *o).seconds
    if takes(bench, "--per-host-grows"):
        ways[AUTOMATIC] = lambda: count / bench.prefetch(urls, "--per-host-grows").seconds
    else:
        print("  skipped: --per-host-grows (there is no such option)")
    if "aiohttp" not in bench.without and (bench.work / "venv").exists():
        for limits in AIOHTTP:
            name = "aiohttp {}/{}".format(*limits)
            ways[name] = lambda limits=limits: count / bench.aiohttp(urls, *limits).seconds
    else:
        print("  skipped: aiohttp + Pillow")
    if "img2dataset" not in bench.without and (bench.work / "venv-img2dataset").exists():
        ways["img2dataset, 64 threads"] = lambda: count / bench.img2dataset(urls, 1, 64).seconds
    else:
        print("  skipped: img2dataset")
    return ways


def takes(bench: Bench, option: str) -> bool:
    command = [bench.nuthatch, "prefetch", option, "--dry-run", "--cache", str(bench.fresh("none"))]
    return subprocess.run(command, input=b"", capture_output=True, check=False).returncode == 0


def best(found: Rows, names: Iterable[str]) -> str:
    return max(names, key=lambda name: statistics.median(found[name]))


# MARK: sick hosts


def sick(bench: Bench, scale: float) -> None:
    """Measures a list with good hosts only, and with failing hosts: the time until all but hanging URLs are answered.

    At scale 1 the list with good hosts takes more than a minute: 512 requests at once, 150 ms each.
    """
    hosts, limited = 600, min(2000, int(2000 * scale))
    pages = max(2, int(400 * scale))
    count = hosts * pages + limited
    print(f"\n{count:,} URLs over {hosts + 1} hosts: 1 % hang, a tenth of the hosts are away for 3 s,")
    print(f"and one with {limited:,} URLs says 429 above 50 a second")
    if scale < 1:
        print(f"  at a scale of {scale:g}, which is too small for exact times")
    for place in ("with hosts of their own", "at all hosts alike"):
        urls = sick_urls(hosts, pages, limited, hangs_apart=place.startswith("with"))
        seconds = {}
        for state in ("well", "sick"):
            with SickHosts(is_well=state == "well") as server:
                seconds[state], lost = until_answered(bench, server, urls)
                print(f"  hanging ones {place}, {state}: {seconds[state]:.1f} s, {lost} URLs lost", flush=True)
            what = f"URLs that aren't lost, hanging ones {place}, {state}"
            bench.judge(what, len(urls) - lost, len(urls))
        # The run may take 1.3 times as long.
        speed = seconds["well"] / seconds["sick"]
        bench.judge(f"speed beside sick hosts, hanging ones {place}", speed, 1 / 1.3)


def sick_urls(hosts: int, pages: int, limited: int, hangs_apart: bool) -> list[tuple[str, str, str]]:
    """Returns host, path and the port's name of each URL."""
    urls = []
    for host in range(hosts):
        is_away = host % 10 == 5
        for page in range(pages):
            number = host * pages + page
            hangs = host % 100 == 0 if hangs_apart else number % 100 == 0
            name = f"{'away3.' if is_away else ''}ms150.h{host}"
            urls.append((name, f"/{'hang/' if hangs else ''}{page}", "away" if is_away else "http"))
    urls += [("limit50.h", f"/{page}", "http") for page in range(limited)]
    random.Random(1).shuffle(urls)
    return urls


def until_answered(bench: Bench, server: SickHosts, urls: list[tuple[str, str, str]]) -> tuple[float, int]:
    """Returns the seconds until all but the hanging URLs were answered, and how many of the answered ones failed."""
    file = bench.out / "sick.txt"
    file.write_text("".join(f"{server.url(*url)}\n" for url in urls))
    hang = {index for index, url in enumerate(urls) if url[1].startswith("/hang/")}
    left, lost = len(urls) - len(hang), 0
    command = [bench.nuthatch, "prefetch", "--cache", str(bench.fresh("cache")), "--format=jsonl", str(file)]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for line in process.stdout:
            record = json.loads(line)
            if record["index"] in hang:
                continue
            left -= 1
            lost += not record["ok"]
            if left == 0:
                break
        seconds = time.perf_counter() - begin
        process.kill()
    return seconds, lost + left
