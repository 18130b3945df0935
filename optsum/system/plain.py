"""Kernels as plain Python: the same source, run by the interpreter, with values of the same types.

What kernels call is plain as well. Numbers are numpy's scalars, whose 64 bits wrap around as those of compiled code do.
Every loop looks at the clock, so that what takes too long can be left and be done by the compiled kernel instead.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from inspect import getsource
from math import inf
from threading import local
from time import perf_counter, thread_time
from typing import Any, Final, TypeAlias

import numpy as np
from numba.core.registry import CPUDispatcher

Function: TypeAlias = Callable[..., Any]

_LOOK: Final = ast.parse("if _optsum_now() > _optsum_patience.until: _optsum_patience.look()").body
"""What every turn of a loop begins with."""

_stand_ins: Final[dict[int, Function]] = {}
_modules: Final[dict[str, dict[str, Any] | None]] = {}


class TooLongError(Exception):
    """The time is over that a kernel may be interpreted for."""


class _Patience(local):
    """How long a thread goes on: so much time of the processor, which is dearer to ask for than the clock's."""

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


def stands_for(intrinsic: object) -> Callable[[Function], Function]:
    """Let a function do in Python what an intrinsic of numba's does in kernels."""

    def register(function: Function) -> Function:
        _stand_ins[id(intrinsic)] = function
        return function

    return register


def plain_of(kernel: Any) -> Function | None:
    """Return a kernel as plain Python; None if its source is not at hand."""
    module = kernel.py_func.__module__
    if module not in _modules:
        _modules[module] = _read(module)
    names = _modules[module]
    return None if names is None else names.get(kernel.py_func.__name__)


def _read(name: str) -> dict[str, Any] | None:
    """Return the names of a module as its kernels see them, all that they call being plain."""
    module = sys.modules[name]
    names = dict(vars(module))
    own = set()
    for each, value in vars(module).items():
        if id(value) in _stand_ins:
            names[each] = _stand_ins[id(value)]
        elif isinstance(value, CPUDispatcher) and value.py_func.__module__ == name:
            own.add(each)
        elif isinstance(value, CPUDispatcher) and value.py_func.__module__.startswith("optsum."):
            names[each] = plain_of(value)
            if names[each] is None:
                return None
    try:
        tree = ast.parse(getsource(module))
    except (OSError, TypeError, SyntaxError):
        return None
    kernels = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in own]
    tree.body = [_Looking().visit(kernel) for kernel in kernels]
    names |= {"_optsum_now": perf_counter, "_optsum_patience": _patience}
    exec(compile(ast.fix_missing_locations(tree), module.__file__ or name, "exec"), names)  # noqa: S102 - our own source
    return names if own <= {kernel.name for kernel in kernels} else None


class _Looking(ast.NodeTransformer):
    """Lets loops look at the clock, and leaves decorators and annotations out."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.decorator_list, node.returns = [], None
        for argument in node.args.args:
            argument.annotation = None
        return node

    def visit_For(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body = [*_LOOK, *node.body]
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        return self.visit_For(node)


def call_plainly(function: Function, arguments: tuple[Any, ...], seconds: float) -> Any:
    """Call what `plain_of` returned as its kernel would be called."""
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
    """Return a value as kernels see it; arrays that they may change are kept."""
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
