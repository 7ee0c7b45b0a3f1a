"""Simulations are bit-identical however their runs are distributed."""

from __future__ import annotations

import json
import operator
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import reduce
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cutline

KEYS: dict[str, Any] = {
    "budgets": [30, 60],
    "threshold": 0.1,
    "precision": 0.01,
    "runs": 300,
    "instance": {"kind": "uniform", "n_arms": 12, "dimension": 3},
    "algorithm": ["linear-apt", "pivot", {"name": "apt", "label": "plain"}],
    "stop": {"confidence": 0.1, "by": "evidence"},
}
TOML = """
budgets = [30, 60]
threshold = 0.1
precision = 0.01
runs = 300
stop = { confidence = 0.1, by = "evidence" }
[instance]
kind = "uniform"
n_arms = 12
dimension = 3
[[algorithm]]
name = "linear-apt"
[[algorithm]]
name = "pivot"
[[algorithm]]
name = "apt"
label = "plain"
"""
EXPERIMENT = cutline.Experiment(KEYS)
TALLY = cutline.simulate(EXPERIMENT).tally


def test_a_file_a_dict_and_keywords_give_the_same_experiment(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TOML)
    for experiment in (cutline.Experiment(file), cutline.Experiment(str(file)), cutline.Experiment(**KEYS)):
        assert experiment.algorithms == ["linear-apt", "pivot", "plain"]
        assert (experiment.budgets, experiment.runs, experiment.seed) == ([30, 60], 300, 0)
        assert cutline.simulate(experiment).tally == TALLY
    assert cutline.Experiment(file).name == "mine"
    assert cutline.simulate(file, runs=300).tally == TALLY
    assert cutline.simulate({**KEYS, "budgets": np.array([30, 60])}).tally == TALLY
    assert cutline.simulate(EXPERIMENT, seed=1).tally != TALLY
    assert cutline.simulate(EXPERIMENT, runs=299).tally != TALLY


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads: int) -> None:
    assert cutline.simulate(EXPERIMENT, threads=threads).tally == TALLY


@pytest.mark.parametrize("shards", [1, 2, 7, 300, 1000])
def test_shards_change_nothing(shards: int) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert cutline.simulate(EXPERIMENT, executor=executor, shards=shards).tally == TALLY


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes_change_nothing(start: str) -> None:
    done: list[int] = []
    with ProcessPoolExecutor(2, mp_context=get_context(start)) as executor:
        results = cutline.simulate(
            EXPERIMENT, executor=executor, shards=5, progress=lambda runs, all: done.append(runs)
        )
    assert results.tally == TALLY
    assert len(done) == 5 and done[-1] == 300


