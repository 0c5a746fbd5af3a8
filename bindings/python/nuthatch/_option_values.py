"""Types of options that are not a plain text, number, word or flag, for type checkers."""

from __future__ import annotations

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
            """Stands for the options of a function in type hints that are read at run time."""

            def __class_getitem__(cls, options):
                return options


HeaderArgument = Union[Mapping[str, str], Iterable[Tuple[str, str]], None]

#: Bytes, or the path of a file that is read while it is sent.
Body = Union[bytes, bytearray, memoryview, os.PathLike[str], None]

#: A path, an open file or descriptor, an object with ``write``, a function that gets each piece; or a list of these.
SinkArgument = Any
Fields = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: For the name of each field: bytes, a path, an open file, or (file name, one of these[, type]).
Files = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: For the name of each header: the provider of its value, or a tuple of the text before the secret, such as "Bearer ",
#: and the provider.
Secrets = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], None]

#: A file with users and passwords by host. True: $NETRC, else ~/.netrc.
Netrc = Union[bool, str, os.PathLike[str], None]
#: A file with options. True: the files of the user and of the system.
ConfigFile = Union[bool, str, os.PathLike[str], None]
_Path = Union[str, os.PathLike[str]]
FileName = Optional[_Path]

#: A file, or a tuple of certificate, key and the key's password.
Certificate = Union[
    _Path, Tuple[_Path], Tuple[_Path, Optional[_Path]], Tuple[_Path, Optional[_Path], Optional[str]], None
]
AskHeaders = Optional[Callable[[str], Union[HeaderArgument, Awaitable[HeaderArgument]]]]

#: Name and password; for requests also the host that they are sent to.
User = Union[Tuple[str, str], Tuple[str, str, str], None]
_Pair = Optional[Tuple[str, str]]
AskCredentials = Optional[Callable[[Response], Union[_Pair, Awaitable[_Pair]]]]
AskChallenge = Optional[Callable[[Response], Union[HeaderArgument, Awaitable[HeaderArgument]]]]
_Verdict = Union[bool, str, None]
AskVerdict = Optional[Callable[[Response], Union[_Verdict, Awaitable[_Verdict]]]]
