"""Results as LaTeX tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def escaped(text: str) -> str:
    """Text in which no character has a meaning for LaTeX."""
    return "".join(SPECIAL.get(character, character) for character in text)


def table(rows: Sequence[dict[str, Any]], algorithms: Sequence[str], budgets: Sequence[int], intervals: bool) -> str:
    """The failure rates: one row per algorithm, one column per budget, the lowest of each column in bold."""
    cells = {(row["algorithm"], row["budget"]): row for row in rows}
    least = {budget: min(cells[algorithm, budget]["failure_rate"] for algorithm in algorithms) for budget in budgets}

    def cell(algorithm: str, budget: int) -> str:
        row = cells[algorithm, budget]
        rate = f"{row['failure_rate']:.4f}"
        if row["failure_rate"] == least[budget]:
            rate = rf"\textbf{{{rate}}}"
        return f"{rate} ({row['low']:.4f}--{row['high']:.4f})" if intervals else rate

    lines = [rf"\begin{{tabular}}{{l{'r' * len(budgets)}}}", r"\toprule"]
    lines.append(" & ".join(["algorithm", *(f"$T = {budget}$" for budget in budgets)]) + r" \\")
    lines.append(r"\midrule")
    lines += [" & ".join([escaped(name), *(cell(name, budget) for budget in budgets)]) + r" \\" for name in algorithms]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def floating(tabular: str, caption: str | None, label: str | None) -> str:
    """The table as a float, if it has a caption or a label."""
    if caption is None and label is None:
        return tabular
    lines = [r"\begin{table}", r"\centering", tabular.rstrip("\n")]
    lines += [] if caption is None else [rf"\caption{{{escaped(caption)}}}"]
    lines += [] if label is None else [rf"\label{{{label}}}"]
    return "\n".join([*lines, r"\end{table}", ""])
