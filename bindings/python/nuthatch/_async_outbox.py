"""The outbox, for programs that run on an event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Union, cast

from . import _prototypes as abi
from ._errors import error_for
from ._frozen import FrozenRequest, Outcome
from ._outbox import Outbox, Secret
from ._quantities import Duration, lasting, moment

if TYPE_CHECKING:
    from ._async import AsyncCache
else:
    # Not imported: that module imports this one. At run time, the type hint is Any.
    AsyncCache = Any


class AsyncOutbox:
    """An :class:`Outbox` whose methods are awaited: :attr:`AsyncCache.outbox`.

    A function runs on the event loop on which it was attached. It may be ``async``, and needs no call of
    ``dispatch``."""

    def __init__(self, owner: AsyncCache) -> None:
        self._owner = owner

    async def list(self) -> List[FrozenRequest]:
        """As :meth:`Outbox.list`."""
        return cast("List[FrozenRequest]", await self._off_the_loop("list"))

    async def get(self, id: int) -> Optional[FrozenRequest]:
        """As :meth:`Outbox.get`."""
        return cast(Optional[FrozenRequest], await self._off_the_loop("get", id))

    async def outcome(self, id: int) -> Optional[Outcome]:
        """As :meth:`Outbox.outcome`."""
        return cast(Optional[Outcome], await self._off_the_loop("outcome", id))

    async def collect(self, id: int) -> Optional[Outcome]:
        """As :meth:`Outbox.collect`."""
        return cast(Optional[Outcome], await self._off_the_loop("collect", id))

    async def wait(self, id: int, timeout: Duration = None) -> Outcome:
        """As :meth:`Outbox.wait`."""
        loop = asyncio.get_running_loop()
        due = moment(timeout, loop.time())
        while True:
            outcome = await self.outcome(id)
            if outcome is not None:
                return outcome
            if await self.get(id) is None:
                raise error_for(abi.INVALID, f"there is no request {id} in the outbox", None)
            if due is not None and loop.time() >= due:
                raise error_for(abi.TIMEOUT, f"request {id} has not ended after {lasting(timeout)}", None)
            await asyncio.sleep(0.05)

    async def replay(self, id: Optional[int] = None) -> int:
        """As :meth:`Outbox.replay`."""
        return cast(int, await self._off_the_loop("replay", id))

    async def drop(self, id: int) -> bool:
        """As :meth:`Outbox.drop`."""
        return cast(bool, await self._off_the_loop("drop", id))

    def attach(self, handler: str, function: Callable[[Outcome], Any]) -> None:
        """As :meth:`Outbox.attach`."""
        self._here().attach(handler, function)

    def detach(self, handler: str) -> None:
        """As :meth:`Outbox.detach`."""
        for port in self._owner._own():
            port.cache.outbox.detach(handler)

    def provide(self, provider: str, secret: Union[Secret, Callable[[str], Any]]) -> None:
        """As :meth:`Outbox.provide`. An ``async`` function is called only for requests that wait in the outbox."""
        self._here().provide(provider, cast(Any, secret))

    def _here(self) -> Outbox:
        port = self._owner._port()
        port.listen()
        return port.cache.outbox

    async def _off_the_loop(self, what: str, *arguments: Any) -> Any:
        port = await self._owner._opened()
        return await port.loop.run_in_executor(None, getattr(port.cache.outbox, what), *arguments)
