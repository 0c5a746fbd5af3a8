"""A process of the check: its threads make random calls on one cache directory and log each call.

The log has two lines a call, each a JSON array: ["b", number, begin, operation, path, variant, bound] before the
call, and ["e", number, end, outcome] after it. Times are CLOCK_MONOTONIC in nanoseconds. The bound is in seconds.
The worker compares the content of an answer with its URL. The judge does the rest.
"""

import ctypes
import json
import os
import random
import signal
import sys
import threading
import time
from typing import Any, Callable, Dict, Optional
from urllib.parse import urlsplit

import nuthatch
from content import (
    THUMBNAILS,
    VARIANTS,
    Wrong,
    is_picture,
    kind_of,
    moved_by,
    read_body,
    read_picture,
    read_pixels,
)
from mix import WEIGHTS, chosen_path

#: The bound, in seconds, of calls that have no deadline.
UPKEEP = 5.0


class Calls:
    """The calls of one thread. Each thread has its own handle of the cache."""

    def __init__(self, setting: Dict[str, Any], thread: int, log: int) -> None:
        self.setting, self.thread, self.log = setting, thread, log
        self.chance = random.Random("%s thread %d" % (setting["seed"], thread))
        self.names = [name for name in WEIGHTS if name not in setting["without"]]
        self.number = 0
        self.cache: Any = None
        self.has_ended = False

    def run(self) -> None:
        while time.monotonic() < self.setting["until"]:
            if self.cache is None:
                self.call("open", "", "", UPKEEP, self.open)
            else:
                self.step(self.chance.choices(self.names, [WEIGHTS[name] for name in self.names])[0])
            time.sleep(self.chance.uniform(0, self.setting["pause"]))
        if self.cache is not None:
            self.call("close", "", "", UPKEEP, self.cache.close)
        self.has_ended = True

    def open(self) -> None:
        setting = self.setting
        self.cache = nuthatch.Cache(setting["cache"], **setting["options"])

    def step(self, name: str) -> None:
        chance = self.chance
        path = chosen_path(chance, self.setting["without"])
        kind = kind_of(path)
        variant = chance.choice(VARIANTS[kind]) if kind in VARIANTS else ""
        if name in ("thumbnail", "peek") and not is_picture(path):
            path, variant = "/picture/%d" % chance.randrange(3), ""
        url = self.setting["server"] + path
        wishes: Dict[str, Any] = {"headers": {"X-Kind": variant}} if variant else {}
        if variant and kind == "owned":
            wishes["partition"] = variant
        size = chance.choice(THUMBNAILS)
        deadline = chance.choice((0.3, 0.5, 1.0, 2.0))
        cache = self.cache
        if name in ("get", "reload", "thumbnail"):
            # A call without options takes a faster path to a hit. It has the deadline of the cache.
            if name != "reload" and not variant and chance.random() < 0.5:
                deadline = self.setting["options"]["deadline"]
            else:
                wishes["deadline"] = deadline
            if name == "reload":
                wishes["policy"] = "reload"
            if name == "thumbnail" or (name == "reload" and is_picture(path) and chance.random() < 0.5):
                self.call(name, path, variant, deadline, lambda: cache.thumbnail(url, size, **wishes))
            else:
                self.call(name, path, variant, deadline, lambda: cache.get(url, **wishes))
        elif name == "peek":
            decode = chance.random() < 0.7
            self.call(name, path, "", 0, lambda: cache.peek(url, size, decode=decode))
        elif name == "unsafe":
            method = chance.choice(("POST", "PUT", "DELETE", "PATCH"))
            self.call(
                name, path, "", deadline, lambda: cache.request(method, url, body=b"seed", deadline=deadline)
            )
        elif name == "remove":
            self.call(name, path, "", UPKEEP, lambda: cache.remove(url))
        elif name == "trim":
            self.call(name, "", "", UPKEEP, lambda: cache.trim(chance.randrange(1 << 20, 4 << 20)))
        elif name == "reopen":
            self.cache = None
            self.call("close", "", "", UPKEEP, cache.close)
        else:
            self.call(name, "", "", UPKEEP, getattr(cache, name))

    def call(self, name: str, path: str, variant: str, bound: float, function: Callable[[], Any]) -> None:
        self.number += 1
        number = "%d.%d" % (self.thread, self.number)
        result: Any = None
        error: Optional[nuthatch.Error] = None
        self.write("b", number, time.monotonic_ns(), name, path, variant, bound)
        try:
            result = function()
        except nuthatch.Error as problem:
            error = problem
        end = time.monotonic_ns()
        self.write("e", number, end, self.outcome(name, path, variant, result, error))

    def outcome(
        self, name: str, path: str, variant: str, result: Any, error: Optional[nuthatch.Error]
    ) -> Dict[str, Any]:
        """Returns `error`, a code; or `none`; or `wrong`, a text; or `version`, `cached`, `source` and others."""
        if error is not None:
            return {"error": error.code, "text": str(error)[:200]}
        if not isinstance(result, (nuthatch.Response, nuthatch.Image)):
            return {"none": True}
        found: Dict[str, Any] = {"status": result.status, "kept": getattr(result, "is_stored", True)}
        if name == "unsafe":
            return found
        found.update(cached=result.is_in_cache, source=result.source, stale=result.is_stale)
        try:
            if isinstance(result, nuthatch.Image):
                found["version"] = read_pixels(result, path)
            else:
                found.update(self.read(result, path, variant))
        except (Wrong, ValueError) as problem:
            found["wrong"] = str(problem)
        return found

    def read(self, response: nuthatch.Response, path: str, variant: str) -> Dict[str, Any]:
        if response.status != 200:
            raise Wrong("status %s" % response.status)
        thing = (read_picture if is_picture(path) else read_body)(response.body)
        told = response.headers.get("x-version")
        if told != str(thing.version):
            raise Wrong("a body of version %d with the header of version %s" % (thing.version, told))
        if kind_of(path) != "moved":
            if (thing.path, thing.variant) != (path, variant):
                raise Wrong("a body of %s %s" % thing[:2])
            return {"version": thing.version}
        goal = urlsplit(response.final_url).path
        moved, version = moved_by(goal)
        if moved != path or thing.path != goal:
            raise Wrong("a body of %s, by way of %s" % (thing.path, goal))
        return {"version": version, "goal": goal, "goal_version": thing.version}

    def write(self, *entry: object) -> None:
        os.write(self.log, json.dumps(entry).encode() + b"\n")


def main() -> None:
    # PR_SET_PDEATHSIG: this process ends with the driver.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    setting = json.loads(sys.argv[1])
    log = os.open(setting["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    # The log exists now. The driver waits for the logs of all workers, and then says until when they make calls.
    while not os.path.exists(setting["until"]):
        time.sleep(0.01)
    with open(setting["until"]) as file:
        setting["until"] = float(file.read())
    calls = [Calls(setting, number, log) for number in range(setting["threads"])]
    threads = [threading.Thread(target=one.run) for one in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Status 3: an exception that is not a nuthatch.Error has ended a thread. It was printed.
    sys.exit(0 if all(one.has_ended for one in calls) else 3)


if __name__ == "__main__":
    main()
