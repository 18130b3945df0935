"""Interpret kernels at first, and compile them with numba when they take long; compiled code is cached by version.

Compiling a kernel that is not cached takes seconds, and importing numba a quarter of a second, far longer than
interpreting a small job. So a process first interprets its kernels: cached kernels for `_LOADING_S` seconds, others
for `patience.left_s` seconds. Then it loads or compiles kernels that have taken long. Results are the same either way.

Interpreted kernels have the same source and values of the same types, and their callees are interpreted as well.
Numbers are numpy's scalars, whose 64 bits wrap around as in compiled code. Every loop checks the clock, so that long
work can be left to the compiled kernel.
"""

from __future__ import annotations

import ast
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, wraps
from linecache import getlines
from math import inf
from pathlib import Path
from threading import RLock, local
from time import perf_counter, thread_time
from typing import Any, Final, TypeAlias

import numpy as np

from optsum._version import __version__
from optsum.system.clock import standing
from optsum.system.processes.signal_guard import postponing

Function: TypeAlias = Callable[..., Any]
_LOOK: Final = ast.parse("if _optsum_now() > _optsum_thread.until: _optsum_thread.look()").body
"""The statement that is inserted at the beginning of every loop iteration of interpreted kernels."""

_stand_ins: Final[dict[int, Function]] = {}  # Id of a kernel -> a function to call instead of interpreting the kernel.
_plain: Final[dict[Function, Function | None]] = {}  # Function of a kernel -> its interpreted form.
_modules: Final[dict[str, dict[str, Any]]] = {}  # Name of a module -> the globals of its interpreted kernels.


class TooLongError(Exception):
    """Raised if interpreting a kernel has reached its time limit, or is impossible."""


class _OfThread(local):
    """The state of a thread: one thread may warm up while others search.

    `_ends`: the processor time at which interpreting a kernel ends. `until`: the wall-clock time of the next check of
    it. `interpreted`: kernels that were interpreted. `rehearsal_s`: seconds left for interpreting in a warm-up.
    """

    until = _ends = rehearsal_s = inf

    def __init__(self) -> None:
        self.interpreted: set[Any] = set()

    def begin(self, seconds: float) -> None:
        self._ends = thread_time() + seconds
        self.until = perf_counter() + seconds

    def look(self) -> None:
        left = self._ends - thread_time()
        if left <= 0.0:
            raise TooLongError
        self.until = perf_counter() + left


_of_thread: Final = _OfThread()


def stands_for(kernel: object) -> Callable[[Function], Function]:

    def register(function: Function) -> Function:
        _stand_ins[id(kernel)] = function
        return function

    return register


def plain_of(kernel: Any) -> Function | None:
    """Return the interpreted form of a kernel; None if its source is not available."""
    function = kernel.py_func
    if function not in _plain:
        _plain[function] = _stand_ins.get(id(kernel)) or _made(function)
    return _plain[function]


def _made(function: Function) -> Function | None:
    """Return a function made anew from its source, with clock checks in loops and interpreted callees."""
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


_WITHIN: Final = {" ", "\t", "\n", "\r", ")", "#"}  # Characters that begin the lines of a function after its first.


def _names_of(module: str) -> dict[str, Any]:
    if module not in _modules:
        looks = {"_optsum_now": perf_counter, "_optsum_thread": _of_thread}
        names = vars(sys.modules[module]) | looks
        names |= {name: _at_first(names, name, each) for name, each in names.items() if hasattr(each, "py_func")}
        names |= {name: each.plain for name, each in names.items() if isinstance(each, Instruction)}
        _modules[module] = names
    return _modules[module]


def _at_first(names: dict[str, Any], name: str, kernel: Any) -> Function:
    """Return a placeholder that makes the interpreted kernel at the first call, because few kernels are ever called."""

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
    kept: list[tuple[Any, Any]] = []
    given = [_typed(argument, kept) for argument in arguments]
    _of_thread.begin(seconds)
    try:
        with np.errstate(all="ignore"):
            return _untyped(function(*given))
    except BaseException:
        for array, before in kept:
            array[...] = before
        raise


