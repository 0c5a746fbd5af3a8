"""Requests: what may be said of one, and how the library is told."""

import ctypes
import os
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from . import _prototypes as abi
from ._errors import error_for
from ._image import MODES, QUALITIES, Size, sides
from ._library import bare, check, encode, quick

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack  # no need for it at run time

    from ._response import Response

    class Sent(TypedDict, total=False):
        """What a request sends."""

        headers: "HeaderArgument"
        body: "Body"
        sign_in: Optional[str]
        bearer: Optional[str]
        cert: Union[str, Tuple[str, ...], None]
        save_to: "SinkArgument"
        append: bool
        resume: bool
        json: Any
        form: "Fields"
        files: "Files"
        user: Optional[Tuple[str, str]]
        freezable: bool
        durable: bool
        queue: Optional[str]
        handler: Optional[str]
        secrets: "Secrets"
        password_provider: Optional[str]
        attempts: Optional[int]
        longest: Optional[float]
        key_lifetime: Optional[float]
        resends_late: bool

    class Limits(TypedDict, total=False):
        """What a request, or all of a site, may say otherwise than the cache."""

        timeout: Optional[float]
        deadline: Optional[float]
        retries: Optional[int]
        max_bytes: int
        max_pixels: int
        policy: Optional[str]
        validator_ttl: Optional[float]
        image_ttl: Optional[float]
        no_cache_ttl: Optional[float]
        heuristic: Optional[float]
        guard: Optional[str]
        partition: Optional[str]
        netrc: "Netrc"
        ask_headers: "AskHeaders"
        ask_credentials: "AskCredentials"
        ask_challenge: "AskChallenge"
        ask_verdict: "AskVerdict"

    class Sending(Sent, Limits, total=False):
        """What may be said of any request; :meth:`Cache.submit` explains it."""

        mode: str
        enlarge: bool
        quality: str
        allow_truncated: bool
        early_stop: bool
        delivery: str
        priority: int
        tag: Optional[str]
        key: Optional[str]
        ignore_query: bool

    class Wishes(Sending, total=False):
        """The same where it is said as an option."""

        method: str
        progress: bool

    class SiteWishes(Limits, total=False):
        """What a site may be told."""

        headers: "HeaderArgument"
        user: Optional[Tuple[str, str]]
        cookies: Optional[str]
        user_agent: Optional[str]
        accept: Optional[str]
        proxy: Optional[str]

    class CacheWishes(Limits, total=False):
        """What a cache may be told."""

        headers: "HeaderArgument"
        user_agent: Optional[str]
        accept: Optional[str]
        proxy: Optional[str]
        memory_bytes: int
        memory_items: int
        disk_bytes: int
        spill: Optional[str]
        store: Optional[str]
        keep_source: Optional[bool]
        allow_files: bool
        outbox: Optional[str]
        outbox_bytes: int
        outbox_items: int

    __all__ = ["Unpack"]

HeaderArgument = Union[Mapping[str, str], Iterable[Tuple[str, str]], None]
#: Bytes, or the path of a file that is read while it is sent.
Body = Union[bytes, bytearray, memoryview, "os.PathLike[str]", None]
#: A path, an open file or descriptor, a function that gets each piece; or a list of these.
SinkArgument = Any
Fields = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]
#: By the name of the field: bytes, a path, an open file, or (file name, one of these[, type]).
Files = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]
#: Headers' names, and the providers of their values; or tuples of what stands before the secret, such as "Bearer ", and
#: the provider.
Secrets = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]
#: A file with users and passwords by host; True for the usual one.
Netrc = Union[bool, str, "os.PathLike[str]", None]
AskHeaders = Optional[Callable[[str], Union[HeaderArgument, Awaitable[HeaderArgument]]]]
_User = Optional[Tuple[str, str]]
AskCredentials = Optional[Callable[["Response"], Union[_User, Awaitable[_User]]]]
AskChallenge = Optional[Callable[["Response"], Union[HeaderArgument, Awaitable[HeaderArgument]]]]
_Verdict = Union[bool, str, None]
AskVerdict = Optional[Callable[["Response"], Union[_Verdict, Awaitable[_Verdict]]]]

