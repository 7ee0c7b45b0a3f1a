"""Experiments and their results."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _custom, _latex, _native, _toml
from ._errors import InputError, NotFoundError
from ._figure import ENDINGS as FIGURE_ENDINGS, Figure
from ._campaign import _import
from ._per_run import PerRun

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes
    from typing_extensions import Self

Extensions = tuple["dict[str, _custom.Rule | _custom.RuleFactory]", "_custom.Instance | None", "_custom.Noise | None"]
"""The parts of an experiment that TOML cannot hold: custom rules by name, and functions that draw instances and noise."""


class Experiment(_native.Experiment):
    """Instances, noise, budgets and algorithms: a TOML file, or a dict or keywords with the same keys.

    `docs/experiments.md` describes the keys. An algorithm in the list may be a name, a custom `Rule`, or a dict of keys, with
    `{"rule": …}` for a custom rule. `instance` may be a function that draws an instance with a `numpy.random.Generator`: it returns
    `(X, theta)`, or means for arms without features, or a dict of `X` and `means`. `noise` may be a function of a
    `numpy.random.Generator` and the number of pulls of a run: it returns one number per pull, with mean 0 and standard deviation 1. With
    `{"kind": function, "scale": 2.0}` they are multiplied by 2. The results are the same on any number of threads.

    >>> import cutline
    >>> experiment = cutline.Experiment(
    ...     budgets=[50, 100],
    ...     threshold=0.0,
    ...     instance={"kind": "uniform", "n_arms": 20, "dimension": 5},
    ...     algorithm=["linear-apt", {"name": "pivot", "lambda": 0.5}],
    ... )
    >>> experiment.algorithms
    ['linear-apt', 'pivot']

    `runs` and `seed` replace those of a file. An experiment can be pickled; the files that it names are then read again from the
    same paths.
    """

    __slots__ = ("_extensions", "_read", "_variant")

    _read: tuple[str, str, str, str | None, bool]
    _extensions: Extensions
    _variant: str | None

    def __new__(
        cls,
        source: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        /,
        *,
        runs: int | None = None,
        seed: int | None = None,
        **keys: Any,
    ) -> Self:
        if isinstance(source, (str, os.PathLike)):
            if keys:
                raise InputError(f"set `{next(iter(keys))}` in the file; keywords are for experiments without a file")
            return cls._of(*_file(Path(source)), False, runs, seed)
        if source is not None and not isinstance(source, Mapping):
            raise InputError(f"an experiment is a path, a dict or keywords, not {type(source).__name__}")
        merged = {**(source or {}), **keys}
        keys, extensions = _split(merged)
        return cls._of(_toml.dumps(keys), "experiment", str(Path.cwd()), None, False, runs, seed, extensions)

    @classmethod
    def _of(
        cls,
        toml: str,
        name: str,
        directory: str,
        file: str | None,
        redraw: bool,
        runs: int | None,
        seed: int | None,
        extensions: Extensions = ({}, None, None),
        variant: str | None = None,
    ) -> Self:
        self = _native.Experiment.__new__(cls, toml, name, directory, file, redraw, runs, seed, *extensions, variant)
        self._read = (toml, name, directory, file, redraw)
        self._extensions = extensions
        self._variant = variant
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (*self._read, self.runs, self.seed, self._extensions, self._variant)

    def __repr__(self) -> str:
        algorithms = ", ".join(self.algorithms)
        return f"<Experiment {self.name!r}: {algorithms}; budgets {self.budgets}; {self.runs} runs, seed {self.seed}>"

    @classmethod
    def from_paper(
        cls, name: str, *, redrawn: bool = False, runs: int | None = None, seed: int | None = None
    ) -> Self:
        """One of the four experiments of the LinearAPT paper: `uniform-d5`, `uniform-d20`, `iris` or `wine`.

        Its instance is the one that the authors drew; with `redrawn`, every run draws a new one.
        """
        experiments = dict(_native.paper())
        if name not in experiments:
            raise InputError(f"there is no experiment {name!r} in the paper; there are {', '.join(experiments)}")
        return cls._of(experiments[name], name, str(Path.cwd()), None, redrawn, runs, seed)

    @classmethod
    def of_paper(
        cls, name: str, *, redrawn: bool = False, runs: int | None = None, seed: int | None = None
    ) -> Self:
        """The old name of `from_paper`."""
        warnings.warn("`Experiment.of_paper` is now `Experiment.from_paper`", DeprecationWarning, stacklevel=2)
        return cls.from_paper(name, redrawn=redrawn, runs=runs, seed=seed)

    def results(self, tally: _native.Tally) -> Results:
        """The results from the counts of some runs."""
        return Results(self, tally)


def read(source: Experiment | Mapping[str, Any] | str | os.PathLike[str], runs: int | None, seed: int | None) -> Experiment:
    """The experiment that `source` is or describes, with these runs and this seed."""
    if not isinstance(source, Experiment):
        return Experiment(source, runs=runs, seed=seed)
    if runs is None and seed is None:
        return source
    runs, seed = (source.runs if runs is None else runs), (source.seed if seed is None else seed)
    return type(source)._of(*source._read, runs, seed, source._extensions, source._variant)


def _file(path: Path) -> tuple[str, str, str, str]:
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file must be UTF-8") from error
    return text, path.stem, str(path.absolute().parent), str(path)


def _split(keys: Mapping[str, Any]) -> tuple[dict[str, Any], Extensions]:
    """Splits an experiment into keys that TOML can hold and its custom parts."""
    split = dict(keys)
    rules: dict[str, _custom.Rule | _custom.RuleFactory] = {}
    algorithms = split.get("algorithm")
    if isinstance(algorithms, (list, tuple)):
        split["algorithm"] = [_algorithm(entry, rules) for entry in algorithms]
    instances = None
    instance = split.get("instance")
    if callable(instance):
        instance = {"kind": instance}
    if isinstance(instance, Mapping) and callable(instance.get("kind")):
        instances, split["instance"] = instance["kind"], {**instance, "kind": "own"}
    return split, (rules, instances, _noise(split))


def _noise(split: dict[str, Any]) -> _custom.Noise | None:
    """The function that draws noise, if there is one; it leaves `kind = "own"` in its place."""
    noise = split.get("noise")
    if callable(noise):
        noise = {"kind": noise}
    if not isinstance(noise, Mapping) or not callable(noise.get("kind")):
        return None
    split["noise"] = {**noise, "kind": "own"}
    function: _custom.Noise = noise["kind"]
    return function


def _algorithm(entry: Any, rules: dict[str, _custom.Rule | _custom.RuleFactory]) -> Any:
    """An algorithm as TOML can hold it; a custom rule moves into `rules` and leaves its name."""
    if isinstance(entry, Mapping) and "rule" in entry:
        rule: Any = entry["rule"]
        entry = {key: value for key, value in entry.items() if key != "rule"}
        if not _custom.is_rule(rule):
            raise InputError(f"`rule` must be an object with `choose` or make one, not {type(rule).__name__}")
        if "name" in entry:
            raise InputError("an algorithm has a `name` or a `rule`, not both; set its name in results with `label`")
    elif _custom.is_rule(entry):
        rule, entry = entry, {}
    else:
        return {"name": entry} if isinstance(entry, str) else entry
    # Two rules of the same class get different names.
    name, number = _custom.name_of(rule), 1
    while rules.get(name, rule) is not rule:
        number += 1
        name = f"{_custom.name_of(rule)}-{number}"
    rules[name] = rule
    return {"name": name, **entry}


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

    def __repr__(self) -> str:
        runs = self.rows[0]["runs"]
        return f"<Results of {self.experiment.name!r}: {runs} runs of {', '.join(self.experiment.algorithms)}>"

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return _import("pandas").DataFrame(self.rows)

    def compare(self, one: str, other: str) -> list[dict[str, Any]]:
        """The failure rate of `one` minus that of `other` on the same runs, with its 95 % interval, at every budget."""
        differences = self.experiment._compare(self.tally, one, other)
        keys = ("difference", "low", "high")
        return [{"budget": t, **dict(zip(keys, d))} for t, d in zip(self.experiment.budgets, differences)]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return _import("pyarrow").Table.from_pylist(self.rows)

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
            _import("pyarrow.parquet").write_table(self.to_arrow(), file)
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
            pyplot = _import("matplotlib.pyplot")
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