def _typed(value: Any, kept: list[tuple[Any, Any]]) -> Any:
    """Return a value with numpy's types; append to `kept` each writeable array with a copy, to restore it later."""
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


_VARIABLE: Final = "OPTSUM_PATIENCE"
_PATIENCE_S: Final = 3.0
"""Default seconds of interpreting: a kernel compiles in .3 to 5 s, all kernels of a long search in 10 to 30 s."""

_NUMBA: Final = "optsum.system.dispatchers"
_SHORT_S: Final = 0.1  # Minimum time (s) for which each kernel is interpreted before it may be compiled.
_REHEARSAL_S: Final = 0.03  # Time limit (s) for interpreting kernels in a warm-up.
_LOADING_S: Final = 0.15
"""Seconds of interpreting before cached kernels are loaded, because importing numba takes twice as long."""

_SLOWER: Final = 100  # Ratio of the times of interpreted and compiled kernels.
_LONGEST_CALL_S: Final = 0.5  # Longest interpreted call (s), because a search checks its limits between calls.


class Patience:
    """Decides how long this process interprets kernels that are not compiled.

    `left_s`: processor seconds left for interpreting; at 0, kernels that have taken long are compiled, below 0 all
    kernels that are called. `spent_s`, `taken`: seconds of interpreting in all, and by kernel. `over`: functions to
    call once, when no time is left, with kernels that have taken long. `thread`: the state of the thread that asks.
    """

    def __init__(self) -> None:
        seconds = _PATIENCE_S
        with suppress(ValueError):
            seconds = float(os.environ.get(_VARIABLE, _PATIENCE_S))
        self.left_s = seconds if seconds > 0.0 else -inf
        self.compiles_all = False  # Whether optional kernels are compiled at their first use (`is_worth`).
        self.spent_s = 0.0
        self.taken: dict[Any, float] = {}
        self.over: list[Callable[[set[Any]], object]] = []
        self.thread = _of_thread

    @property
    def is_over(self) -> bool:
        """Whether kernels are compiled when they are called, not interpreted."""
        return self.left_s < 0.0

    @property
    def loads(self) -> bool:
        """Whether cached kernels may be loaded now, not interpreted."""
        return _NUMBA in sys.modules or self.left_s <= 0.0 or self.spent_s >= _LOADING_S

    def load(self) -> None:
        self.spent_s = max(self.spent_s, _LOADING_S)

    def end(self) -> None:
        self.left_s = -inf

    def with_(self, kernel: Any) -> float:
        """Return the number of seconds for which a kernel may be interpreted now; 0 if it must be compiled."""
        left = self.left_s if self.left_s > 0.0 else _SHORT_S - self.taken.get(kernel, 0.0)
        early = inf if self.loads or not kernel.is_kept else _LOADING_S - self.spent_s
        return min(left, early, _LONGEST_CALL_S, self.thread.rehearsal_s) if self.left_s > -inf else 0.0

    @contextmanager
    def rehearsing(self) -> Iterator[None]:
        """Limit the time of interpreted kernels in a warm-up, because a warm-up does not make them faster."""
        own = self.thread
        before, own.rehearsal_s = own.rehearsal_s, _REHEARSAL_S
        try:
            with suppress(_RehearsedError):
                yield
        finally:
            own.rehearsal_s = before

    def take(self, kernel: Any, seconds: float) -> None:
        """Count the seconds for which a kernel was interpreted."""
        self.thread.interpreted.add(kernel)
        self.spent_s += seconds
        self.taken[kernel] = self.taken.get(kernel, 0.0) + seconds
        self.thread.rehearsal_s -= seconds
        self.left_s = max(0.0, self.left_s - seconds) if self.left_s > -inf else self.left_s

    def lost(self) -> None:
        """Call the functions in `over` if the time is spent."""
        while self.over and self.left_s <= 0.0 and self.taken:
            self.over.pop()({kernel for kernel, seconds in self.taken.items() if seconds >= _SHORT_S})


