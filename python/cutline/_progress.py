"""Progress: a line on stderr, or calls of one's own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

Watch = Callable[[int, int], object]

EVERY = 0.1
"""The line is written at most once in so many seconds."""


class Progress:
    """How far something is, told to nobody."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def at(self, done: int) -> None:
        """It is as far as this."""
        self.done = done

    def add(self, more: int) -> None:
        """It is so much farther."""
        self.at(self.done + more)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None


class _Told(Progress):
    """Told to a function."""

    def __init__(self, total: int, watch: Watch) -> None:
        super().__init__(total)
        self.watch = watch

    def at(self, done: int) -> None:
        super().at(done)
        self.watch(done, self.total)


class _Line(Progress):
    """Written on one line of stderr."""

    def __init__(self, total: int, what: str) -> None:
        super().__init__(total)
        self.what = what
        self.written = -EVERY

    def at(self, done: int) -> None:
        super().at(done)
        now = time.monotonic()
        if now - self.written >= EVERY:
            self.written = now
            self._write("\r")

    def _write(self, before: str, after: str = "") -> None:
        print(f"{before}{self.done} of {self.total} {self.what}", end=after, file=sys.stderr, flush=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._write("\r", "\n")


def watching(progress: bool | Watch, total: int, what: str) -> Progress:
    """What `progress` asks for."""
    if callable(progress):
        return _Told(total, progress)
    return _Line(total, what) if progress else Progress(total)
