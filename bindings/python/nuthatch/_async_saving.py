"""Saves answers while they arrive, for programs that run on an event loop."""

from __future__ import annotations

import asyncio
import inspect
import socket
from typing import Any, Awaitable, Callable, Dict, Optional

from ._saving import sinks, taken, takers

#: The most bytes that are given at once.
PIECE = 1 << 18


class Stream:
    """Gives the pieces of an answer to functions on an event loop. They may be ``async``.

    The pieces come through a pair of sockets. While a function doesn't take them, the socket is full and the transfer
    waits, so memory is limited. Events of the library can't be used: they are taken for all requests together, and one
    slow function would delay the other requests.
    """

    def __init__(self, save_to: Any) -> None:
        self._takers = takers(save_to)
        self._others = [sink for sink in sinks(save_to) if not callable(sink)]
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)

    @classmethod
    def of(cls, options: Dict[str, Any]) -> Optional[Stream]:
        """Returns a stream if an option names functions that save the answer, or None."""
        return cls(options["save_to"]) if takers(options.get("save_to")) else None

    def begun(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the options for the library, with the socket in place of the functions."""
        return {**options, "save_to": [*self._others, self._writing.fileno()]}

    def handed_over(self) -> None:
        """Closes our copy of the descriptor. When the library closes its own, the reading socket reaches its end."""
        self._writing.close()

    def close(self) -> None:
        """Closes both sockets."""
        self._reading.close()
        self._writing.close()

    async def give(self, then: Callable[[bytes], Awaitable[None]]) -> None:
        """Gives each piece to the functions, and then to ``then``, until the end of the answer."""
        loop = asyncio.get_running_loop()
        while True:
            piece = await loop.sock_recv(self._reading, PIECE)
            if not piece:
                return
            for taker in self._takers:
                given = taken(taker, piece)
                if inspect.isawaitable(given):
                    await given
            await then(piece)
