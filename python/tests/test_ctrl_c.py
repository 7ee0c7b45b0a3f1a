"""Ctrl-C ends long computations soon."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PLAN = "cutline.plan(numpy.random.default_rng(0).uniform(-1, 1, (2000, 20)), threshold=0, runs=10**9, threads=1, budgets={})"
RULE = "type('First', (), {'choose': lambda self, beliefs: 0})()"
CUSTOM = "cutline.Experiment(budgets=[100], threshold=0, instance={'kind': 'wine'}, algorithm=[%s], runs=10**9)" % f"{{'rule': {RULE}}}"


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("cutline.simulate(cutline.Experiment.from_paper('wine'), runs=10**9)", id="simulate"),
        pytest.param(f"cutline.simulate({CUSTOM})", id="custom rule"),
        pytest.param("cutline.reproduce('uniform-d20', 'wine', runs=10**9)", id="reproduce"),
        pytest.param("cutline.reproduce('uniform-d20', 'wine', exact=True)", id="exact replay"),
        pytest.param(PLAN.format("None"), id="search for budgets"),
        pytest.param(PLAN.format("[1000, 2000]"), id="plan"),
    ],
)
def test_ctrl_c_ends_it(work: str) -> None:
    code = f"import cutline, numpy; print('on', flush=True); {work}"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(1.0)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert "KeyboardInterrupt" in err and time.monotonic() - begun < 10
