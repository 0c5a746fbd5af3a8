"""What may be said of requests, of sites and of caches, as type checkers see it."""

import os
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from ._quantities import ByteCount, Duration, PixelCount
from ._response import Response

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack  # no need for it at run time
else:
    from typing import TypedDict

    try:
        from typing import Unpack
    except ImportError:  # before Python 3.11

        class Unpack:
            """What stands for the options that a function takes, for type hints that are read at run time."""

            def __class_getitem__(cls, options):
                return options


__all__ = [
    "AskChallenge",
    "AskCredentials",
    "AskHeaders",
    "AskVerdict",
    "Body",
    "CacheWishes",
    "Fields",
    "Files",
    "HeaderArgument",
    "Netrc",
    "Secrets",
    "Sending",
    "SinkArgument",
    "SiteWishes",
    "Unpack",
    "Wishes",
]

HeaderArgument = Union[Mapping[str, str], Iterable[Tuple[str, str]], None]

#: Bytes, or the path of a file that is read while it is sent.
Body = Union[bytes, bytearray, memoryview, "os.PathLike[str]", None]

#: A path, an open file or descriptor, what has a ``write``, a function that gets each piece; or a list of these.
SinkArgument = Any
Fields = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: By the name of the field: bytes, a path, an open file, or (file name, one of these[, type]).
Files = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: Headers' names, and the providers of their values; or tuples of what stands before the secret, such as "Bearer ", and
#: the provider.
Secrets = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: A file with users and passwords by host; True for the usual one.
Netrc = Union[bool, str, "os.PathLike[str]", None]
AskHeaders = Optional[Callable[[str], Union[HeaderArgument, Awaitable[HeaderArgument]]]]
_User = Optional[Tuple[str, str]]
AskCredentials = Optional[Callable[[Response], Union[_User, Awaitable[_User]]]]
AskChallenge = Optional[Callable[[Response], Union[HeaderArgument, Awaitable[HeaderArgument]]]]
_Verdict = Union[bool, str, None]
AskVerdict = Optional[Callable[[Response], Union[_Verdict, Awaitable[_Verdict]]]]


class Sent(TypedDict, total=False):
    """What a request sends."""

    headers: HeaderArgument
    body: Body
    sign_in: Optional[str]
    bearer: Optional[str]
    cert: Union[str, "os.PathLike[str]", Tuple[Union[str, "os.PathLike[str]"], ...], None]
    save_to: SinkArgument
    append: bool
    resume: bool
    json: Any
    form: Fields
    files: Files
    user: Union[Tuple[str, str], Tuple[str, str, str], None]
    freezable: bool
    outbox_durable: bool
    outbox_queue: Optional[str]
    outbox_handler: Optional[str]
    secrets: Secrets
    password_provider: Optional[str]
    outbox_attempts: Optional[int]
    outbox_max_age: Duration
    outbox_key_lifetime: Duration


class Limits(TypedDict, total=False):
    """What a request, or all of a site, may say otherwise than the cache."""

    timeout: Duration
    deadline: Duration
    retries: Optional[int]
    max_bytes: ByteCount
    max_pixels: PixelCount
    policy: Optional[str]
    validator_ttl: Duration
    image_ttl: Duration
    no_cache_ttl: Duration
    heuristic: Optional[float]
    addresses: Optional[str]
    partition: Optional[str]
    netrc: Netrc
    ask_headers: AskHeaders
    ask_credentials: AskCredentials
    ask_challenge: AskChallenge
    ask_verdict: AskVerdict


class Sending(Sent, Limits, total=False):
    """What may be said of any request; :meth:`Cache.submit` explains it."""

    fit: str
    enlarge: bool
    scaling: str
    allow_damaged: bool
    early_stop: bool
    delivery: str
    give_up_after: Duration
    priority: int
    tag: Optional[str]
    cache_key: Optional[str]
    ignore_query: bool


class Wishes(Sending, total=False):
    """The same where it is said as an option."""

    method: str
    progress_events: bool


class SiteWishes(Limits, total=False):
    """What a site may be told."""

    headers: HeaderArgument
    cross_origin_headers: Sequence[str]
    sign_in: Optional[str]
    cert: Union[str, "os.PathLike[str]", Tuple[Union[str, "os.PathLike[str]"], ...], None]
    user: Optional[Tuple[str, str]]
    secrets: Secrets
    password_provider: Optional[str]
    cookie_jar: Optional[str]
    user_agent: Optional[str]
    accept: Optional[str]
    proxy: Optional[str]


class CacheWishes(Limits, total=False):
    """What a cache may be told."""

    headers: HeaderArgument
    secrets: Secrets
    user_agent: Optional[str]
    accept: Optional[str]
    proxy: Optional[str]
    memory_bytes: ByteCount
    memory_items: Optional[int]
    disk_bytes: ByteCount
    spill: Optional[str]
    thumb_store: Optional[str]
    keep_source: Optional[bool]
    allow_files: bool
    outbox: Optional[str]
    outbox_bytes: ByteCount
    outbox_items: Optional[int]
