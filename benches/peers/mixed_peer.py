#!/usr/bin/env python3
"""The mixed model with the Pivot rule, compiled by Numba, as an expert might write it in an afternoon.

    pip install numpy numba scipy
    OPENBLAS_NUM_THREADS=1 python mixed_peer.py            # one JSON line per case

The model is the prototype from which Cutline's estimator `mixed` was made (docs/algorithms.md): a linear part, a smooth part by 40
landmarks and a part of each arm's own, with variances and noise learnt on a grid of 17 shares × 6 scales. It has no
exploration. The variances are learnt after each of the first 20 rewards, then after every max(20, T/50) rewards, and at the end.

Work: instances redrawn in each run, features uniform on [-1, 1]; the means have variance 1, of which half is linear in the features, a
quarter smooth and a quarter the arms' own; noise N(0, 1), threshold 0, precision 0.01, T = 2K. Each line gives nanoseconds of
CPU time per pull on ONE thread, landmarks and learning included, and the number of wrong arms, so that a peer that is fast but wrong is noticed.
"""
import json
import sys
import time

import numba as nb
import numpy as np

EPS = 0.01
LANDMARKS = 40
CASES = [(150, 4, 300, 4), (442, 10, 884, 2), (2_000, 16, 4_000, 1)]


def instance(k, d, rng):
    x, theta = rng.uniform(-1, 1, (k, d)), rng.standard_normal(d)
    linear = x @ theta / np.linalg.norm(theta)
    return x, np.sqrt(1.5) * linear + np.sqrt(0.5) * np.cos(np.pi * x[:, -1]) + 0.5 * rng.standard_normal(k)


def columns(x, rng):
    """Standardised features and a level; then k(X, L) chol(k(L, L))^-T for the landmarks L and a Gaussian kernel."""
    x = (x - x.mean(0)) / x.std(0)
    k, d = x.shape
    landmarks = x[rng.permutation(k)[:LANDMARKS]]
    kernel = lambda a, b: np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / (2 * d))
    factor = np.linalg.cholesky(kernel(landmarks, landmarks) + 1e-6 * np.eye(len(landmarks)))
    smooth = np.linalg.solve(factor, kernel(x, landmarks).T).T
    return np.ascontiguousarray(np.hstack([x, np.full((k, 1), np.sqrt(d)), smooth]))


def grid():
    """Shares of the linear, smooth and own part; and omega, the variance of the means in units of the noise."""
    values = [0, 0.05, 0.3, 0.7, 1]
    shares = [[1 - o - s, s, o] for o in values for s in values if o + s <= 1 + 1e-9]
    shares = np.maximum(np.array(shares), 1e-4)
    return shares / shares.sum(1, keepdims=True), np.array([0.03, 0.3, 1, 3, 10, 100])


@nb.njit(cache=True, fastmath=True)
def factorise(a, l):
    """Cholesky; returns ln det a."""
    log_det = 0.0
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j]
            for m in range(j):
                rest -= l[i, m] * l[j, m]
            if i == j:
                l[i, i] = np.sqrt(rest) if rest > 0 else 1e-150
                log_det += 2 * np.log(l[i, i])
            else:
                l[i, j] = rest / l[j, j]
    return log_det


@nb.njit(cache=True, fastmath=True)
def evidence(z, pulled, n, mean, within, rho, precision, a, l, b):
    """Q and ln det of the marginal likelihood at one point of the grid."""
    p = z.shape[1]
    log_det, q = 0.0, within
    for i in range(p):
        b[i] = 0.0
        for j in range(i):
            a[i, j] = 0.0
        a[i, i] = precision[i]
        log_det -= np.log(precision[i])
    for arm in pulled:
        g = 1.0 / (1.0 + n[arm] * rho)
        w = n[arm] * g
        log_det -= np.log(g)
        q += w * mean[arm] * mean[arm]
        for i in range(p):
            zi = w * z[arm, i]
            b[i] += zi * mean[arm]
            for j in range(i + 1):
                a[i, j] += zi * z[arm, j]
    log_det += factorise(a, l)
    for i in range(p):
        rest = b[i]
        for m in range(i):
            rest -= l[i, m] * b[m]
        b[i] = rest / l[i, i]
        q -= b[i] * b[i]
    return q, log_det


@nb.njit(cache=True, fastmath=True)
def precisions(shares, omega, n_linear, p):
    result = np.empty(p)
    for j in range(p):
        result[j] = (n_linear - 1.0) / (omega * shares[0]) if j < n_linear else 1.0 / (omega * shares[1])
    return result


@nb.njit(cache=True, fastmath=True)
def learn(z, n_linear, pulled, n, mean, within, squares, total, shares, omegas):
    """Prior precisions, rho and the noise variance: posterior means over the grid."""
    p = z.shape[1]
    a, l, b = np.zeros((p, p)), np.zeros((p, p)), np.zeros(p)
    logs, noise = np.zeros((len(shares), len(omegas))), np.zeros((len(shares), len(omegas)))
    for s in range(len(shares)):
        for o in range(len(omegas)):
            precision = precisions(shares[s], omegas[o], n_linear, p)
            q, log_det = evidence(z, pulled, n, mean, within, omegas[o] * shares[s, 2], precision, a, l, b)
            q = max(q, 1e-300) + 3 * 0.3 * squares / total
            logs[s, o] = -0.5 * (log_det + (total + 3) * np.log(q)) + (np.log(len(shares) - 1.0) if s == 0 else 0.0)
            noise[s, o] = q / (total + 3)
    most, weights, share, log_omega, log_noise = logs.max(), 0.0, np.zeros(3), 0.0, 0.0
    for s in range(len(shares)):
        for o in range(len(omegas)):
            weight = np.exp(logs[s, o] - most)
            weights += weight
            share += weight * shares[s]
            log_omega += weight * np.log(omegas[o])
            log_noise += weight * np.log(noise[s, o])
    omega = np.exp(log_omega / weights)
    share /= weights
    return precisions(share, omega, n_linear, p), omega * share[2], np.exp(log_noise / weights)


