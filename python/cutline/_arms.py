"""Reads arms from arrays, data frames, tables, lists of names, or a number of arms."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_ARMS = 100_000_000
"""The largest number of arms that can be given as a number alone."""


class Arms(NamedTuple):
    """Arms in the form that the native module takes."""

    names: list[str] | None
    columns: list[str]
    features: NDArray[np.float64] | None


def read(X: Any, names: Iterable[object] | None, features: Sequence[str] | None) -> Arms:
    """Reads the arms in `X`. Names become strings, also those that are integers."""
    names = None if names is None else _names(names)
    if X is None or is_number(X):
        return Arms(_without_features(X, names), [], None)
    if isinstance(X, (str, bytes)):
        raise InputError("X must have one row of features per arm, not be a string; read a file first, for instance with pandas")
    frame = _frame(X)
    if frame is not None:
        return _from_frame(frame, names, features)
    if features is not None:
        raise InputError("`features` names columns, but the columns of X have no names; use a data frame")
    return _from_array(X, names)


def is_number(X: Any) -> bool:
    """Whether `X` is a number of arms."""
    return isinstance(X, int) or (hasattr(X, "__index__") and not hasattr(X, "__len__"))


def has_columns(X: Any) -> bool:
    """Whether `X` is a data frame or a table, whose columns have names."""
    return (hasattr(X, "iloc") and hasattr(X, "columns")) or hasattr(X, "get_columns") or hasattr(X, "column_names")


def _names(names: Iterable[object]) -> list[str]:
    if isinstance(names, (str, bytes)):
        raise InputError("`names` must be a list of names, not a string")
    try:
        return [str(name) for name in names]
    except TypeError as error:
        raise InputError("`names` must be a list of names") from error


def _without_features(X: Any, names: list[str] | None) -> list[str]:
    """The names of `X` arms without features."""
    if X is None:
        if names is None:
            raise InputError("X and `names` are both missing; give features, names or a number of arms")
        return names
    n_arms = operator.index(X)
    if not 1 <= n_arms <= MAX_ARMS:
        raise InputError(f"the number of arms must lie between 1 and {MAX_ARMS}, not {n_arms}")
    if names is not None and len(names) != n_arms:
        raise InputError(f"there are {len(names)} names, but {n_arms} arms")
    return [str(arm) for arm in range(n_arms)] if names is None else names


def _from_array(X: Any, names: list[str] | None) -> Arms:
    import numpy as np

    if hasattr(X, "toarray"):
        X = X.toarray()
    try:
        values = np.asarray(X.filled(np.nan) if np.ma.isMaskedArray(X) else X)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"X is not an array of numbers: {_line(error)}") from error
    if values.ndim == 1 and values.size and (values.dtype.kind in "UT" or _are_strings(values)):
        if names is not None:
            raise InputError("X and `names` both hold names; give one of them")
        return Arms([str(name) for name in values], [], None)
    values = _numbers(values, "X")
    if values.ndim != 2:
        message = f"X must have one row per arm and one column per feature, but its shape is {values.shape}"
        raise InputError(message + ("; for a single feature use `X[:, None]`" if values.ndim == 1 else ""))
    if values.shape[0] == 0:
        raise InputError("there are no arms; at least one is needed")
    if values.shape[1] == 0:
        raise InputError("the arms have no features; give at least one column, or only the number of arms")
    return Arms(names, [f"x{column}" for column in range(values.shape[1])], values)


def _are_strings(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "O" and all(isinstance(value, str) for value in values)


def _numbers(values: NDArray[Any], what: str) -> NDArray[np.float64]:
    """The values as 64-bit floats, without a copy where possible; the memory layout stays."""
    import numpy as np

    if values.dtype.kind not in "biufO" or (values.dtype.kind == "O" and _has_strings(values)):
        raise InputError(f"{what} must hold numbers, not values of type {values.dtype}")
    try:
        return values.astype(np.float64, copy=False)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{what} must hold numbers: {_line(error)}") from error


def _has_strings(values: NDArray[Any]) -> bool:
    return any(isinstance(value, (str, bytes)) for value in values.flat)


class _Frame(NamedTuple):
    """A data frame of any library: named columns, and row labels if there are any."""

    columns: list[tuple[str, Any]]
    labels: list[str] | None


def _frame(X: Any) -> _Frame | None:
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        is_numbered = type(X.index).__name__ == "RangeIndex" and (X.index.start, X.index.step) == (0, 1)
        labels = None if is_numbered else [str(label) for label in X.index]
        return _Frame([(str(name), X.iloc[:, i]) for i, name in enumerate(X.columns)], labels)
    if hasattr(X, "get_columns"):  # polars
        return _Frame([(column.name, column) for column in X.get_columns()], None)
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # Arrow
        return _Frame([(name, X.column(i)) for i, name in enumerate(X.column_names)], None)
    return None


def _from_frame(frame: _Frame, names: list[str] | None, features: Sequence[str] | None) -> Arms:
    import numpy as np

    columns = frame.columns
    name_columns = [values for name, values in columns if name.lower() == "name"]
    others = [(name, values) for name, values in columns if name.lower() != "name"]
    if features is not None:
        wanted = _names(features)
        by_name = dict(columns)
        missing = [name for name in wanted if name not in by_name]
        if missing:
            raise InputError(f"there is no column `{missing[0]}`; there are {_listed(by_name)}")
        others = [(name, by_name[name]) for name in wanted]
    if len(name_columns) > 1:
        raise InputError("two columns are called `name`; drop one of them")
    if names is None and name_columns:
        names = _column_of_names(name_columns[0])
    elif names is None:
        names = frame.labels
    n_arms = len(columns[0][1]) if columns else 0
    if n_arms == 0:
        raise InputError("there are no arms; at least one is needed")
    if not others:
        return Arms(names, [], None)
    values = np.empty((n_arms, len(others)), order="F")
    for i, (name, column) in enumerate(others):
        values[:, i] = _column(name, column)
    return Arms(names, [name for name, _ in others], values)


def _column(name: str, column: Any) -> NDArray[np.float64]:
    """The numbers of a column. Missing values become NaN, which the engine refuses with row and column."""
    import numpy as np

    library = type(column).__module__.partition(".")[0]
    if library == "polars":
        import polars

        is_number = column.dtype.is_numeric() or column.dtype == polars.Boolean
        values = column.cast(polars.Float64).to_numpy() if is_number else np.asarray(column.to_list(), dtype=object)
    elif library == "pyarrow":
        import pyarrow

        kinds = pyarrow.types
        checks = (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean)
        is_number = any(check(column.type) for check in checks)
        cast = column.cast(pyarrow.float64(), safe=False) if is_number else column
        values = np.asarray(cast.to_numpy(zero_copy_only=False))
    elif column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = column.to_numpy()
    if values.dtype.kind not in "biuf" and not (values.dtype.kind == "O" and not _has_strings(values)):
        raise InputError(f"column `{name}` does not hold numbers; choose the feature columns with `features`")
    return _numbers(values, f"column `{name}`")


def _column_of_names(column: Any) -> list[str]:
    """The values of a column as names."""
    values = next(getattr(column, method)() for method in ("tolist", "to_list", "to_pylist") if hasattr(column, method))
    for arm, value in enumerate(values):
        if value is None or value != value:
            raise InputError(f"the name of arm {arm} is missing")
    return [str(value) for value in values]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
