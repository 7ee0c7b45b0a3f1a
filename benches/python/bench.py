#!/usr/bin/env python3
"""Times the Python package, ask and tell and importing it, compared with Optuna and plain NumPy.

`make bench WHAT=python` builds what is needed and calls it. Each contender runs `ROUNDS` times, in turn, and its fastest round counts.
Prints a table and writes target/bench-python.json.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import cutline

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5
K, D, T = 20, 5, 2_000
X = np.random.default_rng(0).uniform(-1, 1, (K, D))
REWARDS = (X @ np.random.default_rng(1).uniform(-1, 1, D) + np.random.default_rng(2).normal(size=(T, K))).tolist()


def in_memory(algorithm):
    campaign = cutline.Campaign(X, threshold=0.0, budget=T, algorithm=algorithm, noise=1.0)
    for rewards in REWARDS:
        ticket = campaign.ask()
        campaign.tell(ticket, rewards[ticket.arm])


def in_sqlite():
    with tempfile.TemporaryDirectory() as directory:
        storage = f"sqlite:///{directory}/x.db?durability=normal"
        campaign = cutline.Campaign(X, threshold=0.0, budget=T, noise=1.0, storage=storage)
        for rewards in REWARDS[: T // 10]:
            ticket = campaign.ask()
            campaign.tell(ticket, rewards[ticket.arm])


def in_numpy():
    """LinearAPT written directly in NumPy, with rank-one updates."""
    inverse, b, pulls, means = np.eye(D), np.zeros(D), np.zeros(K), np.zeros(K)
    for rewards in REWARDS:
        arm = int(np.argmin(np.sqrt(pulls) * (np.abs(means) + 0.01)))
        x = X[arm]
        pulls[arm] += 1
        u = inverse @ x
        inverse -= np.outer(u, u) / (1 + x @ u)
        b += rewards[arm] * x
        means = X @ (inverse @ b)


def in_optuna():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    choices = {"arm": optuna.distributions.CategoricalDistribution(list(range(K)))}
    for rewards in REWARDS[: T // 10]:
        trial = study.ask(choices)
        study.tell(trial, rewards[trial.params["arm"]])


CONTENDERS = [
    ("cutline, linear-apt, in memory", T, lambda: in_memory("linear-apt")),
    ("cutline, pivot, in memory", T, lambda: in_memory("pivot")),
    ("cutline, pivot, SQLite, durability=normal", T // 10, in_sqlite),
    ("plain NumPy, LinearAPT", T, in_numpy),
    ("optuna, in memory, random choice", T // 10, in_optuna),
]


def seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def importing(module):
    """How many seconds `import` takes in a new interpreter, not counting its start."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE).stdout)


def main():
    best = {}
    for _ in range(ROUNDS):
        for name, steps, work in CONTENDERS:
            try:
                micros = 1e6 * seconds(work) / steps
            except ImportError:
                continue
            best[name] = min(micros, best.get(name, micros))
    imports = {module: 1e3 * min(importing(module) for _ in range(ROUNDS)) for module in ("cutline", "numpy")}
    print(f"ask + tell, K = {K}, d = {D}: microseconds")
    for name, micros in best.items():
        print(f"  {name:<45}{micros:>9.2f}")
    print("import: milliseconds")
    for name, millis in imports.items():
        print(f"  {name:<45}{millis:>9.1f}")
    result = {"ask_tell_microseconds": best, "import_milliseconds": imports}
    (ROOT / "target/bench-python.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
