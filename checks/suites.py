#!/usr/bin/env python3
"""Checks that every file of tests/suite is a module of its main.rs: one that is not would silently not be compiled. `make lint` calls it."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def left_out(root):
    for main in sorted([*root.glob("crates/*/tests/suite/main.rs"), *root.glob("*/tests/suite/main.rs")]):
        modules = set(re.findall(r"^mod (\w+);", main.read_text(), flags=re.MULTILINE))
        for file in sorted(main.parent.glob("*.rs")):
            if file != main and file.stem not in modules:
                yield f"{file.relative_to(root)} is not compiled: add `mod {file.stem};` to main.rs beside it"


if __name__ == "__main__":
    sys.exit("\n".join(left_out(ROOT)) or None)
