"""How a campaign stands, the plan of its rest, and the campaigns of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

import cutline


def begun(**keywords: object) -> cutline.Campaign:
    """Twenty arms whose means are their features, each measured once."""
    settings: dict[str, object] = {"threshold": 9.5, "budget": 60, **keywords}
    campaign = cutline.Campaign([[float(i)] for i in range(20)], **settings)  # type: ignore[arg-type]
    campaign.observe(list(range(20)), [i + 0.5 * (-1.0) ** i for i in range(20)], counted=True)
    return campaign


def test_the_standing_agrees_with_the_verdicts() -> None:
    campaign = begun()
    standing, verdicts = campaign.standing, campaign.verdicts
    for side in ("above", "below", "undecided"):
        assert standing[side] == sum(verdict.side == side for verdict in verdicts)
    for side in ("above", "below"):
        assert standing[f"{side}_proved"] == sum(verdict.side == side and verdict.basis == "proved" for verdict in verdicts)
    assert standing["repeats"] == 0 and "no repeated measurement" in " ".join(standing["remarks"])
    assert standing["wrong_calls"] == pytest.approx(sum(verdict.doubt for verdict in verdicts))
    assert standing["wrong_calls"] == pytest.approx(campaign.expected_errors)
    assert standing["may_stop"] == (standing["undecided"] == 0)
    assert (standing["fit"], standing["fit_p_value"], standing["remaining"]) == ("adapts", None, 40)
    assert standing["rest"]["measurements"] == 40
    assert 0.0 <= standing["rest"]["wrong_calls"] <= standing["wrong_calls"] + 1.0
    assert campaign.progress.standing == standing
    assert campaign.progress == campaign.progress


def test_a_campaign_without_rewards_has_nothing_to_say() -> None:
    standing = cutline.Campaign(3, threshold=0.0, budget=9).standing
    assert (standing["undecided"], standing["wrong_calls"], standing["rest"], standing["may_stop"]) == (3, None, None, False)


def test_nothing_is_forecast_from_nine_rewards() -> None:
    campaign = cutline.Campaign([[float(i)] for i in range(20)], threshold=9.5, budget=60)
    campaign.observe(list(range(9)), list(range(9)), counted=True)
    standing = campaign.standing
    assert (standing["wrong_calls"], standing["rest"], standing["remarks"], campaign.expected_errors) == (None, None, [], None)
    campaign.observe(9, 9.0, counted=True)
    assert campaign.expected_errors == campaign.standing["wrong_calls"] is not None


def test_the_rest_of_a_campaign_is_planned() -> None:
    campaign = begun(model="linear")
    plan = campaign.plan(runs=20, budgets=[10, 40])
    assert [row["budget"] for row in plan.prospects] == [10, 40]
    assert plan.to_dict()["remaining"] == 40
    assert plan.to_dict()["rest"]["wrong_calls"] == plan.prospects[1]["mean_errors"]
    assert "estimator ridge" in plan.heading
    assert plan.prospects == campaign.plan(runs=20, budgets=[10, 40], threads=1).prospects
    assert campaign.plan(runs=5, target=0.5).goal == "failure-probability"
    with pytest.raises(cutline.InputError, match="two goals"):
        campaign.plan(wrong=0.1, target=0.1)
    with pytest.raises(cutline.InputError, match="a pilot needs rewards"):
        cutline.Campaign(3, threshold=0.0, budget=9).plan()


def test_campaigns_are_renamed_copied_and_deleted(tmp_path: Path) -> None:
    storage, other = (str(tmp_path / name) for name in ("a.db", "b.db"))
    campaign = begun(storage=storage, name="first")
    cutline.rename(storage, "second")
    cutline.copy(storage, "third", name="second")
    cutline.copy(storage, "fourth", name="second", to=other)
    assert (cutline.campaigns(storage), cutline.campaigns(other)) == (["second", "third"], ["fourth"])
    assert cutline.open(other).to_records() == campaign.to_records()
    cutline.delete(storage, "second")
    assert cutline.campaigns(storage) == ["third"]
    with pytest.raises(cutline.CutlineError, match="the campaign was deleted, so nothing more was saved"):
        campaign.ask()
    with pytest.raises(cutline.NotFoundError):
        cutline.delete(storage, "second")
    with pytest.raises(cutline.CutlineError, match="already a campaign `third`"):
        cutline.copy(storage, "third", name="third")


def test_a_precision_that_leaves_nothing_to_decide_is_refused() -> None:
    with pytest.raises(cutline.InputError, match="leaves nothing to decide"):
        cutline.plan([[float(i)] for i in range(20)], threshold=4500.0, precision=100.0)
