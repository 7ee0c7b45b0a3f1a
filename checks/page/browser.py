"""A headless Chromium, driven by chromedriver over its HTTP protocol (W3C WebDriver). Needs nothing but the standard library."""

import base64
import json
import pathlib
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any

#: How long to wait before a test fails, in seconds: only a hang takes as long.
PATIENCE = 600
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,900",
]  # fmt: skip


class Browser:
    """One window. Every method fails with the message of the browser if it cannot do what it should."""

    def __init__(self, chromium: str, chromedriver: str) -> None:
        self.driver = subprocess.Popen([chromedriver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.driver.stdout is not None
        line = next(line for line in self.driver.stdout if "started successfully on port" in line)
        port = line.split("port")[-1].strip(" .\n")
        self.url = f"http://127.0.0.1:{port}"
        options = {"binary": chromium, "args": FLAGS}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.url += f"/session/{self.session}"

    def close(self) -> None:
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def call(self, method: str, path: str, body: object = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def devtools(self, command: str, **parameters: object) -> Any:
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def go(self, url: str) -> None:
        self.call("POST", "/url", {"url": url})

    def reload(self) -> None:
        self.call("POST", "/refresh", {})

    def address(self) -> str:
        return self.call("GET", "/url")

    def script(self, code: str, *arguments: object) -> Any:
        """What JavaScript returns, also if it is a promise."""
        return self.call("POST", "/execute/sync", {"script": code, "args": list(arguments)})

    def element(self, selector: str) -> str:
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector: str) -> str:
        return self.call("GET", f"/element/{self.element(selector)}/text")

    def click(self, selector: str) -> None:
        element = self.element(selector)
        self.script("arguments[0].scrollIntoView({block: 'center'})", {ELEMENT: element})
        self.call("POST", f"/element/{element}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Types into a field, in place of what is in it."""
        element = self.element(selector)
        self.call("POST", f"/element/{element}/clear", {})
        self.call("POST", f"/element/{element}/value", {"text": text})

    def keys(self, *keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def wait(self, what: str, condition: str, *arguments: object) -> Any:
        """Waits until JavaScript returns something true, and returns it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.script(f"return {condition}", *arguments)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"after {PATIENCE} s: not {what}; the page says {self.text('main')[:2000]!r}")

    def wait_for_text(self, selector: str, text: str) -> None:
        condition = "(document.querySelector(arguments[0])?.textContent ?? '').includes(arguments[1])"
        self.wait(f"{text!r} in {selector}", condition, selector, text)

    def errors(self) -> list[str]:
        """What was written to the console since the last call as an error or a warning."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def scripts(self, are_allowed: bool) -> None:
        self.devtools("Emulation.setScriptExecutionDisabled", value=not are_allowed)

    def latency(self, milliseconds: int) -> None:
        """Delays every answer."""
        self.devtools("Network.enable")
        self.devtools("Network.emulateNetworkConditions", offline=False, latency=milliseconds, downloadThroughput=-1, uploadThroughput=-1)

    def colours(self, scheme: str) -> None:
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width: int, height: int, is_phone: bool = False) -> None:
        scale = 2 if is_phone else 1
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=is_phone)

    def screenshot(self, path: pathlib.Path, is_whole: bool = True) -> None:
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=is_whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def accessibility(self, axe: str) -> list[str]:
        """What axe-core finds wrong with the page, one line per element."""
        self.script(axe)
        rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = self.script("return axe.run(document, {runOnly: arguments[0]})", rules)
        assert found["passes"], "axe-core has checked nothing"
        return [f"{rule['id']}: {rule['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}" for rule in found["violations"] for node in rule["nodes"]]
