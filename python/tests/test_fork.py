"""A forked process works, whatever its parent did before: `multiprocessing` forks by default on Linux before Python 3.14."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FORK = """
import multiprocessing, sys, warnings
import numpy as np
import cutline

warnings.simplefilter("ignore")  # Python 3.12 warns of any fork with threads
X = np.random.default_rng(0).normal(size=(30, 3))

def check(work):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(work()), daemon=True)
    expected = work()
    child.start()
    found = queue.get(timeout=600)
    child.join()
    assert found == expected, (work.__name__, found, expected)
"""

WORK = """
def experiment():
    return cutline.simulate(cutline.Experiment.from_paper("wine"), runs=20).tally.runs

def standing():
    campaign = cutline.Campaign(X, threshold=0.0, budget=40)
    campaign.tell(campaign.ask(9), [0.1] * 9)
    return campaign.standing

def plan():
    return cutline.plan(X, threshold=0.0, budgets=[20], runs=4).to_dict()

def reproduction():
    return cutline.reproduce("osi", runs=2).rows[0]

for work in (experiment, standing, plan, reproduction):
    check(work)
print("done")
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_simulations_and_plans() -> None:
    assert run(FORK + WORK) == "done\n"


STORED = """
campaign = cutline.Campaign(X, threshold=0.0, budget=400, storage=sys.argv[1])
campaign.tell(campaign.ask(9), [0.1] * 9)

def work(_):
    numbers = []
    for _ in range(20):
        ticket = campaign.ask()
        campaign.tell(ticket, 0.1)
        numbers.append(ticket.ticket)
    return numbers

with multiprocessing.get_context("fork").Pool(4) as pool:
    numbers = sum(pool.map(work, range(8), chunksize=1), [])
assert len(set(numbers)) == 160, "no ticket was handed out twice"
assert campaign.progress.told == 169 and campaign.progress.open == 0
workers = {event["worker"] for event in campaign.events() if event["event"] == "asked"}
print(len(workers) >= 2, campaign.verdicts == cutline.open(sys.argv[1]).verdicts)
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_forked_workers_share_a_campaign_in_a_store(kind: str, tmp_path: Path) -> None:
    """Each opens its own connection, and is a worker of its own in the journal."""
    if kind == "postgresql":
        from test_campaign import database

        storage = database()
    else:
        storage = str(tmp_path / "screen.db")
    assert run(FORK + STORED, storage) == "True True\n"


NAMES = """
import os, pickle, sys
import cutline

storage = sys.argv[1]
campaign = cutline.Campaign(5, threshold=0, budget=50, storage=storage, name="one")
cutline.Campaign(5, threshold=0, budget=50, storage=storage, name="two")
cutline.rename(storage, "old", name="one")
cutline.rename(storage, "one", name="two")
campaign.observe(0, 111.0)
if os.fork() == 0:
    campaign.observe(0, 222.0)
    os._exit(0)
assert os.wait()[1] == 0
pickle.loads(pickle.dumps(campaign)).observe(0, 333.0)
rewards = {name: [event["reward"] for event in cutline.open(storage, name=name).events()] for name in ("old", "one")}
assert rewards == {"old": [111.0, 222.0, 333.0], "one": []}, rewards

pickled = pickle.dumps(campaign)
cutline.delete(storage, name="old")
cutline.Campaign(5, threshold=0, budget=50, storage=storage, name="old")
try:
    pickle.loads(pickled)
except cutline.CutlineError as error:
    assert "deleted" in str(error), error
else:
    raise AssertionError("another campaign was opened")
"""


def test_a_campaign_is_opened_again_whatever_its_name(tmp_path: Path) -> None:
    """Rewards never reach another campaign that has got the name."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", NAMES, str(tmp_path / "names.db")], check=True, timeout=PATIENCE)
