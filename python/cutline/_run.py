"""The whole loop of a campaign: ask, measure on threads or an executor, tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from ._campaign import Campaign
from ._errors import InputError, RefusedError, integer
from ._native import Ticket
from ._progress import Progress, Watch, watching

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Measure = Callable[[Ticket], float]

RETRY_AFTER = 0.5
"""How many seconds to wait before asking again while other workers have all open tickets."""

MAX_WITHDRAWN_IN_A_ROW = 3
"""How many arms may be withdrawn without a reward in between: most likely it is not the arms that fail, but `measure`."""


def run(
    X: Any,
    measure: Measure,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    failures: int | None = None,
    give_up: int | None = None,
    progress: bool | Watch = False,
    **settings: Any,
) -> Campaign:
    """Measures until the budget is used up or all verdicts are certain enough; returns the campaign.

    `measure` is called with a `Ticket`, which has `arm`, `name` and `features`, and returns the reward. It is called on `workers`
    threads, or on an executor, such as a process pool or `client.get_executor()` of Dask, where it must be picklable.

    >>> import cutline
    >>> campaign = cutline.run([[0.9], [0.5], [0.1]], lambda ticket: ticket.features[0], threshold=0.4, budget=30, noise=0.1)
    >>> campaign.progress
    Progress(told=30, budget=30, open=0, failed=0, expired=0, ending='budget')

    | argument | default | meaning |
    |---|---|---|
    | `X` | required | the arms, as in `Campaign`, whose settings are further keywords; or a campaign to continue |
    | `workers` | 1 | the number of measurements at a time |
    | `executor` | threads | any `concurrent.futures.Executor` |
    | `failures` | 0; any number with `give_up` | how many measurements may fail and return to the budget; the exception of the next one is raised |
    | `give_up` | never | after how many failures of the same arm it is withdrawn, with the exception as the reason; the campaign goes on without it. If nothing can be measured, the exception is raised, and the arms are available again |
    | `progress` | `False` | `True` shows it on stderr; a function is called with the rewards counted, or what they have cost, and the budget |

    However it ends, Ctrl-C included, no ticket of this call stays open, and all rewards are kept. There is no waiting for measurements
    that still run, nor does the interpreter wait for those on threads when it exits: their tickets are expired, and what they return is
    ignored.
    """
    from inspect import iscoroutinefunction

    workers = integer("workers", workers, 1)
    give_up = None if give_up is None else integer("give_up", give_up, 1)
    if failures is not None:
        failures = integer("failures", failures, 0)
    elif give_up is None:
        failures = 0
    if not callable(measure):
        raise InputError("`measure` must be a function that takes a ticket and returns a reward")
    if iscoroutinefunction(measure):
        raise InputError("`measure` is an async function, which returns no reward; pass `lambda ticket: asyncio.run(measure(ticket))`")
    if isinstance(X, Campaign):
        if settings:
            raise InputError(f"the campaign already has its settings; `{next(iter(settings))}` cannot change them here; use `set`")
        campaign = X
    else:
        campaign = Campaign(X, **settings)
    with ExitStack() as stack:
        if executor is None:
            from ._threads import DaemonThreads

            executor = DaemonThreads(workers)
            stack.callback(executor.shutdown)
        watch = stack.enter_context(watching(progress, campaign.progress.budget, "measured"))
        _Loop(campaign, measure, executor, workers, failures, give_up, watch).work()
    return campaign


class _Loop:
    def __init__(
        self,
        campaign: Campaign,
        measure: Measure,
        executor: Executor,
        workers: int,
        failures: int | None,
        give_up: int | None,
        watch: Progress,
    ) -> None:
        self.campaign = campaign
        self.measure = measure
        self.executor = executor
        self.workers = workers
        self.failures = failures
        self.give_up = give_up
        self.failed: Counter[str] = Counter()
        self.withdrawn: dict[str, Exception] = {}
        self.watch = watch
        self.asked: list[Ticket] = []
        """The tickets whose measurement is not submitted yet."""
        self.open: dict[Future[float], Ticket] = {}

    def work(self) -> None:
        try:
            while self._fill() or self.open or not self._is_over():
                self._collect()
            if self.withdrawn and self.campaign.progress.ending == "withdrawn":
                self._restore()
        finally:
            self._close()

    def _fill(self) -> bool:
        """Asks for one measurement per free worker; returns whether there was any."""
        self.campaign._ask_into(self.asked, self.workers - len(self.open))
        is_any = bool(self.asked)
        while self.asked:
            ticket = self.asked[0]
            self.open[self.executor.submit(self.measure, ticket)] = ticket
            # Only now: wherever Ctrl-C comes in between, the ticket is in one of the two.
            del self.asked[0]
        return is_any

    def _is_over(self) -> bool:
        """Whether nothing is left to do, here or, for a campaign in a store, for other workers."""
        return self.campaign.storage is None or self.campaign.progress.open == 0

    def _collect(self) -> None:
        """Waits for a measurement to end, and tells the rewards of all that have ended."""
        import time
        from concurrent.futures import FIRST_COMPLETED, wait

        if not self.open:
            time.sleep(RETRY_AFTER)
            return
        ended, _ = wait(self.open, return_when=FIRST_COMPLETED)
        for future in ended:
            ticket = self.open[future]
            try:
                reward = _reward(future.result(), ticket)
            except BaseException as error:
                self._failed(ticket, error)
            else:
                self._tell(ticket, reward)
            del self.open[future]
        progress = self.campaign.progress
        self.watch.at(progress.told if progress.spent is None else int(progress.spent))

    def _tell(self, ticket: Ticket, reward: float) -> None:
        try:
            self.campaign.tell(ticket, reward)
        except InputError as error:  # such as 0.5 where rewards are 0 or 1
            self._failed(ticket, error)
        else:
            self.withdrawn.clear()

    def _failed(self, ticket: Ticket, error: BaseException) -> None:
        reason = f"{type(error).__name__}: {error}"
        self.campaign.fail(ticket, reason)
        if not isinstance(error, Exception):
            raise error
        self.failed[ticket.name] += 1
        if self.failed[ticket.name] == self.give_up:
            self.campaign.withdraw(ticket.name, reason)
            self.withdrawn[ticket.name] = error
            if len(self.withdrawn) >= MAX_WITHDRAWN_IN_A_ROW:
                self._restore()
        if self.failures is not None and self.failed.total() > self.failures:
            raise error

    def _restore(self) -> NoReturn:
        """Makes the arms that were withdrawn since the last reward available again, because not they were the reason."""
        self.campaign.restore(list(self.withdrawn))
        raise list(self.withdrawn.values())[-1]

    def _close(self) -> None:
        """Closes all open tickets: tells the rewards of finished measurements, and expires the rest."""
        try:
            for future, ticket in self.open.items():
                if not future.cancel() and future.done() and future.exception() is None:
                    with suppress(InputError, RefusedError):
                        self.campaign.tell(ticket, _reward(future.result(), ticket))
        finally:
            # A ticket that has its reward is not open any more, and stays as it is.
            self.campaign.expire([*self.asked, *self.open.values()])
            self.asked.clear()
            self.open.clear()


def _reward(value: Any, ticket: Ticket) -> float:
    try:
        reward = float(value)
    except (TypeError, ValueError):
        reward = math.nan
    if not math.isfinite(reward):
        raise InputError(f"`measure` must return a finite number, but returned {value!r} for `{ticket.name}`")
    return reward
