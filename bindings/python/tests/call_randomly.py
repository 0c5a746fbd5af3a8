"""Calls the package at random from several threads, with right and wrong arguments, on open and closed objects. It
fails only if the process crashes, or an unexpected exception is raised.

call_randomly.py URL DIRECTORY SEED SECONDS: prints the number of calls.
"""

import asyncio
import copy
import faulthandler
import pickle
import random
import sys
import threading
import time
import traceback
from typing import Any, Callable, Dict, List

import nuthatch

# ParseError is a SyntaxError. A function that is called here divides by zero on purpose.
EXPECTED = (
    nuthatch.Error,
    TypeError,
    ValueError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    ZeroDivisionError,
)


class Fuzzer(threading.Thread):
    """The calls of one thread. All threads share the objects that they return."""

    things: Dict[str, List[Any]] = {
        "Cache": [],
        "Site": [],
        "Ticket": [],
        "Image": [],
        "Response": [],
        "AsyncCache": [],
        "AsyncTicket": [],
        "Event": [],
        "FrozenRequest": [],
        "Outcome": [],
    }
    calls = 0
    failures: List[BaseException] = []

    def __init__(self, seed: str, url: str, directory: str, until: float) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.url, self.directory, self.until = url, directory, until
        self.file = f"{directory}-{seed}"
        with open(self.file, "wb") as file:
            file.write(b"machine 127.0.0.1 login me password seeds\n" * 1000)
        self.ways: List[Callable[[], Any]] = [
            self.open, self.site, self.get, self.thumbnail, self.peek, self.submit, self.ticket, self.prefetch,
            self.upkeep, self.image, self.response, self.pickled, self.close, self.loop, self.freeze, self.outbox,
            self.event, self.watch,
        ]  # fmt: skip

    def run(self) -> None:
        while time.monotonic() < self.until:
            try:
                self.keep(self.random.choice(self.ways)())
            except BaseException as failure:
                # Two threads that use one iterator get a RuntimeError.
                if isinstance(failure, EXPECTED) and "changed size" not in str(failure):
                    continue
                self.failures.append(failure)
                traceback.print_exc()
                return
            Fuzzer.calls += 1

    def keep(self, thing: Any) -> None:
        pool = self.things.get(type(thing).__name__)
        if pool is not None:
            pool.append(thing)
            if len(pool) > 30:
                pool.pop(self.random.randrange(20))

    def one(self, kind: str) -> Any:
        return self.random.choice(self.things[kind] or [None])

    def asker(self) -> Any:
        return self.one(self.random.choice(["Cache", "Cache", "Cache", "Site"]))

    # Arguments

    def address(self) -> Any:
        path = self.random.choice(
            ["/png/64/48", "/status/404", "/truncated?announced=100&sent=1", "/bytes/1000", "/png/9/9"]
        )
        wrong = self.random.choice(
            ["", "x", "a\0b", "\ud800", None, 5, b"http://x/", "http://127.0.0.1:1/", "data:,x"]
        )
        number = self.random.randrange(20)
        return (
            wrong
            if self.random.random() < 0.1
            else f"{self.url}{path}{'&' if '?' in path else '?'}n={number}"
        )

    def size(self) -> Any:
        return self.random.choice(
            [1, 8, 16, 64, (8, 16), 0, -1, 70000, 2**40, 1.5, "8", None, (1, 2, 3), True]
        )

    def options(self) -> Dict[str, Any]:
        known: Dict[str, List[Any]] = {
            "fit": ["inside", "cover", "stretch", "x"], "enlarge": [True, False], "scaling": ["fast", "best", 1],
            "delivery": ["twice", "first", "fresh", ""], "priority": [0, 10, -10, 11, "x"], "tag": ["a", None, "\0", 1],
            "policy": ["kit", "rfc9111", "offline", "reload", 7], "timeout": [1, None, 0, -1, 1e308, "x"],
            "deadline": [2, 0.01, None], "retries": [0, 1, -1, None], "max_bytes": [10, 2**70, -1],
            "method": ["GET", "POST", ""],
            "headers": [{"X": "1"}, [("X", "\n")], 5, None], "body": [b"x", "x", None], "json": [1, object()],
            "cache_key": ["k", None], "ask_verdict": [lambda answer: True, lambda answer: 1 / 0, None, "x"],
            "ask_headers": [lambda url: {"X": "1"}, lambda url: 5], "nonsense": [1], "image_ttl": [1, -1, None, "x"],
            "form": [{"a": "b", "c": ["d", b"e"]}, [("a", 1)], 5], "append": [True, None], "resume": [False],
            "files": [{"a": self.file}, {"a": ("n", b"x", "text/plain")}, {"a": "no such file"}, [("a", b"x")], 5],
            "save_to": [f"{self.file}.out", lambda piece: None, lambda piece: 1 / 0, "/proc/no", 10**6, -1, None, 1.5],
            "user": [("me", "password"), ("a", None), "x", None], "bearer": ["token", "\n", None],
            "sign_in": ["digest", "any", "basic", "x"], "cert": [self.file, (self.file, self.file, "p"), 5],
            "netrc": [True, self.file, False, "no such file"], "ignore_query": [True], "partition": ["p", ""],
            "early_stop": [True], "progress_events": [True], "allow_damaged": [True],
            "addresses": ["any", "public", "x"],
            "freezable": [True], "outbox_durable": [True], "secrets": [{"X-A": "token"}, {"X-A": ("a", "env:HOME")}, 5],
            "password_provider": ["token", "\0"], "outbox_attempts": [1, 0, -1, "x"], "outbox_max_age": [1, None, 0],
            "ask_credentials": [lambda answer: ("me", "password"), lambda answer: "x"],
            "ask_challenge": [lambda answer: {"X": "1"}, lambda answer: None],
        }  # fmt: skip
        names = self.random.sample(list(known), self.random.choice([0, 0, 0, 1, 2, 3]))
        return {name: self.random.choice(known[name]) for name in names}

    # Calls

    def open(self) -> Any:
        if self.random.random() < 0.7 and self.things["Cache"]:
            return None
        kind = self.random.choice([nuthatch.Cache, nuthatch.AsyncCache])
        return kind(self.directory, memory_bytes=1 << 20, timeout=5, deadline=5, retries=0)

    def site(self) -> Any:
        cache = self.one("Cache")
        known: List[Dict[str, Any]] = [
            {"headers": {"X": "1"}},
            {"cookie_jar": "memory"},
            {"cookie_jar": "disk"},
        ]
        options = self.random.choice([*known, self.options()])
        return cache and cache.site(self.random.choice([self.url + "/", self.address()]), **options)

    def get(self) -> Any:
        asker = self.asker()
        return asker and asker.get(self.address(), **self.options())

    def thumbnail(self) -> Any:
        asker = self.asker()
        return asker and asker.thumbnail(self.address(), self.size(), **self.options())

    def peek(self) -> Any:
        asker = self.asker()
        return asker and asker.peek(
            self.address(), self.size(), decode=self.random.random() < 0.3, **self.options()
        )

    def submit(self) -> Any:
        sizes = self.random.choice([{}, {"size": self.size()}, {"sizes": [self.size(), self.size()]}])
        asker = self.asker()
        return asker and asker.submit(self.address(), **sizes, **self.options())

    def ticket(self) -> Any:
        ticket = self.one("Ticket")
        return ticket and self.random.choice([
            lambda: ticket.result(timeout=0.1), ticket.cancel, ticket.resubmit, lambda: ticket.state,
            lambda: next(ticket.events(0.1), None), lambda: ticket.set_priority(self.random.randrange(-12, 12)),
        ])()  # fmt: skip

    def prefetch(self) -> Any:
        asker = self.asker()
        if asker:
            urls = [self.address() for _ in range(self.random.randrange(10))]
            # A host that can't be reached is waited for no longer than the rounds last.
            options = {"give_up_after": self.random.choice([0, 1, -1, "x"]), **self.options()}
            for item in asker.prefetch(urls, [self.size()], images=True, **options):
                self.keep(item.image)
                if self.random.random() < 0.2:
                    break

    def upkeep(self) -> Any:
        cache = self.one("Cache")
        return cache and self.random.choice([
            cache.stats, lambda: cache.activity, lambda: cache.remove(self.address()), lambda: cache.wait_idle(0.05),
            lambda: cache.cancel_all(self.random.choice([None, "a"])), cache.flush, lambda: cache.trim(1 << 20),
            lambda: repr(cache), cache.clear, lambda: cache.close(drain=0.05) if self.random.random() < 0.05 else None,
        ])()  # fmt: skip

    def freeze(self) -> Any:
        """Makes a valid request for the outbox: random requests are nearly always refused."""
        asker = self.asker()
        options = {
            **self.options(),
            "method": self.random.choice(["POST", "PUT", "DELETE", "GET"]),
            "freezable": True,
        }
        options.setdefault("outbox_handler", self.random.choice(["rows", "others", None]))
        return asker and asker.submit("http://127.0.0.1:1/", **options)

    def outbox(self) -> Any:
        cache = self.one("Cache")
        if cache is None:
            return None
        outbox, number = cache.outbox, self.random.choice([*range(30), -1, 2**70, None, "x"])
        things = self.random.choice([
            outbox.list, lambda: outbox.get(number), lambda: outbox.outcome(number), lambda: outbox.collect(number),
            lambda: outbox.drop(number), lambda: outbox.replay(self.random.choice([number, None])),
            lambda: outbox.wait(number, timeout=0.05), lambda: outbox.dispatch(0.05),
            lambda: outbox.attach(self.random.choice(["rows", "", "\0", 5]), lambda outcome: self.keep(outcome)),
            lambda: outbox.attach("rows", lambda outcome: 1 / 0), lambda: outbox.detach("rows"),
            lambda: outbox.provide("token", self.random.choice(["seeds", None, "\0", 5])),
            lambda: outbox.provide("token", self.random.choice([lambda name: "seeds", lambda name: 5])),
        ])()  # fmt: skip
        for thing in things if isinstance(things, list) else [things]:
            self.keep(thing)
        return None

    def event(self) -> Any:
        ticket = self.one("Ticket")
        for event in ticket.events(0.1) if ticket else ():
            self.keep(event)
            for image in event.images:
                self.keep(image)
            self.keep(event.response)
            repr(event)

    def watch(self) -> Any:
        site = self.one("Site")
        return site and self.random.choice([
            lambda: site.reachable, lambda: site.watch_reachability(lambda is_reachable: None), site.cancel_all,
            site.clear_cookies, lambda: repr(site),
        ])()  # fmt: skip

    def image(self) -> Any:
        image = self.one("Image")
        return image and self.random.choice([
            lambda: bytes(image.pixels), lambda: image.encode("jpeg", quality=self.random.choice([0, 50, 101])),
            image.encode, lambda: image.convert(self.random.choice(["rgb", "bgra_premultiplied", "grey", "x"])),
            lambda: repr(image), lambda: image.source, lambda: copy.copy(image), image._repr_png_,
        ])()  # fmt: skip

    def response(self) -> Any:
        response = self.one("Response")
        return response and self.random.choice([
            lambda: response.image(self.size()), lambda: bytes(response.view), lambda: response.text, response.json,
            lambda: response.headers.items(), response.raise_for_status, response.xml, lambda: repr(response),
        ])()  # fmt: skip

    def pickled(self) -> Any:
        thing = self.one(self.random.choice(["Cache", "Site", "Image", "Response", "AsyncCache", "Outcome"]))
        try:
            return pickle.loads(pickle.dumps(thing))
        except (pickle.PicklingError, AttributeError):
            return None  # a function of the program

    def close(self) -> Any:
        cache = self.one("Cache")
        if cache and self.random.random() < 0.05:
            cache.close()

    def loop(self) -> Any:
        cache = self.one("AsyncCache")

        async def work() -> None:
            calls = [
                self.random.choice([cache.get, lambda url: cache.thumbnail(url, 16)])(self.address())
                for _ in range(8)
            ]
            tasks = [asyncio.ensure_future(call) for call in calls]
            if self.random.random() < 0.3:
                await asyncio.sleep(0)
                self.random.choice(tasks).cancel()
            if self.random.random() < 0.1:
                await cache.close()
            await asyncio.gather(*tasks, return_exceptions=True)
            options = {"give_up_after": self.random.choice([0, 1]), **self.options()}
            async for item in cache.prefetch([self.address() for _ in range(4)], [16], **options):
                self.keep(item.image)
            ticket = cache.submit(self.address(), size=16, **self.options())
            self.keep(ticket)
            cache.outbox.attach("rows", lambda outcome: None)
            await asyncio.wait_for(ticket.result(0.1), 1)
            last = [cache.outbox.list(), cache.outbox.replay(None), cache.wait_idle(0.05)]
            await asyncio.gather(*last, return_exceptions=True)
            site = cache.site(self.url + "/", cookie_jar="memory")
            site.watch_reachability(lambda is_reachable: None)
            async for event in site.events("png/8/8", 8):
                self.keep(event)

        if cache is not None:
            asyncio.run(work())


if __name__ == "__main__":
    url, directory, seed, seconds = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds) + 60, exit=True)
    until = time.monotonic() + float(seconds)
    threads = [Fuzzer(f"{seed}{number}", url.rstrip("/"), directory, until) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not Fuzzer.failures, Fuzzer.failures
    print(Fuzzer.calls)
