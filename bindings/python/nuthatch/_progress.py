"""Shows the progress of a run on standard error."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from typing import Any, Optional


class Progress:
    """Shows the progress by tqdm if that is installed, else as a line."""

    def __init__(self, total: Optional[int]) -> None:
        self._done = self._failed = 0
        self._total = total
        self._start = self._shown = time.monotonic()
        self._bar: Any = None
        # Services and programs with windows may have no standard error.
        self._is_shown = sys.stderr is not None
        self._is_terminal = self._is_shown and sys.stderr.isatty()
        if self._is_shown:
            with contextlib.suppress(ImportError):
                tqdm: Any = importlib.import_module("tqdm.auto").tqdm
                self._bar = tqdm(total=total, unit="URL")

    def add(self, ok: bool) -> None:
        """Counts one more URL."""
        self._done += 1
        if not ok:
            self._failed += 1
        if self._bar is not None:
            if not ok:
                self._bar.set_postfix(failed=self._failed, refresh=False)
            self._bar.update(1)
        elif self._is_terminal and time.monotonic() - self._shown >= 0.1:
            self._shown = time.monotonic()
            sys.stderr.write("\r\x1b[K" + self._line())
            sys.stderr.flush()

    def close(self) -> None:
        """Shows the final line."""
        if self._bar is not None:
            self._bar.close()
        elif self._is_shown:
            sys.stderr.write(("\r\x1b[K" if self._is_terminal else "") + self._line() + "\n")

    def _line(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-9)
        of = "" if self._total is None else f" of {self._total}"
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{self._done}{of} URLs{failed}, {self._done / seconds:.0f} a second"
