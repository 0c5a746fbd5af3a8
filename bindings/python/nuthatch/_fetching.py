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
from ._library import bare, check, encode, last_status, library, quick
from ._options import STRUCTURE, put_structure, request_struct
from ._prefetch import Item, prefetch
from ._response import Response
from ._saving import refuse_async
from ._sending import prepared
from ._ticket import Ticket
from ._values import boxes_of, several
from ._wishes import Sending, Unpack, Wishes

if TYPE_CHECKING:
    from ._cache import Cache

#: Options by which a call looks at files that aren't the cache's.
_FILES = frozenset(("save_to", "body", "files", "netrc"))


class Fetching:
    """Requests, as :class:`Cache` and :class:`Site` have them."""

    #: Functions that are asked by each request which brings none of its own.
    _asks: Dict[str, Any]
    #: The same, by way of other handles, as long as these are in use.
    _twins: Set[Any]

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
        self, url: str, size: Size, *, decode: bool = False, **options: "Unpack[Wishes]"
    ) -> Optional[Image]:
        """As :meth:`Cache.peek`."""
        return self._sight(url, size, decode, dict(options))

    # Waiting for answers

    def get(self, url: str, **options: "Unpack[Wishes]") -> Response:
        """Fetches a URL and waits for the answer, of whatever status; at most 10 redirects are followed.

        Other threads run meanwhile, and Ctrl-C ends the wait and the request. ``options`` are those of
        :meth:`submit` but the sizes.

        :raises TimeoutError, TransportError, TooLarge, BadURL, ...: when there is no answer.

        >>> cache.get(url, headers={"Accept": "text/plain"}).text
        'hello'
        """
        return cast(Response, self._perform(url, None, dict(options)))

    def request(self, method: str, url: str, **options: "Unpack[Sending]") -> Response:
        """Sends a request of any method and waits for the answer. ``options`` are those of :meth:`submit`.

        >>> cache.request("POST", echo_url, json={"seeds": 3}).json()["body"]
        '{"seeds": 3}'
        >>> cache.request("POST", echo_url, form={"kind": "hazel", "count": 2}).json()["body"]
        'kind=hazel&count=2'
        """
        return cast(Response, self._perform(url, None, {**options, "method": method}))

    def thumbnail(self, url: str, size: Size, **options: "Unpack[Wishes]") -> Image:
        """A picture, a JPEG or PNG, that fits a box: from the cache while that is fresh, else from the network.

        ``options`` are those of :meth:`submit`.

        :raises HTTPStatusError: when the answer isn't a success.

        >>> cache.thumbnail(picture_url, (100, 20), fit="cover").size
        (100, 20)
        """
        return cast(Image, self._perform(url, sides(size, url), dict(options)))

    # Not waiting

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: None = None, **options: "Unpack[Wishes]"
    ) -> Ticket[Response]: ...

    @overload
    def submit(
        self, url: str, *, size: Size, sizes: None = None, **options: "Unpack[Wishes]"
    ) -> Ticket[Image]: ...

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: Sequence[Size], **options: "Unpack[Wishes]"
    ) -> Ticket[List[Image]]: ...

    def submit(
        self,
        url: str,
        *,
        size: Optional[Size] = None,
        sizes: Optional[Sequence[Size]] = None,
        **options: Any,
    ) -> Ticket[Any]:
        """Starts a request and returns at once; the :class:`Ticket` tells what becomes of it.

        Requests for one URL share one fetch, whatever their sizes.

        :param size, sizes: the box that a thumbnail is to fit, or several; none for the response itself; never both.
        :param method, headers, body, user: what is sent. A method that HTTP knows is put into capitals, any other is
            sent as it is spelled. ``headers`` is a mapping, or pairs: a name that comes twice is sent twice. ``body``
            is bytes, or a ``Path``, which is read while it is sent; ``user`` is a pair to sign in with, or name,
            password and whose they are, as of :meth:`prefetch`. None: nobody signs in, whatever site and netrc say.
        :param sign_in: how: "basic" (the default, with the first request), "digest", "ntlm", "negotiate", or "any",
            the strongest that the server asks for. (A Digest that covers the body, ``auth-int`` alone, is
            :class:`HTTPStatusError` with the status 401 for a request that has one.) ``bearer`` is a token to sign in
            with; ``cert`` a certificate's file, or a tuple of the certificate's and its key's and the key's password.
            All of it goes to the URL's origin only.
        :param netrc: a file to look user and password of the URL's host up in, when nothing else says who asks; True
            for ``$NETRC``, else ``~/.netrc``; False or None for none, also where the cache has one.
        :param json: a value to send as JSON, in which NaN and infinity are :class:`Invalid`; ``form``: fields to send
            as a form does, without those that are None; ``files``: files by the names of their fields, each as bytes, a
            path, which is read while it is sent, an open file, which is read from where it stands, or a tuple (file
            name, one of these[, type]).
        :param save_to: where the answer goes while it comes: a path, an open file or descriptor, an ``io.BytesIO``, or
            a function, which is called with each piece on the thread that waits for the ticket; or a list of these.
            What has a ``write`` of its own, as ``gzip.open(path, "wb")`` has, is written to by it; files of text are a
            ``TypeError``. With :class:`AsyncCache` the function is called on the event loop, may be ``async``, and the
            next piece is received when it is done with this one; elsewhere an ``async`` one is :class:`Invalid`. Files
            have their names only when they are complete; ``append`` adds to them. What is saved may be larger than the
            cache's ``max_bytes``; then the response has no body. A transfer that broke off is gone on with, also by the
            next request for the same file, unless ``resume`` is False. Of a plain open file the descriptor is written
            to, past its buffers.
        :param timeout, deadline, retries, max_bytes, max_pixels, policy, addresses, partition: as for the cache.
            ``deadline`` counts from this call.
        :param validator_ttl, image_ttl, no_cache_ttl, heuristic: the policy's numbers, as for the cache.
        :param fit: "inside", "cover" (the box is covered) or "stretch"; ``enlarge`` makes smaller pictures larger;
            ``scaling`` is "best" or "fast".
        :param allow_damaged: a damaged picture is what decodes of it, marked ``is_partial``.
        :param early_stop: the transfer of a progressive JPEG may end when the thumbnails are done.
        :param delivery: "twice" (a stale answer at once, the fresh one after it), "first" (one answer, a stale one
            too) or "fresh" (one answer, which holds now).
        :param give_up_after: for how many seconds its host may be out of reach, or have too much to do (429, 503),
            since its last good answer. Until then the request waits for the host, whatever ``retries`` says, and
            ``deadline`` doesn't count that; 0 doesn't wait, None waits without an end. Five minutes in a
            :meth:`prefetch`; other requests don't wait. A host that has never answered is out of reach once five
            requests to it have failed in a row. Before that, ``retries`` counts; the last one waits 5 s when the host
            refused or broke the connection.
        :param priority: -10 to 10, higher ones first; ``tag``: a word to cancel by.
        :param cache_key: what the answer is kept under, instead of the URL, and never empty; ``ignore_query`` leaves
            the query out of it.
        :param progress_events: whether there are "progress" events, of what is sent and of what comes.
        :param freezable: whether a POST, PUT, PATCH or DELETE whose server can't be reached goes to the outbox, to be
            sent when it can; of another method it is :class:`Invalid`. Its last event is "frozen", and :class:`Frozen`
            is raised, with its number (:attr:`Cache.outbox`). ``outbox_durable`` writes it before the first attempt,
            too. It waits behind those to the same origin, or of the same ``outbox_queue``. ``outbox_handler`` is who
            gets the outcome (:meth:`Outbox.attach`); without one it waits to be collected.
        :param secrets: of freezable requests: the providers of headers that must not be written to disk, by the
            headers' names: ``{"Authorization": ("Bearer ", "token")}``. "env:NAME" is a variable of the environment,
            others mean what :meth:`Outbox.provide` says. ``password_provider`` is that of the password of ``user``.
            ``ask_credentials`` without ``user`` needs one that gives "name:password" when the outbox sends the request.
        :param outbox_attempts, outbox_max_age, outbox_key_lifetime: when a frozen request is put aside: after how many
            answers that the server can't now (25; 1 at the least); after how many seconds (7 days; None: never); and
            how long the server knows its ``Idempotency-Key``, in seconds: what may have arrived isn't sent again later
            than that (24 hours; None: it is, however late).
        :param ask_headers: a function that is called with the URL before anything is looked up or sent, and gives
            headers to add.
        :param ask_credentials: called with a 401 of the URL's own origin; gives user and password, or None.
        :param ask_challenge: called with a 401 of the URL's own origin, whatever was sent; gives headers for another
            attempt, in the place of those of the same name, or None. Called again when that is refused, too, up to ten
            times: for schemes that the library doesn't know, and tokens that have expired.
        :param ask_verdict: called with an answer from the network before it is stored: True, False (the request
            fails), or "retry". What is asked is asked on the thread that waits for the ticket; where nobody waits, the
            request goes on after 30 seconds. What a function raises ends the request, and is raised by who waits.

        >>> small, large = cache.submit(picture_url, sizes=[64, 256]).result()
        >>> small.size, large.size
        ((64, 48), (256, 192))
        """
        return self._submit(url, size, sizes, options)

    def prefetch(
        self,
        urls: Iterable[str],
        sizes: Union[int, Sequence[Size]] = (256,),
        *,
        progress: bool = False,
        images: bool = False,
        **options: "Unpack[Sending]",
    ) -> "Iterator[Item]":
        """Fetches any number of URLs, and tells of each how it ended, in the order in which they do.

        Takes URLs as there is room for them, four times as many as run at once; holds no pixels; ends what is under way
        when the loop is left. What fails is told, and stops nothing. While another process has held the cache's
        lock for more than 30 seconds, nothing can be stored: then nothing is fetched until it is free, and the log says
        so.

        :param sizes: of the thumbnails that are to be in the cache afterwards; ``()`` for the answers themselves.
        :param progress: whether to show it on standard error: by tqdm where that is installed, else as a line.
        :param images: whether items hold their images, or their response.
        :param options: those of :meth:`submit` but ``cache_key``, which would give all URLs one answer. The priority is
            -5 here, and a ``deadline`` counts from the first attempt of each URL. A function that is named by
            ``save_to`` is called with the pieces of all URLs, in the order in which they come.
        :param user: name, password and whose they are: ``("ann", "pw", "https://example.org")``, or a host or
            host:port, which stands for both over HTTPS and HTTP. They go nowhere else: URLs may lead anywhere. A pair
            goes to the site's origin; of a cache, all URLs must be at one origin then, and are gone through before
            anything is sent: several are :class:`Invalid`. So they are with ``bearer``. ``headers`` go to all URLs,
            those of a site to its own.

        >>> items = cache.prefetch([picture_url, missing_url], sizes=[128, 256])
        >>> sorted((item.index, item.ok, item.error and item.error.code) for item in items)
        [(0, True, None), (1, False, 'http')]
        """
        return prefetch(self, urls, sizes, progress, images, dict(options))

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
        if options.get("freezable"):
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

        self._with_options(url, size, sizes, options, submit, number)
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
