"""Simulations on the threads of this machine, or in shards on any executor or Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._checkpoint import Checkpoint
from ._errors import InputError, integer
from ._experiment import Experiment, read
from ._native import Tally
from ._per_run import Columns, PerRun
from ._progress import Watch, watching
from ._results import Results

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from types import EllipsisType

SHARDS = 64
"""The default number of shards."""

MAX_TRIES = 5
"""How often a shard is sent to a cluster whose workers die while they play it."""

Shard = tuple[int, int]

Played = Union[tuple[Tally], tuple[Tally, Columns]]
"""The counts of a shard, and the results of its runs if they were asked for."""


def simulate(
    experiment: Experiment | Mapping[str, Any] | str | os.PathLike[str],
    *,
    runs: int | None = None,
    seed: int | EllipsisType | None = ...,
    threads: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    shards: int | None = None,
    per_run: bool = False,
    resume: str | os.PathLike[str] | None = None,
    progress: bool | Watch = False,
) -> Results:
    """Plays the runs of an experiment. The results are bit-identical however the runs are distributed.

    >>> import cutline
    >>> results = cutline.simulate(cutline.Experiment.from_paper("wine"), runs=100, threads=2)
    >>> results.tally == cutline.simulate(cutline.Experiment.from_paper("wine"), runs=100, threads=1).tally
    True

    | argument | default | meaning |
    |---|---|---|
    | `experiment` | required | an `Experiment`, or its path or dict |
    | `runs`, `seed` | the experiment's | the number of runs, and the seed of all random numbers; `seed=None` draws one, which `results.experiment.seed` has |
    | `threads` | all cores; 1 on a cluster | the number of threads per process |
    | `client` | none | a Dask client whose workers play shards of the runs |
    | `executor` | none | any `concurrent.futures.Executor` to play them on instead |
    | `shards` | 64 | the number of shards that the runs are divided into |
    | `per_run` | `False` | whether to keep the results of every run, as arrays in `Results.per_run` |
    | `resume` | none | a file for the finished runs; if it is there already, only the others are played, with the same results |
    | `progress` | `False` | `True` shows it on stderr; a function is called with the runs done and the total |

    If a worker dies, its shard is played again; if an executor breaks with its worker, the calling process plays the rest.
    """
    experiment = read(experiment, runs, seed)
    if client is not None and executor is not None:
        raise InputError("give a `client` or an `executor`, not both")
    if resume is not None and per_run:
        raise InputError("give `resume` or `per_run`, not both: the file holds counts, not the results of every run")
    checkpoint = None if resume is None else Checkpoint(experiment, resume)
    tally = experiment.play(0, 0) if checkpoint is None else checkpoint.tally
    columns: list[Columns] = []
    with watching(progress, experiment.runs, "runs") as watch:
        if client is None and executor is None and checkpoint is None:
            (tally, *columns) = _play(experiment, 0, experiment.runs, threads, per_run, watch.add)
        else:
            missing = _missing(_shards(experiment.runs, SHARDS if shards is None else shards), tally.runs)
            if tally.runs:
                watch.add(experiment.runs - sum(stop - start for start, stop in missing))
            for (start, stop), (counts, *arrays) in _played(client, executor, experiment, missing, threads, per_run):
                tally += counts
                columns += arrays
                if checkpoint is not None:
                    checkpoint.update(tally)
                watch.add(stop - start)
    if checkpoint is not None:
        checkpoint.write(tally)
    return Results(experiment, tally, PerRun(experiment, columns) if per_run else None)


def _played(
    client: Any, executor: Executor | None, experiment: Experiment, shards: list[Shard], threads: int | None, per_run: bool
) -> Iterator[tuple[Shard, Played]]:
    """The shards as they are played."""
    if executor is not None:
        return _on_executor(executor, experiment, shards, 1 if threads is None else threads, per_run)
    if client is not None:
        return _on_dask(client, experiment, shards, 1 if threads is None else threads, per_run)
    return ((shard, _play(experiment, *shard, threads, per_run)) for shard in shards)


def _shards(runs: int, shards: int) -> list[Shard]:
    """Divides the runs into shards whose sizes differ by at most one."""
    shards = min(integer("shards", shards, 1), runs)
    bounds = [runs * i // shards for i in range(shards + 1)]
    return list(zip(bounds, bounds[1:]))


def _missing(shards: list[Shard], finished: list[Shard]) -> list[Shard]:
    """The parts of the shards whose runs are not finished."""
    for first, end in finished:
        cut = [part for start, stop in shards for part in ((start, min(stop, first)), (max(start, end), stop))]
        shards = [(start, stop) for start, stop in cut if start < stop]
    return shards


def _play(
    experiment: Experiment, start: int, stop: int, threads: int | None, per_run: bool, watch: Callable[[int], object] | None = None
) -> Played:
    """Plays a range of runs."""
    if per_run:
        return experiment._play_per_run(start, stop, threads=threads, watch=watch)
    return (experiment.play(start, stop, threads=threads, watch=watch),)


def _play_shard(experiment: Experiment, shard: Shard, threads: int, per_run: bool) -> tuple[Shard, Played]:
    """Plays a shard on a worker, and returns it with its counts."""
    return shard, _play(experiment, *shard, threads, per_run)


def _on_executor(
    executor: Executor, experiment: Experiment, shards: list[Shard], threads: int, per_run: bool
) -> Iterator[tuple[Shard, Played]]:
    from concurrent.futures import BrokenExecutor, Future, as_completed

    futures: dict[Future[Played], Shard] = {}
    unplayed: list[Shard] = []
    try:
        for shard in shards:
            try:
                futures[executor.submit(_play, experiment, *shard, threads, per_run)] = shard
            except BrokenExecutor:
                unplayed.append(shard)
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenExecutor:
                unplayed.append(futures[future])
        for shard in unplayed:
            yield shard, _play(experiment, *shard, threads, per_run)
    finally:
        for future in futures:
            future.cancel()


def _on_dask(
    client: Any, experiment: Experiment, shards: list[Shard], threads: int, per_run: bool
) -> Iterator[tuple[Shard, Played]]:
    from distributed import KilledWorker, as_completed

    def submit(shard: Shard) -> Any:
        return client.submit(_play_shard, experiment, shard, threads, per_run, pure=False)

    futures = {submit(shard): (shard, 1) for shard in shards}
    ended = as_completed(list(futures))
    try:
        for batch in ended.batches():
            # One message per batch: with one per shard, messages would take longer than short shards do.
            played = dict(client.gather(batch, errors="skip"))
            yield from played.items()
            for future in batch:
                shard, tries = futures.pop(future)
                if shard in played:
                    continue
                if tries == MAX_TRIES or not isinstance(future.exception(), KilledWorker):
                    future.result()  # raises the error
                again = submit(shard)
                futures[again] = shard, tries + 1
                ended.add(again)
    finally:
        client.cancel(list(futures))
