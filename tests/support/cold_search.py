"""Run as a program: what numba compiles or loads in a search after its warm-up, which should be nothing.

``cold_search.py '[["vns", {"max_length": 9}], ...]'`` prints a JSON list: for each strategy and its options the kernels
that only the search reached, each in a process of its own, because a kernel that one search has loaded is there for the
next. The environment says where numba's cache is. ``cold_search.py --held '[...]'`` prints those that are there when it
is over, whoever reached them.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

from every_formulation import topic
from numba import njit

import optsum
from optsum.errors import UnsupportedError
from optsum.options.options import resolve
from optsum.running.one_problem import setup_of, warm_up

TOPIC = topic(3, 24, words=30, longest=7, covered=12, alternative=3, references=(3, 9))


def kernels() -> set[str]:
    """Return every kernel of the project that is ready, with the types it is ready for."""
    from numba.core.dispatcher import Dispatcher

    return {
        f"{each.py_func.__module__}.{each.py_func.__name__}{signature}"
        for each in gc.get_objects()
        if issubclass(type(each), Dispatcher) and each.py_func.__module__.startswith("optsum.")
        for signature in each.signatures
    }


def reached(strategy: str, options: dict[str, Any]) -> list[str]:
    """Return what a search compiles or loads after its warm-up."""
    given = {"time_limit": 1.0, **options, "strategy": strategy}
    try:
        warm_up(setup_of(resolve(given)))
        before = kernels()
        optsum.solve(TOPIC, **given)
    except UnsupportedError:
        return []
    return sorted(kernels() - before)


def held(strategy: str, options: dict[str, Any]) -> list[str]:
    """Return what is compiled or loaded when a search is over."""
    optsum.solve(TOPIC, **{"time_limit": 1.0, **options, "strategy": strategy})
    return sorted(kernels())


def import_all() -> None:
    """Import what every search shares, and start numba: no kernel of the project, so that each cell still shows its."""
    for module in pkgutil.walk_packages(optsum.__path__, "optsum."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    njit("int64(int64)")(lambda number: number + 1)
    assert not kernels()


def apart(tell: Callable[..., list[str]], strategy: str, options: dict[str, Any]) -> list[str]:
    """Return what is told of a search, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = json.dumps(tell(strategy, options))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent shows it
            answer = json.dumps([repr(error)])
        with os.fdopen(writing, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    found: list[str] = json.loads(answer)
    return found


if __name__ == "__main__":
    import_all()
    told = held if "--held" in sys.argv else reached
    print(json.dumps([apart(told, strategy, options) for strategy, options in json.loads(sys.argv[-1])]))
