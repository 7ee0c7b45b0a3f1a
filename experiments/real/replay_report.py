"""The results with real noise of `make study WHAT=real`, as CSV, JSON and Markdown tables."""
import pools
import replays
import report
from report import Results, markdown

ENTRANTS = ("mixed", "mixed, bernoulli", "mixed, count", "gp-straddle", "lmm") + report.OUTSIDE + ("none above",)
BUDGETS = replays.BUDGETS


def list_of_replays(results):
    rows = []
    for name, table in results.tables.items():
        sizes = [len(pool) for pool in table.pools]
        noise = f"{table.noise / table.spread:.1f}"
        pool = f"{min(sizes)} to {max(sizes):,}"
        rows.append([name, f"{table.K:,}", str(table.X.shape[1]), pool, noise, table.rewards, table.mean, table.features, table.source, table.licence])
    head = ["table", "K", "columns", "pool", "σ", "rewards", "measurements", "features", "data set", "licence"]
    return markdown(head, rows)


def by_table(results, entrants):
    """Wrong calls in per cent of the arms with their standard errors over campaigns; the best entrants of a row are bold."""
    rows = []
    for cell in sorted(results.cells, key=lambda cell: results.names().index(cell[0])):
        played = {entrant: results.per_cent(cell, entrant) for entrant in entrants if entrant in results.cells[cell]}
        least = min(mean for mean, _ in played.values())
        texts = {entrant: f"{mean:.1f} ± {se:.1f}" for entrant, (mean, se) in played.items()}
        texts |= {entrant: f"**{texts[entrant]}**" for entrant, (mean, _) in played.items() if mean == least}
        rows.append([f"{cell[0]}, {BUDGETS[cell[3]]}", *(texts.get(entrant, "–") for entrant in entrants)])
    return markdown(["table, T", *entrants], rows)


def counts(results):
    """In how many cells an entrant calls the fewest arms wrongly; where entrants are level, the cell counts for each of them."""
    best = []
    for cell, entrants in results.cells.items():
        means = {entrant: results.mean(cell, entrant) for entrant in entrants}
        best += [entrant for entrant, mean in means.items() if mean == min(means.values())]
    rows = [[entrant, str(best.count(entrant))] for entrant in sorted(set(best), key=lambda entrant: (-best.count(entrant), entrant))]
    return markdown(["entrant", f"the best, of {len(results.cells)} cells"], rows)


def honesty(rows):
    """What the verdicts of Cutline's default are worth, as `replays.py` computes it."""

    def of(row, key):
        return "–" if row[key] is None else f"{100 * row[key]:.1f} %"

    def wrong_of(row, key):
        return f"{row[f'{key}_wrong']:,} of {row[key]:,}"

    lines = []
    for row in replays.figures(rows):
        share = of(row, "decided_wrong_share")
        if row["decided_wrong_error"] is not None:
            share += f" ± {100 * row['decided_wrong_error']:.1f}"
        ratio = "–" if row["doubts_per_wrong"] is None else f"{row['doubts_per_wrong']:.2f}"
        name = row["table"] if row["told"] == "default" else f"{row['table']}, {row['told']}"
        small = [wrong_of(row, key) for key in ("below_001", "below_01")]
        lines.append([name, row["T"], wrong_of(row, "decided"), share, ratio, *small, f"{row['coverage']:.3f}"])
    head = ["table", "T", "decided and wrong", "share", "doubts ÷ wrong calls", "doubts below .001, wrong", "below .01, wrong", "coverage"]
    return markdown(head, lines)


def write(rows, target):
    results = Results(rows, pools)
    cells = results.cells.values()
    entrants = [entrant for entrant in ENTRANTS if any(entrant in played for played in cells)]
    everywhere = [entrant for entrant in entrants if all(entrant in played for played in cells)]
    sections = {
        "Real noise: tables": list_of_replays(results),
        "Real noise: summary": report.summary(results, everywhere, BUDGETS),
        "Real noise: the best entrant": counts(results),
        "Real noise: wrong calls by table": by_table(results, entrants),
        "Real noise: where mixed is not the best": report.exceptions(results, BUDGETS),
        "Real noise: decided calls, doubts and intervals of mixed": honesty([row for row in rows if "told" in row]),
    }
    report.write_files(target, "replays", list(report.cell_rows(results, entrants)))
    report.write_sections(target / "replays.md", sections)
