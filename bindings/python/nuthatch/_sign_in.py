"""Whose a password is that goes along with many URLs."""

from typing import Any, Dict, Optional

from . import _prototypes as abi
from ._errors import Error, error_for
from ._library import encode, in_form


def needs_origin(options: Dict[str, Any]) -> bool:
    """Whether options sign in wherever the URLs lead, so that all of these have to be known first."""
    user = options.get("user")
    has_no_place = isinstance(user, (tuple, list)) and len(user) == 2
    return has_no_place or options.get("bearer") is not None


def bind(options: Dict[str, Any], urls: Any, base_url: Optional[str]) -> Any:
    """Sees to it that user and password go to one origin: that of the site, else that of all URLs.

    :return: the URLs, which may have been such as can be gone through once.
    """
    if not needs_origin(options):
        return urls
    first = None if base_url is None else _origin(base_url)
    # What a site's URLs are relative to is known; a token has no place that it could be told.
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
        # What looks relative here may lead elsewhere all the same.
        options["_user_place"] = first
    return urls


def _several(one: str, other: str) -> Error:
    return error_for(
        abi.INVALID,
        f"there are URLs at {one} and at {other}: say whose the password is, user=(name, password, {one!r}); "
        f"what goes with bearer= or headers= goes to one origin by site({one!r}, headers=...).prefetch(...)",
        None,
    )


def _origin(url: str) -> Optional[str]:
    """Where a URL's user and password go; None for what is no URL of HTTP."""
    try:
        address = encode(url, "url")
    except ValueError:
        return None
    return in_form(abi.URL_ORIGIN, address)
