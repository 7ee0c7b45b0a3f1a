"""One run of `make study WHAT=real`: a table at a noise level, with one seed, played by all of Cutline's entrants or by all the others."""
import numpy as np

import tables

NOISES = (0.5, 1.5)
"""σ in spreads of the means."""
PRECISION = 0.1
"""ε in spreads of the means."""
BUDGETS = (0.25, 0.5, 1, 2, 4)
"""T in numbers of arms."""
BINS = (0.0, 0.001, 0.01, 0.05, 0.2, 1.0)
"""The edges of the bins in which doubts are compared with the share of wrong calls."""


class Noise:
    """Standard normal noise, the same for the n-th measurement of an arm in every entrant of a seed."""

    def __init__(self, seed):
        self.seed, self.arms = seed, {}

    def draw(self, arm):
        generator, drawn = self.arms.get(arm, (None, []))
        if not drawn:
            generator = generator or np.random.default_rng([self.seed, 0, int(arm)])
            drawn = list(generator.standard_normal(16)[::-1])
            self.arms[arm] = generator, drawn
        return drawn.pop()


def score(table, threshold, columns):
    """Wrong calls, and for entrants with intervals and doubts how far those hold. A doubt is the probability of a wrong call."""
    means, truth = np.asarray(columns["mean"]), table.y
    wrong = ((means >= threshold) != (truth > threshold)) & (abs(truth - threshold) > PRECISION * table.spread)
    row = {"wrong": int(wrong.sum())}
    if "doubt" in columns:
        doubt = columns["doubt"]
        row["doubts"] = float(doubt.sum())
        row["coverage"] = float(((columns["lower"] <= truth) & (truth <= columns["upper"])).mean())
        inside = [(low <= doubt) & (doubt < high) for low, high in zip(BINS, BINS[1:])]
        row["bins"] = [[int(b.sum()), float(doubt[b].sum()), int(wrong[b].sum())] for b in inside]
    return row


def play_cutline(name, level, seed, _gp):
    import campaigns

    table = tables.load(name)
    budgets, rows = [max(round(b * table.K), 1) for b in BUDGETS], []
    for threshold_name, threshold in table.thresholds().items():
        for entrant in campaigns.ENTRANTS:
            settings = (threshold, PRECISION * table.spread, level * table.spread, budgets, Noise(seed), seed)
            for share, (budget, columns) in zip(BUDGETS, campaigns.play(entrant, table, *settings)):
                if entrant == "independent" and budget < table.K:
                    continue  # without features nothing can be said of an arm without a measurement
                cell = {"threshold": threshold_name, "entrant": entrant, "share": share, "budget": budget}
                rows.append(cell | score(table, threshold, columns))
    return rows


def play_outside(name, level, seed, with_gp):
    import outside

    table = tables.load(name)
    budgets, rows = [max(round(b * table.K), 1) for b in BUDGETS], []
    sigma = level * table.spread
    for share, (budget, means, pulls) in zip(BUDGETS, outside.equal_measuring(table, sigma, budgets, Noise(seed), seed)):
        # Equal measuring does not depend on the threshold.
        for entrant, estimate in outside.estimates(table.X, means, pulls, sigma, seed, with_gp).items():
            for threshold_name, threshold in table.thresholds().items():
                cell = {"threshold": threshold_name, "entrant": entrant, "share": share, "budget": budget}
                rows.append(cell | score(table, threshold, {"mean": estimate}))
    return rows


PLAYS = {"cutline": play_cutline, "outside": play_outside}
