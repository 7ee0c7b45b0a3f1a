"""Ask, tell, read the verdicts; in memory and in a store."""

from __future__ import annotations

import copy
import os
import pickle
import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline

X = np.random.default_rng(1).normal(size=(20, 5))
THETA = np.array([1.0, -0.5, 0.25, 0.0, 0.5])


def reward(ticket: cutline.Ticket) -> float:
    """A function of the ticket, so that all campaigns of a test get the same rewards."""
    noise = np.random.default_rng(ticket.ticket).normal(scale=0.1)
    return float(ticket.features @ THETA + noise)


def begin(**settings: Any) -> cutline.Campaign:
    return cutline.Campaign(X, **{"threshold": 0.2, "budget": 60, "seed": 7, **settings})


def finish(campaign: cutline.Campaign) -> list[int]:
    arms = []
    while (ticket := campaign.ask()) is not None:
        arms.append(ticket.arm)
        assert campaign.tell(ticket, reward(ticket)) == 1
    return arms


def test_a_campaign_ends_with_the_right_verdicts() -> None:
    campaign = begin(budget=200, noise=0.1)
    assert len(finish(campaign)) == 200
    truth = X @ THETA
    assert campaign.progress.ending == "budget"
    for verdict in campaign.verdicts:
        assert verdict.lower < verdict.mean < verdict.upper
        if verdict.side != "undecided":
            assert verdict.side == ("above" if truth[verdict.arm] >= 0.2 else "below")
    assert sum(verdict.pulls for verdict in campaign.verdicts) == 200
    assert sum(verdict.side == "undecided" for verdict in campaign.verdicts) < 5


def test_every_setting_changes_the_choices() -> None:
    first = finish(begin())
    assert finish(begin()) == first
    changed: list[dict[str, Any]] = [
        {"threshold": 0.5},
        {"precision": 0.3},
        {"algorithm": "linear-apt"},
        {"noise": 3.0},
        {"model": "linear"},
        {"model": "independent"},
        {"parameters": {"explore": 0.0}},
    ]
    for settings in changed:
        assert finish(begin(**settings)) != first, settings
    linear = finish(begin(model="linear"))
    changed = [{"prepare": ()}, {"prepare": ["standardise"]}, {"parameters": {"lambda": 9.0}}]
    for settings in changed:
        assert finish(begin(model="linear", **settings)) != linear, settings
    random = [finish(begin(algorithm="random", seed=seed)) for seed in (1, 1, 2)]
    assert random[0] == random[1] != random[2]
    assert len(finish(begin(budget=400, noise=0.1, until_sure="evidence"))) < 400
    early = begin(budget=400, until_sure="expected-errors 2")
    assert 50 <= len(finish(early)) < 400
    expected = early.expected_errors
    assert early.progress.ending == "expected-errors" and expected is not None and expected <= 2
    wide, narrow = (begin(noise=0.1, confidence=level, interval="anytime") for level in (0.99, 0.5))
    assert finish(wide) == finish(narrow)
    assert wide.verdicts[0].upper - wide.verdicts[0].lower > narrow.verdicts[0].upper - narrow.verdicts[0].lower
    assert begin(estimator="sample-mean", algorithm="random").settings["estimator"] == "sample-mean"


PREPARED = ["standardise", "intercept", "centre"]
RAW: list[str] = []


@pytest.mark.parametrize(
    ("given", "algorithm", "estimator", "preparation"),
    [
        ({}, "pivot", "mixed", None),
        ({"model": "linear"}, "pivot", "ridge", PREPARED),
        ({"model": "linear", "prepare": ()}, "pivot", "ridge", RAW),
        ({"model": "independent"}, "apt", "sample-mean", RAW),
        ({"algorithm": "linear-apt"}, "linear-apt", "ridge", RAW),
        ({"algorithm": "linear-apt", "model": "linear"}, "linear-apt", "ridge", PREPARED),
        ({"algorithm": "apt"}, "apt", "sample-mean", RAW),
        ({"algorithm": "straddle"}, "straddle", "mixed", None),
        ({"estimator": "ridge"}, "pivot", "ridge", PREPARED),
    ],
)
def test_models(given: dict[str, Any], algorithm: str, estimator: str, preparation: list[str] | None) -> None:
    campaign = begin(**given)
    settings = campaign.settings
    assert (settings["algorithm"], settings["estimator"], settings.get("prepare")) == (algorithm, estimator, preparation)
    assert campaign.model == {"mixed": "mixed", "ridge": "linear", "sample-mean": "independent"}[estimator]
    again = pickle.loads(pickle.dumps(campaign))
    assert again.settings == settings and again.ask() == campaign.ask()


