"""Simulations: on the threads of this machine, or in shards of runs on any executor or Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ._errors import InputError
from ._experiment import Experiment, Results, read
from ._native import Tally
from ._progress import Progress, Watch, watching

if TYPE_CHECKING:
    from concurrent.futures import Executor

SHARDS = 64
"""Into how many shards the runs go if nobody says."""

TRIES = 5
"""How often a shard is sent to a cluster whose workers die under it."""

Shard = tuple[int, int]


def simulate(
    experiment: Experiment | Mapping[str, Any] | str | os.PathLike[str],
    *,
    runs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    shards: int | None = None,
    progress: bool | Watch = False,
) -> Results:
    """Plays the runs of an experiment. The results are the same to the last bit however the runs are spread.

    >>> import cutline
    >>> results = cutline.simulate(cutline.Experiment.of_paper("wine"), runs=100, threads=2)
    >>> results.tally == cutline.simulate(cutline.Experiment.of_paper("wine"), runs=100, threads=1).tally
    True

    | argument | default | meaning |
    |---|---|---|
    | `experiment` | needed | an `Experiment`, or the path or dict of one |
    | `runs`, `seed` | the experiment's | how many runs, and the seed of everything random |
    | `threads` | all cores; 1 on a cluster | how many threads, in each process |
    | `client` | none | a Dask client, whose workers play shards of the runs |
    | `executor` | none | any `concurrent.futures.Executor` that does the same |
    | `shards` | 64 | into how many shards the runs go |
    | `progress` | `False` | `True` to show it on stderr; a function is called with the runs done and all runs |

    A shard whose worker dies is played again; where an executor breaks with its worker, what is left is played here.
    """
    experiment = read(experiment, runs, seed)
    if client is not None and executor is not None:
        raise InputError("give a `client` or an `executor`, not both")
    with watching(progress, experiment.runs, "runs") as watch:
        if client is None and executor is None:
            return experiment.results(experiment.play(0, experiment.runs, threads=threads, watch=watch.add))
        parts = _shards(experiment.runs, SHARDS if shards is None else shards)
        threads = 1 if threads is None else threads
        tally = experiment.play(0, 0)
        if executor is not None:
            played = _on_executor(executor, experiment, parts, threads)
        else:
            played = _on_dask(client, experiment, parts, threads)
        for part, counts in played:
            tally += counts
            watch.add(part[1] - part[0])
    return experiment.results(tally)


def _shards(runs: int, shards: int) -> list[Shard]:
    """All runs, in shards that differ by at most one."""
    if not isinstance(shards, int) or shards < 1:
        raise InputError(f"`shards` must be a whole number of at least 1, not {shards!r}")
    shards = min(shards, runs)
    bounds = [runs * i // shards for i in range(shards + 1)]
    return list(zip(bounds, bounds[1:]))


def _play(experiment: Experiment, start: int, stop: int, threads: int) -> Tally:
    """What a worker does."""
    return experiment.play(start, stop, threads=threads)


def _play_part(experiment: Experiment, part: Shard, threads: int) -> tuple[Shard, Tally]:
    """The same, with what was played."""
    return part, _play(experiment, *part, threads)


def _on_executor(executor: Executor, experiment: Experiment, parts: list[Shard], threads: int) -> Iterator[tuple[Shard, Tally]]:
    from concurrent.futures import BrokenExecutor, Future, as_completed

    futures: dict[Future[Tally], Shard] = {}
    left: list[Shard] = []
    try:
        for part in parts:
            try:
                futures[executor.submit(_play, experiment, *part, threads)] = part
            except BrokenExecutor:
                left.append(part)
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenExecutor:
                left.append(futures[future])
        for part in left:
            yield part, _play(experiment, *part, threads)
    finally:
        for future in futures:
            future.cancel()


def _on_dask(client: Any, experiment: Experiment, parts: list[Shard], threads: int) -> Iterator[tuple[Shard, Tally]]:
    from distributed import KilledWorker, as_completed

    def submit(part: Shard) -> Any:
        return client.submit(_play_part, experiment, part, threads, pure=False)

    futures = {submit(part): (part, 1) for part in parts}
    ended = as_completed(list(futures))
    try:
        for batch in ended.batches():
            # One message for all that have ended: one each takes longer than short shards.
            played = dict(client.gather(batch, errors="skip"))
            yield from played.items()
            for future in batch:
                part, tries = futures.pop(future)
                if part in played:
                    continue
                if tries == TRIES or not isinstance(future.exception(), KilledWorker):
                    future.result()  # raises what went wrong
                again = submit(part)
                futures[again] = part, tries + 1
                ended.add(again)
    finally:
        client.cancel(list(futures))
