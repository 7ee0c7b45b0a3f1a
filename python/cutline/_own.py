"""Rules and instances of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from . import _arms
from ._errors import InputError
from ._native import Beliefs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Drawn = tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None]


@runtime_checkable
class Rule(Protocol):
    """A rule of one's own: anything that has `choose`. `Campaign` and `Experiment` take it in place of an algorithm's name.

    It must be a function of the beliefs, `beliefs.seed` included, and keep nothing from one call to the next: campaigns are taken up
    in the middle, and runs are played on any thread or machine. If it has `opens_with_every_arm = True`, every arm is pulled once
    before it is asked.

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
    >>> mine, named = cutline.simulate(experiment, runs=50).rows
    >>> mine["algorithm"], mine["failures"] == named["failures"]
    ('Straddle', True)
    """

    def choose(self, beliefs: Beliefs, /) -> Any:
        """The arm to pull next, from 0."""


Instance = Callable[["np.random.Generator"], Any]
"""Draws an instance: `(X, theta)`, or means for arms without features, or a dict of `X` and `theta` or `means`."""


def name_of(rule: Rule) -> str:
    """What a rule is called: its `name`, or that of its class."""
    name = getattr(rule, "name", None)
    return name if isinstance(name, str) else type(rule).__name__


def is_rule(value: Any) -> bool:
    """Whether this is a rule, and not the class of one."""
    if isinstance(value, type) and hasattr(value, "choose"):
        raise InputError(f"a rule is an object with `choose`, not a class; write `{value.__name__}()`")
    return not isinstance(value, str) and callable(getattr(value, "choose", None))


def draw(function: Instance, seed: int) -> Drawn:
    """What an instance's function gives for a seed: features, theta and means, as far as there are."""
    import numpy as np

    given = function(np.random.default_rng(seed))
    if isinstance(given, tuple) and len(given) == 2:
        given = {"X": given[0], "theta": given[1]}
    elif not isinstance(given, Mapping):
        given = {"means": given}
    keys = set(given)
    if keys not in ({"X", "theta"}, {"X", "means"}, {"means"}):
        raise InputError("`instance` must give (X, theta), means, or a dict of `X` and one of `theta` and `means`")
    features = None
    if "X" in given:
        read = _arms.read(given["X"], None, None).features
        if read is None:
            raise InputError("`instance` must give X as a row of features an arm; without features give means alone")
        features = np.ascontiguousarray(read)
    theta, means = (_vector(given[key], key) if key in given else None for key in ("theta", "means"))
    return features, theta, means


def _vector(values: Any, what: str) -> NDArray[np.float64]:
    import numpy as np

    try:
        vector = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"`instance` must give `{what}` as a list of numbers") from error
    if vector.ndim != 1:
        raise InputError(f"`instance` must give `{what}` as a list of numbers, not an array of the shape {vector.shape}")
    return np.ascontiguousarray(vector)
