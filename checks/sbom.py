#!/usr/bin/env python3
"""Writes the bill of materials of the binary and of the wheel: CycloneDX 1.6, one JSON file each. `make sbom` calls it.

The same Cargo.lock gives the same bytes: there is no time in the files, and their serial numbers are made of their content.
"""
import json
import re
import sys
import uuid
from pathlib import Path

from cargo_graph import built, lock, metadata, packages, policy

SHIPPED = {"cutline-cli": "cutline", "cutline-python": "cutline-python"}
# C libraries whose source is inside a crate: the header that states their version.
INSIDE = {
    "libsqlite3-sys": ("sqlite", "sqlite3/sqlite3.h", r'#define SQLITE_VERSION\s+"([\d.]+)"', "blessing"),
    "zstd-sys": ("zstd", "zstd/lib/zstd.h", r"#define ZSTD_VERSION_(?:MAJOR|MINOR|RELEASE)\s+(\d+)", "BSD-3-Clause"),
}


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


def component(package, checksums):
    found = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "scope": "required",
        "licenses": [{"expression": package["license"].replace("/", " OR ")}],
        "purl": purl(package),
    }
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("repository"):
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    inside = bundled(package)
    if inside:
        found["components"] = [inside]
    return found


def bundled(package):
    """The C library that a crate brings, with its version; a header that does not state it is an error."""
    if package["name"] not in INSIDE:
        return None
    name, header, pattern, licence = INSIDE[package["name"]]
    text = (Path(package["manifest_path"]).parent / header).read_text(encoding="utf-8", errors="replace")
    version = ".".join(re.findall(pattern, text))
    if not version:
        sys.exit(f"{header} of {package['name']} {package['version']} does not state the version of {name}")
    reference = f"pkg:generic/{name}@{version}"
    return {"type": "library", "bom-ref": reference, "name": name, "version": version, "licenses": [{"license": {"id": licence}}], "purl": reference}


def bill(graph, crate, shipped, checksums):
    """The bill of one crate, which is shipped under a name of its own."""
    parts = packages(graph, shipped)
    references = {package["id"]: purl(package) for package in parts}
    root = next(package for package in parts if package["name"] == crate)
    edges = [
        {"ref": references[node["id"]], "dependsOn": sorted(references[d["pkg"]] for d in node["deps"] if links(d) and d["pkg"] in references)}
        for node in graph["resolve"]["nodes"]
        if node["id"] in references
    ]
    listed = [component(package, checksums) for package in parts if package is not root]
    main = {**component(root, checksums), "type": "application" if crate == "cutline-cli" else "library"}
    content = {"metadata": {"component": main}, "components": listed, "dependencies": sorted(edges, key=lambda edge: edge["ref"])}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}", "version": 1, **content}


def links(edge):
    """Whether a dependency ends up in the program: those of build scripts and tests do not."""
    return any(kind["kind"] is None for kind in edge["dep_kinds"])


def main(directory):
    target = policy()["graph"]["targets"][0]
    graph = metadata(target)
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock() if "checksum" in p}
    directory.mkdir(parents=True, exist_ok=True)
    for crate, name in SHIPPED.items():
        path = directory / f"{name}.cdx.json"
        path.write_text(json.dumps(bill(graph, crate, built(target, crate, "normal,no-proc-macro"), checksums), indent=1) + "\n")
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
