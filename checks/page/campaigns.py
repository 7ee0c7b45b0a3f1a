"""Campaigns on the page: begin, measure, correct, change and delete; and with 100,000 arms."""

import json
import time

from served import Server
from suite import HOSTILE, HOSTILE_REASON, HOSTILE_WORKER, TABLE, Suite


class Campaigns(Suite):
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
            browser.wait("a planned figure", "document.querySelector('#prospect img.figure')?.naturalWidth > 0")
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
        with_proved = lambda side: f"{sides[side]} {side}" + (f" ({sides[side + '_proved']} proved)" if sides[side] else "")
        words = f"{with_proved('above')}, {with_proved('below')}"
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
        assert len(verdicts) == 15 and verdicts[0].startswith("arm,side,basis,mean"), verdicts

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
            print(f"  100,000 arms: {len(page):,} bytes in {time.monotonic() - start:.2f} s")
            assert len(page) < 200_000
            browser.go(f"{server.url}/campaigns/many")
            assert "1 to 50 of 100,000" in browser.text("#arm-table")
            browser.wait("the figure", "document.querySelector('#figure img').naturalWidth > 0")
            browser.wait_for_text("#live", "live")
            ticket = server.post("/v1/campaigns/many/asks", {"worker": "late", "count": 1})["tickets"][0]["ticket"]
            browser.wait("the ticket", f"document.getElementById('ticket-{ticket}')")
            self.look("many")
