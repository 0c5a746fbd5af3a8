"""Objects that stay what they were made as: where their memory lies is among what they know."""

from typing import Any, Callable, Dict, Type

Put = Callable[[Any, Any], None]


def immutable(kind: Type[Any]) -> Dict[str, Put]:
    """Has a class refuse that its slots are assigned to, or deleted, by whatever is not given what comes back: for each
    slot what fills it. A subclass may have attributes of its own."""
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
