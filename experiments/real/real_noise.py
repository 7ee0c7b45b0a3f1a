"""One run with real noise of `make study WHAT=real`: a replay with one seed, played by Cutline's default or by all the others.

All entrants are told features, threshold and budget, and nothing about the noise; a draw of an arm is the same for all. `gp-straddle` chooses
what to measure, and `none above` measures nothing and calls every arm below. The others measure all arms equally often in random order, then
estimate as `outside.py` and `lmm.py` say. With at most one measurement per arm, noise and differences between arms could not be told apart,
so where T ≤ K a share `REPEATS` of the measurements goes to arms that were measured before.
"""
import numpy as np

import lmm
import outside
import pools
import replays
import straddle

REPEATS = 0.2
"""Chosen on five of the replays: with a tenth instead, most of the others call more arms wrongly."""


def cell(entrant, share, budget):
    return {"threshold": f"{100 * pools.ABOVE:g} %", "entrant": entrant, "share": share, "budget": budget}


def play_cutline(name, seed):
    for row in replays.play(name, seed):
        entrant = "mixed" if row["told"] == "default" else f"mixed, {row['told']}"
        yield cell(entrant, row["share"], row["T"]) | row


def equal_measuring(table, budget, seed):
    """The means and numbers of measurements of all arms, and the sum of squares within arms."""
    order, draws = np.random.default_rng([seed, 1]).permutation(table.K), pools.Draws(table.pools, seed)
    repeats = round(REPEATS * budget) if budget <= table.K else 0
    arms = np.concatenate([order[np.arange(budget - repeats) % table.K], order[:repeats]])
    rewards = np.array([draws.draw(arm) for arm in arms])
    pulls = np.bincount(arms, minlength=table.K).astype(float)
    means = np.bincount(arms, rewards, table.K) / np.maximum(pulls, 1)
    return means, pulls, float(((rewards - means[arms]) ** 2).sum())


def estimates(table, budget, seed):
    """The estimates of every entrant that measures all arms equally often. σ is estimated from the repeats."""
    means, pulls, within = equal_measuring(table, budget, seed)
    sigma = np.sqrt(within / (pulls.sum() - np.count_nonzero(pulls)))
    return outside.estimates(table.X, means, pulls, sigma, seed, with_gp=True) | {"lmm": lmm.estimate(table.X, means, pulls, within)}


def play_outside(name, seed):
    table = replays.load(name)
    threshold = table.threshold(pools.ABOVE)
    budgets = [round(share * table.K) for share in replays.BUDGETS]
    adaptive = straddle.play(table, threshold, budgets, pools.Draws(table.pools, seed), seed)
    for share, budget, by_straddle in zip(replays.BUDGETS, budgets, adaptive):
        others = {"gp-straddle": by_straddle, "none above": np.full(table.K, -np.inf)}
        for entrant, estimate in (estimates(table, budget, seed) | others).items():
            wrong = (estimate >= threshold) != (table.y > threshold)
            yield cell(entrant, share, budget) | {"wrong": int(wrong.sum())}


PLAYS = {"cutline": play_cutline, "outside": play_outside}
