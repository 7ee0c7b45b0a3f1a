"""Arms from arrays, data frames, tables, names and numbers, and which arm an integer means."""

from __future__ import annotations

import pickle
from pathlib import Path
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


def test_an_index_of_row_numbers_gives_no_names() -> None:
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


def test_features_are_copied() -> None:
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
        ([1.0, 2.0], r"its shape is \(2,\); for a single feature use `X\[:, None\]`"),
        (1.5, r"its shape is \(\)"),
        (np.zeros((2, 2, 2)), r"its shape is \(2, 2, 2\)"),
        (np.zeros((0, 2)), "there are no arms"),
        (np.zeros((2, 0)), "the arms have no features"),
        ([], "shape"),
        ([[1.0], [1.0, 2.0]], "X is not an array of numbers"),
        ([["a", "b"]], "X must hold numbers"),
        ([[1.0, None]], "feature 1 of arm 0 is NaN"),
        ([[1j]], "X must hold numbers, not values of type complex128"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "X must hold numbers"),
        (0, "the number of arms must lie between 1 and"),
        (-3, "the number of arms must lie between 1 and"),
        (10**20, "the number of arms must lie between 1 and"),
        (None, "X and `names` are both missing"),
        ("features.csv", "not be a string; read a file first"),
        (["a", "a"], "arms 0 and 1 are both called `a`; names must differ"),
        (["a", "\n"], "arm 1 cannot be called"),
        ({"x": [1.0]}, "a dict has none; make it a data frame first"),
        (object(), "X must hold numbers"),
        (pd.DataFrame({"x": [1.0], "city": ["Rome"]}), 'column `city` is text, with a different value in every row; the first is `Rome`; pass `id="city"`'),
        (pl.DataFrame({"x": [1.0], "city": ["Rome"]}), "column `city` is text, with a different value in every row"),
        (pa.table({"x": [1.0], "city": ["Rome"]}), "column `city` is text, with a different value in every row"),
        (pd.DataFrame({"x": ["1", "2"]}), "column `x` holds text, and some of it is numbers, such as '1'; convert it with `astype"),
        (pd.DataFrame({"x": ["a", 2.0]}), "column `x` holds text, and some of it is numbers, such as 2.0"),
        (pd.DataFrame({"x": pd.to_datetime(["2020-01-01"])}), "column `x` does not hold numbers"),
        (pd.DataFrame({"x": [1.0, None]}), "row 1, column `x`: the value is missing; rows are positions from 0"),
        (pl.DataFrame({"x": [1.0, None]}), "row 1, column `x`: the value is missing; rows are positions from 0"),
        (pa.table({"x": [1.0, None]}), "row 1, column `x`: the value is missing; rows are positions from 0"),
        (pd.DataFrame({"name": ["a", None], "x": [1.0, 2.0]}), "the name of arm 1 is missing"),
        (pl.DataFrame({"name": ["a", None], "x": [1.0, 2.0]}), "the name of arm 1 is missing"),
        (pd.DataFrame(), "there are no arms"),
    ],
)
def test_invalid_arms(X: Any, message: str) -> None:
    with pytest.raises(cutline.InputError, match=message):
        begin(X)


def test_invalid_names() -> None:
    for names, message in (
        (["a", "b"], "there are 2 names, but 3 rows of features"),
        ("abc", "`names` must be a list of names, not a string"),
        (7, "`names` must be a list of names"),
        (["a", "b", "\ud800"], "each of the names must be a string"),
    ):
        with pytest.raises(cutline.InputError, match=message):
            begin(VALUES, names=names)
    with pytest.raises(cutline.InputError, match="there are 1 names, but 2 arms"):
        begin(2, names=["a"])
    with pytest.raises(cutline.InputError, match="`features` names columns, but the columns of X have no names"):
        begin(VALUES, features=["x0"])


FRAME = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})


