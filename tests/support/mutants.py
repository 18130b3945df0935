"""Mutation testing: print the small faults of a module that no test notices.

    python tests/support/mutants.py optsum/coverage/instance.py tests/coverage tests/program [--budget 600]

One fault (a mutant) at a time is put into a function of the module: `<` for `<=`, minus for plus, a constant increased
by one, `or` for `and`, a missing `not`, a returned None, and more. The tests that execute the line are run, the
quickest first. Prints each fault that all of them pass, the lines that no test reaches, and a count; the exit status is
1 if there is any. `tests/support/mutants.md` lists what was found.

General tools start an interpreter for each mutant, which takes seconds here, and do not know about kernels. Here pytest
collects and runs the tests once; then this process is forked for each mutant, and the code objects of functions are
replaced in place, so that a mutant costs as much as its tests. Kernels of the module, and all that call them, are
interpreted (`optsum/system/compiled.py`). Code that runs at import (constants, class bodies) is not changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import gc
import os
import random
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from math import inf
from pathlib import Path
from time import process_time
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

os.environ.setdefault("OPTSUM_PATIENCE", "0")

import pytest
from _pytest.runner import runtestprotocol

from optsum.system import compiled
from optsum.system.compiled import call_plainly, plain_of

BINARY = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}  # fmt: skip
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
         "floor": "ceil", "ceil": "floor", "argmin": "argmax", "argmax": "argmin"}  # fmt: skip
OTHERWISE = {"returns", "annotation", "decorator_list", "exc"}
"""Parts of a syntax tree that decide no value: annotations, and what an error says; nor does `strict`, an assertion."""


class Mutant(NamedTuple):
    """A fault: its place in the source, its number among the faults there, its line, and its description."""

    place: int
    choice: int
    line: int
    said: str


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield faulty replacements of a node, in a fixed order."""
    other = deepcopy(node)
    match other:
        case ast.Compare():
            for index, operator in enumerate(other.ops):
                changed = deepcopy(other)
                changed.ops[index] = COMPARED[type(operator)]()
                yield changed
        case ast.BinOp() | ast.AugAssign() if type(other.op) in BINARY:
            other.op = BINARY[type(other.op)]()
            yield other
        case ast.BoolOp():
            other.op = ast.Or() if isinstance(other.op, ast.And) else ast.And()
            yield other
        case ast.UnaryOp(op=ast.Not()):
            yield ast.Call(ast.Name("bool", ast.Load()), [other.operand], [])
        case ast.UnaryOp(op=ast.USub()):
            yield other.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not other.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(other.value + 1)
        case ast.Name() if other.id in NAMES:
            yield ast.Name(NAMES[other.id], ast.Load())
        case ast.Attribute() if other.attr in NAMES:
            other.attr = NAMES[other.attr]
            yield other
        case ast.Return(value=ast.expr()) if not (isinstance(other.value, ast.Constant) and other.value.value is None):
            other.value = ast.Constant(None)
            yield other
        case ast.If() | ast.IfExp() | ast.While():
            other.test = ast.UnaryOp(ast.Not(), other.test)
            yield other
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def places(tree: ast.AST, inside: bool = False) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Yield the nodes that functions execute, in a fixed order, each with a function that replaces it."""
    for field, value in ast.iter_fields(tree):
        if field in OTHERWISE or (isinstance(tree, ast.keyword) and tree.arg == "strict"):
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.AST):
                if inside:
                    place = functools.partial(value.__setitem__, index) if isinstance(value, list) else None
                    yield node, place or functools.partial(setattr, tree, field)
                yield from places(node, inside or (isinstance(tree, ast.FunctionDef) and field == "body"))


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module."""
    found = []
    for place, (node, _) in enumerate(places(ast.parse(source))):
        for choice, changed in enumerate(changes(node)):
            before, after = (ast.unparse(ast.fix_missing_locations(one)).split("\n")[0] for one in (node, changed))
            found.append(Mutant(place, choice, node.lineno, f"{before}  ->  {after}"))
    return found


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects of all functions in a module."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from codes_of(one)


