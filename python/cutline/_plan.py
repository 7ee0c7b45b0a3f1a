"""Plans: the number of measurements that a campaign needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _arms, _native
from ._campaign import _import
from ._errors import NotFoundError
from ._figure import Figure
from ._progress import Watch, watching

if TYPE_CHECKING:
    import pandas as pd

ALGORITHMS = ("pivot", "linear-apt", "random")
"""The algorithms that are compared by default."""

Pilot = tuple[Iterable["SupportsIndex | str"], Iterable[float]]


class Plan:
    """The number of measurements that a campaign needs, per algorithm: what `cutline.plan` returns.

    >>> import cutline
    >>> plan = cutline.plan([[1.0]], threshold=0.0, prior="normal:1", target=0.1, algorithms=["pivot"], budgets=[4, 8, 16, 32])
    >>> print(plan)
    plan: 1000 runs, seed 0, θ from N(0, 1² I)
    `pivot` needs 12 measurements for a failure probability of 0.1 (95 % interval: 8 to 16)
    >>> plan.to_pandas()[["algorithm", "budget", "failure_rate"]]
      algorithm  budget  failure_rate
    0     pivot       4         0.160
    1     pivot       8         0.124
    2     pivot      16         0.080
    3     pivot      32         0.053
    """

    __slots__ = ("_report", "_svg", "heading", "remarks", "sentences")

    heading: str
    """What was simulated, in one line."""
    sentences: list[str]
    """The budget of each algorithm in words, and what to try if no budget is enough."""
    remarks: list[str]
    """What Theorem 1 guarantees, and which algorithms were skipped at which budgets."""

    def __init__(self, report: str, heading: str, sentences: list[str], remarks: list[str], svg: str) -> None:
        self._report: dict[str, Any] = json.loads(report)
        self.heading = heading
        self.sentences = sentences
        self.remarks = remarks
        self._svg = svg

    def __repr__(self) -> str:
        budgets = ", ".join(f"{answer['algorithm']} {answer['budget'] or 'none'}" for answer in self.answers)
        return f"<Plan {self.name!r}: budgets for a failure probability of {self.target}: {budgets}>"

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {self.heading}", *self.sentences])

    @property
    def name(self) -> str:
        """The plan's name."""
        return str(self._report["experiment"])

    @property
    def target(self) -> float:
        """The failure probability that a budget must reach."""
        return float(self._report["target"])

    @property
    def answers(self) -> list[dict[str, Any]]:
        """One dict per algorithm: its `budget` and the ends `low` and `high` of its 95 % interval; `None` if no budget from
        `tried_from` to `tried_to` is enough."""
        return list(self._report["answers"])

    @property
    def prospects(self) -> list[dict[str, Any]]:
        """One dict per algorithm and budget: failure rate and mean number of wrong verdicts, with their 95 % intervals."""
        return list(self._report["prospects"])

    def budget(self, algorithm: str) -> int | None:
        """The smallest budget at which an algorithm meets the target; `None` if no budget that was tried does."""
        for answer in self.answers:
            if answer["algorithm"] == algorithm:
                budget: int | None = answer["budget"]
                return budget
        labels = ", ".join(f"`{answer['algorithm']}`" for answer in self.answers)
        raise NotFoundError(f"there is no algorithm `{algorithm}` here; there are {labels}")

    def to_dict(self) -> dict[str, Any]:
        """The whole plan, as in `cutline plan --format json`."""
        return dict(self._report)

    def to_pandas(self) -> pd.DataFrame:
        """The prospects as a data frame."""
        return _import("pandas").DataFrame(self.prospects)

    def figure(self) -> Figure:
        """Failure probability and wrong verdicts against budget, and where each algorithm meets the target."""
        return Figure(self._svg)


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
    """Simulates campaigns on these arms, each with a truth drawn from a prior, to find how many measurements are enough.

    >>> import cutline
    >>> plan = cutline.plan([[1.0, 0.0], [0.5, 0.5], [-1.0, 0.2]], threshold=0.25, precision=0.1, algorithms=["pivot"])
    >>> plan.budget("pivot")
    90

    | argument | default | meaning |
    |---|---|---|
    | `X` | required | the arms, as in `Campaign`, with features, which are not prepared |
    | `threshold` | required | τ: the question is which arms have a mean above it |
    | `precision` | 0 | ε: arms within ε of τ may be classified either way |
    | `noise` | 1 | σ, the standard deviation of a measurement |
    | `prior` | `"uniform"` | the prior of θ: uniform on [−1, 1]; `"normal:s"`: N(0, s²I); or the posterior given a pilot, `(arms, rewards)`, with arms as in `Campaign.observe` |
    | `target` | 0.05 | the failure probability that a budget must reach |
    | `algorithms` | `pivot`, `linear-apt`, `random` | the algorithms to compare |
    | `budgets` | chosen around where the target is met | the budgets to try, ascending |
    | `runs`, `seed` | 1000, 0 | the number of simulated campaigns, and the seed of all random numbers |
    | `names`, `features` | as in `Campaign` | |
    | `name` | `"plan"` | the plan's name |
    | `threads` | all cores | the number of threads; it does not change the plan |
    | `progress` | `False` | `True` shows it on stderr; a function is called with the runs done and the total |

    docs/planning.md explains how it is computed.
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
