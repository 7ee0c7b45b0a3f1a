"""What notebooks show: a few lines and a small table. Every value is text, whatever it contains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

MAX_TEXT = 80
"""The length at which names are cut."""

MAX_ROWS = 10
"""The most rows of a table."""


def text(value: object, most: int | None = MAX_TEXT) -> str:
    """A value as text for HTML, cut at `most` characters. Characters that do not show or change the direction of the text are escaped.

    >>> text("<b>\\u202egpj")
    '&lt;b&gt;\\\\u202egpj'
    """
    import html

    shown = str(value)
    if most is not None and len(shown) > most:
        shown = shown[: most - 1] + "…"
    return html.escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown))


def number(value: float | None) -> str:
    """A number with four significant digits; nothing for `None`."""
    if value is None:
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}".replace("-", "−")


def block(*parts: str) -> str:
    """Parts below each other. MathJax leaves them alone: names may contain `$`."""
    return '<div class="tex2jax_ignore mathjax_ignore">' + "".join(parts) + "</div>"


def line(*parts: str) -> str:
    """A line of parts that are HTML already."""
    return f"<p>{' '.join(parts)}</p>"


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table of values, the first of each row its heading."""
    head = "".join(f"<th>{text(name)}</th>" for name in header)
    body = "".join(
        f"<tr><th>{text(row[0])}</th>" + "".join(f"<td>{text(value)}</td>" for value in row[1:]) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