patience: Final = Patience()  # A state of the process, like its loaded kernels.


class _RehearsedError(BaseException):
    """Raised to end a warm-up whose time is over; no `Exception`, so that searches do not treat it as a failure."""


class Kernel:
    """A function that is interpreted until it is compiled."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.py_func, self.targetoptions = function, options  # numba looks for these names
        self.compiled: Callable[..., Any] | None = None  # Numba's dispatcher, once there is code.

    def __call__(self, *arguments: Any) -> Any:
        return _first_call(self, *arguments) if self.compiled is None else self.compiled(*arguments)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of the kernel, which may have no code yet."""
        with _making, postponing():  # an interrupted import of numba cannot be repeated
            from optsum.system.dispatchers import dispatcher_of

            return self.__dict__.get("dispatcher") or dispatcher_of(self.py_func, self.targetoptions)

    @cached_property
    def is_kept(self) -> bool:
        """Whether compiled code of the kernel may be on disk, looked up without importing numba."""
        code = self.py_func.__code__
        source = Path(code.co_filename)
        index = f"{source.stem}.{self.py_func.__qualname__}-{code.co_firstlineno}."
        return any(name.startswith(index) for place in _places(source.parent) for name in _names_in(place))

    @property
    def _numba_type_(self) -> Any:
        """The type of this kernel in kernels that call it."""
        return self.dispatcher._numba_type_


_making: Final = RLock()
_OF_VERSION: Final = f"optsum-{__version__}"  # The folder for this version in a cache of numba.