POLICIES = {
    "kit": abi.POLICY_KIT,
    "rfc9111": abi.POLICY_RFC9111,
    "offline": abi.POLICY_OFFLINE,
    "reload": abi.POLICY_RELOAD,
}
GUARDS = {"guarded": abi.GUARD_GUARDED, "public": abi.GUARD_PUBLIC, "any": abi.GUARD_ANY}
DELIVERIES = {"twice": abi.DELIVERY_TWICE, "first": abi.DELIVERY_FIRST, "fresh": abi.DELIVERY_FRESH}
SIGN_INS = {
    "basic": abi.SIGN_IN_BASIC,
    "digest": abi.SIGN_IN_DIGEST,
    "ntlm": abi.SIGN_IN_NTLM,
    "negotiate": abi.SIGN_IN_NEGOTIATE,
    "any": abi.SIGN_IN_ANY,
}
QUESTIONS = {
    "ask_headers": abi.ASK_HEADERS,
    "ask_credentials": abi.ASK_CREDENTIALS,
    "ask_challenge": abi.ASK_CHALLENGE,
    "ask_verdict": abi.ASK_VERDICT,
}
COOKIES = {"memory": abi.COOKIES_MEMORY, "disk": abi.COOKIES_DISK}

#: The largest number that the C side takes.
LARGEST = 2**63 - 1


def pairs(headers: HeaderArgument) -> List[Tuple[str, str]]:
    """Headers as a list of pairs."""
    # A mapping's items, told apart by hand: an iterable of pairs may be called a mapping of pairs, too.
    lines: Any = headers.items() if isinstance(headers, Mapping) else headers or ()
    return list(lines)


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


def lifetime(seconds: Optional[float], what: str) -> int:
    """A number of the policy in seconds, as the C side has it: 0 for what isn't given, negative for none."""
    if seconds is None:
        return 0
    if not seconds >= 0:
        raise error_for(abi.INVALID, f"{what} must be a number of seconds, 0 or more, not {seconds!r}", None)
    return int(min(seconds, 2**52)) or -1


def as_json(value: Any) -> bytes:
    """A value as JSON."""
    import json  # here, because it is half of what loading the package would cost

    return json.dumps(value).encode()


def _as_form(fields: Fields) -> bytes:
    from urllib.parse import urlencode

    return urlencode(_items(fields), True).encode()


def _items(fields: Fields) -> List[Tuple[str, Any]]:
    lines: Any = fields.items() if isinstance(fields, Mapping) else fields or ()
    return list(lines)


@dataclass(frozen=True)
class Form:
    """A multipart form, whose files are read while it is sent."""

    fields: List[Tuple[str, Any]]
    files: List[Tuple[str, Any]]


def prepared(options: Dict[str, Any], url: str) -> Dict[str, Any]:
    """Options with headers as pairs, and with ``json``, ``form`` and ``files`` made a ``body``: to be used again."""
    if "headers" in options:
        options["headers"] = pairs(options["headers"])
    json, form, files = options.pop("json", None), options.pop("form", None), options.pop("files", None)
    if json is None and form is None and files is None:
        return options
    if options.get("body") is not None or (json is not None and not (form is files is None)):
        raise error_for(abi.INVALID, "of body, json, and form with files there can be one", url)
    if files is not None:
        options["body"] = Form(_items(form), _items(files))
        return options
    if json is not None:
        body, kind = as_json(json), "application/json"
    else:
        body, kind = _as_form(form), "application/x-www-form-urlencoded"
    options["body"], lines = body, options.get("headers", [])
    if not any(name.lower() == "content-type" for name, _ in lines):
        options["headers"] = [*lines, ("Content-Type", kind)]
    return options


def describe(
    request: ctypes.c_void_p, url: str, boxes: Sequence[Tuple[int, int]], options: Mapping[str, Any]
) -> None:
    """Tells a request of the library what is said of it."""
    for width, height in boxes:
        check(bare.nh_request_add_size(request, width, height), url)
    asks = 0
    ttls: Dict[str, int] = {}
    limits: List[str] = []
    for name, value in options.items():
        if name in _SETTERS:
            _SETTERS[name](request, value, url)
        elif name in QUESTIONS:
            asks |= QUESTIONS[name] if value is not None else 0
        elif name in _LIFETIMES:
            ttls[name] = lifetime(value, name)
        elif name == "save_to":
            save(request, value, bool(options.get("append")), url)
        elif name == "append":
            pass
        elif name == "heuristic":
            ttls.setdefault("heuristic", 0)
        elif name in _FREEZING_LIMITS:
            limits.append(name)
        else:
            raise TypeError(f"a request has no option {name!r}")
    if asks:
        check(quick.nh_request_set_asks(request, asks), url)
    if limits:
        _freezing_limits(request, options, url)
    if ttls:
        share = heuristic(options.get("heuristic"))
        given = [ttls.get(name, 0) for name in _LIFETIMES]
        check(quick.nh_request_set_lifetimes(request, *given, share), url)


