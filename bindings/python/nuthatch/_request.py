"""Requests: how the library is told what is said of one."""

import ctypes
import os
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

from . import _prototypes as abi
from ._arguments import amount, called, fields, flag, whole
from ._errors import error_for
from ._image import MODES, QUALITIES
from ._library import bare, check, encode, quick
from ._saving import save
from ._sending import put_body
from ._values import (
    DELIVERIES,
    GUARDS,
    POLICIES,
    QUESTIONS,
    SIGN_INS,
    attempts,
    chosen,
    heuristic,
    lifetime,
    milliseconds,
    netrc_path,
    retries,
    signature,
)
from ._wishes import Netrc


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
            asks |= QUESTIONS[name] if value is not None and called(value, name) else 0
        elif name in _LIFETIMES:
            ttls[name] = lifetime(value, name)
        elif name == "save_to":
            save(request, value, bool(options.get("append")), url)
        elif name == "append":
            flag(value, name)
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


def _user(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if value is None:
        # Nobody, which is another thing than not to say who.
        check(quick.nh_request_set_user(request, None, None), url)
        return
    is_bound = isinstance(value, (tuple, list)) and len(value) == 3
    check(quick.nh_request_set_user(request, *signature(value[:2] if is_bound else value, url)), url)
    if is_bound:
        _place(request, value[2], url)


def _place(request: ctypes.c_void_p, value: str, url: str) -> None:
    check(quick.nh_request_set_user_place(request, encode(value, "the place of user")), url)


def _bearer(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if value is not None:
        check(quick.nh_request_set_bearer(request, encode(value, "bearer")), url)


def _netrc(request: ctypes.c_void_p, value: Netrc, url: str) -> None:
    path = netrc_path(value)
    if path is None:
        check(quick.nh_request_set_no_netrc(request, 1), url)
    else:
        check(quick.nh_request_set_netrc(request, path), url)


def _cert(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if value is not None:
        parts = (value,) if isinstance(value, (str, os.PathLike)) else value
        if not isinstance(parts, (tuple, list)) or not 1 <= len(parts) <= 3:
            raise TypeError("cert must be a file, or a tuple of certificate, key and the key's password")
        names = [encode(os.fspath(one) if isinstance(one, os.PathLike) else one, "cert") for one in parts]
        check(quick.nh_request_set_certificate(request, *[*names, None, None][:3]), url)


def _secrets(request: ctypes.c_void_p, value: Any, url: str) -> None:
    for header, given in fields(value, "secrets"):
        prefix, provider = given if isinstance(given, tuple) else ("", given)
        texts = [encode(header, "header"), encode(prefix, "header"), encode(provider, "provider")]
        check(quick.nh_request_add_secret(request, *texts), url)


def _freezing_limits(request: ctypes.c_void_p, options: Mapping[str, Any], url: str) -> None:
    times = [
        milliseconds(options[name], name) if name in options else 0 for name in ("longest", "key_lifetime")
    ]
    count = attempts(options.get("attempts"))
    check(quick.nh_request_set_outbox_limits(request, count, *times), url)


def _limit(what: str) -> _Setter:
    function = getattr(quick, f"nh_request_set_{what}")

    def put(request: ctypes.c_void_p, value: Any, url: str) -> None:
        if not (isinstance(value, (int, float)) and value == -1):
            check(function(request, milliseconds(value, what)), url)

    return put


def _give_up_after(request: ctypes.c_void_p, value: Any, url: str) -> None:
    # On the C side 0 means "not given"; 1 is as good as no wait.
    wait = 1 if isinstance(value, (int, float)) and value == 0 else milliseconds(value, "give_up_after")
    check(quick.nh_request_set_give_up_after(request, wait), url)


def _bounded(what: str, least: int, most: int) -> Callable[[Any], int]:
    def made(value: Any) -> int:
        given = whole(value, what)
        if not least <= given <= most:
            raise error_for(abi.INVALID, f"{what} must be {least} to {most}, not {given}", None)
        return given

    return made


def _amount(what: str) -> _Setter:
    return _number(what, lambda value: amount(value, what))


def _flag(what: str) -> _Setter:
    return _number(what, lambda value: flag(value, what))


def _word(what: str, words: Mapping[str, int]) -> Callable[[Any], int]:
    return lambda value: chosen(value, words, what)


_LIFETIMES = ("validator_ttl", "image_ttl", "no_cache_ttl")
_FREEZING_LIMITS = ("attempts", "longest", "key_lifetime")
_SETTERS: Dict[str, _Setter] = {
    "method": _text("method"),
    "headers": _headers,
    "body": put_body,
    "user": _user,
    "sign_in": _number("sign_in", _word("sign_in", SIGN_INS)),
    "bearer": _bearer,
    "cert": _cert,
    "netrc": _netrc,
    "timeout": _limit("timeout"),
    "deadline": _limit("deadline"),
    "_batched": _flag("batched"),
    "give_up_after": _give_up_after,
    "_place": _place,
    "retries": _number("retries", retries),
    "max_bytes": _amount("max_bytes"),
    "max_pixels": _amount("max_pixels"),
    "mode": _number("mode", _word("mode", MODES)),
    "enlarge": _flag("enlarge"),
    "quality": _number("quality", _word("quality", QUALITIES)),
    "allow_truncated": _flag("allow_truncated"),
    "early_stop": _flag("early_stop"),
    "delivery": _number("delivery", _word("delivery", DELIVERIES)),
    "priority": _number("priority", _bounded("priority", -10, 10)),
    "tag": _text("tag"),
    "policy": _number("policy", _word("policy", POLICIES)),
    "guard": _number("guard", _word("guard", GUARDS)),
    "cache_key": _text("cache_key"),
    "ignore_query": _flag("ignore_query"),
    "partition": _text("partition"),
    "progress": _flag("progress"),
    "resume": _flag("resume"),
    "freezable": _flag("freezable"),
    "durable": _flag("durable"),
    "queue": _text("outbox_queue"),
    "handler": _text("outbox_handler"),
    "secrets": _secrets,
    "password_provider": _text("password_provider"),
}
