"""What the page shows of one topic, packed: it is unpacked when somebody looks."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Final

from optsum.contracts.result import Result
from optsum.errors import visible
from optsum.report.page.gather import Gathered, Problem

IN_BLOCK: Final = 8
"""Topics that are packed together: fewer pack worse, more take longer to unpack."""


def blocks_of(problems: Iterable[Problem], gathered: Gathered) -> Iterator[str]:
    """Yield blocks of topics: JSON, compressed (raw deflate) and in base64, as a browser can unpack it by itself."""
    views: list[dict[str, Any]] = []
    for problem in problems:
        views.append(_view(problem, gathered))
        if len(views) == IN_BLOCK:
            yield _packed(views)
            views = []
    if views:
        yield _packed(views)


def _packed(views: list[dict[str, Any]]) -> str:
    text = json.dumps(views, separators=(",", ":"), ensure_ascii=True)  # ASCII: half surrogate pairs survive
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(packer.compress(text.encode()) + packer.flush()).decode()


def _view(problem: Problem, gathered: Gathered) -> dict[str, Any]:
    found = [problem.found.get(variant) for variant in gathered.variants]
    view = {
        "text": problem.text,
        "optima": problem.optima,
        "results": [None if each is None else _result(each.result) for each in found],
    }
    return {key: value for key, value in view.items() if value is not None}


def _result(result: Result) -> dict[str, Any]:
    shown = {
        "selection": None if result.selection is None else list(result.selection),
        "numerator": result.numerator,
        "denominator": result.denominator,
        "objective": result.objective,
        "bound": result.bound if result.bound_exact != result.objective_exact else None,
        "length": result.length,
        "termination": None if result.termination.value == "completed" else result.termination.value,
        "reference": result.reference,
        "rouge": None if result.rouge is None else {visible(k): dict(v) for k, v in result.rouge.items()},
        "error": None if result.error is None else visible(result.error),
        "summary": None if result.summary is None else list(result.summary),
    }
    return {key: value for key, value in shown.items() if value is not None}
