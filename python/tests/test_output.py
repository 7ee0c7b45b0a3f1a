"""Reports, tables and figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest

import cutline

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture
def campaign() -> cutline.Campaign:
    names = ["one", "two", "three", "far"]
    campaign = cutline.Campaign(names, threshold=0.5, budget=40, noise=0.2, precision=0.1, name="Screen & co")
    campaign.observe(["one", "two", "three"] * 9, [1.0, 0.0, 0.51] * 9)
    return campaign


def without_nan(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """NaN, which equals nothing, as `None`: the mean of rewards that there are none of."""
    return [{key: None if value != value else value for key, value in row.items()} for row in rows]


def test_the_report_is_a_data_frame(campaign: cutline.Campaign) -> None:
    report = campaign.report()
    assert isinstance(report, pd.DataFrame)
    first = ["name", "side", "mean", "lower", "upper", "pulls", "doubt", "withdrawn", "at_threshold"]
    assert list(report.columns) == [*first, "basis", "probability_above", "evidence", "own_mean"]
    assert list(report.name) == campaign.names
    assert list(report.side) == ["above", "below", "undecided", "undecided"]
    for row, verdict in zip(report.itertuples(), campaign.verdicts):
        assert (row.Index, row.side, row.mean, row.lower) == (verdict.arm, verdict.side, verdict.mean, verdict.lower)
        assert (row.upper, row.pulls, row.doubt) == (verdict.upper, verdict.pulls, verdict.doubt)
        assert row.withdrawn is verdict.withdrawn is False
        assert (row.probability_above, row.evidence) == (verdict.probability_above, verdict.evidence)
        assert (row.basis if isinstance(row.basis, str) else None) == verdict.basis
        assert np.isnan(row.own_mean) if verdict.own_mean is None else row.own_mean == verdict.own_mean
    assert report.pulls.dtype == np.int64
    table = campaign.to_arrow()
    assert table.column_names == list(report.columns)
    same = [without_nan(rows) for rows in (table.to_pylist(), campaign.to_records(), report.to_dict("records"))]
    assert same[0] == same[1] == same[2]


def test_without_optional_packages() -> None:
    """Only NumPy is required, and importing the package does not import it."""
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pandas", "matplotlib", "pyarrow", "polars", "distributed", "typing_extensions"}:
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
import cutline
assert "numpy" not in sys.modules
campaign = cutline.run([[0.0], [1.0]], lambda ticket: ticket.features[0], threshold=0.5, budget=9, noise=0.1)
assert [record["side"] for record in campaign.report()] == ["below", "above"]
assert type(campaign.report()[0]["mean"]) is float
results = cutline.simulate(cutline.Experiment.from_paper("wine"), runs=2)
assert [record["budget"] for record in results.compare("linear-apt", "random")]
assert "<table>" in campaign._repr_html_() and "<table>" in results._repr_html_()
assert [record["name"] for record in campaign.predict([[9.0]])] == ["2"] and campaign.add([[9.0]]) == 1
for work in (campaign.plot, campaign.to_arrow):
    try:
        work()
    except cutline.CutlineError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "this needs `matplotlib`; install it with `pip install matplotlib`",
        "this needs `pyarrow`; install it with `pip install pyarrow`",
    ]


def test_figures_are_svg_png_and_pdf(campaign: cutline.Campaign, tmp_path: Path) -> None:
    figure = campaign.figure()
    ElementTree.fromstring(figure.svg)
    assert figure._repr_svg_() == figure.svg and "Screen &amp; co" in figure.svg and ">three<" in figure.svg
    assert "95 % intervals" in figure.svg
    assert figure.png(1.0).startswith(b"\x89PNG") and len(figure.png(3.0)) > len(figure.png(1.0))
    figure.save(tmp_path / "a.svg")
    figure.save(str(tmp_path / "a.PNG"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == figure.svg
    assert (tmp_path / "a.PNG").read_bytes() == figure.png()
    figure.save(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == figure.pdf() and figure.pdf().startswith(b"%PDF-1")
    with pytest.raises(cutline.InputError, match="can be saved as `.svg`, `.png` or `.pdf`, not as `a.gif`"):
        figure.save(tmp_path / "a.gif")
    for scale in (0.0, -1.0, float("nan"), 1e9, "x"):
        with pytest.raises(cutline.InputError):
            figure.png(scale)  # type: ignore[arg-type]


def test_the_plot_shows_every_arm_and_the_threshold(campaign: cutline.Campaign) -> None:
    _, ax = pyplot.subplots()
    assert campaign.plot(ax) is ax
    _, labels = ax.get_legend_handles_labels()
    assert labels == ["above: 1", "below: 1", "undecided: 2"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["two", "far", "three", "one"]
    assert any(np.array_equal(line.get_xdata(), [0.5, 0.5]) for line in ax.lines)
    assert ax.get_title() == "Screen & co"
    pyplot.close("all")
    assert campaign.plot() is pyplot.gca()
    pyplot.close("all")


def test_results_are_drawn() -> None:
    results = cutline.simulate(cutline.Experiment.from_paper("wine"), runs=50)
    assert "linear-apt" in results.figure().svg and "50 runs, seed 0." in results.figure().svg
    ax = results.plot()
    _, labels = ax.get_legend_handles_labels()
    assert labels == results.experiment.algorithms
    first = [row["failure_rate"] for row in results.rows if row["algorithm"] == labels[0]]
    assert np.array_equal(ax.lines[0].get_ydata(), first)
    pyplot.close("all")


def test_the_model_is_diagnosed() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 2))
    arms = np.repeat(np.arange(30), 6)
    noise = rng.normal(scale=0.1, size=180)
    linear = X @ [1.0, -2.0]
    result = cutline.diagnose(X, arms, linear[arms] + noise)
    assert result["conclusion"] == "believable" and result["model"] == "linear"
    assert result["explained"]["linear"] > 0.9 and abs(sum(result["explained"].values()) - 1) < 1e-12
    # The model's prior of σ is worth three rewards, which is much where the noise is 1/20 of the spread.
    assert 0.08 < result["noise"] < 0.25 and 1 < result["spread"] < 6
    assert result["sentence"].startswith("Features explain 100 % of the differences (linear ")
    assert "`linear`" in result["sentence"]
    assert 0.08 < result["replicates"]["sigma"] < 0.12 and result["replicates"]["freedom"] == 150
    assert result["lack_of_fit"]["freedom"] == (27, 150)
    assert cutline.diagnose(X, arms, linear[arms] + noise, raw=True)["lack_of_fit"]["freedom"] == (28, 150)
    bent = cutline.diagnose(X, arms, linear[arms] ** 2 + noise, names=[f"arm {i}" for i in range(30)])
    assert (bent["conclusion"], bent["model"]) == ("not-believable", "mixed")
    assert bent["explained"]["linear"] < 0.9 and "matters only to campaigns on `linear`" in bent["sentence"]
    assert bent["arms"][7]["name"] == "arm 7" and any(arm["disagrees"] for arm in bent["arms"])
    shifted = cutline.Campaign(X, threshold=5.0, budget=999)
    shifted.observe(arms, linear[arms] + 5.0 + noise)
    assert shifted.diagnose()["conclusion"] == "believable", "the campaign's model has an intercept"
    assert shifted.diagnose(raw=True)["conclusion"] == "not-believable"
    assert cutline.diagnose(X, arms, linear[arms] + 5.0 + noise)["conclusion"] == "believable"
    assert cutline.diagnose(X, arms, linear[arms] + 5.0 + noise, raw=True)["conclusion"] == "not-believable"
    bare = cutline.diagnose(3, [], [])
    assert bare["conclusion"] == "no-features" and bare["explained"] is None and bare["noise"] is None


def test_reprs(campaign: cutline.Campaign) -> None:
    assert repr(campaign) == "<Campaign 'Screen & co': 4 arms, threshold 0.5, 0 of 40 measured>"
    verdict = 'Verdict("one", above, proved, mean=1.0000, interval=(0.8693, 1.1307), pulls=9, doubt=1.13e-19)'
    assert repr(campaign.verdicts[0]) == verdict
    assert repr(campaign.progress) == "Progress(told=0, budget=40, open=0, failed=0, expired=0, ending=None)"
    assert repr(campaign.figure()).startswith("<Figure, ")
