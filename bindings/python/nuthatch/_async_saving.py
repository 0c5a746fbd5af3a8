"""Where answers go while they come, for programs that run on an event loop."""

import asyncio
import inspect
import socket
from typing import Any, Awaitable, Callable, Dict, Optional

from ._saving import sinks, taken, takers

#: The most that is given at once.
PIECE = 1 << 18


class Stream:
    """The pieces of an answer, for functions on an event loop that may be ``async``.

    They come by a pair of sockets: what isn't taken yet holds the transfer up, and no more of it is in memory than a
    socket holds. Events of the library wouldn't do: they are taken for all requests together, whichever of them has to
    wait.
    """

    def __init__(self, save_to: Any) -> None:
        self._takers = takers(save_to)
        self._others = [sink for sink in sinks(save_to) if not callable(sink)]
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)

    @classmethod
    def of(cls, options: Dict[str, Any]) -> "Optional[Stream]":
        """What a request needs; None where its answer is given to no function."""
        return cls(options["save_to"]) if takers(options.get("save_to")) else None

    def begun(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """The options that the library is told."""
        return {**options, "save_to": [*self._others, self._writing.fileno()]}

    def handed_over(self) -> None:
        """The library has a descriptor of its own now: when it closes that, there is an end to read."""
        self._writing.close()

    def close(self) -> None:
        """Gives no more."""
        self._reading.close()
        self._writing.close()

    async def give(self, then: Callable[[bytes], Awaitable[None]]) -> None:
        """Gives piece after piece to the functions, and then to ``then``, until the last."""
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