def test_a_broken_executor_loses_no_runs() -> None:
    """A worker kills itself, which breaks the pool."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        executor.submit(_kill)
        assert cutline.simulate(EXPERIMENT, executor=executor, shards=20).tally == TALLY


def _kill() -> None:
    import os

    os.kill(os.getpid(), signal.SIGKILL)


def test_tallies_can_be_pickled_and_added() -> None:
    parts = [pickle.loads(pickle.dumps(EXPERIMENT.play(start, start + 100))) for start in (200, 0, 100)]
    assert parts[0] + parts[1] + parts[2] == TALLY
    assert sum(parts) == reduce(operator.add, parts) == np.sum(parts) == TALLY
    assert reduce(lambda one, other: other + one, parts, 0) == TALLY + 0 == TALLY, "0 may be on either side"
    for other in (1, 0.0, "0", None):
        with pytest.raises((cutline.InputError, TypeError)):
            TALLY + other  # type: ignore[operator]
    assert parts[0] + parts[1] != TALLY
    assert (parts[0] + parts[1]).runs == [(0, 100), (200, 300)] and TALLY.runs == [(0, 300)]
    assert parts[0].fingerprint == TALLY.fingerprint


def test_tallies_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(cutline.InputError, match="runs 40 to 99 are in both tallies, so they cannot be added"):
        EXPERIMENT.play(0, 100) + EXPERIMENT.play(40, 120)
    with pytest.raises(cutline.InputError, match="run 7 is in both tallies"):
        sum([EXPERIMENT.play(0, 5), EXPERIMENT.play(7, 8), EXPERIMENT.play(5, 9)])
    # The same shape, but another seed, parameter or order of the algorithms.
    for change in ({"seed": 1}, {"threshold": 0.2}, {"noise": 2.0}, {"algorithm": ["pivot", "linear-apt", {"name": "apt"}]}):
        other = cutline.Experiment({**KEYS, **change})
        with pytest.raises(cutline.InputError, match="different experiments cannot be added"):
            EXPERIMENT.play(0, 1) + other.play(1, 2)
        with pytest.raises(cutline.InputError, match="belongs to another experiment"):
            other.results(TALLY)
    with pytest.raises(cutline.InputError, match="3 cannot be added to a tally"):
        3 + TALLY
    with pytest.raises(cutline.InputError, match="or those of an earlier version of Cutline"):
        cutline.Tally(b'{"n_budgets":1,"cells":[],"stopped":[],"only":[]}')
    for counts in (b"", b"{}", b"\xff"):
        with pytest.raises(cutline.InputError, match="invalid counts for a tally"):
            cutline.Tally(counts)


def test_results_are_rows() -> None:
    results = cutline.simulate(EXPERIMENT)
    frame = results.to_pandas()
    assert list(frame.algorithm) == ["linear-apt"] * 2 + ["pivot"] * 2 + ["plain"] * 2
    assert list(frame.budget) == [30, 60] * 3
    assert ((frame.low <= frame.failure_rate) & (frame.failure_rate <= frame.high)).all()
    assert (frame.failure_rate == frame.failures / 300).all()
    twin = pickle.loads(pickle.dumps(results))
    assert twin == results and hash(twin) == hash(results) and twin.rows == results.rows and twin.tally == results.tally
    assert twin != cutline.simulate(EXPERIMENT, seed=1) and repr(twin.tally) == "<Tally of 300 runs>"
    assert repr(results) == "<Results of 'experiment': 300 runs of linear-apt, pivot, plain>"


def compared(results: cutline.Results, one: str, other: str) -> Any:
    """A comparison row by row."""
    frame = results.compare(one, other)
    assert isinstance(frame, pd.DataFrame) and list(frame.columns) == ["budget", "difference", "low", "high"]
    return frame.to_dict("records")


def test_any_two_algorithms_can_be_compared() -> None:
    results = cutline.simulate(EXPERIMENT)
    rates = {(row["algorithm"], row["budget"]): row["failure_rate"] for row in results.rows}
    for one, other in (("pivot", "linear-apt"), ("linear-apt", "plain"), ("plain", "plain")):
        for row, back in zip(compared(results, one, other), compared(results, other, one)):
            budget = row["budget"]
            assert row["difference"] == pytest.approx(rates[one, budget] - rates[other, budget], abs=1e-12)
            assert row["low"] <= row["difference"] <= row["high"]
            assert (back["low"], back["high"]) == pytest.approx((-row["high"], -row["low"]))
    with_baseline = cutline.simulate({**KEYS, "baseline": "pivot"})
    expected = [row["difference_low"] for row in with_baseline.rows if row["algorithm"] == "plain"]
    assert [row["low"] for row in compared(results, "plain", "pivot")] == expected
    with pytest.raises(cutline.NotFoundError, match="there is no algorithm `apt` here; there are `linear-apt`"):
        results.compare("apt", "pivot")


def test_the_papers_experiments() -> None:
    wine = cutline.Experiment.from_paper("wine", runs=500, seed=3)
    assert (wine.name, wine.runs, wine.seed) == ("wine", 500, 3)
    twin = pickle.loads(pickle.dumps(wine))
    assert twin.play(0, 50) == wine.play(0, 50)
    with pytest.raises(cutline.InputError, match="there is no experiment 'beer' in the paper; there are uniform-d5"):
        cutline.Experiment.from_paper("beer")


def test_the_old_name_of_from_paper_warns() -> None:
    with pytest.warns(DeprecationWarning, match="`Experiment.of_paper` is now `Experiment.from_paper`"):
        old = cutline.Experiment.of_paper("wine", redrawn=True, runs=50, seed=3)
    new = cutline.Experiment.from_paper("wine", redrawn=True, runs=50, seed=3)
    assert (old.name, old.runs, old.seed) == (new.name, 50, 3) and old.play(0, 50) == new.play(0, 50)


def test_invalid_experiments(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(TOML.replace("dimension", "dimensions"))
    with pytest.raises(cutline.InputError, match=r"bad\.toml:7: \[instance\] needs the key `dimension`"):
        cutline.Experiment(file)
    with pytest.raises(cutline.InputError, match="cannot read .*none.toml: No such file"):
        cutline.simulate(tmp_path / "none.toml")
    with pytest.raises(cutline.InputError, match="unknown key `treshold` in the file"):
        cutline.Experiment(KEYS, treshold=1.0)
    with pytest.raises(cutline.InputError, match="`noise` must be a number, a string, a list or a dict, not object"):
        cutline.Experiment(KEYS, noise=object())
    with pytest.raises(cutline.InputError, match="an experiment is a path, a dict or keywords, not int"):
        cutline.simulate(3)  # type: ignore[arg-type]
    changes: list[dict[str, Any]] = [{"runs": 0}, {"seed": -1}, {"threads": 0}, {"threads": 10**6}]
    for changed in changes:
        with pytest.raises(cutline.InputError, match="must be a whole number between"):
            cutline.simulate(EXPERIMENT, **changed)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(cutline.InputError, match="`shards` must be a whole number of at least 1"):
            cutline.simulate(EXPERIMENT, executor=executor, shards=0)
        with pytest.raises(cutline.InputError, match="not both"):
            cutline.simulate(EXPERIMENT, executor=executor, client=object())
    with pytest.raises(cutline.InputError, match="`start` must be a whole number between 0 and 3, not 4"):
        EXPERIMENT.play(4, 3)


def test_strings_are_escaped_for_toml() -> None:
    name = 'a "quoted" \\ back, µ, 😀, \x7f'
    keys = {**KEYS, "algorithm": [{"name": "pivot", "label": name.replace("\x7f", "")}]}
    assert cutline.Experiment(keys).algorithms == ['a "quoted" \\ back, µ, 😀, ']
    with pytest.raises(cutline.InputError, match="control"):
        cutline.Experiment({**KEYS, "algorithm": [{"name": "pivot", "label": name}]})


RESUMED = """
import sys, cutline
cutline.simulate(cutline.Experiment.from_paper("uniform-d5"), runs=12_000, threads=1, shards=100, resume=sys.argv[1],
                 progress=lambda done, all: print(done, flush=True))
