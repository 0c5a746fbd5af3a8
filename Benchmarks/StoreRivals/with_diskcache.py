"""Measures Python's diskcache in the same way as the rivals in C."""

import random
import statistics
import sys
import time

import diskcache

for size, count in ((1, 10_000), (16, 10_000), (64, 4_000)):
    payload = b"\x07" * (size << 10)
    weights = [1 / (rank + 1) for rank in range(count)]
    draws = random.Random(1).choices(range(count), weights, k=10_000)
    with diskcache.Cache(f"{sys.argv[1]}/diskcache-{size}", size_limit=64 << 30) as cache:
        kept, found = [], []
        for turn in range(4):
            begin = time.perf_counter_ns()
            for number in range(count // 4):
                cache[f"key {turn} {number}"] = payload
            kept.append((time.perf_counter_ns() - begin) / (count // 4))
        for _ in range(5):
            begin = time.perf_counter_ns()
            for number in draws:
                assert cache[f"key {number % 4} {number // 4}"]
            found.append((time.perf_counter_ns() - begin) / len(draws))
    for what, times in (("found", found[1:]), ("kept", kept)):
        name = f"diskcache, {size} KiB, {what}"
        middle, least, most = (value / 1000 for value in (statistics.median(times), min(times), max(times)))
        print(f"  {name:<58}{middle:.1f} µs  [{least:.1f} to {most:.1f}]")
