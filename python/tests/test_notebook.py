"""The tutorial runs, and its outputs are those that were committed."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient
import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs/tutorial.ipynb"


@pytest.mark.filterwarnings("default")
def test_the_tutorial_runs_anywhere(tmp_path: Path) -> None:
    notebook = nbformat.read(TUTORIAL, as_version=4)  # type: ignore[no-untyped-call]
    committed = [cell.get("outputs") for cell in notebook.cells]
    NotebookClient(notebook, record_timing=False, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs_now = [cell.get("outputs") for cell in notebook.cells]
    for cell, now, then in zip(notebook.cells, outputs_now, committed):
        assert [_text(output) for output in now or []] == [_text(output) for output in then or []], (
            f"run `make notebook`: the output of this cell has changed\n{cell.source}"
        )
    assert sum("image/svg+xml" in output.get("data", {}) for outputs in outputs_now for output in outputs or []) >= 3
    assert list(tmp_path.iterdir()) == []


def _text(output: nbformat.NotebookNode) -> str:
    """The text of an output."""
    return str(output.get("text") or output["data"]["text/plain"])
