"""Custom estimators, stops and decisions."""

import functools
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import cutline
from cutline import InputError

MEANS = [0.2, 0.4, 0.6, 0.9]


class Means:
    """The estimator `sample-mean`."""

    def __init__(self, problem: cutline.Problem) -> None:
        self.noise = problem.noise
        self.n = np.zeros(problem.n_arms)
        self.means = np.zeros(problem.n_arms)

    @property
    def variances(self) -> Any:
        with np.errstate(divide="ignore"):
            return self.noise**2 / self.n

    def observe(self, arm: int, reward: float) -> None:
        self.n[arm] += 1
        self.means[arm] += (reward - self.means[arm]) / self.n[arm]


class Ridge:
    """The estimator `ridge` with λ = 1."""

    def __init__(self, problem: cutline.Problem) -> None:
        assert problem.features is not None
        self.X = problem.features
        self.noise = problem.noise
        self.V = np.eye(self.X.shape[1])
        self.b = np.zeros(self.X.shape[1])

    @property
    def means(self) -> Any:
        return self.X @ np.linalg.solve(self.V, self.b)

    @property
    def variances(self) -> Any:
        return self.noise**2 * np.einsum("id,de,ie->i", self.X, np.linalg.inv(self.V), self.X)

    def covariances(self, arm: int) -> Any:
        return self.noise**2 * self.X @ np.linalg.solve(self.V, self.X[arm])

    def observe(self, arm: int, reward: float) -> None:
        self.V += np.outer(self.X[arm], self.X[arm])
        self.b += reward * self.X[arm]


class Learning(Means):
    """Sample means, and σ from all residuals."""

    learns_noise = True

    def __init__(self, problem: cutline.Problem) -> None:
        super().__init__(problem)
        self.squares = 0.0

    def observe(self, arm: int, reward: float) -> None:
        before = self.means[arm]
        super().observe(arm, reward)
        self.squares += (reward - before) * (reward - self.means[arm])
        self.noise = np.sqrt((1.0 + self.squares) / (1.0 + self.n.sum()))


class FarEnough:
    def __init__(self, factor: float = 2.0) -> None:
        self.factor = factor

    def should_stop(self, beliefs: cutline.Beliefs) -> Any:
        return np.all(np.abs(beliefs.means - beliefs.threshold) > self.factor * np.sqrt(beliefs.variances))


def cautious(beliefs: cutline.Beliefs) -> Any:
    return beliefs.means - beliefs.threshold > np.sqrt(beliefs.variances)


def experiment(**keys: Any) -> cutline.Experiment:
    given = {"budgets": [60], "threshold": 0.5, "noise": 0.4, "instance": {"kind": "means", "means": MEANS}, **keys}
    return cutline.Experiment(given)


def test_an_estimator_gives_the_results_of_the_built_in_one() -> None:
    rows = cutline.simulate(
        experiment(algorithm=["apt", {"name": "apt", "label": "mine", "estimator": Means}]), runs=60
    ).rows
    assert rows[0]["failures"] == rows[1]["failures"] > 0


def test_an_estimator_with_covariances_serves_rules_that_need_them() -> None:
    played = cutline.simulate(
        {
            "budgets": [30],
            "threshold": 0.0,
            "instance": {"kind": "uniform", "n_arms": 8, "dimension": 3},
            "algorithm": ["pivot", {"name": "pivot", "label": "mine", "estimator": Ridge}],
        },
        runs=40,
        per_run=True,
    )
    assert played.per_run is not None
    built_in, mine = (row["failures"] for row in played.rows)
    assert built_in == mine > 0


def test_an_estimator_may_learn_the_noise() -> None:
    keys = {"name": "straddle", "noise": 50.0}
    rows = cutline.simulate(
        experiment(
            algorithm=[
                {**keys, "label": "told a wrong σ", "estimator": Means},
                {**keys, "label": "learns σ", "estimator": Learning},
            ]
        ),
        runs=100,
    ).rows
    assert rows[1]["failures"] < rows[0]["failures"]
    with pytest.raises(InputError, match="`lingame` needs a σ that does not change"):
        experiment(algorithm=[{"name": "lingame", "estimator": Learning}])


