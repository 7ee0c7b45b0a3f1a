#!/usr/bin/env python3
"""Compares every number of `cutline diagnose --format json` with statsmodels and SciPy, to 1e-8.

`make check-diagnostics` builds what is needed and calls it with the program's path. Where possible, the number is computed in a
different way: lack of fit as the F-test of one statsmodels model against another, an arm's t as the coefficient of a dummy for that arm.
Every case is checked with `--raw`, on the features as they are, and without, on standardised features and an intercept.
"""
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.tools.sm_exceptions import SingularMatrixWarning

TOLERANCE = 1e-8
LEVEL = 0.05
compared = 0


def same(what, ours, theirs, floor=0.0):
    """`floor`: differences below 1e-8 of it are ignored too, for numbers that may be 0 by chance."""
    global compared
    compared += 1
    if ours is None or theirs is None or isinstance(theirs, (str, bool, int, list)):
        assert ours == theirs, f"{what}: {ours!r}, expected {theirs!r}"
    else:
        assert abs(ours - theirs) <= TOLERANCE * max(abs(theirs), floor), f"{what}: {ours!r}, expected {theirs!r}"


def scaled(x):
    """Columns scaled to length 1: they span the same space, and units do not matter."""
    most = np.abs(x).max(axis=0)
    x = x / np.where(most > 0, most, 1)
    length = np.linalg.norm(x, axis=0)
    return x / np.where(length > 0, length, 1)


def shape(what, ours, x):
    x = scaled(x)
    rank = int(np.linalg.matrix_rank(x))
    same(f"{what} dimension", ours["dimension"], x.shape[1])
    same(f"{what} rank", ours["rank"], rank)
    same(f"{what} condition", ours["condition"], float(np.linalg.cond(x)) if rank == x.shape[1] else None)
    return rank


def prepared(features):
    """Standardised features and an intercept, as the program prepares them."""
    is_constant = (features == features[0]).all(axis=0)
    deviation = np.where(is_constant, 1.0, features.std(axis=0))
    standardised = np.where(is_constant, 0.0, (features - features.mean(axis=0)) / deviation)
    return np.column_stack([standardised, np.ones(len(features))])


def diagnose(program, features, rewards, names, directory, raw):
    """Runs the program on two CSV files and returns its JSON; checks that its CSV has the same columns and arms."""
    header = [f"x{j}" for j in range(features.shape[1])]
    rows = [[repr(float(value)) for value in row] for row in features]
    if names:
        header = ["name", *header]
        rows = [[name, *row] for name, row in zip(names, rows)]
    text = "\n".join(",".join(row) for row in [header, *rows])
    (directory / "features.csv").write_text(text + "\n")
    lines = [f"{names[arm] if names else arm},{reward!r}" for arm, reward in rewards]
    (directory / "rewards.csv").write_text("\n".join(["arm,reward", *lines]) + "\n")
    command = [program, "diagnose", directory / "features.csv", directory / "rewards.csv", *(["--raw"] if raw else [])]
    run = lambda form: subprocess.run([*command, "--format", form], check=True, capture_output=True, text=True).stdout
    ours = json.loads(run("json"))
    table = run("csv").splitlines()
    same("CSV header", table[0], ",".join(ours["arms"][0]))
    same("CSV rows", len(table) - 1, len(ours["arms"]))
    return ours


def check(program, features, rewards, directory, names, raw):
    ours = diagnose(program, features, rewards, names, directory, raw)
    features = features if raw else prepared(features)
    arms = np.array([arm for arm, _ in rewards])
    y = np.array([reward for _, reward in rewards])
    pulled, counts = np.unique(arms, return_counts=True)
    n, m = len(y), len(pulled)
    same("n_arms", ours["n_arms"], len(features))
    same("n_pulled", ours["n_pulled"], m)
    same("pulls", ours["pulls"], n)
    all_rank = shape("features", ours["features"], features)
    rank = shape("design", ours["design"], features[arms])

    x = scaled(features[arms])
    dummies = (arms[:, None] == pulled[None, :]).astype(float)
    linear, saturated = sm.OLS(y, x).fit(), sm.OLS(y, dummies).fit()
    replicates = n - m
    sigma = float(np.sqrt(saturated.ssr / replicates)) if replicates else None
    noise = ours["replicates"]
    same("sigma from replicates", noise and noise["sigma"], sigma)
    same("freedom", noise and noise["freedom"], replicates or None)
    noise = ours["residuals"]
    same("sigma from residuals", noise and noise["sigma"], float(np.sqrt(linear.scale)) if n > rank else None)
    same("freedom", noise and noise["freedom"], n - rank or None)

    lack = ours["lack_of_fit"]
    is_tested = bool(replicates) and m > rank
    same("whether lack of fit is tested", lack is not None, is_tested)
    if is_tested:
        f, p_value, freedom = saturated.compare_f_test(linear)
        same("F", lack["f"], float(f))
        same("degrees of freedom", lack["freedom"], [int(freedom), replicates])
        same("p of F", lack["p_value"], float(p_value))
        misfit = max(0.0, (linear.ssr - saturated.ssr - freedom * sigma**2) / n) ** 0.5
        same("misfit", lack["misfit"], misfit, floor=sigma)
        critical = stats.f.isf(LEVEL / 2, freedom, replicates)
        same("power", lack["power"], float(stats.ncf.sf(critical, freedom, replicates, n)))

    hat = linear.get_influence().hat_matrix_diag
    p_values, tested = [], []
    for row, arm, count in zip(ours["arms"], pulled, counts):
        first = int(np.argmax(arms == arm))
        same("arm", row["arm"], int(arm))
        same("name", row["name"], names[arm] if names else None)
        same("arm's pulls", row["pulls"], int(count))
        same("arm's mean", row["mean"], float(y[arms == arm].mean()), floor=np.abs(y).max())
        same("arm's fit", row["fit"], float(linear.fittedvalues[first]), floor=np.abs(y).max())
        same("leverage", row["leverage"], float(hat[first] * count), floor=1.0)
        can_be_tested = is_tested and 1 - hat[first] * count > 1e-7
        same("whether the arm is tested", row["t"] is not None, bool(can_be_tested))
        if can_be_tested:
            shifted = sm.OLS(y, np.column_stack([x, arms == arm])).fit()
            t = shifted.params[-1] / (sigma * np.sqrt(shifted.normalized_cov_params[-1, -1]))
            same("t", row["t"], float(t), floor=1.0)
            # Computed from our own t, because a p-value of 1e-20 magnifies the rounding error of t.
            same("p of t", row["p_value"], float(2 * stats.t.sf(abs(row["t"]), replicates)))
            p_values.append(row["p_value"])
            tested.append(row)
    if tested:
        for row, theirs in zip(tested, multipletests(p_values, method="holm")[1]):
            same("Holm", row["holm"], float(theirs))
            same("disagrees", row["disagrees"], bool(theirs <= LEVEL / 2))
    same("conclusion", ours["conclusion"], conclusion(ours, all_rank, is_tested))


