"""Custom rules and instances."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import cutline
from cutline import Beliefs, Campaign, Experiment, InputError

X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
UNIFORM = {"kind": "uniform", "n_arms": 12, "dimension": 3}


class Straddle:
    def choose(self, beliefs: Beliefs) -> Any:
        return np.argmax(1.96 * np.sqrt(beliefs.variances) - np.abs(beliefs.means - beliefs.threshold))


class Apt:
    name = "my-apt"
    opens_with_every_arm = True

    def choose(self, beliefs: Beliefs) -> int:
        gaps = np.abs(beliefs.means - beliefs.threshold) + beliefs.precision
        return int(np.argmin(np.sqrt(beliefs.pulls) * gaps))


class Draws:
    def choose(self, beliefs: Beliefs) -> int:
        return int(np.random.default_rng(beliefs.seed).integers(beliefs.n_arms))


class Answers:
    """Returns a fixed answer, or raises it if it is an exception."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def choose(self, beliefs: Beliefs) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def experiment(*algorithms: Any, **keys: Any) -> Experiment:
    given = {"budgets": [30, 60], "threshold": 0.1, "precision": 0.05, "instance": UNIFORM, **keys}
    return Experiment(given, algorithm=list(algorithms), runs=40, seed=3)


def failures(played: Experiment, **keys: Any) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for row in cutline.simulate(played, **keys).rows:
        found.setdefault(row["algorithm"], []).append((row["failures"], row["mean_errors"]))
    return found


def asked(algorithm: Any, **keys: Any) -> list[int]:
    campaign = Campaign(keys.pop("X", X), threshold=0.2, budget=150, algorithm=algorithm, **keys)
    rng = np.random.default_rng(5)
    arms = []
    while (ticket := campaign.ask()) is not None:
        campaign.tell(ticket, float(X[ticket.arm] @ [1.0, -0.5, 0.25] + rng.normal(scale=0.3)))
        arms.append(ticket.arm)
    return arms


@pytest.mark.parametrize("keys", [{}, {"noise": 0.4}, {"lambda": 0.1}, {"centre": 1.0, "intercept": 1.0}])
def test_a_rule_in_python_plays_like_the_same_rule_in_rust(keys: dict[str, float]) -> None:
    found = failures(experiment({"rule": Straddle(), **keys}, {"name": "straddle", **keys}))
    assert found["Straddle"] == found["straddle"]
    assert sum(failed for failed, _ in found["Straddle"]) > 0


def test_a_rule_in_python_asks_like_the_same_rule_in_rust() -> None:
    assert asked(Straddle()) == asked("straddle")
    for keys in ({"model": "linear"}, {"model": "linear", "noise": 0.3, "prepare": ()}, {"noise": 0.3}):
        assert asked(Straddle(), **keys) == asked("straddle", **keys), keys


def test_rules_with_sample_means() -> None:
    keys = {"estimator": "sample-mean"}
    found = failures(experiment({"rule": Apt(), **keys}, "apt"))
    assert found["my-apt"] == found["apt"]
    assert asked(Apt(), X=12) == asked("apt", X=12), "without features, sample means are the default"
    with pytest.raises(InputError, match="a budget of 5 is too small for 12 arms"):
        Campaign(12, threshold=0.0, budget=5, algorithm=Apt())


def test_beliefs() -> None:
    """Compared with dense linear algebra."""
    seen = []

    class Checks:
        def choose(self, beliefs: Beliefs) -> int:
            pulls = beliefs.pulls.astype(float)
            inverse = np.linalg.inv(np.eye(3) + X.T @ (pulls[:, None] * X))
            covariances = 0.25 * X @ inverse @ X.T
            np.testing.assert_allclose(beliefs.variances, np.diag(covariances), rtol=1e-9)
            np.testing.assert_allclose(beliefs.covariances(7), covariances[7], rtol=1e-9, atol=1e-12)
            assert (beliefs.threshold, beliefs.precision, beliefs.noise) == (0.2, 0.1, 0.5)
            assert (beliefs.total_pulls, beliefs.n_arms) == (pulls.sum(), 12)
            for arm in (12, -1, "a", None):
                with pytest.raises(InputError):
                    beliefs.covariances(arm)  # type: ignore[arg-type]
            seen.append(beliefs.means.copy())
            beliefs.means[:] = 0.0
            return int(pulls.sum()) % 12

    campaign = Campaign(X, threshold=0.2, precision=0.1, budget=20, noise=0.5, model="linear", prepare=(), algorithm=Checks())
    design, weighted = np.eye(3), np.zeros(3)
    for number in range(20):
        ticket = campaign.ask()
        assert ticket is not None
        np.testing.assert_allclose(seen[-1], X @ np.linalg.solve(design, weighted), rtol=1e-9, atol=1e-12)
        campaign.tell(ticket, float(number))
        design += np.outer(X[ticket.arm], X[ticket.arm])
        weighted += number * X[ticket.arm]
    assert len(seen) == 20


