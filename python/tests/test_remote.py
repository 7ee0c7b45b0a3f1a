"""Campaigns on a server of `cutline serve` are used as those in a store."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cutline
import pandas as pd
import pytest
from processes import wait_for

CUTLINE = Path(__file__).parents[2] / "target/release/cutline"


class Server:
    """`cutline serve` on `screen.db` in a directory."""

    # Nobody else uses this address, so that the port is still free when a server is started again.
    def __init__(self, directory: Path, bind: str = "127.0.0.2:0" if sys.platform == "linux" else "127.0.0.1:0") -> None:
        command = [str(CUTLINE), "serve", "screen.db", "--bind", bind]
        self.process = subprocess.Popen(command, cwd=directory, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = next(line for line in self.process.stderr if line.startswith("serving on "))
        self.bind = line.strip().rsplit("/", 1)[1]
        self.url = f"http://{self.bind}/v1/campaigns/screen"
        # So that the server can go on writing.
        self.reader = threading.Thread(target=self.process.stderr.read)
        self.reader.start()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        if self.process.stderr is not None:
            self.process.stderr.close()


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "screen.db")
    arms = [[float(i), float(i % 3)] for i in range(6)]
    cutline.Campaign(arms, threshold=2.5, budget=30, noise=0.1, names=list("abcdef"), storage=path, name="screen")
    return path


@pytest.fixture
def server(store: str, tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def test_a_whole_campaign(store: str, server: Server) -> None:
    campaign, local = cutline.open(server.url), cutline.open(store)
    assert (campaign.name, campaign.storage, campaign.names) == ("screen", server.url, local.names)
    first = campaign.ask()
    assert first is not None and list(first.features) == [float(first.arm), float(first.arm % 3)]
    assert campaign.tell(first, float(first.arm)) == 1
    assert campaign.tell(first, float(first.arm)) == 0
    three = campaign.ask(replicates=3)
    assert three is not None and campaign.tell(three, [1.0, 1.1, 0.9]) == 3
    lost = campaign.ask()
    assert lost is not None and campaign.fail(lost, "sample lost")
    assert campaign.expire([ticket.ticket for ticket in campaign.ask(2)]) == 2
    while tickets := campaign.ask(4):
        campaign.tell(tickets, [float(ticket.arm) for ticket in tickets])
    # What is computed here from the events is what the store says, to the last digit.
    assert campaign.to_records() == local.to_records()
    assert campaign.progress == local.progress
    # The pace depends on the moment.
    pace = {"rewards_per_hour": None, "budget_used_at": None}
    assert campaign.standing | pace == local.standing | pace
    assert campaign.events() == local.events()
    assert (campaign.progress.told, campaign.progress.failed, campaign.progress.expired) == (30, 1, 2)
    assert campaign.figure() == local.figure()


def test_refusals_are_those_of_a_store(store: str, server: Server) -> None:
    campaign, local = cutline.open(server.url), cutline.open(store)
    campaign.tell(campaign.ask(1), [0.5])
    for told in [(1, 0.6), (77, 0.5)]:
        with pytest.raises(cutline.CutlineError) as remote_error:
            campaign.tell(*told)
        with pytest.raises(cutline.CutlineError) as local_error:
            local.tell(*told)
        assert (remote_error.type, str(remote_error.value)) == (local_error.type, str(local_error.value))
    changes: list[dict[str, Any]] = [{"budget": 0}, {"until_sure": "intervals", "noise": None}, {"threshold": float("nan")}]
    for change in changes:
        with pytest.raises(cutline.CutlineError) as remote_error:
            campaign.set(**change)
        with pytest.raises(cutline.CutlineError) as local_error:
            local.set(**change)
        assert (remote_error.type, str(remote_error.value)) == (local_error.type, str(local_error.value)), change


def test_a_server_is_a_store(store: str, server: Server, tmp_path: Path) -> None:
    url = f"http://{server.bind}"
    settings: dict[str, Any] = {"threshold": 0.30000000000000004, "budget": 12, "confidence": 0.9, "seed": 7, "noise": 0.1, "categories": ["kind"]}
    frame = pd.DataFrame({"name": list("abcd"), "x": [0.1, 0.2, 0.30000000000000004, 1e-9], "kind": ["p", "q", "p", "q"]})
    there = cutline.Campaign(frame, **settings, storage=url, name="more")
    here = cutline.Campaign(frame, **settings, storage=tmp_path / "here.db", name="more")
    assert (there.settings, there.names, there.storage) == (here.settings, here.names, url)
    for campaign in (there, here):
        for ticket in campaign.ask(3):
            campaign.tell(ticket, 0.5)
        campaign.extend(20)
        campaign.set(threshold=0.4, confidence=0.8, noise=None)
        campaign.add(pd.DataFrame({"name": ["e"], "x": [0.7], "kind": ["q"]}))
        campaign.observe(["e"], [0.25])
    assert (there.settings, there.to_records()) == (here.settings, here.to_records())
    assert pickle.loads(pickle.dumps(there)).to_records() == here.to_records()
    assert cutline.open(url, "more").progress == there.progress
    with pytest.raises(cutline.InputError, match="with other features"):
        there.add(pd.DataFrame({"name": ["e"], "x": [0.8], "kind": ["q"]}))
    with pytest.raises(cutline.InputError, match="already a campaign `more`; choose another with `name=`"):
        cutline.Campaign(3, threshold=0.5, budget=9, storage=url, name="more")
    with pytest.raises(cutline.InputError, match="the address is that of the campaign `screen`, and the name is `x`"):
        cutline.Campaign(3, threshold=0.5, budget=9, storage=server.url, name="x")
    assert cutline.Campaign(3, threshold=0.5, budget=9, storage=f"{url}/v1/campaigns/a%20b").name == "a b"
    cutline.copy(url, "copied", name="more")
    cutline.copy(url, "down", name="more", to=tmp_path / "here.db")
    cutline.copy(tmp_path / "here.db", "up", name="down", to=url)
    assert cutline.open(url, "up").events() == cutline.open(url, "copied").events() == there.events()
    cutline.rename(url, "renamed", name="copied")
    cutline.delete(url, "up")
    assert cutline.campaigns(url) == ["screen", "more", "a b", "renamed"]
    with pytest.raises(cutline.InputError, match="the store has 4 campaigns"):
        cutline.open(url)


class First(cutline.Rule):
    def choose(self, beliefs: cutline.Beliefs) -> int:
        return 0


def test_custom_rules_stay_in_stores(server: Server) -> None:
    with pytest.raises(cutline.InputError, match="a campaign on a server cannot use a custom rule; begin it in a store"):
        cutline.Campaign(3, threshold=0.5, budget=9, storage=f"http://{server.bind}", algorithm=First())


def asks_for_a_token(url: str) -> bool:
    try:
        cutline.open(url)
    except cutline.StorageError:
        return True
    return False


def test_tokens(store: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [str(CUTLINE), "token", "create", store, "--name", "w"]
    token = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    wait_for("server that knows of the token", lambda: asks_for_a_token(server.url))
    with pytest.raises(cutline.StorageError, match="asks for a token; pass a token .* as `token="):
        cutline.open(server.url)
    with pytest.raises(cutline.StorageError, match="does not accept the token"):
        cutline.open(server.url, token="cutline_no")
    campaign = cutline.open(server.url, token=token)
    assert cutline.campaigns(f"http://{server.bind}", token=token) == ["screen"]
    with pytest.raises(cutline.CutlineError, match="the role `admin`"):
        cutline.Campaign(3, threshold=0.5, budget=9, storage=f"http://{server.bind}", token=token)
    assert token.strip() not in repr(pickle.dumps(campaign))
    monkeypatch.setenv("CUTLINE_TOKEN", token)
    assert pickle.loads(pickle.dumps(campaign)).progress == campaign.progress
    with pytest.raises(cutline.NotFoundError, match="there is no campaign `other`"):
        cutline.open(server.url.replace("screen", "other"))


def test_addresses(server: Server) -> None:
    with pytest.raises(cutline.InputError, match="/v1/campaigns/NAME"):
        cutline.open(f"http://{server.bind}/campaigns/screen")
    assert cutline.open(f"http://{server.bind}").name == "screen"
    server.kill()
    with pytest.raises(cutline.StorageError, match="connection refused"):
        cutline.open(server.url)


def test_a_killed_server_loses_nothing(store: str, server: Server, tmp_path: Path) -> None:
    campaign = cutline.open(server.url)
    (ticket,) = campaign.ask(1)
    server.kill()
    again: list[Server] = []
    timer = threading.Timer(0.5, lambda: again.append(Server(tmp_path, server.bind)))
    timer.start()
    assert campaign.tell(ticket, 0.5) == 1
    timer.join()
    assert cutline.open(store).progress.told == 1
    again[0].kill()


def test_ctrl_c_ends_a_wait_for_a_server(tmp_path: Path) -> None:
    # A server that accepts connections and never answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/campaigns/screen"
        connections: list[socket.socket] = []

        def interrupt() -> None:
            connections.append(silent.accept()[0])
            os.kill(os.getpid(), signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            cutline.open(url)
        # An answer is waited for longer than that.
        assert time.monotonic() - begun < 60
        interrupter.join()
        connections[0].close()