def test_what_the_mixed_model_found() -> None:
    campaign = begin(budget=200)
    assert (campaign.explained, campaign.finding, campaign.expected_errors) == (None, None, None)
    finish(campaign)
    shares = campaign.explained
    assert shares is not None and set(shares) == {"linear", "smooth", "own"}
    assert abs(sum(shares.values()) - 1) < 1e-9 and shares["linear"] > 0.8, "the truth is linear"
    percent = round(100 * (shares["linear"] + shares["smooth"]))
    finding = campaign.finding
    assert finding is not None and finding.startswith(f"features explain {percent} % of the differences (linear ")
    assert ", noise σ ≈ 0." in finding and 0.05 < campaign.noise[0] < 0.2
    assert finding in repr(campaign)
    frame = campaign.report()
    assert not isinstance(frame, list)
    assert frame.attrs == {
        "model": "mixed",
        "finding": finding,
        "explained": shares,
        "expected_errors": campaign.expected_errors,
    }
    assert campaign.expected_errors == pytest.approx(frame["doubt"].sum())
    linear = begin(model="linear")
    finish(linear)
    assert (linear.explained, linear.finding, linear.expected_errors) == (None, None, None)
    assert repr(linear).endswith("60 of 60 measured>")


def test_the_memory_layout_does_not_matter() -> None:
    c = finish(begin())
    for same in (np.asfortranarray(X), X.tolist(), X[::-1][::-1], X.astype(">f8"), np.repeat(X, 2, axis=1)[:, ::2]):
        assert finish(cutline.Campaign(same, threshold=0.2, budget=60, seed=7)) == c


def test_a_batch_of_rewards_is_recorded_whole_or_not_at_all() -> None:
    campaign = begin()
    tickets = campaign.ask(4)
    with pytest.raises(cutline.NotFoundError, match="there is no ticket 99; the last one is 4"):
        campaign.tell([*tickets, 99], [0.0] * 5)
    with pytest.raises(cutline.InputError, match="there are 4 tickets, but 3 rewards"):
        campaign.tell(tickets, [1.0] * 3)
    assert campaign.progress.told == 0
    assert campaign.tell([ticket.ticket for ticket in tickets], np.arange(4.0)) == 4
    assert campaign.tell(tickets, np.arange(4.0)) == 0
    assert campaign.progress.told == 4


def test_failed_and_expired_tickets_return_to_the_budget() -> None:
    campaign = begin(budget=3)
    one, two, three = campaign.ask(5)
    assert campaign.ask() is None
    assert campaign.fail(one, "dropped") and not campaign.fail(one.ticket)
    assert campaign.expire([two]) == 1 and campaign.expire([two]) == 0
    assert (campaign.progress.failed, campaign.progress.expired, campaign.progress.open) == (1, 1, 1)
    with pytest.raises(cutline.RefusedError, match="ticket 1 was reported as failed"):
        campaign.tell(one, 1.0)
    assert campaign.tell(two, 1.0) == 1, "late, and there is room"
    assert campaign.tell(three, 1.0) == 1
    assert len(campaign.ask(5)) == 1


def test_leases_end() -> None:
    campaign = begin(budget=1)
    ticket = campaign.ask(lease=1e-9, worker="me")
    assert ticket is not None and ticket.until is not None
    again = campaign.ask()
    assert again is not None and (again.ticket, again.until) == (2, None)
    assert [event["event"] for event in campaign.events()] == ["asked", "expired", "asked"]
    assert campaign.events()[0]["worker"] == "me"
    assert len(campaign.events(after=2)) == 1


def test_rewards_without_tickets() -> None:
    campaign = cutline.Campaign(["a", "b"], threshold=0.0, budget=4, noise=1.0)
    campaign.observe("b", 2.0)
    campaign.observe([0, "b"], [1.0, 4.0], counted=True)
    assert (campaign.progress.told, campaign.progress.uncounted) == (2, 1)
    assert [verdict.mean for verdict in campaign.verdicts] == [1.0, 3.0]
    for arm, error in ((2, cutline.NotFoundError), ("c", cutline.NotFoundError), (-1, cutline.InputError)):
        with pytest.raises(error):
            campaign.observe(arm, 1.0)
    with pytest.raises(cutline.RefusedError, match="the budget of 4 is used"):
        campaign.observe([0] * 3, [1.0] * 3, counted=True)


