"""Plans: the numbers of `cutline plan`, from any kind of arms, and one-line errors."""

from __future__ import annotations

import math
import os
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
ASKED: dict[str, Any] = {"threshold": 0.25, "precision": 0.1, "budgets": [2, 10, 40], "runs": 40}
PILOT = (["x1", "x4", "x4", "x5"], [0.9, -1.5, -2.25, 0.75])


@pytest.mark.skipif("CUTLINE_CHECK_DOCS" not in os.environ, reason="`make docs-check`")
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
            f"{row['mean_errors']:.2f} ({row['errors_low']:.2f} – {row['errors_high']:.2f})",
            f"{row['expected_errors']:.2f}",
            f"{100 * row['decided']:.1f} %",
            f"{row['failure_rate']:.3f} ({row['low']:.3f} – {row['high']:.3f})",
        ]
        for row in plan.prospects
    ]
    below = [line for line in printed[1:] if line and not line.startswith("|")]
    assert below == plan.remarks + plan.sentences
    assert f"`pivot` needs {plan.budget('pivot')} measurements for 5 % wrong calls" in plan.sentences[0]
    assert plan.figure().svg == (ROOT / "docs/iris-plan.svg").read_text(encoding="utf-8")


def test_one_arm_agrees_with_a_formula() -> None:
    """θ ~ N(0, s²): the failure probability is arctan(σ/(s√T))/π. 5 standard errors: a false alarm in 10⁶."""
    scale, noise = 0.7, 1.3
    plan = cutline.plan(
        [[1.0]],
        threshold=0,
        noise=noise,
        prior=f"normal:{scale}",
        model="linear",
        raw=True,
        budgets=[5, 20, 80],
        runs=20_000,
        target=0.1,
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
        {"noise": 2.0, "spread": 1.0},
        {"explained": 0.1},
        {"linear_share": 0.1},
        {"noise_ratio": 2.0},
        {"spread": 0.3},
        {"above": 0.2},
        {"prior": "normal:3"},
        {"pilot": PILOT},
        {"model": "linear"},
        {"model": "linear", "raw": True},
        {"seed": 1},
        {"wrong": 0.2},
        {"target": 0.9},
        {"precision": 0.6},
        {"runs": 20},
        {"algorithms": ["pivot", "linear-apt"]},
        {"budgets": [2, 10]},
        {"budgets": None},
    ]
    for changed in changes:
        other = cutline.plan(ARMS, names=NAMES, **{**ASKED, **changed})
        assert other.answers != plan.answers or other.prospects != plan.prospects, changed
    assert cutline.plan(ARMS, threads=1, **ASKED).to_dict() == plan.to_dict()


def test_a_pilot_by_name_or_position() -> None:
    asked = {**ASKED, "wrong": 0.4}
    named = cutline.plan(ARMS, names=NAMES, pilot=PILOT, **asked)
    numbered = cutline.plan(ARMS, pilot=(np.array([0, 3, 3, 4]), np.array(PILOT[1])), **asked)
    assert named.to_dict() == numbered.to_dict()
    assert named.to_dict()["pilot"] == 4 and "more measurement" in named.sentences[0]
    assert "; the posterior given a pilot of 4: features explain 0." in named.heading


def test_a_plan_is_rows_words_and_a_figure() -> None:
    plan = cutline.plan(ARMS, name="five & more", algorithms=["pivot", "linear-apt"], **ASKED)
    frame = plan.to_pandas()
    assert list(frame.algorithm) == ["pivot"] * 3 + ["linear-apt"] * 2
    assert (frame.failure_rate == frame.failures / 40).all()
    assert ((frame.decided >= 0) & (frame.decided <= 1) & (frame.expected_errors >= 0)).all()
    expected = "features explain 0.7 of the differences (0.7 of that linear), spread 1, 0.5 of the arms above; noise σ = 0.5"
    heading = f"five & more: 40 runs, seed 0; estimator mixed, ridge; {expected}"
    assert str(plan).splitlines() == [heading, *plan.sentences]
    assert repr(plan).startswith("<Plan 'five & more': budgets for a wrong-share of 0.05: pivot ")
    assert (plan.goal, plan.target) == ("wrong-share", 0.05)
    assert plan.remarks[0] == "`linear-apt` pulls each of the 5 arms once first: left out at T = 2"
    title = ElementTree.fromstring(plan.figure().svg).find("{*}title")
    assert title is not None and title.text == "five & more: budgets for 5 % wrong calls"
    twin = pickle.loads(pickle.dumps(plan))
    assert twin.to_dict() == plan.to_dict() and twin.figure().svg == plan.figure().svg and str(twin) == str(plan)
    with pytest.raises(cutline.NotFoundError, match="no algorithm `apt` here; there are `pivot`, `linear-apt`"):
        plan.budget("apt")


