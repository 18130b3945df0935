"""Kernels as plain Python: the same source, interpreted with values of the same types.

Functions called by kernels are interpreted as well. Numbers are numpy's scalars, whose 64 bits wrap around as in
compiled code. Every loop checks the clock, so that long work can be left to the compiled kernel.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from linecache import getlines
from math import inf
from threading import local
from time import perf_counter, thread_time
from typing import Any, Final, TypeAlias

import numpy as np

Function: TypeAlias = Callable[..., Any]
_LOOK: Final = ast.parse("if _optsum_now() > _optsum_patience.until: _optsum_patience.look()").body
"""The statement at the beginning of every loop iteration."""

_stand_ins: Final[dict[int, Function]] = {}
_plain: Final[dict[Function, Function | None]] = {}
_modules: Final[dict[str, dict[str, Any]]] = {}  # The names of each module as its kernels see them.


class TooLongError(Exception):
    """The time limit for interpreting a kernel is over."""


class _Patience(local):
    """How long a thread may continue, in processor time, which costs more to read than the clock."""

    until = inf
    _ends = inf

    def begin(self, seconds: float) -> None:
        self._ends = thread_time() + seconds
        self.until = perf_counter() + seconds

    def look(self) -> None:
        left = self._ends - thread_time()
        if left <= 0.0:
            raise TooLongError
        self.until = perf_counter() + left


_patience: Final = _Patience()


def stands_for(kernel: object) -> Callable[[Function], Function]:
    """Use a Python function in place of a kernel."""

    def register(function: Function) -> Function:
        _stand_ins[id(kernel)] = function
        return function

    return register


def plain_of(kernel: Any) -> Function | None:
    """Return a kernel as plain Python; None if its source is not available."""
    function = kernel.py_func
    if function not in _plain:
        _plain[function] = _stand_ins.get(id(kernel)) or _made(function)
    return _plain[function]


def _made(function: Function) -> Function | None:
    """Return a function of a module in which all callees are plain too."""
    lines = getlines(function.__code__.co_filename)
    first = last = function.__code__.co_firstlineno - 1
    while last < len(lines) and not lines[last].startswith("def "):
        last += 1
    last += 1
    while last < len(lines) and lines[last][:1] in _WITHIN:
        last += 1
    try:
        tree = ast.parse("\n" * first + "".join(lines[first:last]))
    except SyntaxError:
        return None
    if [getattr(node, "name", None) for node in tree.body] != [function.__qualname__]:
        return None
    names = _names_of(function.__module__)
    _look(tree.body)
    exec(compile(tree, function.__code__.co_filename, "exec"), names)  # noqa: S102 - our own source
    made: Function = names[function.__name__]
    return made


_WITHIN: Final = {" ", "\t", "\n", "\r", ")", "#"}  # What lines of a function begin with.


def _names_of(module: str) -> dict[str, Any]:
    if module not in _modules:
        names = dict(vars(sys.modules[module]))
        names |= {name: _at_first(names, name, each) for name, each in names.items() if hasattr(each, "py_func")}
        _modules[module] = names | {"_optsum_now": perf_counter, "_optsum_patience": _patience}
    return _modules[module]


def _at_first(names: dict[str, Any], name: str, kernel: Any) -> Function:
    """Return a placeholder for a kernel until it is called, because few kernels of a module are."""

    def call(*given: Any, **named: Any) -> Any:
        function = plain_of(kernel)
        if function is None:
            raise TooLongError
        names[name] = function
        return function(*given, **named)

    return call


def _look(statements: list[ast.stmt]) -> None:
    """Insert clock checks into loops, and remove decorators and annotations."""
    for node in statements:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list, node.returns = [], None
            for argument in node.args.args:
                argument.annotation = None
        for name in ("body", "orelse"):
            _look(getattr(node, name, []))
        if isinstance(node, ast.For | ast.While):
            node.body[:0] = _LOOK


def call_plainly(function: Function, arguments: tuple[Any, ...], seconds: float) -> Any:
    """Call the result of `plain_of` like its kernel."""
    kept: list[tuple[Any, Any]] = []
    given = [_typed(argument, kept) for argument in arguments]
    _patience.begin(seconds)
    try:
        with np.errstate(all="ignore"):
            return _untyped(function(*given))
    except BaseException:
        for array, before in kept:
            array[...] = before
        raise


def _typed(value: Any, kept: list[tuple[Any, Any]]) -> Any:
    """Return a value with the types of kernels; arrays are not copied, because kernels may change them."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            kept.append((value, value.copy()))
        return value
    if isinstance(value, tuple):
        items = [_typed(item, kept) for item in value]
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    if type(value) is int:
        return np.int64(value)
    return np.float64(value) if type(value) is float else value


def _untyped(value: Any) -> Any:
    if isinstance(value, tuple):
        items = map(_untyped, value)
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    return value.item() if isinstance(value, np.generic) else value
