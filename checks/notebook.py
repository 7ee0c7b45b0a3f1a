"""Runs docs/tutorial.ipynb and saves its output in it. `make notebook` calls it."""

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs/tutorial.ipynb"

notebook = nbformat.read(NOTEBOOK, as_version=4)
with tempfile.TemporaryDirectory() as directory:
    NotebookClient(notebook, record_timing=False, resources={"metadata": {"path": directory}}).execute()
# Leave out metadata that depends on the machine.
notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
nbformat.write(notebook, NOTEBOOK)
