"""Reads arms from arrays, data frames, tables, lists of names, or a number of arms."""

from __future__ import annotations

import json
import operator
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
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
    encoding: str | None = None
    """How the columns of a data frame became features, as JSON; `None` if all are numbers."""
    costs: list[float] | None = None
    """What a measurement of each arm costs; `None` if all cost the same."""


class Reading(NamedTuple):
    """How a data frame is read; the arguments are those of `Campaign`."""

    features: Sequence[str] | None = None
    id: str | None = None
    categories: Sequence[str] | None = None
    missing: str = "refuse"
    cost: str | Iterable[float] | None = None


def read(X: Any, names: Iterable[object] | None, reading: Reading = Reading()) -> Arms:
    """Reads the arms in `X`. Names become strings, also those that are integers."""
    names = None if names is None else _names(names)
    if reading.id is not None and not isinstance(reading.id, str):
        reading = reading._replace(id=str(reading.id))
    if reading.categories is not None:
        reading = reading._replace(categories=_names(reading.categories, "`categories`"))
    if reading.missing not in ("refuse", "mean"):
        raise InputError(f"`missing` must be `refuse` or `mean`, not {reading.missing!r}")
    if reading.id is not None and names is not None:
        raise InputError("`id` and `names` both name the arms; give one of them")
    if isinstance(X, _native.Campaign):
        return _of_campaign(X, names, reading)
    frame = None
    if X is not None and not is_number(X):
        frame = _frame(X)
        if frame is None:
            _refuse_what_has_no_rows(X)
    frame, costs = _costs(frame, reading.cost)
    if isinstance(reading.cost, str) and reading.cost in (*(reading.features or ()), *(reading.categories or ())):
        raise InputError(f"the column `{reading.cost}` holds the costs, and cannot be a feature")
    return _read(X, frame, names, reading)._replace(costs=costs)


def _read(X: Any, frame: _Frame | None, names: list[str] | None, reading: Reading) -> Arms:
    if X is None or is_number(X):
        return Arms(_without_features(X, names), [], None)
    if frame is not None:
        return _from_frame(frame, names, reading)
    arms = _from_array(X, names)
    columns = None if reading.features is None else _names(reading.features, "`features`")
    for option, value in (("features", columns), ("id", reading.id), ("categories", reading.categories)):
        if value is not None and (option != "features" or len(value) != len(arms.columns)):
            raise InputError(f"`{option}` names columns, but the columns of X have no names; use a data frame")
    if columns:
        arms = arms._replace(columns=columns)
    if reading.missing == "mean" and arms.features is not None:
        return _encoded([(name, arms.features[:, i].copy()) for i, name in enumerate(arms.columns)], arms.names, reading, [])
    return arms


def read_later(
    X: Any, names: Iterable[object] | None, columns: Sequence[str], encoding: str | None, cost: str | Iterable[float] | None
) -> Arms:
    """Reads further arms of a campaign with these columns, whose first arms had this encoding: they get the same features. If they are not a
    data frame, the name of a column of costs is ignored."""
    if encoding is None:
        encoding = json.dumps({"columns": [{"name": name, "values": "number"} for name in columns]})
    known = json.loads(encoding)
    names = None if names is None else _names(names)
    frame = None if X is None or is_number(X) or isinstance(X, (str, bytes)) else _frame(X)
    if frame is None and isinstance(cost, str):
        cost = None
    if frame is None or not columns:
        arms = read(X, names, Reading(cost=cost))
        if len(arms.columns) != len(columns):
            raise InputError(f"the arms of this campaign have {len(columns)} features, and these have {len(arms.columns)}")
        if any(column["values"] != "number" for column in known["columns"]):
            raise InputError("the features of this campaign were made of a data frame; use one with the same columns")
        return Arms(arms.names, list(columns), arms.features, costs=arms.costs)
    frame, costs = _costs(frame, cost)
    categories = [column["name"] for column in known["columns"] if "category" in column["values"]]
    wanted = [column["name"] for column in known["columns"]]
    reading = Reading(features=wanted, id=known.get("id") if names is None else None, categories=categories)
    names, others = _names_and_columns(frame, names, reading)
    cells = [(name, _cells(name, column, name in categories)[0]) for name, column in others]
    return _encoded(cells, names, reading, categories, encoding)._replace(costs=costs)


def _of_campaign(campaign: Any, names: list[str] | None, reading: Reading) -> Arms:
    """The arms of another campaign, perhaps under other names. They are read already, in the way that its settings say."""
    arms: Arms = campaign._own_arms()
    settings = campaign.settings
    own = Reading(**{option: settings[option] for option in Reading._fields if option in settings})
    if reading.cost is not None and not isinstance(reading.cost, str):
        reading = reading._replace(cost=_costs(None, reading.cost)[1])
        own = own._replace(cost=arms.costs)
    for option, value, default in zip(Reading._fields, reading, Reading()):
        if value != default and value != getattr(own, option):
            raise InputError(f"the arms of a campaign are taken as they are; leave out `{option}`")
    return arms if names is None else arms._replace(names=names)


