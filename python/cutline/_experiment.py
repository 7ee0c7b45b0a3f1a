"""Experiments and their results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _custom, _native, _toml
from ._errors import InputError
from ._seed import drawn

if TYPE_CHECKING:
    from types import EllipsisType

    from typing_extensions import Self

    from ._results import Results

Parts = dict[str, Any]
"""Custom parts by name."""

Extensions = tuple[Parts, "_custom.Instance | None", "_custom.Noise | None", Parts, Parts, Parts]
"""The parts of an experiment that TOML cannot hold: custom rules by name, functions that draw instances and noise, and custom estimators, stops
and decisions by name."""


class Experiment(_native.Experiment):
    """Instances, noise, budgets and algorithms: a TOML file, or a dict or keywords with the same keys.

    `docs/experiments.md` describes the keys. An algorithm in the list may be a name, a custom `Rule`, or a dict of keys, with
    `{"rule": …}` for a custom rule. In such a dict, `estimator` may be a class that makes a custom `Estimator`, `stop` a custom `Stop`, and
    `decision` a function of the beliefs that returns whether each arm is above. `instance` may be a function that draws an instance with a `numpy.random.Generator`: it returns
    `(X, theta)`, or means for arms without features, or a dict of `X` and `means`. `noise` may be a function of a
    `numpy.random.Generator` and the number of pulls of a run: it returns one number per pull, with mean 0 and standard deviation 1. With
    `{"kind": function, "scale": 2.0}` they are multiplied by 2. The results are the same on any number of threads.

    >>> import cutline
    >>> experiment = cutline.Experiment(
    ...     budgets=[50, 100],
    ...     threshold=0.0,
    ...     instance={"kind": "uniform", "n_arms": 20, "dimension": 5},
    ...     algorithm=["linear-apt", {"name": "pivot", "lambda": 0.5}],
    ... )
    >>> experiment.algorithms
    ['linear-apt', 'pivot']

    `runs` and `seed` replace those of a file; `seed=None` draws one, which `experiment.seed` has. An experiment can be pickled; the files that it names are then read again from the
    same paths.
    """

    __slots__ = ("_extensions", "_read", "_variant")

    _read: tuple[str, str, str, str | None, bool]
    _extensions: Extensions
    _variant: str | None

    def __new__(
        cls,
        source: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        /,
        *,
        runs: int | None = None,
        seed: int | EllipsisType | None = ...,
        **keys: Any,
    ) -> Self:
        if isinstance(source, (str, os.PathLike)):
            if keys:
                raise InputError(f"set `{next(iter(keys))}` in the file; keywords are for experiments without a file")
            return cls._of(*_file(Path(source)), False, runs, _seed(seed))
        if source is not None and not isinstance(source, Mapping):
            raise InputError(f"an experiment is a path, a dict or keywords, not {type(source).__name__}")
        merged = {**(source or {}), **keys}
        if seed is ... and "seed" in merged:
            seed = merged.pop("seed")
        keys, extensions = _split(merged)
        return cls._of(_toml.dumps(keys), "experiment", str(Path.cwd()), None, False, runs, _seed(seed), extensions)

    @classmethod
    def _of(
        cls,
        toml: str,
        name: str,
        directory: str,
        file: str | None,
        redraw: bool,
        runs: int | None,
        seed: int | None,
        extensions: Extensions = ({}, None, None, {}, {}, {}),
        variant: str | None = None,
    ) -> Self:
        self = _native.Experiment.__new__(cls, toml, name, directory, file, redraw, runs, seed, *extensions, variant)
        self._read = (toml, name, directory, file, redraw)
        self._extensions = extensions
        self._variant = variant
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (*self._read, self.runs, self.seed, self._extensions, self._variant)

    def __repr__(self) -> str:
        algorithms = ", ".join(self.algorithms)
        return f"<Experiment {self.name!r}: {algorithms}; budgets {self.budgets}; {self.runs} runs, seed {self.seed}>"

    @classmethod
    def from_paper(
        cls, name: str, *, redrawn: bool = False, runs: int | None = None, seed: int | EllipsisType | None = ...
    ) -> Self:
        """One of the four experiments of the LinearAPT paper: `uniform-d5`, `uniform-d20`, `iris` or `wine`.

        Its instance is the one that the authors drew; with `redrawn`, every run draws a new one.
        """
        experiments = dict(_native.paper())
        if name not in experiments:
            raise InputError(f"there is no experiment {name!r} in the paper; there are {', '.join(experiments)}")
        return cls._of(experiments[name], name, str(Path.cwd()), None, redrawn, runs, _seed(seed))

    @classmethod
    def of_paper(
        cls, name: str, *, redrawn: bool = False, runs: int | None = None, seed: int | EllipsisType | None = ...
    ) -> Self:
        """The old name of `from_paper`."""
        warnings.warn("`Experiment.of_paper` is now `Experiment.from_paper`", DeprecationWarning, stacklevel=2)
        return cls.from_paper(name, redrawn=redrawn, runs=runs, seed=seed)

    def results(self, tally: _native.Tally) -> Results:
        """The results from the counts of some runs."""
        from ._results import Results

        return Results(self, tally)


def read(
    source: Experiment | Mapping[str, Any] | str | os.PathLike[str], runs: int | None, seed: int | EllipsisType | None
) -> Experiment:
    """The experiment that `source` is or describes, with these runs and this seed."""
    if not isinstance(source, Experiment):
        return Experiment(source, runs=runs, seed=seed)
    if runs is None and seed is ...:
        return source
    runs, seed = (source.runs if runs is None else runs), (source.seed if seed is ... else drawn(seed))
    return type(source)._of(*source._read, runs, seed, source._extensions, source._variant)


def _seed(seed: int | EllipsisType | None) -> int | None:
    """A seed as the native module takes it: `None` for that of the experiment."""
    found: int | None = None if seed is ... else drawn(seed)
    return found


def _file(path: Path) -> tuple[str, str, str, str]:
    _native.check_input(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file must be UTF-8") from error
    return text, path.stem, str(path.absolute().parent), str(path)


def _split(keys: Mapping[str, Any]) -> tuple[dict[str, Any], Extensions]:
    """Splits an experiment into keys that TOML can hold and its custom parts."""
    split = dict(keys)
    rules, estimators, stops, decisions = Parts(), Parts(), Parts(), Parts()
    algorithms = split.get("algorithm")
    if isinstance(algorithms, (list, tuple)):
        entries = [_algorithm(entry, rules) for entry in algorithms]
        split["algorithm"] = [_parts(entry, estimators, stops, decisions) for entry in entries]
    if _custom.is_stop(split.get("stop")):
        split["stop"] = _named(split["stop"], stops)
    instances = None
    instance = split.get("instance")
    if callable(instance):
        instance = {"kind": instance}
    if isinstance(instance, Mapping) and callable(instance.get("kind")):
        instances, split["instance"] = instance["kind"], {**instance, "kind": "own"}
    return split, (rules, instances, _noise(split), estimators, stops, decisions)


def _noise(split: dict[str, Any]) -> _custom.Noise | None:
    """The function that draws noise, if there is one; it leaves `kind = "own"` in its place."""
    noise = split.get("noise")
    if callable(noise):
        noise = {"kind": noise}
    if not isinstance(noise, Mapping) or not callable(noise.get("kind")):
        return None
    split["noise"] = {**noise, "kind": "own"}
    function: _custom.Noise = noise["kind"]
    return function


def _parts(entry: Any, estimators: Parts, stops: Parts, decisions: Parts) -> Any:
    """An algorithm as TOML can hold it; its custom estimator, stop and decision leave their names."""
    if not isinstance(entry, Mapping):
        return entry
    named = dict(entry)
    for key, parts in (("estimator", estimators), ("decision", decisions)):
        if callable(named.get(key)):
            named[key] = _named(named[key], parts)
    if _custom.is_stop(named.get("stop")):
        named["stop"] = _named(named["stop"], stops)
    return named


def _named(part: Any, parts: Parts) -> str:
    """The name of a part, under which it is in `parts` from now on. Two parts of the same class get different names."""
    name, number = _custom.name_of(part), 1
    while parts.get(name, part) is not part:
        number += 1
        name = f"{_custom.name_of(part)}-{number}"
    parts[name] = part
    return name


def _algorithm(entry: Any, rules: Parts) -> Any:
    """An algorithm as TOML can hold it; a custom rule moves into `rules` and leaves its name."""
    if isinstance(entry, Mapping) and "rule" in entry:
        rule: Any = entry["rule"]
        entry = {key: value for key, value in entry.items() if key != "rule"}
        if not _custom.is_rule(rule):
            raise InputError(f"`rule` must be an object with `choose` or make one, not {type(rule).__name__}")
        if "name" in entry:
            raise InputError("an algorithm has a `name` or a `rule`, not both; set its name in results with `label`")
    elif _custom.is_rule(entry):
        rule, entry = entry, {}
    else:
        return {"name": entry} if isinstance(entry, str) else entry
    return {"name": _named(rule, rules), **entry}
