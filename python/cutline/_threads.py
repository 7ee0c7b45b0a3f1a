"""Threads for measurements that may hang."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Optional

Task = Optional[tuple["Future[Any]", Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


class DaemonThreads(Executor):
    """Threads that nobody waits for: neither `shutdown` nor the end of the interpreter, which waits for those of a `ThreadPoolExecutor`.

    >>> from cutline._threads import DaemonThreads
    >>> threads = DaemonThreads(2)
    >>> threads.submit(divmod, 7, 2).result()
    (3, 1)
    >>> threads.shutdown()
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._threads: list[threading.Thread] = []
        self._tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Calls the function on one of the threads. Where no further thread can be started, there are fewer; without any, it raises."""
        if len(self._threads) < self._workers:
            thread = threading.Thread(target=self._work, name=f"cutline-{len(self._threads)}", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                if not self._threads:
                    raise
            else:
                self._threads.append(thread)
        future: Future[Any] = Future()
        self._tasks.put((future, function, arguments, keywords))
        return future

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, function, arguments, keywords = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*arguments, **keywords))
                except BaseException as error:
                    future.set_exception(error)
            # An idle thread keeps nothing alive.
            del task, future, function, arguments, keywords

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        """Ends the threads, each once the function that it calls has returned."""
        for _ in self._threads:
            self._tasks.put(None)