class Module:
    """The module under mutation, whose functions are changed in this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = path.read_text(encoding="utf-8")
        self._reaches: dict[str, bool] = {}
        self._functions: list[FunctionType] = []
        self._caches: list[Any] = []
        first_call = compiled._first_call

        def called(kernel: Any, *arguments: Any) -> Any:
            if self.is_reached(kernel.py_func.__module__) and (function := plain_of(kernel)) is not None:
                return call_plainly(function, arguments, inf)
            return first_call(kernel, *arguments)

        compiled._first_call = called  # mutation runs in a process of its own, so this is not undone

    def is_reached(self, name: str) -> bool:
        """Whether a module is the mutated one, or has kernels that call it."""
        if name not in self._reaches:
            self._reaches[name] = Path(sys.modules[name].__file__ or "").resolve() == self.path
            known = vars(sys.modules[name]).values()
            called = {one.py_func.__module__ for one in known if isinstance(one, compiled.Kernel)}
            self._reaches[name] |= any(map(self.is_reached, called - {name}))
        return self._reaches[name]

    def find(self) -> None:
        """Collect the module's functions and all caches before forks, as the search for them would copy the memory."""
        gc.unfreeze()  # objects that conftest.py has frozen are not listed
        every, name = gc.get_objects(), str(self.path)
        self._functions = [one for one in every if isinstance(one, FunctionType) and one.__code__.co_filename == name]
        self._caches = [one for one in every if isinstance(one, functools._lru_cache_wrapper)]

    def change(self, mutant: Mutant) -> bool:
        """Put a mutant into every function made of its lines; return whether there is such a function."""
        tree = ast.parse(self.source)
        node, put = list(places(tree))[mutant.place]
        changed = list(changes(node))[mutant.choice]
        put(ast.copy_location(changed, node))
        made = {
            (code.co_qualname, code.co_firstlineno): code
            for code in codes_of(compile(ast.fix_missing_locations(tree), str(self.path), "exec"))
        }
        found = False
        for one in self._functions:
            # A function with decorators begins at the first of them, one without at `def`.
            code = made.get((one.__qualname__, one.__code__.co_firstlineno)) or self._plain(made, one)
            if code is not None and len(code.co_freevars) == len(one.__code__.co_freevars):
                one.__code__ = code
                found = True
        for cache in self._caches:
            cache.cache_clear()
        return found

    def _plain(self, made: dict[tuple[str, int], CodeType], function: FunctionType) -> CodeType | None:
        named = [code for (name, _), code in made.items() if name == function.__qualname__]
        return named[0] if len(named) == 1 else None


