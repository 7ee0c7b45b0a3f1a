"""Arms from arrays, data frames, tables, names and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cutline

VALUES = np.array([[1.0, 2.0], [3.0, 4.5], [5.0, -6.0]])
COLUMNS: dict[str, Any] = {"name": ["a", "b", "c"], "x": [1, 3, 5], "y": [2.0, 4.5, -6.0]}


def begin(X: Any, **settings: Any) -> cutline.Campaign:
    return cutline.Campaign(X, threshold=0.5, budget=9, **settings)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).set_index("name"),
        pd.DataFrame({**COLUMNS, "x": pd.array([1, 3, 5], dtype="Int64")}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS, schema_overrides={"x": pl.UInt8, "y": pl.Decimal(10, 2)}),
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
        pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
    ],
    ids=lambda frame: type(frame).__module__,
)
def test_frames(frame: Any) -> None:
    campaign = begin(frame)
    assert (campaign.names, campaign.columns) == (["a", "b", "c"], ["x", "y"])
    assert campaign.features is not None and np.array_equal(campaign.features, VALUES)
    assert begin(frame, names=["p", "q", "r"]).names == ["p", "q", "r"]
    one = begin(frame, features=["y"])
    assert one.features is not None and np.array_equal(one.features, VALUES[:, 1:])
    with pytest.raises(cutline.InputError, match="there is no column `z`; there are"):
        begin(frame, features=["z"])


def test_an_index_that_only_counts_is_no_names() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert begin(frame).names == ["0", "1", "2"]
    assert begin(frame[frame.x > 1.5]).names == ["1", "2"]


@pytest.mark.parametrize(
    "values",
    [
        VALUES,
        VALUES.astype(np.float32),
        VALUES.astype(np.float16),
        VALUES.astype(object),
        np.asfortranarray(VALUES),
        VALUES.tolist(),
        tuple(map(tuple, VALUES)),
        [pd.Series(row) for row in VALUES],
        np.ma.masked_array(VALUES),
    ],
)
def test_arrays(values: Any) -> None:
    campaign = begin(values)
    assert (campaign.names, campaign.columns) == (["0", "1", "2"], ["x0", "x1"])
    assert campaign.features is not None and np.array_equal(campaign.features, VALUES)


def test_the_array_stays_as_it_is_and_is_let_go() -> None:
    values = VALUES.copy()
    campaign = begin(values)
    values[:] = np.nan
    assert campaign.features is not None and np.array_equal(campaign.features, VALUES)


def test_arms_without_features() -> None:
    for X, names in (
        (["a", "b"], ["a", "b"]),
        (np.array(["a", "b"]), ["a", "b"]),
        (3, ["0", "1", "2"]),
        (np.int64(2), ["0", "1"]),
        (pd.DataFrame({"name": ["a", "b"]}), ["a", "b"]),
    ):
        campaign = begin(X)
        assert (campaign.names, campaign.columns, campaign.features) == (names, [], None)
        assert campaign.settings["algorithm"] == "apt"
        ticket = campaign.ask()
        assert ticket is not None and ticket.features.shape == (0,)
    assert begin(None, names=["a", "b"]).names == ["a", "b"]
    assert begin(2, names=[7, 8]).names == ["7", "8"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan]], "feature 1 of arm 0 is NaN; features must be finite"),
        ([[1.0], [np.inf]], "feature 0 of arm 1 is inf"),
        (np.ma.masked_array(VALUES, mask=VALUES > 4), "feature 1 of arm 1 is NaN"),
        ([1.0, 2.0], r"it has the shape \(2,\); one feature is `X\[:, None\]`"),
        (1.5, r"it has the shape \(\)"),
        (np.zeros((2, 2, 2)), r"it has the shape \(2, 2, 2\)"),
        (np.zeros((0, 2)), "there are no arms"),
        (np.zeros((2, 0)), "the arms have no features"),
        ([], "shape"),
        ([[1.0], [1.0, 2.0]], "X is no array of numbers"),
        ([["a", "b"]], "X must hold numbers"),
        ([[1.0, None]], "feature 1 of arm 0 is NaN"),
        ([[1j]], "X must hold numbers, not values of type complex128"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "X must hold numbers"),
        (0, "the number of arms must lie between 1 and"),
        (-3, "the number of arms must lie between 1 and"),
        (10**20, "the number of arms must lie between 1 and"),
        (None, "X and `names` are both missing"),
        ("features.csv", "not a text; read the file first"),
        (["a", "a"], "arms 0 and 1 are both called `a`; names must differ"),
        (["a", "\n"], "arm 1 cannot be called"),
        ({"x": [1.0]}, "X must hold numbers"),
        (object(), "X must hold numbers"),
        (pd.DataFrame({"x": [1.0], "city": ["Rome"]}), "column `city` holds no numbers; say which columns are features"),
        (pl.DataFrame({"x": [1.0], "city": ["Rome"]}), "column `city` holds no numbers"),
        (pa.table({"x": [1.0], "city": ["Rome"]}), "column `city` holds no numbers"),
        (pd.DataFrame({"x": pd.to_datetime(["2020-01-01"])}), "column `x` holds no numbers"),
        (pd.DataFrame({"x": [1.0, None]}), "feature 0 of arm 1 is NaN"),
        (pl.DataFrame({"x": [1.0, None]}), "feature 0 of arm 1 is NaN"),
        (pa.table({"x": [1.0, None]}), "feature 0 of arm 1 is NaN"),
        (pd.DataFrame({"name": ["a", None], "x": [1.0, 2.0]}), "the name of arm 1 is missing"),
        (pl.DataFrame({"name": ["a", None], "x": [1.0, 2.0]}), "the name of arm 1 is missing"),
        (pd.DataFrame(), "there are no arms"),
    ],
)
def test_what_cannot_be_arms(X: Any, message: str) -> None:
    with pytest.raises(cutline.InputError, match=message):
        begin(X)


def test_names_that_do_not_fit() -> None:
    for names, message in (
        (["a", "b"], "there are 2 names, but 3 rows of features"),
        ("abc", "`names` must be a list of names, not one text"),
        (7, "`names` must be a list of names"),
        (["a", "b", "\ud800"], "the names must be a text"),
    ):
        with pytest.raises(cutline.InputError, match=message):
            begin(VALUES, names=names)
    with pytest.raises(cutline.InputError, match="there are 1 names, but 2 arms"):
        begin(2, names=["a"])
    with pytest.raises(cutline.InputError, match="`features` names columns, and X has none"):
        begin(VALUES, features=["x0"])
