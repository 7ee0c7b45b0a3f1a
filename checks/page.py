"""Uses the pages of `cutline serve` in a real browser, as people do: begins a campaign, measures, corrects, logs in and out; with hostile
names, without scripts and with 100,000 arms. Every page must be free of errors in the console and of findings of axe-core.

Usage: page.py CUTLINE AXE.js [--shots DIRECTORY]
"""

import argparse
import contextlib
import http.client
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from browser import Browser

HOSTILE = '<img src=x onerror="window.hacked=1">'
HOSTILE_WORKER = '"><script>window.hacked=2</script>'
HOSTILE_REASON = "</td><svg onload=window.hacked=3> & 'quotes'"
TABLE = "name,mass,polarity\n" + "".join(f"solvent {k},{40 + 7 * k},{(k * 37 % 11) / 10}\n" for k in range(11))
TABLE += f'"{HOSTILE.replace(chr(34), chr(34) * 2)}",99,0.5\n'


class Server:
    """A server on a store of its own."""

    def __init__(self, cutline: str, directory: str, store: str, *more: str) -> None:
        self.cutline, self.directory, self.store = cutline, directory, store
        command = [cutline, "serve", f"{store}?durability=normal", "--bind", "127.0.0.1:0", *(more or ("--log", "error"))]
        self.process = subprocess.Popen(command, cwd=directory, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = next(line for line in self.process.stderr if line.startswith("serving on "))
        self.url = line.removeprefix("serving on ").strip()

    def token(self, name: str, role: str) -> str:
        command = [self.cutline, "token", "create", self.store, "--name", name, "--role", role]
        return subprocess.run(command, cwd=self.directory, check=True, capture_output=True, text=True).stdout.strip()

    def post(self, path: str, body: object, **headers: str) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"} | headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def get(self, path: str, **headers: str) -> str:
        with urllib.request.urlopen(urllib.request.Request(self.url + path, None, headers), timeout=120) as answer:
            return answer.read().decode()

    def raw(self, method: str, path: str, body: str, **headers: str) -> http.client.HTTPResponse:
        """An answer as it is, without following redirects."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, body, kind | {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        answer.read()
        return answer


class Receiver(http.server.ThreadingHTTPServer):
    """A program that is told by webhooks: keeps headers and bodies, and fails as often as it is told to."""

    def __init__(self) -> None:
        received: list[tuple[http.client.HTTPMessage, bytes]] = []
        failures: list[int] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((self.headers, body))
                self.send_response(failures.pop() if failures else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.received, self.failures = received, failures
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait(self, n: int) -> None:
        end = time.monotonic() + 30
        while len(self.received) < n:
            assert time.monotonic() < end, f"{len(self.received)} deliveries instead of {n}"
            time.sleep(0.05)


def documented_check() -> Callable[[str, str, bytes], bool]:
    """The check of signatures in the documentation."""
    docs = (pathlib.Path(__file__).parent.parent / "docs" / "service.md").read_text()
    snippet = next(block for block in docs.split("```python\n") if "def is_genuine" in block).split("```")[0]
    names: dict[str, Any] = {}
    exec(snippet, names)
    return names["is_genuine"]


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

    # The tests, in order; each begins with a server of its own.

    def begin_measure_and_correct(self) -> None:
        """A campaign from a dropped table; rewards from outside and on the page; corrections; hostile texts."""
        browser = self.browser
        with self.server("single.db") as server:
            browser.go(server.url)
            assert "No campaigns yet" in browser.text("main")
            self.look("home-empty")
            browser.click("main a[href='/new']")
            self.drop("name,mass\na,1\na,x\n")
            browser.wait_for_text("#preview", "The table cannot be used as it is")
            browser.wait_for_text("#preview", "x")
            self.drop(TABLE)
            browser.wait_for_text("#preview", "12 arms")
            browser.wait_for_text("#preview", "polarity")
            browser.type("#threshold", "0.5")
            browser.type("#budget", "40")
            browser.wait("a planned figure", "document.querySelector('#prospect img.figure')?.naturalWidth > 0", seconds=60)
            browser.wait_for_text("#prospect", "With this budget")
            assert json.loads(server.get("/v1/campaigns"))["total"] == 0, "looking spends nothing"
            self.not_hacked()
            self.look("new")
            assert browser.script("return document.getElementById('name').value") == "solvents"
            browser.click("button[value=begin]")
            browser.wait_for_text("#notice", "The campaign has begun")
            browser.wait_for_text("#live", "live")
            self.live(server)
            self.on_the_page(server)
            self.filters(server)
            self.look("campaign", expected=("409", "422"))
            self.other_pages(server)
            self.rename_and_delete(server)

    def drop(self, table: str) -> None:
        self.browser.script(
            "const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'solvents.csv', {type: 'text/csv'}));"
            "document.getElementById('new').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))",
            table,
        )

    def live(self, server: Server) -> None:
        """Tickets and rewards from outside are seen without a reload, and what is being typed stays."""
        browser, api = self.browser, "/v1/campaigns/solvents"
        browser.script("window.marker = 7")
        asked = server.post(f"{api}/asks", {"worker": HOSTILE_WORKER, "count": 12})["tickets"]
        assert len(asked) == 12
        browser.wait("12 open tickets", "document.querySelectorAll('.tickets li').length === 12")
        assert HOSTILE_WORKER in browser.text("#tickets")
        first = asked[0]["ticket"]
        browser.type(f"#reward-{first}", "0.12")
        before = browser.script("return document.querySelector('#figure img').src")
        summary = browser.text("#summary")
        rewards = [{"ticket": ticket["ticket"], "reward": float(ticket["index"] % 2)} for ticket in asked[1:]]
        server.post(f"{api}/tells", rewards)
        browser.wait("one open ticket", "document.querySelectorAll('.tickets li').length === 1")
        assert browser.script(f"return document.getElementById('reward-{first}').value") == "0.12"
        assert browser.script("return document.activeElement.id") == f"reward-{first}", "the focus stays"
        assert browser.text("#summary") != summary
        assert browser.script("return document.querySelector('#figure img').src") != before
        assert browser.script("return document.querySelector('#figure img').naturalWidth") > 0
        for _ in range(20):
            asked = server.post(f"{api}/asks", {"worker": "robot", "count": 1})["tickets"]
            server.post(f"{api}/tells", [{"ticket": ticket["ticket"], "reward": 2.0 * (ticket["index"] % 2) - 0.5} for ticket in asked])
        sides = json.loads(server.get(f"{api}/report"))
        assert sides["above"] + sides["below"] > 0, sides
        words = f"{sides['above']} above, {sides['below']} below"
        browser.wait_for_text("#announcement", words)
        browser.wait_for_text("#summary", words)
        assert browser.script("return window.marker") == 7, "the page was not loaded again"
        assert not browser.errors()

    def on_the_page(self, server: Server) -> None:
        """Ask, tell, fail, correct, withdraw and more budget, by forms."""
        browser, api = self.browser, "/v1/campaigns/solvents"
        state = lambda: json.loads(server.get(f"{api}/report"))
        told = state()["told"]
        browser.click(".tickets li button")
        browser.wait_for_text("#notice", "The reward was recorded")
        browser.wait("no open tickets", "document.querySelectorAll('.tickets li').length === 0")
        assert state()["told"] == told + 1
        browser.click("#ask summary")
        browser.type("#ask-worker", HOSTILE_WORKER)
        browser.click("#ask button")
        browser.wait_for_text("#notice", "handed out")
        browser.wait("an open ticket", "document.querySelectorAll('.tickets li').length === 1")
        browser.type(".tickets input[name=reward]", "a lot")
        browser.click(".tickets li button")
        browser.wait_for_text("#notice", "the reward must be a number with a decimal point, not `a lot`")
        browser.click(".tickets li details summary")
        browser.type(".tickets input[name=reason]", HOSTILE_REASON)
        browser.click(".tickets li details button")
        browser.wait_for_text("#notice", "closed without a reward")
        browser.wait_for_text("#events", HOSTILE_REASON)
        browser.type("#amend-ticket", "1")
        browser.type("#amend-reward", "0.25")
        browser.type("#amend-reason", HOSTILE_REASON)
        browser.click("form[action$='/amend'] button")
        browser.wait_for_text("#notice", "The reward was corrected")
        browser.wait_for_text("#events", "reward 0.25")
        browser.type("#amend-ticket", "999")
        browser.type("#amend-reward", "1")
        browser.click("form[action$='/amend'] button")
        browser.wait("a refusal", "document.querySelector('#notice .failure')?.textContent.includes('999')")
        browser.type("#withdraw-arm", HOSTILE)
        browser.type("#withdraw-reason", HOSTILE_REASON)
        browser.click("form[action$='/withdraw'] button")
        browser.wait_for_text("#notice", "The arm was withdrawn")
        browser.type("#budget", "60")
        browser.click("form[action$='/budget'] button")
        browser.wait_for_text("#notice", "The budget was changed")
        browser.wait_for_text("#summary", "of 60")
        assert (state()["budget"], state()["withdrawn"]) == (60, 1)
        self.settings_and_arms(server)
        self.not_hacked()
        assert browser.script("return window.marker") == 7, "the page was not loaded again"

    def settings_and_arms(self, server: Server) -> None:
        """Other settings and more arms, by forms; what is wrong is said, and what was typed stays."""
        browser, api = self.browser, "/v1/campaigns/solvents"
        details = lambda: json.loads(server.get(api))
        browser.click("#settings summary")
        browser.type("#set-threshold", "0.6")
        browser.type("#set-noise", "loud")
        browser.click("#settings button")
        browser.wait_for_text("#notice", "the noise must be a number with a decimal point, not `loud`")
        assert browser.script("return document.getElementById('set-threshold').value") == "0.6"
        browser.type("#set-noise", "0.2")
        browser.click("#settings button")
        browser.wait_for_text("#notice", "The settings were changed")
        browser.wait_for_text("#question", "above 0.6")
        browser.wait_for_text("#settings-now", "0.2")
        browser.wait_for_text("#events", "noise = 0.2, threshold = 0.6")
        assert (details()["settings"]["threshold"], details()["settings"]["noise"]) == (0.6, 0.2)
        browser.type("#add-table", "name,mass\nlate,5\n")
        browser.click("form[action$='/add'] button")
        browser.wait("a refusal", "document.querySelector('#notice .failure')?.textContent.includes('polarity')")
        browser.type("#add-table", f"name,polarity,mass\nlate,0.5,70\n{HOSTILE.replace(' ', '')},0.1,20\n")
        browser.click("form[action$='/add'] button")
        browser.wait_for_text("#notice", "The arms were added")
        browser.wait_for_text("#arm-table", "of 14")
        assert details()["overview"]["n_arms"] == 14

    def rename_and_delete(self, server: Server) -> None:
        """A campaign gets another name, and is deleted only with its name."""
        browser = self.browser
        browser.go(f"{server.url}/campaigns/solvents")
        browser.type("#rename", HOSTILE)
        browser.click("form[action$='/rename'] button")
        browser.wait("the new name", "document.querySelector('h1').textContent === arguments[0]", HOSTILE)
        browser.wait_for_text("#notice", "has its new name")
        self.not_hacked()
        browser.type("#delete", "solvents")
        browser.click("form[action$='/delete'] button")
        browser.wait_for_text("#notice", "so nothing was deleted")
        assert json.loads(server.get("/v1/campaigns"))["total"] == 1
        browser.type("#delete", HOSTILE)
        browser.click("form[action$='/delete'] button")
        browser.wait_for_text("#notice", "The campaign was deleted")
        assert "No campaigns yet" in browser.text("main")
        assert json.loads(server.get("/v1/campaigns"))["total"] == 0
        self.look("deleted", expected=("422",))

    def filters(self, server: Server) -> None:
        """The filter is in the address and survives a reload."""
        browser = self.browser
        browser.type("#search", "SOLVENT 1")
        browser.wait("two arms", "document.querySelectorAll('#arm-table tbody tr').length === 2")
        assert "search=SOLVENT" in browser.address()
        browser.reload()
        assert browser.script("return document.querySelectorAll('#arm-table tbody tr').length") == 2
        browser.click("#arm-table th a[href*='sort=name']")
        browser.wait("a sorted table", "document.querySelector('#arm-table th[aria-sort=ascending]')?.textContent === 'Arm'")
        names = browser.script("return [...document.querySelectorAll('#arm-table tbody th')].map((cell) => cell.textContent)")
        assert names == ["solvent 1", "solvent 10"], names
        browser.go(f"{server.url}/campaigns/solvents?side=undecided&measured=false&doubt=0.05")
        assert browser.script("return document.getElementById('side').value") == "undecided"
        browser.go(f"{server.url}/campaigns/solvents")
        browser.wait_for_text("#live", "live")

    def other_pages(self, server: Server) -> None:
        """An arm, the events, the list, a download and a page that is not there."""
        browser = self.browser
        link = "[...document.querySelectorAll('#arm-table tbody a')].find((link) => link.textContent === arguments[0])"
        browser.script(f"({link}).click()", HOSTILE)
        browser.wait("the page of the arm", "document.querySelector('h1').textContent === arguments[0]", HOSTILE)
        assert HOSTILE_REASON in browser.text("#history")
        browser.click("#availability button")
        browser.wait_for_text("#notice", "available again")
        browser.wait_for_text("#availability", "Withdraw it")
        self.not_hacked()
        self.look("arm")
        browser.go(f"{server.url}/campaigns/solvents/events")
        assert HOSTILE_REASON in browser.text("main") and HOSTILE_WORKER in browser.text("main")
        self.not_hacked()
        self.look("events")
        browser.go(server.url)
        browser.wait_for_text("#campaigns", "solvents")
        self.look("home")
        assert browser.script("return document.activeElement.tagName") == "BODY"
        browser.keys("\ue004", "\ue007")  # tab, enter
        assert browser.script("return document.activeElement.id") == "main", "the first stop of the keyboard skips the header"
        browser.go(f"{server.url}/campaigns/none")
        assert "there is no campaign `none`" in browser.text("main")
        self.look("problem", expected=("404",))
        verdicts = server.get("/campaigns/solvents/verdicts.csv").splitlines()
        assert len(verdicts) == 15 and verdicts[0].startswith("arm,side,mean"), verdicts

    def log_in_and_out(self) -> None:
        """Tokens: the login, roles, the cookie, and pages of other sites."""
        browser = self.browser
        with self.server("tokens.db") as server:
            arms = [{"name": f"arm {k}"} for k in range(5)]
            server.post("/v1/campaigns", {"name": "a b/c", "threshold": 0.5, "budget": 20, "arms": arms})
            admin, viewer = server.token("ada <b>", "admin"), server.token("vera", "viewer")
            time.sleep(2.5)  # tokens are remembered for two seconds
            page = f"{server.url}/campaigns/a%20b%2Fc?side=undecided"
            browser.go(page)
            assert urllib.parse.urlsplit(browser.address()).path == "/login"
            self.look("login")
            browser.type("#token", "cutline_wrong")
            browser.click("main button")
            browser.wait_for_text("[role=alert]", "not valid")
            assert any("403" in error for error in browser.errors())
            browser.type("#token", admin)
            browser.click("main button")
            browser.wait("the campaign", "document.querySelector('h1').textContent === 'a b/c'")
            assert browser.address() == page, "the address that was asked for"
            assert "ada <b>" in browser.text("header")
            assert browser.script("return document.cookie") == ""
            cookies = browser.devtools("Network.getCookies")["cookies"]
            assert [(cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) for cookie in cookies] == [(True, "Strict", False)]
            browser.wait_for_text("#live", "live")
            ticket = server.post("/v1/campaigns/a%20b%2Fc/asks", {"worker": "w"}, Authorization=f"Bearer {admin}")["tickets"][0]["ticket"]
            browser.wait("an open ticket", "document.querySelector('.tickets li')")
            browser.type(f"#reward-{ticket}", "0.9")
            browser.click(".tickets li button")
            browser.wait_for_text("#notice", "recorded")
            browser.wait_for_text("#events", "ada <b>")
            self.of_other_sites(server, admin)
            self.log_out_while_refreshing(server, admin)
            assert browser.devtools("Network.getCookies")["cookies"] == []
            browser.go(server.url)
            assert urllib.parse.urlsplit(browser.address()).path == "/login"
            browser.type("#token", viewer)
            browser.click("main button")
            browser.wait_for_text("main", "a b/c")
            browser.go(f"{server.url}/campaigns/a%20b%2Fc")
            assert browser.script("return document.querySelectorAll('main form[method=post]').length") == 0, "a viewer changes nothing"
            assert "Correct and change" not in browser.text("main")
            for action, form in [("budget", "budget=50"), ("settings", "threshold=1"), ("rename", "name=x"), ("delete", "confirm=a b/c"), ("add", "table=name")]:
                refused = server.raw("POST", f"/campaigns/a%20b%2Fc/{action}", form, Cookie=f"cutline_session={viewer}", Origin=server.url)
                assert refused.status == 403, (action, refused.status)
            self.look("viewer")
            browser.click(".session button")
            browser.wait("the login", "location.pathname === '/login'")
            assert not browser.errors()

    def log_out_while_refreshing(self, server: Server, token: str) -> None:
        """A page that is being left asks for no figure, which would be refused without the cookie."""
        browser = self.browser
        refused = lambda: [line for line in server.get("/metrics", Authorization=f"Bearer {token}").splitlines() if 'status="401"' in line]
        before = refused()
        browser.latency(milliseconds=300)
        server.post("/v1/campaigns/a%20b%2Fc/asks", {"worker": "w"}, Authorization=f"Bearer {token}")
        browser.script("document.querySelector('.session button').click(); setTimeout(refresh, 100)")
        browser.wait("the login", "location.pathname === '/login'")
        browser.latency(milliseconds=0)
        assert refused() == before

    def of_other_sites(self, server: Server, token: str) -> None:
        """A cookie that comes with a request from elsewhere, or from nowhere, changes nothing."""
        cookie, path = f"cutline_session={token}", "/campaigns/a%20b%2Fc/budget"
        status = lambda **headers: server.raw("POST", path, "budget=33", Cookie=cookie, **headers).status
        assert status() == 403
        assert status(Origin="http://example.org") == 403
        assert status(Origin=server.url, Sec_Fetch_Site="cross-site") == 403
        assert json.loads(server.get("/v1/campaigns/a%20b%2Fc", Authorization=f"Bearer {token}"))["overview"]["budget"] == 20
        assert status(Origin=server.url, Sec_Fetch_Site="same-origin") == 303
        login = lambda **headers: server.raw("POST", "/login", f"token={token}&next=//example.org", **headers)
        assert login(Origin="http://example.org").status == 403
        done = login(Origin=server.url)
        assert (done.status, done.headers["Location"]) == (303, "/"), "nobody is sent to another site"
        secure = login(Origin=server.url.replace("http:", "https:"))
        assert secure.headers["Set-Cookie"].endswith("; Secure")
        link = server.raw("GET", "/", "", Sec_Fetch_Site="cross-site")
        assert (link.status, link.headers["Refresh"]) == (200, "0; url=/"), "a link from elsewhere finds its way"

    def without_scripts(self) -> None:
        """Forms are enough to begin, ask, tell and log in."""
        browser = self.browser
        with self.server("plain.db") as server:
            browser.scripts(are_allowed=False)
            try:
                browser.go(f"{server.url}/new")
                browser.click("#paste summary")
                browser.type("#table", TABLE)
                browser.type("#name", "plain")
                browser.type("#threshold", "0.5")
                browser.type("#budget", "30")
                browser.click("button[value=look]")
                browser.wait_for_text("#preview", "12 arms")
                browser.wait_for_text("#prospect", "With this budget")
                browser.click("button[value=begin]")
                browser.wait_for_text("#notice", "The campaign has begun")
                browser.click("#ask summary")
                browser.type("#ask-worker", "hand")
                browser.click("#ask button")
                browser.wait_for_text("#notice", "handed out")
                browser.type(".tickets input[name=reward]", "0.7")
                browser.click(".tickets li button")
                browser.wait_for_text("#notice", "recorded")
                browser.type("#amend-ticket", "1")
                browser.type("#amend-reward", "0,7")
                browser.click("form[action$='/amend'] button")
                browser.wait_for_text("#notice", "the reward must be a number with a decimal point, not `0,7`")
                browser.click("#settings summary")
                browser.type("#set-threshold", "0.75")
                browser.click("#settings button")
                browser.wait_for_text("#notice", "The settings were changed")
                browser.type("#add-table", "name,mass,polarity\nlate,70,0.5\n")
                browser.click("form[action$='/add'] button")
                browser.wait_for_text("#notice", "The arms were added")
                browser.type("#rename", "plainer")
                browser.click("form[action$='/rename'] button")
                browser.wait_for_text("#notice", "has its new name")
                assert browser.text("h1") == "plainer" and "above 0.75" in browser.text("main")
            finally:
                browser.scripts(are_allowed=True)
            report = json.loads(server.get("/v1/campaigns/plainer/report"))
            assert (report["told"], report["n_arms"], report["threshold"]) == (1, 13, 0.75)
            assert all("422" in error for error in browser.errors())

    def webhooks(self) -> None:
        """A webhook is added, tested, told and deleted on the page; its secret is shown once, and is in no log."""
        browser, receiver = self.browser, Receiver()
        url = f"http://127.0.0.1:{receiver.server_port}/hook"
        hostile = f"{url}/'onclick=alert(1)&x=\"y"
        with self.server("webhooks.db", "--log", "debug", "--allow-private-webhooks") as server:
            assert server.process.stderr is not None
            log: list[str] = []
            reading = threading.Thread(target=lambda: log.extend(server.process.stderr), daemon=True)
            reading.start()
            arms = [{"name": f"{HOSTILE} {k}"} for k in range(3)]
            server.post("/v1/campaigns", {"name": "told", "threshold": 0.5, "budget": 6, "arms": arms})
            page = f"{server.url}/campaigns/told"
            browser.go(page)
            browser.click("#add-webhook summary")
            browser.type("#webhook-url", "ftp://example.org/")
            browser.click("#webhook-add")
            browser.wait_for_text("#notice", "the URL must begin with")
            browser.click("#add-webhook summary")
            browser.type("#webhook-url", url)
            browser.type("#webhook-minutes", "30")
            browser.click("#webhook-add")
            browser.wait_for_text("#notice", "it is not shown again")
            secret = browser.text("#secret")
            assert secret.startswith("cutline_webhook_") and len(secret) == 80, secret
            self.look("webhook-added", expected=("422",))
            browser.wait_for_text("#webhooks", "after 1800 s without a reward")
            server.post("/v1/campaigns/told/webhooks", {"url": hostile, "events": ["silent"]})
            browser.go(page)
            assert hostile in browser.text("#webhooks") and secret not in server.get("/campaigns/told")
            self.not_hacked()
            receiver.failures.append(500)
            browser.click("#test-1")
            browser.wait_for_text("#notice", "A test is being sent")
            receiver.wait(1)
            self.reload_until(page, "#webhook-1", "the answer has the status 500")
            receiver.wait(2)
            self.reload_until(page, "#webhook-1", "delivered")
            for _ in range(6):
                for ticket in server.post("/v1/campaigns/told/asks", {"worker": "w"})["tickets"]:
                    server.post("/v1/campaigns/told/tells", [{"ticket": ticket["ticket"], "reward": 0.7}])
            receiver.wait(3)
            end = time.monotonic() + 30
            while not any(json.loads(body)["type"] == "ended" for _, body in receiver.received):
                assert time.monotonic() < end, receiver.received
                time.sleep(0.05)
            is_genuine = documented_check()
            for headers, body in receiver.received:
                assert is_genuine(secret, headers["Cutline-Signature"], body), headers
                assert not is_genuine(secret, headers["Cutline-Signature"], body + b" "), headers
                assert json.loads(body)["id"] == headers["Cutline-Delivery"], headers
            browser.go(page)
            browser.wait_for_text("#webhooks", "ended")
            self.not_hacked()
            browser.click("#add-webhook summary")
            self.look("webhooks", expected=("422",))
            browser.click("#delete-2")
            browser.wait("one webhook", "document.querySelectorAll('.webhook').length === 1")
            browser.wait_for_text("#notice", "The webhook was deleted")
            assert not [error for error in browser.errors() if "422" not in error]
        reading.join(10)
        text = "".join(log)
        assert "a webhook was added" in text and "delivered" in text, text
        assert secret not in text and secret.removeprefix("cutline_webhook_") not in text and "/hook" not in text, "a secret in the log"
        receiver.shutdown()

    def reload_until(self, page: str, selector: str, text: str) -> None:
        end = time.monotonic() + 30
        while True:
            self.browser.go(page)
            if text in self.browser.text(selector):
                return
            assert time.monotonic() < end, f"no {text!r} in {self.browser.text(selector)!r}"

    def many_arms(self) -> None:
        """A page of a campaign with 100,000 arms is as small as any other."""
        browser = self.browser
        with self.server("many.db") as server:
            table = "name,x,y\n" + "".join(f"arm {k},{k % 317},{k * 7 % 101}\n" for k in range(100_000))
            settings = "name=many&threshold=0.5&budget=2000&model=linear"
            server.post(f"/v1/campaigns?{settings}", table.encode(), **{"Content-Type": "text/csv"})
            tickets = server.post("/v1/campaigns/many/asks", {"worker": "w", "count": 40})["tickets"]
            server.post("/v1/campaigns/many/tells", [{"ticket": ticket["ticket"], "reward": ticket["index"] % 3 / 2} for ticket in tickets])
            start = time.monotonic()
            page = server.get("/campaigns/many?search=9999&sort=-doubt")
            seconds = time.monotonic() - start
            print(f"  100,000 arms: {len(page):,} bytes in {seconds:.2f} s")
            assert len(page) < 200_000 and seconds < 20
            browser.go(f"{server.url}/campaigns/many")
            assert "1 to 50 of 100,000" in browser.text("#arm-table")
            browser.wait("the figure", "document.querySelector('#figure img').naturalWidth > 0")
            browser.wait_for_text("#live", "live")
            ticket = server.post("/v1/campaigns/many/asks", {"worker": "late", "count": 1})["tickets"][0]["ticket"]
            browser.wait("the ticket", f"document.getElementById('ticket-{ticket}')", seconds=60)
            self.look("many")


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
            suite = Suite(browser, cutline, directory, arguments.axe.read_text(), arguments.shots)
            browser.size(1280, 900)
            tests: list[Callable[[], None]] = [suite.begin_measure_and_correct, suite.log_in_and_out, suite.without_scripts, suite.webhooks, suite.many_arms]
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
