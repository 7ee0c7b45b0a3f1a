"""Measurements that cost different amounts."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cutline

X = np.random.default_rng(4).normal(size=(20, 2))
PRICES = np.tile([0.5, 1.0, 2.5, 4.0, 0.25], 4)


def frame() -> pd.DataFrame:
    return pd.DataFrame({"name": [f"arm {i}" for i in range(20)], "a": X[:, 0], "price": PRICES, "b": X[:, 1]})


def begin(X: Any = None, **settings: Any) -> cutline.Campaign:
    chosen = {"threshold": 0.0, "budget": 30, "cost": "price", **settings}
    return cutline.Campaign(frame() if X is None else X, **chosen)


def measure(campaign: cutline.Campaign) -> float:
    spent = 0.0
    while (ticket := campaign.ask()) is not None:
        assert ticket.cost is not None
        spent += ticket.cost
        campaign.tell(ticket, float(ticket.features.sum()) if len(ticket.features) else 0.1 * ticket.arm)
    return spent


def test_the_budget_is_in_units_of_cost() -> None:
    campaign = begin()
    assert campaign.columns == ["a", "b"]
    assert campaign.settings["cost"] == "price"
    assert campaign.costs is not None
    np.testing.assert_array_equal(campaign.costs, PRICES)
    assert measure(campaign) == 30.0
    progress = campaign.progress
    assert (progress.spent, progress.budget, progress.ending) == (30.0, 30, "budget")
    assert repr(progress).startswith(f"Progress(spent=30.0, told={progress.told}, budget=30, ")
    assert f"30 of 30 spent on {progress.told} measurements" in repr(campaign)
    assert campaign.standing["remaining"] == 0.0
    assert campaign.extend(31)
    assert campaign.standing["remaining"] == 1.0
    assert measure(campaign) == 1.0


def test_a_column_and_an_array_are_the_same() -> None:
    plain = frame().drop(columns="price")
    arms = [measured(begin()), measured(begin(plain, cost=PRICES)), measured(begin(plain, cost=list(PRICES)))]
    assert arms[0] == arms[1] == arms[2]
    assert begin(plain, cost=PRICES).settings["cost"] == list(PRICES)


def measured(campaign: cutline.Campaign) -> list[int]:
    measure(campaign)
    return [event["arm"] for event in campaign.events() if event["event"] == "asked"]


def test_tickets_and_pickles_keep_costs(tmp_path: Path) -> None:
    for storage in (None, tmp_path / "screen.db"):
        campaign = begin(storage=storage)
        ticket = campaign.ask(replicates=3)
        assert ticket is not None
        assert ticket.cost == 3 * PRICES[ticket.arm]
        assert pickle.loads(pickle.dumps(ticket)) == ticket
        assert f"cost={ticket.cost}" in repr(ticket)
        again = pickle.loads(pickle.dumps(campaign))
        np.testing.assert_array_equal(again.costs, PRICES)
        assert again.progress == campaign.progress
    plain = cutline.Campaign(X, threshold=0.0, budget=9)
    ticket = plain.ask()
    assert ticket is not None
    assert (ticket.cost, plain.costs, plain.progress.spent) == (None, None, None)


def test_arms_that_are_added_need_costs() -> None:
    campaign = begin()
    more = pd.DataFrame({"name": ["late"], "a": [0.3], "b": [0.1]})
    with pytest.raises(cutline.InputError, match="there is no column `price`, which holds the costs"):
        campaign.add(more)
    assert campaign.add(more, cost=[7.5]) == 1
    assert campaign.add(more.assign(name="later", price=2.0)) == 1
    assert campaign.costs is not None
    assert list(campaign.costs[-2:]) == [7.5, 2.0]
    with pytest.raises(cutline.CutlineError, match="at another cost"):
        campaign.add(more.assign(price=2.0))
    assert len(campaign.predict(more.assign(name="other"))) == 1
    with pytest.raises(cutline.CutlineError, match="so the others need them too"):
        campaign.add([[0.1, 0.2]], names=["no cost"])
    with pytest.raises(cutline.CutlineError, match="so the others must have none"):
        cutline.Campaign(X, threshold=0.0, budget=9).add([[0.1, 0.2]], cost=[1.0])


def test_arms_without_features_may_have_costs() -> None:
    only = frame()[["name", "price"]]
    campaign = begin(only, budget=40)
    assert campaign.columns == []
    assert measure(campaign) == 40.0
    campaign = cutline.Campaign(3, threshold=0.0, budget=9, cost=[1, 2, 3])
    assert measure(campaign) <= 9.0
    assert campaign.add(1, cost=[0.5]) == 1


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), 1e-9])
def test_bad_costs_are_refused(bad: float) -> None:
    with pytest.raises(cutline.CutlineError, match=r"the cost of arm 3 is .*between 1e-6 and 1e9"):
        begin(frame().assign(price=[1.0, 1.0, 1.0, bad] + [1.0] * 16))


def test_wrong_arguments_are_refused() -> None:
    for X_, cost, message in [
        (frame(), "cost", "there is no column `cost`, which holds the costs"),
        (X, "price", "`cost` names a column, but the columns of X have no names"),
        (X, [1.0, 2.0], "there are 2 costs, but 20 arms"),
        (X, 3.0, "one number per arm"),
        (X, ["a"] * 20, "`cost` must hold numbers"),
        (frame().assign(price="cheap"), "price", "column `price` holds text, and costs are numbers"),
    ]:
        with pytest.raises(cutline.CutlineError, match=message):
            begin(X_, cost=cost)
    with pytest.raises(cutline.InputError, match="holds the costs, and cannot be a feature"):
        begin(features=["a", "price"])


def test_plans_know_the_costs() -> None:
    plan = cutline.plan(frame(), threshold=0.0, cost="price", budgets=[10, 40], runs=5)
    assert plan.to_dict()["mean_cost"] == pytest.approx(PRICES.mean())
    assert "budgets in units of cost" in plan.heading
    campaign = begin()
    for _ in range(20):
        ticket = campaign.ask()
        assert ticket is not None
        campaign.tell(ticket, float(ticket.features.sum()))
    assert campaign.plan(runs=5).sentences[0].startswith("The rest of the budget: spending ")
