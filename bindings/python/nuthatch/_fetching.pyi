# Generated from options.toml by Scripts/make-header, and from _fetching.py; edit those instead.

import ctypes
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Union, overload
from . import _prototypes as abi
from ._cache import Cache
from ._image import Image, Size
from ._later import _prefetch
from ._option_values import AskChallenge, AskCredentials, AskHeaders, AskVerdict, Body, Certificate, Fields, FileName, Files, HeaderArgument, Netrc, Secrets, SinkArgument, User
from ._quantities import ByteCount, Duration, PixelCount
from ._response import Response
from ._ticket import Ticket
from ._wishes import Addresses, DecodePlace, Delivery, Fit, Policy, Scaling, SignIn

class Fetching:
    """The requests of :class:`Cache` and :class:`Site`."""
    _asks: Dict[str, Any]
    _twins: Set[Any]
    @property
    def _cache(self) -> Cache: ...
    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int: ...
    def _for(self, cache: Cache) -> Fetching: ...
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
        """As :meth:`Cache.peek`.

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
    def get(
        self, url: str,
        *,
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
        decode: Optional[DecodePlace] = ...,
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
    ) -> Response:
        """Fetches a URL and waits for the answer. Any status is an answer. Redirects are followed (``redirects``).

        Other threads run meanwhile, and Ctrl-C ends the wait and the request.

        :raises TimeoutError, TransportError, TooLarge, BadURL, ...: if there is no answer.

        >>> cache.get(url, headers={"Accept": "text/plain"}).text
        'hello'

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
        :param decode: where pictures are decoded: "here" or "isolated". Default: here.
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
    def request(
        self, method: str, url: str,
        *,
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
        decode: Optional[DecodePlace] = ...,
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
    ) -> Response:
        """Sends a request with any method and waits for the answer.

        >>> cache.request("POST", echo_url, json={"seeds": 3}).json()["body"]
        '{"seeds": 3}'
        >>> cache.request("POST", echo_url, form={"kind": "hazel", "count": 2}).json()["body"]
        'kind=hazel&count=2'

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
        :param decode: where pictures are decoded: "here" or "isolated". Default: here.
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
    def thumbnail(
        self, url: str, size: Size,
        *,
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
        decode: Optional[DecodePlace] = ...,
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
    ) -> Image:
        """Returns a picture that fits a box. Uses the network unless a fresh thumbnail is stored.

        :raises HTTPStatusError: if the answer is not a success.

        >>> cache.thumbnail(picture_url, (100, 20), fit="cover").size
        (100, 20)

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
        :param decode: where pictures are decoded: "here" or "isolated". Default: here.
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
    @overload
    def submit(
        self, url: str, *, size: None=None, sizes: None=None,
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
        decode: Optional[DecodePlace] = ...,
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
    ) -> Ticket[Response]:
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
        :param give_up_after: how long a host may be unreachable before its requests fail. Default: five minutes for
            requests of a batch, else none. None: no limit.
            The limit counts from the host's last good answer. A host is unavailable if it can't be reached, or
            answers 429 or 503. The request waits for the host up to the limit, even beyond `retries`, and that wait
            isn't part of its deadline. After the limit it fails with the fault or the status. A millisecond means
            almost no wait. A request that must not be sent twice, or that is freezable, doesn't wait. A host that
            has never answered counts as unreachable after five failed requests in a row. Until then `retries`
            decides.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            An answer that is saved while it arrives has no limit unless its request sets one.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local addresses (cloud metadata), and no private ones after a redirect from a public
            one.
            "public": Only public addresses.
            "any": All addresses.
        :param method: the method, such as POST. Default: GET.
            A method that HTTP defines is put into capitals; any other is sent as it is spelled.
        :param headers: headers to send, in this order. Default: none.
            A header replaces the headers of the same name that the library or a level above would send. A later
            value for the same request replaces all earlier values of that name.
        :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
            A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`,
            `Content-Type` and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if
            their values are secret. `Host` is never sent there. The names of all levels are added together.
        :param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
            netrc has a user.
            They are sent to the site's origin, or to the origin of the request's URL, and to no other, also after
            redirects.
        :param bearer: token to sign in with, sent to the origin of the URL and to no other. Default: none.
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
        :param cache_key: cache key of the answer, instead of the URL. Default: the URL.
            For URLs that contain a signature or a date.
        :param ignore_query: store and find the answer by the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
            "inside": The whole picture fits into the box.
            "cover": The picture covers the box; the rest is cut off.
            "stretch": The picture gets exactly the sides of the box, even if that distorts it.
        :param enlarge: enlarge pictures that are smaller than the box. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
            "best": As much as can improve the result.
            "fast": As little as possible.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
            Such an image is marked as partial.
        :param early_stop: end the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the
            thumbnails are done. Default: no.
            Only if much of the body is still missing. Other sizes then need another fetch, because the original
            isn't stored. If the cache stores no originals (`keep_source`), transfers always may end early.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
            "twice": A stale answer at once, and then the fresh one, or the error.
            "first": One answer, also a stale one, which is then revalidated in the background. If the program
            judges answers (a verdict), the same as fresh.
            "fresh": One answer, which is fresh, or which its server allows to use during the revalidation
            (`stale-while-revalidate`). If the server can't be asked, fails (429, 5xx), or takes longer than the
            deadline, a stale answer is delivered instead.
            A call that waits for one answer treats twice as fresh.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: word by which requests can be cancelled. Default: none.
        :param progress_events: send events about the progress of the upload and the download. Default: no.
        :param resume: after a broken transfer keep the hidden partial file, so that a later request can continue
            it. Default: yes.
        :param freezable: put the request into the outbox if its server can't be reached, and send it later.
            Default: no.
            POST, PUT, PATCH and DELETE only. The request is sent at once. If no answer comes, it is stored with its
            body: after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry,
            and at its deadline. It is stored without an attempt if other requests of its queue wait
            (`outbox_queue`) or if its secret isn't known. An answer to this first attempt is delivered, with any
            status. Later the outbox sends the request in its turn, from any process that has the directory open.
            The request gets an Idempotency-Key unless it has one; every attempt sends the same key.
            No secret is written to disk. User and password, and headers whose names contain auth, token, key,
            secret, session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
            `password_provider`); without one the request fails with `secret_needs_provider`. Credentials of a
            .netrc need a provider, too, and so does a token that the answer to a question for headers adds; other
            headers that it adds are stored. Only the first attempt sends a site's cookies. The site's proxy is
            stored, and must have no password. URL and body are written in clear, readable for the directory's owner
            only.
        :param outbox_durable: store the request before the first attempt, so that it survives a kill during it.
            Default: no.
        :param outbox_queue: queue in the outbox; its requests are sent one after the other. Default: the URL's
            origin.
            While one of them waits, later ones are stored without an attempt, also if their server can be reached.
        :param outbox_handler: name of the handler that gets the outcome. Default: none: the outcome waits to be
            collected.
            An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
        :param secrets: providers of the values of secret headers, for later attempts. Default: none.
            The values are never written. The provider `env:NAME` reads an environment variable; the program gives
            the values of other providers.
        :param password_provider: provider of the password of user. Default: none.
            A request without a user that asks its program for credentials needs a provider, which then gives both,
            as `name:password`. Only the first attempt asks the program. The outbox asks the provider, and sends
            nothing before it has both.
        :param outbox_attempts: after how many answers that report a temporary failure (408, 425, 429, 5xx) the
            request is put aside. Default: 25. None: no limit.
            An attempt that the server can't have received doesn't count. One that it may have received counts, also
            without an answer.
        :param outbox_max_age: longest time for all attempts. Default: 7d. None: no limit.
        :param outbox_key_lifetime: how long the server remembers the Idempotency-Key. Default: 24h. None: no limit.
            A POST or PATCH that may have arrived isn't sent again after this time; with none it is sent again
            without a limit.
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
        :param body: body to send: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON; NaN and infinity raise Invalid.
        :param form: fields to send like a web form, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
            A path is read while it is sent, an open file from its current position.
        :param save_to: where the answer is saved while it arrives: a path, an open file or descriptor, a function,
            or a list of these.
            A function is called with each piece, on the thread that waits for the ticket. An object with its own
            `write`, such as the result of `gzip.open(path, "wb")`, gets the bytes through `write`; text files raise
            TypeError. With AsyncCache the function is called on the event loop and may be `async`; the next piece
            is received when the function is done with this one. Elsewhere an `async` function raises Invalid. For a
            plain open file the bytes are written to its descriptor, not through its buffers.
            A file appears under its name only when it is complete. The answer may be larger than the cache's
            `max_bytes`; then the response has no body. A broken transfer is continued, also by the next request for
            the same file, unless `resume` is False.
        :param append: add to the end of the files that save_to names.
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
    @overload
    def submit(
        self, url: str, *, size: Size, sizes: None=None,
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
        decode: Optional[DecodePlace] = ...,
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
    ) -> Ticket[Image]:
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
        :param give_up_after: how long a host may be unreachable before its requests fail. Default: five minutes for
            requests of a batch, else none. None: no limit.
            The limit counts from the host's last good answer. A host is unavailable if it can't be reached, or
            answers 429 or 503. The request waits for the host up to the limit, even beyond `retries`, and that wait
            isn't part of its deadline. After the limit it fails with the fault or the status. A millisecond means
            almost no wait. A request that must not be sent twice, or that is freezable, doesn't wait. A host that
            has never answered counts as unreachable after five failed requests in a row. Until then `retries`
            decides.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            An answer that is saved while it arrives has no limit unless its request sets one.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local addresses (cloud metadata), and no private ones after a redirect from a public
            one.
            "public": Only public addresses.
            "any": All addresses.
        :param method: the method, such as POST. Default: GET.
            A method that HTTP defines is put into capitals; any other is sent as it is spelled.
        :param headers: headers to send, in this order. Default: none.
            A header replaces the headers of the same name that the library or a level above would send. A later
            value for the same request replaces all earlier values of that name.
        :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
            A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`,
            `Content-Type` and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if
            their values are secret. `Host` is never sent there. The names of all levels are added together.
        :param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
            netrc has a user.
            They are sent to the site's origin, or to the origin of the request's URL, and to no other, also after
            redirects.
        :param bearer: token to sign in with, sent to the origin of the URL and to no other. Default: none.
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
        :param cache_key: cache key of the answer, instead of the URL. Default: the URL.
            For URLs that contain a signature or a date.
        :param ignore_query: store and find the answer by the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
            "inside": The whole picture fits into the box.
            "cover": The picture covers the box; the rest is cut off.
            "stretch": The picture gets exactly the sides of the box, even if that distorts it.
        :param enlarge: enlarge pictures that are smaller than the box. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
            "best": As much as can improve the result.
            "fast": As little as possible.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
            Such an image is marked as partial.
        :param early_stop: end the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the
            thumbnails are done. Default: no.
            Only if much of the body is still missing. Other sizes then need another fetch, because the original
            isn't stored. If the cache stores no originals (`keep_source`), transfers always may end early.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
            "twice": A stale answer at once, and then the fresh one, or the error.
            "first": One answer, also a stale one, which is then revalidated in the background. If the program
            judges answers (a verdict), the same as fresh.
            "fresh": One answer, which is fresh, or which its server allows to use during the revalidation
            (`stale-while-revalidate`). If the server can't be asked, fails (429, 5xx), or takes longer than the
            deadline, a stale answer is delivered instead.
            A call that waits for one answer treats twice as fresh.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: word by which requests can be cancelled. Default: none.
        :param progress_events: send events about the progress of the upload and the download. Default: no.
        :param resume: after a broken transfer keep the hidden partial file, so that a later request can continue
            it. Default: yes.
        :param freezable: put the request into the outbox if its server can't be reached, and send it later.
            Default: no.
            POST, PUT, PATCH and DELETE only. The request is sent at once. If no answer comes, it is stored with its
            body: after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry,
            and at its deadline. It is stored without an attempt if other requests of its queue wait
            (`outbox_queue`) or if its secret isn't known. An answer to this first attempt is delivered, with any
            status. Later the outbox sends the request in its turn, from any process that has the directory open.
            The request gets an Idempotency-Key unless it has one; every attempt sends the same key.
            No secret is written to disk. User and password, and headers whose names contain auth, token, key,
            secret, session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
            `password_provider`); without one the request fails with `secret_needs_provider`. Credentials of a
            .netrc need a provider, too, and so does a token that the answer to a question for headers adds; other
            headers that it adds are stored. Only the first attempt sends a site's cookies. The site's proxy is
            stored, and must have no password. URL and body are written in clear, readable for the directory's owner
            only.
        :param outbox_durable: store the request before the first attempt, so that it survives a kill during it.
            Default: no.
        :param outbox_queue: queue in the outbox; its requests are sent one after the other. Default: the URL's
            origin.
            While one of them waits, later ones are stored without an attempt, also if their server can be reached.
        :param outbox_handler: name of the handler that gets the outcome. Default: none: the outcome waits to be
            collected.
            An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
        :param secrets: providers of the values of secret headers, for later attempts. Default: none.
            The values are never written. The provider `env:NAME` reads an environment variable; the program gives
            the values of other providers.
        :param password_provider: provider of the password of user. Default: none.
            A request without a user that asks its program for credentials needs a provider, which then gives both,
            as `name:password`. Only the first attempt asks the program. The outbox asks the provider, and sends
            nothing before it has both.
        :param outbox_attempts: after how many answers that report a temporary failure (408, 425, 429, 5xx) the
            request is put aside. Default: 25. None: no limit.
            An attempt that the server can't have received doesn't count. One that it may have received counts, also
            without an answer.
        :param outbox_max_age: longest time for all attempts. Default: 7d. None: no limit.
        :param outbox_key_lifetime: how long the server remembers the Idempotency-Key. Default: 24h. None: no limit.
            A POST or PATCH that may have arrived isn't sent again after this time; with none it is sent again
            without a limit.
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
        :param body: body to send: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON; NaN and infinity raise Invalid.
        :param form: fields to send like a web form, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
            A path is read while it is sent, an open file from its current position.
        :param save_to: where the answer is saved while it arrives: a path, an open file or descriptor, a function,
            or a list of these.
            A function is called with each piece, on the thread that waits for the ticket. An object with its own
            `write`, such as the result of `gzip.open(path, "wb")`, gets the bytes through `write`; text files raise
            TypeError. With AsyncCache the function is called on the event loop and may be `async`; the next piece
            is received when the function is done with this one. Elsewhere an `async` function raises Invalid. For a
            plain open file the bytes are written to its descriptor, not through its buffers.
            A file appears under its name only when it is complete. The answer may be larger than the cache's
            `max_bytes`; then the response has no body. A broken transfer is continued, also by the next request for
            the same file, unless `resume` is False.
        :param append: add to the end of the files that save_to names.
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
    @overload
    def submit(
        self, url: str, *, size: None=None, sizes: Sequence[Size],
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
        decode: Optional[DecodePlace] = ...,
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
    ) -> Ticket[List[Image]]:
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
        :param give_up_after: how long a host may be unreachable before its requests fail. Default: five minutes for
            requests of a batch, else none. None: no limit.
            The limit counts from the host's last good answer. A host is unavailable if it can't be reached, or
            answers 429 or 503. The request waits for the host up to the limit, even beyond `retries`, and that wait
            isn't part of its deadline. After the limit it fails with the fault or the status. A millisecond means
            almost no wait. A request that must not be sent twice, or that is freezable, doesn't wait. A host that
            has never answered counts as unreachable after five failed requests in a row. Until then `retries`
            decides.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            An answer that is saved while it arrives has no limit unless its request sets one.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local addresses (cloud metadata), and no private ones after a redirect from a public
            one.
            "public": Only public addresses.
            "any": All addresses.
        :param method: the method, such as POST. Default: GET.
            A method that HTTP defines is put into capitals; any other is sent as it is spelled.
        :param headers: headers to send, in this order. Default: none.
            A header replaces the headers of the same name that the library or a level above would send. A later
            value for the same request replaces all earlier values of that name.
        :param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
            A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`,
            `Content-Type` and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if
            their values are secret. `Host` is never sent there. The names of all levels are added together.
        :param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
            netrc has a user.
            They are sent to the site's origin, or to the origin of the request's URL, and to no other, also after
            redirects.
        :param bearer: token to sign in with, sent to the origin of the URL and to no other. Default: none.
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
        :param cache_key: cache key of the answer, instead of the URL. Default: the URL.
            For URLs that contain a signature or a date.
        :param ignore_query: store and find the answer by the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
            "inside": The whole picture fits into the box.
            "cover": The picture covers the box; the rest is cut off.
            "stretch": The picture gets exactly the sides of the box, even if that distorts it.
        :param enlarge: enlarge pictures that are smaller than the box. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
            "best": As much as can improve the result.
            "fast": As little as possible.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
            Such an image is marked as partial.
        :param early_stop: end the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the
            thumbnails are done. Default: no.
            Only if much of the body is still missing. Other sizes then need another fetch, because the original
            isn't stored. If the cache stores no originals (`keep_source`), transfers always may end early.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
            "twice": A stale answer at once, and then the fresh one, or the error.
            "first": One answer, also a stale one, which is then revalidated in the background. If the program
            judges answers (a verdict), the same as fresh.
            "fresh": One answer, which is fresh, or which its server allows to use during the revalidation
            (`stale-while-revalidate`). If the server can't be asked, fails (429, 5xx), or takes longer than the
            deadline, a stale answer is delivered instead.
            A call that waits for one answer treats twice as fresh.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: word by which requests can be cancelled. Default: none.
        :param progress_events: send events about the progress of the upload and the download. Default: no.
        :param resume: after a broken transfer keep the hidden partial file, so that a later request can continue
            it. Default: yes.
        :param freezable: put the request into the outbox if its server can't be reached, and send it later.
            Default: no.
            POST, PUT, PATCH and DELETE only. The request is sent at once. If no answer comes, it is stored with its
            body: after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry,
            and at its deadline. It is stored without an attempt if other requests of its queue wait
            (`outbox_queue`) or if its secret isn't known. An answer to this first attempt is delivered, with any
            status. Later the outbox sends the request in its turn, from any process that has the directory open.
            The request gets an Idempotency-Key unless it has one; every attempt sends the same key.
            No secret is written to disk. User and password, and headers whose names contain auth, token, key,
            secret, session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
            `password_provider`); without one the request fails with `secret_needs_provider`. Credentials of a
            .netrc need a provider, too, and so does a token that the answer to a question for headers adds; other
            headers that it adds are stored. Only the first attempt sends a site's cookies. The site's proxy is
            stored, and must have no password. URL and body are written in clear, readable for the directory's owner
            only.
        :param outbox_durable: store the request before the first attempt, so that it survives a kill during it.
            Default: no.
        :param outbox_queue: queue in the outbox; its requests are sent one after the other. Default: the URL's
            origin.
            While one of them waits, later ones are stored without an attempt, also if their server can be reached.
        :param outbox_handler: name of the handler that gets the outcome. Default: none: the outcome waits to be
            collected.
            An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
        :param secrets: providers of the values of secret headers, for later attempts. Default: none.
            The values are never written. The provider `env:NAME` reads an environment variable; the program gives
            the values of other providers.
        :param password_provider: provider of the password of user. Default: none.
            A request without a user that asks its program for credentials needs a provider, which then gives both,
            as `name:password`. Only the first attempt asks the program. The outbox asks the provider, and sends
            nothing before it has both.
        :param outbox_attempts: after how many answers that report a temporary failure (408, 425, 429, 5xx) the
            request is put aside. Default: 25. None: no limit.
            An attempt that the server can't have received doesn't count. One that it may have received counts, also
            without an answer.
        :param outbox_max_age: longest time for all attempts. Default: 7d. None: no limit.
        :param outbox_key_lifetime: how long the server remembers the Idempotency-Key. Default: 24h. None: no limit.
            A POST or PATCH that may have arrived isn't sent again after this time; with none it is sent again
            without a limit.
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
        :param body: body to send: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON; NaN and infinity raise Invalid.
        :param form: fields to send like a web form, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
            A path is read while it is sent, an open file from its current position.
        :param save_to: where the answer is saved while it arrives: a path, an open file or descriptor, a function,
            or a list of these.
            A function is called with each piece, on the thread that waits for the ticket. An object with its own
            `write`, such as the result of `gzip.open(path, "wb")`, gets the bytes through `write`; text files raise
            TypeError. With AsyncCache the function is called on the event loop and may be `async`; the next piece
            is received when the function is done with this one. Elsewhere an `async` function raises Invalid. For a
            plain open file the bytes are written to its descriptor, not through its buffers.
            A file appears under its name only when it is complete. The answer may be larger than the cache's
            `max_bytes`; then the response has no body. A broken transfer is continued, also by the next request for
            the same file, unless `resume` is False.
        :param append: add to the end of the files that save_to names.
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
    def prefetch(
        self, urls: Iterable[str], sizes: Union[int, Sequence[Size]]=(256,), *, progress: bool=False, images: bool=False,
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
        headers: HeaderArgument = ...,
        keep_headers_across_origins: Optional[Sequence[str]] = ...,
        user: User = ...,
        bearer: Optional[str] = ...,
        sign_in: Optional[SignIn] = ...,
        cert: Certificate = ...,
        netrc: Netrc = ...,
        partition: Optional[str] = ...,
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
        decode: Optional[DecodePlace] = ...,
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
        :param decode: where pictures are decoded: "here" or "isolated". Default: here.
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
    def _perform(self, url: str, size: Optional[Size], options: Dict[str, Any]) -> Any: ...
    def _submit(self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any]) -> Ticket[Any]: ...
    def _complete(self, url: str, options: Dict[str, Any]) -> Dict[str, Any]: ...
    def _start(self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any], number: int=0) -> ctypes.c_void_p: ...
    def _start_again(self, ticket: ctypes.c_void_p, url: str) -> ctypes.c_void_p: ...
    def _sight(self, url: str, size: Size, decode: bool, options: Dict[str, Any]) -> Optional[Image]: ...
    def _with_options(self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any], use: Callable[[ctypes.c_void_p, bytes, Any], int], number: int=0) -> None: ...
