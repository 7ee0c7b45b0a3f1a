"""Progress: a line on stderr, or calls of a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

Watch = Callable[[int, int], object]

INTERVAL = 0.1
"""The shortest time between two updates of the line, in seconds."""


class Progress:
    """Counts progress without reporting it."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def at(self, done: int) -> None:
        """Sets the progress."""
        self.done = done

    def add(self, more: int) -> None:
        """Adds to the progress."""
        self.at(self.done + more)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None


class _Callback(Progress):
    """Reports progress to a function."""

    def __init__(self, total: int, watch: Watch) -> None:
        super().__init__(total)
        self.watch = watch

    def at(self, done: int) -> None:
        super().at(done)
        self.watch(done, self.total)


class _Line(Progress):
    """Writes progress on one line of stderr."""

    def __init__(self, total: int, what: str) -> None:
        super().__init__(total)
        self.what = what
        self.last_update = -INTERVAL

    def at(self, done: int) -> None:
        super().at(done)
        now = time.monotonic()
        if now - self.last_update >= INTERVAL:
            self.last_update = now
            self._write()

    def _write(self, end: str = "") -> None:
        print(f"\r{self.done} of {self.total} {self.what}", end=end, file=sys.stderr, flush=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._write("\n")


def watching(progress: bool | Watch, total: int, what: str) -> Progress:
    """The kind of report that a `progress` argument asks for."""
    if callable(progress):
        return _Callback(total, progress)
    return _Line(total, what) if progress else Progress(total)
