"""The examples in docstrings and pages run, and all public names are listed and documented."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cutline
from cutline import _native

MODULES = [cutline, *(importlib.import_module(f"cutline.{module.name}") for module in pkgutil.iter_modules(cutline.__path__))]


def examples(module: ModuleType) -> Iterator[doctest.DocTest]:
    if module is not _native:
        yield from doctest.DocTestFinder().find(module)
        return
    parser = doctest.DocTestParser()
    for name, kind in vars(_native).items():
        if inspect.isclass(kind):
            for member, value in vars(kind).items():
                if doc := inspect.getdoc(value):
                    yield parser.get_doctest(doc, {}, f"{name}.{member}", None, 0)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module: ModuleType, tmp_path: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    for number, example in enumerate(examples(module)):
        example.globs["screen"] = f"sqlite:///{tmp_path}/screen-{number}.db"
        runner.run(example)
    assert runner.failures == 0
    with_examples = ("_campaign", "_native", "_plan", "_reproduce", "_run", "_simulate")
    if module.__name__.partition(".")[2] in with_examples:
        assert runner.tries >= 2


def test_public_names_are_listed_and_documented() -> None:
    public = {name for name in vars(cutline) if not name.startswith("_")}
    modules = {name for name, value in vars(cutline).items() if isinstance(value, ModuleType)}
    assert public - modules - {"version"} == set(cutline.__all__) - {"__version__"}
    for name in cutline.__all__:
        value = getattr(cutline, name)
        if not isinstance(value, str):
            assert inspect.getdoc(value), name
    for kind in (getattr(cutline, name) for name in cutline.__all__):
        if not inspect.isclass(kind) or issubclass(kind, Exception):
            continue
        for name in dir(kind):
            if not name.startswith("_") and name not in getattr(kind, "__slots__", ()):
                assert inspect.getdoc(getattr(kind, name)), f"{kind.__name__}.{name}"


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_examples_of_pages(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    blocks = [block for block in blocks if "(..." not in block and "reproduce(" not in block]
    assert blocks
    names = {"cutline": cutline, "np": np, "X": np.eye(5), "measure": len}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert cutline.__version__ == version("cutline")
