"""What checks/features.py refuses; `make lint` runs it with unittest."""
import unittest

from features import differences, features


class Features(unittest.TestCase):
    def test_a_crate_with_other_features_is_found(self):
        whole = features("serde v1.0.0|default,std\nserde v1.0.0|std\nlog v0.4.0|\nours v0.1.0 (/path)|\n")
        self.assertEqual(list(differences(features("serde v1.0.0|std\nours v0.1.0 (/path)|\n"), whole, "the wheel")), [])
        self.assertEqual(
            list(differences(features("log v0.4.0|std\n"), whole, "the wheel")),
            ["log v0.4.0 is compiled again for the wheel: without [], with ['std']"],
        )


if __name__ == "__main__":
    unittest.main()
