# Generated from options.toml by Scripts/make-header; edit that instead.
"""Types of the options of requests, sites and caches, for type checkers."""

from typing import Any, Literal, Optional, Sequence, TypedDict

from ._option_values import (
    AskChallenge,
    AskCredentials,
    AskHeaders,
    AskVerdict,
    Body,
    Certificate,
    ConfigFile,
    Fields,
    FileName,
    Files,
    HeaderArgument,
    Netrc,
    Secrets,
    SinkArgument,
    User,
)
from ._option_values import Unpack as Unpack
from ._quantities import ByteCount, Duration, PixelCount

#: Which stored answers count as fresh.
Policy = Literal["kit", "rfc9111", "offline", "reload"]
#: Which addresses may be connected to. The address of the actual connection is checked, for every redirect.
Addresses = Literal["guarded", "public", "any"]
#: How user and password are sent.
SignIn = Literal["basic", "digest", "ntlm", "negotiate", "any"]
#: Whether a site's cookies are sent back to its servers, and where they are stored.
CookieJarMode = Literal["off", "memory", "disk"]
#: When answers from the cache are delivered (docs/HTTP.md of the sources has a table).
Delivery = Literal["twice", "first", "fresh"]
#: When new answers are written to disk.
Spill = Literal["eager", "pressure"]
#: When bytes read from the disk are compared with their checksum.
ByteCheck = Literal["first", "always"]
#: How thumbnails are stored on disk. Those of at most 16 KiB are always stored raw.
ThumbStore = Literal["packed", "lossless", "raw", "small"]
#: Whether a process sends the requests of an outbox.
OutboxMode = Literal["auto", "off"]
#: How a picture is made to fit its box.
Fit = Literal["inside", "cover", "stretch"]
#: How much of a picture is decoded before it is scaled down.
Scaling = Literal["best", "fast"]
#: Where pictures are decoded.
DecodePlace = Literal["here", "isolated"]


class _Part1(TypedDict, total=False):
    policy: Optional[Policy]
    validator_ttl: Duration
    image_ttl: Duration
    no_cache_ttl: Duration
    heuristic: Optional[float]
    timeout: Duration
    deadline: Duration
    retries: Optional[int]
    max_bytes: ByteCount
    max_pixels: PixelCount
    addresses: Optional[Addresses]
    secrets: Secrets
    expire_after: Duration
    ask_headers: AskHeaders
    ask_credentials: AskCredentials
    ask_challenge: AskChallenge
    ask_verdict: AskVerdict


class _Part2(TypedDict, total=False):
    give_up_after: Duration
    fit: Optional[Fit]
    enlarge: Optional[bool]
    scaling: Optional[Scaling]
    allow_damaged: Optional[bool]
    early_stop: Optional[bool]
    delivery: Optional[Delivery]
    priority: Optional[int]
    tag: Optional[str]
    progress_events: Optional[bool]
    resume: Optional[bool]
    freezable: Optional[bool]
    outbox_durable: Optional[bool]
    outbox_queue: Optional[str]
    outbox_handler: Optional[str]
    outbox_attempts: Optional[int]
    outbox_max_age: Duration
    outbox_key_lifetime: Duration
    body: Body
    json: Any
    form: Fields
    files: Files
    save_to: SinkArgument
    append: Optional[bool]


class _Part3(TypedDict, total=False):
    method: Optional[str]


class _Part4(TypedDict, total=False):
    headers: HeaderArgument
    keep_headers_across_origins: Optional[Sequence[str]]
    netrc: Netrc
    partition: Optional[str]
    redirects: Optional[int]
    ca_file: FileName
    ca_dir: FileName
    insecure: Optional[bool]


class _Part5(TypedDict, total=False):
    user: User
    sign_in: Optional[SignIn]
    cert: Certificate


class _Part6(TypedDict, total=False):
    bearer: Optional[str]
    ignore_query: Optional[bool]


class _Part7(TypedDict, total=False):
    cache_key: Optional[str]


class _Part8(TypedDict, total=False):
    password_provider: Optional[str]


class _Part9(TypedDict, total=False):
    decode: Optional[DecodePlace]


class _Part10(TypedDict, total=False):
    proxy: Optional[str]
    user_agent: Optional[str]
    accept: Optional[str]


class _Part11(TypedDict, total=False):
    cookie_jar: Optional[CookieJarMode]


class _Part12(TypedDict, total=False):
    memory_bytes: ByteCount
    memory_items: Optional[int]
    disk_bytes: ByteCount
    spill: Optional[Spill]
    thumb_store: Optional[ThumbStore]
    keep_source: Optional[bool]
    allow_files: Optional[bool]
    outbox: Optional[OutboxMode]
    outbox_bytes: ByteCount
    outbox_items: Optional[int]
    check_bytes: Optional[ByteCheck]
    config: ConfigFile


class Wishes(_Part1, _Part2, _Part3, _Part4, _Part5, _Part6, _Part7, _Part8, _Part9, total=False):
    """The options of a request."""


class Peeking(_Part1, _Part2, _Part3, _Part4, _Part5, _Part6, _Part7, _Part8, total=False):
    """The options of a peek."""


class Sending(_Part1, _Part2, _Part4, _Part5, _Part6, _Part7, _Part8, _Part9, total=False):
    """The options of a request whose method is an argument."""


class Prefetching(_Part1, _Part2, _Part4, _Part5, _Part6, _Part8, _Part9, total=False):
    """The options of a prefetch."""


class Naming(_Part4, _Part5, _Part6, _Part7, total=False):
    """The options that are part of the cache key."""


class SiteWishes(_Part1, _Part4, _Part5, _Part8, _Part9, _Part10, _Part11, total=False):
    """The options of a site."""


class CacheWishes(_Part1, _Part4, _Part9, _Part10, _Part12, total=False):
    """The options of a cache."""
