#!/usr/bin/env python3
"""Wrong calls of campaigns that are asked in batches, on real tables whose means are hidden, with and without a first batch that fills the space.

`make study WHAT=batches` builds the package and calls it. Cutline has its defaults: the mixed model and Pivot. The rewards of `cancer` are pass or fail, as
a test would give them that is right in nine of ten measurements; those of the other tables have Gaussian noise of half the spread of the means. A first batch is chosen by

- `pivot`: Pivot, as all other batches: Cutline with `explore = 0`;
- `random`: a random sample of the arms, as Cutline does by default;
- `farthest`: a random arm, then always the arm farthest from those chosen, by standardised features (Gonzalez 1985);
- `kmeans++`: a random arm, then an arm with probability proportional to its squared distance to those chosen (Arthur & Vassilvitskii 2007).

Writes target/real/batches.md.

    batches.py [--seeds N] [--tables NAME …] [--target DIR]
"""
import argparse
import os
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # must be set before NumPy is loaded

import numpy as np

import cutline
import runs
import tables
from report import error, markdown

TARGET = Path(__file__).resolve().parents[2] / "target/real"
BUDGETS = {"iris": 96, "wine": 96, "barley": 96, "penguins": 288, "cars": 288, "diabetes": 288, "cancer": 288}
"""The tables and their measurements, multiples of the largest batch."""
BATCHES = (1, 24, 96)
FIRST = ("pivot", "random", "farthest", "kmeans++")
NOISE = 0.5
"""σ in spreads of the means."""
RIGHT = 1.2815515655446004
"""A standard normal number is below this with probability 0.9."""


def first_batch(kind, X, n, rng):
    """The arms of a first batch of n."""
    if kind == "random":
        return rng.permutation(len(X))[:n].tolist()
    scaled = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    chosen = [int(rng.integers(len(X)))]
    distance = ((scaled - scaled[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < n:
        if distance.max() <= 0:
            arm = int(rng.integers(len(X)))
        elif kind == "farthest":
            arm = int(np.argmax(distance))
        else:
            arm = int(rng.choice(len(X), p=distance / distance.sum()))
        chosen.append(arm)
        distance = np.minimum(distance, ((scaled - scaled[arm]) ** 2).sum(axis=1))
    return chosen


def play(name, batch, first, seed):
    """The share of wrong calls of one campaign, in per cent, as the mean over the thresholds."""
    table, shares = tables.load(name), []
    sigma = NOISE * table.spread
    for threshold in table.thresholds().values():
        noise = runs.Noise(seed)
        precision = runs.PRECISION * table.spread
        # One by one there is no first batch, and Cutline has its defaults.
        parameters = {"explore": 0.0} if first == "pivot" and batch > 1 else None
        settings = {"threshold": threshold, "precision": precision, "budget": BUDGETS[name], "seed": seed}
        campaign = cutline.Campaign(table.X, parameters=parameters, **settings)

        def measure(arm):
            if name == "cancer":
                return float(table.y[arm] if noise.draw(arm) < RIGHT else 1 - table.y[arm])
            return float(table.y[arm] + sigma * noise.draw(arm))

        if first != "pivot":
            for arm in first_batch(first, table.X, batch, np.random.default_rng([seed, 3])):
                campaign.observe(arm, measure(arm))
        while tickets := campaign.ask(batch):
            for ticket in tickets:
                campaign.tell(ticket, measure(ticket.arm))
        wrong = runs.score(table, threshold, {"mean": [verdict.mean for verdict in campaign.verdicts]})["wrong"]
        shares.append(100 * wrong / table.K)
    return float(np.mean(shares))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=12, help="the number of campaigns per cell and threshold")
    parser.add_argument("--tables", nargs="+", default=list(BUDGETS), choices=list(BUDGETS), help="the tables to play")
    parser.add_argument("--target", type=Path, default=TARGET, help="the directory for the table")
    arguments = parser.parse_args()
    cells = [(batch, first) for batch in BATCHES for first in FIRST if batch > 1 or first == "pivot"]
    rows, relative = [], {cell: [] for cell in cells}
    for name in arguments.tables:
        budget = BUDGETS[name]
        played = {cell: np.array([play(name, *cell, seed) for seed in range(arguments.seeds)]) for cell in cells}
        # A campaign one by one may have no wrong call, so the sums are divided and not the runs.
        for cell in cells:
            relative[cell].append(played[cell].mean() - played[1, "pivot"].mean())
        text = {cell: f"{shares.mean():.1f} ± {error(shares):.1f}" for cell, shares in played.items()}
        rows.append([name, f"{tables.load(name).K}", f"{budget}", *text.values()])
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    rows.append(["mean difference to one by one", "", "", *(f"{np.mean(relative[cell]):+.2f}" for cell in cells)])
    head = ["wrong calls, % of arms", "K", "T", *(f"{batch}, {first}" if batch > 1 else "one by one" for batch, first in cells)]
    arguments.target.mkdir(parents=True, exist_ok=True)
    table = markdown(head, rows)
    (arguments.target / "batches.md").write_text(table)
    print(table)


if __name__ == "__main__":
    main()
