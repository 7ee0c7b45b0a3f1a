"""The whole loop, on threads and processes, with failures and interruptions."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from processes import PATIENCE, wait_for, wait_for_sleep

import cutline

X = [[0.9], [0.5], [0.1], [-0.3]]


def measure(ticket: cutline.Ticket) -> float:
    return float(ticket.features[0])


def test_the_whole_budget_is_measured_and_reported() -> None:
    seen: list[tuple[int, int]] = []
    campaign = cutline.run(X, measure, threshold=0.3, budget=20, progress=lambda done, all: seen.append((done, all)))
    assert campaign.progress.told == 20 and campaign.progress.open == 0
    assert seen == [(done, 20) for done in range(1, 21)]
    assert [v.side for v in campaign.verdicts] == ["above", "above", "below", "below"]


def test_a_campaign_is_continued() -> None:
    campaign = cutline.Campaign(X, threshold=0.3, budget=20)
    tickets = campaign.ask(5)
    campaign.tell(tickets, [measure(ticket) for ticket in tickets])
    assert cutline.run(campaign, measure) is campaign
    assert campaign.progress.told == 20
    with pytest.raises(cutline.InputError, match="`threshold` cannot change"):
        cutline.run(campaign, measure, threshold=1.0)


def test_workers_measure_at_the_same_time() -> None:
    together = threading.Barrier(4, timeout=PATIENCE)

    def wait(ticket: cutline.Ticket) -> float:
        together.wait()
        return measure(ticket)

    campaign = cutline.run(X, wait, workers=4, threshold=0.3, budget=40)
    assert campaign.progress.told == 40


def test_no_more_tickets_are_open_than_there_are_workers() -> None:
    class Counting(ThreadPoolExecutor):
        out = most = 0

        def submit(self, *args: object, **kwargs: object) -> Future[float]:  # type: ignore[override]
            self.out += 1
            self.most = max(self.most, self.out)
            future: Future[float] = super().submit(*args, **kwargs)  # type: ignore[arg-type]
            future.add_done_callback(lambda _: setattr(self, "out", self.out - 1))
            return future

    with Counting(8) as executor:
        cutline.run(X, measure, workers=3, executor=executor, threshold=0.3, budget=60)
        assert 1 <= executor.most <= 3


def test_processes_measure() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        campaign = cutline.run(X, measure, workers=2, executor=executor, threshold=0.3, budget=12)
    assert campaign.progress.told == 12


def test_failures_return_to_the_budget_until_there_are_too_many() -> None:
    calls: list[int] = []

    def shaky(ticket: cutline.Ticket) -> float:
        calls.append(ticket.ticket)
        if len(calls) in (3, 7):
            raise OSError("no answer")
        return measure(ticket)

    campaign = cutline.run(X, shaky, threshold=0.3, budget=12, failures=2)
    assert (campaign.progress.told, campaign.progress.failed, len(calls)) == (12, 2, 14)
    assert [e["reason"] for e in campaign.events() if e["event"] == "failed"] == ["OSError: no answer"] * 2
    calls.clear()
    campaign = cutline.Campaign(X, threshold=0.3, budget=12)
    with pytest.raises(OSError, match="no answer"):
        cutline.run(campaign, shaky, workers=2, failures=1)
    assert campaign.progress.failed == 2 and campaign.progress.open == 0
    calls.clear()
    cutline.run(campaign, measure)
    assert campaign.progress.told == 12, "rewards are kept, and the campaign can continue"


@pytest.mark.parametrize("reward", [None, "x", float("nan"), float("inf"), [1.0, 2.0]])
def test_invalid_rewards(reward: object) -> None:
    with pytest.raises(cutline.InputError, match="`measure` must return a finite number, but returned .* for `0`"):
        cutline.run(2, lambda ticket: reward, threshold=0.0, budget=3)  # type: ignore[arg-type, return-value]


def test_invalid_arguments() -> None:
    for changed in ({"workers": 0}, {"workers": 1.5}, {"failures": -1}):
        with pytest.raises(cutline.InputError, match="must be a whole number of at least"):
            cutline.run(X, measure, threshold=0.0, budget=3, **changed)
    with pytest.raises(cutline.InputError, match="`measure` must be a function"):
        cutline.run(X, 3, threshold=0.0, budget=3)  # type: ignore[arg-type]

    async def later(ticket: cutline.Ticket) -> float:
        return measure(ticket)

    with pytest.raises(cutline.InputError, match=r"an async function, .* `lambda ticket: asyncio.run\(measure\(ticket\)\)`"):
        cutline.run(X, later, threshold=0.0, budget=3)  # type: ignore[arg-type]
    campaign = cutline.run(X, lambda ticket: asyncio.run(later(ticket)), threshold=0.0, budget=6, workers=np.int64(2))  # type: ignore[arg-type]
    assert campaign.progress.told == 6


def test_progress_is_a_line_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    cutline.run(X, measure, threshold=0.3, budget=20, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and err.endswith("\r20 of 20 measured\n")


SLOW = """
import signal, sys, time, cutline
signal.signal(signal.SIGINT, signal.default_int_handler)
def measure(ticket):
    if ticket.ticket == 4:
        print("measuring", flush=True)
        time.sleep(600)
    return 1.0
