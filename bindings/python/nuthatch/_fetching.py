"""What can be asked of caches and of sites alike."""

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

#: Options by which a call looks at files that aren't the cache's.
_FILES = frozenset(("save_to", "body", "files", "netrc"))


@explained
class Fetching:
    """Requests, as :class:`Cache` and :class:`Site` have them."""

    #: Functions that are asked by each request which brings none of its own.
    _asks: Dict[str, Any]
    #: The same, by way of other handles, as long as these are in use.
    _twins: Set[Any]
    #: Whether its requests name a site of the library's, which is another one for each handle.
    _is_site = False

    @property
    def _cache(self) -> "Cache":
        """Whose handle requests go to."""
        raise NotImplementedError

    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int:
        """Says whose request it is."""
        raise NotImplementedError

    def _for(self, cache: "Cache") -> "Fetching":
        """The same, by way of another handle on the directory."""
        raise NotImplementedError

    def peek(
        self, url: str, size: Size, *, decode: bool = False, **options: "_wishes.Unpack[_wishes.Wishes]"
    ) -> Optional[Image]:
        """As :meth:`Cache.peek`."""
        return self._sight(url, size, decode, dict(options))

    # Waiting for answers

    def get(self, url: str, **options: "_wishes.Unpack[_wishes.Wishes]") -> Response:
        """Fetches a URL and waits for the answer, of whatever status; redirects are followed (``redirects``).

        Other threads run meanwhile, and Ctrl-C ends the wait and the request.

        :raises TimeoutError, TransportError, TooLarge, BadURL, ...: when there is no answer.

        >>> cache.get(url, headers={"Accept": "text/plain"}).text
        'hello'
        """
        return cast(Response, self._perform(url, None, dict(options)))

    def request(self, method: str, url: str, **options: "_wishes.Unpack[_wishes.Sending]") -> Response:
        """Sends a request of any method and waits for the answer.

        >>> cache.request("POST", echo_url, json={"seeds": 3}).json()["body"]
        '{"seeds": 3}'
        >>> cache.request("POST", echo_url, form={"kind": "hazel", "count": 2}).json()["body"]
        'kind=hazel&count=2'
        """
        return cast(Response, self._perform(url, None, {**options, "method": method}))

    def thumbnail(self, url: str, size: Size, **options: "_wishes.Unpack[_wishes.Wishes]") -> Image:
        """A picture, a JPEG or PNG, that fits a box: from the cache while that is fresh, else from the network.

        :raises HTTPStatusError: when the answer isn't a success.

        >>> cache.thumbnail(picture_url, (100, 20), fit="cover").size
        (100, 20)
        """
        return cast(Image, self._perform(url, sides(size, url), dict(options)))

    # Not waiting

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: None = None, **options: "_wishes.Unpack[_wishes.Wishes]"
    ) -> Ticket[Response]: ...

    @overload
    def submit(
        self, url: str, *, size: Size, sizes: None = None, **options: "_wishes.Unpack[_wishes.Wishes]"
    ) -> Ticket[Image]: ...

    @overload
    def submit(
        self,
        url: str,
        *,
        size: None = None,
        sizes: Sequence[Size],
        **options: "_wishes.Unpack[_wishes.Wishes]",
    ) -> Ticket[List[Image]]: ...

    def submit(
        self,
        url: str,
        *,
        size: Optional[Size] = None,
        sizes: Optional[Sequence[Size]] = None,
        **options: "_wishes.Unpack[_wishes.Wishes]",
    ) -> Ticket[Any]:
        """Starts a request and returns at once; the :class:`Ticket` tells what becomes of it.

        Requests for one URL share one fetch, whatever their sizes.

        :param size, sizes: the box that a thumbnail is to fit, or several; none for the response itself; never both.

        ``headers`` is a mapping, or pairs: a name that comes twice is sent twice. ``user`` is a pair to sign in with,
        or name, password and whose they are, as of :meth:`prefetch`. ``cert`` is a certificate's file, or a tuple of
        the certificate's, its key's and the key's password. What is asked of the program (``ask_headers`` …) is asked
        on the thread that waits for the ticket.

        The last event of a ``freezable`` request that is kept for later is "frozen", and :class:`Frozen` is raised,
        with its number in :attr:`Cache.outbox`. ``secrets`` names the providers of headers that must not be written to
        disk: ``{"Authorization": ("Bearer ", "token")}``. "env:NAME" is a variable of the environment, others mean what
        :meth:`Outbox.provide` says.

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
        **options: "_wishes.Unpack[_wishes.Prefetching]",
    ) -> "Iterator[_prefetch.Item]":
        """Fetches any number of URLs, and tells of each how it ended, in the order in which they do.

        Takes URLs as there is room for them, four times as many as run at once; holds no pixels; ends what is under way
        when the loop is left. What fails is told, and stops nothing. While another process has held the cache's
        lock for more than 30 seconds, nothing can be stored: then nothing is fetched until it is free, and the log says
        so.

        :param sizes: of the thumbnails that are to be in the cache afterwards; ``()`` for the answers themselves.
        :param progress: whether to show it on standard error: by tqdm where that is installed, else as a line.
        :param images: whether items hold their images, or their response.

        The priority is -5 here, and a ``deadline`` counts from the first attempt of each URL. A function that is named
        by ``save_to`` is called with the pieces of all URLs, in the order in which they come.

        ``user`` is name, password and whose they are: ``("ann", "pw", "https://example.org")``, or a host or host:port,
        which stands for both over HTTPS and HTTP. They go nowhere else: URLs may lead anywhere. A pair goes to the
        site's origin; of a cache, all URLs must be at one origin then, and are gone through before anything is sent:
        several are :class:`Invalid`. So they are with ``bearer``. ``headers`` go to all URLs, those of a site to its
        own.

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
            # After the final event it does nothing.
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
        """Submits a request. Its events come by nh_poll when it is given a number, else by nh_wait only."""
        ticket = ctypes.c_void_p()
        # A file is looked at before the request is under way, and its disk may not answer.
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
        """Submits the request of a ticket once more."""
        again = ctypes.c_void_p()
        self._cache._call(lambda cache: int(library.nh_resubmit(cache, ticket, ctypes.byref(again))), url)
        return again

    def _sight(self, url: str, size: Size, decode: bool, options: Dict[str, Any]) -> Optional[Image]:
        """What a request that is described in full would show at once."""
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
        """Calls the library with the cache's handle, a URL, and the place of a struct that says what is wanted."""
        _log.follow()
        if size is not None and sizes is not None:
            raise error_for(abi.INVALID, "of size and sizes there can be one", url)
        boxes = boxes_of([*([] if size is None else [size]), *([] if sizes is None else several(sizes))], url)
        address = encode(url, "url")
        struct, kept = request_struct(options, boxes, number)

        def described(cache: ctypes.c_void_p) -> int:
            status = self._place(cache, struct)
            return use(cache, address, ctypes.byref(struct)) if status == abi.OK else status

        self._cache._call(described, url)
        del kept
