"""URLs of a prefetch that wait for their hosts."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Deque, Dict, Optional, Tuple

#: The number of requests under way at one host, at first and at most. It grows by 4 after every good answer.
FIRST_SHARE, LARGEST_SHARE = 8, 64
#: The most bytes of URLs that wait, and the most requests under way.
MOST_BYTES, MOST_UNDER_WAY = 32 << 20, 16_384
#: The most URLs that wait, as a multiple of ``enough``.
LOOK_AHEAD = 8
#: Memory for one URL beside its text, in bytes; an estimate.
OVERHEAD = 200
#: A host is silent if no answer came for so many seconds. Its requests don't stop the reading of more URLs.
SILENCE = 1.0


class _Host:
    __slots__ = ("is_waiting_for_turn", "last_sign", "share", "under_way", "waiting")

    def __init__(self) -> None:
        self.under_way, self.share, self.last_sign = 0, FIRST_SHARE, 0.0
        self.waiting: Deque[Tuple[int, Any]] = deque()
        self.is_waiting_for_turn = False


class Backlog:
    """Decides which URL starts next, and whether to read more URLs.

    A host has a few requests under way at a time. The rest of its URLs wait here, so that a host that hangs, or URLs
    that are sorted by host, don't delay other hosts. More URLs are read until ``enough`` requests are under way, or
    eight times as many URLs wait, at hosts that answer.
    """

    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._hosts: Dict[str, _Host] = {}
        #: Hosts that have room and URLs, longest waiting first.
        self._turns: Deque[str] = deque()
        self._under_way: Dict[int, str] = {}
        self._bytes = self._waiting = 0
        #: The number of requests under way, and of URLs that wait, at silent hosts.
        self._silent = (0, 0)
        self._judged_at = 0.0

    def __bool__(self) -> bool:
        """Returns whether a URL waits or is under way."""
        return bool(self._hosts)

    def wants_more(self) -> bool:
        """Returns whether to read more URLs."""
        if len(self._under_way) >= MOST_UNDER_WAY or self._bytes >= MOST_BYTES:
            return False
        self._judge()
        under_way, waiting = self._silent
        return (
            len(self._under_way) - under_way < self._enough
            and self._waiting - waiting < LOOK_AHEAD * self._enough
        )

    def add(self, number: int, url: Any) -> None:
        """Adds a URL that was read, or that must start again."""
        name = _host(url)
        host = self._hosts.setdefault(name, _Host())
        host.waiting.append((number, url))
        self._waiting += 1
        self._bytes += _size(url)
        self._offer_turn(name, host)

    def next(self) -> Optional[Tuple[int, Any]]:
        """Takes the next URL whose host has room, and counts it as under way. Returns None if there is none."""
        if not self._turns:
            return None
        name = self._turns.popleft()
        host = self._hosts[name]
        host.is_waiting_for_turn = False
        number, url = host.waiting.popleft()
        self._waiting -= 1
        self._bytes -= _size(url)
        if host.under_way == 0:
            host.last_sign = time.monotonic()
        host.under_way += 1
        self._under_way[number] = name
        self._offer_turn(name, host)
        return number, url

    def end(self, number: int, is_good: bool) -> None:
        """Notes that a URL that was under way has ended."""
        name = self._under_way.pop(number, None)
        if name is None:
            return
        host = self._hosts[name]
        host.under_way -= 1
        host.last_sign = time.monotonic()
        host.share = min(host.share + 4, LARGEST_SHARE) if is_good else FIRST_SHARE
        self._offer_turn(name, host)
        if host.under_way == 0 and not host.waiting:
            del self._hosts[name]

    def _offer_turn(self, name: str, host: _Host) -> None:
        if not host.is_waiting_for_turn and host.waiting and host.under_way < host.share:
            host.is_waiting_for_turn = True
            self._turns.append(name)

    def _judge(self) -> None:
        now = time.monotonic()
        if now - self._judged_at > SILENCE / 4:
            self._judged_at = now
            silent = [
                host for host in self._hosts.values() if host.under_way and now - host.last_sign > SILENCE
            ]
            self._silent = (sum(host.under_way for host in silent), sum(len(host.waiting) for host in silent))


def _host(url: Any) -> str:
    """Returns the host of a URL. Texts that are no URL share the host ``""``; their requests fail."""
    if not isinstance(url, str):
        return ""
    place = url.find("//")
    return url[place + 2 :].split("/", 1)[0].lower() if place >= 0 else ""


def _size(url: Any) -> int:
    return OVERHEAD + (len(url) if isinstance(url, str) else 0)
