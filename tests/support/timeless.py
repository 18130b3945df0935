"""Remove from rows what differs from run to run: times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["timeless"]


def timeless(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the rows as sorted lines of JSON without times."""
    return sorted(json.dumps(_without(row)) for row in rows)


def _without(row: Mapping[str, Any]) -> dict[str, Any]:
    statistics = {
        name: value for name, value in row["statistics"].items() if not name.endswith("_s") and name != "seconds"
    }
    trace = [point[1:] for point in row["trace"]]
    return {**row, "seconds": None, "statistics": statistics, "trace": trace}
