"""The paper's experiments: our results against the published numbers, and the exact replay."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import pytest

import cutline


def test_all_four_lie_within_their_bands() -> None:
    """With 2,000 runs the bands are wider than with 10,000, so 120 of 120 is expected: 0.12 cells fall outside by chance."""
    reproduction = cutline.reproduce(runs=2_000)
    assert list(reproduction.results) == ["uniform-d5", "uniform-d20", "iris", "wine"]
    assert (reproduction.within, reproduction.cells) == (120, 120)
    assert repr(reproduction) == "<Reproduction: 120 of 120 published cells lie within their 99.9 % band>"
    frame = reproduction.to_pandas()
    published = frame[frame.curve.notna()]
    assert len(published) == 120 and set(frame.algorithm) > set(published.algorithm)
    assert (published.z.abs() <= 3.2906).all()
    wine = published[(published.experiment == "wine") & (published.curve == "linear-apt")]
    assert list(wine.budget) == [200, 250, 300, 350, 400]
    assert wine.published.iloc[0] == pytest.approx(0.2031)


def test_z_is_that_of_two_proportions() -> None:
    rows = [row for row in cutline.reproduce("iris", runs=500, seed=3).rows if row.get("curve") == "apt"]
    assert len(rows) == 5
    for row in rows:
        ours, theirs, n, m = row["failure_rate"], row["published"], 500, 10_000
        pooled = (n * ours + m * theirs) / (n + m)
        spread = (pooled * (1 - pooled) * (1 / n + 1 / m)) ** 0.5
        assert row["z"] == pytest.approx((ours - theirs) / spread if spread else 0.0, abs=1e-9)


def test_wrong_cells_are_detected() -> None:
    """Different noise gives different failure rates, and cells outside their bands."""
    paper = dict(cutline._native.paper())["wine"]
    for noise, all_within in (("1.0", True), ("2.0", False)):
        experiment = cutline.Experiment._of(
            paper.replace("noise = 1.0", f"noise = {noise}"), "wine", ".", None, False, 500, 0
        )
        reproduction = cutline.Reproduction([cutline.simulate(experiment)])
        assert reproduction.cells == 30
        assert reproduction.within == sum(abs(row["z"]) <= 3.2906 for row in reproduction.rows if "z" in row)
        assert (reproduction.within == 30) == all_within


def test_results_are_those_of_simulate_however_runs_are_distributed() -> None:
    reproduction = cutline.reproduce("wine", "uniform-d5", runs=300, seed=7)
    assert list(reproduction.results) == ["uniform-d5", "wine"], "the paper's order"
    wine = cutline.simulate(cutline.Experiment.from_paper("wine"), runs=300, seed=7)
    assert reproduction.results["wine"].tally == wine.tally
    with ThreadPoolExecutor(2) as executor:
        spread = cutline.reproduce("wine", "uniform-d5", runs=300, seed=7, executor=executor)
    assert spread.rows == cutline.reproduce("uniform-d5", "wine", runs=300, seed=7, threads=1).rows == reproduction.rows
    twin = pickle.loads(pickle.dumps(reproduction))
    assert twin.rows == reproduction.rows and twin.within == reproduction.within


def test_redrawn_instances() -> None:
    both = cutline.reproduce("iris", runs=300, instances="both")
    assert list(both.results) == ["iris", "iris-redrawn"] and both.cells == 30
    redrawn = cutline.reproduce("iris", runs=300, instances="redrawn")
    assert list(redrawn.results) == ["iris-redrawn"] and redrawn.cells == redrawn.within == 0
    assert redrawn.results["iris-redrawn"].tally == both.results["iris-redrawn"].tally != both.results["iris"].tally
    assert repr(redrawn) == "<Reproduction: redrawn instances have no published numbers to compare with>"
    experiment = cutline.Experiment.from_paper("iris", redrawn=True, runs=30)
    assert pickle.loads(pickle.dumps(experiment)).play(0, 30) == experiment.play(0, 30)


def test_the_figure_has_published_values() -> None:
    reproduction = cutline.reproduce("iris", "wine", runs=50)
    svg = reproduction.figure("wine").svg
    assert ElementTree.fromstring(svg).tag.endswith("svg") and "ublished" in svg
    assert cutline.reproduce("wine", runs=50).figure().svg == svg
    with pytest.raises(cutline.NotFoundError, match="there is no experiment None here; there are iris, wine"):
        reproduction.figure()


def test_the_replay_matches_to_all_decimals() -> None:
    seen: list[tuple[int, int]] = []
    replay = cutline.reproduce("uniform-d5", exact=True, progress=lambda done, pulls: seen.append((done, pulls)))
    assert (replay.within, replay.cells) == (30, 30)
    assert repr(replay) == "<Replay: 30 of 30 cells match exactly>"
    pulls = 6 * 10_000 * (40 + 80 + 120 + 160 + 200)
    assert seen[-1] == (pulls, pulls)
    frame = replay.to_pandas()
    assert list(frame.columns) == ["experiment", "curve", "budget", "runs", "successes", "published", "matches"]
    assert frame.matches.all() and (abs(frame.successes / frame.runs - frame.published) < 1e-9).all()
    assert pickle.loads(pickle.dumps(replay)).rows == replay.rows
    assert repr(cutline.Replay([{**replay.rows[0], "matches": False}])) == "<Replay: 0 of 1 cells match exactly>"


def test_experiments_of_other_papers() -> None:
    """CSAR leaves the same number of pulls unused in every run, so that number has to match exactly."""
    reproduction = cutline.reproduce("csar", runs=100)
    assert list(reproduction.results) == ["csar-normal", "csar-l1", "csar-l2", "csar-l3"]
    pulls = [(row["ours"], row["published"], row["z"]) for row in reproduction.rows if row["metric"] == "pulls"]
    assert pulls == [(value, value, 0.0) for value in (49.0, 99.0, *(493.0, 996.0) * 3)]
    assert (reproduction.within, reproduction.cells) == (16, 16)
    again = pickle.loads(pickle.dumps(reproduction))
    assert again.rows == reproduction.rows


BAD: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (("beer",), {}, "there is no experiment 'beer' with published numbers; there are uniform-d5, uniform-d20, iris, wine, osi, "),
    (([],), {}, "there is no experiment [] with published numbers"),
    (("osi",), {"exact": True}, "`exact` is for the experiments of the LinearAPT paper, and 'osi' is not one"),
    ((), {"instances": "mine"}, "`instances` must be `published`, `redrawn` or `both`, not 'mine'"),
    ((), {"instances": ["both"]}, "`instances` must be `published`, `redrawn` or `both`, not ['both']"),
    ((), {"runs": 0}, "`runs` must be a whole number between 1 and"),
    (("iris",), {"threads": 0, "runs": 1}, "`threads` must be a whole number between 1 and 4096, not 0"),
    (("iris",), {"threads": 0, "exact": True}, "`threads` must be a whole number between 1 and 4096, not 0"),
    ((), {"exact": True, "runs": 5}, "`runs` cannot be combined with `exact`"),
    ((), {"exact": True, "seed": 0}, "`seed` cannot be combined with `exact`"),
    ((), {"exact": True, "instances": "both"}, "`instances` cannot be combined with `exact`"),
    ((), {"exact": True, "executor": object()}, "`executor` cannot be combined with `exact`"),
    ((), {"client": object(), "executor": object()}, "not both"),
]


@pytest.mark.parametrize(("experiments", "keywords", "message"), BAD)
def test_invalid_arguments(experiments: tuple[Any, ...], keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(cutline.InputError) as error:
        cutline.reproduce(*experiments, **keywords)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_progress_covers_all_experiments() -> None:
    seen: list[tuple[int, int]] = []
    cutline.reproduce("uniform-d5", "iris", runs=40, progress=lambda done, runs: seen.append((done, runs)))
    assert {runs for _, runs in seen} == {80} and [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == 80

    def refuse(done: int, pulls: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        cutline.reproduce("wine", exact=True, progress=refuse)
