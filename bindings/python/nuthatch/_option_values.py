"""What options may be that are no plain text, number, word or flag, as type checkers see it."""

import os
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Optional,
    Tuple,
    Union,
)

from ._response import Response

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack  # no need for it at run time
else:
    try:
        from typing import Unpack
    except ImportError:  # before Python 3.11

        class Unpack:
            """What stands for the options that a function takes, for type hints that are read at run time."""

            def __class_getitem__(cls, options):
                return options


HeaderArgument = Union[Mapping[str, str], Iterable[Tuple[str, str]], None]

#: Bytes, or the path of a file that is read while it is sent.
Body = Union[bytes, bytearray, memoryview, os.PathLike[str], None]

#: A path, an open file or descriptor, what has a ``write``, a function that gets each piece; or a list of these.
SinkArgument = Any
Fields = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: By the name of the field: bytes, a path, an open file, or (file name, one of these[, type]).
Files = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: Headers' names, and the providers of their values; or tuples of what stands before the secret, such as "Bearer ", and
#: the provider.
Secrets = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: A file with users and passwords by host; True for the usual one.
Netrc = Union[bool, str, os.PathLike[str], None]
_Path = Union[str, os.PathLike[str]]
FileName = Optional[_Path]

#: A file, or a tuple of certificate, key and the key's password.
Certificate = Union[
    _Path, Tuple[_Path], Tuple[_Path, Optional[_Path]], Tuple[_Path, Optional[_Path], Optional[str]], None
]
AskHeaders = Optional[Callable[[str], Union[HeaderArgument, Awaitable[HeaderArgument]]]]

#: Name and password; of requests, whose they are as a third.
User = Union[Tuple[str, str], Tuple[str, str, str], None]
_Pair = Optional[Tuple[str, str]]
AskCredentials = Optional[Callable[[Response], Union[_Pair, Awaitable[_Pair]]]]
AskChallenge = Optional[Callable[[Response], Union[HeaderArgument, Awaitable[HeaderArgument]]]]
_Verdict = Union[bool, str, None]
AskVerdict = Optional[Callable[[Response], Union[_Verdict, Awaitable[_Verdict]]]]
