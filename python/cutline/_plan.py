"""Plans: the number of measurements that a campaign needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from . import _arms, _html, _native
from ._errors import NotFoundError
from ._figure import Figure
from ._frames import require
from ._progress import Watch, watching
from ._seed import drawn

if TYPE_CHECKING:
    import pandas as pd

Pilot = tuple[Iterable["SupportsIndex | str"], Iterable[float]]


class Plan:
    """The number of measurements that a campaign needs: what `cutline.plan` returns.

    >>> import cutline
    >>> plan = cutline.plan([[float(i)] for i in range(20)], threshold=0.0, budgets=[10, 20, 40, 80, 160])
    >>> plan.budget("pivot")
    82
    >>> [(row["budget"], round(row["mean_errors"], 1), round(row["expected_errors"], 1)) for row in plan.prospects]
    [(10, 4.2, 3.8), (20, 2.9, 2.9), (40, 1.5, 1.6), (80, 1.0, 0.9), (160, 0.7, 0.6)]
    """

    __slots__ = ("_report", "_svg", "heading", "remarks", "sentences")

    heading: str
    """What was simulated, in one line."""
    sentences: list[str]
    """The budget of each algorithm in words, and what to try if no budget is enough."""
    remarks: list[str]
    """Which algorithms were skipped at which budgets, and how far a plan can be relied on."""

    def __init__(self, report: str, heading: str, sentences: list[str], remarks: list[str], svg: str) -> None:
        self._report: dict[str, Any] = json.loads(report)
        self.heading = heading
        self.sentences = sentences
        self.remarks = remarks
        self._svg = svg

    def __eq__(self, other: object) -> bool:
        return self._report == other._report if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.seed, self.heading))

    def __repr__(self) -> str:
        budgets = ", ".join(f"{answer['algorithm']} {answer['budget'] or 'none'}" for answer in self.answers)
        return f"<Plan {self.name!r}: budgets for a {self.goal} of {self.target}: {budgets}>"

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {self.heading}", *self.sentences])

    def _repr_html_(self) -> str:
        """For notebooks: the answers, and what each budget would bring."""
        heading = _html.line(f"<b>{_html.text(self.name)}</b>:", _html.text(self.heading, None))
        answers = "".join(_html.line(_html.text(sentence, None)) for sentence in self.sentences)
        rows = [
            (row["algorithm"], row["budget"], *(_html.number(row[key]) for key in ("mean_errors", "failure_rate", "decided")))
            for row in self.prospects
        ]
        return _html.block(heading, answers, _html.table(("", "budget", "wrong calls", "failure rate", "decided"), rows))

    @property
    def name(self) -> str:
        """The plan's name."""
        return str(self._report["experiment"])

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return int(self._report["seed"])

    @property
    def goal(self) -> str:
        """What the target is about: `"wrong-share"`, the mean share of arms called wrongly, or `"failure-probability"`."""
        return str(self._report["goal"])

    @property
    def target(self) -> float:
        """The share or the probability that a budget must reach."""
        return float(self._report["target"])

    @property
    def answers(self) -> list[dict[str, Any]]:
        """One dict per algorithm: its `budget` and the ends `low` and `high` of its 95 % interval; `None` if no budget from
        `tried_from` to `tried_to` is enough."""
        return list(self._report["answers"])

    @property
    def prospects(self) -> list[dict[str, Any]]:
        """One dict per algorithm and budget: mean number of wrong calls and failure rate with their 95 % intervals, the wrong calls that
        the campaign expects itself, and the share of arms that it decides."""
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
        return require("pandas").DataFrame(self.prospects)

    def figure(self) -> Figure:
        """Failure probability and wrong calls against budget, and where each algorithm meets the target."""
        return Figure(self._svg)


