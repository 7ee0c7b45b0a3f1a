"""Plans: the numbers of `cutline plan`, from any kind of arms, and one-line errors."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutline

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["x1", "x2", "x3", "x4", "x5"]
ARMS = np.array([[1, 0], [0.5, 0.5], [-1, 0.25], [0, -2], [0.1, 1]])
ASKED: dict[str, Any] = {"threshold": 0.25, "precision": 0.1, "budgets": [2, 10, 40, 160], "runs": 200}
PILOT = (["x1", "x4", "x4", "x5"], [0.9, -1.5, -2.25, 0.75])


def test_a_plan_is_that_of_the_command_line() -> None:
    """The example of docs/planning.md is the output of `cutline plan`."""
    docs = (ROOT / "docs/planning.md").read_text(encoding="utf-8")
    iris = pd.read_csv(ROOT / "crates/cutline-lab/data/iris.csv")
    plan = cutline.plan(iris, threshold=2, precision=0.1, name="iris")
    printed = docs.partition("```text\n")[2].partition("```")[0].splitlines()
    assert printed[0] == f"iris: {plan.heading}"
    rows = [[field.strip() for field in line.strip("|").split("|")] for line in printed if line.startswith("| ")]
    assert rows[1:] == [
        [
            row["algorithm"],
            str(row["budget"]),
            f"{row['failure_rate']:.4f}",
            f"{row['low']:.4f} – {row['high']:.4f}",
            f"{row['mean_errors']:.3f} ({row['errors_low']:.3f} – {row['errors_high']:.3f})",
        ]
        for row in plan.prospects
    ]
    below = [line for line in printed[1:] if line and not line.startswith("|")]
    assert below == plan.remarks + plan.sentences
    assert (plan.budget("pivot"), plan.budget("linear-apt"), plan.budget("random")) == (194, 396, 478)
    assert plan.answers[0] == {
        "algorithm": "pivot",
        "tried_from": 50,
        "tried_to": 1500,
        "budget": 194,
        "low": 160,
        "high": 270,
    }
    assert plan.figure().svg == (ROOT / "docs/iris-plan.svg").read_text(encoding="utf-8")


def test_one_arm_agrees_with_a_formula() -> None:
    """θ ~ N(0, s²): the failure probability is arctan(σ/(s√T))/π. 5 standard errors: a false alarm in 10⁶."""
    scale, noise = 0.7, 1.3
    plan = cutline.plan(
        [[1.0]], threshold=0, noise=noise, prior=f"normal:{scale}", budgets=[5, 20, 80], runs=20_000, target=0.1
    )
    for row in plan.prospects:
        rate = math.atan(noise / (scale * math.sqrt(row["budget"]))) / math.pi
        assert abs(row["failure_rate"] - rate) < 5 * math.sqrt(rate * (1 - rate) / 20_000), row
    exact = (noise / (scale * math.tan(0.1 * math.pi))) ** 2
    assert plan.answers[0]["low"] - 1 <= exact <= plan.answers[0]["high"] + 1


def test_any_kind_of_arms_gives_the_same_plan() -> None:
    plan = cutline.plan(ARMS, **ASKED)
    frame = pd.DataFrame(ARMS, columns=["a", "b"])
    same: list[tuple[Any, dict[str, Any]]] = [
        (ARMS.tolist(), {}),
        (np.asfortranarray(ARMS), {"names": NAMES}),
        (frame.assign(name=NAMES, other=1.0), {"features": ["a", "b"]}),
    ]
    for X, more in same:
        assert cutline.plan(X, **more, **ASKED).to_dict() == plan.to_dict()


def test_every_argument_changes_the_plan() -> None:
    plan = cutline.plan(ARMS, names=NAMES, **ASKED)
    changes: list[dict[str, Any]] = [
        {"noise": 2.0},
        {"prior": "normal:3"},
        {"prior": PILOT},
        {"seed": 1},
        {"target": 0.2},
        {"threshold": -0.5},
        {"precision": 0.3},
        {"runs": 100},
        {"algorithms": ["pivot", "linear-apt"]},
        {"budgets": [2, 10, 40]},
        {"budgets": None},
    ]
    for changed in changes:
        other = cutline.plan(ARMS, names=NAMES, **{**ASKED, **changed})
        assert other.answers != plan.answers or other.prospects != plan.prospects, changed
    assert cutline.plan(ARMS, threads=1, **ASKED).to_dict() == plan.to_dict()


def test_a_pilot_by_name_or_position() -> None:
    named = cutline.plan(ARMS, names=NAMES, prior=PILOT, **ASKED)
    numbered = cutline.plan(ARMS, prior=(np.array([0, 3, 3, 4]), np.array(PILOT[1])), **ASKED)
    assert named.to_dict() == numbered.to_dict()
    assert named.to_dict()["pilot"] == 4 and named.to_dict()["theorem_1"] == []
    assert "more measurements" in named.sentences[0]
    assert named.heading == "200 runs, seed 0, θ from the posterior given a pilot of 4"


def test_a_plan_is_rows_words_and_a_figure() -> None:
    plan = cutline.plan(ARMS, name="five & more", **ASKED)
    frame = plan.to_pandas()
    assert list(frame.algorithm) == ["pivot"] * 4 + ["linear-apt"] * 3 + ["random"] * 3
    assert (frame.failure_rate == frame.failures / 200).all()
    assert str(plan).splitlines() == ["five & more: 200 runs, seed 0, θ uniform on [−1, 1]", *plan.sentences]
    assert repr(plan).startswith("<Plan 'five & more': budgets for a failure probability of 0.05: pivot ")
    assert plan.remarks[0] == "`linear-apt` pulls each of the 5 arms once first: left out at T = 2"
    title = ElementTree.fromstring(plan.figure().svg).find("{*}title")
    assert title is not None and title.text == "five & more: budgets for a failure probability of 0.05"
    twin = pickle.loads(pickle.dumps(plan))
    assert twin.to_dict() == plan.to_dict() and twin.figure().svg == plan.figure().svg and str(twin) == str(plan)
    with pytest.raises(cutline.NotFoundError, match="no algorithm `apt` here; there are `pivot`, `linear-apt`, `random`"):
        plan.budget("apt")


def test_no_budget_is_enough() -> None:
    plan = cutline.plan(ARMS, threshold=0, budgets=[2], runs=100, algorithms=["pivot"], target=1e-9)
    assert plan.budget("pivot") is None
    assert plan.sentences[-1] == "No budget is enough: try larger budgets, a larger precision or a larger target"
    assert repr(plan).endswith("pivot none>")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"threshold": math.nan}, "the threshold must be a number between"),
    ({"threshold": "high"}, "`threshold` must be a number, not 'high'"),
    ({"precision": -1}, "the precision must be a number between"),
    ({"noise": 0}, "the noise scale must be a number between"),
    ({"target": 0}, "the target must be a number of at least 1e-9 and below 1, not 0"),
    ({"budgets": []}, "budgets must be whole numbers of at least 1, each larger than the one before"),
    ({"budgets": [5, 5]}, "budgets must be whole numbers of at least 1, each larger than the one before"),
    ({"budgets": 5}, "`budgets` must be a list, not 5"),
    ({"budgets": [0]}, "a budget must be a whole number between 1 and 100000000, not 0"),
    ({"algorithms": []}, "no algorithms; a plan needs at least one"),
    ({"algorithms": ["pivot", "pivot"]}, "the algorithm `pivot` is listed twice"),
    ({"algorithms": ["best"]}, "unknown algorithm `best`; known: "),
    ({"algorithms": ["ucbe"]}, "needs the parameter `exploration`"),
    ({"algorithms": "pivot"}, "`algorithms` must be a list, not 'pivot'"),
    ({"algorithms": ["random"], "budgets": [3]}, "budget"),
    ({"prior": "flat"}, "unknown prior `flat`; use `uniform` or `normal:s`"),
    ({"prior": "normal"}, "a normal prior needs its standard deviation"),
    ({"prior": "normal:x"}, "a normal prior needs its standard deviation"),
    ({"prior": "normal:0"}, "the prior's scale must be a number between"),
    ({"prior": 3}, "`prior` must be \"uniform\", \"normal:s\" or a pair of arms and rewards, not 3"),
    ({"prior": ([0, 1], [0.5])}, "the pilot has 2 arms, but 1 rewards"),
    ({"prior": ([0], ["good"])}, "a reward must be a number, not 'good'"),
    ({"prior": ([0], [math.inf])}, "a reward must be a number between"),
    ({"prior": ([0.5], [1.0])}, "an arm must be a name or a position from 0, not 0.5"),
    ({"runs": 0}, "`runs` must be a whole number between"),
    ({"seed": -1}, "`seed` must be a whole number between"),
    ({"threads": 0}, "`threads` must be a whole number between"),
    ({"name": 3}, "`name` must be a string, not 3"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=lambda value: str(value)[:30])
def test_invalid_plans(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(cutline.InputError) as error:
        cutline.plan(ARMS, **{**ASKED, **changed})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_invalid_arms_for_plans() -> None:
    with pytest.raises(cutline.InputError, match="the arms need features; give one row of features per arm"):
        cutline.plan(3, threshold=0)
    with pytest.raises(cutline.InputError, match="feature 1 of arm 0 is NaN; features must be finite"):
        cutline.plan([[1.0, math.nan]], threshold=0)
    for arm in (5, "x9"):
        with pytest.raises(cutline.NotFoundError, match="there is no arm"):
            cutline.plan(ARMS, names=NAMES, prior=([arm], [1.0]), **ASKED)


@given(
    key=st.sampled_from(["threshold", "precision", "noise", "prior", "target", "algorithms", "budgets", "runs", "seed", "name"]),
    value=st.one_of(
        st.none(),
        st.integers(-3, 50),
        st.floats(),
        st.text(max_size=4),
        st.lists(st.one_of(st.integers(-1, 9), st.floats(), st.text(max_size=2)), max_size=3),
        st.just(object()),
        st.just(np.array([[1.0]])),
    ),
)
@settings(max_examples=200, deadline=None)
def test_any_argument_gives_a_plan_or_a_line(key: str, value: Any) -> None:
    try:
        cutline.plan([[1.0], [0.5]], **{"threshold": 0, "runs": 5, "budgets": [2], "threads": 1, key: value})
    except cutline.CutlineError as error:
        assert "\n" not in str(error) and len(str(error)) > 10


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int]] = []
    plan = cutline.plan(ARMS, **ASKED, progress=lambda done, runs: seen.append((done, runs)))
    assert seen[-1] == (200, 200) and [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert cutline.plan(ARMS, **ASKED, progress=True).to_dict() == plan.to_dict()
    assert capsys.readouterr().err.endswith("\r200 of 200 runs\n")

    def refuse(done: int, runs: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        cutline.plan(ARMS, **ASKED, progress=refuse)
