"""The step of faults.py that uses the Python binding, in one process: `scenario.py DIRECTORY URL OFFLINE_URL`.

Every call may fail with a nuthatch.Error that is not internal, or a MemoryError. The result of a call that succeeds
must be right. Prints what is wrong, and then ends with status 3.
"""

import hashlib
import sys
from typing import Any, Callable, Dict, List, Optional

import nuthatch

directory, base, offline = sys.argv[1:4]
NAMES = ["a.png", "b.png", "c.jpg", "d.txt"]
wrong: List[str] = []


def attempt(what: str, call: Callable[[], Any]) -> Optional[Any]:
    """Returns the result of a call, or None if it failed. Notes an internal error as wrong."""
    try:
        return call()
    except nuthatch.Error as error:
        if error.code == "internal":
            wrong.append(f"{what}: {error}")
    except MemoryError:
        pass
    return None


def digest(value: Any) -> str:
    """Returns a digest, made without libcrypto, whose calls may fail."""
    return hashlib.blake2b(value, digest_size=8).hexdigest()


def all_of(cache: "nuthatch.Cache", found: Dict[str, str]) -> None:
    """Reads everything, and compares it with what an earlier call found."""

    def note(name: str, value: Any) -> None:
        if value is not None and found.setdefault(name, digest(value)) != digest(value):
            wrong.append(f"{name}: other bytes than before")

    for name in NAMES:
        response = attempt(f"get {name}", lambda name=name: cache.get(f"{base}/{name}", **terms))
        note(name, response and response.body)
    for name in NAMES[:3]:
        url = f"{base}/{name}"
        image = attempt(f"thumbnail {name}", lambda url=url: cache.thumbnail(url, 24, **terms))
        note(f"{name} at 24", image and image.pixels)
        image = attempt(f"peek {name}", lambda url=url: cache.peek(url, 24))
        note(f"{name} at 24", image and image.pixels)
    urls = [f"{base}/{name}" for name in NAMES[:3]]
    options: Dict[str, Any] = {"sizes": [24, 40], "images": True, "give_up_after": 10, **terms}
    items = attempt("prefetch", lambda: list(cache.prefetch(urls, **options)))
    for item in items or []:
        for image in item.images or []:
            note(f"{NAMES[item.index]} at {24 if max(image.size) <= 24 else 40}", image.pixels)


def freeze(cache: "nuthatch.Cache") -> None:
    number: Optional[int] = None
    try:
        cache.request(
            "POST", f"{offline}/post", body=b"seeds", freezable=True, outbox_handler="rows", **terms
        )
    except nuthatch.Frozen as frozen:
        number = frozen.outbox_id
    except (nuthatch.Error, MemoryError):
        return
    kept = attempt("outbox", lambda: [item.id for item in cache.outbox.list()])
    if kept is not None and number is not None and number not in kept:
        wrong.append(f"request {number} is frozen, and not in the outbox, which has {kept}")
    attempt("replay", lambda: cache.outbox.replay(number) if number else None)
    attempt("drop", lambda: cache.outbox.drop(number) if number else None)


terms: Dict[str, Any] = {"retries": 0, "timeout": 5.0, "deadline": 8.0}
found: Dict[str, str] = dict(line.split("=") for line in sys.argv[4:])
for _ in range(2):
    cache = attempt("open", lambda: nuthatch.Cache(directory))
    if cache is None:
        continue
    all_of(cache, found)
    attempt("stats", cache.stats)
    freeze(cache)
    attempt("remove", lambda cache=cache: cache.remove(f"{base}/a.png"))
    attempt("trim", lambda cache=cache: cache.trim(1 << 20))
    attempt("clear", cache.clear)
    attempt("flush", cache.flush)
    attempt("close", cache.close)
for line in wrong:
    print(line)
for name, value in sorted(found.items()):
    print(f"found {name}={value}")
sys.exit(3 if wrong else 0)