def heuristic(share: Optional[float]) -> float:
    """A share of time as the C side has it: 0 for what isn't given, negative for none."""
    if share is None:
        return 0.0
    if not share >= 0:
        raise error_for(abi.INVALID, f"heuristic must be 0 or more, not {share!r}", None)
    return float(share) or -1.0


def boxes_of(sizes: Sequence[Size], url: str) -> List[Tuple[int, int]]:
    """The sides of several boxes."""
    boxes = [sides(size, url) for size in sizes]
    if len(boxes) > 64:
        raise error_for(abi.INVALID, f"{len(boxes)} sizes; 64 at most", url)
    return boxes


_Setter = Callable[[ctypes.c_void_p, Any, str], None]


def _text(what: str) -> _Setter:
    function = getattr(quick, f"nh_request_set_{what}")

    def put(request: ctypes.c_void_p, value: Any, url: str) -> None:
        if value is not None:
            check(function(request, encode(value, what)), url)

    return put


def _number(what: str, made: Callable[[Any], int]) -> _Setter:
    function = getattr(quick, f"nh_request_set_{what}")

    def put(request: ctypes.c_void_p, value: Any, url: str) -> None:
        check(function(request, made(value)), url)

    return put


def _headers(request: ctypes.c_void_p, value: Any, url: str) -> None:
    for name, text in value:
        check(quick.nh_request_add_header(request, encode(name, "header"), encode(text, "header")), url)


