"""A real Dask cluster of two processes, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import cutline

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")

EXPERIMENT = cutline.Experiment.from_paper("uniform-d5", runs=4_000)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def tally() -> cutline.Tally:
    return cutline.simulate(EXPERIMENT).tally


@pytest.mark.parametrize("shards", [1, 9])
def test_a_cluster_gives_bit_identical_results(client: Any, tally: cutline.Tally, shards: int) -> None:
    assert cutline.simulate(EXPERIMENT, client=client, shards=shards).tally == tally


def test_a_dead_worker_loses_only_its_shard(client: Any, tally: cutline.Tally) -> None:
    """One worker is killed after the first shard has come back; the cluster starts another."""
    victims = list(client.run(os.getpid).values())
    done: list[int] = []

    def watch(runs: int, all_runs: int) -> None:
        if not done:
            os.kill(victims[0], signal.SIGKILL)
        done.append(runs)

    results = cutline.simulate(EXPERIMENT, client=client, shards=40, progress=watch)
    assert results.tally == tally
    assert len(done) == 40 and done[-1] == EXPERIMENT.runs
    assert victims[0] not in client.run(os.getpid).values()


class Fragile:
    """A client for which some shards fail as if the cluster had given up on them."""

    def __init__(self, client: Any, deaths: int, death: Any = None) -> None:
        self.client = client
        self.deaths = deaths
        self.death = death or _given_up

    def submit(self, work: Any, *arguments: Any, **keywords: Any) -> Any:
        if self.deaths:
            self.deaths -= 1
            return self.client.submit(self.death, pure=False)
        return self.client.submit(work, *arguments, **keywords)

    def gather(self, futures: Any, errors: str) -> Any:
        return self.client.gather(futures, errors=errors)

    def cancel(self, futures: Any) -> None:
        self.client.cancel(futures)


def test_a_shard_that_the_cluster_gave_up_on_is_sent_again(client: Any, tally: cutline.Tally) -> None:
    for shards in (1, 3):
        assert cutline.simulate(EXPERIMENT, client=Fragile(client, 4), shards=shards).tally == tally
    with pytest.raises(distributed.KilledWorker):
        cutline.simulate(EXPERIMENT, client=Fragile(client, 5), shards=1)


def test_the_exception_of_a_worker_is_raised(client: Any) -> None:
    with pytest.raises(ZeroDivisionError, match="in a worker"):
        cutline.simulate(EXPERIMENT, client=Fragile(client, 1, _broken), shards=7)


def test_campaigns_run_on_a_cluster(client: Any) -> None:
    with client.get_executor() as executor:
        campaign = cutline.run([[0.9], [0.1]], _first, workers=2, executor=executor, threshold=0.5, budget=10)
    assert campaign.progress.told == 10


def test_changed_campaigns_run_on_a_cluster(client: Any) -> None:
    campaign = cutline.Campaign([[0.9], [0.1]], threshold=0.5, budget=10, model="independent")
    campaign.add([[0.3], [0.7]])
    assert client.submit(_n_arms, campaign, pure=False).result() == 4
    with client.get_executor() as executor:
        cutline.run(campaign, _not_the_third, workers=2, executor=executor, give_up=1)
    assert campaign.progress.told == 10
    assert campaign.withdrawn == {"2": "ZeroDivisionError: in a worker"}


def _n_arms(campaign: cutline.Campaign) -> int:
    return len(campaign.names)


def _not_the_third(ticket: cutline.Ticket) -> float:
    if ticket.arm == 2:
        _broken()
    return _first(ticket)


def _first(ticket: cutline.Ticket) -> float:
    return float(ticket.features[0])


def _broken() -> None:
    raise ZeroDivisionError("in a worker")


def _given_up() -> None:
    raise distributed.KilledWorker("shard", SimpleNamespace(address="tcp://gone"), 3)
