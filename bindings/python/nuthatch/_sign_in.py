"""Finds the origin that a password or token is sent to, for many URLs."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import _prototypes as abi
from ._errors import Error, error_for
from ._library import encode, in_form


def needs_origin(options: Dict[str, Any]) -> bool:
    """Returns whether options have credentials without a host. Then all URLs must be known first."""
    user = options.get("user")
    has_no_place = isinstance(user, (tuple, list)) and len(user) == 2
    return has_no_place or options.get("bearer") is not None


def bind(options: Dict[str, Any], urls: Any, base_url: Optional[str]) -> Any:
    """Binds user and password, or the token, to one origin: that of the site, else the one that all URLs share.

    :return: the URLs, as a list if they had to be read.
    """
    if not needs_origin(options):
        return urls
    first = None if base_url is None else _origin(base_url)
    # A site's origin is known, and user and password are bound to it. A token can't be bound, so check all URLs.
    if base_url is None or options.get("bearer") is not None:
        urls = list(urls)
        for url in urls:
            found = _origin(url) if isinstance(url, str) else None
            if found is None:
                continue
            if first is not None and found != first:
                raise _several(first, found)
            first = found
    user = options.get("user")
    if user is not None and len(user) == 2 and first is not None:
        options["user"] = (*user, first)
    if options.get("bearer") is not None and first is not None:
        # A URL that looks relative here may still be at another host.
        options["_user_place"] = first
    return urls


def _several(one: str, other: str) -> Error:
    return error_for(
        abi.INVALID,
        f"there are URLs at {one} and at {other}: name the host that gets the password, "
        f"user=(name, password, {one!r}); to send bearer= or headers= to one origin only, "
        f"use site({one!r}, headers=...).prefetch(...)",
        None,
    )


def _origin(url: str) -> Optional[str]:
    """Returns the origin of a URL; None if it is not an HTTP URL."""
    try:
        address = encode(url, "url")
    except ValueError:
        return None
    return in_form(abi.URL_ORIGIN, address)