def conclusion(ours, all_rank, is_tested):
    if all_rank == ours["n_arms"]:
        return "always-true"
    if not is_tested:
        return "not-enough-data"
    if ours["lack_of_fit"]["p_value"] <= LEVEL / 2 or any(row["disagrees"] for row in ours["arms"]):
        return "not-believable"
    return "believable" if ours["lack_of_fit"]["power"] >= 0.8 else "not-enough-data"


def cases():
    """Description, features, true means, pulls of each arm, and the noise scale."""
    rng = np.random.default_rng(20240601)
    plain = rng.normal(size=(20, 5))
    theta = rng.normal(size=5)
    yield "linear, balanced", plain, plain @ theta, [4] * 20, 1.0
    yield "linear, unbalanced", plain, plain @ theta, [0, 1, 2, 3, 17] * 4, 0.3
    yield "curved, unbalanced", plain, plain @ theta + plain[:, 0] ** 2, [1, 2, 9, 3] * 5, 0.5
    off = plain @ theta
    off[3] += 4.0
    yield "one arm off", plain, off, [6] * 20, 1.0
    dependent = np.column_stack([plain, plain[:, 0] - 0.3 * plain[:, 1], np.zeros(20), 7 * plain[:, 2]])
    yield "rank 5 of 8", dependent, plain @ theta, [1, 2, 3, 4] * 5, 1.0
    units = plain * [1e-9, 1e9, 1.0, 1e-3, 1e5]
    yield "columns in odd units", units, plain @ theta, [2, 3] * 10, 1.0
    near = np.column_stack([plain, plain[:, 0] + 1e-3 * rng.normal(size=20)])
    yield "nearly dependent columns", near, plain @ theta, [2, 3] * 10, 1.0
    constant = np.column_stack([np.ones(20), plain])
    yield "far from zero", constant, 1e4 + plain @ theta, [3] * 20, 1.0
    yield "no replicates", plain, plain @ theta, [1] * 20, 1.0
    yield "one replicate", plain, plain @ theta, [2] + [1] * 19, 1.0
    yield "fewer arms pulled than features", plain, plain @ theta, [3] * 4 + [0] * 16, 1.0
    yield "as many arms pulled as features", plain, plain @ theta, [3] * 5 + [0] * 15, 1.0
    yield "more features than arms", rng.normal(size=(4, 7)), rng.normal(size=4), [3, 2, 5, 0], 1.0
    alone = np.column_stack([plain[:, :2], np.arange(20) == 6])
    yield "an arm that determines its own fit", alone, plain[:, 0] + plain[:, 1], [2, 5] * 10, 1.0
    yield "one feature", plain[:, :1], 2 * plain[:, 0], [5] * 20, 1.0
    large = rng.normal(size=(150, 13))
    yield "150 arms", large, large @ rng.normal(size=13), rng.integers(0, 40, size=150), 1.0


def main():
    program = sys.argv[1]
    warnings.simplefilter("ignore", SingularMatrixWarning)  # some cases have singular features on purpose
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as directory:
        for number, (what, features, means, pulls, noise) in enumerate(cases()):
            rewards = [(arm, float(means[arm] + noise * rng.normal())) for arm, n in enumerate(pulls) for _ in range(n)]
            rewards = [rewards[i] for i in rng.permutation(len(rewards))]
            names = [f"arm {arm}" for arm in range(len(features))] if number % 2 else None
            for raw in (True, False):
                try:
                    check(program, features, rewards, Path(directory), names, raw)
                except AssertionError as error:
                    sys.exit(f"{what}{', raw' if raw else ''}: {error}")
    print(f"{compared} numbers of `cutline diagnose` agree with statsmodels and SciPy")


if __name__ == "__main__":
    main()
