# Generated from options.toml by Scripts/make-header, and from _cache.py; edit those instead.

import ctypes
import os
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union
from . import _prototypes as abi
from ._fetching import Fetching
from ._image import Image, Size
from ._later import _wishes
from ._option_values import AskChallenge, AskCredentials, AskHeaders, AskVerdict, Body, Certificate, Fields, FileName, Files, HeaderArgument, Netrc, Secrets, SinkArgument, User
from ._outbox import Listeners, Outbox
from ._quantities import ByteCount, Duration, PixelCount
from ._response import Response
from ._site import Site
from ._stats import Stats
from ._wishes import Addresses, ByteCheck, CookieJarMode, Delivery, Fit, OutboxMode, Policy, Scaling, SignIn, Spill, ThumbStore

T = TypeVar('T')

class Cache(Fetching):
    """A cache directory, and requests through it. A context manager. Any thread may use it.

    An option that is not given has its default. ``None`` means no limit, or none, where the list below says so;
    elsewhere it means the default. An option of a site or a request overrides that of the cache.

    ``secrets={"Authorization": ("Bearer ", "env:TOKEN")}`` reads a header's value from an environment variable, and
    ``proxy="env:NAME"`` the proxy. A pickle holds only the names of these variables. A cache with ``headers`` that may
    be secrets can't be pickled. Functions such as ``ask_headers`` are called for each request, also for those of sites.

    :param path: the directory. If it is missing, it is created. ``None``: ``$NUTHATCH_CACHE``, else
        ``$XDG_CACHE_HOME/nuthatch``, else ``~/.cache/nuthatch``.

    >>> with nuthatch.Cache(directory) as cache:
    ...     cache.get(url).status
    200

    :param policy: what is taken for fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
        "kit": Pictures stay fresh for days unless the server says otherwise. Whatever else comes without a
        lifetime is asked for again each time.
        "rfc9111": RFC 9111, to the letter.
        "offline": Whatever is stored is fresh, however old; the network is never asked.
        "reload": Nothing that is stored answers; what comes is stored.
    :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
    :param image_ttl: kit: how long pictures without any word on caching are fresh. Default: 7d.
    :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
    :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
        fresh. Default: 0.1.
    :param timeout: longest silence: connecting, waiting, between two bytes. Default: 30s. None: no limit.
        An answer that drips may take any time: `deadline` limits the whole.
    :param deadline: longest time for all of a request. Default: two minutes for pictures, else none. None: no
        limit.
        One that is said counts from the call, the wait for its turn in the queue included, and from the first
        attempt for requests of a batch (`batched`); it runs on while the server has asked to be left alone
        (Retry-After). The default for pictures counts neither.
    :param retries: further attempts after one that failed. Default: 3.
        Of what may be sent twice: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and not POST and PATCH. After a
        fault of the connection (`timeout`, `dns`, `refused`, `reset`, `truncated`), and after the statuses 408,
        425, 429, 500, 502, 503 and 504. Each waits for a random time: up to 250 ms, 500 ms and so on, up to 20
        s; or for as long as Retry-After says, and where that is more than five minutes there is none. The last
        one of a request of a batch (`batched`) waits 5 s where the host refused or broke the connection.
    :param max_bytes: largest body. Default: 64MiB. None: no limit.
        What is saved while it comes may be of any size unless its request says a number.
    :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
    :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
        "guarded": No link-local ones (cloud metadata), and no private ones by redirect from a public one.
        "public": Public ones only.
        "any": All.
    :param proxy: the way of all requests; empty for none. Default: what the environment says. "": none.
        `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came by a proxy are kept
        for it alone.
        The guard judges addresses in URLs, and names as far as this machine can look them up in a second. What
        only the proxy knows goes through, and what a proxy finds for a name is its business: give it rules of
        its own. With `socks5h://` no name is looked up here.
    :param headers: headers that are sent, in this order. Default: none.
        A header replaces those of the same name that a level above, or the library, would send. Said again for
        the same request, they take the place of all those that were said before.
    :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
        When a redirect, or the URL of a site's request, leads to another origin, headers stay behind, but for
        harmless ones (`Accept`, `Content-Type` and their like: docs/HTTP.md of the sources) and these, whatever
        secrets are in them; `Host` never goes. All levels together name them.
    :param user_agent: what the User-Agent header says. Default: nuthatch/VERSION. "": an empty header.
    :param accept: what the Accept header says. Default: anything; for pictures, first of all what is decoded.
        "": an empty header.
    :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
        None: none.
        Requests sign in by it when nothing else says who asks. It must be yours or root's, and nobody else may
        write to it.
    :param partition: a name for whose answers these are, in place of the credentials that are sent. Default:
        the credentials.
        For tokens that change.
    :param secrets: where the values of secret headers come from when it is sent later. Default: none.
        The values are never written. A provider `env:NAME` is a variable of the environment; others are told by
        the program.
    :param memory_bytes: what this process may keep in memory, decoded thumbnails mostly. Default: the smaller
        of 64 MiB and an eighth of the memory.
    :param memory_items: how many things this process may keep in memory. Default: as many as fit. None: no
        limit.
    :param disk_bytes: what the directory may take on disk, the outbox apart. Default: what the directory was
        given before, else 4 GiB.
        Each process that writes may take two 64ths of it more (64 KiB each at the least), because it reserves
        ahead.
    :param spill: when what comes is written to disk: "eager" or "pressure". Default: as the directory's first
        open in this process says, else eager.
        "eager": At once: it survives this process however it ends, and other processes find it.
        "pressure": When memory is short, or when the cache is closed. Until then it is this process's: lost
        with it, and out of reach of what other processes remove (not of their clear).
    :param thumb_store: how thumbnails are kept on disk: "packed", "lossless" or "raw". Default: as the
        directory's first open in this process says, else packed.
        "packed": As JPEG of quality 92 where they are opaque, else as PNG: a tenth of the room.
        "lossless": As PNG: the same pixels every time.
        "raw": As pixels, used where they lie.
        Those of at most 16 KiB are kept raw in any case.
    :param keep_source: keep bodies of pictures, so that other sizes can be made of them. Default: as the
        directory's first open in this process says, else yes.
    :param allow_files: read file: URLs: any file that this process may read. Default: no.
    :param outbox: whether this process sends what is in the directory's outbox: "auto" or "off". Default: auto.
        "auto": In its turn, when no other process does.
        "off": Requests may be frozen, and looked at, but are sent by others.
    :param outbox_bytes: what the outbox may take on disk; more is refused. Default: as the directory's first
        open in this process says, else 256 MiB. None: no limit.
    :param outbox_items: how many requests the outbox may hold, those among them whose outcome waits. Default:
        as the directory's first open in this process says, else 10,000. None: no limit.
    :param redirects: how many redirects are followed. Default: 10.
        After a 303, and a 301 or 302 to POST, a GET without the body follows; else the method and the body
        stay. With none a redirect is the answer, with its status and its `Location`, and is kept apart from
        what it leads to. One more than are followed is the error `too_many_redirects`. An answer in the cache
        that lies behind more of them is fetched again.
    :param ca_file: certificates that servers are checked by, in a file in PEM. Default: what the environment
        says, else the system's. "": as if nothing were said.
        In place of all others: where `ca_file` or `ca_dir` is said, neither the system's certificates nor the
        environment's count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the
        folder is `SSL_CERT_DIR`, else the system's. The environment isn't read where a program is privileged.
        An answer that was fetched with certificates of one's own, or unchecked, is kept apart from all others.
        What a site says about them counts at its origin; what a cache or a request says, wherever redirects
        lead. It is about servers, and not about a proxy over `https`.
    :param ca_dir: a folder of certificates that servers are checked by, one a file, named by their hashes
        (`openssl rehash`). Default: what the environment says, else the system's. "": as if nothing were said.
        As `ca_file`, and beside it where both are said.
    :param insecure: certificates aren't checked: anybody on the way can read and change what is sent and what
        comes. Default: no.
        For servers of one's own that have no certificate that could be named by `ca_file`. The log has a
        warning, once in each process. What is said of a site counts at its origin, as for `ca_file`.
    :param check_bytes: when what is read from the disk is compared with its checksum: "first" or "always".
        Default: as the directory's first open in this process says, else first.
        "first": When it is read for the first time while any process has the directory open, by whichever of
        them. Disks say by themselves when they fail.
        "always": Each time it is read: for disks, and file systems, that change bytes without a word.
        What doesn't match isn't given, and is fetched again. Always costs a copy of what is given, and the time
        to read all of it; then memory holds copies of it, and nothing of the disk's.
    :param expire_after: how long answers are fresh since they came, whatever their headers say. Default: what
        headers and policy say.
        For the request that says so, when it looks into the cache; nothing of it is stored, and nothing is
        stored for its sake. Zero: expired at once, so that the server is asked whether an answer still holds.
        What may be done with a stale answer its headers say all the same (`must-revalidate`,
        `stale-while-revalidate`), and the request (`delivery`). Fractions of a second count as whole ones.
    :param ask_headers: a function that is called with the URL before anything is looked up or sent, and gives
        headers to add.
    :param ask_credentials: a function that is called with a 401 of the URL's own origin, and gives user and
        password, or None.
    :param ask_challenge: a function that is called with a 401 of the URL's own origin, and gives headers for
        another attempt, or None.
        Whatever was sent. The headers take the place of those of the same name. It is called again when these
        are refused, too, up to ten times: for schemes that the library doesn't know, and tokens that have
        expired.
    :param ask_verdict: a function that is called with an answer from the network before it is stored: True,
        False (it fails), or "retry".
        What is asked is asked on the thread that waits for the ticket; where no thread waits, the request goes
        on after 30 seconds. What a function raises ends the request, and is raised by who waits for it.
    """
    def __init__(
        self, path: Union[str, 'os.PathLike[str]', None]=None,
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
        ask_headers: AskHeaders = ...,
        ask_credentials: AskCredentials = ...,
        ask_challenge: AskChallenge = ...,
        ask_verdict: AskVerdict = ...,
    ) -> None: ...
    def peek(
        self, url: str, size: Size, *, decode: bool=False,
        policy: Optional[Policy] = ...,
        validator_ttl: Duration = ...,
        image_ttl: Duration = ...,
        no_cache_ttl: Duration = ...,
        heuristic: Optional[float] = ...,
        timeout: Duration = ...,
        deadline: Duration = ...,
        retries: Optional[int] = ...,
        give_up_after: Duration = ...,
        max_bytes: ByteCount = ...,
        max_pixels: PixelCount = ...,
        addresses: Optional[Addresses] = ...,
        method: Optional[str] = ...,
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
        fit: Optional[Fit] = ...,
        enlarge: Optional[bool] = ...,
        scaling: Optional[Scaling] = ...,
        allow_damaged: Optional[bool] = ...,
        early_stop: Optional[bool] = ...,
        delivery: Optional[Delivery] = ...,
        priority: Optional[int] = ...,
        tag: Optional[str] = ...,
        progress_events: Optional[bool] = ...,
        resume: Optional[bool] = ...,
        freezable: Optional[bool] = ...,
        outbox_durable: Optional[bool] = ...,
        outbox_queue: Optional[str] = ...,
        outbox_handler: Optional[str] = ...,
        secrets: Secrets = ...,
        password_provider: Optional[str] = ...,
        outbox_attempts: Optional[int] = ...,
        outbox_max_age: Duration = ...,
        outbox_key_lifetime: Duration = ...,
        redirects: Optional[int] = ...,
        ca_file: FileName = ...,
        ca_dir: FileName = ...,
        insecure: Optional[bool] = ...,
        expire_after: Duration = ...,
        body: Body = ...,
        json: Any = ...,
        form: Fields = ...,
        files: Files = ...,
        save_to: SinkArgument = ...,
        append: Optional[bool] = ...,
        ask_headers: AskHeaders = ...,
        ask_credentials: AskCredentials = ...,
        ask_challenge: AskChallenge = ...,
        ask_verdict: AskVerdict = ...,
    ) -> Optional[Image]:
        """Returns a thumbnail that can be shown at once: it is fresh, and in memory or stored as pixels on disk.

        Returns ``None`` if it would take longer. Never uses the network, and never waits.

        :param decode: whether to decode a thumbnail that is stored compressed.

        >>> cache.peek("http://example.org/never-asked-for.png", 64) is None
        True
        >>> image = cache.thumbnail(picture_url, 64)
        >>> cache.peek(picture_url, 64).size
        (64, 48)

        :param policy: what is taken for fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
        :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
        :param image_ttl: kit: how long pictures without any word on caching are fresh. Default: 7d.
        :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
        :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
            fresh. Default: 0.1.
        :param timeout: longest silence: connecting, waiting, between two bytes. Default: 30s. None: no limit.
        :param deadline: longest time for all of a request. Default: two minutes for pictures, else none. None: no
            limit.
        :param retries: further attempts after one that failed. Default: 3.
        :param give_up_after: how long a host may be out of reach before its requests fail. Default: five minutes
            for requests of a batch, else none. None: no limit.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
        :param method: the method, such as POST. Default: GET.
        :param headers: headers that are sent, in this order. Default: none.
        :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
        :param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
            netrc has a user.
        :param bearer: sign in with a token, sent to the origin of the URL and to no other. Default: none.
        :param sign_in: how user and password are shown: "basic", "digest", "ntlm", "negotiate" or "any". Default:
            basic.
        :param cert: a certificate that says who asks, in a file in PEM. Default: none.
        :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
            None: none.
        :param partition: a name for whose answers these are, in place of the credentials that are sent. Default:
            the credentials.
        :param cache_key: what the answer is kept under, instead of the URL. Default: the URL.
        :param ignore_query: keep the answer under the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
        :param enlarge: make smaller pictures larger. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
        :param early_stop: end the transfer of a progressive JPEG when the thumbnails are done. Default: no.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: a word to cancel by. Default: none.
        :param progress_events: tell of progress, of what is sent and of what comes. Default: no.
        :param resume: keep a file whose transfer broke off, hidden, to be gone on with. Default: yes.
        :param freezable: keep it in the outbox, and send it when its server can be reached again. Default: no.
        :param outbox_durable: write it down before the first attempt, so that not even a kill in the middle loses
            it. Default: no.
        :param outbox_queue: requests of one queue are sent one after the other. Default: the URL's origin.
        :param outbox_handler: who gets the outcome. Default: none: the outcome waits to be collected.
        :param secrets: where the values of secret headers come from when it is sent later. Default: none.
        :param password_provider: who knows the password of user. Default: none.
        :param outbox_attempts: how often a server may answer that it can't now, before the request is put aside.
            Default: 25. None: no limit.
        :param outbox_max_age: for how long it is tried at all. Default: 7d. None: no limit.
        :param outbox_key_lifetime: for how long the server knows the Idempotency-Key. Default: 24h. None: no limit.
        :param redirects: how many redirects are followed. Default: 10.
        :param ca_file: certificates that servers are checked by, in a file in PEM. Default: what the environment
            says, else the system's. "": as if nothing were said.
        :param ca_dir: a folder of certificates that servers are checked by, one a file, named by their hashes
            (`openssl rehash`). Default: what the environment says, else the system's. "": as if nothing were said.
        :param insecure: certificates aren't checked: anybody on the way can read and change what is sent and what
            comes. Default: no.
        :param expire_after: how long answers are fresh since they came, whatever their headers say. Default: what
            headers and policy say.
        :param body: what is sent: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON, in which NaN and infinity are Invalid.
        :param form: fields to send as a form does, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
        :param save_to: where the answer goes while it comes: a path, an open file or descriptor, a function, or a
            list of these.
        :param append: add to the files that save_to names.
        :param ask_headers: a function that is called with the URL before anything is looked up or sent, and gives
            headers to add.
        :param ask_credentials: a function that is called with a 401 of the URL's own origin, and gives user and
            password, or None.
        :param ask_challenge: a function that is called with a 401 of the URL's own origin, and gives headers for
            another attempt, or None.
        :param ask_verdict: a function that is called with an answer from the network before it is stored: True,
            False (it fails), or "retry".
        """
    def cancel_all(self, tag: Optional[str]=None) -> None:
        """Cancels the requests that are under way, or only those with a tag."""
    def wait_idle(self, timeout: Duration=None) -> bool:
        """Waits until no request is under way. Returns False after ``timeout`` seconds."""
    @property
    def activity(self) -> int:
        """The number of requests under way: queued, running, or waiting for a retry."""
    @property
    def options(self) -> '_wishes.CacheWishes':
        """The options of its requests: the given ones and the defaults. Options of the directory are those that it was
        first opened with in this process. ``None`` means no limit. Options without a value are missing. Values of
        secret headers are ``***``.

        >>> cache.options["retries"], cache.options["policy"]
        (3, 'kit')
        """
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
        ask_headers: AskHeaders = ...,
        ask_credentials: AskCredentials = ...,
        ask_challenge: AskChallenge = ...,
        ask_verdict: AskVerdict = ...,
    ) -> Site:
        """Returns a site: a base URL and the options that requests to it share.

        User and password are sent to the base URL's origin only. With ``user=(name, "")`` and
        ``password_provider="env:NAME"`` the environment variable has the password. ``secrets`` work as in
        :class:`Cache`. A site whose secrets are given so can be pickled. Sites with the same base URL, user and
        partition share their cookies. An option that is not given is that of the cache. A question that is None is not
        asked.

        :param policy: what is taken for fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
            "kit": Pictures stay fresh for days unless the server says otherwise. Whatever else comes without a
            lifetime is asked for again each time.
            "rfc9111": RFC 9111, to the letter.
            "offline": Whatever is stored is fresh, however old; the network is never asked.
            "reload": Nothing that is stored answers; what comes is stored.
        :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
        :param image_ttl: kit: how long pictures without any word on caching are fresh. Default: 7d.
        :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
        :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
            fresh. Default: 0.1.
        :param timeout: longest silence: connecting, waiting, between two bytes. Default: 30s. None: no limit.
            An answer that drips may take any time: `deadline` limits the whole.
        :param deadline: longest time for all of a request. Default: two minutes for pictures, else none. None: no
            limit.
            One that is said counts from the call, the wait for its turn in the queue included, and from the first
            attempt for requests of a batch (`batched`); it runs on while the server has asked to be left alone
            (Retry-After). The default for pictures counts neither.
        :param retries: further attempts after one that failed. Default: 3.
            Of what may be sent twice: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and not POST and PATCH. After a
            fault of the connection (`timeout`, `dns`, `refused`, `reset`, `truncated`), and after the statuses 408,
            425, 429, 500, 502, 503 and 504. Each waits for a random time: up to 250 ms, 500 ms and so on, up to 20
            s; or for as long as Retry-After says, and where that is more than five minutes there is none. The last
            one of a request of a batch (`batched`) waits 5 s where the host refused or broke the connection.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            What is saved while it comes may be of any size unless its request says a number.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local ones (cloud metadata), and no private ones by redirect from a public one.
            "public": Public ones only.
            "any": All.
        :param proxy: the way of all requests; empty for none. Default: what the environment says. "": none.
            `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came by a proxy are kept
            for it alone.
            The guard judges addresses in URLs, and names as far as this machine can look them up in a second. What
            only the proxy knows goes through, and what a proxy finds for a name is its business: give it rules of
            its own. With `socks5h://` no name is looked up here.
        :param headers: headers that are sent, in this order. Default: none.
            A header replaces those of the same name that a level above, or the library, would send. Said again for
            the same request, they take the place of all those that were said before.
        :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
            When a redirect, or the URL of a site's request, leads to another origin, headers stay behind, but for
            harmless ones (`Accept`, `Content-Type` and their like: docs/HTTP.md of the sources) and these, whatever
            secrets are in them; `Host` never goes. All levels together name them.
        :param user_agent: what the User-Agent header says. Default: nuthatch/VERSION. "": an empty header.
        :param accept: what the Accept header says. Default: anything; for pictures, first of all what is decoded.
            "": an empty header.
        :param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
            netrc has a user.
            They go to the site's origin, or that of the request's URL, and to no other, also across redirects.
        :param sign_in: how user and password are shown: "basic", "digest", "ntlm", "negotiate" or "any". Default:
            basic.
            "basic": Basic, with the first request, unasked.
            "digest": Digest, after the server has asked. Of a server that wants a body proven, too (`auth-int` and
            not `auth`), a request with a body is the error `http`, with the status 401.
            "ntlm": NTLM, after the server has asked.
            "negotiate": Negotiate (Kerberos), where libcurl has it; without user and password, as whom the system
            knows.
            "any": The strongest that the server asks for, Basic being the weakest; Negotiate, which uses no
            password, where there is none.
        :param cert: a certificate that says who asks, in a file in PEM. Default: none.
        :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
            None: none.
            Requests sign in by it when nothing else says who asks. It must be yours or root's, and nobody else may
            write to it.
        :param partition: a name for whose answers these are, in place of the credentials that are sent. Default:
            the credentials.
            For tokens that change.
        :param cookie_jar: whether cookies that the servers set are sent back, and where they are kept: "off",
            "memory" or "disk". Default: off.
            "off": They are ignored.
            "memory": In memory, as long as the directory is open in this process.
            "disk": In the cache's directory, too, for other processes and later ones: readable for its owner only,
            and in clear.
            Sites with the same base URL, user and partition share their cookies. What waits in the outbox is sent
            without.
        :param secrets: where the values of secret headers come from when it is sent later. Default: none.
            The values are never written. A provider `env:NAME` is a variable of the environment; others are told by
            the program.
        :param password_provider: who knows the password of user. Default: none.
            A request without a user that asks its program for one needs a provider; it knows both then, as
            `name:password`. Only the first attempt asks the program; the outbox asks the provider, and sends
            nothing before it has both.
        :param redirects: how many redirects are followed. Default: 10.
            After a 303, and a 301 or 302 to POST, a GET without the body follows; else the method and the body
            stay. With none a redirect is the answer, with its status and its `Location`, and is kept apart from
            what it leads to. One more than are followed is the error `too_many_redirects`. An answer in the cache
            that lies behind more of them is fetched again.
        :param ca_file: certificates that servers are checked by, in a file in PEM. Default: what the environment
            says, else the system's. "": as if nothing were said.
            In place of all others: where `ca_file` or `ca_dir` is said, neither the system's certificates nor the
            environment's count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the
            folder is `SSL_CERT_DIR`, else the system's. The environment isn't read where a program is privileged.
            An answer that was fetched with certificates of one's own, or unchecked, is kept apart from all others.
            What a site says about them counts at its origin; what a cache or a request says, wherever redirects
            lead. It is about servers, and not about a proxy over `https`.
        :param ca_dir: a folder of certificates that servers are checked by, one a file, named by their hashes
            (`openssl rehash`). Default: what the environment says, else the system's. "": as if nothing were said.
            As `ca_file`, and beside it where both are said.
        :param insecure: certificates aren't checked: anybody on the way can read and change what is sent and what
            comes. Default: no.
            For servers of one's own that have no certificate that could be named by `ca_file`. The log has a
            warning, once in each process. What is said of a site counts at its origin, as for `ca_file`.
        :param expire_after: how long answers are fresh since they came, whatever their headers say. Default: what
            headers and policy say.
            For the request that says so, when it looks into the cache; nothing of it is stored, and nothing is
            stored for its sake. Zero: expired at once, so that the server is asked whether an answer still holds.
            What may be done with a stale answer its headers say all the same (`must-revalidate`,
            `stale-while-revalidate`), and the request (`delivery`). Fractions of a second count as whole ones.
        :param ask_headers: a function that is called with the URL before anything is looked up or sent, and gives
            headers to add.
        :param ask_credentials: a function that is called with a 401 of the URL's own origin, and gives user and
            password, or None.
        :param ask_challenge: a function that is called with a 401 of the URL's own origin, and gives headers for
            another attempt, or None.
            Whatever was sent. The headers take the place of those of the same name. It is called again when these
            are refused, too, up to ten times: for schemes that the library doesn't know, and tokens that have
            expired.
        :param ask_verdict: a function that is called with an answer from the network before it is stored: True,
            False (it fails), or "retry".
            What is asked is asked on the thread that waits for the ticket; where no thread waits, the request goes
            on after 30 seconds. What a function raises ends the request, and is raised by who waits for it.
        """
    @property
    def outbox(self) -> Outbox:
        """The requests that wait for the network, and their outcomes."""
    def remove(
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
        """Removes all stored answers of a URL, for all credentials and partitions. Its next request asks the server.

        After this returns, no process gets from the cache an answer that was requested before.

        With options, only the answer is removed that a request with these options would get.

        :param headers: headers that are sent, in this order. Default: none.
        :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
        :param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
            netrc has a user.
        :param bearer: sign in with a token, sent to the origin of the URL and to no other. Default: none.
        :param sign_in: how user and password are shown: "basic", "digest", "ntlm", "negotiate" or "any". Default:
            basic.
        :param cert: a certificate that says who asks, in a file in PEM. Default: none.
        :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
            None: none.
        :param partition: a name for whose answers these are, in place of the credentials that are sent. Default:
            the credentials.
        :param cache_key: what the answer is kept under, instead of the URL. Default: the URL.
        :param ignore_query: keep the answer under the URL without its query. Default: no.
        :param redirects: how many redirects are followed. Default: 10.
        :param ca_file: certificates that servers are checked by, in a file in PEM. Default: what the environment
            says, else the system's. "": as if nothing were said.
        :param ca_dir: a folder of certificates that servers are checked by, one a file, named by their hashes
            (`openssl rehash`). Default: what the environment says, else the system's. "": as if nothing were said.
        :param insecure: certificates aren't checked: anybody on the way can read and change what is sent and what
            comes. Default: no.
        """
    def clear(self) -> None:
        """Removes everything that is stored."""
    def trim(self, disk_bytes: ByteCount) -> None:
        """Removes the records that were not used for the longest time, until ``disk_bytes`` or less are on disk."""
    def flush(self) -> None:
        """Writes records to disk that ``spill="pressure"`` keeps in memory only."""
    def stats(self) -> Stats:
        """Returns a dictionary of numbers: what the directory holds, and what this process did with it.

        A notebook shows it as a table.

        >>> sorted(cache.stats())[:4]
        ['activity', 'bodies', 'bytes_received', 'decodes']
        """
    def close(self, drain: Duration=None) -> None:
        """Closes the cache. Requests under way raise :class:`Closed`. May be called again.

        :param drain: the longest wait, in seconds, for requests that are under way, and for requests of the outbox that
            are being sent.

        The last cache of a directory writes records that are in memory only (``spill="pressure"``). If another process
        holds the directory's lock for five seconds, they are lost, and :class:`Error` with the code ``busy`` is raised.
        The cache is closed all the same.

        It also waits for background revalidations, two seconds at most. Ctrl-C ends both waits, and the cache is closed
        all the same.
        """
    def _end(self) -> None: ...
    def _let_go(self, handle: ctypes.c_void_p) -> None: ...
    @property
    def closed(self) -> bool:
        """Whether the cache has been closed."""
    def __enter__(self) -> 'Cache': ...
    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]) -> None: ...
    def __del__(self, _is_ending: Callable[[], bool]=...) -> None: ...
    def _reduced(self) -> Tuple[Any, ...]: ...
    def __reduce__(self) -> Tuple[Any, ...]: ...
    def __copy__(self) -> 'Cache': ...
    def __deepcopy__(self, memo: Any) -> 'Cache': ...
    def __repr__(self) -> str: ...
    def _ready(self, url: str, size: Size, options: Mapping[str, Any]) -> Optional[Image]: ...
    def _stored(self, url: str, place: Any) -> Optional[Response]: ...
    @property
    def _cache(self) -> 'Cache': ...
    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int: ...
    def _wait_idle(self, patience: int) -> bool: ...
    def _drain(self, seconds: Duration) -> None: ...
    def _drained(self, patience: int) -> bool: ...
    def _for(self, cache: 'Cache') -> Fetching: ...
    def _of_twins(self, ask: 'Callable[[Cache], T]') -> Iterator[T]: ...
    def _twin(self) -> 'Cache': ...
    def _open(self) -> None: ...
    def _usable(self, url: Optional[str]) -> ctypes.c_void_p: ...
    def _call(self, function: Callable[[ctypes.c_void_p], int], url: Optional[str]=None, expected: Tuple[int, ...]=(), *, counts: bool=False) -> int: ...
    def _successor(self, handle: ctypes.c_void_p, status: int) -> Optional[ctypes.c_void_p]: ...
    _arguments: Any
    _handle: Optional[ctypes.c_void_p]
    _plain: Any
    _twins: Set[Cache]
    _listeners: Listeners
    _is_hurried: bool
    _path: Optional[bytes]
    _resolved: Dict[str, Any]
    _options: abi.nh_options
    _kept: List[Any]
