"""`make study WHAT=real` runs and continues where it stopped, and its shortcuts do not change its results."""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPTS = Path(__file__).parents[2] / "experiments/real"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module


def play(target: Path) -> str:
    command = [sys.executable, str(SCRIPTS / "real.py"), "--smoke", "--target", str(target)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def test_the_comparison_runs_once(tmp_path: Path, scripts: Any) -> None:
    assert "6 of 6 runs to play" in play(tmp_path)
    results = tmp_path / "smoke"
    with (results / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    # Two noise levels, two thresholds, five budgets; independent arms only from K on.
    entrants = scripts("report").ENTRANTS
    counts = {entrant: sum(row["entrant"] == entrant for row in rows) for entrant in entrants}
    assert counts == {entrant: 12 if entrant == "independent" else 20 for entrant in entrants}
    assert "## Where mixed is not the best" in (results / "tables.md").read_text(encoding="utf-8")
    with (results / "replays.csv").open() as file:
        rows = list(csv.DictReader(file))
    played = [entrant for entrant in scripts("replay_report").ENTRANTS if not entrant.startswith("mixed, ")]
    assert sorted((row["entrant"], row["share"]) for row in rows) == sorted((e, s) for e in played for s in ("0.5", "1", "3"))
    assert "## Real noise: where mixed is not the best" in (results / "replays.md").read_text(encoding="utf-8")
    assert (results / "wrong-calls.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "0 of 6 runs to play" in play(tmp_path)


@pytest.mark.parametrize("entrant", ["mixed", "linear", "independent", "linear-apt"])
def test_a_campaign_passes_through_the_end_of_a_shorter_one(scripts: Any, entrant: str) -> None:
    campaigns, runs, table = scripts("campaigns"), scripts("runs"), scripts("tables").load("barley")
    settings = 35.0, 1.0, 5.0
    long = list(campaigns.play(entrant, table, *settings, [150, 300], runs.Noise(3), 3))[0]
    short = list(campaigns.play(entrant, table, *settings, [150], runs.Noise(3), 3))[0]
    for key, values in short[1].items():
        assert np.array_equal(values, long[1][key]), key


def test_predictions_without_an_arm_are_those_of_a_fit_without_it(scripts: Any) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.linear_model import Ridge, RidgeCV

    outside, table = scripts("outside"), scripts("tables").load("iris")
    X = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    own = table.y + np.random.default_rng(0).normal(size=table.K)
    arms, pulls = np.arange(table.K), np.ones(table.K)
    penalty = RidgeCV(alphas=np.logspace(-3, 3, 13)).fit(X, own).alpha_
    _, by_ridge = outside.ridge(X, arms, own, pulls, 0)
    _, by_gp = outside.gaussian_process(X, arms, own, pulls, 0)
    kernel = outside.fitted_kernel(X, own)
    for arm in (0, 50, 149):
        rest = arms != arm
        assert by_ridge[arm] == pytest.approx(Ridge(penalty).fit(X[rest], own[rest]).predict(X[[arm]])[0])
        model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X[rest], own[rest])
        # Without the arm, the mean and the spread that rewards are normalised by change a little.
        assert by_gp[arm] == pytest.approx(model.predict(X[[arm]])[0], abs=0.01)