def plan(
    X: Any,
    *,
    threshold: float,
    precision: float = 0.0,
    wrong: float | None = None,
    target: float | None = None,
    noise: float | None = None,
    explained: float | None = None,
    linear_share: float | None = None,
    noise_ratio: float | None = None,
    spread: float | None = None,
    above: float | None = None,
    pilot: Pilot | None = None,
    prior: str | None = None,
    model: str | None = None,
    algorithms: Sequence[str] | None = None,
    raw: bool = False,
    budgets: Iterable[int] | None = None,
    batch: int = 1,
    runs: int = 100,
    seed: int | None = 0,
    names: Iterable[object] | None = None,
    features: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    categories: Sequence[str] | None = None,
    cost: str | Iterable[float] | None = None,
    missing: Literal["refuse", "mean"] = "refuse",
    name: str = "plan",
    threads: int | None = None,
    progress: bool | Watch = False,
) -> Plan:
    """Simulates the campaign that `Campaign` would begin, with true means drawn as you expect them, to find how many measurements are
    enough. A plan is only as good as what it expects of the arms.

    >>> import cutline
    >>> plan = cutline.plan([[float(i)] for i in range(20)], threshold=0.0, explained=0.9, noise_ratio=0.3)
    >>> plan.budget("pivot")
    50

    | argument | default | meaning |
    |---|---|---|
    | `X` | required | the arms, as in `Campaign`, with features |
    | `threshold` | required | τ: the question is which arms have a mean above it |
    | `precision` | 0 | ε: arms within ε of τ may be classified either way |
    | `wrong` | 0.05 | the share of arms that may be called wrongly, on average |
    | `target` | | in place of `wrong`: the probability with which any arm at all may be called wrongly |
    | `noise` | estimated by the campaign | σ, the standard deviation of a measurement, which the campaign is then given too |
    | `explained` | 0.7 | the share of the differences between the arms that the features explain |
    | `linear_share` | 0.7 | the share of that which is linear in the features; the rest is a smooth curve |
    | `noise_ratio` | 0.5 | σ in units of the spread |
    | `spread` | 1, or `noise`/`noise_ratio` | the standard deviation of the arms' true means |
    | `above` | 0.5 | the share of the arms above the threshold |
    | `pilot` | | learn all of that from rewards measured before: `(arms, rewards)`, with arms as in `Campaign.observe` |
    | `prior` | | or draw means xᵀθ on the features as they are: `"uniform"` on [−1, 1], or `"normal:s"` for N(0, s²I); σ is 1 without `noise` |
    | `model` | `"mixed"`, or that of the algorithm | the model, as in `Campaign` |
    | `algorithms` | that of `Campaign` | the algorithms to compare, each in a campaign of its own |
    | `raw` | `False` | with `model="linear"`: features and rewards as they are |
    | `budgets` | chosen around where the goal is met | the budgets to try, ascending |
    | `batch` | 1 | how many measurements are asked for at once, such as 96 for plates; budgets are multiples of it |
    | `runs`, `seed` | 100, 0 | the number of simulated campaigns, and the seed of all random numbers; `seed=None` draws one, which `plan.seed` has |
    | `names`, `features`, `id`, `categories`, `cost`, `missing` | as in `Campaign` | with `cost`, budgets are in its unit |
    | `name` | `"plan"` | the plan's name |
    | `threads` | all cores | the number of threads; it does not change the plan |
    | `progress` | `False` | `True` shows it on stderr; a function is called with the runs done and the total |

    docs/planning.md explains how it is computed.
    """
    keywords = {
        "threshold": threshold,
        "precision": precision,
        "wrong": wrong,
        "target": target,
        "noise": noise,
        "explained": explained,
        "linear_share": linear_share,
        "noise_ratio": noise_ratio,
        "spread": spread,
        "above": above,
        "pilot": pilot,
        "prior": prior,
        "batch": batch,
        "model": model,
        "algorithms": algorithms,
        "raw": raw,
        "runs": runs,
        "seed": drawn(seed),
        "name": name,
    }
    arms = _arms.read(X, names, _arms.Reading(features, id, categories, missing, cost))
    planning = _native.Planning(arms.names, arms.columns, arms.features, arms.costs, keywords)
    return forecast(planning, budgets, runs, threads, progress)


def forecast(
    planning: _native.Planning, budgets: Iterable[int] | None, runs: int, threads: int | None, progress: bool | Watch
) -> Plan:
    """Plays a plan, at budgets that are found if none are given."""
    if budgets is None:
        budgets = planning.scout(threads)
    with watching(progress, runs, "runs") as watch:
        return Plan(*planning.forecast(budgets, threads, watch.add))
