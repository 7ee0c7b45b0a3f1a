"""What checks/dependencies.py refuses; `make lint` runs it with unittest."""
import unittest

from dependencies import allows, direct, duplicate_faults, licence_faults, listed, listing_faults, python_direct, source_faults

RULES = {
    "licenses": {"allow": ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"]},
    "bans": {"skip": [{"crate": "old@1.0.0"}]},
    "sources": {"allow-registry": ["https://registry"]},
}


def package(name, version="1.0.0", licence="MIT"):
    return {"name": name, "version": version, "license": licence}


class Dependencies(unittest.TestCase):
    def test_licences(self):
        allowed = set(RULES["licenses"]["allow"])
        for expression in ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception", "Apache-2.0 OR MIT AND GPL-3.0"]:
            self.assertTrue(allows(expression, allowed), expression)
        for expression in ["GPL-3.0", "MIT AND GPL-3.0", "MIT AND (GPL-3.0 OR Zlib)", "MIT WITH LLVM-exception"]:
            self.assertFalse(allows(expression, allowed), expression)
        found = list(licence_faults([package("good"), package("bad", licence="GPL-3.0"), package("none", licence=None)], RULES))
        self.assertEqual(found, ["bad 1.0.0 is licensed as `GPL-3.0`, which deny.toml does not allow", "none 1.0.0 names no licence"])

    def test_sources(self):
        good = {"name": "good", "version": "1.0.0", "source": "registry+https://registry", "checksum": "0"}
        self.assertEqual(list(source_faults([good, {"name": "ours", "version": "1.0.0"}], RULES)), [])
        fetched = {**good, "source": "git+https://elsewhere"}
        self.assertIn("comes from git+https://elsewhere", next(source_faults([fetched], RULES)))
        del good["checksum"]
        self.assertIn("no checksum", next(source_faults([good], RULES)))

    def test_duplicates(self):
        old, new, newer = package("old"), package("old", "2.0.0"), package("old", "3.0.0")
        self.assertEqual(list(duplicate_faults([old, new], RULES)), [])
        self.assertIn("compiled in 3 versions", next(duplicate_faults([old, new, newer], RULES)))
        self.assertEqual(list(duplicate_faults([new], RULES)), ["deny.toml skips old@1.0.0, which is not there twice any more"])

    def test_list_of_direct_dependencies(self):
        ours = {"id": "a", "name": "ours", "dependencies": [{"name": "ours-too"}, {"name": "kept"}, {"name": "new"}]}
        graph = {"workspace_members": ["a", "b"], "packages": [ours, {"id": "b", "name": "ours-too", "dependencies": []}]}
        self.assertEqual(direct(graph), {"kept", "new"})
        page = "# Title\n\n## Crates\n\n| crate | why |\n|---|---|\n| `gone` | x |\n| `kept` | y |\n\n## Next\n\n| `other` | z |\n"
        names = listed(page, "Crates")
        self.assertEqual(names, ["gone", "kept"])
        faults = list(listing_faults(direct(graph), names, "Crates"))
        self.assertEqual([f.split("`")[1] for f in faults], ["new", "gone"])
        self.assertEqual(list(listing_faults({"a", "b"}, ["a", "b"], "Crates")), [])
        self.assertIn("not sorted", next(listing_faults({"a", "b"}, ["b", "a"], "Crates")))
        self.assertIn("lacks", next(listing_faults({"a"}, listed(page, "No such heading"), "Crates")))
        self.assertEqual(python_direct({"dependencies": ["numpy>=1"], "optional-dependencies": {"x": ["a.b[c]==1"]}}), {"numpy", "a.b"})


if __name__ == "__main__":
    unittest.main()
