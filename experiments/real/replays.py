#!/usr/bin/env python3
"""Plays Cutline's default on tables with real repeated measurements, and prints how far its verdicts can be believed, as CSV.

`make study WHAT=replays` builds the package and calls it; it plays whatever version of Cutline is installed. `told` is `default` for a campaign with
defaults; on tables of passes or counts it is also the kind of rewards that the campaign was told, if the installed version knows that kind.

| column | meaning, summed over the campaigns of a row unless it says otherwise |
|---|---|
| `wrong`, `wrong_error` | wrong calls per campaign and their standard error; the call is the side of the estimate |
| `decided`, `decided_wrong` | verdicts that are not undecided, and those of them that are on the wrong side |
| `decided_wrong_share`, `decided_wrong_error` | their ratio, and its standard error over campaigns |
| `proved`, `proved_wrong` | the same for verdicts whose basis is `proved`, if the installed version has bases |
| `doubts_per_wrong` | the sum of doubts divided by the wrong calls; 1 is right, less is too sure |
| `below_001`, `below_001_wrong` | calls with a doubt below 0.001, and those of them that are wrong; the same below 0.01 |
| `coverage` | the share of the 95 % intervals that hold the true mean |

    replays.py [--seeds N] [--first SEED] [--tables NAME …] [--jobs N]
"""
import argparse
import csv
import os
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # the processes take the cores; must be set before NumPy is loaded

import numpy as np

import cutline
import pools

BUDGETS = {0.5: "K/2", 1: "K", 3: "3K"}
"""T in numbers of arms."""
KINDS = {"pass/fail": "bernoulli", "count": "count"}
"""What a campaign can be told about rewards that are not just numbers."""
COUNTED = ("decided", "decided_wrong", "proved", "proved_wrong", "below_001", "below_001_wrong", "below_01", "below_01_wrong")

load = cache(pools.load)


@cache
def knows(kind):
    """Whether the installed version can be told this kind of rewards."""
    try:
        cutline.Campaign([[0.0], [1.0]], threshold=0.5, budget=1, rewards=kind)
    except ValueError:
        return False
    return True


def entrants(table):
    """The arguments of `cutline.Campaign` besides the problem, by the name in the column `told`."""
    kind = KINDS.get(table.rewards)
    return {"default": {}} | ({kind: {"rewards": kind}} if kind and knows(kind) else {})


def campaign(table, seed, **settings):
    """The verdicts of one campaign at each budget, which are points of one campaign of the largest."""
    budgets = [round(share * table.K) for share in BUDGETS]
    played = cutline.Campaign(table.X, threshold=table.threshold(pools.ABOVE), budget=budgets[-1], seed=seed, **settings)
    draws, done = pools.Draws(table.pools, seed), 0
    for share, budget in zip(BUDGETS, budgets):
        for _ in range(done, budget):
            ticket = played.ask()
            played.tell(ticket, draws.draw(ticket.arm))
        done = budget
        yield share, budget, played.verdicts


def score(table, verdicts):
    """The figures of one campaign. A doubt is the probability that the call is wrong."""
    threshold, truth = table.threshold(pools.ABOVE), table.y
    mean, lower, upper, doubt = np.array([[v.mean, v.lower, v.upper, v.doubt] for v in verdicts]).T
    wrong = (mean >= threshold) != (truth > threshold)
    decided = np.array([v.side != "undecided" for v in verdicts])
    decided_wrong = decided & (np.array([v.side == "above" for v in verdicts]) != (truth > threshold))
    proved = np.array([getattr(v, "basis", None) == "proved" for v in verdicts])
    row = {"wrong": wrong, "decided": decided, "decided_wrong": decided_wrong, "proved": proved, "proved_wrong": proved & decided_wrong}
    for name, limit in (("below_001", 0.001), ("below_01", 0.01)):
        row |= {name: doubt < limit, f"{name}_wrong": (doubt < limit) & wrong}
    row = {name: int(values.sum()) for name, values in row.items()}
    return row | {"doubts": float(doubt.sum()), "coverage": float(((lower <= truth) & (truth <= upper)).mean())}


def play(name, seed):
    """The figures of all campaigns on a table with one seed: one row per entrant and budget."""
    table = load(name)
    rows = []
    for told, settings in entrants(table).items():
        for share, budget, verdicts in campaign(table, seed, **settings):
            cell = {"table": name, "rewards": table.rewards, "told": told, "K": table.K, "share": share, "T": budget}
            rows.append(cell | {"seed": seed, "campaigns": 1} | score(table, verdicts))
    return rows


def ratio_error(runs, part, whole):
    """The standard error over campaigns of a ratio of sums, by the jackknife, for the tables as they are; `None` where too few campaigns tell."""
    part, whole, name = (np.array([row[key] for row in runs]) for key in (part, whole, "table"))
    square = 0.0
    for of_table in (name == one for one in np.unique(name)):
        n = of_table.sum()
        if n < 2:
            return None
        # Without one campaign, the others of its table stand for it.
        parts, wholes = (values.sum() + (values[of_table].sum() - n * values[of_table]) / (n - 1) for values in (part, whole))
        if wholes.min() <= 0:
            return None
        square += (n - 1) * (parts / wholes).var()
    return float(np.sqrt(square))


def figures(rows):
    """One row per table, entrant and budget, from the rows of its campaigns; then one per budget for all tables, told nothing."""
    cells = defaultdict(list)
    for row in rows:
        cells[row["table"], row["rewards"], row["told"], row["K"], row["share"]].append(row)
        if row["told"] == "default":
            cells["all", "", "default", "", row["share"]].append(row)
    for cell in sorted(cells, key=lambda cell: cell[0] == "all"):
        yield summary(cell, cells[cell])


def summary(cell, runs):
    def total(key):
        return sum(row[key] for row in runs)

    def share(part, whole):
        return round(total(part) / total(whole), 4) if total(whole) else None

    def error(part, whole, digits):
        value = ratio_error(runs, part, whole)
        return None if value is None else round(value, digits)

    name, rewards, told, K, budget = cell
    row = {"table": name, "rewards": rewards, "told": told, "K": K, "T": BUDGETS[budget], "campaigns": len(runs)}
    row |= {"wrong": round(total("wrong") / len(runs), 2), "wrong_error": error("wrong", "campaigns", 2)}
    row |= {key: total(key) for key in COUNTED}
    row["decided_wrong_share"] = share("decided_wrong", "decided")
    row["decided_wrong_error"] = error("decided_wrong", "decided", 4)
    row["doubts_per_wrong"] = share("doubts", "wrong")
    row |= {f"{key}_share": share(key, key.removesuffix("_wrong")) for key in ("below_001_wrong", "below_01_wrong")}
    return row | {"coverage": round(float(np.mean([r["coverage"] for r in runs])), 3)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20, help="the number of campaigns per table")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--tables", nargs="+", default=list(pools.LOADERS), choices=list(pools.LOADERS), help="the tables to play")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="the number of processes")
    arguments = parser.parse_args()
    jobs = [(name, seed) for name in arguments.tables for seed in range(arguments.first, arguments.first + arguments.seeds)]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        rows = [row for played in pool.map(play, *zip(*jobs)) for row in played]
    results = list(figures(rows))
    writer = csv.DictWriter(sys.stdout, results[0].keys())
    writer.writeheader()
    writer.writerows(results)


if __name__ == "__main__":
    main()
