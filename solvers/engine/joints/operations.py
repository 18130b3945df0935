"""The engine of joints, parents and falling values, for the driver."""

from __future__ import annotations

from typing import Final

from ..operations import Operations
from .bound import decide, grain_of, upper_bound
from .flat import frontier_order, is_flat
from .guess import good_set
from .instance.core import Core
from .instance.reduction import above, below, lean, reduced
from .instance.root import core_of
from .order import branching_order
from .relaxation import linear_program, with_prices
from .search import JointSearch

JOINTS: Final = Operations[Core](
    root=core_of,
    reduced=reduced,
    grain=grain_of,
    relaxation=linear_program,
    priced=with_prices,
    upper_bound=upper_bound,
    decide=decide,
    order=branching_order,
    search=JointSearch,
    guess=good_set,
    lean=lean,
    blind=is_flat,
    merging_order=frontier_order,
    above=above,
    below=below,
    finds_first=True,
)
"""Programs with joints of any units, parents, and tables that may fall."""
