"""The results of every run, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any


from ._frames import require

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from ._experiment import Experiment

Columns = dict[str, Any]
"""Flat arrays as the native module returns them."""


class PerRun:
    """The results of every run of a simulation. The first axes of its arrays are the runs, the algorithms and the budgets.

    >>> import numpy as np
    >>> import cutline
    >>> wine = cutline.Experiment.from_paper("wine")
    >>> per_run = cutline.simulate(wine, runs=100, per_run=True).per_run
    >>> per_run.errors.shape == (100, len(per_run.algorithms), len(per_run.budgets))
    True

    A metric is a function of these arrays, for instance how far the wrong arms are from the threshold:

    >>> wrong = per_run.above != (per_run.true_means >= per_run.threshold[:, None])[:, None, None, :]
    >>> gaps = np.abs(per_run.true_means - per_run.threshold[:, None])[:, None, None, :]
    >>> regret = np.where(wrong, gaps, 0.0).sum(axis=-1).mean(axis=0)
    >>> regret.shape == (len(per_run.algorithms), len(per_run.budgets))
    True
    """

    __slots__ = (
        "_settled",
        "above",
        "algorithms",
        "arm_pulls",
        "budgets",
        "errors",
        "experiment",
        "means",
        "n_arms",
        "pulls",
        "runs",
        "settled_after",
        "stop",
        "threshold",
        "true_means",
    )

    experiment: str
    """The name of the experiment."""
    algorithms: list[str]
    """The labels of the algorithms."""
    budgets: list[int]
    """The budgets."""
    runs: NDArray[np.uint64]
    """The numbers of the runs."""
    n_arms: NDArray[np.uint64]
    """The number of arms K of each run. Where it differs, arrays of arms have the largest K, and the values beyond a run's own arms are
    0, `False` or NaN."""
    threshold: NDArray[np.float64]
    """The threshold of each run."""
    true_means: NDArray[np.float64]
    """The true means: runs × K."""
    errors: NDArray[np.uint32]
    """The number of arms on the wrong side: runs × algorithms × budgets."""
    pulls: NDArray[np.uint64]
    """The number of pulls after which a run ended or reached the budget: runs × algorithms × budgets."""
    stop: NDArray[np.str_]
    """Why it ended, `budget`, `confidence`, `settled` or `done`: runs × algorithms × budgets."""
    arm_pulls: NDArray[np.uint32]
    """The pulls of every arm: runs × algorithms × budgets × K."""
    means: NDArray[np.float64]
    """The estimated means at the end: runs × algorithms × budgets × K."""
    above: NDArray[np.bool_]
    """Whether an arm is classified as above the threshold: runs × algorithms × budgets × K."""

    settled_after: NDArray[np.uint64]
    """The number of rewards after which the side of an arm was settled for good, 0 if it was not: runs × algorithms × budgets × K."""
    _settled: tuple[list[NDArray[Any]], list[NDArray[Any]]]
    """For each row the arms that were settled, in this order, and the number of rewards after which each of them was."""

    def __init__(self, experiment: Experiment, parts: Sequence[Columns]) -> None:
        import numpy as np

        parts = sorted(parts, key=lambda part: int(part["runs"][0]) if len(part["runs"]) else -1)
        joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0] if key not in ("stops", "stop_names")}
        self.experiment = experiment.name
        self.algorithms = experiment.algorithms
        self.budgets = experiment.budgets
        self.runs, self.n_arms, self.threshold = joined["runs"], joined["n_arms"], joined["thresholds"]
        shape = (len(self.runs), len(self.algorithms), len(self.budgets))
        self.errors, self.pulls = joined["errors"].reshape(shape), joined["pulls"].reshape(shape)
        stops = [np.array(part["stop_names"], dtype=np.str_)[part["stops"]] for part in parts if len(part["stops"])]
        self.stop = np.concatenate(stops or [np.array([], dtype=np.str_)]).reshape(shape)
        self.true_means = self._of_arms(joined["true_means"], ())
        self.arm_pulls = self._of_arms(joined["arm_pulls"], shape[1:])
        self.means = self._of_arms(joined["means"], shape[1:])
        self.above = self._of_arms(joined["above"], shape[1:])
        ends = np.cumsum(joined["n_settled"])[:-1]
        self._settled = np.split(joined["settled_arms"], ends), np.split(joined["settled_after"], ends)
        rows = np.zeros((self.errors.size, int(self.n_arms.max(initial=0))), dtype=np.uint64)
        for row, arms, after in zip(rows, *self._settled):
            row[arms] = after
        self.settled_after = rows.reshape(self.means.shape)

    def _of_arms(self, flat: NDArray[Any], inner: tuple[int, ...]) -> NDArray[Any]:
        """Values of arms in their shape: runs × `inner` × K."""
        import numpy as np

        most = int(self.n_arms.max(initial=0))
        shape = (len(self.runs), *inner, most)
        if np.all(self.n_arms == most):
            return flat.reshape(shape)
        padded = np.full(shape, np.nan if flat.dtype == np.float64 else 0, dtype=flat.dtype)
        start = 0
        for run, n_arms in enumerate(self.n_arms.tolist()):
            end = start + int(np.prod(inner, dtype=int)) * n_arms
            padded[run, ..., :n_arms] = flat[start:end].reshape((*inner, n_arms))
            start = end
        return padded

    @property
    def is_failure(self) -> NDArray[np.bool_]:
        """Whether at least one arm is on the wrong side: runs × algorithms × budgets."""
        return self.errors > 0

    def __repr__(self) -> str:
        return f"<PerRun of {self.experiment!r}: {len(self.runs)} runs of {', '.join(self.algorithms)}>"

    def _columns(self) -> dict[str, Any]:
        """The columns of `cutline simulate --per-run`."""
        import numpy as np

        n_runs, n_algorithms, n_budgets = self.errors.shape
        per_run = n_algorithms * n_budgets
        arms = np.repeat(self.n_arms, per_run).tolist()

        def lists(values: NDArray[Any]) -> list[Any]:
            return [row[:n] for row, n in zip(values.reshape(n_runs * per_run, -1), arms)]

        return {
            "experiment": [self.experiment] * (n_runs * per_run),
            "run": np.repeat(self.runs, per_run).astype(np.int64),
            "algorithm": np.tile(np.repeat(self.algorithms, n_budgets), n_runs).tolist(),
            "budget": np.tile(np.array(self.budgets, dtype=np.int64), n_runs * n_algorithms),
            "errors": self.errors.ravel().astype(np.int64),
            "is_failure": self.is_failure.ravel(),
            "pulls": self.pulls.ravel().astype(np.int64),
            "stop": self.stop.ravel().tolist(),
            "threshold": np.repeat(self.threshold, per_run),
            "true_means": lists(np.repeat(self.true_means, per_run, axis=0)),
            "arm_pulls": lists(self.arm_pulls.astype(np.int32)),
            "means": lists(self.means),
            "above": lists(self.above),
            "settled_arms": [arms.astype(np.int32) for arms in self._settled[0]],
            "settled_after": [after.astype(np.int64) for after in self._settled[1]],
        }

    def to_pandas(self) -> pd.DataFrame:
        """One row per run, algorithm and budget; the columns of arms hold arrays."""
        return require("pandas").DataFrame(self._columns())

    def to_arrow(self) -> pa.Table:
        """One row per run, algorithm and budget, as in the file of `cutline simulate --per-run`; the columns of arms hold lists."""
        return require("pyarrow").table(self._columns())
