"""Seeds."""

from __future__ import annotations

from typing import Any

BITS = 53
"""The size of a random seed: every program reads such a number from JSON without rounding it."""


def drawn(seed: Any) -> Any:
    """The seed itself; for `None` a random one, which is recorded like any other, so that everything can be repeated."""
    if seed is not None:
        return seed
    import secrets

    return secrets.randbits(BITS)