def _body(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if isinstance(value, Form):
        _form(request, value, url)
    elif isinstance(value, os.PathLike):
        check(quick.nh_request_set_body_file(request, encode_path(value, url)), url)
    elif value is not None:
        # Not bytes(body) alone: of a number it makes as many zeros.
        data = value if isinstance(value, bytes) else bytes(memoryview(value))
        check(quick.nh_request_set_body(request, data, len(data)), url)


def encode_path(path: Union[str, "os.PathLike[str]"], url: Optional[str]) -> bytes:
    """A file's name as the library takes it."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise error_for(abi.INVALID, f"a NUL character in the path {path!r}", url)
    return encoded


def _form(request: ctypes.c_void_p, form: Form, url: str) -> None:
    def add(name: str, data: bytes, called: Optional[str] = None, kind: Optional[str] = None) -> None:
        given = [None if text is None else encode(text, "files") for text in (called, kind)]
        check(quick.nh_request_add_form_data(request, encode(name, "form"), data, len(data), *given), url)

    for name, value in form.fields:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            add(name, one if isinstance(one, bytes) else str(one).encode())
    for name, file in form.files:
        called: Optional[str] = None
        kind: Optional[str] = None
        if isinstance(file, tuple):
            parts: List[Any] = list(file)
            called, kind = parts[0], parts[2] if len(parts) > 2 else None
            file = parts[1]
        if isinstance(file, (str, os.PathLike)):
            given = [None if text is None else encode(text, "files") for text in (called, kind)]
            path = encode_path(file, url)
            check(quick.nh_request_add_form_file(request, encode(name, "files"), path, *given), url)
            continue
        if hasattr(file, "read"):
            own = getattr(file, "name", None)
            called = called or (os.path.basename(own) if isinstance(own, str) else None)
            file = file.read()
        add(name, bytes(memoryview(file)), called or name, kind)


def sinks(save_to: SinkArgument) -> List[Any]:
    """Where an answer is saved, as a list."""
    if save_to is None:
        return []
    return list(save_to) if isinstance(save_to, (list, tuple)) else [save_to]


def takers(save_to: SinkArgument) -> List[Callable[[bytes], Any]]:
    """The functions among them."""
    return [] if save_to is None else [sink for sink in sinks(save_to) if callable(sink)]


def save(request: ctypes.c_void_p, save_to: SinkArgument, append: bool, url: str) -> None:
    """Tells a request of the library where its answer is saved."""
    for sink in sinks(save_to):
        if callable(sink):
            check(quick.nh_request_save_to_events(request), url)
        elif isinstance(sink, int) or hasattr(sink, "fileno"):
            number = sink if isinstance(sink, int) else sink.fileno()
            check(quick.nh_request_save_to_descriptor(request, number), url)
        else:
            check(quick.nh_request_save_to_file(request, encode_path(sink, url), int(append)), url)


def _user(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if value is not None:
        check(quick.nh_request_set_user(request, encode(value[0], "user"), encode(value[1], "password")), url)


def _bearer(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if value is not None:
        check(quick.nh_request_set_bearer(request, encode(value, "bearer")), url)


def netrc_path(value: Netrc) -> Optional[bytes]:
    """A netrc as the library takes it: empty for the usual one."""
    if value is None or value is False:
        return None
    return b"" if value is True else encode_path(value, None)


def _netrc(request: ctypes.c_void_p, value: Netrc, url: str) -> None:
    check(quick.nh_request_set_netrc(request, netrc_path(value)), url)


def _cert(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if value is not None:
        names = [encode(os.fspath(one), "cert") for one in ((value,) if isinstance(value, str) else value)]
        check(quick.nh_request_set_certificate(request, *[*names, None, None][:3]), url)


def _secrets(request: ctypes.c_void_p, value: Any, url: str) -> None:
    for header, given in value.items() if isinstance(value, Mapping) else value or ():
        prefix, provider = given if isinstance(given, tuple) else ("", given)
        texts = [encode(header, "header"), encode(prefix, "header"), encode(provider, "provider")]
        check(quick.nh_request_add_secret(request, *texts), url)


def _freezing_limits(request: ctypes.c_void_p, options: Mapping[str, Any], url: str) -> None:
    times = [
        milliseconds(options[name], name) if name in options else 0 for name in ("longest", "key_lifetime")
    ]
    count = attempts(options.get("attempts"), "attempts")
    late = int(bool(options.get("resends_late")))
    check(quick.nh_request_set_outbox_limits(request, count, *times, late), url)


def _limit(what: str) -> _Setter:
    function = getattr(quick, f"nh_request_set_{what}")

    def put(request: ctypes.c_void_p, value: Any, url: str) -> None:
        if value != -1:
            check(function(request, milliseconds(value, what)), url)

    return put


def _bounded(what: str, least: int, most: int) -> Callable[[Any], int]:
    def made(value: Any) -> int:
        if not isinstance(value, int) or not least <= value <= most:
            raise error_for(abi.INVALID, f"{what} must be {least} to {most}, not {value!r}", None)
        return value

    return made


def _at_most(what: str) -> Callable[[Any], int]:
    def made(value: Any) -> int:
        if not isinstance(value, int) or value < 0:
            raise error_for(abi.INVALID, f"{what} must be a positive number, not {value!r}", None)
        return min(value, LARGEST)

    return made


def attempts(value: Optional[int], what: str = "retries") -> int:
    """A number of attempts as the C side has it, where 0 means "not given"."""
    if value is None:
        return 0
    if not 0 <= value < 2**31:
        raise error_for(abi.INVALID, f"{what} must be 0 or more, not {value}", None)
    return value or -1


def _word(what: str, words: Mapping[str, int]) -> Callable[[Any], int]:
    return lambda value: chosen(value, words, what)


_LIFETIMES = ("validator_ttl", "image_ttl", "no_cache_ttl")
_FREEZING_LIMITS = ("attempts", "longest", "key_lifetime", "resends_late")
_SETTERS: Dict[str, _Setter] = {
    "method": _text("method"),
    "headers": _headers,
    "body": _body,
    "user": _user,
    "sign_in": _number("sign_in", _word("sign_in", SIGN_INS)),
    "bearer": _bearer,
    "cert": _cert,
    "netrc": _netrc,
    "timeout": _limit("timeout"),
    "deadline": _limit("deadline"),
    "retries": _number("retries", attempts),
    "max_bytes": _number("max_bytes", _at_most("max_bytes")),
    "max_pixels": _number("max_pixels", _at_most("max_pixels")),
    "mode": _number("mode", _word("mode", MODES)),
    "enlarge": _number("enlarge", int),
    "quality": _number("quality", _word("quality", QUALITIES)),
    "allow_truncated": _number("allow_truncated", int),
    "early_stop": _number("early_stop", int),
    "delivery": _number("delivery", _word("delivery", DELIVERIES)),
    "priority": _number("priority", _bounded("priority", -10, 10)),
    "tag": _text("tag"),
    "policy": _number("policy", _word("policy", POLICIES)),
    "guard": _number("guard", _word("guard", GUARDS)),
    "key": _text("key"),
    "ignore_query": _number("ignore_query", int),
    "partition": _text("partition"),
    "progress": _number("progress", int),
    "resume": _number("resume", int),
    "freezable": _number("freezable", int),
    "durable": _number("durable", int),
    "queue": _text("outbox_queue"),
    "handler": _text("outbox_handler"),
    "secrets": _secrets,
    "password_provider": _text("password_provider"),
}