def test_no_budget_is_enough() -> None:
    plan = cutline.plan(ARMS, threshold=0, budgets=[2], runs=20, target=1e-9)
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
    ({"wrong": 0}, "the target must be a number of at least 1e-9 and below 1, not 0"),
    ({"wrong": 0.1, "target": 0.1}, "`wrong` and `target` are two goals; leave one out"),
    ({"explained": 1.1}, "`explained` is a share: it must be a number between 0 and 1, not 1.1"),
    ({"linear_share": -1}, "`linear share` is a share: it must be a number between 0 and 1, not -1"),
    ({"above": math.nan}, "`above` is a share: it must be a number between 0 and 1, not NaN"),
    ({"spread": 0}, "the spread must be a number between 1e-100 and 1e100, not 0"),
    ({"noise_ratio": -1}, "the noise ratio must be a number between 1e-100 and 1e100, not -1"),
    ({"noise": 1, "noise_ratio": 1, "spread": 1}, "two of them determine the third; leave one out"),
    ({"prior": "uniform", "explained": 0.5}, "`prior` and `explained` both say what to expect of the arms; leave one out"),
    ({"prior": "uniform", "pilot": PILOT}, "`prior` and `pilot` both say what to expect of the arms; leave one out"),
    ({"pilot": ([0], [1.0]), "spread": 2}, "`pilot` and `spread` both say what to expect of the arms; leave one out"),
    ({"model": "cubic"}, "unknown model `cubic`; use `mixed`, `linear` or `independent`"),
    ({"raw": True}, "does not apply to the mixed model"),
    ({"prior": "flat"}, "unknown prior `flat`; use `uniform` or `normal:s`"),
    ({"prior": "normal"}, "a normal prior needs its standard deviation"),
    ({"prior": "normal:x"}, "a normal prior needs its standard deviation"),
    ({"prior": "normal:0"}, "the prior's scale must be a number between"),
    ({"prior": 3}, "`prior` must be \"uniform\" or \"normal:s\", not 3; arms and rewards measured before are given as `pilot=`"),
    ({"prior": PILOT}, "arms and rewards measured before are given as `pilot=`"),
    ({"pilot": 3}, "`pilot` must be a pair of arms and rewards, not 3"),
    ({"pilot": ([0, 1], [0.5])}, "the pilot has 2 arms, but 1 rewards"),
    ({"pilot": ([0], ["good"])}, "a reward must be a number, not 'good'"),
    ({"pilot": ([0], [math.inf])}, "a reward must be a number between"),
    ({"pilot": ([0.5], [1.0])}, "an arm must be a name or a position from 0, not 0.5"),
    ({"pilot": ([], [])}, "a pilot needs rewards, and some that differ from the threshold"),
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
    with pytest.raises(cutline.InputError, match="the arms need some; give one row of features per arm"):
        cutline.plan(3, threshold=0)
    with pytest.raises(cutline.InputError, match="feature 1 of arm 0 is NaN; features must be finite"):
        cutline.plan([[1.0, math.nan]], threshold=0)
    for arm in (5, "x9"):
        with pytest.raises(cutline.NotFoundError, match="there is no arm"):
            cutline.plan(ARMS, names=NAMES, pilot=([arm], [1.0]), **ASKED)


@given(
    key=st.sampled_from(
        [
            *["threshold", "precision", "wrong", "target", "noise", "explained", "linear_share", "noise_ratio", "spread", "above"],
            *["pilot", "prior", "model", "algorithms", "raw", "budgets", "runs", "seed", "name"],
        ]
    ),
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
    assert seen[-1] == (40, 40) and [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert cutline.plan(ARMS, **ASKED, progress=True).to_dict() == plan.to_dict()
    assert capsys.readouterr().err.endswith("\r40 of 40 runs\n")

    def refuse(done: int, runs: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        cutline.plan(ARMS, **ASKED, progress=refuse)
