"""Prints the tables of docs/field.md from the CSV output of `cutline simulate`: one row per algorithm, one column per experiment and budget."""

import csv
import sys


def table(rows):
    columns = list(dict.fromkeys((row["experiment"], row["budget"]) for row in rows))
    best = {column: min(float(row["failure_rate"]) for row in rows if (row["experiment"], row["budget"]) == column) for column in columns}
    print("| algorithm | " + " | ".join(f"{name}, T = {budget}" for name, budget in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
        cells = {(row["experiment"], row["budget"]): row for row in rows if row["algorithm"] == algorithm}
        print(f"| `{algorithm}` | " + " | ".join(cell(cells[column], best[column]) for column in columns) + " |")


def cell(row, best):
    rate, low, high = (float(row[key]) for key in ("failure_rate", "low", "high"))
    text = f"{rate:.3f} ± {(high - low) / 2:.3f}"
    # Bold: the best rate lies within the interval.
    return f"**{text}**" if low <= best else text


for position, path in enumerate(sys.argv[1:]):
    if position:
        print()
    with open(path, newline="") as file:
        table(list(csv.DictReader(file)))
