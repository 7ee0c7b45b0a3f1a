#!/usr/bin/env python3
"""Builds everything into an empty directory and prints what each step costs: the table of docs/performance.md. `make bench WHAT=build` calls it.

Processor time (user + system, of all processes) hardly depends on what else the machine does; the wall time does. On two idle cores a
step takes at least half its processor time.
"""
import os
import resource
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "target/build-times"
WHEEL = "target/python/bin/maturin build --quiet --release --locked --manifest-path python/Cargo.toml --out target/build-times/wheels"
STEPS = {
    "the program: `cargo run --release`": "cargo build --release --locked --quiet --bin cutline",
    "all tests": "cargo test --release --workspace --locked --quiet --tests --no-run",
    "clippy": "cargo clippy --release --workspace --all-targets --locked --quiet",
    "rustdoc": "cargo doc --release --workspace --no-deps --locked --quiet",
    "the wheel": WHEEL,
}


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    shutil.rmtree(TARGET, ignore_errors=True)
    print("| step | processor time, s | wall time, s |")
    print("|---|---|---|")
    total = 0.0
    for name, command in STEPS.items():
        used, began = processor_time(), time.monotonic()
        subprocess.run(command.split(), cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)}, check=True)
        cost = processor_time() - used
        total += cost
        print(f"| {name} | {cost:.0f} | {time.monotonic() - began:.0f} |", flush=True)
    print(f"| total | {total:.0f} | |")
    shutil.rmtree(TARGET)


if __name__ == "__main__":
    main()