def pulled(campaign: cutline.Campaign, arm: Any) -> str:
    """The name of the arm that a reward of `arm` goes to."""
    before = [verdict.pulls for verdict in campaign.verdicts]
    campaign.observe(arm, 1.0)
    (name,) = (v.name for v, pulls in zip(campaign.verdicts, before) if v.pulls > pulls)
    return name


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32, np.array])
@pytest.mark.parametrize(
    ("X", "settings", "expected"),
    [
        (FRAME, {}, {0: "0", 3: "3"}),
        (FRAME.query("index > 0"), {}, {1: "1", 3: "3"}),
        (FRAME.iloc[[2, 0, 1]], {}, {0: "0", 1: "1", 2: "2"}),
        (FRAME.set_index(pd.RangeIndex(4, 8)), {}, {4: "4", 7: "7"}),
        (FRAME.assign(name=[4, 3, 2, 1]), {}, {1: "1", 4: "4"}),
        (pl.DataFrame({"name": [9, 8], "x": [0.0, 1.0]}), {}, {8: "8"}),
        (2, {"names": [7, 8]}, {7: "7", 8: "8"}),
        (["1", "0"], {}, {0: "0", 1: "1"}),
        (["a", "b"], {}, {0: "a", 1: "b"}),
        (["nan", "inf"], {}, {0: "nan", 1: "inf"}),
        (VALUES, {}, {0: "0", 2: "2"}),
        (3, {}, {0: "0", 2: "2"}),
        (["a", "1", "b"], {}, {1: "1"}),
    ],
)
def test_an_integer_is_a_name_where_names_are_numbers(kind: Any, X: Any, settings: Any, expected: dict[int, str]) -> None:
    campaign = begin(X, **settings)
    for arm, name in expected.items():
        assert pulled(campaign, kind(arm)) == name
        assert pulled(campaign, name) == name
    before = [verdict.pulls for verdict in campaign.verdicts]
    campaign.observe(list(map(kind, expected)), np.ones(len(expected)))
    changed = [v.name for v, pulls in zip(campaign.verdicts, before) if v.pulls > pulls]
    assert sorted(changed) == sorted(expected.values())


def test_negative_names() -> None:
    campaign = begin(2, names=[-1, -2])
    assert (pulled(campaign, -1), pulled(campaign, np.int8(-2))) == ("-1", "-2")
    big = begin(2, names=[2**63 + 1, 5])
    assert pulled(big, np.uint64(2**63 + 1)) == str(2**63 + 1)


NOT_FOUND, INPUT = cutline.NotFoundError, cutline.InputError


@pytest.mark.parametrize(
    ("X", "arm", "error", "message"),
    [
        (FRAME.query("index > 0"), 0, NOT_FOUND, "there is no arm called `0`; the names of these arms are numbers, so an integer"),
        (FRAME.query("index > 0"), -1, NOT_FOUND, "there is no arm called `-1`"),
        (FRAME.set_index(pd.Index([1.0, 2.0, 3.0, 4.0])), 1, NOT_FOUND, "there is no arm called `1`"),
        (["007", "008"], 7, NOT_FOUND, "there is no arm called `7`"),
        (FRAME, 4, NOT_FOUND, "there is no arm 4; arms are numbered from 0 to 3"),
        (FRAME, -1, INPUT, "an arm must be a name or a position from 0, not -1"),
        (["a", "b"], 2, NOT_FOUND, "there is no arm 2; arms are numbered from 0 to 1"),
        (["a", "b"], -1, INPUT, "an arm must be a name or a position from 0, not -1"),
        (["a", "b"], 10**30, NOT_FOUND, "there is no arm 1000"),
        (["a", "b"], "c", NOT_FOUND, "there is no arm `c`"),
        (["b", "0"], 0, INPUT, "the arm 0 is ambiguous: some names of these arms are numbers, so it could be a name or a position"),
        (["b", "0"], 1, INPUT, "the arm 1 is ambiguous: .*; give the name as a string"),
        (["b", "7"], 7, INPUT, "the arm 7 is ambiguous"),
        (["a", "b"], True, INPUT, "an arm must be a name or a position from 0, not True"),
        (FRAME, False, INPUT, "not False"),
        (FRAME, np.True_, INPUT, "not np.True_"),
        (["a", "b"], 0.0, INPUT, "not 0.0"),
        (["a", "b"], None, INPUT, "not None"),
    ],
)
def test_an_arm_that_does_not_exist_or_is_ambiguous(X: Any, arm: Any, error: type[Exception], message: str) -> None:
    campaign = begin(X)
    one_or_several: list[Any] = [(arm, 1.0), ([arm], [1.0])]
    for arms, rewards in one_or_several:
        with pytest.raises(error, match=message) as raised:
            campaign.observe(arms, rewards)
        assert "\n" not in str(raised.value)
    assert campaign.progress.uncounted == 0


