"""The packages that Cargo resolves for this workspace, read once for the checks and the bill of materials."""
import json
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def metadata(target):
    """`cargo metadata` for one target, so that crates for other platforms need not be downloaded."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)


def lock():
    """The packages of Cargo.lock, on every platform."""
    return tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]


def policy():
    """deny.toml"""
    return tomllib.loads((ROOT / "deny.toml").read_text())


def built(target, package=None, edges="normal,build,dev"):
    """(name, version) of what is compiled for `package`, or for the whole workspace: `cargo metadata` alone lists crates of unused features too."""
    which = ["--package", package] if package else ["--workspace"]
    command = ["cargo", "tree", "--locked", "--target", target, *which, "--edges", edges, "--prefix", "none", "--no-dedupe", "--format", "{p}"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {(name, version.removeprefix("v")) for name, version, *_ in (line.split() for line in lines if line)}


def packages(graph, names):
    """The packages with these names and versions, sorted."""
    return sorted((p for p in graph["packages"] if (p["name"], p["version"]) in names), key=lambda p: (p["name"], p["version"]))
