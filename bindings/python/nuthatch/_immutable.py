"""Makes objects immutable. Some of their attributes are addresses of memory, so a change would be dangerous."""

from __future__ import annotations

from typing import Any, Callable, Dict, Type

Put = Callable[[Any, Any], None]


def immutable(kind: Type[Any]) -> Dict[str, Put]:
    """Makes a class refuse to assign or delete its slots. Returns a setter for each slot, which still works. A subclass
    may have attributes of its own."""
    fill = {name: getattr(kind, name).__set__ for name in kind.__slots__ if name != "__weakref__"}
    fixed = {*fill, "__class__"}

    def refuse(self: Any, name: str, value: Any = None) -> None:
        raise AttributeError(f"{name} of a {type(self).__name__} can't be changed")

    def assign(self: Any, name: str, value: Any) -> None:
        (refuse if name in fixed else object.__setattr__)(self, name, value)

    def delete(self: Any, name: str) -> None:
        if name in fixed:
            refuse(self, name)
        object.__delattr__(self, name)

    for name, function in (("__setattr__", assign), ("__delattr__", delete)):
        setattr(kind, name, function)
    return fill
