#!/usr/bin/env python3
"""APT and LSA on sample means in Python, compiled by Numba, as a researcher might write them: every index is computed before every pull.

    pip install numpy numba
    python index_peers.py            # one JSON line per case

Work: means -1 and 1 by turns, noise N(0, 1), threshold 0, precision 0. Each line gives nanoseconds per pull on ONE thread, the failure
rate and the mean number of wrong arms, so that a peer that is fast but wrong is noticed.
"""
import json
import time

import numba as nb
import numpy as np

CASES = [(10, 1000, 2_000), (100, 1000, 1_000)]


@nb.njit(cache=True, fastmath=True)
def one_run(mu, t_max, is_lsa):
    k = len(mu)
    means, pulls = np.zeros(k), np.zeros(k)
    for t in range(t_max):
        arm = t
        if t >= k:
            best, arm = 1e300, 0
            for i in range(k):
                if is_lsa:
                    index = 0.5 * pulls[i] * means[i] * means[i] + np.log(pulls[i])
                else:
                    index = np.sqrt(pulls[i]) * abs(means[i])
                if index < best:
                    best, arm = index, i
        reward = mu[arm] + np.random.standard_normal()
        pulls[arm] += 1
        means[arm] += (reward - means[arm]) / pulls[arm]
    wrong = 0
    for i in range(k):
        wrong += (mu[i] >= 0) != (means[i] >= 0)
    return wrong


@nb.njit(cache=True)
def many_runs(k, t_max, runs, seed, is_lsa):
    np.random.seed(seed)
    mu = np.ones(k)
    mu[::2] = -1
    fails = wrong = 0
    for _ in range(runs):
        found = one_run(mu, t_max, is_lsa)
        fails += found > 0
        wrong += found
    return fails / runs, wrong / runs


if __name__ == "__main__":
    many_runs(10, 40, 2, 0, True)
    for k, t_max, runs in CASES:
        for name in ["apt", "lsa"]:
            start = time.perf_counter()
            rate, wrong = many_runs(k, t_max, runs, 1, name == "lsa")
            ns = (time.perf_counter() - start) / (runs * t_max) * 1e9
            print(json.dumps({"peer": f"{name}-numba", "arms": k, "dimension": 0, "budget": t_max, "runs": runs, "ns_per_pull": round(ns, 1),
                              "failure_rate": round(rate, 4), "wrong_arms": round(wrong, 4)}), flush=True)