"""


def test_a_killed_simulation_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    """SIGKILL at several moments; the last time it may end."""
    file = tmp_path / "runs.json"
    finished = []
    for shards_before_kill in (1, 12, 40):
        child = subprocess.Popen([sys.executable, "-c", RESUMED, str(file)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(shards_before_kill):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.communicate()
        found = json.loads(file.read_text())["experiments"][0]["tally"]["runs"]
        finished.append(sum(part["end"] - part["start"] for part in found))
    assert finished == sorted(finished) and finished[0] < 12_000 and finished[-1] > 0
    experiment = cutline.Experiment.from_paper("uniform-d5", runs=12_000)
    with ThreadPoolExecutor(2) as executor:
        resumed = cutline.simulate(experiment, resume=file, executor=executor, shards=7)
    assert resumed.tally == cutline.simulate(experiment).tally
    done: list[int] = []
    assert cutline.simulate(experiment, resume=file, progress=lambda runs, all: done.append(runs)).tally == resumed.tally
    assert done == [12_000], "nothing is played again"
    with pytest.raises(cutline.InputError, match="runs.json is a checkpoint of another experiment, `uniform-d5`, .*; name another file"):
        cutline.simulate(experiment, seed=1, resume=file)
    with pytest.raises(cutline.InputError, match="give `resume` or `per_run`, not both"):
        cutline.simulate(experiment, resume=file, per_run=True)
    with pytest.raises(cutline.InputError, match="cannot write .*: No such file"):
        cutline.simulate(experiment, resume=tmp_path / "none" / "runs.json")
    (tmp_path / "notes.txt").write_text("my notes")
    with pytest.raises(cutline.InputError, match="notes.txt is not a checkpoint of a simulation"):
        cutline.simulate(experiment, resume=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "my notes" and sorted(p.name for p in tmp_path.iterdir()) == ["notes.txt", "runs.json"]


def test_a_random_seed_is_recorded() -> None:
    one, two = (cutline.simulate(KEYS, runs=50, seed=None) for _ in range(2))
    assert one.experiment.seed != two.experiment.seed and one.tally != two.tally
    assert cutline.simulate(KEYS, runs=50, seed=one.experiment.seed).tally == one.tally
    assert cutline.simulate(EXPERIMENT, runs=50).experiment.seed == EXPERIMENT.seed == 0, "by default that of the experiment"
    for again in (
        cutline.simulate(EXPERIMENT, runs=50, seed=None).experiment,
        cutline.Experiment({**KEYS, "seed": None}),
        cutline.Experiment.from_paper("wine", seed=None),
        next(iter(cutline.reproduce("wine", runs=2, seed=None).results.values())).experiment,
    ):
        assert 0 < again.seed < 2**53 and pickle.loads(pickle.dumps(again)).seed == again.seed
    assert cutline.Experiment({**KEYS, "seed": 5}).seed == 5
