#!/usr/bin/env python3
"""Checks the dependencies: licences, sources and duplicates against deny.toml, and that docs/dependencies.md lists every direct one.

`make lint` calls it. It reads what Cargo resolves and needs no tool to be compiled; `make deny` runs cargo-deny with the same deny.toml.
"""
import re
import sys
import tomllib

from cargo_graph import ROOT, built, lock, metadata, packages, policy

PAGE = ROOT / "docs/dependencies.md"


def allows(expression, allowed):
    """Whether an SPDX expression can be satisfied by the allowed licences; `/` is the older way to write OR.

    >>> allows("MIT OR GPL-3.0", {"MIT"}), allows("MIT AND GPL-3.0", {"MIT"}), allows("(A OR B) AND C", {"B", "C"})
    (True, False, True)
    """
    words = re.findall(r"[()]|[^\s()]+", re.sub("/", " OR ", expression))

    def either():
        found = both()
        while words and words[0] == "OR":
            words.pop(0)
            found = both() or found
        return found

    def both():
        found = one()
        while words and words[0] == "AND":
            words.pop(0)
            found = one() and found
        return found

    def one():
        word = words.pop(0)
        if word == "(":
            found = either()
            words.pop(0)
            return found
        if words and words[0] == "WITH":
            word = f"{word} WITH {words[1]}"
            del words[:2]
        return word in allowed

    return either()


def licence_faults(compiled, rules):
    allowed = set(rules["licenses"]["allow"])
    for package in compiled:
        licence = package["license"]
        if licence is None:
            yield f"{package['name']} {package['version']} names no licence"
        elif not allows(licence, allowed):
            yield f"{package['name']} {package['version']} is licensed as `{licence}`, which deny.toml does not allow"


def source_faults(locked, rules):
    registries = {f"registry+{registry}" for registry in rules["sources"]["allow-registry"]}
    for package in locked:
        source = package.get("source")
        if source is not None and source not in registries:
            yield f"{package['name']} {package['version']} comes from {source}, which deny.toml does not allow"
        elif source is not None and "checksum" not in package:
            yield f"{package['name']} {package['version']} has no checksum in Cargo.lock"


def duplicate_faults(compiled, rules):
    """A crate in several versions, all but one of which have to be listed in deny.toml; and what is listed without need."""
    versions = {}
    for package in compiled:
        versions.setdefault(package["name"], []).append(package["version"])
    skipped = {entry["crate"] for entry in rules["bans"]["skip"]}
    for name, found in versions.items():
        left = [version for version in found if f"{name}@{version}" not in skipped]
        if len(left) > 1:
            yield f"{name} is compiled in {len(found)} versions, {' and '.join(found)}: unify them, or add one to `skip` in deny.toml with a reason"
    needed = {f"{name}@{version}" for name, found in versions.items() if len(found) > 1 for version in found}
    for entry in sorted(skipped - needed):
        yield f"deny.toml skips {entry}, which is not there twice any more"


def direct(graph):
    """The names of the direct dependencies of our crates, tests and benches included, without our crates themselves."""
    own = [package for package in graph["packages"] if package["id"] in graph["workspace_members"]]
    return {d["name"] for package in own for d in package["dependencies"]} - {package["name"] for package in own}


def python_direct(project):
    """The names of the Python packages that the wheel depends on, optional ones included."""
    wanted = list(project.get("dependencies", []))
    for extra in project.get("optional-dependencies", {}).values():
        wanted += extra
    return {re.match(r"[\w.-]+", requirement).group() for requirement in wanted}


def listed(page, heading):
    """The names in the first column of the table below a heading."""
    section = re.split(r"^## ", page, flags=re.MULTILINE)
    table = next((text for text in section if text.startswith(heading)), "")
    return re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE)


def listing_faults(wanted, names, heading):
    for name in sorted(wanted - set(names)):
        yield f"docs/dependencies.md lacks `{name}` below `{heading}`: say why it is needed"
    for name in sorted(set(names) - wanted):
        yield f"docs/dependencies.md lists `{name}` below `{heading}`, which nothing depends on directly"
    if names != sorted(set(names)):
        yield f"docs/dependencies.md is not sorted, or lists a name twice, below `{heading}`"


def main():
    rules = policy()
    target = rules["graph"]["targets"][0]
    graph = metadata(target)
    compiled = packages(graph, built(target))
    page = PAGE.read_text()
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    faults = [
        *licence_faults(compiled, rules),
        *source_faults(lock(), rules),
        *duplicate_faults(compiled, rules),
        *listing_faults(direct(graph), listed(page, "Crates"), "Crates"),
        *listing_faults(python_direct(project), listed(page, "Python packages"), "Python packages"),
    ]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
