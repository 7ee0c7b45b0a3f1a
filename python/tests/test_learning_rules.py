"""Custom rules with a state: every run and every campaign has its own, learnt from the rewards in order."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline
from cutline import Beliefs, Campaign, Experiment, InputError

X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
TRUTH = X @ [1.0, -0.5, 0.25]


class Momentum:
    """Its scores depend on the order of all rewards so far."""

    def __init__(self, rate: float = 0.3) -> None:
        self.rate = rate
        self.scores: Any = None
        self.seen = 0

    def choose(self, beliefs: Beliefs) -> int:
        if self.scores is None or self.seen < beliefs.n_arms:
            return self.seen % beliefs.n_arms
        return int(np.argmin(np.abs(self.scores) * np.sqrt(beliefs.pulls)))

    def learn(self, beliefs: Beliefs, arm: int, reward: float) -> None:
        if self.scores is None:
            self.scores = np.zeros(beliefs.n_arms)
        self.scores *= 0.97
        self.scores[arm] += self.rate * (reward - beliefs.threshold - self.scores[arm])
        self.seen += 1


class Counter:
    """Remembers in `choose`, which it should not; yet runs must not share what it remembers."""

    calls = 0

    def choose(self, beliefs: Beliefs) -> int:
        self.calls += 1
        return self.calls * self.calls % beliefs.n_arms


def experiment(*rules: Any, **keys: Any) -> Experiment:
    given = {"budgets": [30, 60], "threshold": 0.1, "instance": {"kind": "uniform", "n_arms": 12, "dimension": 3}, **keys}
    return Experiment(given, algorithm=list(rules), runs=60, seed=3)


def per_run(played: Experiment, **keys: Any) -> cutline.PerRun:
    found = cutline.simulate(played, per_run=True, **keys).per_run
    assert found is not None
    return found


@pytest.mark.parametrize("rule", [Momentum(), Momentum, partial(Momentum, 0.3), Counter()])
def test_any_distribution_of_the_runs_gives_the_same_bits(rule: Any) -> None:
    played = experiment(rule)
    alone = per_run(played, threads=1)
    n_different = len(np.unique(alone.arm_pulls.reshape(60, -1), axis=0))
    assert n_different == 1 if isinstance(rule, Counter) else n_different > 30
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        others = [per_run(played, threads=2), per_run(played, threads=5), per_run(played, executor=executor, shards=7)]
    for other in others:
        assert np.array_equal(alone.arm_pulls, other.arm_pulls) and np.array_equal(alone.means, other.means)


def test_an_object_a_class_and_a_function_are_the_same_rule() -> None:
    pulls = [per_run(experiment(rule)).arm_pulls for rule in (Momentum(), Momentum, lambda: Momentum(0.3), Momentum(0.9))]
    assert np.array_equal(pulls[0], pulls[1]) and np.array_equal(pulls[0], pulls[2])
    assert not np.array_equal(pulls[0], pulls[3])


def test_the_object_itself_is_never_used() -> None:
    rule = Momentum()
    cutline.simulate(experiment(rule))
    campaign = Campaign(X, threshold=0.2, budget=20, noise=0.3, algorithm=rule)
    campaign.tell(campaign.ask(5), [0.1] * 5)
    assert rule.seen == 0 and rule.scores is None


def measured(campaign: Campaign, n: int, first: int = 0) -> list[int]:
    arms = []
    for number in range(first, first + n):
        ticket = campaign.ask()
        assert ticket is not None
        campaign.tell(ticket, float(TRUTH[ticket.arm] + 0.3 * np.sin(7 * number)))
        arms.append(ticket.arm)
    return arms


@pytest.mark.parametrize("model", ["mixed", "linear", "independent"])
def test_a_campaign_that_is_opened_again_goes_on_as_if_never_closed(tmp_path: Path, model: Any) -> None:
    settings: Any = {"threshold": 0.1, "budget": 90, "noise": 0.3, "model": model, "algorithm": Momentum}
    whole = measured(Campaign(X, **settings), 80)
    storage = f"sqlite:///{tmp_path / 'screen.db'}"
    arms = measured(Campaign(X, storage=storage, **settings), 37)
    arms += measured(cutline.open(storage, algorithm=Momentum), 20, 37)
    arms += measured(cutline.open(storage, algorithm=Momentum()), 23, 57)
    assert arms == whole and len(set(arms)) > 3
    campaign = Campaign(X, **settings)
    arms = measured(campaign, 41)
    arms += measured(pickle.loads(pickle.dumps(campaign)), 39, 41)
    assert arms == whole


def test_rewards_out_of_order_are_learnt_in_the_order_of_arrival() -> None:
    settings: Any = {"threshold": 0.1, "budget": 90, "noise": 0.3, "algorithm": Momentum}
    campaign = Campaign(X, **settings)
    tickets = campaign.ask(6)
    for ticket in reversed(tickets):
        campaign.tell(ticket, float(TRUTH[ticket.arm]))
    campaign.fail(campaign.ask(1)[0])
    twin = pickle.loads(pickle.dumps(campaign))
    assert measured(campaign, 30) == measured(twin, 30)


def test_a_campaign_with_a_learning_rule_may_end_early() -> None:
    settings: Any = {"threshold": 0.1, "budget": 200, "noise": 0.05, "algorithm": Momentum, "until_sure": "expected-errors 0.5"}
    campaign = Campaign(X, **settings)
    while (ticket := campaign.ask()) is not None:
        campaign.tell(ticket, float(TRUTH[ticket.arm]))
    assert campaign.progress.ending == "expected-errors" and campaign.progress.told < 200
    assert pickle.loads(pickle.dumps(campaign)).progress == campaign.progress


def test_a_learning_rule_needs_a_given_noise() -> None:
    with pytest.raises(InputError, match="`Momentum` cannot estimate the noise during a campaign; .*; pass it as `noise=`"):
        Campaign(X, threshold=0.1, budget=20, algorithm=Momentum)


class Ends:
    """Waits while two rewards are out, and ends after ten pulls."""

    def __init__(self) -> None:
        self.told = 0

    def choose(self, beliefs: Beliefs) -> Any:
        if beliefs.total_pulls >= 10:
            return cutline.DONE
        return cutline.WAIT if beliefs.total_pulls - self.told >= 2 else 3

    def learn(self, beliefs: Beliefs, arm: int, reward: float) -> None:
        assert arm == 3
        self.told += 1


def test_a_rule_may_wait_and_end() -> None:
    campaign = Campaign(X, threshold=0.1, budget=50, noise=0.3, model="linear", algorithm=Ends)
    tickets = campaign.ask(9)
    assert [ticket.arm for ticket in tickets] == [3, 3] and campaign.ask() is None and campaign.progress.ending is None
    campaign.tell(tickets[0], 0.2)
    assert len(campaign.ask(9)) == 1
    while campaign.progress.ending is None:
        waiting = [event["ticket"] for event in campaign.events() if event["event"] == "asked"]
        told = {event["ticket"] for event in campaign.events() if event["event"] == "told"}
        campaign.tell(next(ticket for ticket in waiting if ticket not in told), 0.1)
        campaign.ask()
    assert campaign.progress.ending == "done" and campaign.ask(5) == []
    found = per_run(experiment(Ends))
    assert (found.pulls == 10).all() and (found.stop == "done").all()


class SeesSettled:
    """Pulls the first open arm."""

    def choose(self, beliefs: Beliefs) -> int:
        settled = beliefs.settled
        assert set(np.unique(settled)) <= {-1, 0, 1}
        return int(np.flatnonzero(settled == 0)[0])


def test_settled_arms_are_seen() -> None:
    stop = {"confidence": 0.1, "by": "intervals", "elimination": "sampling"}
    found = per_run(experiment({"rule": SeesSettled, "stop": stop}, budgets=[4000], noise=0.2))
    assert (found.stop == "settled").any()
    row = int(np.flatnonzero(found.stop[:, 0, 0] == "settled")[0])
    times = found.settled_after[row, 0, 0]
    assert (times > 0).all() and times.max() == found.pulls[row, 0, 0]
    table = found.to_arrow()
    arms, after = table.column("settled_arms")[row].as_py(), table.column("settled_after")[row].as_py()
    assert sorted(arms) == list(range(12)) and after == sorted(after) and times[arms].tolist() == after


class Locked(Momentum):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Raises(Momentum):
    def learn(self, beliefs: Beliefs, arm: int, reward: float) -> None:
        raise ZeroDivisionError("while learning")


def test_errors() -> None:
    with pytest.raises(InputError, match="the rule `Locked` cannot be copied, and every run needs its own .*pass its class"):
        experiment(Locked())
    cutline.simulate(experiment(Locked), runs=2)
    with pytest.raises(ZeroDivisionError, match="while learning"):
        cutline.simulate(experiment(Raises))
    campaign = Campaign(X, threshold=0.1, budget=20, noise=0.3, algorithm=Raises)
    ticket = campaign.ask()
    with pytest.raises(ZeroDivisionError, match="while learning"):
        campaign.tell(1, 0.5)
    assert ticket is not None and campaign.progress.told == 0 and campaign.progress.open == 1
    for answer in (None, "stop", 12, -1):
        with pytest.raises(InputError, match="must return an arm, a position from 0 to 11, or `cutline.WAIT` or `cutline.DONE`, not"):
            cutline.simulate(experiment(type("Wrong", (), {"choose": lambda self, beliefs, answer=answer: answer})()))


class WantsSeed(Momentum):
    def learn(self, beliefs: Beliefs, arm: int, reward: float) -> None:
        beliefs.seed


def test_there_is_no_seed_for_learning() -> None:
    with pytest.raises(InputError, match="`seed` is for `choose`"):
        cutline.simulate(experiment(WantsSeed))
