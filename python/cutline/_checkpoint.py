"""Checkpoints: the finished runs of a simulation in a file, the same as that of `cutline simulate --resume`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ._errors import InputError
from ._native import check_input

if TYPE_CHECKING:
    from ._experiment import Experiment
    from ._native import Tally

INTERVAL = 0.2
"""The shortest time between two writes, in seconds."""


class Checkpoint:
    """The file of a simulation, and the runs that were in it."""

    def __init__(self, experiment: Experiment, path: str | os.PathLike[str]) -> None:
        self.experiment = experiment
        self.path = Path(path)
        check_input(self.path)
        try:
            self.tally = experiment._resumed(self.path.read_bytes(), str(self.path))
        except FileNotFoundError:
            self.tally = experiment.play(0, 0)
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from error
        self.write(self.tally)

    def update(self, tally: Tally) -> None:
        """Writes these runs, unless that was done a moment ago."""
        if time.monotonic() - self.last_write >= INTERVAL:
            self.write(tally)

    def write(self, tally: Tally) -> None:
        """Replaces the file: a reader finds the old one or the new one, never a part."""
        # Always the same name, so that nothing stays behind when a later process completes the file.
        partial = self.path.with_name(self.path.name + ".partial")
        try:
            with partial.open("wb") as file:
                file.write(self.experiment._checkpoint(tally))
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self.path)
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror}") from error
        self.last_write = time.monotonic()
