"""The settings of a campaign as the keywords that begin another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

STEPS = ("standardise", "intercept", "centre")
"""The steps of `prepare`, as they are called in a store."""

ARRAY = "cost"
"""The column of costs in a store if they were given as an array."""


def keywords(
    stored: dict[str, Any], rule: Any | None, names: Sequence[str], columns: Sequence[str], costs: list[float] | None
) -> dict[str, Any]:
    """The keywords of `Campaign` for settings as they are stored, the rule if it is a custom one, and names, columns and costs of
    the arms.

    Settings that are stored under the name of their keyword are passed on as they are.
    """
    settings = {key: value for key, value in stored.items() if key not in ("delta", "preparation", "covariance", "encoding")}
    # Fifteen decimals round the error of the subtraction away.
    settings["confidence"] = round(1.0 - stored["delta"], 15)
    if rule is not None:
        settings["algorithm"] = rule
    if stored["estimator"] != "mixed":
        preparation = stored.get("preparation") or {}
        settings["prepare"] = [step for step in STEPS if preparation.get(step)]
    read = _reading(stored.get("encoding"), columns)
    if stored.get("cost") == ARRAY:
        # They may be in a column of that name too, which then must not become a feature.
        settings["cost"], read = costs, {"features": list(columns), **read}
    return {**settings, **_covariance(stored.get("covariance"), names), **read}


def _covariance(covariance: dict[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    if covariance is None:
        return {}
    if covariance["kind"] == "kernel":
        return {"kernel": covariance["kernel"], "length": covariance["length"]}
    return {"graph": [(names[one], names[other], weight) for one, other, weight in covariance["edges"]]}


def _reading(encoding: dict[str, Any] | None, columns: Sequence[str]) -> dict[str, Any]:
    """How the arms were read from a data frame: nothing if their columns have no names of their own."""
    if encoding is None:
        have_names = list(columns) != [f"x{column}" for column in range(len(columns))]
        return {"features": list(columns)} if have_names else {}
    read = {column["name"]: column["values"] for column in encoding["columns"]}
    categories = [name for name, values in read.items() if "category" in values]
    is_filled = any("filled" in values or values.get("category", {}).get("has_missing") for values in read.values() if values != "number")
    found: dict[str, Any] = {"features": list(read)}
    if encoding.get("id") is not None:
        found["id"] = encoding["id"]
    if categories:
        found["categories"] = categories
    if is_filled:
        found["missing"] = "mean"
    return found
