#!/usr/bin/env python3
"""Checks that `cargo run`, `cargo test --workspace` and the wheel use every crate with the same features: else it, and all that depends on
it, is compiled once more for each. `make lint` calls it.
"""
import subprocess
import sys

from cargo_graph import ROOT, policy

# What `cargo test` compiles, and the smaller selections that have to agree with it. Without build scripts, which may use a crate with other
# features than the program: if only they used it as the wheel does, it would still be compiled again.
ALL = ["--workspace", "--edges", "normal,dev"]
PARTS = {
    "cargo run": ["--workspace", "--edges", "normal"],
    "the wheel": ["--package", "cutline-python", "--edges", "normal"],
}


def tree(selection, target):
    command = ["cargo", "tree", "--locked", "--target", target, "--prefix", "none", "--no-dedupe", "--format", "{p}|{f}", *selection]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def features(text):
    """The sets of features of every crate, by name and version; a macro may use another set than the program."""
    found = {}
    for line in filter(None, text.splitlines()):
        package, chosen = line.split("|")
        found.setdefault(" ".join(package.split()[:2]), set()).add(frozenset(filter(None, chosen.split(","))))
    return found


def differences(part, whole, name):
    for package in sorted(part):
        for chosen in part[package] - whole.get(package, set()):
            other = min(whole[package], key=lambda features: len(features ^ chosen))
            yield f"{package} is compiled again for {name}: without {sorted(other - chosen)}, with {sorted(chosen - other)}"


def main():
    target = policy()["graph"]["targets"][0]
    whole = features(tree(ALL, target))
    faults = [fault for name, part in PARTS.items() for fault in differences(features(tree(part, target)), whole, name)]
    if faults:
        sys.exit("\n".join([*faults, "name the missing features in the Cargo.toml of what lacks them"]))


if __name__ == "__main__":
    main()
