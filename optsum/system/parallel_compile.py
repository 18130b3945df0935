"""Compile kernels in two processes that share a cache. A part is a function that calls some of the kernels.

This process begins with the first part, another with the last. The other process is started only when numba has
something to compile. When the two meet, this process waits until the other has compiled its part, and loads it from the
cache. If the other process fails, this one compiles the rest. Kernels interpreted for too long are compiled so, too.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Thread

from optsum.system.compiled import Part, on_first_compilation, parts_with, patience
from optsum.system.processes.children import end_with, python


def compile_parts(parts: Sequence[Part], done: Callable[[], object] = lambda: None) -> None:
    """Compile kernels by running `parts`, functions that call them, while a helper compiles too; then call `done`."""
    helper = _Helper(parts)
    try:
        with on_first_compilation(helper.start):
            for number, part in enumerate(parts):
                helper.wait_for(number)
                part()
                if helper.started:
                    logging.getLogger("optsum").info("kernels: %d of %d ready", number + 1, len(parts))
                done()
    finally:
        helper.end()


patience.over.append(lambda kernels: compile_parts(parts_with(kernels)))


class _Helper:
    def __init__(self, parts: Sequence[Part]) -> None:
        self._names = [f"{part.__module__}:{part.__qualname__}" for part in parts]
        self._process: subprocess.Popen[str] | None = None
        self._listener: Thread | None = None
        self._said: SimpleQueue[int | None] = SimpleQueue()
        self._least = len(parts)
        self.started = False  # whether there was anything to compile

    def start(self) -> None:
        self.started = True
        if len(self._names) < 2 or _processors() < 2:
            return
        with suppress(OSError):  # then this process compiles alone
            self._process = subprocess.Popen(  # noqa: S603 - this Python, without any input of users
                python("optsum.system.parallel_compile", "help_out"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,  # Ctrl-C reaches only this process, which ends the other
            )
            self._listener = Thread(target=self._listen, args=(self._process,), name="compiling", daemon=True)
            self._listener.start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        with process.stdout, suppress(OSError, ValueError):
            with process.stdin:
                process.stdin.write(json.dumps(self._names))
            for line in process.stdout:
                self._said.put(int(line))
        self._said.put(None)

    def wait_for(self, number: int) -> None:
        """Wait while the other process is compiling part `number`."""
        if self._process is None:
            return
        while self._least == number or not self._said.empty():
            if (said := self._said.get()) is None:
                self.end()
                return
            self._least = said

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._listener is not None:
            self._listener.join()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def help_out(parent: int) -> None:
    """Run as the other process: compile parts from the last to the second, after printing the number of each."""
    end_with(parent, natively=False)
    patience.end()
    names = json.load(sys.stdin)
    for number in range(len(names) - 1, 0, -1):
        print(number, flush=True)  # noqa: T201 - the parent reads it
        module, _, function = names[number].partition(":")
        getattr(import_module(module), function)()
