"""Check that options are passed down once: how often `optsum solve` returns to a module that had passed them on."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import pytest

import optsum
from optsum.cli import main
from optsum.options.options import Options
from optsum.running import one_problem as setup
from optsum.running.one_problem import Setup

NEWS = Path(__file__).parents[2] / "examples" / "data" / "news.jsonl"
CODE = str(Path(str(optsum.__file__)).parents[1])
MOST = 12


@dataclass
class Descent:
    """The calls between modules that pass the options or their setup.

    `calls` has each pair of a module and a function once, in the order of the run.
    """

    calls: list[tuple[str, str, str]] = field(default_factory=list)

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Record a call; the function for `sys.setprofile`."""
        here, code = _module(frame), frame.f_code
        if event != "call" or not here or code.co_name.startswith("<"):
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        if not any(isinstance(each[0] if isinstance(each, list) and each else each, Options | Setup) for each in given):
            return
        above = frame.f_back
        while above is not None and not _module(above):
            above = above.f_back
        call = (_module(above), here, code.co_qualname) if above is not None else ("", here, code.co_qualname)
        if call[0] != here and call not in self.calls:
            self.calls.append(call)

    def returns(self) -> list[tuple[str, str, str]]:
        """Return the calls into a module that had the options earlier, and from which they had moved on."""
        entered: list[str] = []
        found = []
        for call in self.calls:
            if call[1] in entered and entered[-1] != call[1]:
                found.append(call)
            entered.append(call[1])
        return found


def _module(frame: FrameType) -> str:
    """Return the project's module of a frame, or "" for other code."""
    file = frame.f_code.co_filename
    name = file.removeprefix(CODE)[1:].removesuffix(".py").replace("/", ".") if file.startswith(CODE) else ""
    return name if name.split(".")[0] in {"optsum", "formulations", "heuristics", "solvers"} else ""


def traced(arguments: list[str]) -> Descent:
    """Return the calls of a command with options, after a first run without recording."""
    assert main(arguments) == 0  # loads kernels, solvers and late imports
    setup.setup_of.cache_clear()
    descent = Descent()
    sys.setprofile(descent.profile)
    try:
        assert main(arguments) == 0
    finally:
        sys.setprofile(None)
    return descent


@pytest.mark.parametrize("strategy", ["greedy", "milp"])
def test_options_come_back_rarely(strategy: str, tmp_path: Path) -> None:
    out = str(tmp_path / "rows.jsonl")
    command = [
        "solve",
        str(NEWS),
        "--max-length",
        "40",
        "--strategy",
        strategy,
        "--limit",
        "1",
        "-o",
        out,
        "--overwrite",
    ]
    done = subprocess.run([sys.executable, __file__, *command], capture_output=True, text=True, check=True)
    descent = Descent([tuple(call) for call in json.loads(done.stdout.splitlines()[-1])])
    way = "\n".join(f"{'back ' * (call in descent.returns())}{call}" for call in descent.calls)
    modules = {module for _, module, _ in descent.calls}
    assert {"optsum.running.one_problem", "optsum.cli.loop"} <= modules, way
    assert len(descent.returns()) <= MOST, way


def test_a_return_is_found() -> None:
    one = [("", "a", "f"), ("a", "b", "g"), ("b", "b.c", "h"), ("b", "b.c", "i")]
    assert Descent(one).returns() == []
    assert Descent([*one, ("b", "a", "back")]).returns() == [("b", "a", "back")]


if __name__ == "__main__":
    print(json.dumps(traced(sys.argv[1:]).calls))
