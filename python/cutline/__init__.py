"""Cutline finds which candidates clear the bar, on a budget of noisy measurements.

`Campaign` chooses real measurements and decides for every arm whether its mean lies above a threshold; `run` does the whole loop.
`plan` estimates beforehand how many measurements that takes.
`simulate` plays an `Experiment` whose truth is known, on one machine or on many.
"""

from ._campaign import Campaign
from ._custom import DONE, WAIT, Estimator, Problem, Rule, Stop
from ._errors import CutlineError, InputError, NotFoundError, RefusedError, StorageError
from ._experiment import Experiment
from ._figure import Figure
from ._native import Beliefs, Progress, Tally, Ticket, Verdict, set_max_input_size, version
from ._per_run import PerRun
from ._plan import Plan, plan
from ._reproduce import Replay, Reproduction, reproduce
from ._results import Results
from ._run import run
from ._simulate import simulate
from ._stores import campaigns, copy, delete, diagnose, open, rename

__version__ = version()

__all__ = [
    "DONE",
    "WAIT",
    "Beliefs",
    "Campaign",
    "CutlineError",
    "Estimator",
    "Experiment",
    "Figure",
    "InputError",
    "NotFoundError",
    "PerRun",
    "Plan",
    "Problem",
    "Progress",
    "RefusedError",
    "Replay",
    "Reproduction",
    "Results",
    "Rule",
    "Stop",
    "StorageError",
    "Tally",
    "Ticket",
    "Verdict",
    "__version__",
    "campaigns",
    "copy",
    "delete",
    "diagnose",
    "open",
    "plan",
    "rename",
    "reproduce",
    "run",
    "set_max_input_size",
    "simulate",
]
