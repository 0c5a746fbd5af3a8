"""Runs the measuring program, with pipes for requests and results."""

import json
import subprocess
from pathlib import Path


class Program:
    """A running ImagingBench. Each request is a line."""

    def __init__(self, root: Path) -> None:
        path = root / "Benchmarks/.build/release/ImagingBench"
        self._process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words: object) -> dict:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\t".join(str(word) for word in words) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
