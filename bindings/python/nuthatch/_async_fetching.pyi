# Generated from options.toml by Scripts/make-header, and from _async_fetching.py; edit those instead.

from typing import Any, AsyncIterable, AsyncIterator, Dict, Iterable, List, Optional, Sequence, Union, overload
from ._async import AsyncCache
from ._async_ticket import AsyncTicket
from ._fetching import Fetching
from ._image import Image, Size
from ._option_values import AskChallenge, AskCredentials, AskHeaders, AskVerdict, Body, Certificate, Fields, FileName, Files, HeaderArgument, Netrc, Secrets, SinkArgument, User
from ._port import Port
from ._prefetch import Item
from ._quantities import ByteCount, Duration, PixelCount
from ._response import Response
from ._ticket import Event
from ._wishes import Addresses, DecodePlace, Delivery, Fit, Policy, Scaling, SignIn

class AsyncFetching:
    """The requests of :class:`AsyncCache` and :class:`AsyncSite`."""
    @property
    def _owner(self) -> AsyncCache: ...
    def _by(self, port: Port) -> Fetching: ...
    async def get(
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
        """As :meth:`Cache.get`.

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
    async def request(
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
        """As :meth:`Cache.request`.

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
    async def thumbnail(
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
        """As :meth:`Cache.thumbnail`. Returns a thumbnail that is in memory without a turn of the loop.

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
        """As :meth:`Cache.peek`. Returns at once; don't await it.

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
    ) -> AsyncTicket[Response]:
        """As :meth:`Cache.submit`. Returns at once; await the ticket that it returns.

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
    ) -> AsyncTicket[Image]:
        """As :meth:`Cache.submit`. Returns at once; await the ticket that it returns.

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
    ) -> AsyncTicket[List[Image]]:
        """As :meth:`Cache.submit`. Returns at once; await the ticket that it returns.

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
    def events(
        self, url: str, size: Optional[Size]=None, *, sizes: Optional[Sequence[Size]]=None,
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
    ) -> AsyncIterator[Event[Any]]:
        """Gives the events of a request as they come. Leaving the loop cancels the request.

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
    def prefetch(
        self, urls: Union[Iterable[str], AsyncIterable[str]], sizes: Union[int, Sequence[Size]]=(256,), *, progress: bool=False, images: bool=False,
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
    ) -> AsyncIterator[Item]:
        """As :meth:`Cache.prefetch`; ``urls`` may be an asynchronous iterable, too.

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
    async def _perform(self, url: str, size: Optional[Size], options: Dict[str, Any]) -> Any: ...