class Mutation:
    """A pytest plug-in that runs the tests once, then again for each mutant."""

    def __init__(self, module: Module, given: argparse.Namespace, out: Any) -> None:
        self.module, self.given, self.out = module, given, out
        self.lines: dict[int, set[pytest.Item]] = defaultdict(set)
        self.survivors = 0

    def say(self, *words: object) -> None:
        """Print to the real standard output, which pytest does not capture."""
        print(*words, file=self.out, flush=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests and all mutants in place of pytest's own loop."""
        from hypothesis import settings  # imported late, because pytest must import it first

        settings.register_profile("mutants", settings.default, derandomize=True, database=None)
        settings.load_profile("mutants")
        self._run_once(session.items)
        useful = set().union(*self.lines.values())
        took = self._run_unchanged([item for item in session.items if item in useful])
        found = mutants(self.module.source)
        reached = [one for one in found if self.lines[one.line] & took.keys()]
        for line in sorted({one.line for one in found} - {one.line for one in reached}):
            self.say(f"{self.module.path.name}:{line}: reached by no test")
        random.Random(0).shuffle(reached)  # noqa: S311 - the order is random, so that a budget leaves out no part of the module
        counts = {"killed": 0, "survived": 0, "too long": 0}
        spent = 0.0
        for one in reached:
            if spent > self.given.budget:
                break
            tests = sorted(self.lines[one.line] & took.keys(), key=took.__getitem__)
            kept: list[pytest.Item] = []
            seconds = 0.0
            for test in tests:
                if not kept or seconds + took[test] <= self.given.seconds:
                    kept.append(test)
                    seconds += took[test]
            end, cpu = self._try(one, kept, seconds)
            spent += cpu
            counts[end] += 1
            if end == "survived":
                self.say(f"{self.module.path.name}:{one.line}: {one.said}  ({len(kept)} of {len(tests)} tests)")
        tried = sum(counts.values())
        self.say(
            f"{self.module.path.name}: {len(found)} mutants, {len(found) - len(reached)} unreached, {tried} tried:",
            ", ".join(f"{count} {end}" for end, count in counts.items()), f"({spent:.0f} s)",
        )  # fmt: skip
        self.survivors = counts["survived"] + len(found) - len(reached)
        return True

    def _run_once(self, items: list[pytest.Item]) -> None:
        """Run all tests, which compiles the kernels, and record the lines that each executes."""
        name = str(self.module.path)

        def look(frame: FrameType, event: str, arg: object) -> Any:
            return note if frame.f_code.co_filename == name else None

        def note(frame: FrameType, event: str, arg: object) -> Any:
            seen.add(frame.f_lineno)
            return note

        def over(*_: object) -> None:
            raise TimeoutError

        signal.signal(signal.SIGVTALRM, over)
        for item in items:
            seen: set[int] = set()
            signal.setitimer(signal.ITIMER_VIRTUAL, self.given.longest)
            sys.settrace(look)
            try:
                reports = runtestprotocol(item, nextitem=None, log=False)
            finally:
                sys.settrace(None)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            if any(report.failed for report in reports):
                self.say(f"left out, for it fails or takes too long when traced: {item.nodeid}")
                continue
            for line in seen:
                self.lines[line].add(item)

    def _run_unchanged(self, items: list[pytest.Item]) -> dict[pytest.Item, float]:
        """Return the seconds of each test that passes in a fork of the unchanged module."""
        ours, theirs = os.pipe()
        if (child := os.fork()) == 0:
            for number, item in enumerate(items):
                began = process_time()
                if not any(report.failed for report in runtestprotocol(item, nextitem=None, log=False)):
                    os.write(theirs, f"{number} {process_time() - began}\n".encode())
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours) as lines:
            took = {items[int(number)]: float(seconds) for number, seconds in map(str.split, lines)}
        os.waitpid(child, 0)
        self.say(f"{len(took)} of {len(items)} tests that reach the module, {sum(took.values()):.1f} s")
        gc.collect()
        self.module.find()
        gc.freeze()
        return took

    def _try(self, mutant: Mutant, tests: list[pytest.Item], seconds: float) -> tuple[str, float]:
        """Run tests on a mutant; return "survived", "killed" or "too long", and the processor time (s)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if (child := os.fork()) == 0:
            with contextlib.suppress(BaseException):
                limit = int(5 + 4 * seconds)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(60 + 20 * limit)
                if not self.module.change(mutant):
                    os._exit(3)
                for test in tests:
                    if any(report.failed for report in runtestprotocol(test, nextitem=None, log=False)):
                        os._exit(1)
                os._exit(0)
            os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status == 3:
            raise SystemExit(f"No function has line {mutant.line}: mend `Module.change`.")
        end = "survived" if status == 0 else "too long" if status in {-signal.SIGXCPU, -signal.SIGKILL} else "killed"
        return end, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Read the command line and run pytest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--budget", type=float, default=600.0, help="seconds of the processor for all mutants")
    parser.add_argument("--seconds", type=float, default=10.0, help="of tests, the quickest first, for a mutant")
    parser.add_argument("--longest", type=float, default=20.0, help="seconds of a test that is used at all")
    given = parser.parse_args()
    out = os.fdopen(os.dup(1), "w")
    mutation = Mutation(Module(given.module.resolve()), given, out)
    options = ["-o", "addopts=--import-mode=importlib", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:terminal"]
    code = pytest.main([*options, "-m", "not slow", *given.tests], plugins=[mutation])
    return int(code) or int(mutation.survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
