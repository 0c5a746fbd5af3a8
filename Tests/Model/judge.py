"""Compares the answers of a round's calls with the requests that its server received, and finds broken promises.

The judge reads the logs only, and orders events by their times. It compares a call with another one only if the
call began after the other one's return. An answer counts as asked for at the last moment before the call's end at
which the server received a request for this version. So two events whose order the logs don't prove never break a
promise.
"""

import bisect
import json
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from content import kind_of

SECOND = 1_000_000_000
#: How long after its deadline a call may end: the promised second, and the cost of clocks and of Python around a call.
GRACE = 1.0 + 0.25
NAMES = {
    "I1": "bytes belong to URL and version",
    "I2": "nothing removed comes back",
    "I3": "nothing older than a reload comes after it",
    "I4": "no call outlives its deadline by more than a second",
    "I5": "the directory stays within its bound",
    "I6": "no process ends by itself, no error is unforeseen",
}
#: The codes of errors that slow answers, stopped processes and small limits cause.
FORESEEN = {"timeout", "busy", "circuit_open", "closed", "no_space", "offline"}


class Call(NamedTuple):
    process: int
    number: str
    begin: int
    operation: str
    path: str
    variant: str
    bound: float
    end: int
    #: None for a call that had not returned when its process ended.
    outcome: Optional[Dict[str, Any]]


class Violation(NamedTuple):
    invariant: str
    words: str
    calls: List[Call]
    #: The moment of the violation.
    time: int


class History(NamedTuple):
    """The logs of a round."""

    calls: List[Call]
    #: The server's log: time, method, path, variant, version, status, whether it may be kept.
    requests: List[List[Any]]
    #: By process: the intervals in which it could not run, because of a stop or of a busy machine.
    late: Dict[int, List[Tuple[int, int]]]
    #: By process with spill="pressure": begin and end of its successful flushes, in order.
    private: Dict[int, List[Tuple[int, int]]]


def lines(path: str) -> Iterator[Any]:
    with open(path, "rb") as file:
        for line in file:
            if line.endswith(b"\n"):  # else a kill cut the line
                yield json.loads(line)


def read_calls(path: str, process: int, ended: int) -> List[Call]:
    open_calls: Dict[str, List[Any]] = {}
    calls = []
    for entry in lines(path):
        if entry[0] == "b":
            open_calls[entry[1]] = entry[1:]
        else:
            calls.append(Call(process, *open_calls.pop(entry[1]), *entry[2:]))
    return calls + [Call(process, *front, ended, None) for front in open_calls.values()]


class Latest:
    """Finds, among intervals that ended before a time, the one with the greatest value."""

    def __init__(self, ended: Iterable[Tuple[int, int, Call]]) -> None:
        self.ends: List[int] = []
        self.best: List[Tuple[int, Call]] = []
        for end, value, call in sorted(ended, key=lambda one: one[:2]):
            if not self.best or value > self.best[-1][0]:
                self.ends.append(end)
                self.best.append((value, call))

    def before(self, time: int) -> Optional[Tuple[int, Call]]:
        place = bisect.bisect_left(self.ends, time)
        return self.best[place - 1] if place else None