def test_random_choices_are_a_function_of_the_seed() -> None:
    assert asked(Draws(), seed=1) == asked(Draws(), seed=1)
    assert asked(Draws(), seed=1) != asked(Draws(), seed=2)
    assert len(set(asked(Draws()))) == 12


@pytest.mark.parametrize("answer", [12, -1, 1.5, "a", None, [0], True, False, np.True_, np.float64(1.0)])
def test_invalid_choices(answer: Any) -> None:
    campaign = Campaign(X, threshold=0.0, budget=20, model="linear", algorithm=Answers(answer))
    with pytest.raises(InputError, match="`choose` of `Answers` must return an arm, a position from 0 to 11, or .*, not"):
        campaign.ask()
    assert (campaign.progress.open, campaign.events()) == (0, [])
    with pytest.raises(InputError, match="`choose` of `Answers`"):
        cutline.simulate(experiment(Answers(answer)))


@pytest.mark.parametrize("answer", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_any_kind_of_integer_is_a_choice(answer: Any) -> None:
    ticket = Campaign(X, threshold=0.0, budget=20, model="linear", algorithm=Answers(answer)).ask()
    assert ticket is not None and ticket.arm == 3


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), KeyboardInterrupt(), KeyError(3)])
def test_the_exception_of_a_rule_is_raised(error: BaseException, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        cutline.simulate(experiment(Answers(error)), threads=2)

    class Shared(Answers):
        """Its answer is that of the class, which copies share."""

        def __init__(self) -> None:
            pass

    for storage in (None, f"sqlite:///{tmp_path}/x.db"):
        campaign = Campaign(X, threshold=0.0, budget=20, model="linear", algorithm=Shared(), storage=storage)
        Shared.answer = 4
        assert campaign.tell(campaign.ask(2), [1.0, 2.0]) == 2
        Shared.answer = error
        with pytest.raises(type(error)):
            campaign.ask()
        assert (campaign.progress.told, campaign.progress.open) == (2, 0), "nothing was asked"
        Shared.answer = 5
        ticket = campaign.ask()
        assert ticket is not None and (ticket.arm, ticket.ticket) == (5, 3)


def test_the_mixed_model_explores_before_some_pulls() -> None:
    always_seven = asked(Answers(7))
    others = [pull for pull, arm in enumerate(always_seven, 1) if arm != 7]
    assert set(others) <= {1, 2, 5, 10, 17, 26, 37, 50, 65, 82, 101, 122, 145} and len(others) == 11, "every other arm once"
    assert set(asked(Answers(7), parameters={"explore": 0.0})) == {7}


def test_a_rule_in_a_store(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/x.db"
    begun = Campaign(X, threshold=0.0, budget=20, algorithm=Straddle(), storage=storage)
    begun.tell(begun.ask(1), [1.0])
    with pytest.raises(InputError, match=r"the custom rule `Straddle`, which was not given; pass it as `cutline\.open\(…, algorithm=rule\)`"):
        cutline.open(storage)
    with pytest.raises(InputError, match="uses `Straddle`, not `my-apt`"):
        cutline.open(storage, algorithm=Apt())
    again = cutline.open(storage, algorithm=Straddle())
    assert again.progress.told == 1
    ticket, other = begun.ask(), again.ask()
    assert ticket is not None and other is not None and (ticket.ticket, other.ticket) == (2, 3)
    assert pickle.loads(pickle.dumps(again)).progress.open == 2


def test_a_rule_is_pickled_with_its_campaign() -> None:
    campaign = Campaign(X, threshold=0.0, budget=20, algorithm=Straddle())
    campaign.tell(campaign.ask(3), [1.0, 2.0, 3.0])
    restored = pickle.loads(pickle.dumps(campaign))
    one, other = campaign.ask(), restored.ask()
    assert isinstance(restored.rule, Straddle) and one is not None and (one.arm, one.ticket) == (other.arm, other.ticket)


def test_beliefs_expire() -> None:
    earlier: list[Beliefs] = []

    class Keeps:
        def choose(self, beliefs: Beliefs) -> int:
            if earlier:
                with pytest.raises(InputError, match="can be read only within `choose`"):
                    earlier[0].covariances(0)
            earlier.append(beliefs)
            assert beliefs.means.shape == (12,)
            failed = []

            def look() -> None:
                try:
                    beliefs.covariances(0)
                except InputError as error:
                    failed.append(error)

            thread = Thread(target=look)
            thread.start()
            thread.join()
            assert len(failed) == 1, "another thread"
            return 0

    campaign = Campaign(X, threshold=0.0, budget=20, model="linear", algorithm=Keeps())
    campaign.ask(2)
    with pytest.raises(InputError, match="can be read only within `choose`"):
        earlier[0].variances
    assert earlier[0].means.shape == (12,), "arrays that were read stay valid"


def test_a_rule_does_not_use_its_campaign() -> None:
    class Asks:
        campaign: Campaign

        def choose(self, beliefs: Beliefs) -> int:
            self.campaign.ask()
            return 0

    Asks.campaign = Campaign(X, threshold=0.0, budget=20, model="linear", algorithm=Asks())
    for n in (1, 1000):
        with pytest.raises(InputError, match="a rule cannot use campaigns within `choose` or `learn`"):
            Asks.campaign.ask(n)
    assert len(Asks.campaign.events()) == 0


def test_names_and_labels() -> None:
    rule = Straddle()
    assert experiment(rule, Straddle(), {"rule": rule, "label": "mine"}).algorithms == ["Straddle", "Straddle-2", "mine"]
    for wrong, message in [
        (dict, "`dict` must make an object with `choose`, not dict"),
        (lambda: 3, "must make an object with `choose`, not int"),
        ({"rule": "pivot"}, "an object with `choose` or make one, not str"),
        ({"rule": rule, "name": "x"}, "a `name` or a `rule`, not both"),
    ]:
        with pytest.raises(InputError, match=message):
            experiment(wrong)
    rule.name = "pivot"  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="`pivot` is one of Cutline's algorithms"):
        experiment(rule)
    with pytest.raises(InputError, match="`dict` must make an object with `choose`, not dict"):
        Campaign(X, threshold=0.0, budget=20, algorithm=dict)  # type: ignore[arg-type]


def linear(rng: np.random.Generator) -> Any:
    return rng.normal(size=(10, 2)), rng.normal(size=2)


def crooked(rng: np.random.Generator) -> Any:
    features = rng.normal(size=(10, 2))
    return {"X": features, "means": np.sin(features.sum(axis=1))}


def bare(rng: np.random.Generator) -> Any:
    return rng.uniform(size=10).tolist()


@pytest.mark.parametrize("instance", [linear, crooked, bare])
def test_instances_are_the_same_however_runs_are_distributed(instance: Any) -> None:
    played = experiment(*(["apt"] if instance is bare else ["linear-apt", Straddle()]), instance=instance)
    alone = cutline.simulate(played, threads=1)
    assert alone.tally == cutline.simulate(played, threads=2).tally
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert alone.tally == cutline.simulate(played, executor=executor, shards=5).tally
    assert len({row["failures"] for row in alone.rows}) > 1
    once = experiment("apt", instance={"kind": instance, "redraw": False})
    assert cutline.simulate(once).tally != cutline.simulate(experiment("apt", instance=instance)).tally


def test_a_fixed_instance_by_a_function() -> None:
    """The same instance, given in the form of a file and by a function."""
    means = [0.5, -0.2, 0.3, 0.0]
    given = failures(experiment("apt", instance={"kind": "means", "means": means}))
    assert failures(experiment("apt", instance=lambda rng: means)) == given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "a list of numbers"),
        ("abc", "a list of numbers"),
        ([], "returned invalid arms"),
        ([[1.0]], "not an array of shape"),
        ([float("nan")], "must be finite"),
        (([[1.0, 2.0]], [1.0]), "theta has 1 values, but the arms have 2 features"),
        ({"X": [[1.0]], "means": [1.0, 2.0]}, "there are 2 means, but 1 arms"),
        ({"X": [[1.0]]}, "one of `theta` and `means`"),
        ({"X": 3, "means": [1.0]}, "one row of features per arm"),
        (([[float("inf")]], [1.0]), "finite"),
    ],
)
def test_invalid_instances(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        experiment("apt", instance=lambda rng: given)
    assert "\n" not in str(raised.value)


def test_keys_that_custom_instances_do_not_take() -> None:
    with pytest.raises(InputError, match="of which nothing is drawn"):
        experiment("linear-apt", instance={"kind": linear, "draw": "published"})
    with pytest.raises(InputError, match="`kind` must be one of"):
        experiment("linear-apt", instance={"kind": "own"})


def test_an_instance_that_fails_in_a_later_run() -> None:
    def late(rng: np.random.Generator) -> Any:
        if (draws := rng.uniform()) < 0.3:
            raise LookupError("mine")
        return [draws, 1 - draws]

    with pytest.raises(LookupError, match="mine"):
        for seed in range(20):
            cutline.simulate(Experiment(budgets=[4], threshold=0.5, instance=late, algorithm=["apt"]), seed=seed, runs=50)


def noisy(noise: Any, **keys: Any) -> Experiment:
    means = {"kind": "means", "means": [0.2, -0.2, 0.1]}
    return Experiment(budgets=[30], threshold=0.0, noise=noise, instance=means, algorithm=["apt"], runs=400, seed=5, **keys)


def t_noise(rng: np.random.Generator, pulls: int) -> Any:
    return rng.standard_t(5, pulls) * np.sqrt(3 / 5)


def test_noise_in_python() -> None:
    """Bit-identical on any number of threads, scaled, and about as harmful as the same noise in Rust: 5 standard errors."""
    one, two = (cutline.simulate(noisy(t_noise), threads=threads).tally for threads in (1, 2))
    assert one == two
    assert pickle.loads(pickle.dumps(noisy(t_noise))).play(0, 400) == one
    rates = {
        name: cutline.simulate(noisy(noise)).rows[0]["failure_rate"]
        for name, noise in {
            "python": {"kind": t_noise, "scale": 2.0},
            "rust": {"kind": "t", "degrees_of_freedom": 5, "scale": 2.0},
            "list": {"kind": t_noise, "scale": [2.0, 2.0, 2.0]},
            "none": {"kind": t_noise, "scale": 0.001},
        }.items()
    }
    assert rates["none"] == 0.0 and rates["list"] == rates["python"] > 0.3
    assert abs(rates["python"] - rates["rust"]) < 5 * np.sqrt(2 * 0.25 / 400)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (lambda rng, pulls: rng.normal(size=3), "`noise` must return .* numbers, one per pull, not an array of shape \\(3,\\)"),
        (lambda rng, pulls: np.full(pulls, np.nan), "`noise` must return finite numbers"),
        (lambda rng, pulls: "x", "`noise` must return"),
        (lambda rng, pulls: 1 / 0, "division by zero"),
    ],
)
def test_invalid_noise(noise: Any, message: str) -> None:
    with pytest.raises((InputError, ZeroDivisionError), match=message):
        cutline.simulate(noisy(noise))


def test_unequal_noise_and_instances_of_the_literature() -> None:
    keys = {"budgets": [60], "threshold": 0.5, "algorithm": ["apt"], "runs": 50}
    bernoulli = Experiment(keys, instance={"kind": "locatelli-1"})
    listed = Experiment(keys, instance={"kind": "bernoulli", "means": [0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9]})
    assert bernoulli.play(0, 50) == listed.play(0, 50)
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    linear = {"kind": "linear", "arms": X, "theta": np.array([1.0, 0.0])}
    for noise in ({"kind": "lognormal", "shape": 1.0}, {"kind": "gaussian", "scale": [1.0, 2.0, 0.5]}, {"kind": "gaussian", "spread": 3}):
        assert Experiment(keys, instance=linear, noise=noise).play(0, 50) is not None
    with pytest.raises(InputError, match="there are 2 noise scales, but 3 arms"):
        Experiment(keys, instance=linear, noise={"kind": "gaussian", "scale": [1.0, 2.0]})
