"""Questions of a request to its program, and the replies."""

from __future__ import annotations

import ctypes
from typing import Any, List, Mapping, Optional, Tuple

from . import _prototypes as abi
from ._errors import error_for
from ._library import encode, quick
from ._values import QUESTIONS, pairs, signature

_VERDICTS = {
    True: abi.VERDICT_ACCEPT,
    False: abi.VERDICT_REJECT,
    "accept": abi.VERDICT_ACCEPT,
    "reject": abi.VERDICT_REJECT,
    "retry": abi.VERDICT_RETRY,
}
_NAMES = {number: name for name, number in QUESTIONS.items()}


def reply(question: int, given: Any, url: str) -> Tuple[Optional[abi.nh_reply], Any]:
    """Returns the reply for the library (None: the request goes on without one), and objects that must live as long."""
    if given is None:
        return None, None
    made = abi.nh_reply()
    made.struct_size = ctypes.sizeof(made)
    if question in (abi.ASK_HEADERS, abi.ASK_CHALLENGE):
        lines = header_array(pairs(given))
        made.headers, made.header_count = ctypes.addressof(lines), len(lines)
        return made, lines
    if question == abi.ASK_CREDENTIALS:
        made.user, made.password = signature(given, url)
        return made, None
    if isinstance(given, (bool, str)) and given in _VERDICTS:
        made.verdict = _VERDICTS[given]
        return made, None
    raise error_for(
        abi.INVALID, f"a verdict must be True, False, 'accept', 'reject' or 'retry', not {given!r}", url
    )


def ask(options: Mapping[str, Any], question: int, event: Any) -> Any:
    """Calls the function that a request names for a question. Returns its result, or None if there is no function."""
    function = options.get(_NAMES.get(question, ""))
    return None if function is None else function(event.response or event.url)


def tell(ticket: ctypes.c_void_p, question: int, given: Any, url: str) -> None:
    """Sends the reply to the last question of a ticket."""
    if hasattr(given, "__await__"):
        given.close()
        raise error_for(abi.INVALID, "an async function can't be called here; use AsyncCache", url)
    made, kept = reply(question, given, url)
    # Ignore the status: the request may have ended meanwhile, and the question with it.
    quick.nh_answer(ticket, None if made is None else ctypes.byref(made))
    del kept


def header_array(lines: List[Tuple[str, str]]) -> Any:
    """Returns headers as an array for the library. Keep the array while the library reads it."""
    made = (abi.nh_header * len(lines))()
    for place, (name, value) in enumerate(lines):
        made[place].name, made[place].value = encode(name, "header"), encode(value, "header")
    return made
