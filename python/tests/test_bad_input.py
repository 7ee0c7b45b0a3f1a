"""Any argument gives a result or one of our exceptions, with a message of one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutline

ANYTHING: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 30),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.one_of(st.floats(), st.integers(), st.text(max_size=2), st.none()), max_size=4),
    st.dictionaries(st.text(max_size=3), st.floats(), max_size=2),
    st.just(object()),
    st.just(1j),
    st.just(np.float32(1.5)),
    st.just(np.array([[1.0]])),
)
SETTINGS = (
    "threshold precision model algorithm estimator parameters noise interval confidence until_sure prepare seed name names features"
).split()


def is_one_line(error: cutline.CutlineError) -> bool:
    return "\n" not in str(error) and len(str(error)) > 10


@given(setting=st.sampled_from(SETTINGS), value=ANYTHING)
@settings(max_examples=600, deadline=None)
def test_settings(setting: str, value: Any) -> None:
    try:
        cutline.Campaign([[1.0], [2.0]], **{"threshold": 0.0, "budget": 5, setting: value})
    except cutline.CutlineError as error:
        assert is_one_line(error)


@given(budget=st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.text(), st.none()))
@settings(deadline=None)
def test_budgets(budget: Any) -> None:
    try:
        campaign = cutline.Campaign([[1.0], [2.0]], threshold=0.0, budget=budget)
    except cutline.InputError as error:
        assert is_one_line(error)
        assert not (isinstance(budget, int) and 1 <= budget < 2**32)
    else:
        assert campaign.progress.budget == budget


@given(X=ANYTHING)
@settings(max_examples=300, deadline=None)
def test_arms(X: Any) -> None:
    if isinstance(X, int) and X > 1000:
        return
    try:
        cutline.Campaign(X, threshold=0.0, budget=50)
    except cutline.InputError as error:
        assert is_one_line(error)


@given(ticket=ANYTHING, reward=ANYTHING)
@settings(max_examples=600, deadline=None)
def test_tickets_and_rewards(ticket: Any, reward: Any) -> None:
    campaign = cutline.Campaign([[1.0], [2.0]], threshold=0.0, budget=5)
    campaign.ask(3)
    for work in (
        lambda: campaign.tell(ticket, reward),
        lambda: campaign.fail(ticket, reward),
        lambda: campaign.expire(ticket),
        lambda: campaign.observe(ticket, reward),
        lambda: campaign.ask(ticket if not isinstance(ticket, int) or ticket < 50 else 1, lease=reward),
        lambda: campaign.events(ticket),
        lambda: campaign.amend(ticket, reward),
        lambda: campaign.void(ticket, reward),
        lambda: campaign.withdraw(ticket, reward),
        lambda: campaign.restore(ticket),
        lambda: campaign.ask(replicates=reward),
    ):
        try:
            work()
        except cutline.CutlineError as error:
            assert is_one_line(error)
    assert len(campaign.verdicts) == 2 and campaign.progress.budget == 5


CHANGES = "threshold precision noise until_sure confidence algorithm model budget".split()


@given(setting=st.sampled_from(CHANGES), value=ANYTHING)
@settings(max_examples=300, deadline=None)
def test_changes(setting: str, value: Any) -> None:
    campaign = cutline.Campaign([[1.0], [2.0]], threshold=0.0, budget=5)
    before = campaign.settings
    try:
        campaign.set(**{setting: value})
    except cutline.CutlineError as error:
        assert is_one_line(error) and campaign.settings == before


@given(X=ANYTHING, names=ANYTHING)
@settings(max_examples=300, deadline=None)
def test_further_arms(X: Any, names: Any) -> None:
    if isinstance(X, int) and X > 1000:
        return
    campaign = cutline.Campaign([[1.0], [2.0]], threshold=0.0, budget=5)
    for work in (campaign.predict, campaign.add):
        for keywords in ({}, {"names": names}):
            try:
                work(X, **keywords)
            except cutline.InputError as error:
                assert is_one_line(error)
    assert len(campaign.verdicts) == len(campaign.names)


@given(
    keys=st.dictionaries(
        st.sampled_from(["budgets", "threshold", "precision", "noise", "instance", "algorithm", "baseline", "stop", "name"]),
        ANYTHING,
        max_size=3,
    )
)
@settings(max_examples=300, deadline=None)
def test_experiments(keys: dict[str, Any]) -> None:
    good = {"budgets": [9], "threshold": 0.0, "instance": {"kind": "means", "means": [1.0, -1.0]}, "algorithm": ["apt"]}
    try:
        cutline.Experiment({**good, **keys})
    except cutline.InputError as error:
        assert is_one_line(error)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"budget": 0}, "`budget` must be a whole number between 1 and 4294967295, not 0"),
        ({"budget": 2.5}, "`budget` must be a whole number between 1 and 4294967295, not 2.5"),
        ({"threshold": "x"}, "`threshold` must be a number, not 'x'"),
        ({"threshold": float("nan")}, "threshold"),
        ({"precision": -0.1}, "precision"),
        ({"algorithm": "pivott"}, "unknown algorithm `pivott`; known: `linear-apt`"),
        ({"estimator": "x"}, "unknown estimator `x`"),
        ({"model": "x"}, "unknown model `x`; use `mixed`, `linear` or `independent`"),
        ({"model": 3}, "`model`"),
        ({"model": "mixed", "prepare": ()}, 'does not apply to the mixed model, which standardises them and learns the level itself; leave out `prepare=`, or pass `model="linear"`'),
        ({"prepare": ["centre"]}, "does not apply to the mixed model"),
        ({"model": "independent", "prepare": ["centre"]}, "does not apply to sample means"),
        ({"parameters": {"lambda": 1.0}}, '`lambda` does not apply to the mixed model, which learns its variances and the level from the rewards; pass `model="linear"`'),
        ({"model": "linear", "estimator": "mixed"}, "the model `linear` uses the estimator `ridge`, not `mixed`; leave out `estimator=`"),
        ({"model": "independent", "algorithm": "pivot"}, "needs variances, which the estimator `sample-mean` does not have; the estimators `mixed` and `ridge` have them"),
        ({"model": "mixed", "algorithm": "lingame", "noise": 1.0}, "the estimator `ridge` does not learn it"),
        ({"parameters": {"gamma": 1.0}}, "takes no parameter `gamma`"),
        ({"parameters": {"noise": 1.0}}, "set `noise` with the keyword `noise`, not in `parameters`"),
        ({"parameters": {"centre": 1.0}}, "set `centre` with the keyword `prepare`"),
        ({"noise": 0.0}, "noise"),
        ({"confidence": 1.0}, "`confidence` must be a number above 0 and below 1, not 1"),
        ({"interval": "wide"}, "wide"),
        ({"until_sure": "expected-errors"}, "`expected-errors` needs a number above 0, as in `expected-errors 3`"),
        ({"model": "linear", "until_sure": "expected-errors 3"}, 'needs the estimator `mixed`, not `ridge`; pass `model="mixed"`'),
        ({"until_sure": "intervals"}, "new campaigns have no stop `intervals`: use `proved`"),
        ({"until_sure": "soon"}, "unknown stopping criterion `soon`; use `proved`, `evidence` or `expected-errors`"),
        ({"prepare": "centre"}, "`prepare` must be a list, not 'centre'"),
        ({"prepare": ["scale"]}, "must be `standardise`, `intercept` or `centre`, not `scale`"),
        ({"seed": -1}, "`seed` must be a whole number between 0 and 18446744073709551615, not -1"),
        ({"name": ""}, "`` cannot be a name"),
        ({"algorithm": "lingame"}, "cannot estimate the noise during a campaign; it needs a given `noise`; pass it as `noise=`"),
    ],
)
def test_messages(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(cutline.InputError) as caught:
        cutline.Campaign([[1.0], [2.0]], **{"threshold": 0.0, "budget": 5, **changed})
    assert message in str(caught.value)


def test_a_budget_below_the_number_of_arms() -> None:
    hint = "the algorithm `pivot` works with a smaller budget"
    expected = f"a budget of 1 is too small for 2 arms: every arm is pulled once first; {hint}"
    with pytest.raises(cutline.InputError) as caught:
        cutline.Campaign([[1.0], [2.0]], threshold=0.0, budget=1, algorithm="linear-apt")
    assert str(caught.value) == expected
    with pytest.raises(cutline.InputError) as caught:
        cutline.plan([[1.0], [2.0]], threshold=0.0, budgets=[1], algorithms=["linear-apt"])
    assert hint in str(caught.value)


def test_hints_for_rules_that_need_features_or_variances() -> None:
    with pytest.raises(cutline.InputError, match="; the estimators `mixed` and `sample-mean` work without$"):
        cutline.Campaign(3, threshold=0.0, budget=5, algorithm="linear-apt")
    with pytest.raises(cutline.InputError, match="; the estimators `mixed` and `ridge` have them$"):
        cutline.Campaign([[1.0], [2.0]], threshold=0.0, budget=5, algorithm="pivot", estimator="sample-mean")


def test_exceptions_are_also_standard_ones() -> None:
    kinds = {
        cutline.InputError: ValueError,
        cutline.NotFoundError: KeyError,
        cutline.RefusedError: RuntimeError,
        cutline.StorageError: RuntimeError,
    }
    for kind, standard in kinds.items():
        assert issubclass(kind, cutline.CutlineError) and issubclass(kind, standard)
    assert str(cutline.NotFoundError("there is no ticket 3")) == "there is no ticket 3", "without quotes"


def test_keywords_are_checked_by_python() -> None:
    with pytest.raises(TypeError, match="threshold"):
        cutline.Campaign([[1.0]], budget=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="treshold"):
        cutline.Campaign([[1.0]], treshold=0.0, threshold=0.0, budget=3)  # type: ignore[call-arg]
