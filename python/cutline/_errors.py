"""Exceptions. A message is one line that says what is wrong and, where possible, what to do."""

from __future__ import annotations

import operator
from typing import Any


class CutlineError(Exception):
    """The base class of all exceptions that Cutline raises."""


class InputError(CutlineError, ValueError):
    """An argument is invalid."""


class NotFoundError(CutlineError, KeyError):
    """There is no such ticket, arm, campaign or store."""

    # A KeyError shows its message in quotes.
    __str__ = Exception.__str__


class RefusedError(CutlineError, RuntimeError):
    """The campaign's state does not allow it: the budget is used up, or the ticket already has its reward."""


class StorageError(CutlineError, RuntimeError):
    """The store failed, or the file is not a store."""


def integer(name: str, value: Any, least: int) -> int:
    """The argument `name`, which must be a whole number of at least `least`, Python's or NumPy's."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise InputError(f"`{name}` must be a whole number of at least {least}, not {value!r}")
    return number
