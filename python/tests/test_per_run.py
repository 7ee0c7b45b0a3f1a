"""The results of every run, and what results can be saved as."""

from __future__ import annotations

import csv
import io
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline
from cutline._results import _quoted

KEYS: dict[str, Any] = {
    "budgets": [30, 60],
    "threshold": 0.1,
    "precision": 0.01,
    "noise": 0.2,
    "runs": 90,
    "instance": {"kind": "uniform", "n_arms": 8, "dimension": 3},
    "algorithm": ["linear-apt", {"name": "apt", "label": "plain_&"}, {"name": "pivot", "stop": {"confidence": 0.1, "by": "evidence"}}],
}
RESULTS = cutline.simulate(KEYS, per_run=True)


def per_run(results: cutline.Results) -> cutline.PerRun:
    assert results.per_run is not None
    return results.per_run


PER_RUN = per_run(RESULTS)
ARRAYS = ("runs", "n_arms", "threshold", "true_means", "errors", "pulls", "stop", "arm_pulls", "means", "above")


def same(one: cutline.PerRun, other: cutline.PerRun) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS)


def test_the_counts_follow_from_the_arrays() -> None:
    assert RESULTS.tally == cutline.simulate(KEYS).tally
    assert PER_RUN.errors.shape == (90, 3, 2) and PER_RUN.means.shape == (90, 3, 2, 8)
    for row in RESULTS.rows:
        at = np.s_[:, PER_RUN.algorithms.index(row["algorithm"]), PER_RUN.budgets.index(row["budget"])]
        assert PER_RUN.is_failure[at].sum() == row["failures"]
        assert PER_RUN.errors[at].mean() == pytest.approx(row["mean_errors"], rel=1e-12)
        if "mean_pulls" in row:
            assert PER_RUN.pulls[at].mean() == pytest.approx(row["mean_pulls"], rel=1e-12)
            assert (PER_RUN.stop[at] == "confidence").sum() == row["sure"] > 0
    truth = PER_RUN.true_means[:, None, None, :]
    wrong = (PER_RUN.above != (truth >= 0.1)) & (np.abs(truth - 0.1) > 0.01)
    assert np.array_equal(wrong.sum(axis=-1), PER_RUN.errors)
    assert np.array_equal(PER_RUN.above, PER_RUN.means >= 0.1)
    assert np.array_equal(PER_RUN.arm_pulls.sum(axis=-1), PER_RUN.pulls)


@pytest.mark.parametrize("shards", [1, 7])
def test_any_distribution_gives_the_same_bits(shards: int) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert same(per_run(cutline.simulate(KEYS, executor=executor, shards=shards, per_run=True)), PER_RUN)
    assert same(per_run(cutline.simulate(KEYS, threads=1, per_run=True)), PER_RUN)
    assert cutline.simulate(KEYS, runs=2).per_run is None


def test_runs_with_different_numbers_of_arms() -> None:
    def instance(rng: np.random.Generator) -> Any:
        return rng.uniform(-1, 1, size=int(rng.integers(2, 6)))

    found = per_run(cutline.simulate({**KEYS, "instance": instance, "algorithm": ["apt"]}, runs=20, per_run=True))
    assert set(found.n_arms.tolist()) == {2, 3, 4, 5}
    for run, n_arms in enumerate(found.n_arms.tolist()):
        assert np.isnan(found.means[run, ..., n_arms:]).all() and not np.isnan(found.means[run, ..., :n_arms]).any()
        assert found.arm_pulls[run, 0, 0].sum() == 30 and found.arm_pulls[run, ..., n_arms:].sum() == 0
    lists = found.to_arrow().column("means").to_pylist()
    assert [len(means) for means in lists] == np.repeat(found.n_arms, 2).tolist()


