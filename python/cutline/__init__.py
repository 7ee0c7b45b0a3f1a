"""Cutline finds which candidates clear the bar, on a budget of noisy measurements.

`Campaign` asks for real measurements and says of every arm whether its mean lies above a threshold; `run` does the whole loop.
`simulate` plays an `Experiment` whose truth is known, on this machine or on many.
"""

from ._campaign import Campaign, campaigns, diagnose, open
from ._errors import CutlineError, InputError, NotFoundError, RefusedError, StorageError
from ._experiment import Experiment, Results
from ._figure import Figure
from ._native import Beliefs, Progress, Tally, Ticket, Verdict, version
from ._own import Rule
from ._run import run
from ._simulate import simulate

__version__ = version()

__all__ = [
    "Beliefs",
    "Campaign",
    "CutlineError",
    "Experiment",
    "Figure",
    "InputError",
    "NotFoundError",
    "Progress",
    "RefusedError",
    "Results",
    "Rule",
    "StorageError",
    "Tally",
    "Ticket",
    "Verdict",
    "__version__",
    "campaigns",
    "diagnose",
    "open",
    "run",
    "simulate",
]
