"""Information about requests in the outbox."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional

from . import _prototypes as abi
from ._library import check, quick, shown
from ._response import Response

#: The states of a request.
STATES = {
    abi.FROZEN_WAITING: "waiting",
    abi.FROZEN_SENDING: "sending",
    abi.FROZEN_PAUSED: "paused",
    abi.FROZEN_DONE: "done",
    abi.FROZEN_DEAD: "dead",
}


class Attempt:
    """An attempt to send a request after which it stayed in the outbox."""

    __slots__ = ("code", "reason", "status", "time")

    #: Seconds since 1970.
    time: int
    #: The status of the answer; None if there was none.
    status: Optional[int]
    #: The error if there was no answer, as a stable word, or None.
    code: Optional[str]
    #: What happened, in words.
    reason: str

    def __init__(self, told: abi.nh_frozen_attempt) -> None:
        self.time, self.status = told.time, told.http_status or None
        self.code = None if told.code == abi.OK else abi.WORDS.get(told.code, "internal")
        self.reason = _text(told.reason) or ""

    def __repr__(self) -> str:
        return f"<Attempt {self.time} {self.reason}>"


class FrozenRequest:
    """A request in the outbox, as it was when it was looked up."""

    __slots__ = (
        "attempts", "body_size", "code", "frozen_at", "handler", "history", "id", "key", "method", "queue", "reason",
        "state", "status", "tag", "url", "wait",
    )  # fmt: skip

    #: Its number. No other request of the directory ever gets the same one.
    id: int
    #: "waiting" (for the network, for its next attempt, or for the requests before it), "sending", "paused" (the server
    #: needs other credentials, and the whole queue waits), "done", or "dead" (it failed; see ``reason``).
    state: str
    method: str
    #: The URL as it was passed, without password. For a request of a site, the absolute URL.
    url: str
    #: The name of its queue, or its URL's origin.
    queue: str
    #: The name of the handler that gets the outcome.
    handler: Optional[str]
    tag: Optional[str]
    #: The ``Idempotency-Key`` that every attempt is sent with.
    key: Optional[str]
    #: Why it isn't done, in words and as a stable word.
    reason: Optional[str]
    code: Optional[str]
    body_size: int
    #: When it was frozen, in seconds since 1970.
    frozen_at: int
    #: Seconds until the next attempt; None if that doesn't depend on time.
    wait: Optional[int]
    #: The number of attempts since it was frozen.
    attempts: int
    #: The status of the last answer; None if there is none.
    status: Optional[int]
    #: The last attempts, oldest first, up to 32.
    history: List[Attempt]

    def __init__(self, handle: Any) -> None:
        info = abi.nh_frozen_info()
        info.struct_size = ctypes.sizeof(info)
        check(quick.nh_frozen_get_info(handle, ctypes.byref(info)))
        self.id, self.state = info.id, STATES.get(info.state, "waiting")
        self.method, self.url, self.queue = (
            _text(text) or "" for text in (info.method, info.url, info.queue)
        )
        self.handler, self.tag, self.key = (_text(text) for text in (info.handler, info.tag, info.key))
        self.reason = _text(info.reason)
        self.code = None if info.code == abi.OK else abi.WORDS.get(info.code, "internal")
        self.body_size, self.frozen_at, self.attempts = info.body_size, info.frozen_at, info.attempts
        self.wait = None if info.wait < 0 else info.wait
        self.status = info.http_status or None
        self.history = []
        for index in range(info.history_count):
            told = abi.nh_frozen_attempt()
            told.struct_size = ctypes.sizeof(told)
            check(quick.nh_frozen_attempt_at(handle, index, ctypes.byref(told)))
            self.history.append(Attempt(told))

    def __repr__(self) -> str:
        return f"<FrozenRequest {self.id} {self.state} {self.method} {shown(self.url)}>"


class Outcome:
    """The outcome of a request in the outbox."""

    __slots__ = ("request", "response")

    #: The request.
    request: FrozenRequest
    #: The answer, with up to 1 MiB of its body; None if there was none.
    response: Optional[Response]

    def __init__(self, request: FrozenRequest, response: Optional[Response]) -> None:
        self.request, self.response = request, response

    @property
    def id(self) -> int:
        """The request's number."""
        return self.request.id

    @property
    def ok(self) -> bool:
        """Whether the server accepted it (2xx). Otherwise the request is dead; :meth:`Outbox.replay` sends it again."""
        return self.request.state == "done"

    @property
    def status(self) -> Optional[int]:
        """The status of the last answer; None if there was none."""
        return self.request.status

    @property
    def reason(self) -> Optional[str]:
        """Why the request is dead; None if it is done."""
        return self.request.reason

    def __repr__(self) -> str:
        return f"<Outcome {self.id} {'ok' if self.ok else self.reason} {shown(self.request.url)}>"


def _text(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "replace")
