"""The results of an experiment."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html, _latex, _native
from ._errors import InputError, NotFoundError
from ._figure import ENDINGS as FIGURE_ENDINGS, Figure
from ._frames import frame, require
from ._per_run import PerRun

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from ._experiment import Experiment


class Results:
    """The results of an experiment: one row per algorithm and budget.

    >>> import cutline
    >>> results = cutline.simulate(cutline.Experiment.from_paper("uniform-d5"), runs=200)
    >>> results.to_pandas()[["algorithm", "budget", "failures"]].head(2)
      algorithm  budget  failures
    0    random      40       195
    1    random      80       184
    """

    __slots__ = ("experiment", "per_run", "rows", "tally")

    experiment: Experiment
    tally: _native.Tally
    rows: list[dict[str, Any]]
    per_run: PerRun | None
    """The results of every run, if `simulate` was asked for them."""

    def __init__(self, experiment: Experiment, tally: _native.Tally, per_run: PerRun | None = None) -> None:
        self.experiment = experiment
        self.tally = tally
        self.rows = json.loads(experiment._rows(tally))
        self.per_run = per_run

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.experiment, self.tally, self.per_run)

    def __eq__(self, other: object) -> bool:
        """Whether they have the same experiment and the same results of the same runs, kept per run or not."""
        return self.tally == other.tally if isinstance(other, Results) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.tally.fingerprint)

    def __repr__(self) -> str:
        runs = self.rows[0]["runs"]
        return f"<Results of {self.experiment.name!r}: {runs} runs of {', '.join(self.experiment.algorithms)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the failure rates, one row per algorithm and one column per budget."""
        experiment = self.experiment
        heading = _html.line(f"<b>{_html.text(experiment.name)}</b>:", f"failure rates in {self.rows[0]['runs']} runs, seed {experiment.seed}")
        # Evenly spaced, with the first and the last one, if there are too many.
        budgets, most = experiment.budgets, _html.MAX_ROWS
        shown = budgets if len(budgets) <= most else [budgets[i * (len(budgets) - 1) // (most - 1)] for i in range(most)]
        rates = {(row["algorithm"], row["budget"]): _html.number(row["failure_rate"]) for row in self.rows}
        rows = [(label, *(rates.get((label, budget), "") for budget in shown)) for label in experiment.algorithms]
        return _html.block(heading, _html.table(("budget", *shown), rows))

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return require("pandas").DataFrame(self.rows)

    def compare(self, one: str, other: str) -> pd.DataFrame | list[dict[str, Any]]:
        """The failure rate of `one` minus that of `other` on the same runs, with its 95 % interval: a data frame with one row per budget, or
        a list of dicts if pandas is not installed."""
        differences = self.experiment._compare(self.tally, one, other)
        columns = dict(zip(("difference", "low", "high"), map(list, zip(*differences))))
        return frame({"budget": self.experiment.budgets, **columns})

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return require("pyarrow").Table.from_pylist(self.rows)

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, plain: bool = False) -> str | None:
        """The rows as CSV: written to a file, or returned as a string.

        Text that a spreadsheet would take for a formula has an apostrophe in front, as in what the command line writes; with `plain` it is
        written as it is.
        """
        text = io.StringIO()
        keys = list(dict.fromkeys(key for row in self.rows for key in row))
        writer = csv.DictWriter(text, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows if plain else ({key: _quoted(value) for key, value in row.items()} for row in self.rows))
        return _written(text.getvalue(), path)

    def to_latex(
        self, path: str | os.PathLike[str] | None = None, *, intervals: bool = False, caption: str | None = None, label: str | None = None
    ) -> str | None:
        """The failure rates as a LaTeX table, one row per algorithm and one column per budget: written to a file, or returned as a string.

        It needs the package `booktabs`. The lowest rate of each column is bold. With `intervals`, the 95 % intervals follow the rates.
        """
        table = _latex.table(self.rows, self.experiment.algorithms, self.experiment.budgets, intervals)
        return _written(_latex.floating(table, caption, label), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the results to a file: the rows as `.csv`, `.json`, `.parquet` or `.tex`, or the figure as `.svg`, `.png` or `.pdf`."""
        file = Path(path)
        ending = file.suffix.lower()
        if ending == ".csv":
            self.to_csv(file)
        elif ending == ".tex":
            self.to_latex(file)
        elif ending == ".json":
            file.write_text(json.dumps(self.rows, indent=2) + "\n", encoding="utf-8")
        elif ending == ".parquet":
            require("pyarrow.parquet").write_table(self.to_arrow(), file)
        elif ending in FIGURE_ENDINGS:
            self.figure().save(file)
        else:
            endings = ", ".join(f"`{known}`" for known in (".csv", ".json", ".parquet", ".tex", *FIGURE_ENDINGS))
            raise InputError(f"results can be saved as {endings}, not as `{file.name}`")

    def figure(self, *, title: str | None = None, algorithms: Sequence[str] | None = None) -> Figure:
        """Failure probability against budget, as in the paper, drawn by Cutline. `algorithms` are the labels of those to show."""
        return Figure(self.experiment._svg(self.tally, title, None if algorithms is None else list(algorithms)))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        size: tuple[float, float] | None = None,
        algorithms: Sequence[str] | None = None,
        log: bool | None = None,
    ) -> Axes:
        """The same figure in matplotlib, with 95 % bands.

        | argument | default | meaning |
        |---|---|---|
        | `ax` | the current axes | where to draw |
        | `title` | the experiment's name | |
        | `size` | matplotlib's | width and height of a new figure, in inches |
        | `algorithms` | all | the labels of those to show |
        | `log` | if no rate is 0 | whether the rates have a logarithmic scale |
        """
        if ax is None:
            pyplot = require("matplotlib.pyplot")
            ax = pyplot.gca() if size is None else pyplot.subplots(figsize=size)[1]
        elif size is not None:
            raise InputError("give `ax` or `size`, not both")
        shown = [row for row in self.rows if algorithms is None or row["algorithm"] in self._known(algorithms)]
        for algorithm in self.experiment.algorithms if algorithms is None else algorithms:
            rows = [row for row in shown if row["algorithm"] == algorithm]
            budget, rate, low, high = ([row[key] for row in rows] for key in ("budget", "failure_rate", "low", "high"))
            (line,) = ax.plot(budget, rate, marker="o", label=algorithm)
            ax.fill_between(budget, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        if all(row["failure_rate"] > 0 for row in shown) if log is None else log:
            ax.set_yscale("log")
        ax.set_xlabel("budget")
        ax.set_ylabel("failure probability")
        ax.set_title(self.experiment.name if title is None else title)
        ax.legend()
        return ax

    def _known(self, algorithms: Sequence[str]) -> Sequence[str]:
        for algorithm in algorithms:
            if algorithm not in self.experiment.algorithms:
                known = ", ".join(f"`{label}`" for label in self.experiment.algorithms)
                raise NotFoundError(f"there is no algorithm `{algorithm}` here; there are {known}")
        return algorithms


def _quoted(value: Any) -> Any:
    """Text as a cell that no spreadsheet takes for a formula; numbers are left alone. The command line quotes and reads it in the same way."""
    if not isinstance(value, str) or not re.match(r"'*[=+\-@\t\r\n＝＋－＠]", value):
        return value
    try:
        return value if math.isfinite(float(value)) else "'" + value
    except ValueError:
        return "'" + value


def _written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """Writes text to a file, or returns it if there is none."""
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8")
    return None
