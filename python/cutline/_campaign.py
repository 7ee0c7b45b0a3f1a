"""Campaigns: ask what to measure, tell the rewards, read the verdicts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _arms, _custom, _html, _native
from ._errors import InputError
from ._figure import Figure
from ._frames import frame, records, require
from ._seed import drawn
from ._settings import keywords

if TYPE_CHECKING:
    from types import EllipsisType

    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._plan import Plan
    from ._progress import Watch

NUMBERS = ("mean", "lower", "upper", "doubt")
"""The columns of a report that notebooks show."""


class Campaign(_native.Campaign):
    """Finds which arms have a mean above a threshold, one measurement at a time.

    >>> import cutline
    >>> campaign = cutline.Campaign([[0.9], [0.5], [0.1]], threshold=0.4, budget=30, noise=0.1)
    >>> while (ticket := campaign.ask()) is not None:
    ...     campaign.tell(ticket, ticket.features[0])  # a real measurement goes here
    1
    ...
    >>> [verdict.side for verdict in campaign.verdicts]
    ['above', 'above', 'below']

    Parameters
    ----------
    **The question**

    X : array, data frame, Arrow table, list of str, int or Campaign
        The arms: one row of features per arm; for arms without features, their names or their number; or another campaign, for the same
        arms.
    threshold : float
        τ: the question is which arms have a mean above it.
    precision : float, default 0
        ε: arms within ε of τ may be classified either way.

    **The budget**

    budget : int
        The number of measurements, or with `cost` what they may cost, a whole number.
    cost : str or iterable of float, default every measurement costs 1
        What a measurement of each arm costs: a column of a data frame, which is then not a feature, or one number per arm. The budget is
        in its unit, and `pivot` weighs information per cost.

    **The model**

    model : {"mixed", "linear", "independent"}, default "mixed", or "independent" without features
        How means are explained: `"mixed"` by a linear, a smooth and an own part per arm; `"linear"` in the features; `"independent"` of
        them.
    kernel : {"rbf", "matern52"}, optional
        Means that are a smooth function of the features; `"matern52"` is rougher than `"rbf"`.
    length : float, optional
        The distance over which the means change with `kernel`, in units of the features as they are prepared.
    graph : iterable of pairs or triples, optional
        Means that vary little along the edges of a graph: pairs of arms, or triples with a weight. The features are not used.
    algorithm : str or Rule, default "pivot", or "apt" if the model is independent, or "easiest" with `until_sure="proved"`
        How measurements are chosen: a name, or a custom `Rule`. Named without a model, it runs on the model it was published with.
    estimator : {"mixed", "ridge", "sample-mean"}, default that of the model
        For a custom combination with `algorithm`.
    parameters : mapping of str to float, default those of the algorithm
        Parameters of the algorithm by name, such as `{"lambda": 0.1}`.
    prepare : sequence of {"standardise", "intercept", "centre"}, default all three with `model="linear"`
        How features and rewards are prepared for ridge; `()` for not at all, the model of the LinearAPT paper.
    seed : int or None, default 0
        The seed of all random numbers. `None` draws one, which `settings` has.

    **Rewards and noise**

    rewards : {"gaussian", "bernoulli", "count"}, default "gaussian"
        Their kind: numbers with noise, 1 for pass and 0 for fail, or counts: 0, 1, 2 and so on.
    min, max : float, optional
        The smallest and the largest reward that is possible; others are refused. `min` makes it easier to prove that an arm is above, `max`
        that it is below.
    noise : float, default estimated
        σ, the standard deviation of a measurement.

    **Stopping and verdicts**

    until_sure : str, default never
        End early: `"proved"`, once every arm is proved to be above or below, guaranteed; by `"evidence"`, a heuristic; by
        `"expected-errors 3"`, once the mixed model expects at most 3 wrong calls, which is an expectation and not a guarantee.
    interval : {"fixed", "anytime"}, default "fixed"
        `"anytime"` if verdicts are read repeatedly during the campaign.
    confidence : float, default 0.95
        The probability that an interval holds the mean, and that of proved verdicts.
    guarantee : {"each", "all", "fdr"}, default "each"
        What the confidence is about in proved verdicts: each of them; all of them together; or, with `"fdr"`, the share of right ones among
        the arms proved to be above, and among those proved to be below.

    **The candidates**

    names : iterable, default the column `name`, the index, or row numbers
        The names of the arms. Where they are numbers, `observe` reads an integer as a name.
    features : sequence of str, default all columns but the names
        Which columns of a data frame are features; of an array, the names of its columns.
    id : str, default "name"
        The column of a data frame with the names of the arms.
    categories : sequence of str, default columns of categorical type, and of text in which values repeat
        The columns of a data frame that are categories: one feature per level.
    missing : {"refuse", "mean"}, default "refuse"
        `"mean"` replaces a missing value by the mean of its column and marks it in another feature.

    **Storage**

    storage : str or path, default memory
        The store: a file, `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`, or a server of `cutline serve`, `http://HOST:PORT`.
    name : str, default "campaign"
        The name of the campaign in the store.
    token : str, default the environment variable `CUTLINE_TOKEN`
        The token for a server. It is not pickled.

    Notes
    -----
    Threads may share a campaign, and processes may share one in a store. A campaign in memory is pickled with its history; one in
    a store is pickled as its address and name.
    """

    __slots__ = ()

    def __new__(
        cls,
        X: Any,
        *,
        threshold: float,
        budget: int,
        precision: float = 0.0,
        model: Literal["mixed", "linear", "independent"] | None = None,
        kernel: Literal["rbf", "matern52"] | None = None,
        length: float | None = None,
        graph: Iterable[Sequence[Any]] | None = None,
        algorithm: str | _custom.Rule | _custom.RuleFactory | None = None,
        rewards: Literal["gaussian", "bernoulli", "count"] | None = None,
        min: float | None = None,  # noqa: A002
        max: float | None = None,  # noqa: A002
        noise: float | None = None,
        seed: int | None = 0,
        names: Iterable[object] | None = None,
        storage: str | os.PathLike[str] | None = None,
        name: str | None = None,
        token: str | None = None,
        features: Sequence[str] | None = None,
        id: str | None = None,  # noqa: A002
        categories: Sequence[str] | None = None,
        cost: str | Iterable[float] | None = None,
        missing: Literal["refuse", "mean"] = "refuse",
        parameters: Mapping[str, float] | None = None,
        estimator: str | None = None,
        prepare: Sequence[str] | None = None,
        interval: Literal["fixed", "anytime"] = "fixed",
        confidence: float = 0.95,
        guarantee: Literal["each", "all", "fdr"] | None = None,
        until_sure: str | None = None,
    ) -> Self:
        rule, algorithm = _rule(algorithm)
        settings = {
            "threshold": threshold,
            "budget": budget,
            "precision": precision,
            "model": model,
            "kernel": kernel,
            "length": length,
            "graph": graph,
            "algorithm": algorithm,
            "estimator": estimator,
            "parameters": None if parameters is None else _dict(parameters),
            "rewards": rewards,
            "min": min,
            "max": max,
            "noise": noise,
            "interval": interval,
            "confidence": confidence,
            "guarantee": guarantee,
            "until_sure": until_sure,
            "prepare": prepare,
            "cost": _cost_column(X, cost),
            "seed": drawn(seed),
        }
        arms = _arms.read(X, names, _arms.Reading(features, id, categories, missing, cost))
        address = None if storage is None else _address(storage)
        handle = _native.begin(*arms, name, address, settings, rule, token)
        return cls._from_handle(handle)

    @classmethod
    def _from_handle(cls, handle: _native.CampaignHandle) -> Self:
        return _native.Campaign.__new__(cls, handle, _machine())

    @classmethod
    def _restored(cls, state: dict[str, Any]) -> Self:
        """A campaign in memory, from the state that `__reduce__` returns."""
        return cls._from_handle(_native.restore(**state))

    @classmethod
    def _opened(
        cls,
        storage: str | os.PathLike[str],
        name: str | None,
        algorithm: _custom.Rule | _custom.RuleFactory | None = None,
        token: str | None = None,
        id: int | None = None,
    ) -> Self:
        return cls._from_handle(_native.find(_address(storage), name, _rule(algorithm)[0], token, id))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.storage is not None:
            return type(self)._opened, (self.storage, self.name, self.rule, None, self._id)
        state = {**self._parts(), "rule": _rule(self.rule)[0]}
        return type(self)._restored, (state,)

    def __repr__(self) -> str:
        finding = self.finding
        return f"<Campaign {self.name!r}: {self._summary()}{'' if finding is None else f'; {finding}'}>"

    def _summary(self) -> str:
        progress, threshold = self.progress, self._stored()["threshold"]
        where = "" if self.storage is None else ", stored"
        used = f"{progress.told} of {progress.budget} measured"
        if progress.spent is not None:
            used = f"{progress.spent:g} of {progress.budget} spent on {progress.told} measurements"
        return f"{len(self.names)} arms, threshold {threshold}, {used}{where}"

    def _repr_html_(self) -> str:
        """For notebooks: a summary, and the arms with the highest means."""
        columns, finding = self._columns(), self.finding
        sides = self._sides()
        heading = _html.line(f"<b>{_html.text(self.name)}</b>:", _html.text(self._summary()))
        found = _html.line(_html.text(sides if finding is None else f"{sides}; {finding}", None))
        n_arms = len(columns["name"])
        if not columns["pulls"].any():
            return _html.block(heading)
        highest = sorted(range(n_arms), key=lambda arm: -columns["mean"][arm])[: _html.MAX_ROWS]
        rows = [
            (
                columns["name"][arm],
                columns["side"][arm],
                columns["basis"][arm] or "",
                *(_html.number(columns[key][arm]) for key in NUMBERS),
                columns["pulls"][arm],
            )
            for arm in highest
        ]
        note = _html.line(f"The {len(rows)} highest means of {n_arms} arms.") if len(rows) < n_arms else ""
        return _html.block(heading, found, _html.table(("", "side", "basis", *NUMBERS, "pulls"), rows), note)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, as keywords: `Campaign(X, **campaign.settings)` begins a campaign like this one. What says which arms there are and
        where they are kept is not among them: `X`, `names`, `storage` and `name`. With the campaign itself as `X`, the arms are the same too.

        >>> import cutline
        >>> campaign = cutline.Campaign([[0.1], [0.2]], threshold=0.5, budget=9, seed=None)
        >>> again = cutline.Campaign(campaign, **campaign.settings)
        >>> again.settings == campaign.settings
        True
        """
        costs = self.costs
        return keywords(self._stored(), self.rule, self.names, self.columns, None if costs is None else costs.tolist())

    def _stored(self) -> dict[str, Any]:
        """The settings as they are stored."""
        settings: dict[str, Any] = json.loads(self._settings())
        return settings

    def _own_arms(self) -> _arms.Arms:
        """The arms, as another campaign takes them."""
        costs = self.costs
        return _arms.Arms(self.names, self.columns, self.features, self._encoding(), None if costs is None else costs.tolist())

    def _encoding(self) -> str | None:
        """How the columns of a data frame became features, as JSON."""
        encoding = self._stored().get("encoding")
        return None if encoding is None else json.dumps(encoding)

    def extend(self, budget: int) -> bool:
        """Changes the budget to this number of measurements, or of units of cost, in all: more, or fewer but not below what is used. Returns
        whether it changed.

        >>> import cutline
        >>> campaign = cutline.Campaign(2, threshold=0.5, budget=2)
        >>> campaign.tell(campaign.ask(9), [0.1, 0.9])
        2
        >>> campaign.extend(5), len(campaign.ask(9))
        (True, 3)
        """
        if budget is None:
            raise InputError("`budget` is missing")
        return self._change({"budget": budget})

    def set(
        self,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        noise: float | EllipsisType | None = ...,
        until_sure: str | EllipsisType | None = ...,
        confidence: float | None = None,
        guarantee: Literal["each", "all", "fdr"] | None = None,
        algorithm: str | None = None,
        model: Literal["mixed", "linear", "independent"] | None = None,
        budget: int | None = None,
    ) -> bool:
        """Changes settings from the next `ask` on. Everything measured so far counts as if the campaign had begun with the new settings.
        Returns whether anything changed.

        What is not given stays as it is. `noise=None` means that the noise is estimated, `until_sure=None` that the whole budget is used.
        Another `algorithm` keeps the model; another `model` comes with its own algorithm, unless one is given too.

        >>> import cutline
        >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9, noise=0.1)
        >>> campaign.observe(["a", "b"] * 4, [0.9, 0.6] * 4)
        >>> [verdict.side for verdict in campaign.verdicts]
        ['above', 'above']
        >>> campaign.set(threshold=0.75)
        True
        >>> [verdict.side for verdict in campaign.verdicts]
        ['above', 'below']
        """
        if algorithm is not None and _custom.is_rule(algorithm):
            raise InputError("a campaign can change to a named algorithm only; a custom rule is given when it begins")
        changes = {
            "threshold": threshold,
            "precision": precision,
            "noise": noise,
            "until_sure": until_sure,
            "confidence": confidence,
            "guarantee": guarantee,
            "algorithm": algorithm,
            "model": model,
            "budget": budget,
        }
        unchanged = {"noise": ..., "until_sure": ...}
        return self._change({key: value for key, value in changes.items() if value is not unchanged.get(key)})

    def add(self, X: Any, *, names: Iterable[object] | None = None, cost: str | Iterable[float] | None = None) -> int:
        """Adds arms, which have a verdict from the model at once. Returns how many are new: those that the campaign has already, with the same
        features, are not added again.

        `X` and `names` are as in the constructor. Of a data frame, the columns of the campaign are taken, and become features in the same way.
        Arms without names get the next numbers if those of the campaign are numbers too, and are refused otherwise. If the campaign has costs,
        the new arms need them: `cost` is as in the constructor, and by default the same column of a data frame.

        >>> import cutline
        >>> campaign = cutline.Campaign([[0.1], [0.2]], threshold=0.5, budget=9)
        >>> campaign.add([[0.7], [0.9]])
        2
        >>> campaign.names
        ['0', '1', '2', '3']
        """
        arms, have_names = self._read(X, names, self._stored().get("cost") if cost is None else cost)
        if not have_names and any(name != str(arm) for arm, name in enumerate(self.names)):
            raise InputError("the arms of this campaign have names, so those that are added need them too; pass `names=`")
        return self._add(arms.names, arms.columns, arms.features, arms.costs)

    def predict(self, X: Any, *, names: Iterable[object] | None = None) -> pd.DataFrame | list[dict[str, Any]]:
        """The verdicts that arms would have if they were added to the campaign, which does not change. The result has the form of `report()`,
        and the arguments are those of `add`. Arms without names get the next numbers.

        >>> import cutline
        >>> campaign = cutline.Campaign([[float(i)] for i in range(8)], threshold=3.5, budget=99, noise=0.1, model="linear")
        >>> campaign.observe(list(range(8)) * 4, [i + e for e in (0.1, -0.1, 0.1, -0.1) for i in range(8)])
        >>> campaign.predict([[1.5], [20.0]], names=["low", "high"])[["name", "side", "pulls"]]
           name   side  pulls
        0   low  below      0
        1  high  above      0
        """
        arms, _ = self._read(X, names)
        columns, expected_errors = self._predict(arms.names, arms.columns, arms.features)
        return self._frame(columns, expected_errors)

    def _read(
        self, X: Any, names: Iterable[object] | None, cost: str | Iterable[float] | None = None
    ) -> tuple[_arms.Arms, bool]:
        """Reads arms that have the columns of the campaign, and whether they have names. Those without get the next numbers."""
        arms = _arms.read_later(X, names, self.columns, self._encoding(), cost)
        if arms.names is not None and not (names is None and _arms.is_number(X)):
            return arms, True
        n_arms = len(arms.names or ()) if arms.features is None else len(arms.features)
        first = len(self.names)
        return arms._replace(names=[str(arm) for arm in range(first, first + n_arms)]), False

    def plan(
        self,
        *,
        wrong: float | None = None,
        target: float | None = None,
        budgets: Iterable[int] | None = None,
        runs: int = 100,
        seed: int | None = 0,
        threads: int | None = None,
        progress: bool | Watch = False,
    ) -> Plan:
        """Simulates the rest of the campaign, with true means drawn from what the mixed model knows after the rewards so far: what the
        remaining budget would bring, and how many more measurements meet the goal. The arguments are those of `cutline.plan`.

        >>> import cutline
        >>> campaign = cutline.Campaign([[float(i)] for i in range(20)], threshold=9.5, budget=60)
        >>> campaign.observe(list(range(20)), [i + (-1.0) ** i for i in range(20)], counted=True)
        >>> plan = campaign.plan(runs=20)
        >>> [row["budget"] for row in plan.prospects]
        [10, 20, 40, 80]
        >>> plan.sentences[0].startswith("The rest of the budget: 40 more measurements would leave about ")
        True
        """
        from ._plan import forecast

        return forecast(self._planning(wrong, target, runs, drawn(seed)), budgets, runs, threads, progress)

    def report(self) -> pd.DataFrame | list[dict[str, Any]]:
        """The verdicts as a pandas `DataFrame` with one row per arm, or as a list of dicts if pandas is not installed. The data frame's
        `attrs` have what the model found: `model`, `finding`, `explained` and `expected_errors`.

        >>> import cutline
        >>> campaign = cutline.Campaign(["a", "b"], threshold=0.0, budget=9, noise=1.0)
        >>> campaign.observe(["a", "b"] * 8, [1.0, -1.0] * 8)
        >>> campaign.report()[["name", "side", "mean", "pulls"]]
          name   side  mean  pulls
        0    a  above   1.0      8
        1    b  below  -1.0      8
        """
        return self._frame(self._columns(), self.expected_errors)

    def _frame(self, columns: dict[str, Any], expected_errors: float | None) -> pd.DataFrame | list[dict[str, Any]]:
        table = frame(columns)
        if not isinstance(table, list):
            table.attrs = {
                "model": self.model,
                "finding": self.finding,
                "explained": self.explained,
                "expected_errors": expected_errors,
            }
        return table

    def to_records(self) -> list[dict[str, Any]]:
        """The verdicts as a list of dicts, in the order of the arms."""
        return records(self._columns())

    def to_arrow(self) -> pa.Table:
        """The verdicts as an Arrow table. Needs `pyarrow`."""
        return require("pyarrow").table(self._columns())

    def figure(self) -> Figure:
        """Every arm's mean and interval against the threshold, drawn by Cutline."""
        return Figure(self._svg())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The same figure in matplotlib, with the arms in the order of their means."""
        import numpy as np

        if ax is None:
            ax = require("matplotlib.pyplot").gca()
        columns, settings = self._columns(), self._stored()
        order = np.argsort(columns["mean"], kind="stable")
        mean, lower, upper = (columns[key][order] for key in ("mean", "lower", "upper"))
        known = np.isfinite(lower) & np.isfinite(upper)
        side = np.asarray(columns["side"])[order]
        for label, colour, marker in (("above", "C0", "^"), ("below", "C1", "v"), ("undecided", "0.5", "o")):
            (ranks,) = np.nonzero(side == label)
            if not len(ranks):
                continue
            widths = [np.where(known, width, 0.0)[ranks] for width in (mean - lower, upper - mean)]
            ax.errorbar(mean[ranks], ranks, xerr=widths, fmt=marker, color=colour, label=f"{label}: {len(ranks)}")
        threshold, precision = settings["threshold"], settings["precision"]
        ax.axvline(threshold, color="black", linewidth=1)
        if precision > 0:
            ax.axvspan(threshold - precision, threshold + precision, color="black", alpha=0.1, linewidth=0)
        if len(order) <= 40:
            ax.set_yticks(range(len(order)), [columns["name"][arm] for arm in order])
        else:
            ax.set_ylabel("rank")
        ax.set_xlabel("mean")
        ax.set_title(self.name)
        ax.legend()
        return ax


def _address(storage: Any) -> Any:
    """The address of a store: that of a `Path` is the path itself."""
    return os.fspath(storage) if isinstance(storage, os.PathLike) else storage


def _rule(algorithm: Any) -> tuple[tuple[str, Any] | None, Any]:
    """Splits `algorithm` into a custom rule with its name, and the name of an algorithm; one of them is `None`."""
    if algorithm is not None and _custom.is_rule(algorithm):
        return (_custom.name_of(algorithm), algorithm), None
    return None, algorithm


def _cost_column(X: Any, cost: Any) -> str | None:
    """The column of costs, if they are in one."""
    if isinstance(X, Campaign):
        column: str | None = X._stored().get("cost")
        return column
    return cost if isinstance(cost, str) else None


def _dict(parameters: Mapping[str, float]) -> dict[str, float]:
    try:
        return dict(parameters)
    except (TypeError, ValueError) as error:
        raise InputError("`parameters` must be a dict of numbers") from error


def _machine() -> str:
    """The name of this machine, for the journal."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "python")
