# Generated from options.toml by Scripts/make-header, and from _async.py; edit those instead.

import asyncio
import os
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type, Union
from ._async_fetching import AsyncFetching
from ._async_outbox import AsyncOutbox
from ._async_site import AsyncSite
from ._cache import Cache
from ._fetching import Fetching
from ._later import _wishes
from ._option_values import AskChallenge, AskCredentials, AskHeaders, AskVerdict, Certificate, ConfigFile, FileName, HeaderArgument, Netrc, Secrets, User
from ._port import Port
from ._quantities import ByteCount, Duration, PixelCount
from ._stats import Stats
from ._wishes import Addresses, ByteCheck, CookieJarMode, DecodePlace, OutboxMode, Policy, SignIn, Spill, ThumbStore

class AsyncCache(AsyncFetching):
    """A :class:`Cache` for programs that run on an event loop. Its options are those of ``Cache``.

    Each event loop that uses it gets its own handle of the directory, so threads with event loops can share one object.
    If a task is cancelled while it waits, its request is cancelled. Opening and closing run in a thread.

    >>> async def main():
    ...     async with nuthatch.AsyncCache(directory) as cache:
    ...         image = await cache.thumbnail(picture_url, 64)
    ...         async for event in cache.events(picture_url, 64):
    ...             print(event.kind, event.is_final, event.image.size)
    ...         async for item in cache.prefetch([picture_url, missing_url], sizes=[64]):
    ...             print(item.index, item.ok)
    >>> asyncio.run(main())
    cached True (64, 48)
    0 True
    1 False

    :param policy: which stored answers count as fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
    :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
    :param image_ttl: kit: how long pictures without any caching header are fresh. Default: 7d.
    :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
    :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
        fresh. Default: 0.1.
    :param timeout: longest time without a byte: connecting, waiting, between two bytes. Default: 30s. None: no
        limit.
    :param deadline: longest time for the whole request. Default: two minutes for pictures, else none. None: no
        limit.
    :param retries: further attempts after a failed one. Default: 3.
    :param max_bytes: largest body. Default: 64MiB. None: no limit.
    :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
    :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
    :param proxy: proxy for all requests; empty for none. Default: from the environment. "": none.
    :param headers: headers to send, in this order. Default: none.
    :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
    :param user_agent: value of the User-Agent header. Default: nuthatch/VERSION. "": an empty header.
    :param accept: value of the Accept header, or the word modern. Default: anything; for pictures, JPEG, PNG
        and GIF first. "": an empty header.
    :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
        None: none.
    :param partition: name that separates these answers from others, instead of the credentials. Default: the
        credentials.
    :param secrets: providers of the values of secret headers, for later attempts. Default: none.
    :param memory_bytes: memory that this process may use for stored things, mostly decoded thumbnails. Default:
        the smaller of 64 MiB and an eighth of the memory.
    :param memory_items: how many things this process may keep in memory. Default: as many as fit. None: no
        limit.
    :param disk_bytes: disk space of the directory, without the outbox. Default: the limit that was set before,
        else 4 GiB.
    :param spill: when new answers are written to disk: "eager" or "pressure". Default: like the directory's
        first open in this process, else eager.
    :param thumb_store: how thumbnails are stored on disk: "packed", "lossless", "raw" or "small". Default: like
        the directory's first open in this process, else packed.
    :param keep_source: store the bodies of pictures, so that other sizes can be made of them. Default: like the
        directory's first open in this process, else yes.
    :param allow_files: allow file: URLs; they can read any file that this process may read. Default: no.
    :param outbox: whether this process sends the requests of the directory's outbox: "auto" or "off". Default:
        auto.
    :param outbox_bytes: disk space of the outbox; requests beyond it are refused. Default: like the directory's
        first open in this process, else 256 MiB. None: no limit.
    :param outbox_items: how many requests the outbox may hold, including those whose outcome waits. Default:
        like the directory's first open in this process, else 10,000. None: no limit.
    :param redirects: how many redirects are followed. Default: 10.
    :param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
        else the system's. "": as if not set.
    :param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
        rehash`). Default: from the environment, else the system's. "": as if not set.
    :param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
    :param check_bytes: when bytes read from the disk are compared with their checksum: "first" or "always".
        Default: like the directory's first open in this process, else first.
    :param expire_after: how long answers are fresh after they came; replaces their headers. Default: by headers
        and policy.
    :param config: a config file with options, and with sections for hosts. Default: none. True: the usual
        files; False or None: none.
    :param decode: where pictures are decoded: "here" or "isolated". Default: here.
    :param ask_headers: a function that is called with the URL before anything is looked up or sent, and returns
        headers to add.
    :param ask_credentials: a function that is called with a 401 of the URL's own origin, and returns user and
        password, or None.
    :param ask_challenge: a function that is called with a 401 of the URL's own origin, and returns headers for
        another attempt, or None.
    :param ask_verdict: a function that gets an answer from the network before it is stored: returns True, False
        (it fails) or "retry".
    """
    def __init__(
        self, path: Union[str, os.PathLike[str], None]=None,
        *,
        policy: Optional[Policy] = ...,
        validator_ttl: Duration = ...,
        image_ttl: Duration = ...,
        no_cache_ttl: Duration = ...,
        heuristic: Optional[float] = ...,
        timeout: Duration = ...,
        deadline: Duration = ...,
        retries: Optional[int] = ...,
        max_bytes: ByteCount = ...,
        max_pixels: PixelCount = ...,
        addresses: Optional[Addresses] = ...,
        proxy: Optional[str] = ...,
        headers: HeaderArgument = ...,
        keep_headers_across_origins: Optional[Sequence[str]] = ...,
        user_agent: Optional[str] = ...,
        accept: Optional[str] = ...,
        netrc: Netrc = ...,
        partition: Optional[str] = ...,
        secrets: Secrets = ...,
        memory_bytes: ByteCount = ...,
        memory_items: Optional[int] = ...,
        disk_bytes: ByteCount = ...,
        spill: Optional[Spill] = ...,
        thumb_store: Optional[ThumbStore] = ...,
        keep_source: Optional[bool] = ...,
        allow_files: Optional[bool] = ...,
        outbox: Optional[OutboxMode] = ...,
        outbox_bytes: ByteCount = ...,
        outbox_items: Optional[int] = ...,
        redirects: Optional[int] = ...,
        ca_file: FileName = ...,
        ca_dir: FileName = ...,
        insecure: Optional[bool] = ...,
        check_bytes: Optional[ByteCheck] = ...,
        expire_after: Duration = ...,
        config: ConfigFile = ...,
        decode: Optional[DecodePlace] = ...,
        ask_headers: AskHeaders = ...,
        ask_credentials: AskCredentials = ...,
        ask_challenge: AskChallenge = ...,
        ask_verdict: AskVerdict = ...,
    ) -> None: ...
    def site(
        self, base_url: str,
        *,
        policy: Optional[Policy] = ...,
        validator_ttl: Duration = ...,
        image_ttl: Duration = ...,
        no_cache_ttl: Duration = ...,
        heuristic: Optional[float] = ...,
        timeout: Duration = ...,
        deadline: Duration = ...,
        retries: Optional[int] = ...,
        max_bytes: ByteCount = ...,
        max_pixels: PixelCount = ...,
        addresses: Optional[Addresses] = ...,
        proxy: Optional[str] = ...,
        headers: HeaderArgument = ...,
        keep_headers_across_origins: Optional[Sequence[str]] = ...,
        user_agent: Optional[str] = ...,
        accept: Optional[str] = ...,
        user: User = ...,
        sign_in: Optional[SignIn] = ...,
        cert: Certificate = ...,
        netrc: Netrc = ...,
        partition: Optional[str] = ...,
        cookie_jar: Optional[CookieJarMode] = ...,
        secrets: Secrets = ...,
        password_provider: Optional[str] = ...,
        redirects: Optional[int] = ...,
        ca_file: FileName = ...,
        ca_dir: FileName = ...,
        insecure: Optional[bool] = ...,
        expire_after: Duration = ...,
        decode: Optional[DecodePlace] = ...,
        ask_headers: AskHeaders = ...,
        ask_credentials: AskCredentials = ...,
        ask_challenge: AskChallenge = ...,
        ask_verdict: AskVerdict = ...,
    ) -> AsyncSite:
        """As :meth:`Cache.site`, with methods to be awaited.

        :param policy: which stored answers count as fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
        :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
        :param image_ttl: kit: how long pictures without any caching header are fresh. Default: 7d.
        :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
        :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
            fresh. Default: 0.1.
        :param timeout: longest time without a byte: connecting, waiting, between two bytes. Default: 30s. None: no
            limit.
        :param deadline: longest time for the whole request. Default: two minutes for pictures, else none. None: no
            limit.
        :param retries: further attempts after a failed one. Default: 3.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
        :param proxy: proxy for all requests; empty for none. Default: from the environment. "": none.
        :param headers: headers to send, in this order. Default: none.
        :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
        :param user_agent: value of the User-Agent header. Default: nuthatch/VERSION. "": an empty header.
        :param accept: value of the Accept header, or the word modern. Default: anything; for pictures, JPEG, PNG
            and GIF first. "": an empty header.
        :param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
            netrc has a user.
        :param sign_in: how user and password are sent: "basic", "digest", "ntlm", "negotiate" or "any". Default:
            basic.
        :param cert: client certificate, a file in PEM. Default: none.
        :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
            None: none.
        :param partition: name that separates these answers from others, instead of the credentials. Default: the
            credentials.
        :param cookie_jar: whether cookies that the servers set are sent back, and where they are stored: "off",
            "memory" or "disk". Default: off.
        :param secrets: providers of the values of secret headers, for later attempts. Default: none.
        :param password_provider: provider of the password of user. Default: none.
        :param redirects: how many redirects are followed. Default: 10.
        :param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
            else the system's. "": as if not set.
        :param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
            rehash`). Default: from the environment, else the system's. "": as if not set.
        :param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
        :param expire_after: how long answers are fresh after they came; replaces their headers. Default: by headers
            and policy.
        :param decode: where pictures are decoded: "here" or "isolated". Default: here.
        :param ask_headers: a function that is called with the URL before anything is looked up or sent, and returns
            headers to add.
        :param ask_credentials: a function that is called with a 401 of the URL's own origin, and returns user and
            password, or None.
        :param ask_challenge: a function that is called with a 401 of the URL's own origin, and returns headers for
            another attempt, or None.
        :param ask_verdict: a function that gets an answer from the network before it is stored: returns True, False
            (it fails) or "retry".
        """
    def cancel_all(self, tag: Optional[str]=None) -> None:
        """As :meth:`Cache.cancel_all`."""
    @property
    def activity(self) -> int:
        """As :attr:`Cache.activity`."""
    @property
    def outbox(self) -> AsyncOutbox:
        """The requests that wait for the network, and their outcomes."""
    @property
    def options(self) -> _wishes.CacheWishes:
        """As :attr:`Cache.options`."""
    def stats(self) -> Stats:
        """As :meth:`Cache.stats`."""
    @property
    def closed(self) -> bool:
        """Whether the cache has been closed."""
    async def remove(
        self, url: str,
        *,
        headers: HeaderArgument = ...,
        keep_headers_across_origins: Optional[Sequence[str]] = ...,
        user: User = ...,
        bearer: Optional[str] = ...,
        sign_in: Optional[SignIn] = ...,
        cert: Certificate = ...,
        netrc: Netrc = ...,
        partition: Optional[str] = ...,
        cache_key: Optional[str] = ...,
        ignore_query: Optional[bool] = ...,
        redirects: Optional[int] = ...,
        ca_file: FileName = ...,
        ca_dir: FileName = ...,
        insecure: Optional[bool] = ...,
    ) -> None:
        """As :meth:`Cache.remove`.

        :param headers: headers to send, in this order. Default: none.
        :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
        :param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
            netrc has a user.
        :param bearer: token to sign in with, sent to the origin of the URL and to no other. Default: none.
        :param sign_in: how user and password are sent: "basic", "digest", "ntlm", "negotiate" or "any". Default:
            basic.
        :param cert: client certificate, a file in PEM. Default: none.
        :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
            None: none.
        :param partition: name that separates these answers from others, instead of the credentials. Default: the
            credentials.
        :param cache_key: cache key of the answer, instead of the URL. Default: the URL.
        :param ignore_query: store and find the answer by the URL without its query. Default: no.
        :param redirects: how many redirects are followed. Default: 10.
        :param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
            else the system's. "": as if not set.
        :param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
            rehash`). Default: from the environment, else the system's. "": as if not set.
        :param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
        """
    async def clear(self) -> None:
        """As :meth:`Cache.clear`."""
    async def trim(self, disk_bytes: ByteCount) -> None:
        """As :meth:`Cache.trim`."""
    async def flush(self) -> None:
        """As :meth:`Cache.flush`."""
    async def wait_idle(self, timeout: Duration=None) -> bool:
        """As :meth:`Cache.wait_idle`."""
    async def close(self, drain: Duration=None) -> None:
        """Closes the cache on every event loop. Requests under way raise :class:`Closed`. May be called again.

        :param drain: as for :meth:`Cache.close`. If the task is cancelled while it waits, the cache is closed all the
            same.
        """
    async def _close_all(self) -> None: ...
    async def __aenter__(self) -> AsyncCache: ...
    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]) -> None: ...
    def __del__(self, _is_ending: Callable[[], bool]=...) -> None: ...
    def _reduced(self) -> Tuple[Any, ...]: ...
    def __reduce__(self) -> Tuple[Any, ...]: ...
    def __copy__(self) -> AsyncCache: ...
    def __deepcopy__(self, memo: Any) -> AsyncCache: ...
    def __repr__(self) -> str: ...
    @property
    def _owner(self) -> AsyncCache: ...
    def _by(self, port: Port) -> Fetching: ...
    def _own(self) -> List[Port]: ...
    def _make(self) -> Cache: ...
    def _check(self) -> None: ...
    async def _opened(self) -> Port: ...
    async def _add(self, loop: asyncio.AbstractEventLoop, cache: Cache) -> Port: ...
    def _port(self) -> Port: ...
    async def _off_the_loop(self, what: str, *arguments: Any, **options: Any) -> None: ...
    _path: Union[str, os.PathLike[str], None]
    _options: Dict[str, Any]
    _ports: Dict[asyncio.AbstractEventLoop, Port]
    _is_closed: bool
