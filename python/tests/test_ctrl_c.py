"""Ctrl-C ends long computations soon."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import PATIENCE, happens_within, wait_for, wait_for_sleep, wait_for_work

PLAN = "cutline.plan(numpy.random.default_rng(0).uniform(-1, 1, (2000, 20)), threshold=0, runs=10**9, threads=1, budgets={})"
RULE = "type('First', (), {'choose': lambda self, beliefs: 0})()"
CUSTOM = "cutline.Experiment(budgets=[100], threshold=0, instance={'kind': 'wine'}, algorithm=[%s], runs=10**9)" % f"{{'rule': {RULE}}}"
ONE_RUN = "cutline.Experiment(budgets=[2 * 10**7], threshold=0, instance={{'kind': 'uniform', 'n_arms': {}, 'dimension': 20}}, algorithm=['linear-apt'], runs=1)"
ONE_PLAN = "cutline.plan(numpy.random.default_rng(0).uniform(-1, 1, (4000, 20)), threshold=0, runs=1, threads=1, budgets=[10**7], model='linear')"
ASK = "cutline.Campaign(numpy.random.default_rng(0).uniform(-1, 1, (5000, 20)), threshold=0, budget=10**6, model='linear')"

THREAD = f"campaign = {ASK}; threading.Thread(target=campaign.ask, args=(10**6,), daemon=True).start(); time.sleep(0.3)"
# Where pytest runs in the background, its children ignore SIGINT.
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("cutline.simulate(cutline.Experiment.from_paper('wine'), runs=10**9)", id="simulate"),
        pytest.param(f"cutline.simulate({CUSTOM})", id="custom rule"),
        pytest.param("cutline.reproduce('uniform-d20', 'wine', runs=10**9)", id="reproduce"),
        pytest.param("cutline.reproduce('uniform-d20', 'wine', exact=True)", id="exact replay"),
        pytest.param(f"cutline.simulate({ONE_RUN.format(200)})", id="one run in a batch"),
        pytest.param(f"cutline.simulate({ONE_RUN.format(2000)}, per_run=True)", id="one individual run"),
        pytest.param(f"{ASK}.ask(1_000_000)", id="large ask"),
        pytest.param(PLAN.format("None"), id="search for budgets"),
        pytest.param(PLAN.format("[1000, 2000]"), id="plan"),
        pytest.param(ONE_PLAN, id="one run of a plan"),
        pytest.param(f"{THREAD}; campaign.progress", id="a campaign that another thread uses"),
    ],
)
def test_ctrl_c_ends_it(work: str) -> None:
    """Within a second, on an idle machine."""
    happens_within(5, lambda: interrupted(work))


def interrupted(work: str) -> float:
    """How many seconds it takes to end."""
    code = f"import cutline, numpy, threading, time; {INTERRUPTIBLE}; print('on', flush=True); {work}"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    wait_for_work(child.pid, 1.0)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in err
    return time.monotonic() - begun


def test_an_interrupted_ask_hands_out_nothing() -> None:
    """Slices that were written are expired again, and the campaign goes on as if it had not been asked."""
    code = f"""
import cutline, numpy
{INTERRUPTIBLE}
campaign, twin = {ASK}, {ASK}
tickets = [c.ask(20) for c in (campaign, twin)]
print('on', flush=True)
try:
    campaign.ask(1_000_000)
except KeyboardInterrupt:
    assert campaign.progress.open == 20 and len(campaign.events()) == 20 + 2 * campaign.progress.expired
    assert [t.arm for t in campaign.ask(30)] == [t.arm for t in twin.ask(30)]
    print('interrupted', flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    wait_for_work(child.pid)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=PATIENCE)
    assert out == "interrupted\n"


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.5, 1.0, 1.5, 2.0])
def test_an_interrupted_ask_leaves_no_ticket_open(delay: float, tmp_path: Path) -> None:
    """Whenever it is interrupted: before, during and after the tickets are written."""
    code = f"""
import sys, cutline
{INTERRUPTIBLE}
campaign = cutline.Campaign(3, threshold=0, budget=10**6, storage=sys.argv[1])
try:
    print('on', flush=True)
    tickets = campaign.ask(100_000)
    print('asked', flush=True)
    sys.stdin.readline()
except KeyboardInterrupt:
    print(cutline.open(sys.argv[1]).progress.open, flush=True)
"""
    arguments = [sys.executable, "-c", code, str(tmp_path / "screen.db")]
    child = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=PATIENCE)
    assert out in ("0\n", "asked\n100000\n"), "the caller has the tickets, or there are none"


@pytest.mark.parametrize("call", ["tell(campaign.ask(), 0.5)", "ask(100)", "withdraw([0])"])
def test_ctrl_c_ends_a_wait_for_other_processes(call: str, tmp_path: Path) -> None:
    """Soon, although SQLite would be tried for two minutes; nothing is written, and the campaign goes on."""
    code = f"""
import sys, cutline
{INTERRUPTIBLE}
campaign = cutline.Campaign(3, threshold=0, budget=1000, storage=sys.argv[1])
print('on', flush=True)
sys.stdin.readline()
try:
    campaign.{call}
except KeyboardInterrupt:
    print('interrupted', flush=True)
sys.stdin.readline()
print(len(campaign.events()), campaign.ask().ticket, flush=True)
"""
    path = str(tmp_path / "screen.db")
    child = subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None and child.stdout is not None
    assert child.stdout.readline() == "on\n"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    child.stdin.write("go\n")
    child.stdin.flush()
    wait_for_sleep(child.pid)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n" and time.monotonic() - begun < 60
    other.execute("ROLLBACK")
    out, _ = child.communicate("go\n", timeout=PATIENCE)
    assert out == "0 1\n"


def test_ctrl_c_late_in_a_huge_ask(tmp_path: Path) -> None:
    """The tickets that were written by then are expired in seconds, however many arms there are."""
    numbers = itertools.count()
    happens_within(10, lambda: interrupted_late(str(tmp_path / f"{next(numbers)}.db")))


def interrupted_late(store: str) -> float:
    """How many seconds it takes to end."""
    code = f"""
import sys, cutline, numpy
{INTERRUPTIBLE}
arms = numpy.random.default_rng(0).uniform(-1, 1, (100_000, 2))
campaign = cutline.Campaign(arms, threshold=0, budget=10**6, model='linear', storage=sys.argv[1])
print('on', flush=True)
try:
    campaign.ask(1_000_000)
except KeyboardInterrupt:
    print(campaign.progress.open, campaign.progress.expired > 0, flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code, store], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as reader:
        wait_for("tickets", lambda: bool(reader.execute("SELECT count(*) >= 3000 FROM cutline_events").fetchone()[0]))
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=PATIENCE)
    assert out == "0 True\n"
    return time.monotonic() - begun
