"""Proved and likely verdicts, and the settings that say what is to be proved."""

from __future__ import annotations

import pickle

import pytest

import cutline


def test_passes_prove_a_side() -> None:
    """Ten of ten against a bar of ½: by a mixture over the rates p from ½ to 1 with the density 12p(1 − p), the e-value is 2¹⁰ ∫ p¹⁰ 12p(1 − p) dp,
    and 20 are needed."""
    campaign = cutline.Campaign(["good", "bad", "new"], threshold=0.5, budget=40, rewards="bernoulli")
    campaign.observe(["good", "bad"] * 10, [1, 0] * 10)
    good, bad, new = campaign.verdicts
    assert [(verdict.side, verdict.basis) for verdict in (good, bad)] == [("above", "proved"), ("below", "proved")]
    expected = 12 * 2**10 * (1 / 12 - 1 / 13 - (1 / 12 - 1 / 26) / 2**12)
    assert [good.evidence, bad.evidence] == pytest.approx([expected, expected])
    assert (good.own_mean, bad.own_mean, new.own_mean) == (1.0, 0.0, None)
    assert (new.side, new.basis, new.evidence) == ("undecided", None, 1.0)
    assert good.probability_above == 1.0 - good.doubt and bad.probability_above == bad.doubt
    assert pickle.loads(pickle.dumps(good)) == good and ", above, proved, " in repr(good)
    assert "1 above (1 proved), 1 below (1 proved), 1 undecided" in campaign._repr_html_()


def test_one_reward_proves_nothing() -> None:
    """Two σ above the bar: the likelihood ratio, which no bet exceeds, is e² = 7.4."""
    campaign = cutline.Campaign(["a"], threshold=0.0, budget=9, noise=1.0)
    campaign.observe("a", 2.0)
    (verdict,) = campaign.verdicts
    assert (verdict.side, verdict.basis) == ("above", "likely") and verdict.evidence < 7.4


def test_the_guarantee_decides_what_is_proved() -> None:
    """With 1,000 arms, all of them together need an e-value of 20,000, and ten passes have 1,024 at most."""
    campaign = cutline.Campaign(1000, threshold=0.5, budget=2000, rewards="bernoulli")
    campaign.observe([0] * 10, [1] * 10)
    assert campaign.standing["above_proved"] == 1
    assert campaign.set(guarantee="all") and campaign.settings["guarantee"] == "all"
    assert campaign.standing["above_proved"] == 0
    with pytest.raises(cutline.InputError, match="unknown guarantee `some`; use `each`, `all` or `fdr`"):
        campaign.set(guarantee="some")  # type: ignore[arg-type]


def test_rewards_outside_the_range_are_refused() -> None:
    campaign = cutline.Campaign(2, threshold=0.5, budget=9, min=0.0, max=1.0)
    campaign.observe([0, 1], [0.0, 1.0])
    ticket = campaign.ask()
    assert ticket is not None
    for reward, words in ((1.5, "the reward 1.5 is above 1, the `max`"), (-0.5, "the reward -0.5 is below 0, the `min`")):
        with pytest.raises(cutline.InputError, match=words):
            campaign.tell(ticket, reward)
        with pytest.raises(cutline.InputError, match=words):
            campaign.observe(0, reward)
    with pytest.raises(cutline.InputError, match="the threshold 2 must lie between `min` and `max`"):
        cutline.Campaign(2, threshold=2.0, budget=9, min=0.0, max=1.0)
    counts = cutline.Campaign(2, threshold=1.5, budget=9, rewards="count")
    counts.observe([0, 1], [0, 7])
    with pytest.raises(cutline.InputError, match="the rewards of this campaign are counts, 0, 1, 2 and so on, not 0.5"):
        counts.observe(0, 0.5)


def test_a_campaign_ends_when_everything_is_proved() -> None:
    campaign = cutline.Campaign(["good", "bad"], threshold=0.5, budget=400, rewards="bernoulli", until_sure="proved")
    while (ticket := campaign.ask()) is not None:
        campaign.tell(ticket, 1 if ticket.name == "good" else 0)
    assert campaign.progress.ending == "proved" and campaign.progress.told < 40
    assert [verdict.basis for verdict in campaign.verdicts] == ["proved", "proved"]