class Judge:
    def __init__(self, history: History) -> None:
        self.history = history
        self.checks: Dict[str, int] = dict.fromkeys(NAMES, 0)
        self.violations: List[Violation] = []
        #: Calls after a removal that joined a fetch from before it. Their answer is not from the cache: I2 permits it.
        self.joined = 0
        #: The longest time that a call took beyond its bound, in seconds.
        self.latest = 0.0
        self.not_kept: Set[Tuple[str, str, int]] = set()
        self.asked: Dict[Tuple[str, str, int], List[int]] = {}
        for time, method, path, variant, version, _, is_kept in history.requests:
            if method == "GET":
                self.asked.setdefault((path, variant, version), []).append(time)
                if not is_kept:
                    self.not_kept.add((path, variant, version))

    def object(self, invariant: str, words: str, *calls: Call) -> None:
        self.violations.append(Violation(invariant, words, list(calls), calls[-1].end))

    def last_asked(self, path: str, variant: str, version: int, until: int) -> Optional[int]:
        times = self.asked.get((path, variant, version), [])
        place = bisect.bisect_right(times, until)
        return times[place - 1] if place else None

    def judge(self, wanted: Iterable[str]) -> None:
        answers = [call for call in self.history.calls if call.outcome and "version" in call.outcome]
        for invariant, check in (("I1", self.bytes), ("I2", self.removals), ("I3", self.reloads)):
            if invariant in wanted:
                check(answers)
        if "I4" in wanted:
            self.deadlines()
        if "I6" in wanted:
            self.errors()
        self.violations.sort(key=lambda one: one.time)

    def bytes(self, answers: List[Call]) -> None:
        for call in self.history.calls:
            if call.outcome and "wrong" in call.outcome:
                self.object("I1", call.outcome["wrong"], call)
        for call in answers:
            assert call.outcome
            self.checks["I1"] += 1
            if self.last_asked(call.path, call.variant, call.outcome["version"], call.end) is None:
                self.object("I1", "a version that the server had not been asked for yet", call)

    def removals(self, answers: List[Call]) -> None:
        by_key: Dict[Tuple[str, Optional[str]], List[Tuple[int, int, Call]]] = {}
        clears = []
        for call in self.history.calls:
            if call.outcome is None or "error" in call.outcome:
                continue
            if call.operation == "clear":
                clears.append((call.end, call.begin, call))
            elif call.operation == "remove":
                by_key.setdefault((call.path, None), []).append((call.end, call.begin, call))
            # An unsafe request whose invalidation failed says so on its answer.
            elif call.operation == "unsafe" and call.outcome["kept"]:
                # An unsafe request has no partition here, so it need not remove the answers of one.
                variant = "" if kind_of(call.path) == "owned" else None
                by_key.setdefault((call.path, variant), []).append((call.end, call.begin, call))
        cleared = Latest(clears)
        removed = {key: Latest(ended) for key, ended in by_key.items()}
        for call in answers:
            assert call.outcome
            for latest in (removed.get((call.path, None)), removed.get((call.path, call.variant)), cleared):
                self.removal(call, latest, call.path, call.variant, call.outcome["version"])
            if "goal" in call.outcome:
                self.removal(call, cleared, call.outcome["goal"], "", call.outcome["goal_version"])

    def removal(self, call: Call, removed: Optional[Latest], path: str, variant: str, version: int) -> None:
        found = removed.before(call.begin) if removed else None
        asked = self.last_asked(path, variant, version, call.end)
        if found is None or asked is None or call.outcome is None:
            return
        begin, removal = found
        is_older = asked < begin
        if not call.outcome["cached"]:
            self.joined += is_older
            return
        self.checks["I2"] += 1
        if is_older:
            words = "%s version %d, asked for %.1f ms before %s began, came from the cache %.1f ms after its return"
            since = (begin - asked) / 1e6, removal.operation, (call.begin - removal.end) / 1e6
            self.object("I2", words % (path, version, *since), removal, call)

    def reloads(self, answers: List[Call]) -> None:
        ended: Dict[Tuple[Optional[int], str, str], List[Tuple[int, int, Call]]] = {}
        for call in answers:
            assert call.outcome
            version = call.outcome["version"]
            asked = self.last_asked(call.path, call.variant, version, call.end)
            # A reload that joined an older fetch doesn't prove that its answer is newer.
            is_own = asked is not None and asked >= call.begin
            if (
                call.operation != "reload"
                or not is_own
                or not call.outcome["kept"]
                or not self.is_storable(call)
            ):
                continue
            for process, end in self.reach(call):
                ended.setdefault((process, call.path, call.variant), []).append((end, version, call))
        reloaded = {key: Latest(intervals) for key, intervals in ended.items()}
        for call in answers:
            for process in (None, call.process):
                latest = reloaded.get((process, call.path, call.variant))
                found = latest.before(call.begin) if latest else None
                if found and self.reload(call, *found):
                    break

    def reach(self, reload: Call) -> Iterator[Tuple[Optional[int], int]]:
        """Gives the process that must no longer find older answers than the reload's (None: all), and since when."""
        flushes = self.history.private.get(reload.process)
        if flushes is None:
            yield None, reload.end
            return
        # The answer stays in the memory of its process until a flush.
        yield reload.process, reload.end
        place = bisect.bisect_left(flushes, (reload.end, 0))
        if place < len(flushes):
            yield None, flushes[place][1]

    def reload(self, call: Call, version: int, reload: Call) -> bool:
        """Returns whether the call's answer is older than the reload's, and notes a violation then."""
        assert call.outcome
        asked = self.last_asked(call.path, call.variant, call.outcome["version"], call.end)
        if not call.outcome["cached"] or asked is None:
            return False
        self.checks["I3"] += 1
        if call.outcome["version"] >= version or asked >= reload.begin or self.was_taken_out(call, asked):
            return False
        words = "version %d came from the cache %.1f ms after a reload had returned version %d"
        since = (call.begin - reload.end) / 1e6
        self.object("I3", words % (call.outcome["version"], since, version), reload, call)
        return True

    def was_taken_out(self, call: Call, since: int) -> bool:
        """Returns whether a no-store answer may have removed the newer answer before the call."""
        goals = "/goal/%s/" % call.path.rsplit("/", 1)[1] if kind_of(call.path) == "moved" else "-"
        return any(
            not is_kept and since <= time <= call.end and variant == call.variant
            for time, method, path, variant, _, _, is_kept in self.history.requests
            if method == "GET" and (path == call.path or path.startswith(goals))
        )

    def is_storable(self, call: Call) -> bool:
        """Returns whether neither the reload's answer nor a redirect before it has no-store."""
        assert call.outcome
        wanted = {(call.path, call.variant, call.outcome["version"])}
        if "goal" in call.outcome:
            wanted.add((call.outcome["goal"], "", call.outcome["goal_version"]))
        return not wanted & self.not_kept

    def deadlines(self) -> None:
        for call in self.history.calls:
            self.checks["I4"] += 1
            took = (call.end - call.begin) / SECOND
            if took <= call.bound:
                continue
            excused = excuse(self.history.late.get(call.process, []), call.begin, call.end)
            self.latest = max(self.latest, took - excused - call.bound)
            if took - excused > call.bound + GRACE:
                words = "%s took %.2f s%s, %.2f s of them excused, where %.1f s were the bound"
                unfinished = "" if call.outcome else " without an end"
                self.object("I4", words % (call.operation, took, unfinished, excused, call.bound), call)

    def errors(self) -> None:
        for call in self.history.calls:
            self.checks["I6"] += 1
            if call.outcome and call.outcome.get("error", "timeout") not in FORESEEN:
                self.object("I6", "%(error)s: %(text)s" % call.outcome, call)


def excuse(late: List[Tuple[int, int]], begin: int, end: int) -> float:
    """Returns for how many seconds of this interval the process could not run."""
    return sum(max(0, min(end, woke) - max(begin, due)) for due, woke in late) / SECOND
