"""Calls the functions of the ABI at random from several threads: in any order, with handles that are open, closed, of
another kind or invented, and with NULL. It fails only if the process crashes.

call_randomly.py URL DIRECTORY SEED SECONDS
"""

import ctypes
import faulthandler
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))

from nuthatch import _prototypes as abi
from nuthatch._library import library

KINDS = ["nh_cache", "nh_request", "nh_ticket", "nh_response", "nh_site", "nh_image", "nh_frozen"]
# Functions that are called more often, because the others need what they make.
FAVOURITES = [
    "nh_submit",
    "nh_poll",
    "nh_dispatch",
    "nh_wait",
    "nh_request_set",
    "nh_thumbnail",
    "nh_get",
    "nh_outbox_next",
    "nh_submit_request",
    "nh_image_convert",
    "nh_image_encode",
    "nh_image_pixels",
    "nh_response_image",
]
# Functions that a callback calls, during nh_dispatch or a blocking call.
FROM_INSIDE = [
    "nh_cancel",
    "nh_answer",
    "nh_submit",
    "nh_ticket_release",
    "nh_dispatch",
    "nh_outbox_drop",
    "nh_outbox_provide",
    "nh_response_json",
    "nh_site_close",
    "nh_event_clear",
    "nh_shutdown",
]
# Functions that are left out: they are of no use here, or would end everything too often.
LEFT_OUT = {"nh_event_clear"}
RARE = {
    "nh_close",
    "nh_shutdown",
    "nh_clear",
    "nh_queue_set",
    "nh_get",
    "nh_perform",
}
BUFFER = 1 << 16

Callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(abi.nh_event), ctypes.c_void_p)
LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_void_p)
# Kept alive longer than every thread that may call it.
LOGGED = LogCallback(lambda level, line, user: None)


