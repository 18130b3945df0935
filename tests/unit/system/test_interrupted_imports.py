"""Check that a process can go on after Ctrl-C while `optsum.solve` imports modules or loads kernels."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys

class Pressing:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Pressing())
import optsum
topic = {"id": "t", "documents": [["a b", "b c", "a c d", "d"]], "references": [["a b c"]]}
try:
    optsum.solve(topic, max_length=3, strategy="greedy")
    print("never heard")
except KeyboardInterrupt:
    print("heard")
print(*(optsum.solve(topic, max_length=3, strategy=name).objective for name in ("greedy", "milp")))
"""


@pytest.mark.parametrize("module", ["numba.core.typing.templates", "pydantic.main"])
def test_a_process_goes_on_after_an_interrupted_import(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"OPTSUM_PATIENCE": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["heard", "0.6666666666666666 0.6666666666666666"]


LINKING = """
import os, signal, sys
import llvmlite.binding
from llvmlite.binding import ffi

class Library:
    def __init__(self, library):
        self.library, self.pressed = library, False
    def __getattr__(self, name):
        function = getattr(self.library, name)
        return self.pressing(function) if name == sys.argv[1] and not self.pressed else function
    def pressing(self, function):
        def call(*given):
            result = function(*given)
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)
            return result
        return call

ffi.lib = Library(ffi.lib)
"""


@pytest.mark.parametrize("function", ["LLVMPY_CreateMCJITCompiler", "LLVMPY_ParseBitcode"])
def test_code_handed_to_llvm_is_not_freed_twice(function: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LINKING + PROGRAM, function],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"OPTSUM_PATIENCE": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["heard", "0.6666666666666666 0.6666666666666666"]


REPLACED = """
import contextlib, signal, sys, time
import optsum

enter, before, pressed = contextlib.redirect_stdout.__enter__, sys.stdout, []

def interrupted(self):
    made = enter(self)
    if not pressed:
        pressed.append(True)
        signal.raise_signal(signal.SIGINT)
    return made

contextlib.redirect_stdout.__enter__ = interrupted
topic = {"id": "t", "documents": [["a b", "b c"]], "references": [["a c"]]}
try:
    optsum.solve(topic, max_length=3, strategy="milp", backend="pyomo:highs")
    time.sleep(1)
except KeyboardInterrupt:
    pass
print(bool(pressed), sys.stdout is before)
"""


def test_standard_output_is_given_back_where_ctrl_c_comes_while_it_is_replaced() -> None:
    """Run it in a process of its own, because a postponed signal may arrive after the search."""
    done = subprocess.run([sys.executable, "-c", REPLACED], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True\n"