def test_integers_keep_their_meaning_in_pickles_and_stores(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/x.db"
    memory, stored = begin(FRAME.query("index > 0")), begin(FRAME.query("index > 0"), storage=storage)
    for campaign in (memory, pickle.loads(pickle.dumps(memory)), stored, cutline.open(storage)):
        assert pulled(campaign, 1) == "1"
        with pytest.raises(cutline.NotFoundError, match="there is no arm called `0`"):
            campaign.observe(0, 1.0)


def test_diagnose_reads_integers_as_observe_does() -> None:
    frame = FRAME.query("index > 0")
    named = cutline.diagnose(frame, ["1", "2", "3"] * 3, np.arange(9.0))
    assert cutline.diagnose(frame, [1, 2, 3] * 3, np.arange(9.0)) == named
    assert cutline.diagnose(frame, np.array([1, 2, 3] * 3), np.arange(9.0)) == named
    with pytest.raises(cutline.NotFoundError, match="there is no arm called `0`"):
        cutline.diagnose(frame, [0], [1.0])


def test_a_pilot_reads_integers_as_observe_does() -> None:
    frame = FRAME.query("index > 0")
    asked: dict[str, Any] = {"threshold": 1.5, "budgets": [4, 8], "runs": 50, "algorithms": ["pivot"]}
    named = cutline.plan(frame, pilot=(["1", "3", "3"], [0.5, 2.0, 1.0]), **asked).to_dict()
    assert cutline.plan(frame, pilot=(np.array([1, 3, 3]), [0.5, 2.0, 1.0]), **asked).to_dict() == named
    assert cutline.plan(frame.reset_index(drop=True), pilot=([0, 2, 2], [0.5, 2.0, 1.0]), **asked).to_dict() == named
    with pytest.raises(cutline.NotFoundError, match="there is no arm called `0`"):
        cutline.plan(frame, pilot=([0], [0.5]), **asked)
    with pytest.raises(cutline.InputError, match="an arm must be a name or a position from 0, not True"):
        cutline.plan(frame, pilot=([True], [0.5]), **asked)


def test_tickets_keep_their_numbers() -> None:
    campaign = begin(FRAME.query("index > 1"))
    ticket = campaign.ask()
    assert ticket is not None and ticket.ticket == 1
    campaign.tell(1, 0.5)
    assert [v.name for v in campaign.verdicts if v.pulls] == [ticket.name]
    assert ticket.name == str(FRAME.query("index > 1").index[ticket.arm]), "the arm of a ticket is its position"


BIRDS: dict[str, Any] = {
    "code": ["p1", "p2", "p3", "p4"],
    "species": ["Adelie", "Gentoo", "Adelie", "Gentoo"],
    "mass": [3750.0, None, 3800.0, 4450.0],
}


@pytest.mark.parametrize("frame", [pd.DataFrame(BIRDS), pl.DataFrame(BIRDS), pa.table(BIRDS)], ids=["pandas", "polars", "pyarrow"])
def test_categories_and_missing_values(frame: Any) -> None:
    with pytest.raises(cutline.InputError, match="row 1, column `mass`: the value is missing; .* pass `missing=\"mean\"`"):
        begin(frame, id="code", categories=["species"])
    with pytest.warns(UserWarning, match="1 missing value in column `mass` became its mean, 4000; `mass missing` marks where"):
        campaign = begin(frame, id="code", categories=["species"], missing="mean")
    assert campaign.names == BIRDS["code"]
    assert campaign.columns == ["species=Adelie", "species=Gentoo", "mass", "mass missing"]
    assert campaign.features is not None and campaign.features[1].tolist() == [0.0, 1.0, 4000.0, 1.0]
    settings = campaign.settings
    assert (settings["id"], settings["categories"], settings["missing"]) == ("code", ["species"], "mean")
    again = pickle.loads(pickle.dumps(campaign))
    assert again.settings == campaign.settings and np.array_equal(again.features, campaign.features)


def test_text_is_a_category_with_a_warning() -> None:
    frame = pd.DataFrame({"species": ["Adelie", "Gentoo", "Adelie"], "x": [1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match="column `species` is text: a category with the levels `Adelie`, `Gentoo`") as caught:
        assert begin(frame).columns == ["species=Adelie", "species=Gentoo", "x"]
    assert caught[0].filename == __file__
    for dtype in ("category", "string"):
        typed = frame.astype({"species": dtype})
        assert begin(typed, categories=["species"]).columns == ["species=Adelie", "species=Gentoo", "x"]
    assert begin(frame.astype({"species": "category"})).columns[0] == "species=Adelie", "a categorical needs no warning"
    assert begin(pl.DataFrame(frame.to_dict("list")).with_columns(pl.col("species").cast(pl.Categorical))).columns[2] == "x"
    numbers = pd.DataFrame({"plate": [10, 9, 10], "x": [1.0, 2.0, 3.0]})
    assert begin(numbers, categories=["plate"]).columns == ["plate=10", "plate=9", "x"]


def test_an_index_that_was_written_to_a_file_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "arms.csv"
    pd.DataFrame({"x": [1.0, 3.0], "y": [2.0, 4.0]}).to_csv(file)
    with pytest.warns(UserWarning, match="the column `Unnamed: 0` counts the rows; it is left out"):
        assert begin(pd.read_csv(file)).columns == ["x", "y"]


def test_reading_options_are_checked() -> None:
    frame = pd.DataFrame({"code": ["a", "b"], "x": [1.0, 2.0]})
    for settings, message in (
        ({"id": "nr"}, "there is no column `nr`; there are `code`, `x`"),
        ({"id": "code", "names": ["p", "q"]}, "`id` and `names` both name the arms; give one of them"),
        ({"categories": ["z"]}, "there is no column `z`"),
        ({"features": ["x"], "categories": ["code"]}, "the category `code` is not one of the features"),
        ({"missing": "zero"}, "`missing` must be `refuse` or `mean`, not 'zero'"),
    ):
        with pytest.raises(cutline.InputError, match=message):
            begin(frame, **settings)
    with pytest.raises(cutline.InputError, match="`id` names columns, but the columns of X have no names"):
        begin(VALUES, id="x")
    with pytest.warns(UserWarning, match="1 missing value in column `x0`"):
        assert begin([[1.0], [np.nan], [3.0]], missing="mean").columns == ["x0", "x0 missing"]


def test_a_store_at_a_path(tmp_path: Path) -> None:
    path = tmp_path / "screen.db"
    campaign = begin(3, storage=path)
    campaign.observe(0, 1.0)
    assert (cutline.campaigns(path), cutline.open(path).progress.uncounted) == (["campaign"], 1)
    assert pickle.loads(pickle.dumps(campaign)).storage == str(path)


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        (pd.DataFrame({"a": [1.0, 2.0]}, index=["x", np.nan]), {}, "the name of arm 1 is missing"),
        (pd.DataFrame({"a": [1.0, 2.0]}, index=pd.to_datetime(["2020-01-01", None])), {}, "the name of arm 1 is missing"),
        (pd.DataFrame({"a": [1.0, 2.0], "name": pd.array(["x", None], dtype="string")}), {}, "the name of arm 1 is missing"),
        (VALUES, {"names": ["a", np.nan, "c"]}, "the name of arm 1 is missing"),
        (VALUES, {"names": ["a", "b", None]}, "the name of arm 2 is missing"),
        (VALUES, {"names": {"a", "b", "c"}}, "`names` must be a list of names, not a set"),
        (VALUES, {"names": [b"a", b"b", b"c"]}, "a name must be text, not bytes"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), {}, "2 columns are called `a`; rename or drop all but one"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), {"features": ["a"]}, "2 columns are called `a`"),
        ({"a": [1.0, 2.0]}, {}, "a dict has none; make it a data frame first"),
        ([{"a": 1.0}, {"a": 2.0}], {}, "a list has none; make it a data frame first"),
        ({"a", "b"}, {}, "a set has none; its order is arbitrary; make it a list first"),
        ((row for row in VALUES), {}, "a generator has none; make it a list first"),
        (pl.DataFrame({"a": [1.0, 2.0]}).lazy(), {}, "a LazyFrame has none; collect it first"),
        (np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]), {}, "a ndarray has none; make it a data frame first"),
        (pl.DataFrame({"a": [[1.0, 2.0]], "b": [1.0]}), {}, "column `a` must hold numbers"),
        (pa.table({"a": [[1.0, 2.0]], "b": [1.0]}), {}, "column `a` must hold numbers"),
    ],
)
def test_what_would_be_misread_is_refused(X: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(cutline.InputError) as caught:
        begin(X, **settings)
    assert message in str(caught.value)


def test_columns_whose_names_are_numbers() -> None:
    frame = pd.DataFrame([["a", 1.0, "u"], ["b", 2.0, "v"]])
    campaign = begin(frame, id=0, features=[1, 2], categories=[2])
    assert campaign.names == ["a", "b"] and campaign.columns == ["1", "2=u", "2=v"]


def test_masked_integers_are_missing_values() -> None:
    masked = np.ma.masked_array([[1, 2], [3, 4]], [[False, False], [False, True]])
    with pytest.raises(cutline.InputError, match="feature 1 of arm 1 is NaN"):
        begin(masked)
    with pytest.warns(UserWarning, match="1 missing value"):
        campaign = begin(masked, missing="mean")
    assert campaign.features is not None and campaign.features.tolist() == [[1.0, 2.0, 0.0], [3.0, 2.0, 1.0]]
    read_only = np.arange(6, dtype=np.float32).reshape(3, 2)
    read_only.flags.writeable = False
    features = begin(read_only).features
    assert features is not None and features.tolist() == read_only.tolist()
