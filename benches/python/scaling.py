#!/usr/bin/env python3
"""Times a simulation without Dask and on Dask clusters of this machine, and the cost per shard.

`make bench WHAT=scaling` builds what is needed and calls it. Everything runs `ROUNDS` times, in turn, and the fastest round counts; all
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
# So small that a shard costs only its transfer to a worker and back.
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
    """Makes the workers import the package before the timing starts."""
    cutline.simulate(SMALL, runs=1, threads=1)


def timed(experiment, **keywords):
    started = time.perf_counter()
    results = cutline.simulate(experiment, **keywords)
    return time.perf_counter() - started, results.tally


def main():
    best, tallies = {}, []

    def record(name, experiment, **keywords):
        seconds, tally = timed(experiment, **keywords)
        best[name] = min(seconds, best.get(name, seconds))
        if experiment is LARGE:
            tallies.append(tally)

    with cluster(1) as one, cluster(2) as two:
        for _ in range(ROUNDS):
            record("alone", LARGE, threads=1)
            record("one", LARGE, client=one, shards=SHARDS)
            record("two", LARGE, client=two, shards=SHARDS)
            record("few", SMALL, client=two, shards=FEW)
            record("many", SMALL, client=two, shards=MANY)
    assert all(tally == tallies[0] for tally in tallies), "the results differ"
    per_shard = (best["many"] - best["few"]) / (MANY - FEW)
    per_second = RUNS / best["alone"]
    result = {
        "runs": RUNS,
        "shards": SHARDS,
        "seconds_alone": best["alone"],
        "seconds_one_worker": best["one"],
        "seconds_two_workers": best["two"],
        "speed_up": best["one"] / best["two"],
        "milliseconds_a_shard": 1e3 * per_shard,
        "shards_a_second": 1 / per_shard,
        "least_seconds_a_shard_for_1000_cores": CORES * per_shard,
        "seconds_for_1e9_runs_on_1000_cores": ALL_RUNS / per_second / CORES,
    }
    print(f"uniform-d20, {RUNS} runs, {SHARDS} shards; all results the same to the last bit")
    print(f"  without Dask, one thread               {best['alone']:>8.2f} s")
    print(f"  Dask, one worker process               {best['one']:>8.2f} s  {best['one'] / best['alone'] - 1:+.1%}")
    print(f"  Dask, two worker processes             {best['two']:>8.2f} s  {best['one'] / best['two']:.2f} times as fast as one")
    print(f"nearly empty shards, {FEW} and {MANY} of them")
    print(f"  one shard                              {1e3 * per_shard:>8.2f} ms, {1 / per_shard:.0f} per second")
    print(f"{CORES} cores, {ALL_RUNS:.0e} runs of uniform-d20, {per_second:.0f} runs per second on one core")
    print(f"  a shard should take at least           {CORES * per_shard:>8.2f} s, {CORES * per_shard * per_second:.0f} runs")
    print(f"  total                                  {ALL_RUNS / per_second / CORES:>8.0f} s")
    (ROOT / "target").mkdir(exist_ok=True)
    (ROOT / "target/bench-scaling.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