@pytest.mark.parametrize("stop", [FarEnough(), FarEnough, functools.partial(FarEnough, 2.0)])
def test_a_stop_ends_runs(stop: Any) -> None:
    rows = cutline.simulate(experiment(budgets=[2000], algorithm=["apt"], stop=stop), runs=30).rows
    assert rows[0]["by"] in ("FarEnough", "partial") and rows[0]["delta"] is None
    assert rows[0]["sure"] == 30 and rows[0]["mean_pulls"] < 1000


def test_a_stop_of_one_algorithm_overrides_that_of_the_experiment() -> None:
    algorithms = [{"name": "apt", "label": "soon"}, {"name": "apt", "label": "late", "stop": FarEnough(4.0)}]
    soon, late = cutline.simulate(experiment(budgets=[2000], algorithm=algorithms, stop=FarEnough()), runs=30).rows
    assert (soon["by"], late["by"]) == ("FarEnough-2", "FarEnough")
    assert soon["mean_pulls"] < late["mean_pulls"]


def test_a_decision_says_which_arms_are_above() -> None:
    algorithms = [{"name": "apt"}, {"name": "apt", "label": "cautious", "decision": cautious}]
    played = cutline.simulate(experiment(algorithm=algorithms), runs=30, per_run=True)
    assert played.rows[0]["failures"] < played.rows[1]["failures"]


def test_results_are_the_same_in_other_processes() -> None:
    custom = experiment(algorithm=[{"name": "apt", "estimator": Means, "stop": FarEnough(), "decision": cautious}])
    again = pickle.loads(pickle.dumps(custom))
    here = cutline.simulate(again, runs=40, threads=2).tally
    with ProcessPoolExecutor(2) as executor:
        assert cutline.simulate(custom, runs=40, executor=executor, shards=4).tally == here


class Wrong(Means):
    def observe(self, arm: int, reward: float) -> None:
        self.means = np.zeros(3)


class Negative(Means):
    variances = np.full(4, -1.0)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"estimator": Wrong}, "`means` of `Wrong` must be 4 numbers, one per arm"),
        ({"estimator": Negative}, "`variances` of `Negative` must be numbers of at least 0"),
        ({"estimator": lambda problem: 3}, "must make an object with `observe`, not int"),
        ({"stop": lambda: 3}, "must make an object with `should_stop`, not int"),
        ({"decision": lambda beliefs: [1.0]}, "must return 4 truth values"),
        ({"decision": lambda beliefs: beliefs.covariances(0)}, "`covariances` is for `choose` and `learn`"),
    ],
)
def test_what_does_not_fit_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cutline.simulate(experiment(algorithm=[{"name": "apt", **keys}]), runs=1)


def test_exceptions_reach_the_caller() -> None:
    class Fails(Means):
        def observe(self, arm: int, reward: float) -> None:
            raise ZeroDivisionError("in observe")

    with pytest.raises(ZeroDivisionError, match="in observe"):
        cutline.simulate(experiment(algorithm=[{"name": "apt", "estimator": Fails}]), runs=1)


def test_rules_see_theta_and_the_inverse_design() -> None:
    seen: list[tuple[Any, Any, Any]] = []

    class Sees:
        def choose(self, beliefs: cutline.Beliefs) -> int:
            seen.append((beliefs.theta, beliefs.inverse_design, beliefs.means))
            return int(beliefs.total_pulls) % beliefs.n_arms

    X = np.array([[1.0, 0.2], [0.4, -0.9], [0.1, 0.8], [-0.3, 0.5]])
    instance = {"kind": "linear", "arms": X.tolist(), "theta": [0.5, -0.2]}
    keys: dict[str, Any] = {"budgets": [6], "threshold": 0.0, "instance": instance}
    cutline.simulate({**keys, "algorithm": [{"rule": Sees, "lambda": 0.5}]}, runs=1, threads=1)
    pulled = X[np.arange(5) % 4]
    theta, inverse_design, means = seen[-1]
    np.testing.assert_allclose(inverse_design, np.linalg.inv(0.5 * np.eye(2) + pulled.T @ pulled))
    np.testing.assert_allclose(X @ theta, means)
    cutline.simulate({**keys, "algorithm": [{"rule": Sees, "estimator": "sample-mean"}]}, runs=1, threads=1)
    assert seen[-1][:2] == (None, None)
