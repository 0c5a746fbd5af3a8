#!/usr/bin/env python3
"""Opens the same directory by version 0.1 and by the newer build of this checkout, at once and one after the other.

While 0.1 has it open, the newer program refuses with `conflict`, and says what to do. While the newer program has it
open, 0.1 fails and changes nothing. The newer program takes over a directory that no program of 0.1 has open, with its
contents. The last line is `N passed, N failed, N skipped`.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import content
import old_build
from stage import HERE, ROOT, Build, Pictures, ending
from volumes import Unavailable

#: The longest time of a command, in seconds.
BOUND = 60.0
PICTURES = 24
#: The message of a conflict must name version 0.1, and contain one of these.
ADVICE = ["close", "end", "stop", "another directory", "other directory", "--cache"]


class Wrong(Exception):
    """A condition that is not met. The text says which."""


def must(holds: bool, text: str) -> None:
    if not holds:
        raise Wrong(text)


class Program:
    """A process of caller.py with one version of the library."""

    def __init__(self, build: Build, folder: Path) -> None:
        pipes: Dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        words = [sys.executable, str(HERE / "caller.py")]
        self.process = subprocess.Popen(words, env=build.environment(), cwd=str(folder), **pipes)

    def tell(self, do: str, **what: Any) -> None:
        self.process.stdin.write(json.dumps({"do": do, **what}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise Wrong("a program ended: %s" % ending(self.process.wait()))
        answer: Dict[str, Any] = json.loads(line)
        return answer

    def ask(self, do: str, **what: Any) -> Dict[str, Any]:
        self.tell(do, **what)
        return self.hear()

    def must(self, do: str, **what: Any) -> Any:
        """Makes a call that must not fail. Returns its result."""
        answer = self.ask(do, **what)
        must(answer["ok"], "%s fails: %s: %s" % (do, answer.get("code"), answer.get("message")))
        return answer["answer"]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Directory:
    """A cache directory, and the programs that use it. `end` ends them."""

    def __init__(self, old: Build, new: Build, pictures: Pictures, folder: Path) -> None:
        self.old, self.new, self.pictures = old, new, pictures
        self.folder = folder
        self.path = folder / "cache"
        self.programs: List[Program] = []

    def program(self, build: Build) -> Program:
        self.programs.append(Program(build, self.folder))
        return self.programs[-1]

    def end(self) -> None:
        for program in self.programs:
            program.end()

    def command(self, build: Build, *words: str) -> Tuple[int, bytes, str]:
        done = subprocess.run(
            [str(build.command), words[0], "--cache", str(self.path), *words[1:]],
            env=build.environment(),
            cwd=str(self.folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=BOUND,
        )
        must(done.returncode >= 0, "%s ended by %s" % (words[0], ending(done.returncode)))
        return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()

    def fill(self, program: Program) -> None:
        """Fetches all pictures and their thumbnails."""
        for number in range(PICTURES):
            program.must("get", url=self.pictures.urls[number])
            program.must("thumbnail", url=self.pictures.urls[number], size=16)

    def must_be_whole(self, program: Program, numbers: Optional[List[int]] = None) -> None:
        """Checks that every picture is a hit without a request, and the right one."""
        before = self.pictures.server.count()
        for number in range(PICTURES) if numbers is None else numbers:
            url, version = self.pictures.urls[number], self.pictures.versions[number]
            found = program.must("get", url=url)
            must(found["digest"] == self.pictures.known.digests[number][version], "wrong bytes of %s" % url)
            must(found["is_in_cache"], "%s is not in the cache" % url)
            shown = program.must("thumbnail", url=url, size=16)
            must(shown["is_in_cache"], "the thumbnail of %s is not in the cache" % url)
            must(tuple(shown["original"]) == content.size(number), "the thumbnail of %s is another's" % url)
            pairs = zip(shown["pixel"], content.colour(number, version))
            must(all(abs(a - b) <= content.TOLERANCE for a, b in pairs), "%s has other colours" % url)
        must(self.pictures.server.count() == before, "what was in the cache was asked for")

    def snapshot(self) -> Dict[str, str]:
        """Returns every name in the directory, for files with their size and digest."""
        found = {}
        for folder, folders, files in os.walk(str(self.path)):
            for name in folders:
                found[os.path.relpath(os.path.join(folder, name), str(self.path))] = "folder"
            for name in files:
                path = Path(folder, name)
                body = path.read_bytes()
                found[str(path.relative_to(self.path))] = "%d %s" % (
                    len(body),
                    hashlib.sha256(body).hexdigest(),
                )
        return found

    def must_be_unchanged(self, before: Dict[str, str], by: str) -> None:
        after = self.snapshot()
        names = sorted(set(before) | set(after))
        changed = [name for name in names if before.get(name) != after.get(name)]
        must(not changed, "%s changed %s" % (by, ", ".join(changed)))


def must_conflict(answer: Dict[str, Any]) -> None:
    must(not answer["ok"], "the newer program opens it beside version 0.1")
    must(
        answer["code"] == "conflict",
        "the error is %s, not conflict: %s" % (answer["code"], answer["message"]),
    )
    helps = "0.1" in answer["message"] and any(word in answer["message"] for word in ADVICE)
    must(helps, "the message does not say what to do: %s" % answer["message"])


def newer_refuses(there: Directory) -> None:
    """While 0.1 has the directory open, the newer binding and command refuse, and 0.1 works as before."""
    old, new = there.program(there.old), there.program(there.new)
    old.must("open", cache=str(there.path))
    there.fill(old)
    before = there.snapshot()
    must_conflict(new.ask("open", cache=str(there.path)))
    url = there.pictures.urls[0]
    for words in (["stat"], ["ls"], ["get", url], ["rm", url], ["clear"], ["verify"]):
        status, _, said = there.command(there.new, *words)
        must(status == 1 and "conflict" in said, "%s: exit status %d: %s" % (words[0], status, said))
    there.must_be_unchanged(before, "the newer program")
    there.must_be_whole(old)
    old.must("close")
    new.must("open", cache=str(there.path))
    there.must_be_whole(new)


def older_fails(there: Directory) -> None:
    """While the newer program has the directory open, binding and command of 0.1 fail, and change nothing."""
    new, old = there.program(there.new), there.program(there.old)
    new.must("open", cache=str(there.path))
    there.fill(new)
    before = there.snapshot()
    answer = old.ask("open", cache=str(there.path))
    must(not answer["ok"], "version 0.1 opens it beside the newer program")
    url = there.pictures.urls[0]
    for words in (["stat"], ["ls"], ["get", url], ["rm", url], ["clear"], ["verify"], ["trim", "--to", "0"]):
        status, _, _ = there.command(there.old, *words)
        must(status != 0, "%s of version 0.1 does not fail" % words[0])
    there.must_be_unchanged(before, "version 0.1")
    there.must_be_whole(new)


def taken_over(there: Directory, how: str = "close") -> None:
    """The newer program finds what 0.1 has stored, and can remove it by URL."""
    old = there.program(there.old)
    old.must("open", cache=str(there.path))
    there.fill(old)
    if how == "close":
        old.must("close")
    else:
        old.end()
    urls = there.pictures.urls
    status, out, said = there.command(there.new, "get", "--policy", "offline", urls[0])
    must(status == 0, "get of the newer command: exit status %d: %s" % (status, said))
    must(there.pictures.known.version(0, out) == there.pictures.versions[0], "get: wrong bytes")
    new = there.program(there.new)
    new.must("open", cache=str(there.path))
    there.must_be_whole(new)
    status, out, said = there.command(there.new, "ls", "--format", "json")
    must(status == 0 and len(json.loads(out)) == PICTURES, "ls: exit status %d: %s" % (status, said))
    new.must("remove", url=urls[1])
    status, _, said = there.command(there.new, "rm", urls[2])
    must(status == 0, "rm: exit status %d: %s" % (status, said))
    for number in (1, 2):
        before = there.pictures.server.count("/%d.png" % number)
        for program in (there.program(there.new), new):
            if program is not new:
                program.must("open", cache=str(there.path))
            answer = program.ask("get", url=urls[number], options={"policy": "offline"})
            must(not answer["ok"], "%s is there after its removal" % urls[number])
        must(
            not new.must("get", url=urls[number])["is_in_cache"],
            "%s is there after its removal" % urls[number],
        )
        must(there.pictures.server.count("/%d.png" % number) == before + 1, "no request after a removal")
    there.must_be_whole(new, [0, *range(3, PICTURES)])
    status, _, said = there.command(there.new, "verify")
    must(status == 0, "verify: exit status %d: %s" % (status, said))


def taken_over_after_a_kill(there: Directory) -> None:
    """As `taken_over`, but 0.1 was killed with the directory open."""
    taken_over(there, "kill")


def nothing_comes_back(there: Directory) -> None:
    """0.1 tries to open the directory after the newer program. An answer that was removed stays so for both."""
    old = there.program(there.old)
    old.must("open", cache=str(there.path))
    there.fill(old)
    old.must("close")
    new = there.program(there.new)
    new.must("open", cache=str(there.path))
    new.must("remove", url=there.pictures.urls[3])
    new.must("close")
    if old.ask("open", cache=str(there.path))["ok"]:
        answer = old.ask("get", url=there.pictures.urls[3], options={"policy": "offline"})
        must(not answer["ok"], "version 0.1 finds what was removed")
        old.must("close")
    new.must("open", cache=str(there.path))
    answer = new.ask("get", url=there.pictures.urls[3], options={"policy": "offline"})
    must(not answer["ok"], "the newer program finds what was removed")
    for number in range(PICTURES):
        body = new.must("get", url=there.pictures.urls[number])["digest"]
        must(body in there.pictures.known.digests[number], "wrong bytes of %s" % there.pictures.urls[number])


def race(there: Directory, rounds: int, dice: random.Random) -> int:
    """Lets both open it at the same moment, again and again: only one may succeed. Returns how often one did."""
    old, new = there.program(there.old), there.program(there.new)
    opened = 0
    for number in range(rounds):
        if number % 3 == 0:
            there.path = there.folder / ("cache-%d" % number)
        pair = [old, new]
        dice.shuffle(pair)
        for program in pair:
            program.tell("open", cache=str(there.path))
            if dice.random() < 0.5:
                time.sleep(dice.uniform(0, 0.003))
        answers = {program: program.hear() for program in pair}
        must(not (answers[old]["ok"] and answers[new]["ok"]), "both have it open (round %d)" % number)
        for program in pair:
            if answers[program]["ok"]:
                opened += 1
                chosen = dice.randrange(PICTURES)
                found = program.must("get", url=there.pictures.urls[chosen])
                must(found["digest"] in there.pictures.known.digests[chosen], "wrong bytes")
                program.must("close")
    must(opened > 0, "none of them ever opens it")
    return opened


CASES: List[Callable[[Directory], None]] = [
    newer_refuses,
    older_fails,
    taken_over,
    taken_over_after_a_kill,
    nothing_comes_back,
]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="the folder with what was built (build)"
    )
    parser.add_argument("--old", type=Path, help="the folder with version 0.1; without it, it is built")
    parser.add_argument("--rounds", type=int, default=60, help="how often both open at the same moment (60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of these rounds")
    parser.add_argument("--only", metavar="WORD", default="", help="only cases whose names contain it")
    parser.add_argument("--json", type=Path, help="a file for the results, for the table")
    options = parser.parse_args()
    try:
        old = Build((options.old or old_build.prepare(ROOT)).resolve())
    except Unavailable as reason:
        print("skipped: %s\n\n0 passed, 0 failed, %d skipped" % (reason, len(CASES) + 1))
        tell(options.json, [{"name": "old and new", "rounds": 0, "failed": 0, "skipped": str(reason)}])
        return 0
    os.environ["NUTHATCH_TESTSERVER"] = str(options.build.resolve() / "nuthatch-testserver")
    new, rows = Build(options.build.resolve()), []

    def race_of_openings(there: Directory) -> None:
        race(there, options.rounds, random.Random(options.seed))

    for case in [*CASES, race_of_openings]:
        name = case.__name__.replace("_", " ")
        if options.only not in name:
            continue
        pictures, fault = Pictures(), None
        with tempfile.TemporaryDirectory(prefix="nuthatch-versions-") as folder:
            there = Directory(old, new, pictures, Path(folder))
            try:
                case(there)
            except Wrong as wrong:
                fault = str(wrong)
            except subprocess.TimeoutExpired as late:
                fault = "%s did not end in %.0f s" % (late.cmd[1], BOUND)
            finally:
                there.end()
                pictures.server.stop()
        print("%-26s %s" % (name, "passed" if fault is None else "FAILED: " + fault), flush=True)
        rounds = options.rounds if case is race_of_openings else 1
        row = {"name": name, "rounds": rounds, "failed": int(fault is not None), "skipped": None}
        rows.append({**row, "faults": {fault: 1} if fault else {}})
    failed = sum(row["failed"] for row in rows)
    tell(options.json, rows)
    print("\n%d passed, %d failed, 0 skipped" % (len(rows) - failed, failed))
    return 1 if failed else 0


def tell(path: Optional[Path], rows: List[Dict[str, Any]]) -> None:
    if path:
        path.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
