"""Files that are too large, or no files, are refused; the limit can be raised."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import cutline

EXPERIMENT = """
name = "small"
runs = 2
seed = 3
budgets = [12]
threshold = 0.1
algorithm = [{ name = "linear-apt" }]
[instance]
kind = "uniform"
n_arms = 6
dimension = 3
"""


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    yield
    cutline.set_max_input_size(8 * 2**30)


def test_the_limit_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(EXPERIMENT)
    cutline.set_max_input_size(100)
    with pytest.raises(cutline.InputError, match=r"small\.toml: it is larger than 100 bytes; raise the limit with `cutline\.set_max_input_size`$"):
        cutline.Experiment(path)
    cutline.set_max_input_size(path.stat().st_size)
    assert cutline.Experiment(path).name == "small"


def test_checkpoints_are_inputs_too(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(EXPERIMENT)
    experiment = cutline.Experiment(tmp_path / "small.toml")
    path = tmp_path / "small.runs"
    cutline.simulate(experiment, resume=path)
    cutline.set_max_input_size(path.stat().st_size - 1)
    with pytest.raises(cutline.InputError, match="it is larger than"):
        cutline.simulate(experiment, resume=path)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """Reading it would wait for its writer."""
    path = tmp_path / "small.toml"
    os.mkfifo(path)
    with pytest.raises(cutline.InputError, match="it is a pipe, not a file"):
        cutline.Experiment(path)


@pytest.mark.parametrize("size", [-1, 1.5, "8GiB", None])
def test_bad_sizes(size: object) -> None:
    with pytest.raises(cutline.InputError, match="`size`"):
        cutline.set_max_input_size(size)  # type: ignore[arg-type]
