"""What all tests of pages share: servers, hostile texts, and how a page is looked at."""

import contextlib
import pathlib
from collections.abc import Iterator

from browser import Browser
from served import Server

HOSTILE = '<img src=x onerror="window.hacked=1">'
HOSTILE_WORKER = '"><script>window.hacked=2</script>'
HOSTILE_REASON = "</td><svg onload=window.hacked=3> & 'quotes'"
TABLE = "name,mass,polarity\n" + "".join(f"solvent {k},{40 + 7 * k},{(k * 37 % 11) / 10}\n" for k in range(11))
TABLE += f'"{HOSTILE.replace(chr(34), chr(34) * 2)}",99,0.5\n'


class Suite:
    def __init__(self, browser: Browser, cutline: str, directory: str, axe: str, shots: pathlib.Path | None) -> None:
        self.browser, self.cutline, self.directory, self.axe, self.shots = browser, cutline, directory, axe, shots

    @contextlib.contextmanager
    def server(self, store: str, *more: str) -> Iterator[Server]:
        server = Server(self.cutline, self.directory, store, *more)
        try:
            yield server
        finally:
            server.process.terminate()
            assert server.process.wait(60) == 0

    def look(self, name: str, expected: tuple[str, ...] = ()) -> None:
        """Checks the page that is open: console, accessibility in both colour schemes, and that nothing is wider than a phone."""
        browser = self.browser
        errors = [error for error in browser.errors() if not any(text in error for text in expected)]
        assert not errors, f"{name}: {errors}"
        for scheme in ("light", "dark"):
            browser.colours(scheme)
            found = browser.accessibility(self.axe)
            assert not found, f"{name}, {scheme}: " + "\n".join(found)
            self.shot(f"{name}-{scheme}")
        browser.size(390, 844, is_phone=True)
        self.shot(f"{name}-phone-dark")
        browser.colours("light")
        self.shot(f"{name}-phone")
        width = browser.script("return document.documentElement.scrollWidth")
        assert width <= 390, f"{name}: {width} wide on a phone of 390"
        found = browser.accessibility(self.axe)
        assert not found, f"{name} on a phone: " + "\n".join(found)
        browser.size(1280, 900)

    def shot(self, name: str) -> None:
        if self.shots:
            self.browser.screenshot(self.shots / f"{name}.png")

    def not_hacked(self) -> None:
        assert self.browser.script("return window.hacked") is None
        foreign = "return document.querySelectorAll('main img:not(.figure), main script, main svg').length"
        assert self.browser.script(foreign) == 0
