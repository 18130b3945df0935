"""Print the results of searches with interpreted kernels, compiled ones, or kernels that are compiled midway.

``both_ways.py SECONDS '[["vns", {"max_length": 9}], ...]'`` prints a JSON list with an entry for each pair of strategy
and options: the result without times, or None where the strategy does not serve the options. Kernels are interpreted
for SECONDS in all, and no kernel is loaded from disk; with 0 seconds all are loaded or compiled at once.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from math import inf
from typing import Any

from every_formulation import topic

import optsum
from optsum.errors import UnsupportedError
from optsum.system import compiled

TOPIC = topic(5, 10, words=16, longest=6, covered=6, alternative=2, references=(2, 7))


def timeless(value: Any) -> Any:
    """Return a JSON value without times."""
    if isinstance(value, dict):
        timed = ("seconds", "timing", "source")
        return {key: timeless(one) for key, one in value.items() if key not in timed and not key.endswith("_s")}
    return [timeless(one) for one in value] if isinstance(value, list | tuple) else value


def said(strategy: str, options: dict[str, Any]) -> Any:
    """Return the result of a search and of an enumeration, or None where the strategy does not serve the options."""
    try:
        result = optsum.solve(TOPIC, strategy=strategy, **options)
    except UnsupportedError:
        return None
    found = timeless(asdict(result))
    found["trace"] = [[point["evaluations"], point["objective"]] for point in found["trace"]]
    try:
        optima = optsum.enumerate_optima(TOPIC, strategy=strategy, within_steps=1, **options)
    except UnsupportedError:
        return [found]
    return [found, optima.count, [list(one) for _, one in zip(range(50), optima, strict=False)], optima.value_counts()]


if __name__ == "__main__":
    compiled.patience.left_s = float(sys.argv[1]) or -inf
    compiled._SHORT_S = 0.0  # type: ignore[misc]
    compiled._LONGEST_CALL_S = inf  # type: ignore[misc]
    compiled.Kernel.is_kept = compiled.patience.left_s == -inf  # type: ignore[assignment]
    answers = [said(strategy, options) for strategy, options in json.loads(sys.argv[2])]
    kernels = sorted(kernel.py_func.__name__ for kernel in compiled.patience.thread.interpreted)
    ready = sorted(kernel.py_func.__name__ for kernel in compiled.patience.thread.interpreted if kernel.compiled)
    print(json.dumps({"answers": answers, "interpreted": kernels, "compiled": ready}, default=str))
