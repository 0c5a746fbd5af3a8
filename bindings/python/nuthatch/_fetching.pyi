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
from ._wishes import Addresses, Delivery, Fit, Policy, Scaling, SignIn

class Fetching:
    """The requests of :class:`Cache` and :class:`Site`."""
    _asks: Dict[str, Any]
    _twins: Set[Any]
    @property
    def _cache(self) -> 'Cache': ...
    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int: ...
    def _for(self, cache: 'Cache') -> 'Fetching': ...
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
        """Returns a picture that fits a box, from a JPEG or PNG. Uses the network unless the cache has a fresh one.

        :raises HTTPStatusError: if the answer is not a success.

        >>> cache.thumbnail(picture_url, (100, 20), fit="cover").size
        (100, 20)

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
        :param give_up_after: how long a host may be out of reach before its requests fail. Default: five minutes
            for requests of a batch, else none. None: no limit.
            For how long the host may be out of reach, or have too much to do (429, 503), since its last good
            answer. Until then the request waits for the host, whatever `retries` says, and what it waits is no part
            of its deadline; after that it fails with the fault or the status. A millisecond is as good as no wait.
            A request that must not be sent twice, or that is freezable, doesn't wait either. A host that has never
            answered is out of reach once five requests to it have failed in a row. Before that, `retries` counts.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            What is saved while it comes may be of any size unless its request says a number.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local ones (cloud metadata), and no private ones by redirect from a public one.
            "public": Public ones only.
            "any": All.
        :param method: the method, such as POST. Default: GET.
            One that HTTP knows is put into capitals; any other is sent as it is spelled.
        :param headers: headers that are sent, in this order. Default: none.
            A header replaces those of the same name that a level above, or the library, would send. Said again for
            the same request, they take the place of all those that were said before.
        :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
            When a redirect, or the URL of a site's request, leads to another origin, headers stay behind, but for
            harmless ones (`Accept`, `Content-Type` and their like: docs/HTTP.md of the sources) and these, whatever
            secrets are in them; `Host` never goes. All levels together name them.
        :param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
            netrc has a user.
            They go to the site's origin, or that of the request's URL, and to no other, also across redirects.
        :param bearer: sign in with a token, sent to the origin of the URL and to no other. Default: none.
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
        :param cache_key: what the answer is kept under, instead of the URL. Default: the URL.
            For URLs that carry a signature or a date.
        :param ignore_query: keep the answer under the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
            "inside": All of it is inside of the box.
            "cover": It covers the box; what is beyond is cut off.
            "stretch": It has the sides of the box, whatever its own are.
        :param enlarge: make smaller pictures larger. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
            "best": As much as can be told from all of it.
            "fast": As little as will do.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
            Such an image is marked as partial.
        :param early_stop: end the transfer of a progressive JPEG when the thumbnails are done. Default: no.
            Where much of it remains. Other sizes cost another fetch then, because the original isn't kept. Where
            originals aren't kept anyway it always may.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
            "twice": A stale one at once, and after it the fresh one, or why there is none.
            "first": One answer, a stale one too; it is revalidated behind. Where the program judges answers (a
            verdict) it is as fresh.
            "fresh": One answer, which holds now, or which its server lets be shown while it is asked
            (`stale-while-revalidate`). Where the server can't be asked, fails (429, 5xx), or takes longer than the
            deadline, a stale one is given in its place.
            A call that waits for one answer takes twice for fresh.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: a word to cancel by. Default: none.
        :param progress_events: tell of progress, of what is sent and of what comes. Default: no.
        :param resume: keep a file whose transfer broke off, hidden, to be gone on with. Default: yes.
        :param freezable: keep it in the outbox, and send it when its server can be reached again. Default: no.
            POST, PUT, PATCH and DELETE only. It is sent at once, and kept, body and all, where no answer comes:
            after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry, and at
            its deadline. It is kept untried where others of its queue wait (`outbox_queue`), or its secret isn't
            known. An answer to this first attempt is its answer, whatever its status. Later it is sent in its turn,
            by any process that has the directory open. It gets an Idempotency-Key unless it has one, the same for
            every attempt.
            Nothing secret is written: user and password, and headers whose names hold auth, token, key, secret,
            session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
            `password_provider`), or the request is `secret_needs_provider`. What a .netrc has needs one, too, and
            so does a token that the answer to a question for headers adds; other headers that it adds are kept. A
            site's cookies go with the first attempt only, its proxy is kept, and must have no password. URL and
            body are written as they are, for the directory's owner to read.
        :param outbox_durable: write it down before the first attempt, so that not even a kill in the middle loses
            it. Default: no.
        :param outbox_queue: requests of one queue are sent one after the other. Default: the URL's origin.
            While one of them waits, those after it are kept untried, also where their server can be reached.
        :param outbox_handler: who gets the outcome. Default: none: the outcome waits to be collected.
            An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
        :param secrets: where the values of secret headers come from when it is sent later. Default: none.
            The values are never written. A provider `env:NAME` is a variable of the environment; others are told by
            the program.
        :param password_provider: who knows the password of user. Default: none.
            A request without a user that asks its program for one needs a provider; it knows both then, as
            `name:password`. Only the first attempt asks the program; the outbox asks the provider, and sends
            nothing before it has both.
        :param outbox_attempts: how often a server may answer that it can't now, before the request is put aside.
            Default: 25. None: no limit.
            Attempts that reach nobody don't count.
        :param outbox_max_age: for how long it is tried at all. Default: 7d. None: no limit.
        :param outbox_key_lifetime: for how long the server knows the Idempotency-Key. Default: 24h. None: no limit.
            A POST or PATCH that may have arrived isn't sent again later than that; with none it is, however late.
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
        :param body: what is sent: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON, in which NaN and infinity are Invalid.
        :param form: fields to send as a form does, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
            A path is read while it is sent, an open file from where it stands.
        :param save_to: where the answer goes while it comes: a path, an open file or descriptor, a function, or a
            list of these.
            A function is called with each piece, on the thread that waits for the ticket. What has a `write` of its
            own, as `gzip.open(path, "wb")` has, is written to by it; files of text are a TypeError. With AsyncCache
            the function is called on the event loop, may be `async`, and the next piece is received when it is done
            with this one; elsewhere an `async` one is Invalid. Of a plain open file the descriptor is written to,
            past its buffers.
            Files have their names only when they are complete. What is saved may be larger than the cache's
            `max_bytes`; then the response has no body. A transfer that broke off is gone on with, also by the next
            request for the same file, unless `resume` is False.
        :param append: add to the files that save_to names.
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
        :param give_up_after: how long a host may be out of reach before its requests fail. Default: five minutes
            for requests of a batch, else none. None: no limit.
            For how long the host may be out of reach, or have too much to do (429, 503), since its last good
            answer. Until then the request waits for the host, whatever `retries` says, and what it waits is no part
            of its deadline; after that it fails with the fault or the status. A millisecond is as good as no wait.
            A request that must not be sent twice, or that is freezable, doesn't wait either. A host that has never
            answered is out of reach once five requests to it have failed in a row. Before that, `retries` counts.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            What is saved while it comes may be of any size unless its request says a number.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local ones (cloud metadata), and no private ones by redirect from a public one.
            "public": Public ones only.
            "any": All.
        :param method: the method, such as POST. Default: GET.
            One that HTTP knows is put into capitals; any other is sent as it is spelled.
        :param headers: headers that are sent, in this order. Default: none.
            A header replaces those of the same name that a level above, or the library, would send. Said again for
            the same request, they take the place of all those that were said before.
        :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
            When a redirect, or the URL of a site's request, leads to another origin, headers stay behind, but for
            harmless ones (`Accept`, `Content-Type` and their like: docs/HTTP.md of the sources) and these, whatever
            secrets are in them; `Host` never goes. All levels together name them.
        :param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
            netrc has a user.
            They go to the site's origin, or that of the request's URL, and to no other, also across redirects.
        :param bearer: sign in with a token, sent to the origin of the URL and to no other. Default: none.
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
        :param cache_key: what the answer is kept under, instead of the URL. Default: the URL.
            For URLs that carry a signature or a date.
        :param ignore_query: keep the answer under the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
            "inside": All of it is inside of the box.
            "cover": It covers the box; what is beyond is cut off.
            "stretch": It has the sides of the box, whatever its own are.
        :param enlarge: make smaller pictures larger. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
            "best": As much as can be told from all of it.
            "fast": As little as will do.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
            Such an image is marked as partial.
        :param early_stop: end the transfer of a progressive JPEG when the thumbnails are done. Default: no.
            Where much of it remains. Other sizes cost another fetch then, because the original isn't kept. Where
            originals aren't kept anyway it always may.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
            "twice": A stale one at once, and after it the fresh one, or why there is none.
            "first": One answer, a stale one too; it is revalidated behind. Where the program judges answers (a
            verdict) it is as fresh.
            "fresh": One answer, which holds now, or which its server lets be shown while it is asked
            (`stale-while-revalidate`). Where the server can't be asked, fails (429, 5xx), or takes longer than the
            deadline, a stale one is given in its place.
            A call that waits for one answer takes twice for fresh.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: a word to cancel by. Default: none.
        :param progress_events: tell of progress, of what is sent and of what comes. Default: no.
        :param resume: keep a file whose transfer broke off, hidden, to be gone on with. Default: yes.
        :param freezable: keep it in the outbox, and send it when its server can be reached again. Default: no.
            POST, PUT, PATCH and DELETE only. It is sent at once, and kept, body and all, where no answer comes:
            after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry, and at
            its deadline. It is kept untried where others of its queue wait (`outbox_queue`), or its secret isn't
            known. An answer to this first attempt is its answer, whatever its status. Later it is sent in its turn,
            by any process that has the directory open. It gets an Idempotency-Key unless it has one, the same for
            every attempt.
            Nothing secret is written: user and password, and headers whose names hold auth, token, key, secret,
            session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
            `password_provider`), or the request is `secret_needs_provider`. What a .netrc has needs one, too, and
            so does a token that the answer to a question for headers adds; other headers that it adds are kept. A
            site's cookies go with the first attempt only, its proxy is kept, and must have no password. URL and
            body are written as they are, for the directory's owner to read.
        :param outbox_durable: write it down before the first attempt, so that not even a kill in the middle loses
            it. Default: no.
        :param outbox_queue: requests of one queue are sent one after the other. Default: the URL's origin.
            While one of them waits, those after it are kept untried, also where their server can be reached.
        :param outbox_handler: who gets the outcome. Default: none: the outcome waits to be collected.
            An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
        :param secrets: where the values of secret headers come from when it is sent later. Default: none.
            The values are never written. A provider `env:NAME` is a variable of the environment; others are told by
            the program.
        :param password_provider: who knows the password of user. Default: none.
            A request without a user that asks its program for one needs a provider; it knows both then, as
            `name:password`. Only the first attempt asks the program; the outbox asks the provider, and sends
            nothing before it has both.
        :param outbox_attempts: how often a server may answer that it can't now, before the request is put aside.
            Default: 25. None: no limit.
            Attempts that reach nobody don't count.
        :param outbox_max_age: for how long it is tried at all. Default: 7d. None: no limit.
        :param outbox_key_lifetime: for how long the server knows the Idempotency-Key. Default: 24h. None: no limit.
            A POST or PATCH that may have arrived isn't sent again later than that; with none it is, however late.
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
        :param body: what is sent: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON, in which NaN and infinity are Invalid.
        :param form: fields to send as a form does, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
            A path is read while it is sent, an open file from where it stands.
        :param save_to: where the answer goes while it comes: a path, an open file or descriptor, a function, or a
            list of these.
            A function is called with each piece, on the thread that waits for the ticket. What has a `write` of its
            own, as `gzip.open(path, "wb")` has, is written to by it; files of text are a TypeError. With AsyncCache
            the function is called on the event loop, may be `async`, and the next piece is received when it is done
            with this one; elsewhere an `async` one is Invalid. Of a plain open file the descriptor is written to,
            past its buffers.
            Files have their names only when they are complete. What is saved may be larger than the cache's
            `max_bytes`; then the response has no body. A transfer that broke off is gone on with, also by the next
            request for the same file, unless `resume` is False.
        :param append: add to the files that save_to names.
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
        :param give_up_after: how long a host may be out of reach before its requests fail. Default: five minutes
            for requests of a batch, else none. None: no limit.
            For how long the host may be out of reach, or have too much to do (429, 503), since its last good
            answer. Until then the request waits for the host, whatever `retries` says, and what it waits is no part
            of its deadline; after that it fails with the fault or the status. A millisecond is as good as no wait.
            A request that must not be sent twice, or that is freezable, doesn't wait either. A host that has never
            answered is out of reach once five requests to it have failed in a row. Before that, `retries` counts.
        :param max_bytes: largest body. Default: 64MiB. None: no limit.
            What is saved while it comes may be of any size unless its request says a number.
        :param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
        :param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
            "guarded": No link-local ones (cloud metadata), and no private ones by redirect from a public one.
            "public": Public ones only.
            "any": All.
        :param method: the method, such as POST. Default: GET.
            One that HTTP knows is put into capitals; any other is sent as it is spelled.
        :param headers: headers that are sent, in this order. Default: none.
            A header replaces those of the same name that a level above, or the library, would send. Said again for
            the same request, they take the place of all those that were said before.
        :param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
            When a redirect, or the URL of a site's request, leads to another origin, headers stay behind, but for
            harmless ones (`Accept`, `Content-Type` and their like: docs/HTTP.md of the sources) and these, whatever
            secrets are in them; `Host` never goes. All levels together name them.
        :param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
            netrc has a user.
            They go to the site's origin, or that of the request's URL, and to no other, also across redirects.
        :param bearer: sign in with a token, sent to the origin of the URL and to no other. Default: none.
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
        :param cache_key: what the answer is kept under, instead of the URL. Default: the URL.
            For URLs that carry a signature or a date.
        :param ignore_query: keep the answer under the URL without its query. Default: no.
        :param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
            "inside": All of it is inside of the box.
            "cover": It covers the box; what is beyond is cut off.
            "stretch": It has the sides of the box, whatever its own are.
        :param enlarge: make smaller pictures larger. Default: no.
        :param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
            "best": As much as can be told from all of it.
            "fast": As little as will do.
        :param allow_damaged: take what can be decoded of a damaged picture. Default: no.
            Such an image is marked as partial.
        :param early_stop: end the transfer of a progressive JPEG when the thumbnails are done. Default: no.
            Where much of it remains. Other sizes cost another fetch then, because the original isn't kept. Where
            originals aren't kept anyway it always may.
        :param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
            "twice": A stale one at once, and after it the fresh one, or why there is none.
            "first": One answer, a stale one too; it is revalidated behind. Where the program judges answers (a
            verdict) it is as fresh.
            "fresh": One answer, which holds now, or which its server lets be shown while it is asked
            (`stale-while-revalidate`). Where the server can't be asked, fails (429, 5xx), or takes longer than the
            deadline, a stale one is given in its place.
            A call that waits for one answer takes twice for fresh.
        :param priority: place in the queue, higher ones first. Default: 0.
        :param tag: a word to cancel by. Default: none.
        :param progress_events: tell of progress, of what is sent and of what comes. Default: no.
        :param resume: keep a file whose transfer broke off, hidden, to be gone on with. Default: yes.
        :param freezable: keep it in the outbox, and send it when its server can be reached again. Default: no.
            POST, PUT, PATCH and DELETE only. It is sent at once, and kept, body and all, where no answer comes:
            after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry, and at
            its deadline. It is kept untried where others of its queue wait (`outbox_queue`), or its secret isn't
            known. An answer to this first attempt is its answer, whatever its status. Later it is sent in its turn,
            by any process that has the directory open. It gets an Idempotency-Key unless it has one, the same for
            every attempt.
            Nothing secret is written: user and password, and headers whose names hold auth, token, key, secret,
            session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
            `password_provider`), or the request is `secret_needs_provider`. What a .netrc has needs one, too, and
            so does a token that the answer to a question for headers adds; other headers that it adds are kept. A
            site's cookies go with the first attempt only, its proxy is kept, and must have no password. URL and
            body are written as they are, for the directory's owner to read.
        :param outbox_durable: write it down before the first attempt, so that not even a kill in the middle loses
            it. Default: no.
        :param outbox_queue: requests of one queue are sent one after the other. Default: the URL's origin.
            While one of them waits, those after it are kept untried, also where their server can be reached.
        :param outbox_handler: who gets the outcome. Default: none: the outcome waits to be collected.
            An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
        :param secrets: where the values of secret headers come from when it is sent later. Default: none.
            The values are never written. A provider `env:NAME` is a variable of the environment; others are told by
            the program.
        :param password_provider: who knows the password of user. Default: none.
            A request without a user that asks its program for one needs a provider; it knows both then, as
            `name:password`. Only the first attempt asks the program; the outbox asks the provider, and sends
            nothing before it has both.
        :param outbox_attempts: how often a server may answer that it can't now, before the request is put aside.
            Default: 25. None: no limit.
            Attempts that reach nobody don't count.
        :param outbox_max_age: for how long it is tried at all. Default: 7d. None: no limit.
        :param outbox_key_lifetime: for how long the server knows the Idempotency-Key. Default: 24h. None: no limit.
            A POST or PATCH that may have arrived isn't sent again later than that; with none it is, however late.
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
        :param body: what is sent: bytes, or a Path, which is read while it is sent.
        :param json: a value to send as JSON, in which NaN and infinity are Invalid.
        :param form: fields to send as a form does, without those that are None.
        :param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
            one of these[, type]).
            A path is read while it is sent, an open file from where it stands.
        :param save_to: where the answer goes while it comes: a path, an open file or descriptor, a function, or a
            list of these.
            A function is called with each piece, on the thread that waits for the ticket. What has a `write` of its
            own, as `gzip.open(path, "wb")` has, is written to by it; files of text are a TypeError. With AsyncCache
            the function is called on the event loop, may be `async`, and the next piece is received when it is done
            with this one; elsewhere an `async` one is Invalid. Of a plain open file the descriptor is written to,
            past its buffers.
            Files have their names only when they are complete. What is saved may be larger than the cache's
            `max_bytes`; then the response has no body. A transfer that broke off is gone on with, also by the next
            request for the same file, unless `resume` is False.
        :param append: add to the files that save_to names.
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
    ) -> 'Iterator[_prefetch.Item]':
        """Fetches any number of URLs. Gives an item for each of them when it has ended.

        Reads URLs as there is room for them, four times as many as run at once, and holds no pixels. Leaving the loop
        cancels the requests under way. An error is part of an item, and the run goes on. If another process holds the
        cache's lock for more than 30 seconds, nothing can be stored; then nothing is fetched until the lock is free,
        and the log says so.

        :param sizes: the sizes of the thumbnails to store in the cache; ``()`` for the answers themselves.
        :param progress: whether to show the progress on standard error, by tqdm if that is installed, else as a line.
        :param images: whether items hold their images, or their response.

        The default priority is -5, and a ``deadline`` counts from the first attempt of each URL. Functions in
        ``save_to`` are called with pieces of all URLs, in the order in which they come.

        ``user`` is name, password and the host that they are sent to: ``("ann", "pw", "https://example.org")``, or a
        host or host:port, over HTTPS and HTTP. They are sent to no other host. For a pair, a site uses its origin. A
        cache reads all URLs before anything is sent; they must be at one origin, else :class:`Invalid` is raised. The
        same holds for ``bearer``. ``headers`` are sent to all URLs, those of a site to its own ones.

        >>> items = cache.prefetch([picture_url, missing_url], sizes=[128, 256])
        >>> sorted((item.index, item.ok, item.error and item.error.code) for item in items)
        [(0, True, None), (1, False, 'http')]

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
    def _perform(self, url: str, size: Optional[Size], options: Dict[str, Any]) -> Any: ...
    def _submit(self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any]) -> Ticket[Any]: ...
    def _complete(self, url: str, options: Dict[str, Any]) -> Dict[str, Any]: ...
    def _start(self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any], number: int=0) -> ctypes.c_void_p: ...
    def _start_again(self, ticket: ctypes.c_void_p, url: str) -> ctypes.c_void_p: ...
    def _sight(self, url: str, size: Size, decode: bool, options: Dict[str, Any]) -> Optional[Image]: ...
    def _with_options(self, url: str, size: Optional[Size], sizes: Optional[Sequence[Size]], options: Dict[str, Any], use: Callable[[ctypes.c_void_p, bytes, Any], int], number: int=0) -> None: ...
