"""Requests: what may be said of one, and how the library is told."""

import ctypes
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _prototypes as abi
from ._errors import error_for
from ._image import MODES, QUALITIES, Size, sides
from ._library import check, encode, library

HeaderArgument = Union[Mapping[str, str], Iterable[Tuple[str, str]], None]

POLICIES = {
    "kit": abi.POLICY_KIT,
    "rfc9111": abi.POLICY_RFC9111,
    "offline": abi.POLICY_OFFLINE,
    "reload": abi.POLICY_RELOAD,
}
GUARDS = {"guarded": abi.GUARD_GUARDED, "public": abi.GUARD_PUBLIC, "any": abi.GUARD_ANY}
DELIVERIES = {"twice": abi.DELIVERY_TWICE, "first": abi.DELIVERY_FIRST, "fresh": abi.DELIVERY_FRESH}

#: The largest number that the C side takes.
LARGEST = 2**63 - 1


def pairs(headers: HeaderArgument) -> List[Tuple[str, str]]:
    """Headers as a list of pairs."""
    return list(headers.items() if isinstance(headers, Mapping) else headers or [])


def chosen(word: Optional[str], words: Mapping[str, int], what: str) -> int:
    """The number that an option's word stands for; 0 for none."""
    if word is None:
        return 0
    if word not in words:
        raise error_for(abi.INVALID, f"{what} must be one of {list(words)}, not {word!r}", None)
    return words[word]


def milliseconds(seconds: Optional[float], what: str) -> int:
    """As the C side has it: negative for no limit. 0 would mean the default there, so the least is 1."""
    if seconds is None:
        return -1
    if not seconds > 0:
        raise error_for(abi.INVALID, f"{what} must be a positive number of seconds or None", None)
    return max(1, int(min(seconds, 2**52) * 1000))


def as_json(value: Any) -> bytes:
    """A value as JSON."""
    import json  # here, because it is half of what loading the package would cost

    return json.dumps(value).encode()


@contextmanager
def draft(
    url: str,
    *,
    method: str = "GET",
    headers: HeaderArgument = None,
    body: Union[bytes, bytearray, memoryview, None] = None,
    json: Any = None,
    user: Optional[Tuple[str, str]] = None,
    timeout: Optional[float] = -1,
    deadline: Optional[float] = -1,
    retries: Optional[int] = None,
    max_bytes: int = 0,
    max_pixels: int = 0,
    sizes: Sequence[Size] = (),
    mode: str = "fit",
    enlarge: bool = False,
    quality: str = "best",
    allow_truncated: bool = False,
    early_stop: bool = False,
    delivery: str = "twice",
    priority: int = 0,
    tag: Optional[str] = None,
    policy: Optional[str] = None,
    guard: Optional[str] = None,
    key: Optional[str] = None,
    ignore_query: bool = False,
    partition: Optional[str] = None,
    progress: bool = False,
) -> Iterator[ctypes.c_void_p]:
    """A request of the library, for as long as the block lasts."""
    lines = pairs(headers)
    if json is not None:
        if body is not None:
            raise error_for(abi.INVALID, "body and json exclude each other", url)
        body = as_json(json)
        if not any(name.lower() == "content-type" for name, _ in lines):
            lines.append(("Content-Type", "application/json"))
    if max_bytes < 0 or not 0 <= max_pixels < 2**62:
        raise error_for(
            abi.INVALID, f"max_bytes and max_pixels must be positive: {max_bytes}, {max_pixels}", url
        )
    if mode not in MODES or quality not in QUALITIES:
        known = f"mode one of {list(MODES)}, quality one of {list(QUALITIES)}"
        raise error_for(abi.INVALID, f"{known}; not {mode!r}, {quality!r}", url)
    if not -10 <= priority <= 10:
        raise error_for(abi.INVALID, f"priority must be -10 to 10, not {priority}", url)
    if retries is not None and not 0 <= retries < 2**31:
        raise error_for(abi.INVALID, f"retries must be 0 or more, not {retries}", url)
    boxes = [sides(size, url) for size in sizes]

    request = ctypes.c_void_p()
    check(library.nh_request_new(encode(url, "url"), ctypes.byref(request)), url)
    try:

        def say(what: str, *values: Any) -> None:
            check(getattr(library, f"nh_request_{what}")(request, *values), url)

        say("set_method", encode(method, "method"))
        for name, value in lines:
            say("add_header", encode(name, "header"), encode(value, "header"))
        if body is not None:
            # Not bytes(body) alone: of a number it makes as many zeros.
            data = bytes(memoryview(body))
            say("set_body", data, len(data))
        if user is not None:
            say("set_user", encode(user[0], "user"), encode(user[1], "password"))
        for width, height in boxes:
            say("add_size", width, height)
        say("set_mode", MODES[mode])
        say("set_quality", QUALITIES[quality])
        say("set_enlarge", int(enlarge))
        say("set_allow_truncated", int(allow_truncated))
        say("set_early_stop", int(early_stop))
        say("set_delivery", chosen(delivery, DELIVERIES, "delivery"))
        say("set_priority", priority)
        if tag is not None:
            say("set_tag", encode(tag, "tag"))
        if policy is not None:
            say("set_policy", chosen(policy, POLICIES, "policy"))
        if guard is not None:
            say("set_guard", chosen(guard, GUARDS, "guard"))
        if key is not None:
            say("set_key", encode(key, "key"))
        say("set_ignore_query", int(ignore_query))
        if partition is not None:
            say("set_partition", encode(partition, "partition"))
        if timeout != -1:
            say("set_timeout", milliseconds(timeout, "timeout"))
        if deadline != -1:
            say("set_deadline", milliseconds(deadline, "deadline"))
        if retries is not None:
            # 0 means "not given" there.
            say("set_retries", retries or -1)
        say("set_max_bytes", min(max_bytes, LARGEST))
        say("set_max_pixels", max_pixels)
        say("set_progress", int(progress))
        # Its events are waited for by its ticket, and nobody polls.
        say("set_quiet", 1)
        yield request
    finally:
        library.nh_request_release(request)