class Fuzzer(threading.Thread):
    """The calls of one thread. All threads share the handles."""

    handles: Dict[str, List[int]] = {kind: [] for kind in KINDS}
    calls = 0

    def __init__(self, seed: str, url: str, directory: str, until: float) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.url, self.directory, self.until = url, directory, until
        self.keep: List[Any] = []
        self.depth = 0
        self.file = os.path.join(directory, os.pardir, "a file")
        self.keep_callback = Callback(self.called)
        self.callback = ctypes.cast(self.keep_callback, ctypes.c_void_p)

    def run(self) -> None:
        names = [name for name in abi.SIGNATURES if name not in LEFT_OUT]
        while time.monotonic() < self.until:
            name = self.random.choice(FAVOURITES if self.random.random() < 0.3 else names)
            if self.random.random() < (
                0.9 if name in RARE else 0.8 if name.endswith(("_release", "_free")) else 0
            ):
                continue
            self.call(name)
            if self.random.random() < 0.005:
                self.freeze()

    def called(self, event: Any, user: Any) -> None:
        chance = self.random.random()
        if chance < 0.1 and event:
            # Read it before the library does.
            library.nh_event_clear(event)
        if chance > 0.5 and self.depth < 3:
            name = self.random.choice(FROM_INSIDE)
            if name == "nh_event_clear":
                library.nh_event_clear(event)
            elif name not in RARE or chance > 0.98:
                self.call(name)

    def freeze(self) -> None:
        """Makes a valid request for the outbox: random requests are nearly always refused."""
        request, ticket = ctypes.c_void_p(), ctypes.c_void_p()
        library.nh_request_create(
            b"http://127.0.0.1:1/" + b"abc"[: self.random.randrange(4)], ctypes.byref(request)
        )
        method = self.random.choice([b"POST", b"PUT", b"DELETE", b"GET"])
        options = abi.nh_options(struct_size=ctypes.sizeof(abi.nh_options), method=method, freezable=abi.YES)
        library.nh_request_set(request, ctypes.byref(options))
        for name in self.random.sample(
            [
                "nh_request_set", "nh_request_add_part", "nh_request_add_field", "nh_request_set_body",
            ],
            self.random.randrange(4),
        ):  # fmt: skip
            arguments = [
                self.argument(name, place, kind) for place, kind in enumerate(abi.SIGNATURES[name][1])
            ]
            getattr(library, name)(request, *arguments[1:])
        self.keep = []
        library.nh_submit_request(self.handle("nh_cache"), request, ctypes.byref(ticket))
        Fuzzer.calls += 1
        for kind, made in (("nh_request", request), ("nh_ticket", ticket)):
            if made:
                self.handles[kind].append(made.value or 0)

    def call(self, name: str) -> None:
        kinds = abi.SIGNATURES[name][1]
        self.keep = []
        arguments = [self.argument(name, place, kind) for place, kind in enumerate(kinds)]
        keep = self.keep
        self.depth += 1
        try:
            status = getattr(library, name)(*arguments)
        finally:
            self.depth -= 1
        Fuzzer.calls += 1
        if abi.SIGNATURES[name][0] == "nh_image *" and status:
            self.handles["nh_image"].append(status)
        for place, kind in enumerate(kinds):
            if kind.endswith("**") and "const" not in kind and status == abi.OK:
                self.note(kind.rstrip(" *"), arguments[place])
        if name in ("nh_wait", "nh_poll") and status in (abi.OK, 1, 2, 3, 4):
            self.take(keep, status if name == "nh_poll" else 1)

    def note(self, kind: str, place: Any) -> None:
        # Several images need an array.
        made = None if place is None else place._obj.value if hasattr(place, "_obj") else place[0]
        if made and kind in KINDS:
            pool = self.handles[kind]
            pool.append(made)
            # Old handles stay in the list: some are closed, the others leak until the end.
            if len(pool) > 200:
                pool.pop(self.random.randrange(len(pool)))

    def take(self, keep: List[Any], count: int) -> None:
        for array in keep:
            if not isinstance(array, ctypes.Array) or array._type_ is not abi.nh_event:
                continue
            for index in range(count):
                event = array[index]
                if event.response and self.random.random() < 0.5:
                    self.handles["nh_response"].append(event.response)
                    event.response = None
                if event.frozen and self.random.random() < 0.5:
                    self.handles["nh_frozen"].append(event.frozen)
                    event.frozen = None
                library.nh_event_clear(ctypes.byref(event))

    # Arguments

    def argument(self, name: str, place: int, kind: str) -> Any:
        bare = kind.replace("const ", "").replace("*", "").strip()
        if kind.endswith("*") and self.random.random() < 0.03:
            return None
        if kind.endswith("**"):
            self.keep.append((ctypes.c_void_p * 64)() if name == "nh_perform_images" else ctypes.c_void_p())
            if "char" in kind:
                self.keep[-1] = ctypes.c_char_p()
            return ctypes.byref(self.keep[-1]) if name != "nh_perform_images" else self.cast(self.keep[-1])
        if bare in KINDS:
            return self.handle(bare)
        if kind == "const char *":
            return self.text(name, place)
        if bare == "nh_event":
            self.keep.append((abi.nh_event * 4)())
            return ctypes.cast(self.keep[-1], ctypes.POINTER(abi.nh_event))
        if hasattr(abi, bare):
            return ctypes.byref(self.struct(bare)) if kind.endswith("*") else self.random.randrange(10)
        if kind in ("void *", "char *", "const void *"):
            self.keep.append(ctypes.create_string_buffer(BUFFER))
            return ctypes.cast(self.keep[-1], ctypes.c_void_p)
        if kind.endswith("*"):
            self.keep.append(ctypes.c_size_t())
            return ctypes.cast(ctypes.byref(self.keep[-1]), abi.passed(kind))
        if kind == "size_t":
            return self.size(name, place)
        if kind == "double":
            return self.random.choice([0.0, 0.5, -1.0, 2.0, float("nan"), float("inf")])
        if kind == "nh_callback":
            return self.callback if self.random.random() < 0.7 else None
        if kind == "nh_log_callback":
            return ctypes.cast(LOGGED, ctypes.c_void_p) if self.random.random() < 0.7 else None
        if kind == "uint64_t" and self.random.random() < 0.8:
            return self.random.randrange(1, 50)  # a number in the outbox
        if name in ("nh_wait", "nh_dispatch", "nh_wait_idle", "nh_close"):
            return self.random.randrange(3)
        bits = 31 if kind == "int32_t" else 63
        choices = [
            0,
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            -1,
            64,
            160,
            2**bits - 1,
            -(2**bits),
            self.random.getrandbits(bits),
        ]
        value = self.random.choice(choices)
        return value & 0xFFFFFFFF if kind == "uint32_t" else value

    def cast(self, array: Any) -> Any:
        return ctypes.cast(array, ctypes.POINTER(ctypes.c_void_p))

    def handle(self, kind: str) -> int:
        chance = self.random.random()
        pool = self.handles[kind if chance < 0.95 else self.random.choice(KINDS)]
        if chance > 0.98 or not pool:
            return self.random.choice([0, 1, self.random.getrandbits(64), 2**64 - 1])
        try:
            return self.random.choice(pool)
        except IndexError:
            return 0

    def text(self, name: str, place: int) -> bytes:
        if name == "nh_open":
            return self.directory.encode()
        if name == "nh_request_create" or (
            place == 1
            and name.endswith(
                ("_get", "_thumbnail", "_peek", "_peek_response", "_remove", "_submit", "_now", "site_open")
            )
        ):
            paths = [
                *["/png/40/30"] * 8,
                "/bytes/100",
                "/etag/1",
                "/status/404",
                "/delay/50",
                "/truncated",
                "/basic-auth/u/p",
                "/hints",
                "/echo",
                "/cookie",
            ]
            url = self.url + self.random.choice(paths) + f"?{self.random.randrange(20)}"
            others = ["", "nonsense", "\x7f\x01", "data:,seeds", "file:///proc/self/cmdline"]
            return self.random.choice([*[url] * 8, *others]).encode()
        if "file" in name or "netrc" in name or "certificate" in name:
            return self.random.choice([self.file, "", "no such file", "/proc/self/mem", "x" * 3000]).encode()
        words = [
            b"",
            b"GET",
            b"POST",
            b"env:HOME",
            b"token",
            b"handler",
            b"X-A",
            b"value",
            b"a\r\nb",
            b"\xff\xfe",
        ]
        words += ["ü".encode(), b"x" * 3000]
        return self.random.choice(words)

    def struct(self, name: str) -> Any:
        made = getattr(abi, name)()
        # Few options at a time: with many, nearly all calls would be refused.
        chance = 0.02 if name == "nh_options" else 0.06
        for field, kind in made._fields_:
            if field == "struct_size":
                sizes = [ctypes.sizeof(made)] * 8 + [0, 4, 8, ctypes.sizeof(made) - 8]
                made.struct_size = self.random.choice(sizes)
            elif kind is ctypes.c_char_p and self.random.random() < 3 * chance:
                setattr(
                    made, field, self.random.choice([b"", b"a", b"a\r\nb", b"\xff", b"http://127.0.0.1:1"])
                )
            elif kind in (ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64) and self.random.random() < chance:
                setattr(made, field, self.random.choice([0, 1, 2, 3, 5, 1000, 2**31 - 1, -1]))
        if name == "nh_options":
            made.memory_bytes = made.disk_bytes = 0
            # Short times, so that threads don't wait most of the time.
            if self.random.random() < 0.9:
                made.deadline_ms, made.retries = 300, abi.NONE
            if self.random.random() < 0.3:
                made.callback = self.callback.value
            if self.random.random() < 0.2:
                made.site = self.handle("nh_site")
            if self.random.random() < 0.3:
                made.size = self.random.choice([1, 64, 160])
            if self.random.random() < 0.1:
                made.netrc = ctypes.c_char_p(abi.OFF)
        self.keep.append(made)
        return made

    def size(self, name: str, place: int) -> int:
        if name in ("nh_wait", "nh_poll"):
            is_size = place == len(abi.SIGNATURES[name][1]) - 1
            return ctypes.sizeof(abi.nh_event) if is_size else self.random.choice([0, 1, 4])
        if name == "nh_perform_images":
            return self.random.choice([0, 1, 2, 64, 65])
        return self.random.choice([0, 1, 100, BUFFER])


def close_all() -> None:
    opened: Tuple[int, ...] = tuple(Fuzzer.handles["nh_cache"])
    for handle in opened:
        library.nh_close(handle, 2000)


def main() -> None:
    faulthandler.enable()
    # An error of this program also counts as a failure.
    threading.excepthook = lambda failure: (sys.__excepthook__(*failure[:3]), os._exit(3))  # type: ignore
    url, directory, seed, seconds = sys.argv[1:]
    Path(directory).parent.joinpath("a file").write_bytes(
        b"machine 127.0.0.1 login me password seeds\n" * 100
    )
    until = time.monotonic() + float(seconds)
    threads = [Fuzzer(f"{seed}-{number}", url, directory, until) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        # Close the caches first: that ends threads that wait for answers with endless retries.
        while thread.is_alive():
            thread.join(max(0.05, until - time.monotonic()))
            close_all()
    close_all()
    # On its own line: answers are written to this descriptor, too.
    print(f"\n{Fuzzer.calls}")


if __name__ == "__main__":
    main()
