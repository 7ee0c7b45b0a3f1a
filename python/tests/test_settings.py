"""A campaign's settings begin another one like it."""

from __future__ import annotations

import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cutline

X = np.random.default_rng(0).normal(size=(12, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
    tag=[f"t{arm}" for arm in range(12)], island=["north", "south", "west"] * 4, mass=[np.nan, *range(11)]
)
COSTS = [0.5, 1.0, 2.5] * 4
NAMES = [f"arm {arm}" for arm in range(12)]


class First:
    def choose(self, beliefs: cutline.Beliefs) -> int:
        return 0


ARE_NOT_SETTINGS = {"X", "names", "storage", "name", "token"}
"""What says which arms there are, and where they are kept."""

CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "threshold": (X, {"threshold": 0.3}),
    "budget": (X, {"budget": 77}),
    "precision": (X, {"precision": 0.01}),
    "model": (X, {"model": "linear"}),
    "kernel": (X, {"kernel": "rbf", "length": 0.5}),
    "length": (X, {"kernel": "matern52", "length": 2.5}),
    "graph": (12, {"graph": [(0, 1), (1, 2, 0.5), (7, 3)]}),
    "algorithm": (X, {"algorithm": "straddle"}),
    "rewards": (12, {"rewards": "bernoulli"}),
    "min": (X, {"min": -7.5}),
    "max": (X, {"min": 0.0, "max": 1e6}),
    "noise": (X, {"noise": 0.25}),
    "seed": (X, {"seed": None}),
    "features": (FRAME, {"features": ["a", "c"]}),
    "id": (FRAME.drop(columns=["island", "mass"]), {"id": "tag"}),
    "categories": (FRAME.drop(columns=["tag", "mass"]), {"categories": ["island"]}),
    "cost": (FRAME[["a", "b", "mass"]].fillna(0.5).replace({"mass": {0.0: 0.25}}), {"cost": "mass"}),
    "missing": (FRAME.drop(columns=["tag", "island"]), {"missing": "mean"}),
    "parameters": (X, {"model": "linear", "parameters": {"lambda": 0.1}}),
    "estimator": (X, {"estimator": "sample-mean", "algorithm": "random"}),
    "prepare": (X, {"model": "linear", "prepare": ["centre"]}),
    "interval": (X, {"interval": "anytime"}),
    "confidence": (X, {"confidence": 0.9999999}),
    "guarantee": (X, {"guarantee": "fdr"}),
    "until_sure": (X, {"until_sure": "expected-errors 2"}),
}
COMBINED: dict[str, tuple[Any, dict[str, Any]]] = {
    "defaults": (X, {}),
    "without features": (["a", "b", "c"], {}),
    "raw": (X, {"model": "linear", "prepare": ()}),
    "as published": (X, {"algorithm": "linear-apt"}),
    "independent": (X, {"model": "independent"}),
    "custom": (X, {"algorithm": First()}),
    "custom on ridge": (X, {"algorithm": First(), "model": "linear"}),
    "custom class": (12, {"algorithm": First}),
    "counts": (12, {"rewards": "count", "until_sure": "proved", "guarantee": "all"}),
    "costs": (X, {"cost": COSTS}),
    "costs of numbered arms": (12, {"cost": COSTS}),
    "costs of a frame": (FRAME[["tag", "a", "b"]], {"id": "tag", "cost": COSTS}),
    "frame": (FRAME, {"id": "tag", "categories": ["island"], "missing": "mean", "confidence": 0.5}),
}


def begin(X: Any, **settings: Any) -> cutline.Campaign:
    return cutline.Campaign(X, **{"threshold": 0.2, "budget": 40, **settings})


def test_every_setting_is_tried() -> None:
    keywords = set(inspect.signature(cutline.Campaign.__new__).parameters) - {"cls"} - ARE_NOT_SETTINGS
    assert keywords == set(CASES)


def choices(campaign: cutline.Campaign) -> list[int]:
    tickets = campaign.ask(9)
    campaign.tell(tickets, [float(ticket.ticket % 2) for ticket in tickets])
    return [ticket.arm for ticket in tickets] + [ticket.arm for ticket in campaign.ask(9)]


