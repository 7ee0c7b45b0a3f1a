"""The campaign of the README, 50 times with other noise: wrong calls, and how many intervals hold the true width, by species.

Prints the table of docs/verdicts.md: `target/python/bin/python experiments/real/iris.py`, after `make python`; takes a few minutes.
"""
import csv
from pathlib import Path

import numpy as np

import cutline

DATA = Path(__file__).parents[2] / "crates/cutline-lab/data/iris.csv"
SPECIES = ["setosa", "versicolor", "virginica"]  # 50 rows each, in this order
THRESHOLD, PRECISION, SIGMA = 1.3, 0.1, 0.4
LOWEST, HIGHEST = 1.2, 1.4  # widths in between may be called above or below


def flowers():
    """The features and the true widths."""
    with DATA.open() as file:
        rows = list(csv.DictReader(file))
    features = [[float(row[name]) for name in ("sepal_length", "sepal_width", "petal_length")] for row in rows]
    return np.array(features), np.array([float(row["petal_width"]) for row in rows])


def play(features, widths, budget, seed):
    """Wrong calls, wrong calls expected, whether each interval holds, and the pulls of each flower."""
    campaign = cutline.Campaign(features, threshold=THRESHOLD, precision=PRECISION, budget=budget, seed=seed)
    rng, pulls = np.random.default_rng(10_000 + seed), np.zeros(len(widths))
    while (ticket := campaign.ask()) is not None:
        campaign.tell(ticket, widths[ticket.arm] + SIGMA * rng.standard_normal())
        pulls[ticket.arm] += 1
    means, lower, upper, doubts = np.array([[v.mean, v.lower, v.upper, v.doubt] for v in campaign.verdicts]).T
    is_above = means >= THRESHOLD
    wrong = np.where(is_above, widths < LOWEST, widths >= HIGHEST)
    return wrong.sum(), doubts.sum(), (lower <= widths) & (widths <= upper), pulls


def main(seeds=50):
    features, widths = flowers()
    print("| T | wrong calls (most) | expected | intervals that hold (least) |", " | ".join(SPECIES), "| measurements of each species |")
    print("|---|---|---|---|---|---|---|---|")
    for budget in (150, 300, 600):
        wrong, expected, holds, pulls = zip(*(play(features, widths, budget, seed) for seed in range(seeds)))
        holds, by_species = np.array(holds), lambda values: np.array(values).reshape(seeds, 3, 50)
        shares = " | ".join(f"{share:.2f}" for share in by_species(holds).mean(axis=(0, 2)))
        counts = ", ".join(f"{count:.0f}" for count in by_species(pulls).sum(axis=2).mean(axis=0))
        share, least = holds.mean(), holds.mean(axis=1).min()
        print(f"| {budget} | {np.mean(wrong):.2f} ({max(wrong)}) | {np.mean(expected):.2f} | {share:.2f} ({least:.2f}) | {shares} | {counts} |")


if __name__ == "__main__":
    main()
