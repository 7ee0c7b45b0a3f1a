"""Writes a dict as TOML, so that all experiments go through one reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import InputError


def dumps(keys: Mapping[str, Any]) -> str:
    """The dict as a TOML document, without the keys whose value is `None`.

    >>> print(dumps({"budgets": [50, 100], "noise": None, "instance": {"kind": "wine"}}), end="")
    "budgets" = [50, 100]
    "instance" = {"kind" = "wine"}
    """
    return "".join(f"{_string(key)} = {_value(value, key)}\n" for key, value in keys.items() if value is not None)


def _value(value: Any, key: Any) -> str:
    if hasattr(value, "tolist"):  # NumPy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        pairs = (f"{_string(name)} = {_value(inner, name)}" for name, inner in value.items() if inner is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return "[" + ", ".join(_value(element, key) for element in value) + "]"
    raise InputError(f"`{key}` must be a number, a string, a list or a dict, not {type(value).__name__}")


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"a key must be a string, not {value!r}")
    return '"' + "".join(_character(c) for c in value) + '"'


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    return c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}"
