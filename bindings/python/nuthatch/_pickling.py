"""How what pickles is made again, also where a program has made a class of its own of it."""

from typing import Any, Dict, Tuple, Type


def remade(kind: Type[Any], base: Type[Any], arguments: Tuple[Any, ...], named: Dict[str, Any]) -> Any:
    """An object of ``kind``, as ``base`` begins it: what ``kind`` itself wants to be given isn't known."""
    made = object.__new__(kind)
    base.__init__(made, *arguments, **named)
    return made


def copied(reduced: Tuple[Any, ...], memo: Any = None) -> Any:
    """What ``__reduce__`` tells, made at once: nothing leaves the process."""
    from copy import deepcopy  # which calls this, so that it is there

    function, arguments, (_, added) = reduced
    made = function(*arguments)
    for name, value in added.items():
        setattr(made, name, value if memo is None else deepcopy(value, memo))
    return made


def added_to(thing: Any, base: Type[Any], *own: str) -> Tuple[None, Dict[str, Any]]:
    """What a program has added to an object, as the state that a pickle keeps beside how it is made.

    :param own: the attributes of ``base`` that stand in the object's dictionary.
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
