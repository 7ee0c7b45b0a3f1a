"""Custom rules, estimators, stops, decisions, instances and noise."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Optional, Protocol, Union, runtime_checkable

from . import _arms
from ._errors import InputError
from ._native import Beliefs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Drawn = tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None]


WAIT: Final = "wait"
"""`choose` returns it to wait for the rewards of open tickets."""

DONE: Final = "done"
"""`choose` returns it to end: no more pulls are of use."""


@runtime_checkable
class Rule(Protocol):
    """A custom rule: any object with a method `choose`, or a class or function without arguments that makes one. `Campaign` and
    `Experiment` accept it in place of an algorithm's name.

    `choose` returns the arm to pull next, as its position from 0, or `cutline.WAIT` or `cutline.DONE`. Every run and every campaign has
    its own rule: what the class or function returns, or a deep copy of the object, which is itself never used.

    A rule may learn. If it has a method `learn(beliefs, arm, reward)`, that is called once per reward in the order of arrival, and
    again for all of them when a campaign is opened again. `choose` may depend on the beliefs, on `beliefs.seed` and on what `learn`
    received, and on nothing else: it may be called several times for one pull.

    If the rule has `opens_with_every_arm = True`, every arm is pulled once before `choose` is called.

    >>> import numpy as np
    >>> import cutline
    >>> class Straddle:
    ...     def choose(self, beliefs):
    ...         return np.argmax(1.96 * np.sqrt(beliefs.variances) - np.abs(beliefs.means - beliefs.threshold))
    >>> experiment = cutline.Experiment(
    ...     budgets=[40],
    ...     threshold=0.0,
    ...     instance={"kind": "uniform", "n_arms": 8, "dimension": 3},
    ...     algorithm=[Straddle(), "straddle"],
    ... )
    >>> custom, built_in = cutline.simulate(experiment, runs=50).rows
    >>> custom["algorithm"], custom["failures"] == built_in["failures"]
    ('Straddle', True)
    """

    def choose(self, beliefs: Beliefs, /) -> Any:
        """The arm to pull next, as its position from 0, or `cutline.WAIT` or `cutline.DONE`."""


RuleFactory = Callable[[], Rule]
"""A class or function that makes a rule."""


class Problem(NamedTuple):
    """What a custom estimator is made for."""

    n_arms: int
    """The number of arms."""
    features: Optional[NDArray[np.float64]]
    """One row of features per arm; `None` for arms without features."""
    threshold: float
    """τ: the question is which arms have a mean above it."""
    precision: float
    """ε: arms within ε of τ may be classified either way."""
    noise: float
    """σ, the standard deviation of a reward, as the experiment gives it."""


class Estimator(Protocol):
    """A custom estimator: what a class or function makes from a `Problem`. `Experiment` accepts the class or function as the `estimator` of
    an algorithm.

    `observe` is called once per reward in the order of arrival. After that, `means` and `variances` must have one number per arm: the estimates,
    and their variances in squared units of the rewards, `inf` where nothing is known. Every run has its own estimator.

    If there is a method `covariances(arm)`, it returns the covariances of every arm's estimate with that of `arm`; otherwise the estimates are
    taken to be independent. If the class has `learns_noise = True`, the attribute `noise` must be the estimate of σ at any time.

    >>> import numpy as np
    >>> import cutline
    >>> class Shrunken:
    ...     def __init__(self, problem):
    ...         self.prior = problem.threshold
    ...         self.noise = problem.noise
    ...         self.sums, self.n = np.zeros(problem.n_arms), np.zeros(problem.n_arms)
    ...     def observe(self, arm, reward):
    ...         self.sums[arm] += reward
    ...         self.n[arm] += 1
    ...     @property
    ...     def means(self):
    ...         return (self.sums + self.prior) / (self.n + 1)
    ...     @property
    ...     def variances(self):
    ...         return self.noise**2 / (self.n + 1)
    >>> experiment = cutline.Experiment(
    ...     budgets=[60],
    ...     threshold=0.5,
    ...     instance={"kind": "means", "means": [0.2, 0.9]},
    ...     algorithm=[{"name": "apt", "estimator": Shrunken}],
    ... )
    >>> cutline.simulate(experiment, runs=20).rows[0]["failure_rate"] < 0.5
    True
    """

    @property
    def means(self) -> Any:
        """The estimates of the means, one per arm."""

    @property
    def variances(self) -> Any:
        """Their variances, in squared units of the rewards."""

    def observe(self, arm: int, reward: float, /) -> Any:
        """Takes a reward of `arm`, a position from 0."""


EstimatorFactory = Callable[[Problem], Estimator]
"""A class or function that makes an estimator."""


@runtime_checkable
class Stop(Protocol):
    """A custom stop: any object with a method `should_stop`, or a class or function without arguments that makes one. `Experiment` accepts it as
    `stop`, its own or that of an algorithm. The budget still ends a run.

    `should_stop` is called before every pull and may depend on the beliefs alone. They have no `seed` and no `covariances`.

    >>> import numpy as np
    >>> import cutline
    >>> class FarEnough:
    ...     def should_stop(self, beliefs):
    ...         return np.all(np.abs(beliefs.means - beliefs.threshold) > 2 * np.sqrt(beliefs.variances))
    >>> experiment = cutline.Experiment(
    ...     budgets=[1000],
    ...     threshold=0.5,
    ...     noise=0.1,
    ...     instance={"kind": "means", "means": [0.2, 0.9]},
    ...     algorithm=["apt"],
    ...     stop=FarEnough(),
    ... )
    >>> cutline.simulate(experiment, runs=20).rows[0]["mean_pulls"] < 20
    True
    """

    def should_stop(self, beliefs: Beliefs, /) -> Any:
        """Whether to end now."""


StopFactory = Callable[[], Stop]
"""A class or function that makes a stop."""

Decide = Callable[[Beliefs], Any]
"""A custom decision: returns whether each arm is above, one truth value per arm."""

Part = Union[Rule, RuleFactory, EstimatorFactory, Stop, StopFactory, Decide]
"""Any custom part of an algorithm."""

Instance = Callable[["np.random.Generator"], Any]
"""Draws an instance: `(X, theta)`, or means for arms without features, or a dict of `X` and `theta` or `means`."""


Noise = Callable[["np.random.Generator", int], Any]
"""Draws the noise of a run: one number per pull, with mean 0 and standard deviation 1."""


def name_of(part: Part) -> str:
    """The name of a custom part: its `name`, or else that of its class or function."""
    name = getattr(part, "name", None) or getattr(part, "__name__", None)
    return name if isinstance(name, str) else type(part).__name__


def is_rule(value: Any) -> bool:
    """Whether `value` is a rule, or a class or function that makes one."""
    return not isinstance(value, str) and (callable(value) or _chooses(value))


def is_stop(value: Any) -> bool:
    """Whether `value` is a stop, or a class or function that makes one."""
    return not isinstance(value, str) and (callable(value) or _has_method(value, "should_stop"))


def _chooses(value: Any) -> bool:
    return _has_method(value, "choose")


def _has_method(value: Any, method: str) -> bool:
    return not isinstance(value, type) and callable(getattr(value, method, None))


def fresh(rule: Rule | RuleFactory, name: str) -> Rule:
    """The rule of one run: what a class or function makes, or a copy of an object."""
    made: Rule = _fresh(rule, "rule", name, "choose")
    return made


def fresh_stop(stop: Stop | StopFactory, name: str) -> Stop:
    """The stop of one run: what a class or function makes, or a copy of an object."""
    made: Stop = _fresh(stop, "stop", name, "should_stop")
    return made


def _fresh(part: Any, kind: str, name: str, method: str) -> Any:
    if not _has_method(part, method):
        made = part()
        if not _has_method(made, method):
            raise InputError(f"`{name}` must make an object with `{method}`, not {type(made).__name__}")
        return made
    try:
        return copy.deepcopy(part)
    except Exception as error:
        raise InputError(
            f"the {kind} `{name}` cannot be copied, and every run needs its own ({error}); pass its class, or a function that makes it"
        ) from error


def fresh_estimator(factory: EstimatorFactory, name: str, problem: tuple[Any, ...]) -> Estimator:
    """The estimator of one run."""
    made = factory(Problem(*problem))
    if not _has_method(made, "observe"):
        raise InputError(f"`{name}` must make an object with `observe`, not {type(made).__name__}")
    return made


def estimates(
    estimator: Any, name: str, n_arms: int, learns_noise: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], float | None]:
    """The means and variances of an estimator, and σ if it learns it."""
    import numpy as np

    means = _numbers(estimator.means, f"`means` of `{name}`", n_arms)
    variances = _numbers(estimator.variances, f"`variances` of `{name}`", n_arms)
    if not np.isfinite(means).all():
        raise InputError(f"`means` of `{name}` must be finite numbers")
    if not (variances >= 0).all():
        raise InputError(f"`variances` of `{name}` must be numbers of at least 0, or `inf`")
    noise = float(estimator.noise) if learns_noise else None
    if noise is not None and not 1e-100 <= noise <= 1e100:
        raise InputError(f"`noise` of `{name}` must be a number from 1e-100 to 1e100, not {noise}")
    return means, variances, noise


def covariances(estimator: Any, name: str, n_arms: int, arm: int) -> NDArray[np.float64] | None:
    """The covariances with `arm`, if the estimator has them."""
    if not _has_method(estimator, "covariances"):
        return None
    return _numbers(estimator.covariances(arm), f"`covariances` of `{name}`", n_arms)


def sides(decided: Any, name: str, n_arms: int) -> list[bool]:
    """What a custom decision returned: whether each arm is above."""
    import numpy as np

    above = np.asarray(decided)
    if above.shape != (n_arms,) or above.dtype != np.bool_:
        raise InputError(f"`{name}` must return {n_arms} truth values, one per arm")
    return [bool(side) for side in above]


def _numbers(values: Any, what: str, n_arms: int) -> NDArray[np.float64]:
    import numpy as np

    try:
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{what} must be an array of numbers, one per arm") from error
    if numbers.shape != (n_arms,):
        raise InputError(f"{what} must be {n_arms} numbers, one per arm, not an array of shape {numbers.shape}")
    return numbers


def draw(function: Instance, seed: int) -> Drawn:
    """The instance that `function` draws for a seed: features, theta and means, `None` where not given."""
    import numpy as np

    drawn = function(np.random.default_rng(seed))
    if isinstance(drawn, tuple) and len(drawn) == 2:
        drawn = {"X": drawn[0], "theta": drawn[1]}
    elif not isinstance(drawn, Mapping):
        drawn = {"means": drawn}
    keys = set(drawn)
    if keys not in ({"X", "theta"}, {"X", "means"}, {"means"}):
        raise InputError("`instance` must return (X, theta), means, or a dict of `X` and one of `theta` and `means`")
    features = None
    if "X" in drawn:
        features = _arms.read(drawn["X"], None).features
        if features is None:
            raise InputError("`instance` must return X with one row of features per arm; without features return means alone")
        features = np.ascontiguousarray(features)
    theta, means = (_vector(drawn[key], key) if key in drawn else None for key in ("theta", "means"))
    return features, theta, means


def draw_noise(function: Noise, seed: int, pulls: int) -> NDArray[np.float64]:
    """The noise that `function` draws for a seed: one number per pull."""
    import numpy as np

    drawn = function(np.random.default_rng(seed), pulls)
    try:
        noise = np.ascontiguousarray(drawn, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError("`noise` must return an array of numbers, one per pull") from error
    if noise.shape != (pulls,):
        raise InputError(f"`noise` must return {pulls} numbers, one per pull, not an array of shape {np.shape(drawn)}")
    if not np.isfinite(noise).all():
        raise InputError("`noise` must return finite numbers")
    return noise


def _vector(values: Any, what: str) -> NDArray[np.float64]:
    import numpy as np

    try:
        vector = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"`instance` must return `{what}` as a list of numbers") from error
    if vector.ndim != 1:
        raise InputError(f"`instance` must return `{what}` as a list of numbers, not an array of shape {vector.shape}")
    return np.ascontiguousarray(vector)
