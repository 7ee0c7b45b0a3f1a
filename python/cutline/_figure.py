"""Figures drawn by Cutline, which notebooks show and `save` writes as SVG or PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._errors import InputError

if TYPE_CHECKING:
    import os


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

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure, {len(self.svg)} bytes of SVG>"

    def png(self, scale: float = 2.0) -> bytes:
        """The figure as PNG, with `scale` pixels per unit."""
        return bytes(_native.png(self.svg, scale))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure to a file whose name ends in `.svg` or `.png`."""
        import pathlib

        file = pathlib.Path(path)
        ending = file.suffix.lower()
        if ending == ".svg":
            file.write_text(self.svg, encoding="utf-8")
        elif ending == ".png":
            file.write_bytes(self.png())
        else:
            raise InputError(f"a figure can be saved as `.svg` or `.png`, not as `{file.name}`")
