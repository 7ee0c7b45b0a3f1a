#!/usr/bin/env python3
"""Times Cutline's LinearAPT and Pivot against the peers of `linear_apt_peers.py`, APT and LSA on sample means against `index_peers.py`, and
Pivot on the mixed model against `mixed_peer.py`, alternating in one session.

`make bench WHAT=peers` builds what is needed and calls it. Each contender runs `ROUNDS` times per case, in turn, and its fastest
round counts: other load on the machine can only make a round slower. Prints three tables and writes
target/bench-peers.json.
"""
import json
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = [sys.executable, str(Path(__file__).with_name("linear_apt_peers.py"))]
INDEX_PEERS = [sys.executable, str(Path(__file__).with_name("index_peers.py"))]
MIXED_PEER = [sys.executable, str(Path(__file__).with_name("mixed_peer.py"))]
CUTLINE = [str(ROOT / "target/release/examples/ns_per_pull")]
ROUNDS = 5


def rows(command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    return [json.loads(line) for line in output.splitlines()]


def mixed_rows():
    """Pivot on the mixed model, by CPU time as its peer: a run takes long enough for other load to interrupt it."""
    for case in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        [row] = rows(CUTLINE + ["mixed", "--case", str(case)])
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        yield {**row, "ns_per_pull": round(seconds / (row["runs"] * row["budget"]) * 1e9, 1)}


def take(best, found):
    """Keeps the fastest round of each contender in each case."""
    for row in found:
        case = best.setdefault((row["arms"], row["dimension"], row["budget"]), {})
        previous = case.get(row["peer"])
        if previous is None or row["ns_per_pull"] < previous["ns_per_pull"]:
            case[row["peer"]] = row


def table(head, lines):
    for line in [head, ["---"] * len(head), *lines]:
        print("| " + " | ".join(line) + " |")
    print()


def main():
    best, best_index, best_mixed = {}, {}, {}
    for number in range(ROUNDS):
        peers = ["numba"] if number else ["loop", "batched", "numba"]
        take(best, rows(PEERS + peers) + rows(CUTLINE + ["linear-apt", "pivot"]))
        take(best_index, rows(INDEX_PEERS) + rows(CUTLINE + ["apt", "lsa"]))
        take(best_mixed, rows(MIXED_PEER) + list(mixed_rows()))
    columns = ["loop", "batched", "numba", "linear-apt", "pivot"]
    head = ["K, d, T", *(f"{name} ns" for name in columns), "numba / linear-apt", "numba / pivot"]
    lines = []
    for (k, d, t), case in best.items():
        ns = {name: case[name]["ns_per_pull"] for name in columns}
        ratios = [f"{ns['numba'] / ns[name]:.2f}" for name in ("linear-apt", "pivot")]
        lines.append([f"{k}, {d}, {t}", *(f"{ns[name]:,.0f}" for name in columns), *ratios])
    table(head, lines)
    lines = []
    for (k, _, t), case in best_index.items():
        for name in ("apt", "lsa"):
            peer, ours = case[f"{name}-numba"]["ns_per_pull"], case[name]["ns_per_pull"]
            lines.append([f"{k}, {t}", name, f"{peer:,.0f}", f"{ours:,.0f}", f"{peer / ours:.2f}"])
    table(["K, T", "rule", "numba ns", "cutline ns", "numba / cutline"], lines)
    lines = []
    for (k, d, t), case in best_mixed.items():
        peer, ours = case["mixed-numba"], case["mixed"]
        ms = [f"{row['ns_per_pull'] * t / 1e6:,.1f}" for row in (peer, ours)]
        wrong = [f"{row['wrong_arms']:.1f}" for row in (peer, ours)]
        lines.append([f"{k}, {d}, {t}", *ms, f"{peer['ns_per_pull'] / ours['ns_per_pull']:.1f}", *wrong])
    head = ["K, d, T", "numba, ms per run", "pivot on mixed, ms per run", "ratio", "wrong arms, numba", "wrong arms, mixed"]
    table(head, lines)
    result = ROOT / "target/bench-peers.json"
    cases = [*best.values(), *best_index.values(), *best_mixed.values()]
    result.write_text(json.dumps([row for case in cases for row in case.values()], indent=1) + "\n")
    print(f"wrote {result.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