@nb.njit(cache=True, fastmath=True)
def rebuild(z, pulled, n, mean, rho, precision):
    p = z.shape[1]
    a, b = np.diag(precision), np.zeros(p)
    for arm in pulled:
        w = n[arm] / (1.0 + n[arm] * rho)
        for i in range(p):
            b[i] += w * z[arm, i] * mean[arm]
            for j in range(p):
                a[i, j] += w * z[arm, i] * z[arm, j]
    return np.ascontiguousarray(np.linalg.inv(a)), b


@nb.njit(cache=True, fastmath=True)
def one_run(z, n_linear, mu, t_max, shares, omegas, eps, seed):
    """The number of wrong arms after t_max pulls."""
    np.random.seed(seed)
    k, p = z.shape
    n, mean, spread, squares = np.zeros(k), np.zeros(k), np.zeros(k), 0.0
    pulled, n_pulled, every, learnt_at = np.zeros(k, np.int64), 0, max(20, t_max // 50), 0
    start, noise, rho = np.array([0.5, 0.25, 0.25]), -1.0, 0.25
    inverse, b, h, estimate = np.diag(1 / precisions(start, 1.0, n_linear, p)), np.zeros(p), np.zeros(k), np.zeros(k)
    for i in range(k):
        h[i] = z[i] @ (inverse @ z[i])
    for t in range(t_max):
        best, pivot = 1e300, 0
        for i in range(k):
            g = 1.0 / (1.0 + n[i] * rho)
            q = rho * g + g * g * h[i]
            if q <= 0:
                continue
            gap = abs(estimate[i]) + eps
            value = (gap * gap / (noise * q) if noise > 0 else 0.0) - np.log(q)
            if value < best:
                best, pivot = value, i
        products = z @ (inverse @ z[pivot])
        g_pivot, most, arm = 1.0 / (1.0 + n[pivot] * rho), -1.0, pivot
        for j in range(k):
            g = 1.0 / (1.0 + n[j] * rho)
            covariance = g * g_pivot * products[j] + (rho * g_pivot if j == pivot else 0.0)
            value = covariance * covariance / (1.0 + rho * g + g * g * h[j])
            if value > most:
                most, arm = value, j
        reward = mu[arm] + np.random.standard_normal()
        if n[arm] == 0:
            pulled[n_pulled] = arm
            n_pulled += 1
        n_before, mean_before = n[arm], mean[arm]
        squares += reward * reward
        n[arm] += 1
        mean[arm] += (reward - mean_before) / n[arm]
        spread[arm] += (reward - mean_before) * (reward - mean[arm])
        if t < 20 or t + 1 - learnt_at >= every or t + 1 == t_max:
            learnt_at = t + 1
            measured = pulled[:n_pulled]
            precision, rho, noise = learn(z, n_linear, measured, n, mean, spread.sum(), squares, t + 1, shares, omegas)
            inverse, b = rebuild(z, measured, n, mean, rho, precision)
            products = z @ inverse
            for i in range(k):
                h[i] = products[i] @ z[i]
        else:
            before, after = n_before / (1.0 + n_before * rho), n[arm] / (1.0 + n[arm] * rho)
            b += (after * mean[arm] - before * mean_before) * z[arm]
            u = inverse @ z[arm]
            factor = (after - before) / (1.0 + (after - before) * (z[arm] @ u))
            c = z @ u
            for i in range(k):
                h[i] -= factor * c[i] * c[i]
            inverse = inverse - factor * np.outer(u, u)
        linear = z @ (inverse @ b)
        for i in range(k):
            g = 1.0 / (1.0 + n[i] * rho)
            estimate[i] = g * linear[i] + (1 - g) * mean[i]
    wrong = 0
    for i in range(k):
        wrong += (mu[i] >= eps and estimate[i] < 0) or (mu[i] < -eps and estimate[i] >= 0)
    return wrong


def play(k, d, t_max, runs, rng):
    shares, omegas = grid()
    wrong = 0
    for run in range(runs):
        x, mu = instance(k, d, rng)
        wrong += one_run(columns(x, rng), d + 1, mu, t_max, shares, omegas, EPS, run)
    return wrong / runs


def main():
    play(60, 3, 45, 1, np.random.default_rng(0))  # compiles
    only = [int(case) for case in sys.argv[1:]]
    for case, (k, d, t_max, runs) in enumerate(CASES):
        if only and case not in only:
            continue
        start = time.process_time()
        wrong = play(k, d, t_max, runs, np.random.default_rng(1))
        ns = (time.process_time() - start) / (runs * t_max) * 1e9
        print(json.dumps({"peer": "mixed-numba", "arms": k, "dimension": d, "budget": t_max, "runs": runs,
                          "ns_per_pull": round(ns, 1), "wrong_arms": round(wrong, 2)}), flush=True)


if __name__ == "__main__":
    main()
