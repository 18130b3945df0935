"""Draw figures as SVG only, where a test is about what is drawn and other tests about the formats."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

__all__ = ["draw_only_vectors"]


def draw_only_vectors(patch: pytest.MonkeyPatch) -> None:
    """Leave PNG and PDF files empty, because each format takes as long to draw as the first one."""
    if find_spec("matplotlib") is None:
        return
    from matplotlib.figure import Figure

    save = Figure.savefig

    def saved(self: Figure, file: Any, **how: Any) -> None:
        if str(file).endswith(".svg"):
            save(self, file, **how)
        else:
            Path(file).touch()

    patch.setattr(Figure, "savefig", saved)
