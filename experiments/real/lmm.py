"""The linear mixed model: rᵢⱼ = xᵢᵀβ + uᵢ + eᵢⱼ, where uᵢ ~ N(0, σ²ρ) is an arm's own part and eᵢⱼ ~ N(0, σ²) the noise.

β, ρ and σ² are estimated by restricted maximum likelihood, the means by best linear unbiased prediction. An arm's mean and number of
measurements n, and the sum of squares W within arms, say all that the measurements say, so with wᵢ = nᵢ/(1 + ρnᵢ) and N measurements:

    Q(ρ) = W + Σ wᵢ(ȳᵢ − xᵢᵀβ̂)²,  −2 ln L(ρ) = (N − p) ln Q + Σ ln(1 + ρnᵢ) + ln det Σ wᵢxᵢxᵢᵀ,  σ̂² = Q/(N − p)

One number is searched for, so a fit takes milliseconds. The tests compare it with statsmodels.
"""
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

LEAST, MOST = np.log(1e-6), np.log(1e4)
"""Between these, ln ρ is searched for."""


@dataclass
class Fit:
    """`ratio` is ρ, `variance` σ²; `criterion` is −2 ln L without its constant."""

    coefficients: np.ndarray
    ratio: float
    variance: float
    criterion: float


def evaluate(X, means, pulls, within, ratio):
    """The fit at a given ρ."""
    weights = pulls / (1 + ratio * pulls)
    gram = X.T @ (weights[:, None] * X)
    coefficients = np.linalg.solve(gram, X.T @ (weights * means))
    freedom = pulls.sum() - X.shape[1]
    squares = within + float(weights @ (means - X @ coefficients) ** 2)
    criterion = freedom * np.log(squares) + np.log1p(ratio * pulls).sum() + np.linalg.slogdet(gram)[1]
    return Fit(coefficients, ratio, squares / freedom, float(criterion))


def fit(X, means, pulls, within):
    """The fit of largest restricted likelihood. `X` has full column rank; some arm has more than one measurement."""

    def criterion(log_ratio):
        return evaluate(X, means, pulls, within, np.exp(log_ratio)).criterion

    # The likelihood may have two modes: search between the neighbours of the best point of a grid.
    grid = np.linspace(LEAST, MOST, 47)
    best = int(np.argmin([criterion(point) for point in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(criterion, bounds=bounds, method="bounded", options={"xatol": 1e-8}).x
    return evaluate(X, means, pulls, within, np.exp(found))


def estimate(X, means, pulls, within):
    """The predicted means of all arms; those without a measurement get xᵀβ̂."""
    measured = pulls > 0
    design = full_rank(X, measured)
    fitted = fit(design[measured], means[measured], pulls[measured], within)
    prediction = design @ fitted.coefficients
    own = fitted.ratio * pulls / (1 + fitted.ratio * pulls)
    return own * means + (1 - own) * prediction


def full_rank(X, measured):
    """A column of ones and the directions of the features in which the measured arms differ: 0/1 columns of a category add up to one."""
    centred = X - X[measured].mean(axis=0)
    scale = centred[measured].std(axis=0)
    centred = centred[:, scale > 0] / scale[scale > 0]
    _, values, directions = np.linalg.svd(centred[measured], full_matrices=False)
    return np.column_stack([np.ones(len(X)), centred @ directions[values > 1e-8 * values.max(initial=0)].T])