def test_arrow_and_pandas_have_one_row_per_run_algorithm_and_budget() -> None:
    table = PER_RUN.to_arrow()
    assert table.num_rows == 90 * 3 * 2
    assert table.column_names[:4] == ["experiment", "run", "algorithm", "budget"]
    row = {name: table.column(name)[9].as_py() for name in table.column_names}
    assert (row["run"], row["algorithm"], row["budget"]) == (1, "plain_&", 60)
    assert row["means"] == PER_RUN.means[1, 1, 1].tolist() and row["arm_pulls"] == PER_RUN.arm_pulls[1, 1, 1].tolist()
    assert row["true_means"] == PER_RUN.true_means[1].tolist() and row["above"] == PER_RUN.above[1, 1, 1].tolist()
    frame = PER_RUN.to_pandas()
    assert frame["is_failure"].sum() == PER_RUN.is_failure.sum()


def test_results_with_runs_can_be_pickled() -> None:
    twin = pickle.loads(pickle.dumps(RESULTS))
    assert twin.rows == RESULTS.rows and same(twin.per_run, PER_RUN)


def test_rows_as_csv_arrow_and_latex(tmp_path: Path) -> None:
    text = RESULTS.to_csv()
    assert text is not None
    read = list(csv.DictReader(io.StringIO(text)))
    assert [(row["algorithm"], int(row["budget"]), float(row["failure_rate"])) for row in read] == [
        (row["algorithm"], row["budget"], row["failure_rate"]) for row in RESULTS.rows
    ]
    assert RESULTS.to_csv(tmp_path / "rows.csv") is None and (tmp_path / "rows.csv").read_text() == text
    assert RESULTS.to_csv(plain=True) == text, "nothing here looks like a formula"
    values = ["=1+1", "-e", "+nan", "'=1", "-5", "a=b", -2.5, None]
    assert [_quoted(value) for value in values] == ["'=1+1", "'-e", "'+nan", "''=1", "-5", "a=b", -2.5, None]
    assert RESULTS.to_arrow().column("failures").to_pylist() == [row["failures"] for row in RESULTS.rows]
    latex = RESULTS.to_latex()
    assert latex is not None
    lines = latex.splitlines()
    assert lines[:4] == [r"\begin{tabular}{lrr}", r"\toprule", r"algorithm & $T = 30$ & $T = 60$ \\", r"\midrule"]
    assert lines[5].startswith(r"plain\_\& & ") and lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert latex.count(r"\textbf") >= 2
    floating = RESULTS.to_latex(intervals=True, caption="50 % & more", label="tab:one")
    assert floating is not None and r"\caption{50 \% \& more}" in floating and r"\label{tab:one}" in floating
    assert floating.count("--") == 6


def test_save_follows_the_ending(tmp_path: Path) -> None:
    starts = {".csv": b"experiment,", ".json": b"[", ".parquet": b"PAR1", ".tex": b"\\begin", ".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF-1"}
    for ending, start in starts.items():
        RESULTS.save(tmp_path / f"x{ending}")
        assert (tmp_path / f"x{ending}").read_bytes().startswith(start), ending
    assert json.loads((tmp_path / "x.json").read_text()) == RESULTS.rows
    with pytest.raises(cutline.InputError, match="results can be saved as `.csv`, .*, not as `x.doc`"):
        RESULTS.save(tmp_path / "x.doc")


def test_figures_show_what_was_asked_for() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    svg = RESULTS.figure(title="Two of them", algorithms=["pivot", "linear-apt"]).svg
    assert "Two of them" in svg and ">pivot<" in svg and "plain_" not in svg
    ax = RESULTS.plot(title="One", size=(3.0, 2.0), algorithms=["pivot"], log=False)
    assert ax.get_title() == "One" and ax.get_yscale() == "linear" and len(ax.get_lines()) == 1
    figure = ax.get_figure(root=True)
    assert figure is not None and figure.get_size_inches().tolist() == [3.0, 2.0]
    assert RESULTS.plot(ax, log=True).get_yscale() == "log"
    for draw in (RESULTS.figure, RESULTS.plot):
        with pytest.raises(cutline.NotFoundError, match="there is no algorithm `ucbe` here"):
            draw(algorithms=["ucbe"])
    with pytest.raises(cutline.InputError, match="give `ax` or `size`, not both"):
        RESULTS.plot(ax, size=(1.0, 1.0))
