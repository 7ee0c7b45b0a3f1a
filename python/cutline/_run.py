"""The whole loop: ask, measure on threads or any executor, tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ._campaign import Campaign
from ._errors import InputError
from ._native import Ticket
from ._progress import Progress, Watch, watching

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Measure = Callable[[Ticket], float]

LATE = 0.5
"""How many seconds to wait, when all measurements are out with others, before asking again."""


def run(
    X: Any,
    measure: Measure,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    failures: int = 0,
    progress: bool | Watch = False,
    **settings: Any,
) -> Campaign:
    """Measures until the budget is used or every side is sure; gives the campaign back.

    `measure` is called with a `Ticket`, which has `arm`, `name` and `features`, and gives the reward. It is called on `workers`
    threads, or on an executor, such as a process pool or `client.get_executor()` of Dask, where it has to be picklable.

    >>> import cutline
    >>> campaign = cutline.run([[0.9], [0.5], [0.1]], lambda ticket: ticket.features[0], threshold=0.4, budget=30, noise=0.1)
    >>> campaign.progress
    Progress(counted=30, budget=30, out=0, failed=0, expired=0, ending='budget')

    | argument | default | meaning |
    |---|---|---|
    | `X` | needed | what `Campaign` takes, with its settings; or a campaign, which goes on from where it is |
    | `workers` | 1 | how many measurements are out at once |
    | `executor` | threads | any `concurrent.futures.Executor` |
    | `failures` | 0 | how many measurements may fail, and are given back to the budget; one more is raised |
    | `progress` | `False` | `True` to show it on stderr; a function is called with what is counted and the budget |

    However it ends, Ctrl-C included, no ticket of this call stays out, and what was told is kept.
    """
    workers = _whole("workers", workers, 1)
    failures = _whole("failures", failures, 0)
    if not callable(measure):
        raise InputError("`measure` must be a function of a ticket that gives a reward")
    if isinstance(X, Campaign):
        if settings:
            raise InputError(f"the campaign has its settings already; `{next(iter(settings))}` cannot change them")
        campaign = X
    else:
        campaign = Campaign(X, **settings)
    with ExitStack() as stack:
        if executor is None:
            from concurrent.futures import ThreadPoolExecutor

            executor = ThreadPoolExecutor(workers, thread_name_prefix="cutline")
            # After Ctrl-C nobody waits for measurements under way; otherwise there are none left.
            stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        watch = stack.enter_context(watching(progress, campaign.progress.budget, "measured"))
        _Loop(campaign, measure, executor, workers, failures, watch).work()
    return campaign


class _Loop:
    def __init__(
        self, campaign: Campaign, measure: Measure, executor: Executor, workers: int, failures: int, watch: Progress
    ) -> None:
        self.campaign = campaign
        self.measure = measure
        self.executor = executor
        self.workers = workers
        self.failures = failures
        self.watch = watch
        self.out: dict[Future[float], Ticket] = {}

    def work(self) -> None:
        try:
            while self._fill() or self.out or not self._is_over():
                self._collect()
        finally:
            self._give_back()

    def _fill(self) -> bool:
        """Asks for as many measurements as there are free workers; says whether there were any."""
        tickets = self.campaign.ask(self.workers - len(self.out))
        for i, ticket in enumerate(tickets):
            try:
                self.out[self.executor.submit(self.measure, ticket)] = ticket
            except BaseException:
                self.campaign.expire(tickets[i:])
                raise
        return bool(tickets)

    def _is_over(self) -> bool:
        """Whether nothing is left to do, here or, for a campaign in a store, with others."""
        return self.campaign.storage is None or self.campaign.progress.out == 0

    def _collect(self) -> None:
        """Waits for a measurement, and tells all that have ended."""
        import time
        from concurrent.futures import FIRST_COMPLETED, wait

        if not self.out:
            time.sleep(LATE)
            return
        ended, _ = wait(self.out, return_when=FIRST_COMPLETED)
        for future in ended:
            ticket = self.out.pop(future)
            try:
                reward = _reward(future.result(), ticket)
            except BaseException as error:
                self._failed(ticket, error)
            else:
                self.campaign.tell(ticket, reward)
        self.watch.at(self.campaign.progress.counted)

    def _failed(self, ticket: Ticket, error: BaseException) -> None:
        self.campaign.fail(ticket, f"{type(error).__name__}: {error}")
        self.failures -= 1
        if self.failures < 0 or not isinstance(error, Exception):
            raise error

    def _give_back(self) -> None:
        """Nothing stays out: what has its reward is told, and the rest is given up."""
        for future, ticket in self.out.items():
            is_measured = not future.cancel() and future.done() and future.exception() is None
            if is_measured:
                self.campaign.tell(ticket, _reward(future.result(), ticket))
            else:
                self.campaign.expire([ticket])
        self.out.clear()


def _reward(value: Any, ticket: Ticket) -> float:
    try:
        reward = float(value)
    except (TypeError, ValueError):
        reward = math.nan
    if not math.isfinite(reward):
        raise InputError(f"`measure` must give a finite number, and gave {value!r} for `{ticket.name}`")
    return reward


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, int) and value >= least:
        return value
    raise InputError(f"`{name}` must be a whole number of at least {least}, not {value!r}")
