"""Cutline's entrants: campaigns in memory with their defaults, asked and told one measurement at a time."""
import numpy as np

import cutline

ENTRANTS = {
    "mixed": {},
    "linear": {"model": "linear"},
    "independent": {"model": "independent"},
    "linear-apt": {"algorithm": "linear-apt"},
}
"""The arguments of `cutline.Campaign` by entrant; the last is the model of the LinearAPT paper, with unchanged features."""


def play(entrant, table, threshold, precision, sigma, budgets, noise, seed):
    """The estimates, 95 % intervals and doubts of all arms at each budget, which are points of one campaign of the largest."""
    campaign = cutline.Campaign(
        table.X, threshold=threshold, precision=precision, budget=budgets[-1], seed=seed, **ENTRANTS[entrant]
    )
    done = 0
    for budget in budgets:
        for _ in range(done, budget):
            ticket = campaign.ask()
            campaign.tell(ticket, table.y[ticket.arm] + sigma * noise.draw(ticket.arm))
        done = budget
        verdicts = campaign.verdicts
        columns = {key: np.array([getattr(verdict, key) for verdict in verdicts]) for key in ("mean", "lower", "upper", "doubt")}
        columns["pulls"] = np.array([verdict.pulls for verdict in verdicts])
        yield budget, columns
