"""Figures drawn by Cutline, which notebooks show and `save` writes as SVG, PNG or PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._errors import InputError

if TYPE_CHECKING:
    import os


ENDINGS = (".svg", ".png", ".pdf")
"""The endings of the files that a figure can be saved to."""


class Figure:
    """A figure. Jupyter shows it; `save` writes it to a file.

    >>> import cutline
    >>> figure = cutline.Campaign(3, threshold=0.0, budget=9).figure()
    >>> figure.svg[:4]
    '<svg'
    """

    __slots__ = ("svg",)

    svg: str
    """The figure as an SVG document."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def __eq__(self, other: object) -> bool:
        return self.svg == other.svg if isinstance(other, Figure) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure, {len(self.svg)} bytes of SVG>"

    def png(self, scale: float = 2.0) -> bytes:
        """The figure as PNG, with `scale` pixels per unit."""
        return bytes(_native.png(self.svg, scale))

    def pdf(self) -> bytes:
        """The figure as PDF, one page of its size; its text is drawn as outlines."""
        return bytes(_native.pdf(self.svg))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure to a file whose name ends in `.svg`, `.png` or `.pdf`."""
        import pathlib

        file = pathlib.Path(path)
        ending = file.suffix.lower()
        if ending == ".svg":
            file.write_text(self.svg, encoding="utf-8")
        elif ending == ".png":
            file.write_bytes(self.png())
        elif ending == ".pdf":
            file.write_bytes(self.pdf())
        else:
            raise InputError(f"a figure can be saved as `.svg`, `.png` or `.pdf`, not as `{file.name}`")
