"""The paper's four experiments, beside the published numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native
from ._campaign import _needed
from ._errors import InputError, NotFoundError
from ._experiment import Experiment, Results
from ._figure import Figure
from ._progress import Progress, Watch, watching
from ._simulate import simulate

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

REDRAWN = {"published": (False,), "redrawn": (True,), "both": (False, True)}


class Reproduction:
    """Results of the paper's experiments beside the published numbers.

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
    """The results by the name of their experiment; those of redrawn instances end in `-redrawn`."""
    rows: list[dict[str, Any]]
    """The rows of all of them, with `curve`, `published` and `z` where something was published."""
    within: int
    """How many published cells lie within their 99.9 % band."""
    cells: int
    """How many published cells there are; redrawn instances have none."""

    def __init__(self, results: list[Results]) -> None:
        self.results = {of.experiment.name: of for of in results}
        self.rows, self.within, self.cells = [], 0, 0
        for of in results:
            rows, within, cells = of.experiment._compared(of.tally)
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
        return _needed("pandas").DataFrame(self.rows)

    def figure(self, name: str | None = None) -> Figure:
        """The figure of an experiment, published values and ours; the name may be left out if there is only one."""
        if name is None and len(self.results) == 1:
            (name,) = self.results
        if name not in self.results:
            raise NotFoundError(f"there is no experiment {name!r} here; there are {', '.join(self.results)}")
        return self.results[name].figure()


class Replay:
    """The published numbers, replayed from the authors' own random stream, and whether they come out to all decimals."""

    __slots__ = ("cells", "rows", "within")

    rows: list[dict[str, Any]]
    """A cell each: `successes` of `runs` in the replay, the `published` success rate, and whether it `matches`."""
    within: int
    """How many cells match."""
    cells: int
    """How many cells there are."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.within = sum(row["matches"] for row in rows)
        self.cells = len(rows)

    def __repr__(self) -> str:
        return f"<Replay: {self.within} of {self.cells} cells match exactly>"

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return _needed("pandas").DataFrame(self.rows)


@overload
def reproduce(
    *experiments: str,
    runs: int | None = None,
    seed: int | None = None,
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
    seed: int | None = None,
    instances: Literal["published", "redrawn", "both"] = "published",
    exact: bool = False,
    threads: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: bool | Watch = False,
) -> Reproduction | Replay:
    """Plays the LinearAPT paper's experiments and compares with what was published.

    >>> import cutline
    >>> cutline.reproduce("iris", "wine", runs=200, instances="both").figure("wine").svg[:4]
    '<svg'

    | argument | default | meaning |
    |---|---|---|
    | `experiments` | all four | `"uniform-d5"`, `"uniform-d20"`, `"iris"`, `"wine"` |
    | `runs`, `seed` | 10,000, 0 | how many runs, and the seed of everything random |
    | `instances` | `"published"` | the ones the authors drew; `"redrawn"` for one drawn anew in every run; or `"both"` |
    | `exact` | `False` | replay the authors' own random stream instead: all numbers must come out to all printed decimals |
    | `threads`, `client`, `executor` | as in `simulate` | |
    | `progress` | `False` | `True` to show it on stderr; a function is called with the runs done and all runs, in a replay with pulls |
    """
    names = _wanted(experiments)
    if exact:
        given = {"runs": runs, "seed": seed, "client": client, "executor": executor}
        _refuse(key for key, value in given.items() if value is not None)
        _refuse(["instances"] if instances != "published" else [])
        return _replay([Experiment.of_paper(name) for name in names], threads, progress)
    if not isinstance(instances, str) or instances not in REDRAWN:
        raise InputError(f"`instances` must be `published`, `redrawn` or `both`, not {instances!r}")
    drawn = [(redrawn, name) for redrawn in REDRAWN[instances] for name in names]
    all_of_them = [Experiment.of_paper(name, redrawn=redrawn, runs=runs, seed=seed) for redrawn, name in drawn]
    results: list[Results] = []
    with watching(progress, sum(experiment.runs for experiment in all_of_them), "runs") as watch:
        for experiment in all_of_them:
            watched = partial(_at, watch, watch.done)
            results.append(simulate(experiment, threads=threads, client=client, executor=executor, progress=watched))
    return Reproduction(results)


def _wanted(experiments: tuple[str, ...]) -> list[str]:
    """The experiments that are asked for, in the paper's order."""
    names = [name for name, _ in _native.paper()]
    for name in experiments:
        if not isinstance(name, str) or name not in names:
            raise InputError(f"there is no experiment {name!r} in the paper; there are {', '.join(names)}")
    return [name for name in names if not experiments or name in experiments]


def _refuse(given: Iterable[str]) -> None:
    for key in given:
        raise InputError(f"`{key}` does not go with `exact`: a replay is what the authors ran, on threads of this machine")


def _at(watch: Progress, before: int, done: int, _: int) -> None:
    """One of several experiments has so many runs done, and those before it `before` in all."""
    watch.at(before + done)


def _replay(experiments: list[Experiment], threads: int | None, progress: bool | Watch) -> Replay:
    pulls = sum(experiment._replay_pulls() for experiment in experiments)
    with watching(progress, pulls, "pulls") as watch:
        return Replay(json.loads(_native.replay(experiments, threads, watch.add)))
