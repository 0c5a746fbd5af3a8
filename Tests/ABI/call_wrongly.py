"""Calls one function of the ABI with each wrong handle and with each pointer NULL. Prints the results.

call_wrongly.py FUNCTION URL DIRECTORY
"""

import ctypes
import json
import random
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))

from nuthatch import _prototypes as abi
from nuthatch._library import library

# Functions with arguments that may be NULL: for each, their positions.
OPTIONAL = {
    "nh_open": {0, 1},
    "nh_site_open": {2},
    "nh_queue_set": {0},
    "nh_submit": {2, 3},
    "nh_submit_request": {2},
    "nh_get": {2},
    "nh_get_now": {2},
    "nh_peek_response": {2},
    "nh_remove": {2},
    "nh_option_next": {0},
    "nh_log_set": {2},
    "nh_answer": {1},
    "nh_cancel_all": {1},
    "nh_request_set_body": {1},
    "nh_request_set_body_file": {1},
    "nh_event_clear": set(),
    "nh_outbox_attach": {3},
    "nh_outbox_ask": {1, 3},
    "nh_outbox_provide": {2},
    "nh_site_watch": {2},
    "nh_response_text": {2},
    "nh_response_json": {2},
    "nh_activity_watch": {2},
}


#: Handles that are ended by another function than their release.
RELEASES = {"nh_cache": "nh_close", "nh_request": "nh_request_free", "nh_site": "nh_site_close"}


class World:
    """An open handle and a closed handle of every kind."""

    def __init__(self, url: str, directory: str) -> None:
        self.url = url.encode()
        self.directory = directory.encode()
        self.open = self.make()
        self.closed = self.make()
        for kind, handle in self.closed.items():
            more = [0] if kind == "nh_cache" else []
            assert getattr(library, RELEASES.get(kind, f"{kind}_release"))(handle, *more) == abi.OK

    def make(self) -> Dict[str, int]:
        cache, request, ticket, response, site = (ctypes.c_void_p() for _ in range(5))
        assert library.nh_open(self.directory, None, ctypes.byref(cache)) == abi.OK
        assert library.nh_request_create(self.url, ctypes.byref(request)) == abi.OK
        assert library.nh_submit_request(cache, request, ctypes.byref(ticket)) == abi.OK
        assert library.nh_get(cache, self.url, None, ctypes.byref(response)) == abi.OK
        assert library.nh_site_open(cache, self.url, None, ctypes.byref(site)) == abi.OK
        image, options = ctypes.c_void_p(), abi.nh_options(ctypes.sizeof(abi.nh_options), size=8)
        assert library.nh_response_image(response, ctypes.byref(options), ctypes.byref(image)) == abi.OK
        handles = {"nh_cache": cache, "nh_request": request, "nh_ticket": ticket}
        handles.update({"nh_response": response, "nh_site": site, "nh_image": image})
        handles["nh_frozen"] = self.freeze(cache)
        return {kind: handle.value or 0 for kind, handle in handles.items()}

    def freeze(self, cache: ctypes.c_void_p) -> ctypes.c_void_p:
        request, response, frozen = (ctypes.c_void_p() for _ in range(3))
        assert library.nh_request_create(b"http://127.0.0.1:1/", ctypes.byref(request)) == abi.OK
        options = abi.nh_options(struct_size=ctypes.sizeof(abi.nh_options), method=b"POST", freezable=abi.YES)
        assert library.nh_request_set(request, ctypes.byref(options)) == abi.OK
        assert library.nh_perform(cache, request, ctypes.byref(response)) == abi.FROZEN
        assert library.nh_outbox_next(cache, 0, ctypes.byref(frozen)) == abi.OK and frozen
        return frozen

    def wrong(self, kind: str) -> Iterator[Tuple[str, int]]:
        yield "NULL", 0
        if kind in self.closed:
            yield "closed", self.closed[kind]
        for other, handle in self.open.items():
            if other != kind:
                yield f"an open {other}", handle
        yield from [("1", 1), ("all ones", 2**64 - 1), ("a real address", ctypes.addressof(ctypes.c_int()))]
        numbers = random.Random(4711)
        for handle in list(self.open.values()):
            yield "another generation", (handle + (1 << 29)) & (2**64 - 1)
        for _ in range(200):
            yield "made up", numbers.getrandbits(64)


def fitting(kind: str, world: World, keep: List[Any]) -> Any:
    """Returns a valid argument of a C type."""
    bare = kind.replace("const ", "").replace("*", "").strip()
    if kind.endswith("**"):
        keep.append(ctypes.c_char_p() if "char" in kind else ctypes.c_void_p())
        return ctypes.byref(keep[-1])
    if bare in world.open:
        return world.open[bare]
    if kind == "const char *":
        return world.url
    if kind == "const void *":
        return b"body"
    if hasattr(abi, bare):
        value = getattr(abi, bare)()
        if hasattr(value, "struct_size"):
            value.struct_size = ctypes.sizeof(value)
        keep.append(value)
        return ctypes.byref(value)
    if kind.endswith("*"):
        keep.append(ctypes.c_size_t() if bare == "size_t" else ctypes.c_uint32())
        return ctypes.byref(keep[-1])
    if kind == "size_t":
        return ctypes.sizeof(abi.nh_event)
    return 0


def calls(name: str, world: World) -> Iterator[Tuple[str, List[Any]]]:
    """Gives argument lists with one wrong argument. A wrong handle comes first, because the function checks handles
    first."""
    kinds = abi.SIGNATURES[name][1]
    keep: List[Any] = []
    for place, kind in enumerate(kinds):
        good = [fitting(other, world, keep) for other in kinds]
        bare = kind.rstrip(" *")
        if bare in world.open and not kind.endswith("**"):
            for description, handle in world.wrong(bare):
                yield f"argument {place} is {description}", [*good[:place], handle, *good[place + 1 :]]
        elif kind.endswith("*") and place not in OPTIONAL.get(name, set()):
            yield f"argument {place} is NULL", [*good[:place], None, *good[place + 1 :]]
        bare = bare.replace("const ", "")
        # The library sets the struct_size of an event.
        if bare != "nh_event" and hasattr(getattr(abi, bare, None), "struct_size"):
            keep.append(getattr(abi, bare)())
            without = ctypes.byref(keep[-1])
            yield f"argument {place} has no struct_size", [*good[:place], without, *good[place + 1 :]]
    pointers = {place for place, kind in enumerate(kinds) if kind.endswith("*")}
    if pointers - OPTIONAL.get(name, set()) and name != "nh_open":
        yield "all are NULL", [None if kind.endswith("*") else 0 for kind in kinds]


def main() -> None:
    name, url, directory = sys.argv[1:]
    world = World(url, directory)
    result = abi.SIGNATURES[name][0]
    answers = []
    for description, arguments in calls(name, world):
        status = getattr(library, name)(*arguments)
        if result == "nh_image *":
            # A NULL result. The error has the details.
            info = abi.nh_error_info()
            info.struct_size = ctypes.sizeof(info)
            assert library.nh_error_get_info(ctypes.byref(info)) == abi.OK
            status = info.code if status is None else abi.OK
        else:
            assert result in ("nh_status", "int32_t"), (
                f"{name} takes pointers, so it must be able to refuse them"
            )
        # A number is a count or a descriptor. A negative number is a status.
        status = -status if result == "int32_t" else status
        assert library.nh_error_message(), description
        answers.append({"call": description, "status": abi.WORDS.get(status, str(status))})
    if not abi.SIGNATURES[name][1]:
        getattr(library, name)()
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
