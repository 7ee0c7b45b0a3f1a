"""The experiments of the LinearAPT paper and of others, compared with the published numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native
from ._errors import InputError, NotFoundError
from ._experiment import Experiment
from ._figure import Figure
from ._frames import require
from ._progress import Progress, Watch, watching
from ._results import Results
from ._seed import drawn
from ._simulate import simulate

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from types import EllipsisType

    import pandas as pd

REDRAWN = {"published": (False,), "redrawn": (True,), "both": (False, True)}


class Reproduction:
    """Results of the paper's experiments, compared with the published numbers.

    >>> import cutline
    >>> reproduction = cutline.reproduce("uniform-d5", runs=1000)
    >>> reproduction
    <Reproduction: 30 of 30 published cells lie within their 99.9 % band>
    >>> reproduction.to_pandas()[["algorithm", "budget", "failure_rate", "curve", "published"]].head(2)
      algorithm  budget  failure_rate   curve  published
    0    random      40         0.959  random     0.9681
    1    random      80         0.923  random     0.9331
    """

    __slots__ = ("cells", "results", "rows", "within")

    results: dict[str, Results]
    """The results by the name of their experiment; the names of those with redrawn instances end in `-redrawn`."""
    rows: list[dict[str, Any]]
    """The rows of all results, with `curve`, `published` and `z` where a number was published."""
    within: int
    """The number of published cells whose 99.9 % band holds our result."""
    cells: int
    """The number of published cells; redrawn instances have none."""

    def __init__(self, results: list[Results]) -> None:
        self.results = {result.experiment.name: result for result in results}
        self.rows, self.within, self.cells = [], 0, 0
        for result in results:
            rows, within, cells = result.experiment._compared(result.tally)
            self.rows += json.loads(rows)
            self.within += within
            self.cells += cells

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self.results.values()),)

    def __repr__(self) -> str:
        if not self.cells:
            return "<Reproduction: redrawn instances have no published numbers to compare with>"
        return f"<Reproduction: {self.within} of {self.cells} published cells lie within their 99.9 % band>"

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return require("pandas").DataFrame(self.rows)

    def figure(self, name: str | None = None) -> Figure:
        """The figure of an experiment, with the published values; the name is optional if there is only one experiment."""
        if name is None and len(self.results) == 1:
            (name,) = self.results
        if name not in self.results:
            raise NotFoundError(f"there is no experiment {name!r} here; there are {', '.join(self.results)}")
        return self.results[name].figure()


class Replay:
    """The published numbers replayed with the authors' random stream, and whether all their decimals match."""

    __slots__ = ("cells", "rows", "within")

    rows: list[dict[str, Any]]
    """One row per cell: `successes` of `runs` in the replay, the `published` success rate, and whether it `matches`."""
    within: int
    """The number of cells that match."""
    cells: int
    """The number of cells."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.within = sum(row["matches"] for row in rows)
        self.cells = len(rows)

    def __repr__(self) -> str:
        return f"<Replay: {self.within} of {self.cells} cells match exactly>"

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return require("pandas").DataFrame(self.rows)


@overload
def reproduce(
    *experiments: str,
    runs: int | None = None,
    seed: int | EllipsisType | None = ...,
    instances: Literal["published", "redrawn", "both"] = "published",
    exact: Literal[False] = False,
    threads: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: bool | Watch = False,
) -> Reproduction: ...
@overload
def reproduce(
    *experiments: str, exact: Literal[True], threads: int | None = None, progress: bool | Watch = False
) -> Replay: ...
def reproduce(
    *experiments: str,
    runs: int | None = None,
    seed: int | EllipsisType | None = ...,
    instances: Literal["published", "redrawn", "both"] = "published",
    exact: bool = False,
    threads: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: bool | Watch = False,
) -> Reproduction | Replay:
    """Plays the experiments of the LinearAPT paper, or of others, and compares the results with the published numbers.

    >>> import cutline
    >>> cutline.reproduce("iris", "wine", runs=200, instances="both").figure("wine").svg[:4]
    '<svg'

    | argument | default | meaning |
    |---|---|---|
    | `experiments` | the paper's four | `"uniform-d5"`, `"uniform-d20"`, `"iris"`, `"wine"`, or one of another paper: `"osi"`, `"index-l1"`, … |
    | `runs`, `seed` | the experiment's, 0 | the number of runs, and the seed of all random numbers; `seed=None` draws one |
    | `instances` | `"published"` | the instances that the authors drew; `"redrawn"`: a new one in every run; or `"both"` |
    | `exact` | `False` | replay the authors' random stream instead: all printed decimals must match |
    | `threads`, `client`, `executor` | as in `simulate` | |
    | `progress` | `False` | `True` shows it on stderr; a function is called with the runs done and the total, in a replay with pulls |
    """
    names, others = _selected(experiments)
    if exact:
        if others:
            raise InputError(f"`exact` is for the experiments of the LinearAPT paper, and {others[0]!r} is not one")
        unsupported = {"runs": runs, "seed": None if seed is ... else seed, "client": client, "executor": executor}
        _refuse(key for key, value in unsupported.items() if value is not None)
        _refuse(["instances"] if instances != "published" else [])
        return _replay([Experiment.from_paper(name) for name in names], threads, progress)
    if not isinstance(instances, str) or instances not in REDRAWN:
        raise InputError(f"`instances` must be `published`, `redrawn` or `both`, not {instances!r}")
    # All experiments have the same seed.
    seed = seed if seed is ... else drawn(seed)
    variants = [(redrawn, name) for redrawn in REDRAWN[instances] for name in names]
    all_experiments = [Experiment.from_paper(name, redrawn=redrawn, runs=runs, seed=seed) for redrawn, name in variants]
    all_experiments += [experiment for name in others for experiment in _of_field(name, runs, seed)]
    results: list[Results] = []
    with watching(progress, sum(experiment.runs for experiment in all_experiments), "runs") as watch:
        for experiment in all_experiments:
            watched = partial(_at, watch, watch.done)
            results.append(simulate(experiment, threads=threads, client=client, executor=executor, progress=watched))
    return Reproduction(results)


def _selected(experiments: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The names of the selected experiments of the LinearAPT paper, in its order, and of other papers."""
    names = [name for name, _ in _native.paper()]
    others = [name for name, _ in _native.field()]
    for name in experiments:
        if not isinstance(name, str) or name not in names + others:
            raise InputError(f"there is no experiment {name!r} with published numbers; there are {', '.join(names + others)}")
    selected = [name for name in names if not experiments or name in experiments]
    return selected, [name for name in others if name in experiments]


def _of_field(name: str, runs: int | None, seed: int | EllipsisType) -> list[Experiment]:
    """The experiments of that name: one, or one per variant of its file."""
    toml, variants = dict(_native.field())[name], _native.variants(name)
    return [Experiment._of(toml, name, "", None, False, runs, None if seed is ... else seed, variant=variant) for variant in variants]


def _refuse(keys: Iterable[str]) -> None:
    for key in keys:
        raise InputError(f"`{key}` cannot be combined with `exact`: a replay repeats what the authors ran, on threads of this machine")


def _at(watch: Progress, before: int, done: int, _: int) -> None:
    """Reports progress over several experiments: the earlier ones had `before` runs, the current one has `done`."""
    watch.at(before + done)


def _replay(experiments: list[Experiment], threads: int | None, progress: bool | Watch) -> Replay:
    pulls = sum(experiment._replay_pulls() for experiment in experiments)
    with watching(progress, pulls, "pulls") as watch:
        return Replay(json.loads(_native.replay(experiments, threads, watch.add)))
