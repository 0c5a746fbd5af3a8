"""Lazy imports: modules of the standard library that few programs need would double the time to load the package."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import _prefetch as _prefetch
    from . import _wishes as _wishes

#: Held while a module is loaded, and during a fork. Otherwise a forked child could wait for ever for the thread that
#: loads a module in the parent.
loading = threading.RLock()

os.register_at_fork(before=loading.acquire, after_in_parent=loading.release, after_in_child=loading.release)


class _Later:
    """Stands for a module, which is loaded when one of its names is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        from importlib import import_module

        with loading:
            return getattr(import_module(self._name, __package__), name)


if not TYPE_CHECKING:
    _prefetch = _Later("._prefetch")
    # The types of options, for programs that read type hints at run time.
    _wishes = _Later("._wishes")
