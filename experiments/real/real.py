#!/usr/bin/env python3
"""Compares Cutline's models with each other and with what one would do without Cutline, on real tables whose means are hidden.

`make study WHAT=real` builds the package and calls it; `QUICK=1 make study WHAT=real` takes two seeds on small tables. Every table is played at two noise
levels and up to two thresholds, for several seeds. Each run is saved in target/real, so a run that was interrupted continues
where it stopped, and runs of an unchanged program are not repeated. Writes target/real/results.csv, results.json, tables.md and
wrong-calls.svg.

    real.py [--quick | --smoke] [--only cutline|outside] [--report] [--jobs N] [--target DIR]
"""
import argparse
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # the processes take the cores; must be set before NumPy is loaded

import runs
import tables

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "target/real"
PLANS = {
    # Tables, seeds, seeds of tables with more than a thousand arms, and seeds with a Gaussian process (fewer as it is slow).
    "full": (list(tables.LOADERS), 12, 6, 6),
    "quick": (["iris", "barley", "penguins", "diabetes"], 2, 2, 1),
    "smoke": (["iris"], 1, 1, 1),
}


def versions():
    """A digest per kind of run of all that its results depend on: results of another program are not reused."""
    import cutline._native
    import sklearn

    common = b"".join((HERE / file).read_bytes() for file in ("tables.py", "runs.py"))
    parts = {
        "cutline": (HERE / "campaigns.py").read_bytes() + Path(cutline._native.__file__).read_bytes(),
        "outside": (HERE / "outside.py").read_bytes() + sklearn.__version__.encode(),
    }
    return {kind: hashlib.sha256(common + part).hexdigest()[:12] for kind, part in parts.items()}


def jobs(plan, target):
    """All runs, seed by seed, so that an interrupted run has all tables."""
    names, seeds, large_seeds, gp_seeds = PLANS[plan]
    sizes = {name: tables.load(name).K for name in names}
    digests = versions()
    for seed in range(seeds):
        for name in sorted(names, key=lambda name: -sizes[name]):
            if seed >= (large_seeds if sizes[name] > 1000 else seeds):
                continue
            for level in runs.NOISES:
                for kind in runs.PLAYS:
                    with_gp = kind == "outside" and seed < gp_seeds
                    file = target / f"{kind}-{digests[kind]}/{name}-{level}-{seed}{'-gp' if with_gp else ''}.json"
                    yield file, kind, name, level, seed, with_gp


def play(file, kind, name, level, seed, with_gp):
    start = time.perf_counter()
    rows = runs.PLAYS[kind](name, level, seed, with_gp)
    rows = [{"table": name, "noise": level, "seed": seed} | row for row in rows]
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"seconds": time.perf_counter() - start, "rows": rows}))
    part.rename(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two seeds on small tables")
    parser.add_argument("--smoke", action="store_true", help="one seed on one table")
    parser.add_argument("--only", choices=list(runs.PLAYS), help="play only Cutline's entrants or only the others, without a report")
    parser.add_argument("--report", action="store_true", help="play nothing; report the runs that are saved")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="the number of processes")
    parser.add_argument("--target", type=Path, default=TARGET, help="the directory for runs and results")
    arguments = parser.parse_args()
    plan = "smoke" if arguments.smoke else "quick" if arguments.quick else "full"
    wanted = list(jobs(plan, arguments.target))
    missing = [job for job in wanted if not job[0].exists() and arguments.only in (None, job[1])]
    if not arguments.report:
        print(f"{len(missing)} of {len(wanted)} runs to play", file=sys.stderr, flush=True)
        with ProcessPoolExecutor(arguments.jobs) as pool:
            futures = [pool.submit(play, *job) for job in missing]
            for number, future in enumerate(as_completed(futures), 1):
                future.result()
                if number % 20 == 0 or number == len(futures):
                    print(f"{number} of {len(futures)} played", file=sys.stderr, flush=True)
    if arguments.only and not arguments.report:
        return  # the report compares both
    import report

    rows = [row for file, *_ in wanted if file.exists() for row in json.loads(file.read_text())["rows"]]
    report.write(rows, arguments.target if plan == "full" else arguments.target / plan)


if __name__ == "__main__":
    main()
