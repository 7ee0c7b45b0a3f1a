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
ALGORITHMS = ["linear-apt", "pivot"]
RUNS = (16, 48)
SLACK = 1.10


def instructions(name, case, runs):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(BINARY), name, "--case", str(case), "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"valgrind failed for {name}: {done.stderr.strip().splitlines()[-1:]}")
    return int(found.group(1))


def per_pull(name, case):
    """From the difference of two counts, so that starting the program is not included."""
    few, many = (instructions(name, case, runs) for runs in RUNS)
    return (many - few) / ((RUNS[1] - RUNS[0]) * int(CASES[case].split(", ")[2]))


def main():
    found = {name: {label: round(per_pull(name, case)) for case, label in enumerate(CASES)} for name in ALGORITHMS}
    if "--write" in sys.argv[1:]:
        EXPECTED.write_text(json.dumps(found, indent=1) + "\n")
    expected = json.loads(EXPECTED.read_text())
    too_many = []
    print("| K, d, T | " + " | ".join(f"{name}, instructions per pull | expected" for name in ALGORITHMS) + " |")
    print("|---|" + "---|---|" * len(ALGORITHMS))
    for label in CASES:
        print(f"| {label} | " + " | ".join(f"{found[name][label]:,} | {expected[name][label]:,}" for name in ALGORITHMS) + " |")
        too_many += [f"{name} at {label}" for name in ALGORITHMS if found[name][label] > SLACK * expected[name][label]]
    if too_many:
        sys.exit(f"more than 10 % above the instructions per pull in checks/instructions.json: {'; '.join(too_many)}")


if __name__ == "__main__":
    main()