def test_the_noise_is_given_or_estimated() -> None:
    assert begin(noise=0.3).noise == (0.3, "given")
    campaign = begin()
    assert campaign.noise[1] == "nothing"
    finish(campaign)
    sigma, source = campaign.noise
    assert source == "model" and 0.05 < sigma < 0.2
    linear = begin(model="linear")
    finish(linear)
    sigma, source = linear.noise
    assert source in ("replicates", "residuals") and 0.05 < sigma < 0.2


@pytest.mark.parametrize("duplicate", [lambda c: pickle.loads(pickle.dumps(c)), copy.copy, copy.deepcopy])
def test_a_campaign_in_memory_is_pickled_with_its_history(duplicate: Any) -> None:
    campaign = begin(names=[f"arm {i}" for i in range(20)], name="screen")
    for _ in range(40):
        ticket = campaign.ask()
        assert ticket is not None
        campaign.tell(ticket, reward(ticket))
    out = campaign.ask(3)
    campaign.fail(out[0], "no")
    campaign.expire(out[1:2])
    campaign.observe(3, 0.5)
    twin = duplicate(campaign)
    assert type(twin) is cutline.Campaign and twin is not campaign
    assert (twin.name, twin.names, twin.settings) == (campaign.name, campaign.names, campaign.settings)
    assert twin.events() == campaign.events()
    assert twin.verdicts == campaign.verdicts
    assert finish(twin) == finish(campaign)
    assert twin.verdicts == campaign.verdicts
    twin.observe(0, 1.0)
    assert twin.progress != campaign.progress, "they are independent"


def database() -> str:
    """A new PostgreSQL database on the server that `checks/with-postgres` starts."""
    import psycopg

    server, name = os.environ["CUTLINE_TEST_POSTGRES"], f"cutline_python_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server}/{name}"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_campaign_in_a_store_lasts_and_is_shared(kind: str, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/screen.db" if kind == "sqlite" else database()
    campaign = begin(storage=storage, name="first", budget=40)
    twin = pickle.loads(pickle.dumps(campaign))
    for _ in range(5):
        for one, other in ((campaign, twin), (twin, campaign)):
            (ticket,) = one.ask(1)
            other.tell(ticket, reward(ticket))
    assert campaign.progress == twin.progress == cutline.open(storage).progress
    assert campaign.verdicts == twin.verdicts == cutline.open(storage, "first").verdicts
    (ticket,) = campaign.ask(1)
    assert ticket.until is not None, "another worker may get it after a day"
    memory = begin(budget=40)
    assert [e["arm"] for e in campaign.events() if e["event"] == "asked"][:10] == finish(memory)[:10]
    begin(storage=storage, name="second")
    assert cutline.campaigns(storage) == ["first", "second"]
    with pytest.raises(cutline.InputError, match="the store has 2 campaigns: `first`, `second`; choose one with `name=`"):
        cutline.open(storage)
    with pytest.raises(cutline.NotFoundError, match="there is no campaign `third`"):
        cutline.open(storage, "third")
    with pytest.raises(cutline.InputError, match="there is already a campaign `first`"):
        begin(storage=storage, name="first")


def test_invalid_stores(tmp_path: Path) -> None:
    with pytest.raises(cutline.NotFoundError, match=r"there is no store at .*; begin a campaign with `cutline\.Campaign\(…, storage=…\)`"):
        cutline.open(f"{tmp_path}/none.db")
    with pytest.raises(cutline.InputError, match="unsupported store scheme `mysql://`"):
        begin(storage="mysql://host/db")
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at" * 100)
    with pytest.raises(cutline.StorageError, match="is not a Cutline store"):
        cutline.open(f"{tmp_path}/text.db")
    with pytest.raises(cutline.InputError):
        begin(storage=f"{tmp_path}/new.db", precision=-1.0)
    assert not (tmp_path / "new.db").exists(), "a refused campaign leaves no file"


def test_threads_share_a_campaign() -> None:
    campaign = begin(budget=400)
    numbers: list[int] = []

    def work() -> None:
        while tickets := campaign.ask(3):
            numbers.extend(ticket.ticket for ticket in tickets)
            campaign.tell(tickets, [reward(ticket) for ticket in tickets])
            campaign.verdicts, campaign.progress

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 401))
    assert campaign.progress.told == 400


