"""Custom rules, instances and noise."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

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

Instance = Callable[["np.random.Generator"], Any]
"""Draws an instance: `(X, theta)`, or means for arms without features, or a dict of `X` and `theta` or `means`."""


Noise = Callable[["np.random.Generator", int], Any]
"""Draws the noise of a run: one number per pull, with mean 0 and standard deviation 1."""


def name_of(rule: Rule | RuleFactory) -> str:
    """The name of a rule: its `name`, or else that of its class or function."""
    name = getattr(rule, "name", None) or getattr(rule, "__name__", None)
    return name if isinstance(name, str) else type(rule).__name__


def is_rule(value: Any) -> bool:
    """Whether `value` is a rule, or a class or function that makes one."""
    return not isinstance(value, str) and (callable(value) or _chooses(value))


def _chooses(value: Any) -> bool:
    return not isinstance(value, type) and callable(getattr(value, "choose", None))


def fresh(rule: Rule | RuleFactory, name: str) -> Rule:
    """The rule of one run: what a class or function makes, or a copy of an object."""
    if isinstance(rule, type) or not isinstance(rule, Rule):
        made = rule()
        if not _chooses(made):
            raise InputError(f"`{name}` must make an object with `choose`, not {type(made).__name__}")
        return made
    try:
        return copy.deepcopy(rule)
    except Exception as error:
        raise InputError(
            f"the rule `{name}` cannot be copied, and every run needs its own ({error}); pass its class, or a function that makes it"
        ) from error


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
