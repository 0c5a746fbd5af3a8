"""Secrets that are given by name: "env:NAME" is an environment variable."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from . import _prototypes as abi
from ._arguments import fields
from ._errors import error_for
from ._library import encode, quick, shown

_ENVIRONMENT = "env:"


def resolved(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the options of a cache or a site with the values of their secrets."""
    made = {name: value for name, value in options.items() if name not in ("secrets", "password_provider")}
    lines: List[Tuple[str, str]] = []
    for header, given in options.get("secrets") or ():
        prefix, provider = given if isinstance(given, tuple) else ("", given)
        lines.append((header, prefix + _value(provider, "secrets")))
    if lines:
        made["headers"] = [*(made.get("headers") or ()), *lines]
    provider = options.get("password_provider")
    if provider is not None:
        user = made.get("user")
        if not isinstance(user, (tuple, list)) or len(user) != 2 or user[1]:
            raise error_for(
                abi.INVALID, "password_provider needs user=(name, ''), with an empty password", None
            )
        made["user"] = (user[0], _value(provider, "password_provider"))
    proxy = made.get("proxy")
    if isinstance(proxy, str) and proxy.startswith(_ENVIRONMENT):
        made["proxy"] = _value(proxy, "proxy")
    return made


def _value(provider: Any, what: str) -> str:
    if not isinstance(provider, str) or not provider.startswith(_ENVIRONMENT):
        # Don't show the value: it may be the secret itself.
        raise error_for(
            abi.INVALID, f"{what} must be 'env:NAME', where NAME is an environment variable", None
        )
    value = os.environ.get(provider[len(_ENVIRONMENT) :])
    if value is None:
        name = provider[len(_ENVIRONMENT) :]
        raise error_for(abi.INVALID, f"{what}: the environment variable {name} is not set", None)
    return value


def refuse_secrets(thing: Any, options: Mapping[str, Any], base_url: str = "") -> None:
    """Raises an error if a pickle would contain a secret."""
    for what, advice in _held(options, base_url):
        # Imported here: a program that pickles has loaded it already.
        from pickle import PicklingError

        raise PicklingError(
            f"{thing!r} can't be pickled: the pickle would contain {what}. Give it as {advice}: then the pickle has "
            "only the name of the variable, and the value is read from the environment on unpickling"
        )


def _held(options: Mapping[str, Any], base_url: str) -> Iterator[Tuple[str, str]]:
    """Gives each secret among the options, and another way to give it."""
    for name, _ in fields(options.get("headers"), "headers"):
        if quick.nh_header_is_secret(encode(name, "header")) != 0:
            yield f"the value of the header {name}", f"secrets={{{name!r}: 'env:NAME'}}"
    user = options.get("user")
    with_provider = "user=(name, '') with password_provider='env:NAME'"
    if user is not None and (options.get("password_provider") is None or user[1]):
        yield "the password of user", with_provider
    cert = options.get("cert")
    if isinstance(cert, (tuple, list)) and len(cert) == 3 and cert[2] is not None:
        yield "the password of the certificate's key", "a key without a password, readable for its owner only"
    if "@" in base_url and shown(base_url) != base_url:
        yield "the password of the base URL", with_provider
    proxy = options.get("proxy")
    if proxy is not None and shown(proxy) != proxy:
        yield "the password of the proxy", "proxy='env:NAME'"
