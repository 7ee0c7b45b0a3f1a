"""Campaigns: ask what to measure, tell what came of it, read the verdicts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _arms, _native, _own
from ._errors import CutlineError, InputError
from ._figure import Figure

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from typing_extensions import Self

PREPARED = ("standardise", "intercept", "centre")
MOST_BUDGET = 2**32 - 1


class Campaign(_native.Campaign):
    """Finds which of some arms have a mean above a threshold, measurement by measurement.

    >>> import cutline
    >>> campaign = cutline.Campaign([[0.9], [0.5], [0.1]], threshold=0.4, budget=30, noise=0.1)
    >>> while (ticket := campaign.ask()) is not None:
    ...     campaign.tell(ticket, ticket.features[0])  # a real measurement goes here
    1
    ...
    >>> [verdict.side for verdict in campaign.verdicts]
    ['above', 'above', 'below']

    | argument | default | meaning |
    |---|---|---|
    | `X` | needed | the arms: a row of features each, in an array, a data frame or an Arrow table; names or a number for arms without |
    | `threshold` | needed | τ: the question is which arms have a mean above it |
    | `budget` | needed | how many measurements may be made |
    | `precision` | 0 | ε: arms within ε of τ may be called either way |
    | `algorithm` | `"pivot"`; `"apt"` without features | which measurement is next: a name, or a `Rule` of your own |
    | `noise` | estimated | σ, the standard deviation of a measurement |
    | `seed` | 0 | of everything random |
    | `names` | column `name`, index, or row numbers | what the arms are called |
    | `storage` | memory | where it lasts: a file, `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE` |
    | `name` | `"campaign"` | what it is called there |
    | `features` | all but `name` | which columns of a data frame are features |
    | `parameters` | the algorithm's own | by name, as `{"lambda": 0.1}` |
    | `estimator` | the algorithm's own | `"ridge"` or `"sample-mean"` |
    | `prepare` | `standardise`, `intercept`, `centre` | what is done before features and rewards are learned from; `()` for nothing |
    | `interval` | `"fixed"` | `"anytime"` for verdicts that are looked at as often as one likes |
    | `confidence` | 0.95 | the probability that an interval holds |
    | `until_sure` | never | end before the budget is used: by `"intervals"` or `"evidence"` |

    Threads may share a campaign, and processes one that is in a store. One in memory can be pickled with all that happened; of one
    in a store, its address and its name are.
    """

    __slots__ = ()

    def __new__(
        cls,
        X: Any,
        *,
        threshold: float,
        budget: int,
        precision: float = 0.0,
        algorithm: str | _own.Rule | None = None,
        noise: float | None = None,
        seed: int = 0,
        names: Iterable[object] | None = None,
        storage: str | None = None,
        name: str = "campaign",
        features: Sequence[str] | None = None,
        parameters: Mapping[str, float] | None = None,
        estimator: str | None = None,
        prepare: Sequence[str] = PREPARED,
        interval: Literal["fixed", "anytime"] = "fixed",
        confidence: float = 0.95,
        until_sure: Literal["intervals", "evidence"] | None = None,
    ) -> Self:
        rule, algorithm = _rule(algorithm)
        settings = {
            "threshold": threshold,
            "budget": budget,
            "precision": precision,
            "algorithm": algorithm,
            "estimator": estimator,
            "parameters": None if parameters is None else _dict(parameters),
            "noise": noise,
            "interval": interval,
            "confidence": confidence,
            "until_sure": until_sure,
            "prepare": prepare,
            "seed": seed,
        }
        arms = _arms.read(X, names, features)
        kept = _native.begin(arms.names, arms.columns, arms.features, name, storage, settings, rule)
        return cls._of(kept)

    @classmethod
    def _of(cls, kept: _native.Kept) -> Self:
        return _native.Campaign.__new__(cls, kept, _worker())

    @classmethod
    def _restored(cls, state: dict[str, Any]) -> Self:
        """One in memory, from what `__reduce__` says."""
        return cls._of(_native.restore(**state))

    @classmethod
    def _opened(cls, storage: str, name: str | None, algorithm: _own.Rule | None = None) -> Self:
        return cls._of(_native.find(storage, name, _rule(algorithm)[0]))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.storage is not None:
            return type(self)._opened, (self.storage, self.name, self.rule)
        state = {
            "names": self.names,
            "columns": self.columns,
            "features": self.features,
            "name": self.name,
            "settings": self._settings(),
            "events": self.events(),
            "rule": _rule(self.rule)[0],
        }
        return type(self)._restored, (state,)

    def __repr__(self) -> str:
        progress, settings = self.progress, self.settings
        where = "" if self.storage is None else ", kept"
        return (
            f"<Campaign {self.name!r}: {len(self.names)} arms, threshold {settings['threshold']}, "
            f"{progress.counted} of {progress.budget} measured{where}>"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What it is about, as it is written down."""
        settings: dict[str, Any] = json.loads(self._settings())
        return settings

    def report(self) -> pd.DataFrame | list[dict[str, Any]]:
        """The verdicts as a table: a pandas `DataFrame` with a row an arm, or a list of dicts where pandas is not installed.

        >>> import cutline
        >>> campaign = cutline.Campaign(["a", "b"], threshold=0.0, budget=9, noise=1.0)
        >>> campaign.observe(["a", "b"] * 8, [1.0, -1.0] * 8)
        >>> campaign.report()[["name", "side", "mean", "pulls"]]
          name   side  mean  pulls
        0    a  above   1.0      8
        1    b  below  -1.0      8
        """
        columns = self._columns()
        try:
            import pandas
        except ImportError:
            return self.to_records()
        return pandas.DataFrame(columns)

    def to_records(self) -> list[dict[str, Any]]:
        """The verdicts as a list of dicts, in the order of the arms."""
        columns = {key: getattr(values, "tolist", lambda values=values: values)() for key, values in self._columns().items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def to_arrow(self) -> pa.Table:
        """The verdicts as an Arrow table. Needs `pyarrow`."""
        return _needed("pyarrow").table(self._columns())

    def figure(self) -> Figure:
        """Every arm's mean and interval against the threshold, drawn by Cutline itself."""
        return Figure(self._svg())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The same by matplotlib, arms ordered by their means."""
        import numpy as np

        if ax is None:
            ax = _needed("matplotlib.pyplot").gca()
        columns, settings = self._columns(), self.settings
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


def open(storage: str, name: str | None = None, *, algorithm: _own.Rule | None = None) -> Campaign:  # noqa: A001
    """The campaign in a store; `name` says which if there are several, and `algorithm` is its rule if it is played by one of your own.

    >>> import cutline
    >>> begun = cutline.Campaign(3, threshold=0.0, budget=9, storage=screen, name="first")  # screen = "sqlite:///screen.db"
    >>> begun.tell(begun.ask(), 0.5)
    1
    >>> cutline.open(screen).progress.counted
    1
    """
    return Campaign._opened(storage, name, algorithm)


def diagnose(X: Any, arms: Iterable[int | str], rewards: Iterable[float], **keywords: Any) -> dict[str, Any]:
    """Whether rewards bear out that means are linear in the features as they are: what `Campaign.diagnose` gives, without a campaign.

    `names` and `features` are as in `Campaign`.

    >>> import cutline
    >>> found = cutline.diagnose([[0.0], [1.0], [2.0]], [0, 1, 2] * 9, [0.1, 1.0, 2.1, -0.1, 1.0, 1.9, 0.0, 1.1, 2.0] * 3)
    >>> found["conclusion"], round(found["replicates"]["sigma"], 3)
    ('believable', 0.076)
    """
    campaign = Campaign(X, threshold=0.0, budget=MOST_BUDGET, prepare=(), **keywords)
    campaign.observe(arms, rewards)
    return campaign.diagnose()


def campaigns(storage: str) -> list[str]:
    """The names of the campaigns in a store, in the order they were begun."""
    return _native.campaigns(storage)


def _rule(algorithm: Any) -> tuple[tuple[str, Any] | None, Any]:
    """A rule of one's own with its name, or the name of an algorithm."""
    if algorithm is not None and _own.is_rule(algorithm):
        return (_own.name_of(algorithm), algorithm), None
    return None, algorithm


def _dict(parameters: Mapping[str, float]) -> dict[str, float]:
    try:
        return dict(parameters)
    except (TypeError, ValueError) as error:
        raise InputError("`parameters` must be a dict of numbers") from error


def _worker() -> str:
    """What this process is called in a journal, unless it says."""
    machine = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "python")
    return f"{machine}-{os.getpid()}"


def _needed(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise CutlineError(f"this needs `{package}`; install it with `pip install {package}`") from error
