# Generated from options.toml by Scripts/make-header, and from _cache.py; edit those instead.

import ctypes
import os
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union
from . import _prototypes as abi
from ._fetching import Fetching
from ._image import Image, Size
from ._later import _wishes
from ._option_values import AskChallenge, AskCredentials, AskHeaders, AskVerdict, Body, Certificate, ConfigFile, Fields, FileName, Files, HeaderArgument, Netrc, Secrets, SinkArgument, User
from ._outbox import Listeners, Outbox
from ._quantities import ByteCount, Duration, PixelCount
from ._response import Response
from ._site import Site
from ._stats import Stats
from ._wishes import Addresses, ByteCheck, CookieJarMode, DecodePlace, Delivery, Fit, OutboxMode, Policy, Scaling, SignIn, Spill, ThumbStore

T = TypeVar('T')

class Cache(Fetching):
    """A cache directory, and requests through it. A context manager. Any thread may use it.

    An option that is not given has its default. ``None`` means no limit or off where the list below says so;
    elsewhere it means the default. An option of a site or a request overrides that of the cache.

    ``secrets={"Authorization": ("Bearer ", "env:TOKEN")}`` reads a header's value from an environment variable, and
    ``proxy="env:NAME"`` the proxy. A pickle holds only the names of these variables. A cache with ``headers`` that may
    be secrets can't be pickled. Functions such as ``ask_headers`` are called for each request, also for those of sites.

    :param path: the directory. If it is missing, it is created. ``None``: ``$NUTHATCH_CACHE``, else
        ``$XDG_CACHE_HOME/nuthatch``, else ``~/.cache/nuthatch``.

    >>> with nuthatch.Cache(directory) as cache:
    ...     cache.get(url).status
    200

    :param policy: which stored answers count as fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
        "kit": Pictures stay fresh for days unless the server says otherwise. Any other answer without a
        lifetime is revalidated each time.
        "rfc9111": RFC 9111, to the letter.
        "offline": Every stored answer is fresh, however old; the network is never used.
        "reload": No stored answer is used; new answers are stored.
    :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
    :param image_ttl: kit: how long pictures without any caching header are fresh. Default: 7d.
    :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
    :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
        fresh. Default: 0.1.
    :param timeout: longest time without a byte: connecting, waiting, between two bytes. Default: 30s. None: no
        limit.
        A slow answer may take any time as long as bytes come: `deadline` limits the whole request.
    :param deadline: longest time for the whole request. Default: two minutes for pictures, else none. None: no
        limit.
        A deadline that is set counts from the call, and includes the wait in the queue. For requests of a batch
        (`batched`) it counts from the first attempt. It also runs while the request waits because the server
        asked for a pause (Retry-After). The default deadline of pictures excludes both waits.
    :param retries: further attempts after a failed one. Default: 3.
        Only requests that may be sent twice are retried: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not POST
        and PATCH. A retry follows a connection fault (`timeout`, `dns`, `refused`, `reset`, `truncated`),
        something else than an answer on a kept connection (`http`), and the statuses 408, 425, 429, 500, 502,
        503 and 504. Each retry waits for a random time: up to 250 ms, 500 ms and so on, up to 20 s. If the
        server sends Retry-After, the retry waits for that time; if it is longer than five minutes, there is no
        retry. The last retry of a batch request (`batched`) waits 5 s if the host refused or broke the
        connection.
    :param max_bytes: largest body. Default: 64MiB. None: no limit.
        An answer that is saved while it arrives has no limit unless its request sets one.
    :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
    :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
        "guarded": No link-local addresses (cloud metadata), and no private ones after a redirect from a public
        one.
        "public": Only public addresses.
        "any": All addresses.
    :param proxy: proxy for all requests; empty for none. Default: from the environment. "": none.
        `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came through a proxy are
        stored separately, for that proxy only.
        The address guard (`addresses`) checks addresses in URLs, and names that this machine can look up within
        a second. A name that only the proxy can look up passes the guard. The guard can't check which address
        the proxy connects to: give the proxy its own rules. With `socks5h://` this machine looks up no name.
    :param headers: headers to send, in this order. Default: none.
        A header replaces the headers of the same name that the library or a level above would send. A later
        value for the same request replaces all earlier values of that name.
    :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
        A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`,
        `Content-Type` and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if
        their values are secret. `Host` is never sent there. The names of all levels are added together.
    :param user_agent: value of the User-Agent header. Default: nuthatch/VERSION. "": an empty header.
    :param accept: value of the Accept header, or the word modern. Default: anything; for pictures, JPEG, PNG
        and GIF first. "": an empty header.
        `modern` asks for pictures in AVIF and WebP, too: fewer bytes, for links that cost money, and several
        times the time to decode. Requests for anything else are sent as usual.
    :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
        None: none.
        It is used if nothing else gives credentials. The file must belong to you or to root, and no other user
        may write to it.
    :param partition: name that separates these answers from others, instead of the credentials. Default: the
        credentials.
        Useful for tokens that change.
    :param secrets: providers of the values of secret headers, for later attempts. Default: none.
        The values are never written. The provider `env:NAME` reads an environment variable; the program gives
        the values of other providers.
    :param memory_bytes: memory that this process may use for stored things, mostly decoded thumbnails. Default:
        the smaller of 64 MiB and an eighth of the memory.
    :param memory_items: how many things this process may keep in memory. Default: as many as fit. None: no
        limit.
    :param disk_bytes: disk space of the directory, without the outbox. Default: the limit that was set before,
        else 4 GiB.
        Each process that writes may take two 64ths more (at least 64 KiB each), because it reserves space
        ahead.
    :param spill: when new answers are written to disk: "eager" or "pressure". Default: like the directory's
        first open in this process, else eager.
        "eager": At once: they survive the end of this process, and other processes find them.
        "pressure": When memory is short, or when the cache is closed. Until then only this process finds them,
        and they are lost if it is killed. Removals in other processes apply to them, too.
    :param thumb_store: how thumbnails are stored on disk: "packed", "lossless", "raw" or "small". Default: like
        the directory's first open in this process, else packed.
        "packed": As JPEG of quality 92 if they are opaque, else as PNG: a tenth of the space.
        "lossless": As PNG: the same pixels every time.
        "raw": As pixels, which are used without a copy.
        "small": Like packed, but those that aren't opaque as lossy WebP of quality 90: a third of a PNG, with
        exact transparency.
        Thumbnails of at most 16 KiB are always stored raw.
    :param keep_source: store the bodies of pictures, so that other sizes can be made of them. Default: like the
        directory's first open in this process, else yes.
    :param allow_files: allow file: URLs; they can read any file that this process may read. Default: no.
    :param outbox: whether this process sends the requests of the directory's outbox: "auto" or "off". Default:
        auto.
        "auto": The process sends them if no other process does.
        "off": Requests can be stored and listed, but other processes send them.
    :param outbox_bytes: disk space of the outbox; requests beyond it are refused. Default: like the directory's
        first open in this process, else 256 MiB. None: no limit.
    :param outbox_items: how many requests the outbox may hold, including those whose outcome waits. Default:
        like the directory's first open in this process, else 10,000. None: no limit.
    :param redirects: how many redirects are followed. Default: 10.
        After a 303, and after a 301 or 302 to a POST, a GET without the body follows; else the method and the
        body stay. With none a redirect is the answer, with its status and its `Location`, and is stored
        separately from the answer at its target. One redirect too many is the error `too_many_redirects`. A
        stored answer that needed more redirects than are allowed is fetched again.
    :param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
        else the system's. "": as if not set.
        They replace all others: if `ca_file` or `ca_dir` is set, the certificates of the system and of the
        environment don't count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the
        folder is `SSL_CERT_DIR`, else the system's. A privileged program doesn't read these environment
        variables.
        An answer that was fetched with your own certificates, or unchecked, is stored separately from all
        others. A site's value counts at the site's origin; the value of a cache or a request counts for all
        servers, also after redirects. It applies to servers, not to a proxy over `https`.
    :param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
        rehash`). Default: from the environment, else the system's. "": as if not set.
        Like `ca_file`. Both can be set together. A request or a site that sets one of them takes neither from
        its cache.
    :param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
        For your own servers that have no certificate that `ca_file` could name. The log gets a warning, once in
        each process. A site's value counts at the site's origin, as for `ca_file`.
    :param check_bytes: when bytes read from the disk are compared with their checksum: "first" or "always".
        Default: like the directory's first open in this process, else first.
        "first": At the first read by any process; this counts anew after all processes have closed the
        directory. Disks report their own failures.
        "always": At each read: for disks, and file systems, that change bytes without an error.
        If they don't match, the answer counts as missing and is fetched again. `always` costs a copy of the
        answer, and the time to read all of it; memory then holds that copy, and no mapping of the file.
    :param expire_after: how long answers are fresh after they came; replaces their headers. Default: by headers
        and policy.
        It counts when this request looks into the cache; it changes nothing that is stored. Zero: answers
        expire at once, so the server is asked whether a stored answer is still valid. The headers
        (`must-revalidate`, `stale-while-revalidate`) and `delivery` still decide whether a stale answer may be
        delivered. Fractions of a second are rounded up.
    :param config: a config file with options, and with sections for hosts. Default: none. True: the usual
        files; False or None: none.
        docs/CONFIG.md of the sources has its form. Without this option no file is read. The program's own
        options override those of the file, and so do the variables of the environment that name a proxy or
        certificates. Options of the process (`rate` and others) count unless the program has set them. Empty:
        `$XDG_CONFIG_HOME/nuthatch/config.toml`, else `~/.config/nuthatch/config.toml`, and
        `/etc/nuthatch/config.toml`; the first counts before the second, and either may be missing. A program
        with more rights than its user reads only the last one. A mistake is the error `invalid`, with file,
        line and column.
    :param decode: where pictures are decoded: "here" or "isolated". Default: here.
        "here": In this process.
        "isolated": In a process of their own, which has no network and no files: for pictures of strangers. The
        pixels are the same. If the decoder is taken over or crashes there, this process goes on.
        SVG and HEIC are always decoded in the process of their own. docs/ISOLATION.md of the sources says what
        it may do and what it costs. A thumbnail that is stored is used whatever this option says.
    :param ask_headers: a function that is called with the URL before anything is looked up or sent, and returns
        headers to add.
    :param ask_credentials: a function that is called with a 401 of the URL's own origin, and returns user and
        password, or None.
    :param ask_challenge: a function that is called with a 401 of the URL's own origin, and returns headers for
        another attempt, or None.
        It is called even if the request already had credentials. The headers replace those of the same name. If
        the server refuses these, too, the function is called again, up to ten times: for schemes that the
        library doesn't know, and tokens that have expired.
    :param ask_verdict: a function that gets an answer from the network before it is stored: returns True, False
        (it fails) or "retry".
        These functions run on the thread that waits for the ticket. If no thread waits, the request goes on
        after 30 seconds. An exception in a function ends the request, and is raised in the waiting thread.
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
        :param give_up_after: how long a host may be unreachable before its requests fail. Default: five minutes for
            requests of a batch, else none. None: no limit.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
        :param method: the method, such as POST. Default: GET.
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
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
        :param enlarge: enlarge pictures that are smaller than the box. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
        :param early_stop: end the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the
            thumbnails are done. Default: no.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: word by which requests can be cancelled. Default: none.
        :param progress_events: send events about the progress of the upload and the download. Default: no.
        :param resume: after a broken transfer keep the hidden partial file, so that a later request can continue
            it. Default: yes.
        :param freezable: put the request into the outbox if its server can't be reached, and send it later.
            Default: no.
        :param outbox_durable: store the request before the first attempt, so that it survives a kill during it.
            Default: no.
        :param outbox_queue: queue in the outbox; its requests are sent one after the other. Default: the URL's
            origin.
        :param outbox_handler: name of the handler that gets the outcome. Default: none: the outcome waits to be
            collected.
        :param secrets: providers of the values of secret headers, for later attempts. Default: none.
        :param password_provider: provider of the password of user. Default: none.
        :param outbox_attempts: after how many answers that report a temporary failure (408, 425, 429, 5xx) the
            request is put aside. Default: 25. None: no limit.
        :param outbox_max_age: longest time for all attempts. Default: 7d. None: no limit.
        :param outbox_key_lifetime: how long the server remembers the Idempotency-Key. Default: 24h. None: no limit.
        :param redirects: how many redirects are followed. Default: 10.
        :param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
            else the system's. "": as if not set.
        :param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
            rehash`). Default: from the environment, else the system's. "": as if not set.
        :param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
        :param expire_after: how long answers are fresh after they came; replaces their headers. Default: by headers
            and policy.
        :param body: body to send: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON; NaN and infinity raise Invalid.
        :param form: fields to send like a web form, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
        :param save_to: where the answer is saved while it arrives: a path, an open file or descriptor, a function,
            or a list of these.
        :param append: add to the end of the files that save_to names.
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
        """Cancels the requests that are under way, or only those with a tag."""
    def wait_idle(self, timeout: Duration=None) -> bool:
        """Waits until no request is under way. Returns False after ``timeout`` seconds."""
    @property
    def activity(self) -> int:
        """The number of requests under way: queued, running, or waiting for a retry."""
    @property
    def options(self) -> _wishes.CacheWishes:
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
        decode: Optional[DecodePlace] = ...,
        ask_headers: AskHeaders = ...,
        ask_credentials: AskCredentials = ...,
        ask_challenge: AskChallenge = ...,
        ask_verdict: AskVerdict = ...,
    ) -> Site:
        """Returns a site: a base URL and the options that requests to it share.

        User and password are sent to the base URL's origin only. With ``user=(name, "")`` and
        ``password_provider="env:NAME"`` the environment variable has the password. ``secrets`` work as in
        :class:`Cache`. A site whose secrets are given in this way can be pickled. Sites with the same base URL, user
        and partition share their cookies. An option that is not given is that of the cache. A question that is None is
        not asked.

        :param policy: which stored answers count as fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
            "kit": Pictures stay fresh for days unless the server says otherwise. Any other answer without a
            lifetime is revalidated each time.
            "rfc9111": RFC 9111, to the letter.
            "offline": Every stored answer is fresh, however old; the network is never used.
            "reload": No stored answer is used; new answers are stored.
        :param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
        :param image_ttl: kit: how long pictures without any caching header are fresh. Default: 7d.
        :param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
        :param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
            fresh. Default: 0.1.
        :param timeout: longest time without a byte: connecting, waiting, between two bytes. Default: 30s. None: no
            limit.
            A slow answer may take any time as long as bytes come: `deadline` limits the whole request.
        :param deadline: longest time for the whole request. Default: two minutes for pictures, else none. None: no
            limit.
            A deadline that is set counts from the call, and includes the wait in the queue. For requests of a batch
            (`batched`) it counts from the first attempt. It also runs while the request waits because the server
            asked for a pause (Retry-After). The default deadline of pictures excludes both waits.
        :param retries: further attempts after a failed one. Default: 3.
            Only requests that may be sent twice are retried: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not POST
            and PATCH. A retry follows a connection fault (`timeout`, `dns`, `refused`, `reset`, `truncated`),
            something else than an answer on a kept connection (`http`), and the statuses 408, 425, 429, 500, 502,
            503 and 504. Each retry waits for a random time: up to 250 ms, 500 ms and so on, up to 20 s. If the
            server sends Retry-After, the retry waits for that time; if it is longer than five minutes, there is no
            retry. The last retry of a batch request (`batched`) waits 5 s if the host refused or broke the
            connection.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            An answer that is saved while it arrives has no limit unless its request sets one.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local addresses (cloud metadata), and no private ones after a redirect from a public
            one.
            "public": Only public addresses.
            "any": All addresses.
        :param proxy: proxy for all requests; empty for none. Default: from the environment. "": none.
            `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came through a proxy are
            stored separately, for that proxy only.
            The address guard (`addresses`) checks addresses in URLs, and names that this machine can look up within
            a second. A name that only the proxy can look up passes the guard. The guard can't check which address
            the proxy connects to: give the proxy its own rules. With `socks5h://` this machine looks up no name.
        :param headers: headers to send, in this order. Default: none.
            A header replaces the headers of the same name that the library or a level above would send. A later
            value for the same request replaces all earlier values of that name.
        :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
            A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`,
            `Content-Type` and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if
            their values are secret. `Host` is never sent there. The names of all levels are added together.
        :param user_agent: value of the User-Agent header. Default: nuthatch/VERSION. "": an empty header.
        :param accept: value of the Accept header, or the word modern. Default: anything; for pictures, JPEG, PNG
            and GIF first. "": an empty header.
            `modern` asks for pictures in AVIF and WebP, too: fewer bytes, for links that cost money, and several
            times the time to decode. Requests for anything else are sent as usual.
        :param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
            netrc has a user.
            They are sent to the site's origin, or to the origin of the request's URL, and to no other, also after
            redirects.
        :param sign_in: how user and password are sent: "basic", "digest", "ntlm", "negotiate" or "any". Default:
            basic.
            "basic": Basic, with the first request.
            "digest": Digest, after the server has asked for it. If the server demands that the body is protected,
            too (`auth-int` and not `auth`), a request with a body fails with the error `http` (status 401).
            "ntlm": NTLM, after the server has asked for it.
            "negotiate": Negotiate (Kerberos), if libcurl supports it; without user and password, with the system's
            Kerberos credentials.
            "any": The strongest scheme that the server offers, Basic is the weakest. Without a password: Negotiate,
            which needs none.
        :param cert: client certificate, a file in PEM. Default: none.
        :param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
            None: none.
            It is used if nothing else gives credentials. The file must belong to you or to root, and no other user
            may write to it.
        :param partition: name that separates these answers from others, instead of the credentials. Default: the
            credentials.
            Useful for tokens that change.
        :param cookie_jar: whether cookies that the servers set are sent back, and where they are stored: "off",
            "memory" or "disk". Default: off.
            "off": Cookies are ignored.
            "memory": In memory, while the directory is open in this process.
            "disk": Also in the cache's directory, for other and later processes: readable for its owner only, and
            not encrypted.
            Sites with the same base URL, user and partition share their cookies. A request that is sent from the
            outbox has no cookies of its site.
        :param secrets: providers of the values of secret headers, for later attempts. Default: none.
            The values are never written. The provider `env:NAME` reads an environment variable; the program gives
            the values of other providers.
        :param password_provider: provider of the password of user. Default: none.
            A request without a user that asks its program for credentials needs a provider, which then gives both,
            as `name:password`. Only the first attempt asks the program. The outbox asks the provider, and sends
            nothing before it has both.
        :param redirects: how many redirects are followed. Default: 10.
            After a 303, and after a 301 or 302 to a POST, a GET without the body follows; else the method and the
            body stay. With none a redirect is the answer, with its status and its `Location`, and is stored
            separately from the answer at its target. One redirect too many is the error `too_many_redirects`. A
            stored answer that needed more redirects than are allowed is fetched again.
        :param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
            else the system's. "": as if not set.
            They replace all others: if `ca_file` or `ca_dir` is set, the certificates of the system and of the
            environment don't count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the
            folder is `SSL_CERT_DIR`, else the system's. A privileged program doesn't read these environment
            variables.
            An answer that was fetched with your own certificates, or unchecked, is stored separately from all
            others. A site's value counts at the site's origin; the value of a cache or a request counts for all
            servers, also after redirects. It applies to servers, not to a proxy over `https`.
        :param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
            rehash`). Default: from the environment, else the system's. "": as if not set.
            Like `ca_file`. Both can be set together. A request or a site that sets one of them takes neither from
            its cache.
        :param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
            For your own servers that have no certificate that `ca_file` could name. The log gets a warning, once in
            each process. A site's value counts at the site's origin, as for `ca_file`.
        :param expire_after: how long answers are fresh after they came; replaces their headers. Default: by headers
            and policy.
            It counts when this request looks into the cache; it changes nothing that is stored. Zero: answers
            expire at once, so the server is asked whether a stored answer is still valid. The headers
            (`must-revalidate`, `stale-while-revalidate`) and `delivery` still decide whether a stale answer may be
            delivered. Fractions of a second are rounded up.
        :param decode: where pictures are decoded: "here" or "isolated". Default: here.
            "here": In this process.
            "isolated": In a process of their own, which has no network and no files: for pictures of strangers. The
            pixels are the same. If the decoder is taken over or crashes there, this process goes on.
            SVG and HEIC are always decoded in the process of their own. docs/ISOLATION.md of the sources says what
            it may do and what it costs. A thumbnail that is stored is used whatever this option says.
        :param ask_headers: a function that is called with the URL before anything is looked up or sent, and returns
            headers to add.
        :param ask_credentials: a function that is called with a 401 of the URL's own origin, and returns user and
            password, or None.
        :param ask_challenge: a function that is called with a 401 of the URL's own origin, and returns headers for
            another attempt, or None.
            It is called even if the request already had credentials. The headers replace those of the same name. If
            the server refuses these, too, the function is called again, up to ten times: for schemes that the
            library doesn't know, and tokens that have expired.
        :param ask_verdict: a function that gets an answer from the network before it is stored: returns True, False
            (it fails) or "retry".
            These functions run on the thread that waits for the ticket. If no thread waits, the request goes on
            after 30 seconds. An exception in a function ends the request, and is raised in the waiting thread.
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

        With options, removes only the answer that a request with these options would get.

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
    def __enter__(self) -> Cache: ...
    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]) -> None: ...
    def __del__(self, _is_ending: Callable[[], bool]=...) -> None: ...
    def _reduced(self) -> Tuple[Any, ...]: ...
    def __reduce__(self) -> Tuple[Any, ...]: ...
    def __copy__(self) -> Cache: ...
    def __deepcopy__(self, memo: Any) -> Cache: ...
    def __repr__(self) -> str: ...
    def _ready(self, url: str, size: Size, options: Mapping[str, Any]) -> Optional[Image]: ...
    def _stored(self, url: str, place: Any) -> Optional[Response]: ...
    @property
    def _cache(self) -> Cache: ...
    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int: ...
    def _wait_idle(self, patience: int) -> bool: ...
    def _drain(self, seconds: Duration) -> None: ...
    def _drained(self, patience: int) -> bool: ...
    def _for(self, cache: Cache) -> Fetching: ...
    def _of_twins(self, ask: Callable[[Cache], T]) -> Iterator[T]: ...
    def _twin(self) -> Cache: ...
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
