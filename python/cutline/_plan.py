"""Plans: how many measurements a campaign needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import _arms, _native
from ._campaign import _needed
from ._errors import NotFoundError
from ._figure import Figure
from ._progress import Watch, watching

if TYPE_CHECKING:
    import pandas as pd

ALGORITHMS = ("pivot", "linear-apt", "random")
"""Who is compared if nobody says."""

Pilot = tuple[Iterable["int | str"], Iterable[float]]


class Plan:
    """How many measurements a campaign needs, by algorithm: what `cutline.plan` gives.

    >>> import cutline
    >>> plan = cutline.plan([[1.0]], threshold=0.0, prior="normal:1", target=0.1, algorithms=["pivot"], budgets=[4, 8, 16, 32])
    >>> print(plan)
    plan: 1000 runs, seed 0, θ from N(0, 1² I)
    pivot needs 12 measurements for a failure probability of 0.1 (95 % interval: 8 to 16)
    >>> plan.to_pandas()[["algorithm", "budget", "failure_rate"]]
      algorithm  budget  failure_rate
    0     pivot       4         0.160
    1     pivot       8         0.124
    2     pivot      16         0.080
    3     pivot      32         0.053
    """

    __slots__ = ("_drawn", "_said", "heading", "remarks", "sentences")

    heading: str
    """What was played, in one line."""
    sentences: list[str]
    """The budget of each algorithm in words, and what to try if there is none."""
    remarks: list[str]
    """What Theorem 1 guarantees, and who was left out where."""

    def __init__(self, said: str, heading: str, sentences: list[str], remarks: list[str], drawn: str) -> None:
        self._said: dict[str, Any] = json.loads(said)
        self.heading = heading
        self.sentences = sentences
        self.remarks = remarks
        self._drawn = drawn

    def __repr__(self) -> str:
        budgets = ", ".join(f"{answer['algorithm']} {answer['budget'] or 'none'}" for answer in self.answers)
        return f"<Plan {self.name!r}: budgets for a failure probability of {self.target}: {budgets}>"

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {self.heading}", *self.sentences])

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self._said["experiment"])

    @property
    def target(self) -> float:
        """The failure probability to be reached."""
        return float(self._said["target"])

    @property
    def answers(self) -> list[dict[str, Any]]:
        """A dict an algorithm: its `budget` and the `low` and `high` end of its 95 % interval, `None` where there is none within
        the budgets from `tried_from` to `tried_to`."""
        return list(self._said["answers"])

    @property
    def prospects(self) -> list[dict[str, Any]]:
        """A dict for every algorithm and budget: failure rate and mean number of wrong arms, with their 95 % intervals."""
        return list(self._said["prospects"])

    def budget(self, algorithm: str) -> int | None:
        """The smallest budget at which an algorithm meets the target; `None` if none that was tried does."""
        for answer in self.answers:
            if answer["algorithm"] == algorithm:
                budget: int | None = answer["budget"]
                return budget
        there = ", ".join(f"`{answer['algorithm']}`" for answer in self.answers)
        raise NotFoundError(f"there is no algorithm `{algorithm}` here; there are {there}")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `cutline plan --format json` has it."""
        return dict(self._said)

    def to_pandas(self) -> pd.DataFrame:
        """The prospects as a data frame."""
        return _needed("pandas").DataFrame(self.prospects)

    def figure(self) -> Figure:
        """Failure probability and wrong verdicts against budget, the target, and who meets it where."""
        return Figure(self._drawn)


def plan(
    X: Any,
    *,
    threshold: float,
    precision: float = 0.0,
    noise: float = 1.0,
    prior: str | Pilot = "uniform",
    target: float = 0.05,
    algorithms: Sequence[str] = ALGORITHMS,
    budgets: Iterable[int] | None = None,
    runs: int = 1000,
    seed: int = 0,
    names: Iterable[object] | None = None,
    features: Sequence[str] | None = None,
    name: str = "plan",
    threads: int | None = None,
    progress: bool | Watch = False,
) -> Plan:
    """Plays campaigns on these arms, each with a truth drawn from what is believed of it: how many measurements are enough?

    >>> import cutline
    >>> plan = cutline.plan([[1.0, 0.0], [0.5, 0.5], [-1.0, 0.2]], threshold=0.25, precision=0.1, algorithms=["pivot"])
    >>> plan.budget("pivot")
    90

    | argument | default | meaning |
    |---|---|---|
    | `X` | needed | the arms, as `Campaign` takes them, with features; they are used as they are |
    | `threshold` | needed | τ: the question is which arms have a mean above it |
    | `precision` | 0 | ε: arms within ε of τ may be called either way |
    | `noise` | 1 | σ, the standard deviation of a measurement |
    | `prior` | `"uniform"` | what θ is drawn from: uniform on [−1, 1]; `"normal:s"` for N(0, s²I); or what a pilot leaves open, `(arms, rewards)` |
    | `target` | 0.05 | the failure probability to be reached |
    | `algorithms` | `pivot`, `linear-apt`, `random` | who is compared |
    | `budgets` | some around where the target is met | the budgets to try, ascending |
    | `runs`, `seed` | 1000, 0 | how many campaigns are played, and the seed of everything random |
    | `names`, `features` | as in `Campaign` | |
    | `name` | `"plan"` | what it is called |
    | `threads` | all cores | how many threads; the plan does not depend on it |
    | `progress` | `False` | `True` to show it on stderr; a function is called with the runs done and all runs |

    docs/planning.md says how it is computed.
    """
    keywords = {
        "threshold": threshold,
        "precision": precision,
        "noise": noise,
        "prior": prior,
        "target": target,
        "algorithms": algorithms,
        "runs": runs,
        "seed": seed,
        "name": name,
    }
    planning = _native.Planning(*_arms.read(X, names, features), keywords)
    if budgets is None:
        budgets = planning.scout(lambda experiment, runs: experiment.play(0, runs, threads=threads))
    experiment = planning.experiment(budgets)
    with watching(progress, experiment.runs, "runs") as watch:
        tally = experiment.play(0, experiment.runs, threads=threads, watch=watch.add)
    return Plan(*planning.forecast(experiment, tally, threads))
