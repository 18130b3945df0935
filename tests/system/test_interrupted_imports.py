"""Ctrl-C while modules are imported, by the first `optsum.solve` of a process: the process can go on."""

from __future__ import annotations

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


@pytest.mark.parametrize("module", ["numpy.linalg", "numba.core", "numba.core.typing.templates", "pydantic.main"])
def test_a_process_can_go_on(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["heard", "0.6666666666666666 0.6666666666666666"]