campaign = cutline.Campaign(3, threshold=0.0, budget=50, storage=sys.argv[1])
try:
    cutline.run(campaign, measure)
except KeyboardInterrupt:
    progress = campaign.progress
    print(progress.told, progress.open, progress.expired, flush=True)
    import os
    os._exit(3)
"""


def test_ctrl_c_leaves_no_ticket_open(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLOW, str(tmp_path / "x.db")], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "measuring\n"
    wait_for_sleep(child.pid)
    os.kill(child.pid, signal.SIGINT)
    assert child.stdout.readline() == "3 0 1\n"
    assert child.wait(timeout=PATIENCE) == 3
    child.stdout.close()


HANGS = """
import signal, sys, time, cutline
signal.signal(signal.SIGINT, signal.default_int_handler)
def measure(ticket):
    if ticket.ticket == 4:
        print("measuring", flush=True)
        time.sleep(600)
    if ticket.ticket == 6 and sys.argv[2] == "error":
        raise OSError("no answer")
    time.sleep(0.05)
    return 1.0
cutline.run(3, measure, workers=2, threshold=0.0, budget=50 if sys.argv[2] == "error" else 4, storage=sys.argv[1])
"""


@pytest.mark.parametrize("ends_by", ["Ctrl-C", "error"])
def test_nobody_waits_for_a_measurement_that_hangs(ends_by: str, tmp_path: Path) -> None:
    """Neither `run` nor the interpreter when it exits. The ticket is expired, so another worker can get it at once."""
    store = str(tmp_path / "x.db")
    child = subprocess.Popen([sys.executable, "-c", HANGS, store, ends_by], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "measuring\n"
    if ends_by == "Ctrl-C":
        wait_for("three rewards", lambda: cutline.open(store).progress.told >= 3)
        child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE)
    assert child.returncode != 0
    assert err.splitlines()[-1].startswith("KeyboardInterrupt" if ends_by == "Ctrl-C" else "OSError: no answer")
    progress = cutline.open(store).progress
    assert progress.open == 0 and progress.expired >= 1 and progress.told >= 3


def test_no_ticket_stays_open_after_a_reward_that_the_campaign_refuses() -> None:
    campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9, rewards="bernoulli")
    with pytest.raises(cutline.InputError):
        cutline.run(campaign, lambda ticket: 0.5, workers=3)
    assert (campaign.progress.open, campaign.progress.failed, campaign.progress.told) == (0, 1, 0)


def test_rewards_of_a_loop_that_ends_are_all_kept_and_all_tickets_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if one of the rewards that arrived meanwhile is not a number."""

    class Inline(Executor):
        """Every measurement has ended when the loop sees the first one."""

        def submit(self, function: Callable[..., float], /, *args: object, **kwargs: object) -> Future[float]:  # type: ignore[override]
            future: Future[float] = Future()
            try:
                future.set_result(function(*args))
            except OSError as error:
                future.set_exception(error)
            return future

    def measure(ticket: cutline.Ticket) -> float:
        if ticket.ticket == 1:
            raise OSError("no answer")
        return float("nan") if ticket.ticket == 2 else 1.0

    monkeypatch.setattr("concurrent.futures.wait", lambda futures, **_: ({next(iter(futures))}, set()))
    campaign = cutline.Campaign(3, threshold=0.0, budget=9)
    with pytest.raises(OSError, match="no answer"):
        cutline.run(campaign, measure, workers=3, executor=Inline())
    assert (campaign.progress.open, campaign.progress.told, campaign.progress.failed) == (0, 1, 1)


def test_ctrl_c_between_ask_and_submit_leaves_no_ticket_open() -> None:
    campaign = cutline.Campaign(3, threshold=0.0, budget=9)

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args: object, **kwargs: object) -> Future[float]:  # type: ignore[override]
            raise KeyboardInterrupt

    with Interrupted(2) as executor, pytest.raises(KeyboardInterrupt):
        cutline.run(campaign, measure, workers=2, executor=executor)
    assert campaign.progress.open == 0 and campaign.progress.expired == 2


def test_threads_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a limit of threads there are fewer; without any, it is an error and not a hang."""
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        if len(started) >= limit:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    limit = 1
    assert cutline.run(X, measure, workers=4, threshold=0.3, budget=20).progress.told == 20
    limit = 0
    campaign = cutline.Campaign(X, threshold=0.3, budget=20)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        cutline.run(campaign, measure, workers=4)
    assert campaign.progress.open == 0
