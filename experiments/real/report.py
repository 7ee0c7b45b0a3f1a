"""The results of `make study WHAT=real` as CSV, JSON, Markdown tables and a picture."""
import csv
import json
from collections import defaultdict

import numpy as np

import picture
import runs
import tables

OURS = ("mixed", "linear", "independent", "linear-apt")
OUTSIDE = ("means", "ridge", "ridge+own", "forest", "forest+own", "gp", "gp+own")
ENTRANTS = OURS + OUTSIDE
SHARES = {0.25: "K/4", 0.5: "K/2", 1: "K", 2: "2K", 4: "4K"}
SHOWN = OURS + ("means", "ridge+own", "forest+own", "gp+own")
"""The entrants in the table of wrong calls by table; the others are in the summary and in results.csv."""
SIGNIFICANT = 2.0
"""The z above which a cell is listed as one where the mixed model is not the best."""


def error(values):
    """The standard error of a mean; not known from one value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


class Results:
    """The rows of all runs by cell, which is (table, noise, threshold, share of K), then by entrant and seed; `module` loads the tables."""

    def __init__(self, rows, module=tables):
        self.cells = defaultdict(lambda: defaultdict(dict))
        for row in rows:
            cell = row["table"], row["noise"], row["threshold"], row["share"]
            self.cells[cell][row["entrant"]][row["seed"]] = row
        self.cells = {cell: dict(entrants) for cell, entrants in self.cells.items()}
        played = {cell[0] for cell in self.cells}
        self.tables = {name: module.load(name) for name in module.LOADERS if name in played}
        self.sizes = {name: table.K for name, table in self.tables.items()}

    def names(self):
        return list(self.tables)

    def mean(self, cell, entrant, key="wrong"):
        return float(np.mean([row[key] for row in self.cells[cell][entrant].values()]))

    def per_cent(self, cell, entrant):
        """The mean of wrong calls and its standard error, in per cent of the arms."""
        wrong = [100 * row["wrong"] / self.sizes[cell[0]] for row in self.cells[cell][entrant].values()]
        return float(np.mean(wrong)), error(wrong)

    def thresholds(self, name):
        return list(dict.fromkeys(cell[2] for cell in self.cells if cell[0] == name))

    def over_thresholds(self, name, noise, share, entrant):
        """The mean number of wrong calls over the thresholds and its standard error; both `None` if there is none."""
        seeds = defaultdict(list)
        for threshold in self.thresholds(name):
            for seed, row in self.cells[name, noise, threshold, share].get(entrant, {}).items():
                seeds[seed].append(row["wrong"])
        values = [np.mean(wrong) for wrong in seeds.values()]
        return (float(np.mean(values)), error(values)) if values else (None, None)

    def versus_best(self, cell):
        """The other entrant with the fewest wrong calls, and the paired difference of `mixed` to it: mean, error and z."""
        runs_of = self.cells[cell]
        best = min((entrant for entrant in runs_of if entrant != "mixed"), key=lambda entrant: self.mean(cell, entrant))
        seeds = runs_of["mixed"].keys() & runs_of[best].keys()
        differences = [runs_of["mixed"][seed]["wrong"] - runs_of[best][seed]["wrong"] for seed in sorted(seeds)]
        mean, se = float(np.mean(differences)), error(differences)
        return best, mean, se, mean / se if se > 0 else float("inf") if mean > 0 else 0.0


def cell_rows(results, order=ENTRANTS):
    """One row per cell and entrant, for CSV and JSON."""
    for cell, entrants in results.cells.items():
        for entrant in (entrant for entrant in order if entrant in entrants):
            of_seed = entrants[entrant]
            wrong = [row["wrong"] for row in of_seed.values()]
            row = dict(zip(("table", "noise", "threshold", "share"), cell)) | {"arms": results.sizes[cell[0]]}
            first = next(iter(of_seed.values()))
            row |= {"budget": first["budget"], "entrant": entrant, "runs": len(wrong)}
            row |= {"wrong": round(float(np.mean(wrong)), 4), "wrong_error": round(error(wrong), 4)}
            for key in ("doubts", "coverage"):
                row[key] = round(results.mean(cell, entrant, key), 4) if key in first else None
            yield row


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def list_of_tables(results):
    rows = []
    for name in results.names():
        table = results.tables[name]
        rows.append([name, f"{table.K:,}", str(table.X.shape[1]), table.mean, table.features, table.source])
    return markdown(["table", "K", "columns", "hidden mean", "features", "contained in"], rows)


def summary(results, entrants=ENTRANTS, budgets=SHARES):
    """Wrong calls in per cent of the arms, as the mean over all cells of a budget: tables, noise levels and thresholds."""
    rows = []
    for entrant in entrants:
        row = [f"**{entrant}**" if entrant == "mixed" else entrant]
        for share in budgets:
            cells = [cell for cell in results.cells if cell[3] == share]
            known = [results.per_cent(cell, entrant) for cell in cells if entrant in results.cells[cell]]
            if len(known) == len(cells):
                mean, se = np.mean([mean for mean, _ in known]), np.sqrt(sum(se**2 for _, se in known)) / len(cells)
                row.append(f"{mean:.1f} ± {se:.1f}")
            else:
                row.append("–")
        rows.append(row)
    return markdown(["wrong calls, % of arms", *budgets.values()], rows)


def number(value):
    return "–" if value is None else f"{value:.0f}" if value >= 99.95 else f"{value:.1f}"


def by_table(results):
    """Wrong calls per table and noise level, mean over the thresholds, at all budgets."""
    rows = []
    for name in results.names():
        for noise in runs.NOISES:
            row = [f"{name}, {noise}"]
            for entrant in SHOWN:
                values = [results.over_thresholds(name, noise, share, entrant)[0] for share in SHARES]
                row.append(" / ".join(number(value) for value in values))
            rows.append(row)
    return markdown(["table, σ", *SHOWN], rows)


def exceptions(results, budgets=SHARES):
    """The cells where another entrant calls fewer arms wrongly than `mixed` by more than `SIGNIFICANT` standard errors."""
    better, level, rows = 0, 0, []
    for cell in results.cells:
        best, mean, se, z = results.versus_best(cell)
        better, level = better + (mean <= 0), level + (mean > 0 and not z > SIGNIFICANT)
        if z > SIGNIFICANT:
            name, noise, threshold, share = cell
            ours, theirs = results.mean(cell, "mixed"), results.mean(cell, best)
            row = [name, str(noise), threshold, budgets[share], f"{ours:.1f}", best, f"{theirs:.1f}", f"{mean:+.1f} ± {se:.1f}", f"{z:.1f}"]
            rows.append((z, row))
    rows.sort(key=lambda pair: -pair[0])
    text = (
        f"Of {len(results.cells)} cells, `mixed` has at most as many wrong calls as the best of the others in {better}; in {level} it has "
        f"more, by at most {SIGNIFICANT:g} standard errors; in {len(rows)} by more than that:\n\n"
    )
    head = ["table", "σ", "above", "T", "mixed", "best other", "its wrong calls", "paired difference", "z"]
    return text + markdown(head, [row for _, row in rows])


def calibration(results):
    """Coverage of 95 % intervals, and the sum of doubts against wrong calls, per budget."""
    rows = []
    for entrant in OURS:
        for share, text in SHARES.items():
            cells = [cell for cell in results.cells if cell[3] == share and entrant in results.cells[cell]]
            if not cells:
                continue
            coverage = [results.mean(cell, entrant, "coverage") for cell in cells]
            arms = sum(results.sizes[cell[0]] for cell in cells)
            doubts, wrong = (sum(results.mean(cell, entrant, key) for cell in cells) for key in ("doubts", "wrong"))
            held = f"{np.mean(coverage):.3f} ({min(coverage):.2f} to {max(coverage):.2f})"
            rows.append([entrant, text, held, f"{100 * doubts / arms:.1f}", f"{100 * wrong / arms:.1f}"])
    head = ["entrant", "T", "share of means in 95 % intervals (range over cells)", "sum of doubts, % of arms", "wrong calls, % of arms"]
    return markdown(head, rows)


def reliability(results):
    """The doubts of `mixed` in bins against the share of wrong calls."""
    rows = []
    for low, high, number in zip(runs.BINS, runs.BINS[1:], range(len(runs.BINS))):
        row = [f"{low:g} to {min(high, 0.5):g}"]
        for shares in ((0.25, 0.5), (1, 2, 4)):
            bins = [run["bins"][number] for cell in results.cells if cell[3] in shares for run in results.cells[cell]["mixed"].values()]
            arms, doubts, wrong = (sum(column) for column in zip(*bins))
            row += [f"{arms:,}", *(f"{100 * value / arms:.2f} %" if arms else "–" for value in (doubts, wrong))]
        rows.append(row)
    head = ["doubt", "T < K: arms", "mean doubt", "wrong", "T ≥ K: arms", "mean doubt", "wrong"]
    return markdown(head, rows)


def write(rows, target):
    results = Results(rows)
    sections = {
        "Tables": list_of_tables,
        "Summary": summary,
        "Wrong calls by table": by_table,
        "Where mixed is not the best": exceptions,
        "Intervals and doubts": calibration,
        "Doubts of mixed in bins": reliability,
    }
    write_files(target, "results", list(cell_rows(results)))
    write_sections(target / "tables.md", {title: section(results) for title, section in sections.items()})
    picture.draw(results, SHARES, target / "wrong-calls.svg")


def write_files(target, name, cells):
    """The cells as CSV and JSON."""
    target.mkdir(parents=True, exist_ok=True)
    with (target / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, cells[0].keys())
        writer.writeheader()
        writer.writerows(cells)
    (target / f"{name}.json").write_text(json.dumps(cells, indent=1) + "\n")


def write_sections(file, sections):
    """Sections by title, into a file and on the standard output."""
    text = "\n".join(f"## {title}\n\n{section}" for title, section in sections.items())
    file.write_text(text, encoding="utf-8")
    print(text)
