"""Webhooks on the page, with a program that is told by them."""

import http.server
import json
import pathlib
import threading
import time
from collections.abc import Callable
from email.message import Message
from typing import Any

from suite import HOSTILE, Suite


class Receiver(http.server.ThreadingHTTPServer):
    """A program that is told by webhooks: keeps headers and bodies, and fails as often as it is told to."""

    def __init__(self) -> None:
        received: list[tuple[Message, bytes]] = []
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
    docs = (pathlib.Path(__file__).parents[2] / "docs" / "service.md").read_text()
    snippet = next(block for block in docs.split("```python\n") if "def is_genuine" in block).split("```")[0]
    names: dict[str, Any] = {}
    exec(snippet, names)
    return names["is_genuine"]


class Webhooks(Suite):
    def webhooks(self) -> None:
        """A webhook is added, tested, told and deleted on the page; its secret is shown once, and is in no log."""
        browser, receiver = self.browser, Receiver()
        url = f"http://127.0.0.1:{receiver.server_port}/hook"
        hostile = f"{url}/'onclick=alert(1)&x=\"y"
        with self.server("webhooks.db", "--log", "debug", "--allow-private-webhooks") as server:
            stderr = server.process.stderr
            assert stderr is not None
            log: list[str] = []
            reading = threading.Thread(target=lambda: log.extend(stderr), daemon=True)
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
