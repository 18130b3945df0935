"""Print the kernels that a search calls and its warm-up does not; there should be none.

``cold_search.py '[["vns", {"max_length": 9}], ...]'`` prints a JSON list with an entry for each pair of strategy and
options: the kernels that only the search called, and all that were called, each with the types of its arguments, since
a kernel is compiled or loaded once for each combination of types. Each pair runs in a fork of this process, which has
loaded all kernels but prepared nothing, because loading them for each pair would take most of the time.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from every_formulation import topic
from numba import typeof
from numba._dispatcher import compute_fingerprint

import optsum
from optsum.errors import UnsupportedError
from optsum.options.options import resolve
from optsum.running import one_problem
from optsum.system import compiled
from optsum.system.compiled import Kernel

SIZES: dict[str, Any] = {"words": 30, "longest": 7, "covered": 12, "alternative": 3, "references": (3, 9)}
TOPIC, OTHER = topic(3, 24, **SIZES), topic(4, 24, **SIZES)
called: dict[tuple[str, bytes], str] = {}
call = Kernel.__call__


def noted(kernel: Kernel, *arguments: Any) -> Any:
    """Record a kernel call with the types of its arguments, and make it."""
    kind = f"{kernel.__module__}.{kernel.__name__}", compute_fingerprint(arguments)  # numba's key of compiled code
    if kind not in called:
        called[kind] = f"{kind[0]}({typeof(arguments)})"
    return call(kernel, *arguments)


def tried(topic: dict[str, Any], strategy: str, options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the kernels that a search calls and its warm-up does not, and all kernels that are called."""
    given = {"time_limit": 1.0, **options, "strategy": strategy}
    compiled._run.clear()
    one_problem._ready.clear()
    one_problem.setup_of.cache_clear()
    called.clear()
    try:
        one_problem.warm_up(one_problem.setup_of(resolve(given)))
        before = {*called}
        optsum.solve(topic, **given)
    except UnsupportedError:
        return [], []
    return [text for kind, text in called.items() if kind not in before], [*called.values()]


def apart(strategy: str, options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the result of `tried` from a fork that has not prepared the topic."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = json.dumps(tried(TOPIC, strategy, options))
        except BaseException as error:  # noqa: BLE001 - the parent shows any exception
            answer = json.dumps([[repr(error)], []])
        with os.fdopen(writing, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    found: tuple[list[str], list[str]] = json.loads(answer)
    return found


if __name__ == "__main__":
    Kernel.__call__ = noted  # type: ignore[method-assign]
    cells = json.loads(sys.argv[1])
    for cell in cells:
        tried(OTHER, *cell)
    print(json.dumps([apart(*cell) for cell in cells]))
