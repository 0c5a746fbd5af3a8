"""Makes objects from pickles, also objects of subclasses that a program defines."""

from __future__ import annotations

from typing import Any, Dict, Tuple, Type


def remade(kind: Type[Any], base: Type[Any], arguments: Tuple[Any, ...], named: Dict[str, Any]) -> Any:
    """Makes an object of ``kind`` with ``base.__init__``: the arguments of ``kind.__init__`` are unknown."""
    made = object.__new__(kind)
    base.__init__(made, *arguments, **named)
    return made


def copied(reduced: Tuple[Any, ...], memo: Any = None) -> Any:
    """Makes a copy from the result of ``__reduce__``. Secrets may be in it, because it doesn't leave the process."""
    from copy import deepcopy  # It calls this function, so it is loaded.

    function, arguments, (_, added) = reduced
    made = function(*arguments)
    for name, value in added.items():
        setattr(made, name, value if memo is None else deepcopy(value, memo))
    return made


def added_to(thing: Any, base: Type[Any], *own: str) -> Tuple[None, Dict[str, Any]]:
    """Returns the attributes that a program has added to an object, as the state for a pickle.

    :param own: the attributes of ``base`` in the object's ``__dict__``.
    """
    added = {name: value for name, value in getattr(thing, "__dict__", {}).items() if name not in own}
    for kind in type(thing).__mro__:
        if kind is base:
            break
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                added[name] = getattr(thing, name)
    return None, added
