"""What one would do without Cutline: measure all arms equally often, in random order, then estimate the means with scikit-learn.

| entrant | estimate of an arm's mean |
|---|---|
| `means` | the mean of its measurements; for an arm without one, the mean of all |
| `ridge` | `RidgeCV` on standardised features, λ from 10⁻³ to 10³ |
| `forest` | `RandomForestRegressor` with 200 trees |
| `gp` | `GaussianProcessRegressor` on standardised features, RBF and white kernel |
| `ridge+own`, `forest+own`, `gp+own` | the prediction without the arm itself, weighted with the arm's own mean |

The weights of the last three are those of a random effect: v/(v + σ²/n) for the own mean of n measurements, where v + σ²/n is the mean
squared error of the predictions without the arm (leave-one-out; out of bag for the forest). They are told the true σ, which Cutline
is not. An arm without a measurement gets the plain prediction.
"""
import warnings

import numpy as np

GP_ROWS = 500
"""The kernel of the Gaussian process is fitted to at most this many rows, chosen at random; its predictions use all of them."""


def estimates(X, means, pulls, sigma, seed, with_gp):
    """The estimates of every entrant, from the mean and the number of measurements of each arm."""
    measured = np.flatnonzero(pulls)
    own, n = means[measured], pulls[measured]
    total = float(np.average(own, weights=n))
    results = {"means": np.where(pulls > 0, means, total)}
    scaled = (X - X[measured].mean(axis=0)) / np.where(X[measured].std(axis=0) > 0, X[measured].std(axis=0), 1.0)
    fits = {"ridge": (ridge, scaled), "forest": (forest, X)}
    if with_gp:
        fits["gp"] = (gaussian_process, scaled)
    for name, (fit, features) in fits.items():
        prediction, without_self = fit(features, measured, own, n, seed)
        results[name] = prediction
        noise = sigma**2 / n
        between = max(float(np.mean((own - without_self) ** 2 - noise)), 0.0)
        combined = prediction.copy()
        combined[measured] = (between * own + noise * without_self) / (between + noise)
        results[f"{name}+own"] = combined
    return results


def ridge(X, measured, own, n, _seed):
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(alphas=np.logspace(-3, 3, 13))
    model.fit(X[measured], own, sample_weight=n)
    # Leave-one-out in closed form at the λ chosen, from the leverages of the weighted regression with its intercept.
    root = np.sqrt(n)[:, None]
    centred = (X[measured] - np.average(X[measured], axis=0, weights=n)) * root
    inner = np.linalg.inv(centred.T @ centred + model.alpha_ * np.eye(X.shape[1]))
    leverage = np.einsum("ij,jk,ik->i", centred, inner, centred) + n / n.sum()
    residual = own - model.predict(X[measured])
    return model.predict(X), own - residual / np.maximum(1 - leverage, 1e-6)


def forest(X, measured, own, n, seed):
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(n_estimators=200, oob_score=True, random_state=seed)
    model.fit(X[measured], own, sample_weight=n)
    return model.predict(X), model.oob_prediction_


def fitted_kernel(X, own):
    """The kernel whose parameters have the largest marginal likelihood."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    length = np.sqrt(X.shape[1])
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(length, (length / 30, length * 30)) + WhiteKernel(1.0, (1e-3, 1e3))
    with warnings.catch_warnings():
        # A parameter at the edge of its range is a result, not a fault.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianProcessRegressor(kernel, normalize_y=True).fit(X, own).kernel_


def gaussian_process(X, measured, own, n, seed):
    from sklearn.gaussian_process import GaussianProcessRegressor

    subset = np.random.default_rng([seed, 2]).permutation(len(measured))[:GP_ROWS]
    kernel = fitted_kernel(X[measured[subset]], own[subset])
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X[measured], own)
    # Leave-one-out in closed form.
    inverse = np.linalg.inv(kernel(X[measured]))
    residual = inverse @ (own - own.mean()) / np.diag(inverse)
    return model.predict(X), own - residual


def equal_measuring(table, sigma, budgets, noise, seed):
    """The means and numbers of measurements of all arms after each budget, measured round by round in a random order."""
    order = np.random.default_rng([seed, 1]).permutation(table.K)
    sums, pulls, done = np.zeros(table.K), np.zeros(table.K), 0
    for budget in budgets:
        for t in range(done, budget):
            arm = order[t % table.K]
            sums[arm] += table.y[arm] + sigma * noise.draw(arm)
            pulls[arm] += 1
        done = budget
        yield budget, sums / np.maximum(pulls, 1), pulls.copy()
