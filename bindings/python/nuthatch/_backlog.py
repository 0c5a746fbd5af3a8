"""URLs of a prefetch that wait for their hosts."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Set, Tuple

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
    __slots__ = (
        "is_waiting_for_turn",
        "last_sign",
        "next_scout_at",
        "scout_count",
        "scouts",
        "scouts_due",
        "share",
        "under_way",
        "waiting",
    )

    def __init__(self) -> None:
        self.under_way, self.share, self.last_sign = 0, FIRST_SHARE, 0.0
        self.waiting: Deque[Tuple[int, Any]] = deque()
        self.is_waiting_for_turn = False
        #: The numbers of scouts: under way, that may start now, and in all; and when the next one may start in silence.
        self.scouts = self.scouts_due = self.scout_count = 0
        self.next_scout_at = 0.0

    @property
    def is_full(self) -> bool:
        return self.under_way - self.scouts >= self.share


class Backlog:
    """Decides which URL starts next, and whether to read more URLs.

    A host has a few requests under way at a time. The rest of its URLs wait here, so that a host that hangs, or URLs
    that are sorted by host, don't delay other hosts. More URLs are read until ``enough`` requests are under way, or
    eight times as many URLs wait, at hosts that answer.

    If a full host is silent, *scouts* are tried, URLs from here and there in its line: maybe only some pages fail, and
    stand side by side. The first starts after a second, the next after 2, 4, 6 and so on more. Each good one lets two
    more follow.
    """

    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._hosts: Dict[str, _Host] = {}
        #: Hosts that have room and URLs, longest waiting first.
        self._turns: Deque[str] = deque()
        self._under_way: Dict[int, str] = {}
        #: Hosts whose scouts may start, and the numbers of the scouts that are under way.
        self._scouting: List[str] = []
        self._scouts: Set[int] = set()
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
            self._judge()
            return self._next_scout()
        name = self._turns.popleft()
        host = self._hosts[name]
        host.is_waiting_for_turn = False
        found = self._begin(name, host, 0)
        self._offer_turn(name, host)
        return found

    def _begin(self, name: str, host: _Host, place: int) -> Tuple[int, Any]:
        number, url = host.waiting[place]
        del host.waiting[place]
        self._waiting -= 1
        self._bytes -= _size(url)
        if host.under_way == 0:
            host.last_sign = time.monotonic()
        host.under_way += 1
        self._under_way[number] = name
        return number, url

    def _next_scout(self) -> Optional[Tuple[int, Any]]:
        while self._scouting and len(self._under_way) < MOST_UNDER_WAY // 4:
            name = self._scouting[-1]
            host = self._hosts.get(name)
            if host and host.scouts_due and host.waiting and host.is_full:
                host.scouts_due -= 1
                host.scout_count += 1
                host.scouts += 1
                host.next_scout_at = time.monotonic() + 2 * SILENCE * host.scouts
                # Places that lie as far apart as possible, however many they are.
                found = self._begin(name, host, int(0.618034 * host.scout_count % 1 * len(host.waiting)))
                self._scouts.add(found[0])
                return found
            if host:
                host.scouts_due = 0
            self._scouting.pop()
        return None

    def _offer_scouts(self, name: str, host: _Host, count: int) -> None:
        if host.scouts_due == 0:
            self._scouting.append(name)
        host.scouts_due = min(host.scouts_due + count, FIRST_SHARE)

    def end(self, number: int, is_good: bool) -> None:
        """Notes that a URL that was under way has ended."""
        name = self._under_way.pop(number, None)
        if name is None:
            return
        host = self._hosts[name]
        host.under_way -= 1
        if number in self._scouts:
            self._scouts.remove(number)
            host.scouts -= 1
            if is_good:
                self._offer_scouts(name, host, 2)
        host.last_sign = time.monotonic()
        host.share = min(host.share + 4, LARGEST_SHARE) if is_good else FIRST_SHARE
        self._offer_turn(name, host)
        if host.under_way == 0 and not host.waiting:
            del self._hosts[name]

    def _offer_turn(self, name: str, host: _Host) -> None:
        if not host.is_waiting_for_turn and host.waiting and not host.is_full:
            host.is_waiting_for_turn = True
            self._turns.append(name)

    def _judge(self) -> None:
        now = time.monotonic()
        if now - self._judged_at > SILENCE / 4:
            self._judged_at = now
            silent = [
                (name, host)
                for name, host in self._hosts.items()
                if host.under_way and now - host.last_sign > SILENCE
            ]
            self._silent = (
                sum(host.under_way for _, host in silent),
                sum(len(host.waiting) for _, host in silent),
            )
            for name, host in silent:
                if host.is_full and now >= host.next_scout_at:
                    self._offer_scouts(name, host, 1)


def _host(url: Any) -> str:
    """Returns the host of a URL. Texts that are no URL share the host ``""``; their requests fail."""
    if not isinstance(url, str):
        return ""
    place = url.find("//")
    return url[place + 2 :].split("/", 1)[0].lower() if place >= 0 else ""


def _size(url: Any) -> int:
    return OVERHEAD + (len(url) if isinstance(url, str) else 0)
