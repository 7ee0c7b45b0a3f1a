"""A campaign's whole life: corrections, withdrawn and added arms, another budget, another question."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cutline

RNG = np.random.default_rng(15)
X = RNG.normal(size=(30, 3))
THETA = np.array([1.0, -0.5, 0.25])
LATE = RNG.normal(size=(10, 3))
COLUMNS = ["a", "b", "c"]


def frame(features: Any, first: str) -> pd.DataFrame:
    names = [f"{first} {arm}" for arm in range(len(features))]
    return pd.DataFrame(features, columns=COLUMNS).assign(name=names)


def reward(ticket: cutline.Ticket) -> float:
    """A function of the ticket, so that all campaigns of a test get the same rewards."""
    noise = np.random.default_rng(ticket.ticket).normal(scale=0.1)
    return float(ticket.features @ THETA + noise)


def begin(**settings: Any) -> cutline.Campaign:
    return cutline.Campaign(frame(X, "arm"), **{"threshold": 0.2, "budget": 60, "seed": 7, **settings})


def measure(campaign: cutline.Campaign, n: int) -> list[cutline.Ticket]:
    """One after the other, so that every choice follows from all rewards before it."""
    tickets = []
    for _ in range(n):
        ticket = campaign.ask()
        assert ticket is not None
        campaign.tell(ticket, reward(ticket))
        tickets.append(ticket)
    return tickets


def means(campaign: cutline.Campaign) -> Any:
    return np.array([verdict.mean for verdict in campaign.verdicts])


def report(campaign: cutline.Campaign) -> Any:
    """The report, a data frame where pandas is installed."""
    return campaign.report()


def test_a_whole_life(tmp_path: Path) -> None:
    screen = str(tmp_path / "screen.db")
    plan = cutline.plan(X, threshold=0.2, explained=0.9, noise_ratio=0.2, budgets=[30, 60], runs=20)
    assert plan.to_pandas()["budget"].tolist() == [30, 60]

    campaign = begin(storage=screen)
    tickets = measure(campaign, 20)
    wrong = tickets[3]
    before = means(campaign)

    assert campaign.amend(wrong, 9.0, "mistyped") == 1
    assert abs(means(campaign) - before).max() > 0.1
    assert campaign.amend(wrong, reward(wrong), "it was right") == 1
    np.testing.assert_allclose(means(campaign), before, rtol=1e-9)
    amended = [event for event in campaign.events() if event["event"] == "amended"]
    assert [(e["ticket"], e["reward"], e["reason"]) for e in amended][0] == (wrong.ticket, 9.0, "mistyped")

    assert campaign.void([tickets[0], tickets[1].ticket], "wrong sample") == 2
    assert (campaign.progress.told, campaign.progress.voided) == (18, 2)

    assert campaign.withdraw("arm 4", "does not dissolve") == 1
    assert campaign.withdrawn == {"arm 4": "does not dissolve"} and campaign.progress.withdrawn == 1
    while (ticket := campaign.ask()) is not None:
        assert ticket.name != "arm 4"
        campaign.tell(ticket, reward(ticket))
    assert (campaign.progress.told, campaign.progress.ending) == (60, "budget")

    assert campaign.extend(80)
    assert (campaign.progress.budget, campaign.settings["budget"], campaign.progress.ending) == (80, 80, None)
    measure(campaign, 10)

    late = frame(LATE, "late")
    predicted: Any = campaign.predict(late)
    assert len(report(campaign)) == 30 and list(predicted["name"]) == list(late["name"])
    assert campaign.add(late) == 10
    assert campaign.add(late) == 0, "those are in the campaign already"
    added = report(campaign)[30:].reset_index(drop=True)
    pd.testing.assert_frame_equal(predicted, added)
    truth = LATE @ THETA
    assert (abs(added["mean"] - truth) < 0.5).all() and (added["pulls"] == 0).all()

    assert campaign.set(threshold=0.6)
    final = report(campaign)
    assert final.attrs["model"] == "mixed" and campaign.settings["threshold"] == 0.6
    above = final["mean"] >= 0.6
    assert (above == (np.concatenate([X, LATE]) @ THETA >= 0.6)).mean() > 0.85
    assert list(final.loc[final["withdrawn"], "name"]) == ["arm 4"]
    measure(campaign, 10)
    assert campaign.progress.ending == "budget"

    opened = cutline.open(screen)
    assert opened.names == campaign.names and opened.names[30:] == list(late["name"])
    assert opened.verdicts == campaign.verdicts and opened.settings == campaign.settings
    assert opened.withdrawn == campaign.withdrawn and opened.progress == campaign.progress


def test_settings_change_one_at_a_time() -> None:
    campaign = begin(noise=0.1)
    measure(campaign, 30)
    for name, value in (
        ("threshold", 0.3),
        ("precision", 0.05),
        ("noise", 0.2),
        ("noise", None),
        ("budget", 90),
        ("until_sure", "expected-errors 1"),
        ("until_sure", None),
        ("algorithm", "straddle"),
        ("confidence", 0.75),
    ):
        change: dict[str, Any] = {name: value}
        before = {**campaign.settings, **change}
        assert campaign.set(**change) and not campaign.set(**change), "a second time, nothing changes"
        assert campaign.settings == before, name
    assert not campaign.set()
    assert campaign.set(model="independent") and campaign.model == "independent"
    assert campaign.set(model="linear", algorithm="straddle")
    assert (campaign.model, campaign.settings["algorithm"]) == ("linear", "straddle")


def test_a_change_counts_as_if_the_campaign_had_begun_so() -> None:
    campaign = begin()
    tickets = measure(campaign, 40)
    campaign.set(threshold=-0.2, precision=0.05)
    same = begin(threshold=-0.2, precision=0.05)
    same.observe([ticket.name for ticket in tickets], [reward(ticket) for ticket in tickets], counted=True)
    for one, other in zip(campaign.verdicts, same.verdicts):
        assert np.allclose([one.mean, one.doubt, one.lower], [other.mean, other.doubt, other.lower], rtol=1e-9, atol=1e-12)


def test_replicates_are_one_ticket() -> None:
    campaign = begin()
    one, other = campaign.ask(2, replicates=3)
    assert (one.replicates, other.replicates, other.ticket) == (3, 3, 4)
    assert repr(one) == f"Ticket(1, arm={one.arm}, name={one.name!r}, replicates=3)".replace("'", '"')
    assert pickle.loads(pickle.dumps(one)) == one
    assert campaign.progress.open == 6
    assert campaign.tell(one, [0.1, 0.2, 0.3]) == 3
    assert campaign.tell(one, np.array([0.1, 0.2, 0.3])) == 0
    assert campaign.verdicts[one.arm].pulls == 3
    with pytest.raises(cutline.InputError, match="ticket 4 is for 3 measurements, not for 4"):
        campaign.tell(other, [0.1] * 4)
    with pytest.raises(cutline.InputError, match="a ticket needs at least one reward"):
        campaign.tell(other, [])
    assert campaign.tell(other.ticket, [0.4]) == 1 and campaign.progress.open == 2
    assert campaign.tell(other, [0.4, 0.5, 0.6]) == 2 and campaign.progress.open == 0
    tickets = campaign.ask(2, replicates=2)
    assert campaign.tell(tickets, np.array([[1.0, 2.0], [3.0, 4.0]])) == 4
    assert campaign.amend(tickets[0], [1.5, 2.5]) == 2
    assert campaign.amend(tickets[0].ticket + 1, 2.0) == 1
    rewards = {e["ticket"]: e["reward"] for e in campaign.events() if e["event"] in ("told", "amended")}
    assert [rewards[tickets[0].ticket + i] for i in range(4)] == [1.5, 2.0, 3.0, 4.0]
    last = campaign.ask(replicates=100)
    assert last is not None and last.replicates == 50, "as far as the budget goes"
    assert campaign.fail(last) and campaign.progress.open == 0


def test_a_worker_gets_its_open_tickets_again(tmp_path: Path) -> None:
    screen = str(tmp_path / "screen.db")
    begin(storage=screen)
    first = cutline.open(screen).ask(2, worker="bench 3", replicates=2)
    other = cutline.open(screen).ask(worker="bench 4", resume=True)
    again = cutline.open(screen).ask(3, worker="bench 3", resume=True)
    assert other is not None and other.ticket == 5, "this worker had none"
    key = [(ticket.ticket, ticket.arm, ticket.replicates, tuple(ticket.features)) for ticket in first]
    assert [(ticket.ticket, ticket.arm, ticket.replicates, tuple(ticket.features)) for ticket in again[:2]] == key
    assert (again[2].ticket, again[2].replicates) == (6, 1)


def test_names_are_up_to_date_everywhere(tmp_path: Path) -> None:
    """Also in handles that were open before another process added the arms."""
    screen = str(tmp_path / "screen.db")
    campaign = begin(storage=screen)
    campaign.observe("arm 0", 1.0)
    add = """
