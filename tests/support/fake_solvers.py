"""Programs that pretend to be CBC or GLPK: they lie, hang, crash and babble."""

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
    """Write a program cbc that answers for its version, and solves by the statements `does`.

    They have ``units`` (the names of binary columns), ``answer(values, objective)``, ``answer_all()`` (right where all
    units fit, as in warming up) and ``hang()``.
    """
    _write(folder / "cbc", _HEAD.format(python=sys.executable) + _CBC + does)


def fake_glpsol(folder: Path, does: str) -> None:
    """Write a program glpsol that answers for its version, and solves by the statements `does`.

    They have ``answer(objective, value)``, which has the true GLPK solve and changes its answer (`value` gets the true
    value of each column), and ``hang()``.
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
    """Let programs in a folder be found before all others, by Pyomo too; no limit pays for loading that."""
    import pyomo.environ  # noqa: F401

    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    forget_programs()


def forget_programs() -> None:
    """Let Pyomo look for programs again: it remembers where it found them, which another test would be given then."""
    from pyomo.common import Executable

    for name in PROGRAMS:
        Executable(name).rehash()
