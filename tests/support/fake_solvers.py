"""Write programs that pretend to be CBC or GLPK and give false answers, hang, crash, or print garbage."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

_HEAD = """#!{python} -IS
import os, re, signal, subprocess, sys, time
arguments = sys.argv[1:]

def hang():
    while True:
        time.sleep(1)
"""

_CBC = """
if "-solu" not in arguments:
    print("Welcome to the CBC MILP Solver\\nVersion: 2.10.8")
    sys.exit()
written = arguments[arguments.index("-solu") + 1]
program = open(arguments[arguments.index("-import") + 1]).read()
units = list(dict.fromkeys(re.findall(r"x\\d+", program[program.index("\\nbinary"):])))

def answer(values, objective, status="Optimal - objective value"):
    with open(written, "w") as file:
        print(status, objective, file=file)
        print(0, "row", 0, 0, file=file)  # where rows end columns begin, with 0 again
        for number, (name, value) in enumerate({**dict.fromkeys(units, 0), **values}.items()):
            print(number, name, value, 0, file=file)
    if "max" in program.split()[:9]:
        print("Coin0506I CoinLpIO::readLp(): Maximization problem reformulated as minimization")
    print("Result - Optimal solution found\\nObjective value: ", objective)

def answer_all():
    upper = dict(re.findall(r"<= (x\\d+) <= (\\d+)", program))
    gains = re.findall(r"([+-]\\d+) (x\\d+)", program[: program.index("s.t.")])
    answer(dict.fromkeys(units, 1), sum(int(gain) * int(upper.get(name, 1)) for gain, name in gains))
"""

_GLPSOL = """
if "--write" not in arguments:
    print("GLPSOL: GLPK LP/MIP Solver, v4.65")
    sys.exit()
written = arguments[arguments.index("--write") + 1]

def answer(objective, value):
    subprocess.run([{real}, *arguments], stdout=subprocess.DEVNULL)
    lines = open(written).read().splitlines()
    with open(written, "w") as file:
        for line in lines:
            words = line.split()
            if words[:2] == ["s", "mip"]:
                line = " ".join([*words[:5], str(objective)])
            elif words[0] == "j":
                line = " ".join([*words[:2], str(value(words[2]))])
            print(line, file=file)
"""


def fake_cbc(folder: Path, does: str) -> None:
    """Write a program cbc that answers to ``-v``, and solves by the statements `does`.

    The statements can use ``units`` (the names of the binary columns), ``answer(values, objective)``, ``answer_all()``
    (all units, which is right in the warm-up) and ``hang()``.
    """
    _write(folder / "cbc", _HEAD.format(python=sys.executable) + _CBC + does)


def fake_glpsol(folder: Path, does: str) -> None:
    """Write a program glpsol that answers to ``--version``, and solves by the statements `does`.

    The statements can use ``answer(objective, value)``, which runs the real GLPK and replaces its objective and values
    (`value` is a function of the true value of each column), and ``hang()``.
    """
    real = shutil.which("glpsol")
    if real is None and "answer(" in does:
        pytest.skip("GLPK is not installed")
    _write(folder / "glpsol", _HEAD.format(python=sys.executable) + _GLPSOL.replace("{real}", repr(real)) + does)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


PROGRAMS = ("cbc", "glpsol")


def first_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Put a folder first on the PATH, for Pyomo too; import Pyomo now, so that no time limit pays for its import."""
    import pyomo.environ  # noqa: F401

    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    forget_programs()


def forget_programs() -> None:
    """Make Pyomo search the PATH again, because it remembers the programs that it has found."""
    from pyomo.common import Executable

    for name in PROGRAMS:
        Executable(name).rehash()
