"""A Gaussian process with one length per feature that chooses what to measure, in batches: what one would build without Cutline, with effort.

The mean of arm i is μᵢ = level + f(xᵢ) + uᵢ: f has the kernel a exp(−½ Σⱼ(xⱼ − x′ⱼ)²/ℓⱼ²) on standardised features, uᵢ ~ N(0, v) is the arm's
own part, and a measurement adds noise of variance s. a, v, s and all ℓⱼ are those of largest posterior density, found again after every
batch. The prior of a length is that of Hvarfner, Hellsten & Nardi (2024), log-normal with parameters √2 + ½ ln d and √3, which keeps many
features from being fitted to the noise; a, v and s have the log-normal priors `PARTS`: most of the variance of the rewards is noise until
repeated measurements say otherwise.

The next arm is arg maxᵢ 1.96 sᵢ − |mᵢ − τ|, the straddle of Bryan et al. (2005), with posterior means mᵢ and deviations sᵢ; within a batch,
the deviations count the measurements that are pending. The first batch is a random sample.

An arm's mean and number of measurements, and the sum of squares within arms, say all that the measurements say, so the cost depends on the
number of arms. The tests compare posterior and likelihood with scikit-learn's.
"""
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

LEVEL = 1.0
"""The prior variance of the level, in variances of the rewards."""
PARTS = {"centre": np.log([0.2, 0.05, 0.75]), "scale": [1.5, 1.5, 0.5]}
"""Means and standard deviations of ln a, ln v and ln s, in variances of the rewards. Chosen on four of the
replays: with equal, wide ones it calls more arms wrongly at T ≤ K, and at 3K fewer on two of them and more on one."""


class Process:
    """The posterior, from the means and numbers of measurements of all arms and the sum of squares within arms, in units of the rewards' deviation."""

    def __init__(self, X, means, pulls, within):
        self.X, self.within = X, within
        self.measured = np.flatnonzero(pulls)
        self.means, self.pulls = means[self.measured], pulls[self.measured]
        d = X.shape[1]
        self.centre = np.r_[PARTS["centre"], [np.sqrt(2) + 0.5 * np.log(d)] * d]
        self.scale = np.r_[PARTS["scale"], [np.sqrt(3)] * d]

    def smooth(self, parameters, rows=slice(None)):
        """The covariance of f between some arms and all."""
        scaled = self.X / np.exp(parameters[3:])
        square = (scaled**2).sum(axis=1)
        return np.exp(parameters[0] - 0.5 * np.maximum(square[rows, None] + square - 2 * scaled[rows] @ scaled.T, 0))

    def cost(self, parameters):
        """−ln (likelihood × prior) without its constant, and its gradient; the parameters are ln a, ln v, ln s, ln ℓ₁, …"""
        _, own, noise = np.exp(parameters[:3])
        smooth = self.smooth(parameters, self.measured)[:, self.measured]
        covariance = smooth + LEVEL
        covariance[np.diag_indices_from(covariance)] += own + noise / self.pulls
        factor = cho_factor(covariance, lower=True)
        solved = cho_solve(factor, self.means)
        repeats = self.pulls.sum() - len(self.pulls)
        away = (parameters - self.centre) / self.scale
        value = 0.5 * self.means @ solved + np.log(np.diag(factor[0])).sum() + 0.5 * (self.within / noise + repeats * parameters[2])
        inner = cho_solve(factor, np.eye(len(self.means))) - np.outer(solved, solved)
        weights, diagonal = inner * smooth, np.diag(inner)
        # Σ weights (xⱼ − x′ⱼ)², for all features at once.
        X = self.X[self.measured]
        spread = 2 * (weights.sum(axis=1) @ X**2 - np.einsum("ij,ij->j", X, weights @ X))
        of_noise = (diagonal / self.pulls).sum() * noise - self.within / noise + repeats
        gradient = 0.5 * np.r_[weights.sum(), own * diagonal.sum(), of_noise, spread / np.exp(2 * parameters[3:])]
        return value + 0.5 * away @ away, gradient + away / self.scale

    def fit(self, start):
        """The parameters of largest posterior density, searched for from `start`."""
        bounds = np.column_stack([self.centre - 4 * self.scale, self.centre + 4 * self.scale])
        return minimize(self.cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}).x

    def posterior(self, parameters):
        """Means and covariance of all arms."""
        _, own, noise = np.exp(parameters[:3])
        prior = self.smooth(parameters) + LEVEL
        prior[np.diag_indices_from(prior)] += own
        covariance = prior[np.ix_(self.measured, self.measured)] + np.diag(noise / self.pulls)
        gain = cho_solve(cho_factor(covariance, lower=True), prior[self.measured]).T
        return gain @ self.means, prior - gain @ prior[self.measured]


class Campaign:
    """Measures in batches of `batch` and estimates the means of all arms."""

    def __init__(self, X, threshold, batch, seed):
        self.X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        self.threshold, self.batch = threshold, batch
        self.sums, self.squares, self.pulls = np.zeros((3, len(X)))
        self.sample = np.random.default_rng([seed, 5]).permutation(len(X))[:batch]
        self.parameters = None

    def refit(self):
        """The posterior in standardised rewards, and the threshold in them."""
        n = self.pulls.sum()
        level = self.sums.sum() / n
        scale = np.sqrt(max(self.squares.sum() / n - level**2, 1e-12 * (1 + level**2)))
        means = self.sums / np.maximum(self.pulls, 1)
        within = max(float((self.squares - self.pulls * means**2).sum()), 0.0)
        process = Process(self.X, (means - level) / scale, self.pulls, within / scale**2)
        self.parameters = process.fit(process.centre if self.parameters is None else self.parameters)
        return *process.posterior(self.parameters), (self.threshold - level) / scale, level, scale

    def choose(self, n):
        """The next n arms; an arm may come more than once."""
        if self.pulls.sum() == 0:
            return self.sample[:n].tolist()
        means, covariance, threshold, *_ = self.refit()
        noise, chosen = np.exp(self.parameters[2]), []
        for _ in range(n):
            arm = int(np.argmax(1.96 * np.sqrt(np.maximum(np.diag(covariance), 0)) - abs(means - threshold)))
            chosen.append(arm)
            covariance = covariance - np.outer(covariance[arm], covariance[arm]) / (covariance[arm, arm] + noise)
        return chosen

    def tell(self, arm, reward):
        self.sums[arm] += reward
        self.squares[arm] += reward**2
        self.pulls[arm] += 1

    def estimates(self):
        means, _, _, level, scale = self.refit()
        return level + scale * means


def play(table, threshold, budgets, draws, seed):
    """The estimates of all arms at each budget, which are points of one campaign."""
    campaign, done = Campaign(table.X, threshold, max(round(table.K / 10), 1), seed), 0
    for budget in budgets:
        while done < budget:
            arms = campaign.choose(min(campaign.batch, budget - done))
            for arm in arms:
                campaign.tell(arm, draws.draw(arm))
            done += len(arms)
        yield campaign.estimates()
