#!/usr/bin/env python3
"""Compares Cutline's models with each other and with what one would do without Cutline, on real tables whose means are hidden.

`make study WHAT=real` builds the package and calls it; `QUICK=1 make study WHAT=real` takes two seeds on small tables. Every table is played at two noise
levels and up to two thresholds, for several seeds; tables with repeated measurements are replayed with the noise that they have. Each run is saved in
target/real, so a run that was interrupted continues where it stopped, and runs of an unchanged program are not repeated. Writes
target/real/results.csv, results.json, tables.md and wrong-calls.svg; replays.csv, replays.json and replays.md for the replays.

    real.py [--quick | --smoke] [--noise simulated|real] [--seeds N] [--only cutline|outside] [--report] [--jobs N] [--target DIR]
"""
import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # the processes take the cores; must be set before NumPy is loaded

import pools
import real_noise
import runs
import tables

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "target/real"


@dataclass(frozen=True)
class Plan:
    """`gp_seeds` of the `seeds` have a Gaussian process, as it is slow on simulated noise; tables of more than a thousand arms get `large_seeds`."""

    tables: list
    seeds: int
    large_seeds: int
    gp_seeds: int
    replays: list
    replay_seeds: int

    def at_most(self, seeds):
        """The same with at most so many seeds."""
        fields = ("seeds", "large_seeds", "gp_seeds", "replay_seeds")
        return replace(self, **{field: min(seeds, getattr(self, field)) for field in fields})


PLANS = {
    "full": Plan(list(tables.LOADERS), 12, 6, 6, list(pools.LOADERS), 20),
    "quick": Plan(["iris", "barley", "penguins", "diabetes"], 2, 2, 1, ["maths", "vocabulary", "aggression"], 2),
    "smoke": Plan(["iris"], 1, 1, 1, ["maths"], 1),
}


@dataclass(frozen=True)
class Job:
    """`play(*arguments)` gives the rows of a run, each of which gets the `labels`; `kind` is `cutline` or `outside`."""

    file: Path
    kind: str
    play: Callable
    arguments: tuple
    labels: dict


def digests(common, of_cutline, of_outside):
    """A digest per kind of run of all that its results depend on, given the scripts: results of another program are not reused."""
    import cutline._native
    import scipy
    import sklearn

    libraries = f"{scipy.__version__} {sklearn.__version__}".encode()
    scripts = {"cutline": common + of_cutline, "outside": common + of_outside}
    others = {"cutline": Path(cutline._native.__file__).read_bytes(), "outside": libraries}
    return {kind: hashlib.sha256(b"".join((HERE / f).read_bytes() for f in scripts[kind]) + others[kind]).hexdigest()[:12] for kind in scripts}


def simulated_jobs(plan, target):
    """The runs with simulated noise, seed by seed, so that an interrupted run has all tables."""
    sizes = {name: tables.load(name).K for name in plan.tables}
    versions = digests(["tables.py", "runs.py"], ["campaigns.py"], ["outside.py"])
    for seed in range(plan.seeds):
        for name in sorted(plan.tables, key=lambda name: -sizes[name]):
            if seed >= (plan.large_seeds if sizes[name] > 1000 else plan.seeds):
                continue
            for level in runs.NOISES:
                for kind, play in runs.PLAYS.items():
                    with_gp = kind == "outside" and seed < plan.gp_seeds
                    file = target / f"{kind}-{versions[kind]}/{name}-{level}-{seed}{'-gp' if with_gp else ''}.json"
                    yield Job(file, kind, play, (name, level, seed, with_gp), {"table": name, "noise": level, "seed": seed})


def replay_jobs(plan, target):
    """The runs with real noise, seed by seed."""
    versions = digests(["tables.py", "pools.py", "replays.py", "real_noise.py"], [], ["outside.py", "lmm.py", "straddle.py"])
    for seed in range(plan.replay_seeds):
        for name in plan.replays:
            for kind, play in real_noise.PLAYS.items():
                file = target / f"{kind}-replay-{versions[kind]}/{name}-{seed}.json"
                yield Job(file, kind, play, (name, seed), {"table": name, "noise": "real", "seed": seed})


def play(job):
    start = time.perf_counter()
    rows = [job.labels | row for row in job.play(*job.arguments)]
    job.file.parent.mkdir(parents=True, exist_ok=True)
    part = job.file.with_suffix(".part")
    part.write_text(json.dumps({"seconds": time.perf_counter() - start, "rows": rows}))
    part.rename(job.file)


def saved_rows(jobs):
    return [row for job in jobs if job.file.exists() for row in json.loads(job.file.read_text())["rows"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two seeds on small tables")
    parser.add_argument("--smoke", action="store_true", help="one seed on one table")
    parser.add_argument("--noise", choices=["simulated", "real"], help="play only the tables with this noise")
    parser.add_argument("--seeds", type=int, help="play at most so many seeds")
    parser.add_argument("--only", choices=list(runs.PLAYS), help="play only Cutline's entrants or only the others, without a report")
    parser.add_argument("--report", action="store_true", help="play nothing; report the runs that are saved")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="the number of processes")
    parser.add_argument("--target", type=Path, default=TARGET, help="the directory for runs and results")
    arguments = parser.parse_args()
    name = "smoke" if arguments.smoke else "quick" if arguments.quick else "full"
    plan = PLANS[name] if arguments.seeds is None else PLANS[name].at_most(arguments.seeds)
    simulated = [] if arguments.noise == "real" else list(simulated_jobs(plan, arguments.target))
    replayed = [] if arguments.noise == "simulated" else list(replay_jobs(plan, arguments.target))
    wanted = simulated + replayed
    missing = [job for job in wanted if not job.file.exists() and arguments.only in (None, job.kind)]
    if not arguments.report:
        print(f"{len(missing)} of {len(wanted)} runs to play", file=sys.stderr, flush=True)
        with ProcessPoolExecutor(arguments.jobs) as pool:
            futures = [pool.submit(play, job) for job in missing]
            for number, future in enumerate(as_completed(futures), 1):
                future.result()
                if number % 20 == 0 or number == len(futures):
                    print(f"{number} of {len(futures)} played", file=sys.stderr, flush=True)
    if arguments.only and not arguments.report:
        return  # the report compares both
    import replay_report
    import report

    directory = arguments.target if name == "full" else arguments.target / name
    for jobs, module in ((simulated, report), (replayed, replay_report)):
        if jobs:
            module.write(saved_rows(jobs), directory)


if __name__ == "__main__":
    main()
