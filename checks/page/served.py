"""A `cutline serve` with a store of its own, and requests to it."""

import http.client
import json
import subprocess
import urllib.parse
import urllib.request
from typing import Any


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
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def get(self, path: str, **headers: str) -> str:
        with urllib.request.urlopen(urllib.request.Request(self.url + path, None, headers), timeout=600) as answer:
            return answer.read().decode()

    def raw(self, method: str, path: str, body: str, **headers: str) -> http.client.HTTPResponse:
        """An answer as it is, without following redirects."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=600)
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, body, kind | {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        answer.read()
        return answer
