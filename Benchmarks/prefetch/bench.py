"""Measures `nuthatch prefetch` and its peers, in turn, in one run: whole processes, cold caches, 128 px, all cores.

    bench.py WORK NUTHATCH SERVER [--rounds N] [--only PART] [--without PEER] [--cut N] [--scale F] [--write PAGE]

The parts are small (2,000 JPEGs of 640x480), again (a second run, all hits), large (progressive JPEGs of 12 MP),
memory (2,000 and 1,000,000 URLs), late (hosts that answer late) and sick (hosts that hang, are away or say 429).
Figures are medians after a warm-up round, with their range. A ratio is the median of the rounds' ratios. MISSED marks a
goal that was missed. If a peer isn't installed, prints that it is skipped. --write replaces the sections prefetch-PART
of a page by tables of this run (Benchmarks/report.py).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Callable, Iterable

import many_hosts

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from report import Bar, Section

SIZE = "128"
CURL_MICROSECONDS = 30  # libcurl's time for a small request, measured by make bench-fetch


class Ended:
    """A process that has ended: its seconds, its peak memory in MB, its output."""

    def __init__(self, command: list, given: str = "") -> None:
        out = Path(os.environ["OUT"])
        with (out / "stdin").open("w+") as stdin, (out / "stdout").open("wb") as stdout:
            stdin.write(given)
            stdin.seek(0)
            os.sync()  # earlier writes must not slow this process
            begin = time.perf_counter()
            process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        self.text = (out / "stdout").read_text(errors="replace")
        if process.returncode != 0:
            sys.exit(f"{command[:6]} ended with {process.returncode}:\n{self.text[-2000:]}")
        self.memory = usage.ru_maxrss / 1024
        self.cpu = usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, work: Path, nuthatch: str, server: str, rounds: int) -> None:
        self.work, self.nuthatch, self.server, self.rounds = work, nuthatch, server, rounds
        self.out = work / "run"
        self.missed = 0
        self.goals: list[tuple[str, str, str, str]] = []
        self.section = Section("", "")
        self.without: list[str] = []
        os.environ["OUT"] = str(self.out)
        os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
        for name in list(os.environ):
            if name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
                del os.environ[name]

    # MARK: measurements

    def fresh(self, name: str = "files") -> Path:
        """Returns an empty folder."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def prefetch(self, urls: Path, *options: str, cold: bool = True) -> Ended:
        cache = self.fresh("cache") if cold else self.out / "cache"
        return Ended([self.nuthatch, "prefetch", "--cache", cache, "--size", SIZE, *options, urls])

    def aiohttp(self, urls: Path, *limits: int) -> Ended:
        python = self.work / "venv/bin/python"
        return Ended([python, HERE / "aiohttp_pillow.py", urls, self.fresh(), SIZE, *map(str, limits)])

    def img2dataset(self, urls: Path, processes: int, threads: int) -> Ended:
        options = {
            "url_list": urls,
            "output_folder": self.fresh(),
            "image_size": SIZE,
            "resize_mode": "keep_ratio_largest",
            "encode_quality": 92,
            "processes_count": processes,
            "thread_count": threads,
            # As many shards as processes, so that no process is idle.
            "number_sample_per_shard": -(-len(urls.read_text().split()) // processes),
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        return Ended([self.work / "venv-img2dataset/bin/img2dataset", *words])

    def curl(self, urls: Path) -> Ended:
        """Downloads all originals into a folder, then makes all thumbnails, with one process for each core."""
        folder = self.fresh()
        lines = "".join(
            f'url = "{url}"\noutput = "{n}.jpg"\n' for n, url in enumerate(urls.read_text().split())
        )
        (self.out / "curl.conf").write_text(lines)
        script = (
            f'cd "{folder}" && curl --silent --fail --parallel --parallel-max 16 --config ../curl.conf && '
            f"ls | VIPS_CONCURRENCY=1 xargs -P {os.cpu_count()} -n 125 "
            f"vipsthumbnail --size {SIZE} -o '%s-small.jpg[Q=92]'"
        )
        return Ended(["sh", "-c", script])

    def limit(self, pictures: list[Path], denominator: int) -> float:
        """Returns the pictures a second if decoding and libcurl's time were the only work."""
        cores = os.cpu_count() or 1
        given = "".join(f"{path}\n" for path in pictures)
        ended = Ended([self.work / "decode", str(denominator), str(cores)], given)
        count, seconds, _ = ended.text.split()
        return 1 / (float(seconds) / int(count) + CURL_MICROSECONDS / 1e6 / cores)

    def bare(self, urls: Path, denominator: int) -> Ended:
        """Runs a program that stores only bytes. It has the best rate that this machine allows."""
        file = self.fresh() / "bytes"
        return Ended([self.work / "bare", str(denominator), file], urls.read_text())

    # MARK: output

    def judge(self, what: str, value: float, least: float, unit: str = "") -> None:
        verdict = "ok" if value >= least else "MISSED"
        self.missed += value < least
        self.goals.append((what, f"{value:,.2f}{unit}", f"{least:,.2f}{unit}", verdict))
        print(f"  {what:<52}{value:>10,.2f}{unit}  of at least {least:>10,.2f}{unit}  {verdict}", flush=True)

    def rates(
        self, ways: dict[str, Callable[[], float]], rounds: int, pairs: tuple[tuple[str, str], ...] = ()
    ) -> dict[str, list[float]]:
        """Runs each way once in every round. An additional first round warms up.

        The order differs in each round: a way is slower after one that leaves memory or disk busy. The ways of a pair
        run one after the other, because the machine's speed changes by a third within a minute.
        """
        found: dict[str, list[float]] = {name: [] for name in ways}
        paired = {name for pair in pairs for name in pair}
        groups = [*pairs, *((name,) for name in ways if name not in paired)]
        chance = random.Random(1)
        for step in range(rounds + 1):
            for group in chance.sample(groups, len(groups)):
                for name in chance.sample(group, len(group)):
                    rate = ways[name]()
                    if step > 0:
                        found[name].append(rate)
        rows = []
        for name, row in found.items():
            middle, low, high = statistics.median(row), min(row), max(row)
            print(f"  {name:<38}{middle:>10,.0f} a second  ({low:,.0f}-{high:,.0f})", flush=True)
            rows.append((name, f"{middle:,.0f}", f"{low:,.0f}–{high:,.0f}"))
        self.section.table(("way", "URLs a second, median", f"range of {rounds} rounds"), rows)
        return found

    def part(self, name: str, measure: Callable[[], None], page: Path | None) -> None:
        words = ["Benchmarks/prefetch/run.sh", *sys.argv[4:]]
        self.section, self.goals = Section(f"prefetch-{name}", " ".join(words)), []
        measure()
        if self.goals:
            self.section.table(("goal", "figure", "at least", ""), self.goals)
        if page:
            self.section.write(page)

    def peers(self, urls: Path, count: int) -> dict[str, Callable[[], float]]:
        found: dict[str, Callable[[], float]] = {}
        if "aiohttp" in self.without:
            pass
        elif (self.work / "venv").exists():
            found["aiohttp + Pillow, two threads"] = lambda: count / self.aiohttp(urls).seconds
        else:
            print("  skipped: aiohttp + Pillow (pip can't install them)")
        if "curl" in self.without:
            pass
        elif shutil.which("curl") and shutil.which("vipsthumbnail"):
            found["curl --parallel, vipsthumbnail"] = lambda: count / self.curl(urls).seconds
        else:
            print("  skipped: curl and vipsthumbnail (apt-get can't install them)")
        if "img2dataset" in self.without:
            pass
        elif (self.work / "venv-img2dataset").exists():
            tried = {
                (processes, threads): self.img2dataset(urls, processes, threads).seconds
                for processes in (1, 2)
                for threads in (16, 64)
            }
            best = min(tried, key=lambda way: tried[way])
            print("  img2dataset, processes x threads: ", end="")
            print(", ".join(f"{way[0]}x{way[1]} {count / taken:,.0f}/s" for way, taken in tried.items()))
            found["img2dataset"] = lambda: count / self.img2dataset(urls, *best).seconds
        else:
            print("  skipped: img2dataset (pip can't install it)")
        return found

    # MARK: parts

    def urls(self, name: str, paths: Iterable[str]) -> Path:
        """Writes URLs to a file, without a list in memory: until exec, a process's peak memory counts its parent's."""
        file = self.out / name
        with file.open("w") as lines:
            lines.writelines(f"{self.server}/{path}\n" for path in paths)
        return file

    def small(self, count: int) -> None:
        print(f"\n{count:,} JPEGs of 640x480, {SIZE} px, cold")
        paths = [f"small/{n}.jpg" for n in range(count)]
        urls = self.urls("small.txt", paths)
        files = [self.work / path for path in paths]
        print(f"  mean size {statistics.mean(file.stat().st_size for file in files) / 1000:.1f} KB")
        ways = {
            "nuthatch prefetch": lambda: count / self.prefetch(urls).seconds,
            "nuthatch prefetch --scaling fast": lambda: count / self.prefetch(urls, "--scaling=fast").seconds,
            "limit: decoding at 1/2, and curl": lambda: self.limit(files, 2),
            "limit: decoding at 1/4, and curl": lambda: self.limit(files, 4),
            "bare C at 1/2, nothing kept but bytes": lambda: count / self.bare(urls, 2).seconds,
            "bare C at 1/4, nothing kept but bytes": lambda: count / self.bare(urls, 4).seconds,
            **self.peers(urls, count),
        }
        names = list(ways)
        found = self.rates(ways, self.rounds, ((names[0], names[4]), (names[1], names[5])))
        for own, limit, bare in ((names[0], names[2], names[4]), (names[1], names[3], names[5])):
            self.compare(found, own, bare, 0.95)
            ratio, most = self.ratio(found, own, limit), self.ratio(found, bare, limit)
            print(f"  {own.replace('nuthatch ', '')} has {ratio:.2f} of the limit, bare C {most:.2f}")
        for peer, best, fast in (("aiohttp", 3, 3.5), ("img2dataset", 12, 12)):
            for name in found:
                if name.startswith(peer):
                    self.compare(found, names[0], name, best)
                    self.compare(found, names[1], name, fast)
        labels = {names[0]: "nuthatch prefetch", names[4]: "C program, no cache"}
        labels.update((name, name.split(", two")[0].replace("--parallel,", "+")) for name in names[6:])
        bars = [
            Bar(label, statistics.median(found[name]), min(found[name]), max(found[name]), name == names[0])
            for name, label in labels.items()
        ]
        title = f"Thumbnails a second ({count:,} URLs, empty cache)"
        self.section.plot(title, sorted(bars, key=lambda bar: -bar.value))

    def ratio(self, found: dict[str, list[float]], one: str, other: str) -> float:
        return statistics.median(a / b for a, b in zip(found[one], found[other]))

    def compare(self, found: dict[str, list[float]], one: str, other: str, least: float) -> None:
        short = one.replace("nuthatch ", "")
        self.judge(f"{short} / {other.split(',')[0]}", self.ratio(found, one, other), least)

    def again(self, count: int) -> None:
        """Measures hits: each picture many times, so that the start of the process hardly counts, and each once."""
        times = 50
        paths = [f"small/{n}.jpg" for n in range(count)]
        once, many = self.urls("small.txt", paths), self.urls("many.txt", paths * times)
        print(f"\nthe second run over a list: {count * times:,} URLs, of {count:,} pictures; all hits")
        self.prefetch(once)

        def rate(urls: Path, size: int, *options: str) -> float:
            ended = self.prefetch(urls, *options, cold=False)
            return size / ended.seconds

        found = self.rates(
            {
                "summary only": lambda: rate(many, count * times),
                "records (--format jsonl)": lambda: rate(many, count * times, "--format=jsonl"),
                f"{count:,} URLs once, whole process": lambda: rate(once, count),
            },
            self.rounds,
        )
        for name in list(found)[:2]:
            self.judge(name, statistics.median(found[name]), 100_000, "/s")

    def large(self) -> None:
        files = sorted((self.work / "large").glob("*.jpg"))
        count = len(files)
        print(f"\n{count} progressive JPEGs of 12 MP, {SIZE} px, cold")
        print(f"  mean size {statistics.mean(file.stat().st_size for file in files) / 1e6:.1f} MB")
        urls = self.urls("large.txt", [f"large/{file.name}" for file in files])
        own = "nuthatch prefetch"
        ways = {own: lambda: count / self.prefetch(urls).seconds, **self.peers(urls, count)}
        found = self.rates(ways, self.rounds)
        for name in list(found)[1:]:
            self.compare(found, own, name, 8)

    def memory(self, cut: int) -> None:
        print("\npeak memory")
        found = {}
        for count, what in ((2000, "pictures"), (cut, "tiny pictures, cold"), (cut, "the same, all hits")):
            if what == "pictures":
                urls = self.urls("small.txt", [f"small/{n}.jpg" for n in range(count)])
            else:
                urls = self.urls("million.txt", (f"tiny/0.jpg?{n}" for n in range(count)))
            ended = self.prefetch(urls, cold="cold" in what or what == "pictures")
            found[what] = ended.memory
            print(f"  {count:>9,} {what:<24}{ended.memory:>8.0f} MB, {count / ended.seconds:>9,.0f} a second")
            self.judge(f"128 MB / {count:,} {what}", 128 / ended.memory, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("nuthatch")
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS", "5")))
    parser.add_argument("--only", default="")
    parser.add_argument("--cut", type=int, default=1_000_000, help="URLs instead of a million")
    parser.add_argument("--scale", type=float, default=1, help="of the lists over many hosts: 0.15 for less")
    parser.add_argument("--without", action="append", default=[], help="a peer: aiohttp, curl or img2dataset")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="such as docs/BENCHMARKS.md")
    options = parser.parse_args()
    bench = Bench(options.work, options.nuthatch, options.server, options.rounds)
    bench.without = options.without
    bench.fresh("")
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{options.server}/small/0.jpg").read()
            break
        except OSError:
            time.sleep(0.05)
    parts = {
        "small": lambda: bench.small(2000),
        "again": lambda: bench.again(2000),
        "large": bench.large,
        "memory": lambda: bench.memory(options.cut),
        "late": lambda: many_hosts.late(bench, int(6000 * options.scale)),
        "sick": lambda: many_hosts.sick(bench, options.scale),
    }
    for name, part in parts.items():
        if options.only in ("", name):
            bench.part(name, part, options.write)
    print(f"\n{bench.missed} goals missed" if bench.missed else "\nall goals met")


if __name__ == "__main__":
    main()
