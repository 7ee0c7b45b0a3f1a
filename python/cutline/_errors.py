"""What can go wrong. A message is one line that says what to do next."""

from __future__ import annotations


class CutlineError(Exception):
    """Whatever Cutline refuses or fails at."""


class InputError(CutlineError, ValueError):
    """What was given cannot be."""


class NotFoundError(CutlineError, KeyError):
    """There is no such ticket, arm, campaign or store."""

    # A KeyError shows its message in quotes.
    __str__ = Exception.__str__


class RefusedError(CutlineError, RuntimeError):
    """The campaign does not allow it any more: the budget is used, or the ticket is settled."""


class StorageError(CutlineError, RuntimeError):
    """The store failed, or is none."""
