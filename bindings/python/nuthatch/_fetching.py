"""Requests of caches and sites."""

from __future__ import annotations

import ctypes
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Union,
    cast,
    overload,
)

from . import _log
from . import _prototypes as abi
from ._arguments import flag
from ._errors import error_for
from ._image import Image, Size, sides
from ._later import _prefetch, _wishes
from ._library import bare, check, encode, last_status, library, quick
from ._options import STRUCTURE, put_structure, ready, request_struct
from ._response import Response
from ._saving import refuse_async
from ._sending import prepared
from ._signatures import explained
from ._ticket import Ticket
from ._values import boxes_of, several

if TYPE_CHECKING:
    from ._cache import Cache

#: Options that make a call read files outside of the cache.
_FILES = frozenset(("save_to", "body", "files", "netrc"))


@explained
class Fetching:
    """The requests of :class:`Cache` and :class:`Site`."""

    #: Functions that answer questions of requests without functions of their own.
    _asks: Dict[str, Any]
    #: The same cache or site with other handles, while these are in use.
    _twins: Set[Any]
    #: Whether requests need a site of the library. Each handle has its own one.
    _is_site = False

    @property
    def _cache(self) -> Cache:
        """The cache whose handle requests use."""
        raise NotImplementedError

    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int:
        """Writes the site of the request into the options. Returns a status."""
        raise NotImplementedError

    def _for(self, cache: Cache) -> Fetching:
        """Returns the same cache or site with another handle of the directory."""
        raise NotImplementedError

    def peek(
        self, url: str, size: Size, *, decode: bool = False, **options: _wishes.Unpack[_wishes.Peeking]
    ) -> Optional[Image]:
        """As :meth:`Cache.peek`."""
        return self._sight(url, size, decode, dict(options))

    # Waiting for answers

    def get(self, url: str, **options: _wishes.Unpack[_wishes.Wishes]) -> Response:
        """Fetches a URL and waits for the answer. Any status is an answer. Redirects are followed (``redirects``).

        Other threads run meanwhile, and Ctrl-C ends the wait and the request.

        :raises TimeoutError, TransportError, TooLarge, BadURL, ...: if there is no answer.

        >>> cache.get(url, headers={"Accept": "text/plain"}).text
        'hello'
        """
        return cast(Response, self._perform(url, None, dict(options)))

    def request(self, method: str, url: str, **options: _wishes.Unpack[_wishes.Sending]) -> Response:
        """Sends a request with any method and waits for the answer.

        >>> cache.request("POST", echo_url, json={"seeds": 3}).json()["body"]
        '{"seeds": 3}'
        >>> cache.request("POST", echo_url, form={"kind": "hazel", "count": 2}).json()["body"]
        'kind=hazel&count=2'
        """
        return cast(Response, self._perform(url, None, {**options, "method": method}))

    def thumbnail(self, url: str, size: Size, **options: _wishes.Unpack[_wishes.Wishes]) -> Image:
        """Returns a picture that fits a box. Uses the network unless a fresh thumbnail is stored.

        :raises HTTPStatusError: if the answer is not a success.

        >>> cache.thumbnail(picture_url, (100, 20), fit="cover").size
        (100, 20)
        """
        return cast(Image, self._perform(url, sides(size, url), dict(options)))

    # Not waiting

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: None = None, **options: _wishes.Unpack[_wishes.Wishes]
    ) -> Ticket[Response]: ...

    @overload
    def submit(
        self, url: str, *, size: Size, sizes: None = None, **options: _wishes.Unpack[_wishes.Wishes]
    ) -> Ticket[Image]: ...

    @overload
    def submit(
        self,
        url: str,
        *,
        size: None = None,
        sizes: Sequence[Size],
        **options: _wishes.Unpack[_wishes.Wishes],
    ) -> Ticket[List[Image]]: ...

    def submit(
        self,
        url: str,
        *,
        size: Optional[Size] = None,
        sizes: Optional[Sequence[Size]] = None,
        **options: _wishes.Unpack[_wishes.Wishes],
    ) -> Ticket[Any]:
        """Starts a request and returns its :class:`Ticket` at once.

        Requests for one URL share one fetch, also with different sizes.

        :param size, sizes: the box that a thumbnail must fit, or several boxes; without either, the ticket gives the
            response itself. They exclude each other.

        ``headers`` is a mapping, or pairs; a name that is given twice is sent twice. ``user`` is a pair to sign in
        with, or a triple with the host, as for :meth:`prefetch`. ``cert`` is the file of a certificate, or a tuple of
        the certificate's file, the key's file and the key's password. Functions such as ``ask_headers`` are called on
        the thread that waits for the ticket.

        If a ``freezable`` request is kept for later, its last event is "frozen". Then :class:`Frozen` is raised, with
        the number of the request in :attr:`Cache.outbox`. ``secrets`` names the providers of headers that must not be
        written to disk: ``{"Authorization": ("Bearer ", "token")}``. The provider "env:NAME" is an environment
        variable; the secrets of other providers are set by :meth:`Outbox.provide`.

        >>> small, large = cache.submit(picture_url, sizes=[64, 256]).result()
        >>> small.size, large.size
        ((64, 48), (256, 192))
        """
        return self._submit(url, size, sizes, dict(options))

    def prefetch(
        self,
        urls: Iterable[str],
        sizes: Union[int, Sequence[Size]] = (256,),
        *,
        progress: bool = False,
        images: bool = False,
        **options: _wishes.Unpack[_wishes.Prefetching],
    ) -> Iterator[_prefetch.Item]:
        """Fetches any number of URLs. Gives an item for each of them when it has ended.

        Reads URLs only as fast as they can be fetched, and holds no pixels. Leaving the loop
        cancels the requests under way. An error is part of an item, and the run goes on. If another process holds the
        cache's lock for more than 30 seconds, nothing can be stored; then nothing is fetched until the lock is free,
        and the log says so.

        :param sizes: the sizes of the thumbnails to store in the cache; ``()`` for the answers themselves.
        :param progress: whether to show the progress on standard error, by tqdm if that is installed, else as a line.
        :param images: whether items hold their images; without sizes, their response.

        The default priority is -5, and a ``deadline`` counts from the first attempt of each URL. Functions in
        ``save_to`` are called with pieces of all URLs, in the order in which they come.

        ``user`` is name, password and the host that they are sent to: ``("ann", "pw", "https://example.org")``, or a
        host or host:port, over HTTPS and HTTP. They are sent to no other host. For a pair, a site uses its origin. A
        cache reads all URLs before anything is sent; they must be at one origin, else :class:`Invalid` is raised. The
        same holds for ``bearer``. ``headers`` are sent to all URLs, those of a site to its own ones.

        >>> items = cache.prefetch([picture_url, missing_url], sizes=[128, 256])
        >>> sorted((item.index, item.ok, item.error and item.error.code) for item in items)
        [(0, True, None), (1, False, 'http')]
        """
        return _prefetch.prefetch(self, urls, sizes, progress, images, dict(options))

    # How it is done

    def _perform(self, url: str, size: Optional[Size], options: Dict[str, Any]) -> Any:
        options.setdefault("delivery", "fresh")
        ticket = self._submit(url, size, None, options)
        try:
            return ticket.result()
        except BaseException:
            # Does nothing after the final event.
            ticket.cancel()
            raise

    def _submit(
        self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any]
    ) -> Ticket[Any]:
        options = self._complete(url, options)
        refuse_async(options.get("save_to"), url)
        sizes = None if sizes is None else several(sizes)
        handle = self._start(url, size, sizes, options)
        return Ticket(self, handle, url, size, sizes, options)

    def _complete(self, url: str, options: Dict[str, Any]) -> Dict[str, Any]:
        if self._asks:
            options = {**self._asks, **options}
        if not options:
            return options
        options = prepared(options, url)
        freezable = options.get("freezable")
        if freezable is not None and flag(freezable, "freezable"):
            self._cache.outbox._prepare(options)
        return options

    def _start(
        self,
        url: str,
        size: Optional[Size],
        sizes: Optional[Sequence[Size]],
        options: Dict[str, Any],
        number: int = 0,
    ) -> ctypes.c_void_p:
        """Submits a request. If it has a number, its events come by nh_poll, else only by nh_wait."""
        ticket = ctypes.c_void_p()
        # Release the GIL for options with files: they are opened during the call, and a disk may be slow.
        hand_in = bare if _FILES.isdisjoint(options) else library

        def submit(cache: ctypes.c_void_p, address: bytes, place: Any) -> int:
            if STRUCTURE.isdisjoint(options):
                return int(hand_in.nh_submit(cache, address, place, ctypes.byref(ticket)))
            request = ctypes.c_void_p()
            status = quick.nh_request_create(address, ctypes.byref(request))
            if status != abi.OK:
                return int(status)
            try:
                check(quick.nh_request_set(request, place), url)
                put_structure(request, options, url)
                return int(hand_in.nh_submit_request(cache, request, ctypes.byref(ticket)))
            finally:
                bare.nh_request_free(request)

        place = None
        if not number and sizes is None and not self._is_site and (size is None or type(size) is int):
            place = ready(options, size or 0, quiet=True) if size is None or 0 < size < 65536 else None
        if place is None:
            self._with_options(url, size, sizes, options, submit, number)
        else:
            _log.follow()
            address = encode(url, "url")
            self._cache._call(lambda cache: submit(cache, address, place), url)
        return ticket

    def _start_again(self, ticket: ctypes.c_void_p, url: str) -> ctypes.c_void_p:
        """Submits the request of a ticket again."""
        again = ctypes.c_void_p()
        self._cache._call(lambda cache: int(library.nh_resubmit(cache, ticket, ctypes.byref(again))), url)
        return again

    def _sight(self, url: str, size: Size, decode: bool, options: Dict[str, Any]) -> Optional[Image]:
        """Returns a thumbnail that can be shown at once, for any options, or None."""
        options = self._complete(url, options)
        found: List[int] = []
        decodes = flag(decode, "decode")
        look = quick if not decodes and _FILES.isdisjoint(options) else library

        def peek(cache: ctypes.c_void_p, address: bytes, place: Any) -> int:
            if decodes:
                place._obj.decode = abi.YES
            handle = look.nh_peek(cache, address, place)
            found.append(handle)
            return abi.OK if handle else last_status()

        self._with_options(url, sides(size, url), None, options, peek)
        return Image(ctypes.c_void_p(found[-1]), url) if found[-1] else None

    def _with_options(
        self,
        url: str,
        size: Optional[Size],
        sizes: Optional[Sequence[Size]],
        options: Dict[str, Any],
        use: Callable[[ctypes.c_void_p, bytes, Any], int],
        number: int = 0,
    ) -> None:
        """Calls the library with the cache's handle, a URL, and a pointer to a struct with the options."""
        _log.follow()
        if size is not None and sizes is not None:
            raise error_for(abi.INVALID, "size and sizes exclude each other", url)
        boxes = boxes_of([*([] if size is None else [size]), *([] if sizes is None else several(sizes))], url)
        address = encode(url, "url")
        struct, kept = request_struct(options, boxes, number)

        def described(cache: ctypes.c_void_p) -> int:
            status = self._place(cache, struct)
            return use(cache, address, ctypes.byref(struct)) if status == abi.OK else status

        self._cache._call(described, url)
        del kept
