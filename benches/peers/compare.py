#!/usr/bin/env python3
"""Times Cutline's LinearAPT and Pivot against the peers of `linear_apt_peers.py`, alternating in one session.

`make bench-peers` builds what is needed and calls it. Each contender runs `ROUNDS` times per case, in turn, and its fastest
round counts: other load on the machine can only make a round slower. Prints a table and writes
target/bench-peers.json.
"""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = [sys.executable, str(Path(__file__).with_name("linear_apt_peers.py"))]
CUTLINE = [str(ROOT / "target/release/examples/ns_per_pull")]
ROUNDS = 5


def rows(command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    return [json.loads(line) for line in output.splitlines()]


def main():
    best = {}
    for number in range(ROUNDS):
        peers = ["numba"] if number else ["loop", "batched", "numba"]
        for row in rows(PEERS + peers) + rows(CUTLINE + ["linear-apt", "pivot"]):
            key = (row["arms"], row["dimension"], row["budget"])
            previous = best.setdefault(key, {}).get(row["peer"])
            if previous is None or row["ns_per_pull"] < previous["ns_per_pull"]:
                best[key][row["peer"]] = row
    columns = ["loop", "batched", "numba", "linear-apt", "pivot"]
    head = ["K, d, T", *(f"{name} ns" for name in columns), "numba / linear-apt", "numba / pivot"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for (k, d, t), case in best.items():
        ns = {name: case[name]["ns_per_pull"] for name in columns}
        ratios = [f"{ns['numba'] / ns[name]:.2f}" for name in ("linear-apt", "pivot")]
        print("| " + " | ".join([f"{k}, {d}, {t}", *(f"{ns[name]:,.0f}" for name in columns), *ratios]) + " |")
    result = ROOT / "target/bench-peers.json"
    result.write_text(json.dumps([row for case in best.values() for row in case.values()], indent=1) + "\n")
    print(f"wrote {result.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
