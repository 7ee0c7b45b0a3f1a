"""Who may use the pages, and with what: tokens, cookies, other sites, and browsers without scripts."""

import json
import time
import urllib.parse

from served import Server
from suite import TABLE, Suite


class Access(Suite):
    def log_in_and_out(self) -> None:
        """Tokens: the login, roles, the cookie, and pages of other sites."""
        browser = self.browser
        with self.server("tokens.db") as server:
            arms = [{"name": f"arm {k}"} for k in range(5)]
            server.post("/v1/campaigns", {"name": "a b/c", "threshold": 0.5, "budget": 20, "arms": arms})
            admin, viewer = server.token("ada <b>", "admin"), server.token("vera", "viewer")
            while server.raw("GET", "/v1/campaigns", "").status != 401:
                time.sleep(0.05)  # the server reads tokens again from time to time
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
