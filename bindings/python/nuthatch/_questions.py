"""What a request asks its program, and how the library hears the answer."""

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
    """What the library is told (None: nothing, and it goes on without), and what must live until it has been."""
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
    """What the function that a request names says to a question; None where it names none."""
    function = options.get(_NAMES.get(question, ""))
    return None if function is None else function(event.response or event.url)


def tell(ticket: ctypes.c_void_p, question: int, given: Any, url: str) -> None:
    """Answers the question that a ticket asked last."""
    if hasattr(given, "__await__"):
        given.close()
        raise error_for(abi.INVALID, "an async function can't be asked here; AsyncCache can", url)
    made, kept = reply(question, given, url)
    # The question may have ended meanwhile, with its request.
    quick.nh_answer(ticket, None if made is None else ctypes.byref(made))
    del kept


def header_array(lines: List[Tuple[str, str]]) -> Any:
    """Headers as the library reads them; to be kept for as long as it does."""
    made = (abi.nh_header * len(lines))()
    for place, (name, value) in enumerate(lines):
        made[place].name, made[place].value = encode(name, "header"), encode(value, "header")
    return made