def is_number(X: Any) -> bool:
    """Whether `X` is a number of arms."""
    return isinstance(X, int) or (hasattr(X, "__index__") and not hasattr(X, "__len__"))


def _names(names: Iterable[object], what: str = "`names`") -> list[str]:
    """Names of arms, or of columns, as strings."""
    if isinstance(names, (str, bytes)):
        raise InputError(f"{what} must be a list of names, not a string")
    if isinstance(names, (Set, Mapping)):
        raise InputError(f"{what} must be a list of names, not a {type(names).__name__}")
    try:
        found = list(names)
    except TypeError as error:
        raise InputError(f"{what} must be a list of names") from error
    for arm, name in enumerate(found):
        if _is_missing(name):
            raise InputError(f"the name of arm {arm} is missing" if what == "`names`" else f"{what} must be a list of names, not {name!r}")
        if isinstance(name, bytes):
            raise InputError(f"a name must be text, not bytes: {name!r}; decode it first")
    return [str(name) for name in found]


def _is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: `None`, NaN, or `NA` or `NaT` of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _refuse_what_has_no_rows(X: Any) -> None:
    """Refuses what can be made an array or a data frame, and says how."""
    if isinstance(X, (str, bytes)):
        raise InputError("X must have one row of features per arm, not be a string; read a file first, for instance with pandas")
    advice = None
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        advice = "make it a data frame first, for instance with `pandas.DataFrame`"
    elif isinstance(X, Iterator):
        advice = "make it a list first"
    elif isinstance(X, Set):
        advice = "its order is arbitrary; make it a list first"
    elif callable(getattr(X, "collect", None)):
        advice = "collect it first"
    elif getattr(getattr(X, "dtype", None), "names", None):
        advice = "make it a data frame first, for instance with `pandas.DataFrame`"
    if advice is not None:
        raise InputError(f"X must have one row of features per arm, and a {type(X).__name__} has none; {advice}")


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
        values = np.asarray(np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMaskedArray(X) else X)
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
    labels: Iterable[object] | None
    n_rows: int


def _frame(X: Any) -> _Frame | None:
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        is_numbered = type(X.index).__name__ == "RangeIndex" and (X.index.start, X.index.step) == (0, 1)
        labels = None if is_numbered else X.index
        return _Frame([(str(name), X.iloc[:, i]) for i, name in enumerate(X.columns)], labels, len(X) if len(X.columns) else 0)
    if hasattr(X, "get_columns"):  # polars
        return _Frame([(column.name, column) for column in X.get_columns()], None, len(X))
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # Arrow
        return _Frame([(name, X.column(i)) for i, name in enumerate(X.column_names)], None, X.num_rows)
    return None


def _costs(frame: _Frame | None, cost: str | Iterable[float] | None) -> tuple[Any, list[float] | None]:
    """The frame without its column of costs, if `cost` names one, and the costs."""
    if cost is None:
        return frame, None
    if not isinstance(cost, str):
        import numpy as np

        try:
            values = _numbers(np.asarray(cost), "`cost`")
        except (ValueError, TypeError) as error:
            raise InputError(f"`cost` must be the name of a column or one number per arm: {_line(error)}") from error
        if values.ndim != 1:
            raise InputError(f"`cost` must be the name of a column or one number per arm, but its shape is {values.shape}")
        return frame, values.tolist()
    if frame is None:
        raise InputError("`cost` names a column, but the columns of X have no names; use a data frame, or pass the costs themselves")
    by_name = dict(frame.columns)
    if cost not in by_name:
        raise InputError(f"there is no column `{cost}`, which holds the costs; there are {_listed(by_name)}")
    values = _cells(cost, by_name[cost], False)[0]
    if isinstance(values, list):
        raise InputError(f"column `{cost}` holds text, and costs are numbers")
    return frame._replace(columns=[column for column in frame.columns if column[0] != cost]), values.tolist()


def _names_and_columns(frame: _Frame, names: list[str] | None, reading: Reading) -> tuple[list[str] | None, list[tuple[str, Any]]]:
    """The names of the arms, and the columns that are features."""
    columns, by_name = frame.columns, dict(frame.columns)
    if frame.n_rows == 0:
        raise InputError("there are no arms; at least one is needed")
    wanted = None if reading.features is None else _names(reading.features, "`features`")
    needed = [*(wanted or []), *(reading.categories or []), *([] if reading.id is None else [reading.id])]
    counts = Counter(name for name, _ in columns)
    for name in needed:
        if name not in by_name:
            raise InputError(f"there is no column `{name}`; there are {_listed(by_name)}")
    for name in counts if wanted is None else needed:
        if counts[name] > 1:
            raise InputError(f"{counts[name]} columns are called `{name}`; rename or drop all but one")
    if wanted is not None:
        others = [(name, by_name[name]) for name in wanted]
    else:
        others = [(name, values) for name, values in columns if name.lower() != "name" and name != reading.id]
    name_columns = [values for name, values in columns if name.lower() == "name"]
    if len(name_columns) > 1:
        raise InputError("two columns are called `name`; drop one of them")
    if reading.id is not None:
        names = _column_of_names(by_name[reading.id])
    elif names is None and name_columns:
        names = _column_of_names(name_columns[0])
    elif names is None and frame.labels is not None:
        names = _names(frame.labels)
    return names, others


