"""Words, numbers and names, as the C side has them."""

import os
from typing import Any, List, Mapping, Optional, Tuple, Union

from . import _prototypes as abi
from ._arguments import fields, number, whole, wrong
from ._errors import error_for
from ._image import Size, sides
from ._library import encode
from ._wishes import HeaderArgument, Netrc

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


def pairs(headers: HeaderArgument) -> List[Tuple[str, str]]:
    """Headers as a list of pairs."""
    lines = fields(headers, "headers")
    for name, value in lines:
        if not isinstance(name, str):
            raise TypeError(f"the name of a header must be a str, not {type(name).__name__}")
        if not isinstance(value, str):
            raise TypeError(f"the value of the header {name!r} must be a str, not {type(value).__name__}")
    return lines


def signature(user: Any, url: Optional[str]) -> Tuple[bytes, bytes]:
    """User and password."""
    # A text would be taken apart into letters.
    if not isinstance(user, (tuple, list)) or len(user) != 2:
        raise error_for(
            abi.INVALID, "user must be name and password, or for a request name, password and host", url
        )
    return encode(user[0], "user"), encode(user[1], "password")


def chosen(word: Optional[str], words: Mapping[str, int], what: str) -> int:
    """The number that an option's word stands for; 0 for none."""
    if word is None:
        return 0
    if not isinstance(word, str) or word not in words:
        raise error_for(abi.INVALID, f"{what} must be one of {list(words)}, not {word!r}", None)
    return words[word]


def milliseconds(seconds: Optional[float], what: str) -> int:
    """As the C side has it: negative for no limit. 0 would mean the default there, so the least is 1."""
    if seconds is None:
        return -1
    wanted = "a positive number of seconds or None"
    given = number(seconds, what, wanted)
    if not given > 0:
        raise error_for(abi.INVALID, f"{what} must be {wanted}, not {seconds!r}", None)
    return max(1, int(min(given, 2**52) * 1000))


def lifetime(seconds: Optional[float], what: str) -> int:
    """A number of the policy in seconds, as the C side has it: 0 for what isn't given, negative for none."""
    if seconds is None:
        return 0
    wanted = "a number of seconds, 0 or more"
    given = number(seconds, what, wanted)
    if not given >= 0:
        raise error_for(abi.INVALID, f"{what} must be {wanted}, not {seconds!r}", None)
    return int(min(given, 2**52)) or -1


def heuristic(share: Optional[float]) -> float:
    """A share of time as the C side has it: 0 for what isn't given, negative for none."""
    if share is None:
        return 0.0
    given = number(share, "heuristic", "a share, 0 to 1")
    if not 0 <= given <= 1:
        raise error_for(abi.INVALID, f"heuristic must be a share, 0 to 1, not {share!r}", None)
    return float(given) or -1.0


def several(sizes: Any) -> List[Size]:
    """Sizes as a list."""
    # The letters of a text, and the numbers of bytes, would be sizes, too.
    if not hasattr(sizes, "__iter__") or isinstance(sizes, (str, bytes, Mapping)):
        raise wrong("sizes", "a sequence of sizes", sizes)
    return list(sizes)


def names(value: Any, what: str) -> str:
    """Several names, with commas between them."""
    if not hasattr(value, "__iter__") or isinstance(value, (str, bytes)):
        raise wrong(what, "a sequence of names", value)
    listed = list(value)
    if not all(isinstance(name, str) for name in listed):
        raise wrong(what, "a sequence of names", value)
    return ",".join(listed)


def boxes_of(sizes: List[Size], url: str) -> List[Tuple[int, int]]:
    """The sides of several boxes."""
    boxes = [sides(size, url) for size in sizes]
    if len(boxes) > 64:
        raise error_for(abi.INVALID, f"{len(boxes)} sizes; 64 at most", url)
    return boxes


def encode_path(path: Union[str, bytes, "os.PathLike[str]"], url: Optional[str], what: str = "path") -> bytes:
    """A file's name as the library takes it."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise error_for(abi.INVALID, f"{what}: half a character in {path!r}", url) from None
    except TypeError:
        raise wrong(what, "a str, bytes or a Path", path) from None
    if b"\0" in encoded:
        raise error_for(abi.INVALID, f"{what}: a NUL character in {path!r}", url)
    return encoded


def netrc_path(value: Netrc) -> Optional[bytes]:
    """A netrc as the library takes it: empty for the usual one, None for none."""
    if value is None or value is False:
        return None
    return b"" if value is True else encode_path(value, None, "netrc")


def retries(value: Optional[int]) -> int:
    """A number of further attempts as the C side has it, where 0 means "not given"."""
    return 0 if value is None else _count(value, "retries", 0) or -1


def attempts(value: Optional[int]) -> int:
    """A number of attempts as the C side has it, where 0 means "not given"."""
    return 0 if value is None else _count(value, "attempts", 1)


def _count(value: int, what: str, least: int) -> int:
    given = whole(value, what)
    if not least <= given < 2**31:
        raise error_for(abi.INVALID, f"{what} must be {least} or more, not {given}", None)
    return given
