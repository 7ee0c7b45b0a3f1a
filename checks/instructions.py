#!/usr/bin/env python3
"""Counts the instructions per pull, and fails if there are 10 % more than in `instructions.json`.

Unlike time, instructions do not depend on what else the machine does. `make check-speed` builds what is needed and
calls it. After a change that is meant to cost more, or that costs less, update the file with `make check-speed WRITE=--write`.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = Path(__file__).with_name("instructions.json")
BINARY = ROOT / "target/release/examples/ns_per_pull"
CASES = ["20, 5, 200", "20, 20, 200", "150, 4, 400", "178, 13, 400"]
# The cases, by the numbers that the binary gives them, and the number of runs.
MEAN_CASES = ["10, 0, 1000", "100, 0, 1000"]
ALGORITHMS = {
    "linear-apt": (CASES, 16),
    "pivot": (CASES, 16),
    "mixed": (["150, 4, 300", "442, 10, 884"], 1),
    "apt": (MEAN_CASES, 16),
    "lsa": (MEAN_CASES, 16),
}
SLACK = 1.10


def instructions(name, case, runs):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", str(BINARY), name, "--case", str(case), "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"valgrind failed for {name}: {done.stderr.strip().splitlines()[-1:]}")
    return int(found.group(1).replace(",", ""))


def per_pull(name, case):
    """Without what the program does before the first run."""
    cases, runs = ALGORITHMS[name]
    none, all_runs = (instructions(name, case, n) for n in (0, runs))
    return (all_runs - none) / (runs * int(cases[case].split(", ")[2]))


def main():
    found = {name: {label: round(per_pull(name, case)) for case, label in enumerate(cases)} for name, (cases, _) in ALGORITHMS.items()}
    if "--write" in sys.argv[1:]:
        EXPECTED.write_text(json.dumps(found, indent=1) + "\n")
    expected = json.loads(EXPECTED.read_text())
    too_many = []
    print("| algorithm | K, d, T | instructions per pull | expected |")
    print("|---|---|---|---|")
    for name, cases in found.items():
        for label, count in cases.items():
            print(f"| {name} | {label} | {count:,} | {expected[name][label]:,} |")
            if count > SLACK * expected[name][label]:
                too_many.append(f"{name} at {label}")
    if too_many:
        sys.exit(f"more than 10 % above the instructions per pull in checks/instructions.json: {'; '.join(too_many)}")


if __name__ == "__main__":
    main()
