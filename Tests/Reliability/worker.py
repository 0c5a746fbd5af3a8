"""Makes random calls on a cache until its standard input ends: `worker.py JOB.json`.

The status file of the job has the current call and when it began, so that stage.py can see a call that hangs. Prints a
line of JSON for each violation, and one at the end with counts.
"""

import json
import mmap
import random
import sys
import threading
import time
from collections import Counter
from typing import Any, Callable, Dict, Optional

import content
import nuthatch

WEIGHTS = {
    "get": 30, "thumbnail": 30, "peek": 20, "reload": 8, "rm": 8, "trim": 3, "clear": 1, "prefetch": 3, "flush": 2,
    "stats": 2, "reopen": 2,
}  # fmt: skip
#: The calls that may fail if the disk fails. Other calls must succeed: their answers come from the network then.
#: A prefetch opens the directory again. A body lies in a pack, which may become unreadable after the answer was given.
MAY_FAIL = {"rm", "trim", "clear", "flush", "open", "prefetch", "body"}
FAILURES = {"no_space", "io", "busy"}


class Worker:
    def __init__(self, job: Dict[str, Any]) -> None:
        self.job = job
        self.dice = random.Random(job["seed"])
        self.known = content.Known(job["digests"])
        self.urls = job["urls"]
        self.counts: Counter = Counter()
        self.calls = 0
        self.ending = threading.Event()
        #: Whether a call has failed because of the disk: from then on the library knows that pages may be lost.
        self.has_noticed = False
        with open(job["status"], "r+b") as file:
            self.status = mmap.mmap(file.fileno(), content.STATUS.size)
        self.cache: Optional[nuthatch.Cache] = None

    def say(self, **what: Any) -> None:
        print(json.dumps(what), flush=True)

    def say_wrong(self, what: str) -> None:
        self.say(**{"wrong" if self.has_noticed else "unnoticed": what})

    def call(self, name: str, do: Callable[[], Any]) -> Any:
        """Makes a call and counts how it ended. Returns its result, or None if it failed."""
        self.calls += 1
        content.STATUS.pack_into(self.status, 0, self.calls, time.monotonic(), name.encode())
        try:
            result = do()
            self.counts[name] += 1
            return result
        except nuthatch.Error as error:
            self.counts["%s: %s" % (name, error.code)] += 1
            self.has_noticed |= name != "body" and error.code in ("no_space", "io")
            if name not in MAY_FAIL or error.code not in FAILURES:
                self.say(unexpected="%s: %s: %s" % (name, error.code, error))
            return None
        finally:
            content.STATUS.pack_into(self.status, 0, self.calls, 0, b"")

    def open(self) -> None:
        options = {"timeout": 8, "deadline": 8, "retries": 1, "outbox": "off"}
        self.cache = self.call("open", lambda: nuthatch.Cache(self.job["cache"], **options))
        if self.cache is None:
            self.ending.wait(0.05)

    def close(self) -> None:
        if self.cache is not None:
            self.call("close", self.cache.close)
            self.cache = None

    def check_body(self, name: str, number: int, response: Any) -> None:
        body = None if response is None else self.call("body", lambda: response.body)
        if body is not None and self.known.version(number, body) < 0:
            self.say_wrong("%s %s: %d bytes" % (name, self.urls[number], len(body)))

    def check_image(self, name: str, number: int, image: Any) -> None:
        if image is not None and not self.known.is_thumbnail(number, image.original_size, image.pixels):
            self.say_wrong("%s %s: %s" % (name, self.urls[number], image.pixels.tobytes()[:4].hex()))

    def step(self, name: str, cache: nuthatch.Cache) -> None:
        number = self.dice.randrange(len(self.urls))
        url = self.urls[number]
        box = self.dice.choice([8, 16])
        if name == "get":
            self.check_body(name, number, self.call(name, lambda: cache.get(url)))
        elif name == "reload":
            self.check_body(name, number, self.call(name, lambda: cache.get(url, policy="reload")))
        elif name == "thumbnail":
            self.check_image(name, number, self.call(name, lambda: cache.thumbnail(url, box)))
        elif name == "peek":
            self.check_image(name, number, self.call(name, lambda: cache.peek(url, box, decode=True)))
        elif name == "rm":
            self.call(name, lambda: cache.remove(url))
        elif name == "trim":
            self.call(name, lambda: cache.trim(self.dice.randrange(1 << 20, 16 << 20)))
        elif name == "clear":
            self.call(name, cache.clear)
        elif name == "flush":
            self.call(name, cache.flush)
        elif name == "stats":
            self.call(name, cache.stats)
        elif name == "prefetch":
            urls = self.dice.sample(self.urls, 6)
            for item in self.call(name, lambda: list(cache.prefetch(urls, sizes=[box]))) or ():
                if item.error:
                    self.say(unexpected="prefetch of %s: %s" % (urls[item.index], item.error))
        else:
            self.close()

    def run(self) -> None:
        threading.Thread(target=self.wait_for_end, daemon=True).start()
        names = content.steps(self.dice, WEIGHTS)
        while not self.ending.is_set():
            if self.cache is None:
                self.open()
            else:
                self.step(next(names), self.cache)
        self.close()
        self.say(calls=self.calls, counts=self.counts)

    def wait_for_end(self) -> None:
        sys.stdin.read()
        self.ending.set()


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        job = json.load(file)
    Worker(job).run()
