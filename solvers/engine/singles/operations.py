"""The engine of plain extracts, for the driver."""

from __future__ import annotations

from typing import Final

from ..operations import Operations
from .bound import decide, grain_of, upper_bound
from .core import Core, core_of, reduced
from .guess import good_set
from .order import branching_order, halving_unit
from .polish import polished
from .relaxation import columns_and_rows, linear_program, priced
from .search import search_of

SINGLES: Final = Operations[Core](
    root=core_of,
    reduced=reduced,
    grain=grain_of,
    relaxation=linear_program,
    priced=priced,
    upper_bound=upper_bound,
    decide=decide,
    order=branching_order,
    search=search_of,
    guess=good_set,
    polished=polished,
    columns_and_rows=columns_and_rows,
    halver=halving_unit,
)
"""Programs whose occurrences are decided by single units."""
