"""Tables for the user: data frames if pandas is installed, otherwise lists of dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import CutlineError

if TYPE_CHECKING:
    import pandas as pd


def frame(columns: dict[str, Any]) -> pd.DataFrame | list[dict[str, Any]]:
    """Columns as a data frame, or as one dict per row if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        return records(columns)
    return pandas.DataFrame(columns)


def records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Columns as one dict per row. What is not a number is `None`, as in JSON."""
    lists = {key: getattr(values, "tolist", lambda values=values: values)() for key, values in columns.items()}
    rows = zip(*([None if value != value else value for value in values] for values in lists.values()))
    return [dict(zip(lists, row)) for row in rows]


def require(module: str) -> Any:
    """Imports a module of a package that is optional."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise CutlineError(f"this needs `{package}`; install it with `pip install {package}`") from error
