"""Exceptions. A message is one line that says what is wrong and, where possible, what to do."""

from __future__ import annotations


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
