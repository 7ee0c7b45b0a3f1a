"""Uses the pages of `cutline serve` in a real browser, as people do: begins a campaign, measures, corrects, logs in and out; with hostile
names, without scripts and with 100,000 arms. Every page must be free of errors in the console and of findings of axe-core.

Usage: python3 checks/page CUTLINE AXE.js [--shots DIRECTORY] [--only TEST]
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable

from access import Access
from browser import Browser
from campaigns import Campaigns


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("cutline")
    parser.add_argument("axe", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium and chromedriver, "chromium and chromedriver must be installed"
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        browser = Browser(chromium, chromedriver)
        try:
            cutline = str(pathlib.Path(arguments.cutline).resolve())
            shared = (browser, cutline, directory, arguments.axe.read_text(), arguments.shots)
            campaigns, access = Campaigns(*shared), Access(*shared)
            browser.size(1280, 900)
            tests: list[Callable[[], None]] = [campaigns.begin_measure_and_correct, access.log_in_and_out, access.without_scripts]
            tests += [campaigns.many_arms]
            for test in tests:
                if arguments.only and arguments.only not in test.__name__:
                    continue
                start = time.monotonic()
                try:
                    browser.go("about:blank")
                    browser.errors()
                    test()
                    print(f"{test.__name__}: passed in {time.monotonic() - start:.1f} s")
                except Exception:
                    failed += 1
                    print(f"{test.__name__}: FAILED", file=sys.stderr)
                    traceback.print_exc()
                    if arguments.shots:
                        browser.screenshot(arguments.shots / f"failed-{test.__name__}.png")
        finally:
            browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