def _from_frame(frame: _Frame, names: list[str] | None, reading: Reading) -> Arms:
    import numpy as np

    names, others = _names_and_columns(frame, names, reading)
    chosen = set(reading.categories or [])
    if unused := chosen - {name for name, _ in others}:
        raise InputError(f"the category `{min(unused)}` is not one of the features")
    categories: list[str] = []
    cells: list[tuple[str, Any]] = []
    for name, column in others:
        values, is_category = _cells(name, column, name in chosen)
        if reading.features is None and not cells and not is_category and _counts_rows(name, values):
            _warn(f"the column `{name}` counts the rows; it is left out")
            continue
        categories += [name] if is_category else []
        cells.append((name, values))
    if not cells:
        is_numbered = names is None and reading.cost is not None
        return Arms([str(arm) for arm in range(frame.n_rows)] if is_numbered else names, [], None)
    numbers = [values for _, values in cells if not isinstance(values, list)]
    is_plain = len(numbers) == len(cells) and not any(np.isnan(values).any() for values in numbers)
    if not is_plain or reading.id is not None:
        return _encoded(cells, names, reading, categories)
    features = np.empty((len(numbers[0]), len(numbers)), order="F")
    for i, values in enumerate(numbers):
        features[:, i] = values
    return Arms(names, [name for name, _ in cells], features)


def _encoded(
    cells: list[tuple[str, Any]], names: list[str] | None, reading: Reading, categories: list[str], encoding: str | None = None
) -> Arms:
    """The features that columns become, by an encoding or else by what they hold."""
    is_filled = reading.missing == "mean"
    columns, features, encoding, notes = _native.encode_columns(cells, categories, reading.id, is_filled, encoding)
    for note in notes:
        _warn(note)
    return Arms(names, columns, features, encoding)


def _warn(note: str) -> None:
    """Notes something about a data frame at the line that used it."""
    depth, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("cutline."):
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(note, stacklevel=depth)


def _counts_rows(name: str, values: Any) -> bool:
    """Whether a column has no name and counts the rows, as pandas writes an index."""
    import numpy as np

    if name not in ("", "Unnamed: 0") or isinstance(values, list):
        return False
    return bool(float(values[0]).is_integer() and np.all(np.diff(values) == 1.0))


def _cells(name: str, column: Any, is_category: bool) -> tuple[Any, bool]:
    """The values of a column, numbers with NaN or text with `None` where one is missing, and whether it is meant as a category."""
    import numpy as np

    library = type(column).__module__.partition(".")[0]
    if library == "polars":
        import polars

        is_number = column.dtype.is_numeric() or column.dtype == polars.Boolean
        is_category |= column.dtype in (polars.Categorical, polars.Enum)
        values = column.cast(polars.Float64).to_numpy() if is_number else _objects(column.to_list())
    elif library == "pyarrow":
        import pyarrow

        kinds = pyarrow.types
        checks = (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean)
        is_number = any(check(column.type) for check in checks)
        is_category |= kinds.is_dictionary(column.type)
        cast = column.cast(pyarrow.float64(), safe=False) if is_number else column
        values = cast.to_numpy(zero_copy_only=False) if is_number else _objects(column.to_pylist())
    elif column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        is_category |= str(column.dtype) == "category"
        values = column.astype(object).to_numpy() if is_category else column.to_numpy()
    if is_category:
        return [_level(value) for value in values.tolist()], True
    if values.dtype.kind in "UTO" and _has_strings(values):
        return _text(name, values), False
    if values.dtype.kind not in "biufO":
        raise InputError(f"column `{name}` does not hold numbers; choose the feature columns with `features`")
    return np.ascontiguousarray(_numbers(values, f"column `{name}`")), False


def _objects(values: list[Any]) -> NDArray[Any]:
    """An array of these objects, lists among them too."""
    import numpy as np

    return np.fromiter(values, dtype=object, count=len(values))


def _text(name: str, values: NDArray[Any]) -> list[str | None]:
    """The text of a column; numbers among it are refused, because the column could mean either."""
    texts = [_level(value) for value in values.tolist()]
    for value, text in zip(values.tolist(), texts):
        if text is not None and (not isinstance(value, str) or _is_number(text)):
            advice = f"convert it with `astype(float)`, or pass `categories=[{name!r}]`"
            raise InputError(f"column `{name}` holds text, and some of it is numbers, such as {value!r}; {advice}")
    return texts


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _level(value: Any) -> str | None:
    """A value as a level of a category; `None` if it is missing."""
    if _is_missing(value) or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _column_of_names(column: Any) -> list[str]:
    """The values of a column as names."""
    return _names(next(getattr(column, method)() for method in ("tolist", "to_list", "to_pylist") if hasattr(column, method)))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
