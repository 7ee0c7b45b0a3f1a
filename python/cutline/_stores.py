"""The campaigns in a store, and what rewards say without a campaign."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

from . import _custom, _native
from ._campaign import Campaign, _address

MAX_BUDGET = 2**32 - 1


def open(  # noqa: A001
    storage: str | os.PathLike[str],
    name: str | None = None,
    *,
    algorithm: _custom.Rule | _custom.RuleFactory | None = None,
    token: str | None = None,
) -> Campaign:
    """Opens the campaign in a store. `name` chooses one of several; `algorithm` is its rule if it uses a custom one.

    `storage` may be a server of `cutline serve`, as in `http://host:8080`, or a campaign there, as in `http://host:8080/v1/campaigns/screen`. `token` is the token
    for it; by default that in the environment variable `CUTLINE_TOKEN`. A token is not pickled with the campaign.

    >>> import cutline
    >>> begun = cutline.Campaign(3, threshold=0.0, budget=9, storage=screen, name="first")  # screen = "sqlite:///screen.db"
    >>> begun.tell(begun.ask(), 0.5)
    1
    >>> cutline.open(screen).progress.told
    1
    """
    return Campaign._opened(storage, name, algorithm, token)


def diagnose(
    X: Any, arms: Iterable[SupportsIndex | str], rewards: Iterable[float], *, raw: bool = False, **keywords: Any
) -> dict[str, Any]:
    """What rewards say about the arms, without a campaign: how much the features explain, how large the noise is, and whether a line
    would do. A dict whose `sentence` says it in words.

    The linear model is tested with an intercept on standardised features; with `raw`, on the features as they are. `names`,
    `features`, `id`, `categories` and `missing` are as in `Campaign`, `arms` as in `Campaign.observe`.

    >>> import cutline
    >>> result = cutline.diagnose([[0.0], [1.0], [2.0]], [0, 1, 2] * 9, [0.1, 1.0, 2.1, -0.1, 1.0, 1.9, 0.0, 1.1, 2.0] * 3)
    >>> result["conclusion"], round(result["replicates"]["sigma"], 3)
    ('believable', 0.076)
    >>> result["finding"]
    'features explain 98 % of the differences (linear 96 %, smooth 2 %), noise σ ≈ 0.17'
    """
    rewards = list(rewards)
    # The model measures rewards from the threshold: their mean. What is not a number is refused by `observe`.
    mean = sum(reward / len(rewards) for reward in rewards if isinstance(reward, SupportsFloat)) if rewards else 0.0
    campaign = Campaign(X, threshold=mean if abs(mean) <= 1e80 else 0.0, budget=MAX_BUDGET, model="mixed", **keywords)
    campaign.observe(arms, rewards)
    return campaign.diagnose(raw=raw)


def campaigns(storage: str | os.PathLike[str], *, token: str | None = None) -> list[str]:
    """The names of the campaigns in a store, oldest first. `token` is for a server, as in `open`."""
    return _native.campaigns(_address(storage), token)


def rename(storage: str | os.PathLike[str], new: str, *, name: str | None = None, token: str | None = None) -> None:
    """Gives a campaign in a store another name; `name` chooses one of several. `token` is for a server, as in `open`."""
    _native.rename(_address(storage), name, new, token)


def delete(storage: str | os.PathLike[str], name: str, *, token: str | None = None) -> None:
    """Deletes a campaign in a store with all its candidates and measurements. Whoever uses it gets an error with the next operation.
    `token` is for a server, as in `open`."""
    _native.delete(_address(storage), name, token)


def copy(
    storage: str | os.PathLike[str],
    new: str,
    *,
    name: str | None = None,
    to: str | os.PathLike[str] | None = None,
    token: str | None = None,
) -> None:
    """Copies a campaign in a store with all its events to the name `new`, in the same store or in the store `to`. `token` is for servers, as
    in `open`.

    >>> import cutline
    >>> begun = cutline.Campaign(3, threshold=0.0, budget=9, storage=screen, name="first")  # screen = "sqlite:///screen.db"
    >>> begun.tell(begun.ask(), 0.5)
    1
    >>> cutline.copy(screen, "second")
    >>> cutline.rename(screen, "third", name="second")
    >>> cutline.campaigns(screen), cutline.open(screen, "third").progress.told
    (['first', 'third'], 1)
    >>> cutline.delete(screen, "first")
    >>> cutline.campaigns(screen)
    ['third']
    """
    _native.copy(_address(storage), name, new, None if to is None else _address(to), token)
