"""What notebooks show."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import cutline
from cutline import _html

HOSTILE = "<script>alert('1')</script> & \"x\" $\\alpha$ \u202egpj\u200b"
SHOWN = "<script>alert('1')</script> & \"x\" $\\alpha$ \\u202egpj\\u200b"


class Read(HTMLParser):
    """The tags and the cells of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def read(value: Any) -> Read:
    page = value._repr_html_()
    assert len(page) < 10_000
    found = Read(page)
    assert found.tags <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    return found


def test_campaigns() -> None:
    campaign = cutline.Campaign([HOSTILE, "b", "c"], threshold=0.5, budget=40, noise=0.2, name=HOSTILE)
    assert "table" not in read(campaign).tags, "nothing is measured yet"
    campaign.observe([HOSTILE, "b"] * 9, [1.0, 0.0] * 9, counted=True)
    found = read(campaign)
    assert found.cells.count(SHOWN) == 2, "the campaign and the arm"
    assert " 3 arms, threshold 0.5, 18 of 40 measured" in "".join(found.cells)
    assert "1 above (1 proved), 1 below (1 proved), 1 undecided" in found.cells
    assert found.cells.count("proved") == 2
    assert "−∞" in found.cells and "∞" in found.cells, "an arm without rewards"


def test_large_campaigns_are_cut() -> None:
    campaign = cutline.Campaign(np.arange(500.0)[:, None], threshold=250.0, budget=99, model="linear", name="n" * 150)
    campaign.observe(range(500), range(500))
    found = read(campaign)
    assert "The 10 highest means of 500 arms." in found.cells and "499" in found.cells and "3" not in found.cells
    assert "n" * 79 + "…" in found.cells
    mixed = cutline.Campaign(np.arange(20.0)[:, None], threshold=9.5, budget=99)
    mixed.observe(range(20), range(20))
    assert f"{mixed._sides()}; {mixed.finding}" in read(mixed).cells, "sentences are not cut"


@pytest.mark.parametrize("n_budgets", [2, 40])
def test_results(n_budgets: int) -> None:
    budgets = list(range(10, 10 + n_budgets))
    experiment = cutline.Experiment(
        name=HOSTILE, budgets=budgets, threshold=0.0, instance={"kind": "means", "means": [0.3, -0.3]}, algorithm=[{"name": "apt", "label": HOSTILE}, {"name": "apt", "label": "plain"}]
    )
    found = read(cutline.simulate(experiment, runs=50))
    assert found.cells.count(SHOWN) == 2 and "plain" in found.cells
    shown = [int(cell) for cell in found.cells[found.cells.index("budget") + 1 :] if cell.isdigit() and int(cell) >= 10]
    assert shown[0] == budgets[0] and budgets[-1] in shown[:10] and len(set(shown[:10])) == min(n_budgets, 10)


def test_plans() -> None:
    plan = cutline.plan([[float(i)] for i in range(20)], threshold=0.0, budgets=[20, 80], name=HOSTILE, runs=20)
    found = read(plan)
    assert SHOWN in found.cells and plan.sentences[0] in found.cells and plan.heading in "".join(found.cells)
    assert found.cells[-5:][:2] == ["pivot", "80"]


def test_text() -> None:
    assert _html.text("é 日本語 😀") == "é 日本語 😀"
    assert _html.text("a\x00\u2028\ud800") == "a\\x00\\u2028\\ud800"
    assert [_html.number(value) for value in (1.0, -1e-9, float("inf"), None)] == ["1", "−1e−09", "∞", ""]
