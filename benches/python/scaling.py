#!/usr/bin/env python3
"""Times a simulation alone and on Dask clusters of this machine, and what a shard costs.

`make bench-scaling` builds what it needs and calls it. Everything runs `ROUNDS` times, in turn, and the fastest round counts; all
results must be the same to the last bit. Prints a table and writes target/bench-scaling.json.
"""
import json
import os
import time
from contextlib import contextmanager
from pathlib import Path

import distributed

import cutline

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3
RUNS = int(os.environ.get("RUNS", "20000"))
SHARDS = 64
LARGE = cutline.Experiment.from_paper("uniform-d20", runs=RUNS)
# So small that its shards cost nothing but their way to a worker and back.
SMALL = cutline.Experiment(
    budgets=[2], threshold=0.0, instance={"kind": "uniform", "n_arms": 2, "dimension": 1}, algorithm=["random"], runs=2048
)
FEW, MANY = 64, 1024
CORES, ALL_RUNS = 1_000, 10**9


@contextmanager
def cluster(workers):
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
        ) as local,
        distributed.Client(local) as client,
    ):
        client.run(_ready)
        yield client


def _ready():
    """Workers import the package before they are timed."""
    cutline.simulate(SMALL, runs=1, threads=1)


def timed(experiment, **keywords):
    begun = time.perf_counter()
    results = cutline.simulate(experiment, **keywords)
    return time.perf_counter() - begun, results.tally


def main():
    best, tallies = {}, []

    def note(name, experiment, **keywords):
        seconds, tally = timed(experiment, **keywords)
        best[name] = min(seconds, best.get(name, seconds))
        if experiment is LARGE:
            tallies.append(tally)

    with cluster(1) as one, cluster(2) as two:
        for _ in range(ROUNDS):
            note("alone", LARGE, threads=1)
            note("one", LARGE, client=one, shards=SHARDS)
            note("two", LARGE, client=two, shards=SHARDS)
            note("few", SMALL, client=two, shards=FEW)
            note("many", SMALL, client=two, shards=MANY)
    assert all(tally == tallies[0] for tally in tallies), "the results differ"
    a_shard = (best["many"] - best["few"]) / (MANY - FEW)
    a_second = RUNS / best["alone"]
    result = {
        "runs": RUNS,
        "shards": SHARDS,
        "seconds_alone": best["alone"],
        "seconds_one_worker": best["one"],
        "seconds_two_workers": best["two"],
        "speed_up": best["one"] / best["two"],
        "milliseconds_a_shard": 1e3 * a_shard,
        "shards_a_second": 1 / a_shard,
        "least_seconds_a_shard_for_1000_cores": CORES * a_shard,
        "seconds_for_1e9_runs_on_1000_cores": ALL_RUNS / a_second / CORES,
    }
    print(f"uniform-d20, {RUNS} runs, {SHARDS} shards; all results the same to the last bit")
    print(f"  alone, one thread                      {best['alone']:>8.2f} s")
    print(f"  Dask, one worker process               {best['one']:>8.2f} s  {best['one'] / best['alone'] - 1:+.1%}")
    print(f"  Dask, two worker processes             {best['two']:>8.2f} s  {best['one'] / best['two']:.2f} times as fast as one")
    print(f"shards of nothing, {FEW} and {MANY} of them")
    print(f"  a shard                                {1e3 * a_shard:>8.2f} ms, {1 / a_shard:.0f} a second")
    print(f"{CORES} cores, {ALL_RUNS:.0e} runs of uniform-d20, {a_second:.0f} runs a second on one")
    print(f"  a shard should last at least           {CORES * a_shard:>8.2f} s, {CORES * a_shard * a_second:.0f} runs")
    print(f"  all of it                              {ALL_RUNS / a_second / CORES:>8.0f} s")
    (ROOT / "target").mkdir(exist_ok=True)
    (ROOT / "target/bench-scaling.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