def _places(folder: Path) -> list[Path]:
    """Return where numba may keep the kernels of a source folder: see `optsum.system.dispatchers`."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return [*Path(given).glob(f"{folder.name}_*/{_OF_VERSION}")]
    user = {
        "darwin": "~/Library/Caches/numba", "win32": "~/AppData/Local/numba/Cache",
    }.get(sys.platform) or os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/numba"  # fmt: skip
    return [folder / "__pycache__" / _OF_VERSION, *Path(user).expanduser().glob(f"{folder.name}_*/{_OF_VERSION}")]


@cache
def _names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("*.nbi")]


class Instruction:
    """A processor instruction on a 64-bit word, for kernels; `name`: in llvmlite; `plain`: a Python function for it."""

    def __init__(self, name: str, plain: Callable[[Any], Any]) -> None:
        self.name, self.plain = name, plain

    def __call__(self, word: Any) -> Any:
        return self.plain(word)

    @property
    def _numba_type_(self) -> Any:
        from optsum.system.dispatchers import type_of_instruction  # needed only to compile

        return type_of_instruction(self.name)


def _first_call(kernel: Kernel, *arguments: Any) -> Any:
    if patience.left_s >= 0.0 and is_loaded(kernel, *arguments):
        return kernel(*arguments)
    early = kernel.is_kept and not patience.loads
    if patience.thread.rehearsal_s <= 0.0 <= patience.left_s or (early and patience.thread.rehearsal_s < inf):
        raise _RehearsedError
    if (seconds := patience.with_(kernel)) > 0.0 and (function := plain_of(kernel)) is not None:
        began = thread_time()
        try:
            return call_plainly(function, arguments, seconds)
        except TooLongError:
            if seconds == patience.thread.rehearsal_s:
                raise _RehearsedError from None
            if not early:
                patience.take(kernel, _SHORT_S)
        finally:
            patience.take(kernel, thread_time() - began)
        if early:
            return _first_call(kernel, *arguments)
    with standing():
        while _waiting and patience.loads:
            _waiting.popitem()[0]()
        patience.lost()
        _compile(kernel, arguments, _hear)
    return kernel(*arguments)


def is_loaded(kernel: Kernel, *arguments: Any) -> bool:
    """Return whether a kernel is compiled for use; a cached one is loaded, once `Patience.loads` allows it."""
    if kernel.compiled is None and kernel.is_kept and patience.loads:
        with standing():
            _compile(kernel, arguments)
        kernel.is_kept = kernel.compiled is not None
    return kernel.compiled is not None


def _compile(kernel: Kernel, arguments: tuple[Any, ...], tell: Callable[[], object] | None = None) -> None:
    """Load a kernel from disk; if it is not there and `tell` is given, call `tell` and compile the kernel."""
    dispatcher = kernel.dispatcher
    from optsum.system.dispatchers import compiled_for  # imported by the line above

    if compiled_for(dispatcher, arguments, tell):
        kernel.compiled = dispatcher


def is_worth(kernel: Any, lost_s: float, *arguments: Any) -> bool:
    """Return whether an optional kernel should be called now; `lost_s`: seconds that the work takes longer without it.

    It should if it is loaded, if `Patience.compiles_all`, or if not calling it has lost `_PATIENCE_S` seconds by now.
    """
    if lost_s * _SLOWER > _LOADING_S:
        patience.load()
    if patience.compiles_all or is_loaded(kernel, *arguments) or patience.taken.get(kernel, 0.0) >= _PATIENCE_S:
        return True
    patience.take(kernel, lost_s)
    return False


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    return lambda function: Kernel(function, options)


Part: TypeAlias = Callable[[], object]  # A function without arguments that calls kernels to make them ready.
_collecting: list[list[Part]] = []  # Lists to which parts are added instead of being run.
_hearing: list[Callable[[], None]] = []  # Functions to call when numba first compiles something.
_run: Final[dict[Part, set[Any]]] = {}  # The parts that were run, and the kernels interpreted by each.
_waiting: Final[dict[Part, None]] = {}  # Parts to run before the first compilation.
_SEVERAL: Final = 2  # A whole part is run, possibly by another process, to compile at least this number of its kernels.


@cache
def _announce() -> None:
    logging.getLogger("optsum").warning("Compiling kernels for this machine; the next run uses the cache.")


def _hear() -> None:
    if compiles.cache_info().currsize:  # a program with only its own kernels gets no message
        _announce()
    while _hearing:
        _hearing.pop()()


def parts_with(kernels: set[Any]) -> list[Part]:
    """Return the parts that were run and in which several of the given kernels were interpreted."""
    return [part for part, interpreted in _run.items() if len(interpreted & kernels) >= _SEVERAL]


def compile_at_once(*, optional: bool = False) -> None:
    """Compile kernels at their first call from now on; `optional`: also kernels that are called only if it pays off."""
    patience.end()
    patience.compiles_all |= optional
    for part in [part for part, interpreted in _run.items() if interpreted]:
        del _run[part]


@cache
def compiles(prepare: Part) -> Callable[[], None]:
    """Return `prepare`, which calls kernels to compile or load them, as a part: it runs once, at a call or later."""

    @wraps(prepare)
    def part() -> None:
        if _collecting:
            _collecting[-1].append(part)
        elif not patience.loads:
            _waiting[part] = None
        elif prepare not in _run:
            own = patience.thread
            others, own.interpreted = own.interpreted, set()
            try:
                with patience.rehearsing():
                    prepare()
                _run[prepare] = own.interpreted
            finally:
                own.interpreted = others

    return part


def collected(work: Callable[[], object]) -> list[Part]:
    """Return the distinct parts (made by `compiles`) that some work would run, without running them."""
    _collecting.append([])
    try:
        work()
    finally:
        found = _collecting.pop()
    return list(dict.fromkeys(found))


@contextmanager
def on_first_compilation(call: Callable[[], None]) -> Iterator[None]:
    """Call a function when numba first compiles something within the block."""
    _hearing.append(call)
    try:
        yield
    finally:
        if call in _hearing:
            _hearing.remove(call)
