"""Check that unneeded modules are not loaded, so that `import optsum` and `optsum --help` answer at once.

No time is measured, because it depends on the machine; the slow modules are named instead.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from api import public_names

import optsum
from optsum.registry import PUBLIC_NAMES

HEAVY = ("deap", "highspy", "loky", "networkx", "numba", "numpy", "pandas", "pyomo", "scipy", "sentencex")

_LOADED = "import json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
_HELP = """
import contextlib, io, sys
from optsum.cli import main
for arguments in (["--help"], ["solve", "--help"], ["compare", "--help"]):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as shown:
        main(arguments)
    assert "Usage" in shown.getvalue(), (arguments, shown.getvalue())
"""


def loaded_after(code: str) -> set[str]:
    """Return the top-level modules that a new interpreter has loaded after running some code."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{_LOADED}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_importing_optsum_loads_nothing_heavy() -> None:
    loaded = loaded_after("import optsum; assert optsum.__version__; assert 'solve' in dir(optsum)")
    assert "optsum" in loaded
    assert loaded.intersection((*HEAVY, "pydantic", "rich", "typer")) == set()


def test_help_loads_nothing_heavy() -> None:
    loaded = loaded_after(_HELP)
    assert "typer" in loaded
    assert loaded.intersection(HEAVY) == set()


_SOLVED = """
import contextlib, io, sys
from optsum.cli import main
topic = '{"id": "t", "documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}'
with open("topics.jsonl", "w") as file:
    file.write(topic)
with contextlib.redirect_stdout(io.StringIO()):
    assert main(["solve", "topics.jsonl", "--max-length", "4", "-o", "rows.jsonl"]) == 0
late = ("choices", "branch_and_bound", "engine", "milp", "executors", "oracles")
print([name for name in sys.modules if name.startswith("optsum.") and name.endswith(late)])
"""


def test_a_small_topic_loads_neither_other_strategies_nor_what_others_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = loaded_after(f"{_SOLVED}assert not _late, _late".replace("print(", "_late = (", 1))
    assert loaded.isdisjoint({"numba", "highspy", "multiprocessing", "loky"})


def test_a_loaded_module_is_found() -> None:
    assert "numpy" in loaded_after("from optsum import CoverageProblem")


STUB = Path(optsum.__file__ or "").with_suffix(".pyi")
STUB_BEGINS = '''"""Names of `optsum`, for type checkers; ``python tests/unit/test_startup.py`` writes this file."""

from typing import Any

from optsum._version import __version__ as __version__
'''


def stub() -> str:
    """Return the stub with the imports behind each public name, as type checkers read it."""
    lines = sorted(f"from {module} import {name} as {name}\n" for name, module in optsum._HOME.items())
    return f"{STUB_BEGINS}{''.join(lines)}\ndef __getattr__(name: str) -> Any: ...\n"


def test_type_checkers_see_the_same_names() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "run: PYTHONPATH=tests/support python tests/unit/test_startup.py"
    assert sorted([*optsum._HOME, *PUBLIC_NAMES, "__version__"]) == sorted(public_names())


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
