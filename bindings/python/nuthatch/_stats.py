"""Statistics of a cache."""

from __future__ import annotations

from typing import Any, Dict

from ._later import loading


class Stats(Dict[str, Any]):
    """A dictionary of numbers. A notebook shows it as a table."""

    def _repr_html_(self) -> str:
        with loading:
            from html import escape

        rows = "".join(
            f"<tr><td>{escape(name)}</td><td style='text-align:right'>{escape(_shown(value))}</td></tr>"
            for name, value in self.items()
        )
        return f"<table>{rows}</table>"


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
