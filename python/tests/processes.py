"""What child processes do, for tests that do not depend on how fast the machine is: they wait for what they need, and fail after `PATIENCE`, which only a
hang reaches."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

#: How long tests wait for something before they fail, in seconds.
PATIENCE = 600.0


def wait_for(what: str, is_there: Callable[[], bool]) -> None:
    """Waits for something that should happen soon."""
    end = time.monotonic() + PATIENCE
    while not is_there():
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.01)


def happens_within(seconds: float, attempt: Callable[[], float]) -> None:
    """Calls `attempt`, which returns how many seconds something took, until it took less than `seconds`. On a busy machine, a single attempt may take any
    time; what always takes longer fails here on every machine."""
    times: list[float] = []
    while len(times) < 20:
        times.append(attempt())
        if times[-1] < seconds:
            return
    raise AssertionError(f"not once within {seconds} s: {times}")


def _stat(path: Path) -> list[str]:
    """The fields of a file `stat` in `/proc` that follow the name."""
    return path.read_text().rpartition(")")[2].split()


def wait_for_work(process: int, seconds: float = 0.2) -> None:
    """Waits until a process has used the processor for some time from now on."""

    def used() -> float:
        fields = _stat(Path(f"/proc/{process}/stat"))
        assert fields[0] != "Z", "the process has ended by itself"
        # In user mode and in the kernel, in hundredths of a second.
        return (int(fields[11]) + int(fields[12])) / 100

    begun = used()
    wait_for("work", lambda: used() - begun >= seconds)


def wait_for_sleep(process: int) -> None:
    """Waits until all threads of a process sleep at several looks: it waits for something."""
    looks: list[bool] = []

    def is_asleep() -> bool:
        looks.append(all(_stat(thread / "stat")[0] == "S" for thread in Path(f"/proc/{process}/task").iterdir()))
        return looks[-3:] == [True] * 3

    wait_for("process that waits", is_asleep)