import sys, cutline
import pandas as pd
late = pd.DataFrame({"c": [3.0], "a": [1.0], "b": [2.0], "d": ["not a feature"]})
print(cutline.open(sys.argv[1]).add(late, names=["late"]))
"""
    assert subprocess.run([sys.executable, "-c", add, screen], capture_output=True, text=True).stdout == "1\n"
    campaign.observe(["late", 30], [1.0, 2.0])
    assert campaign.verdicts[30].name == "late" and campaign.verdicts[30].pulls == 2
    assert campaign.names[30] == "late" and len(campaign.names) == 31
    features = campaign.features
    assert features is not None and features[30].tolist() == [1.0, 2.0, 3.0], "the columns of the campaign, in its order"
    assert campaign.to_records()[30]["name"] == "late"
    assert campaign.withdraw("late") == 1 and campaign.withdrawn == {"late": ""}
    assert "late" in campaign.figure().svg
    assert [arm["name"] for arm in campaign.diagnose()["arms"]] == ["arm 0", "late"]
    assert cutline.open(screen).extend(61) and campaign.settings["budget"] == 61
    assert cutline.open(screen).set(threshold=0.9) and campaign.settings["threshold"] == 0.9


def test_the_meaning_of_integers_follows_the_names() -> None:
    campaign = cutline.Campaign(["a", "b"], threshold=0.0, budget=9)
    campaign.observe(1, 0.5)
    assert campaign.add(["7"]) == 1
    with pytest.raises(cutline.InputError, match="the arm 1 is ambiguous"):
        campaign.observe(1, 0.5)
    campaign.observe("b", 0.5)


@pytest.mark.parametrize(
    ("first", "more", "names"),
    [
        (X, LATE, [str(arm) for arm in range(30, 40)]),
        (pd.DataFrame(X, columns=COLUMNS), pd.DataFrame(LATE, columns=COLUMNS), [str(arm) for arm in range(30, 40)]),
        (pd.DataFrame(X), pd.DataFrame(LATE, index=range(50, 60)), [str(arm) for arm in range(50, 60)]),
        (4, 2, ["4", "5"]),
        (["a", "b"], ["c"], ["c"]),
        (frame(X, "arm"), frame(LATE, "late"), [f"late {arm}" for arm in range(10)]),
    ],
)
def test_arms_are_added_as_they_are_given(first: Any, more: Any, names: list[str]) -> None:
    campaign = cutline.Campaign(first, threshold=0.0, budget=50)
    known = campaign.names
    assert campaign.add(more) == len(names)
    assert campaign.names == known + names


@pytest.mark.filterwarnings("ignore:.* missing value.* in column `mass` became")
def test_further_arms_become_features_as_the_first_ones_did() -> None:
    first = pd.DataFrame({"island": ["north", "south"] * 6, "mass": [3.0, np.nan, *range(10)]})
    campaign = cutline.Campaign(first, threshold=0.0, budget=50, categories=["island"], missing="mean")
    more = pd.DataFrame({"mass": [np.nan, 4.0], "note": ["x", "y"], "island": ["south", "north"]})
    predicted: Any = campaign.predict(more)
    assert list(predicted["name"]) == ["12", "13"] and campaign.add(more) == 2
    features = campaign.features
    assert features is not None and features.shape == (14, len(campaign.columns))
    np.testing.assert_array_equal(features[12], features[1], "the same island, and also without a mass")
    twin = pickle.loads(pickle.dumps(campaign))
    assert twin.columns == campaign.columns and twin.add(more.assign(name=["late", "later"])) == 2


def test_added_arms_need_names_where_the_others_have_them() -> None:
    campaign = begin()
    for more in (LATE, pd.DataFrame(LATE, columns=COLUMNS)):
        with pytest.raises(cutline.InputError, match="need them too; pass `names=`"):
            campaign.add(more)
    assert campaign.add(pd.DataFrame(LATE, columns=COLUMNS), names=range(100, 110)) == 10
    named = cutline.Campaign(["a", "b"], threshold=0.0, budget=50)
    with pytest.raises(cutline.InputError, match="need them too; pass `names=`"):
        named.add(2)
    assert len(report(named)) == 2


def test_predictions_have_the_form_of_the_report() -> None:
    campaign = begin()
    measure(campaign, 40)
    events = campaign.events()
    predicted: Any = campaign.predict(frame(LATE, "late"))
    assert campaign.events() == events and len(campaign.names) == 30
    assert list(predicted.columns) == list(report(campaign).columns)
    assert (predicted.dtypes == report(campaign).dtypes).all()
    assert predicted.attrs["finding"] == campaign.finding
    assert np.isclose(predicted.attrs["expected_errors"], predicted["doubt"].sum())
    unnamed: Any = campaign.predict(pd.DataFrame(LATE, columns=COLUMNS))
    assert list(unnamed["name"]) == [str(arm) for arm in range(30, 40)]
    np.testing.assert_array_equal(unnamed["mean"], predicted["mean"])
    same: Any = campaign.predict(frame(X, "arm"))
    assert list(same["name"]) == campaign.names, "names may be those of the campaign"


def test_kernels_and_graphs_take_further_arms() -> None:
    smooth = cutline.Campaign(X, threshold=0.2, budget=60, noise=0.1, kernel="rbf", length=1.0)
    measure(smooth, 40)
    predicted: Any = smooth.predict(LATE)
    assert smooth.add(LATE) == 10
    np.testing.assert_array_equal(report(smooth)["mean"][30:], predicted["mean"])
    path = cutline.Campaign(["a", "b"], threshold=0.5, budget=9, noise=0.1, graph=[("a", "b")])
    path.observe(["a", "b"], [2.0, 2.0])
    assert path.add(["c"]) == 1
    assert [verdict.side for verdict in path.verdicts] == ["above", "above", "undecided"], "it has no edges"


def test_withdrawn_arms() -> None:
    campaign = begin()
    assert campaign.withdraw([0, "arm 1", np.int64(2)], "gone") == 3
    assert campaign.withdraw("arm 1", "other") == 0
    verdict = campaign.verdicts[1]
    assert verdict.withdrawn and not campaign.verdicts[3].withdrawn
    assert repr(verdict).endswith(", withdrawn)") and "withdrawn=3" in repr(campaign.progress)
    assert campaign.restore(["arm 0", "arm 2"]) == 2 and campaign.restore("arm 0") == 0
    assert campaign.withdrawn == {"arm 1": "gone"}
    assert campaign.to_records()[1]["withdrawn"] is True and campaign.to_records()[0]["withdrawn"] is False
    campaign.withdraw(campaign.names)
    assert campaign.ask() is None and campaign.progress.ending == "withdrawn"


def test_run_withdraws_an_arm_that_fails_again_and_again() -> None:
    calls: list[str] = []

    def broken(ticket: cutline.Ticket) -> float:
        calls.append(ticket.name)
        if ticket.name in ("arm 3", "arm 5"):
            raise OSError("no signal")
        return reward(ticket)

    for workers in (1, 4):
        calls.clear()
        campaign = cutline.run(begin(budget=90, model="independent"), broken, give_up=3, workers=workers)
        assert campaign.progress.told == 90 and campaign.progress.open == 0
        assert campaign.withdrawn == {"arm 3": "OSError: no signal", "arm 5": "OSError: no signal"}
        most = 3 + workers - 1  # tickets that were open when the arm was withdrawn
        assert all(3 <= calls.count(name) <= most for name in campaign.withdrawn)
    once = cutline.run(begin(model="independent"), broken, give_up=1)
    assert once.progress.failed == 2 and once.progress.told == 60
    campaign = begin(model="independent")
    with pytest.raises(OSError, match="no signal"):
        cutline.run(campaign, broken, give_up=3, failures=4)
    assert campaign.progress.failed == 5 and len(campaign.withdrawn) == 1
    campaign = begin(model="independent")
    with pytest.raises(OSError, match="no signal"):
        cutline.run(campaign, broken)
    assert campaign.progress.failed == 1 and campaign.withdrawn == {}


def test_run_ends_if_nothing_can_be_measured() -> None:
    """Not the arms are the reason then, so they are available again."""

    def broken(ticket: cutline.Ticket) -> float:
        return float("nan")

    for n_arms, failed in ((2, 4), (20, 6)):
        campaign = cutline.Campaign(n_arms, threshold=0.0, budget=50)
        with pytest.raises(cutline.InputError, match="`measure` must return a finite number, but returned nan for"):
            cutline.run(campaign, broken, give_up=2)
        assert (campaign.progress.failed, campaign.progress.open) == (failed, 0)
        assert campaign.withdrawn == {}
        kinds = [event["event"] for event in campaign.events()]
        assert kinds.count("withdrawn") == kinds.count("restored") == min(n_arms, 3)
    with pytest.raises(cutline.InputError, match="`give_up` must be a whole number of at least 1"):
        cutline.run(3, broken, threshold=0.0, budget=9, give_up=0)


@pytest.mark.parametrize("duplicate", [lambda c: pickle.loads(pickle.dumps(c)), copy.copy, copy.deepcopy])
def test_a_changed_campaign_is_pickled_with_its_changes(duplicate: Callable[[Any], Any]) -> None:
    campaign = begin()
    tickets = measure(campaign, 20)
    campaign.set(threshold=0.5, model="linear")
    campaign.ask(2, replicates=2)
    campaign.amend(tickets[2], 1.5)
    campaign.void(tickets[5])
    campaign.add(frame(LATE, "late"))
    campaign.withdraw("late 3", "gone")
    campaign.extend(70)
    twin = duplicate(campaign)
    assert (twin.names, twin.settings, twin.events()) == (campaign.names, campaign.settings, campaign.events())
    assert (twin.verdicts, twin.withdrawn, twin.progress) == (campaign.verdicts, campaign.withdrawn, campaign.progress)
    np.testing.assert_array_equal(twin.features, np.concatenate([X, LATE]))
    assert twin.columns == COLUMNS
    assert measure(twin, 10) == measure(campaign, 10)
    twin.add(frame(LATE, "later"))
    assert len(twin.names) == 50 and len(campaign.names) == 40, "they are independent"


class Second:
    def choose(self, beliefs: cutline.Beliefs) -> int:
        return 1


def test_a_custom_rule_gives_way_to_a_named_algorithm(tmp_path: Path) -> None:
    for storage in (None, str(tmp_path / "screen.db")):
        campaign = begin(algorithm=Second(), storage=storage, parameters={"explore": 0})
        assert {ticket.arm for ticket in measure(campaign, 5)} == {1}
        with pytest.raises(cutline.InputError, match="a custom rule is given when it begins"):
            campaign.set(algorithm=Second())  # type: ignore[arg-type]
        assert isinstance(campaign.rule, Second) and campaign.set(threshold=0.3)
        assert campaign.set(algorithm="pivot") and campaign.rule is None
        twin = pickle.loads(pickle.dumps(campaign))
        assert twin.rule is None and twin.settings == campaign.settings
        assert len({ticket.arm for ticket in measure(twin, 20)}) > 5
        if storage is not None:
            assert cutline.open(storage).settings["algorithm"] == "pivot"


def test_threads_change_a_campaign_at_the_same_time(tmp_path: Path) -> None:
    for storage in (None, str(tmp_path / "screen.db")):
        campaign = begin(budget=40, storage=storage)

        def work(thread: int, campaign: cutline.Campaign = campaign) -> None:
            for step in range(5):
                campaign.tell(campaign.ask(2), [0.1, 0.2])
                campaign.add(frame([[thread, step, 1.0]], f"late {thread} {step}"))
                campaign.withdraw(f"late {thread} {step} 0")
                assert len(copy.copy(campaign).names) >= 31
                assert f"late {thread} {step} 0" in campaign.names

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(campaign.names) == 50 and len(campaign.verdicts) == 50
        assert campaign.progress.told == 40 and campaign.progress.withdrawn == 20


def refused(kind: type[cutline.CutlineError], message: str, work: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        work()
    assert str(caught.value) == message


def test_bad_input_is_one_clear_line() -> None:
    campaign = begin()
    tickets = measure(campaign, 4)
    open_ticket = campaign.ask()
    assert open_ticket is not None
    events = campaign.events()
    late = frame(LATE, "late")
    bad = late.assign(a=np.where(late.index == 2, np.nan, 1.0))
    not_found, invalid, no = cutline.NotFoundError, cutline.InputError, cutline.RefusedError
    refused(not_found, "there is no arm `magic`", lambda: campaign.withdraw(["arm 1", "magic"]))
    refused(not_found, "there is no arm `magic`", lambda: campaign.restore("magic"))
    refused(not_found, "there is no ticket 99; the last one is 5", lambda: campaign.amend([1, 99], [0.5, 0.5]))
    refused(not_found, "there is no ticket 99; the last one is 5", lambda: campaign.void(99))
    nothing = "ticket 5 has no reward yet, so there is nothing to correct; tell it with `tell`"
    refused(no, nothing, lambda: campaign.amend(open_ticket, 0.5))
    refused(no, nothing, lambda: campaign.void(open_ticket))
    used = "the budget cannot be 3: 5 of it are used, counting open tickets"
    refused(no, used, lambda: campaign.extend(3))
    refused(no, used, lambda: campaign.set(budget=3))
    refused(invalid, "a reward must be a number between -1e80 and 1e80, not NaN", lambda: campaign.amend(1, np.nan))
    refused(invalid, "there are 2 tickets, but 1 rewards", lambda: campaign.amend([1, 2], [0.5]))
    for budget in (0, -1, 2.5, "many", None):
        with pytest.raises(invalid, match="`budget`"):
            campaign.extend(budget)  # type: ignore[arg-type]
    changes: list[tuple[str, Any]] = [
        ("threshold", np.nan),
        ("threshold", "high"),
        ("precision", -1.0),
        ("noise", 0.0),
        ("noise", "low"),
        ("until_sure", "magic"),
        ("until_sure", "intervals"),
        ("confidence", 1.5),
        ("algorithm", "magic"),
        ("model", "magic"),
    ]
    for setting, value in changes:
        with pytest.raises(invalid) as caught:
            campaign.set(**{setting: value})
        assert "\n" not in str(caught.value), setting
    for work in (campaign.add, campaign.predict):
        with pytest.raises(invalid, match="row 2, column `a`: the value is missing"):
            work(bad)
    refused(invalid, "there is no column `c`; there are `a`, `b`, `name`", lambda: campaign.add(late.drop(columns="c")))
    other = "the campaign has a candidate `arm 3` already, with other features"
    refused(invalid, other, lambda: campaign.add(late.assign(name=["arm 3", *late["name"][1:]])))
    columns = "the arms of this campaign have 3 features, and these have 1"
    refused(invalid, columns, lambda: campaign.add([[1.0]], names=["late"]))
    refused(invalid, columns, lambda: campaign.predict([[1.0]]))
    refused(invalid, "`replicates` must be a whole number between 1 and 4294967295, not 0", lambda: campaign.ask(replicates=0))
    assert campaign.events() == events, "nothing has changed"
    assert campaign.amend(tickets[0], 0.5) == 1