@pytest.mark.filterwarnings("ignore:.* missing value.* in column `mass` became")
@pytest.mark.parametrize(("X", "given"), [*CASES.values(), *COMBINED.values()], ids=[*CASES, *COMBINED])
def test_settings_begin_another_campaign(X: Any, given: dict[str, Any]) -> None:
    campaign = begin(X, **given)
    settings = campaign.settings
    assert not ARE_NOT_SETTINGS & set(settings)
    for key, value in given.items():
        if value is not None and key not in ("model", "graph", "prepare", "parameters"):
            assert settings[key] == value, "what was given is there"
    again = cutline.Campaign(X, **settings)
    same = cutline.Campaign(campaign, **settings)
    for other in (again, same):
        assert other.settings == settings and other._stored() == campaign._stored()
        assert (other.names, other.columns) == (campaign.names, campaign.columns)
        np.testing.assert_array_equal(other.features, campaign.features)
        np.testing.assert_array_equal(other.costs, campaign.costs)
    expected = choices(campaign)
    assert choices(again) == choices(same) == expected
    if "algorithm" not in given or isinstance(given["algorithm"], str):
        assert json.loads(json.dumps(settings)) == json.loads(json.dumps(again.settings)), "they are plain values"


def test_settings_as_they_are_now() -> None:
    """Changes, and arms that were added, are part of the new campaign; rewards are not."""
    campaign = begin(X, noise=0.5, names=NAMES)
    campaign.tell(campaign.ask(4), [0.1] * 4)
    campaign.set(threshold=0.4, model="linear", noise=None)
    campaign.extend(44)
    campaign.add(X[:2] + 1, names=["late", "later"])
    again = cutline.Campaign(campaign, **campaign.settings)
    assert again.settings == campaign.settings and again.settings["threshold"] == 0.4
    assert again.names == [*NAMES, "late", "later"] and again.progress.told == 0 and again.progress.budget == 44
    assert cutline.Campaign(campaign.features, **{**campaign.settings, "threshold": 1.0}).settings["threshold"] == 1.0


def test_a_campaign_in_a_store(tmp_path: Path) -> None:
    store = tmp_path / "screen.db"
    first = begin(FRAME[["a", "b"]], storage=store, seed=None)
    second = cutline.Campaign(first, **cutline.open(store).settings, storage=store, name="second")
    assert second.settings == first.settings and second.columns == ["a", "b"]
    assert cutline.campaigns(store) == ["campaign", "second"]


def test_the_arms_of_a_campaign() -> None:
    campaign = begin(FRAME, id="tag", features=["a", "b"])
    assert begin(campaign, names=NAMES).names == NAMES
    for option in ({"features": ["a"]}, {"missing": "mean"}, {"id": "island"}, {"categories": ["a"]}):
        with pytest.raises(cutline.InputError, match=f"the arms of a campaign are taken as they are; leave out `{next(iter(option))}`"):
            begin(campaign, **option)
    named = begin(X, features=["a", "b", "c"])
    assert named.columns == ["a", "b", "c"] and begin(named.features, **named.settings | {"budget": 5}).columns == ["a", "b", "c"]


@pytest.mark.parametrize("columns", [["x0", "x1"], ["a"], []])
def test_a_column_called_cost(columns: list[str]) -> None:
    frame = pd.DataFrame({column: X[:, i] for i, column in enumerate(columns)}).assign(cost=COSTS)
    campaign = begin(frame, cost="cost")
    for other in (cutline.Campaign(frame, **campaign.settings), cutline.Campaign(campaign, **campaign.settings)):
        assert other.columns == columns and other.settings == campaign.settings
        np.testing.assert_array_equal(other.costs, COSTS)


def test_the_costs_of_a_campaign() -> None:
    """They belong to its arms."""
    campaign = begin(FRAME[["a", "b"]].assign(price=COSTS), cost="price")
    plain = begin(campaign)
    np.testing.assert_array_equal(plain.costs, COSTS)
    assert plain.settings["cost"] == "price"
    np.testing.assert_array_equal(begin(campaign, cost=np.array(COSTS)).costs, COSTS)
    for cost in ("mass", [1.0] * 12):
        with pytest.raises(cutline.InputError, match="the arms of a campaign are taken as they are; leave out `cost`"):
            begin(campaign, cost=cost)


def test_random_seeds() -> None:
    seeds = [begin(X, seed=None, algorithm="random").settings["seed"] for _ in range(3)]
    assert len(set(seeds)) == 3 and all(isinstance(seed, int) and 0 <= seed < 2**53 for seed in seeds)
    assert begin(X).settings["seed"] == 0
    campaign = begin(X, seed=None, algorithm="random")
    assert choices(cutline.Campaign(X, **campaign.settings)) == choices(campaign)
    assert pickle.loads(pickle.dumps(campaign)).settings == campaign.settings
    plan = cutline.plan(X, threshold=0.0, budgets=[20], runs=5, seed=None)
    again = cutline.plan(X, threshold=0.0, budgets=[20], runs=5, seed=plan.seed)
    assert again.to_dict() == plan.to_dict()
    assert cutline.plan(X, threshold=0.0, budgets=[20], runs=5, seed=None).seed != plan.seed
