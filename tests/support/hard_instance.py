"""An instance that integer programming cannot finish quickly."""

from __future__ import annotations

import numpy as np

from optsum.coverage.instance import Coverage


def hard(seed: int = 0, units: int = 400) -> Coverage:
    """An instance that keeps HiGHS busy for a while."""
    rng = np.random.default_rng(seed)
    return Coverage.of(
        rng.integers(20, 60, units).tolist(),
        [{int(f): 1 for f in rng.choice(300, 12, replace=False)} for _ in range(units)],
        [[int(gain)] for gain in rng.integers(1, 4, 300)],
        constants=(0, 900),
        max_length=700,
    )