def test_tickets_can_be_pickled() -> None:
    ticket = begin().ask()
    assert ticket is not None
    twin = pickle.loads(pickle.dumps(ticket))
    assert twin == ticket and hash(twin) == hash(ticket) and twin is not ticket
    assert (twin.arm, twin.name, twin.until) == (ticket.arm, ticket.name, None)
    assert np.array_equal(twin.features, X[ticket.arm])
    twin.features[0] = 99.0
    assert np.array_equal(twin.features, X[ticket.arm]), "the array is a copy"
    assert repr(ticket) == f'Ticket(1, arm={ticket.arm}, name="{ticket.arm}")'


def test_kernels_and_graphs(tmp_path: Path) -> None:
    storage = f"{tmp_path}/screen.db"
    kernel = begin(kernel="rbf", length=0.5, storage=storage, name="kernel")
    assert (kernel.model, kernel.settings["algorithm"]) == ("linear", "pivot")
    asked = finish(kernel)
    rougher = begin(kernel="matern52", length=0.5)
    finish(rougher)
    assert rougher.verdicts != kernel.verdicts
    assert cutline.open(storage, "kernel").verdicts == kernel.verdicts
    twin = pickle.loads(pickle.dumps(begin(kernel="rbf", length=0.5)))
    assert finish(twin) == asked
    graph = cutline.Campaign(["a", "b", "c"], threshold=0.5, budget=9, graph=[("a", "b"), ("b", 2, 0.5)], algorithm="grapl")
    ticket = graph.ask()
    assert ticket is not None and ticket.name == "a" and len(ticket.features) == 0
    graph.tell(ticket, 1.0)
    means = [verdict.mean for verdict in graph.verdicts]
    assert means[0] > means[1] > means[2] > 0.5, "the neighbours of `a` are likely to be above too"


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"kernel": "rbf"}, "a kernel needs its length; pass `length=`"),
        ({"length": 1.0}, "`length` is the length of a kernel; pass `kernel=` too"),
        ({"kernel": "cubic", "length": 1.0}, "unknown kernel `cubic`; use `rbf` or `matern52`"),
        ({"kernel": "rbf", "length": -1.0}, "the length of a kernel must be a number between 1e-100 and 1e100, not -1"),
        ({"kernel": "rbf", "length": 1.0, "graph": []}, "`kernel` and `graph` do not go together"),
        ({"graph": [(0,)]}, "an edge of `graph` is two arms and optionally a weight, not 1 values"),
        ({"graph": [(0, 0)]}, "an edge leads from node 0 to itself"),
        ({"graph": [(0, 1, -1.0)]}, "has the weight -1"),
        ({"graph": [(0, 1)], "model": "mixed"}, "a kernel or a graph goes with the estimator `ridge` only, not with `mixed`"),
    ],
)
def test_bad_kernels_and_graphs(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(cutline.InputError, match=re.escape(message)):
        begin(**keywords)


@pytest.mark.parametrize("rewards", [{1: 0.1, 2: 0.2, 3: 0.3}, {0.1, 0.2, 0.3}, frozenset({0.1, 0.2, 0.3})])
def test_dicts_and_sets_are_no_lists(rewards: Any) -> None:
    """A dict would be read as its keys, and the order of a set is arbitrary."""
    campaign = begin()
    tickets = campaign.ask(3)
    for work in (lambda: campaign.tell(tickets, rewards), lambda: campaign.observe(rewards, [0.1] * 3), lambda: campaign.void(rewards)):
        with pytest.raises(cutline.InputError, match="must be a list"):
            work()
    assert campaign.progress.told == 0


def test_booleans_are_no_numbers_of_things() -> None:
    campaign = begin()
    campaign.ask(2)
    for work in (
        lambda: campaign.ask(True),
        lambda: campaign.ask(replicates=True),
        lambda: campaign.tell(True, 0.1),
        lambda: campaign.extend(True),
        lambda: begin(seed=True),
        lambda: cutline.simulate(cutline.Experiment.from_paper("wine"), runs=True),
    ):
        with pytest.raises(cutline.InputError, match="not True"):
            work()
    assert campaign.tell(1, True) == 1, "but a reward may be pass or fail"


def test_verdicts_can_be_pickled() -> None:
    campaign = begin()
    finish(campaign)
    campaign.withdraw(3)
    verdicts = campaign.verdicts
    assert pickle.loads(pickle.dumps(verdicts)) == copy.deepcopy(verdicts) == verdicts and verdicts[3].withdrawn
    assert repr(copy.copy(verdicts[3])) == repr(verdicts[3])
