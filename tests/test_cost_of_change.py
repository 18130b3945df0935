"""Check the cost of change: six small additions, applied to a copy of the sources, work on the command line.

Each addition is as short as possible and touches no more files than a contributor should have to. All six are made in
one copy, laid out as an installed package.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any, Final, TypeAlias

import pytest
from processes import answers_of
from sources import FOLDERS, ROOT

NEWS = ROOT / "examples" / "data" / "news.jsonl"

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in (*FOLDERS, "examples")),
    reason="the source tree is not beside the tests",
)

REGISTRY = "optsum/registry.py"

METRIC: Final = {
    "optsum/metrics/rouge.py": [
        (
            '        "similarity": "optsum',
            '        "initials": "optsum.metrics.rouge:Initials",\n        "similarity": "optsum',
        ),
        (
            "class _Several(Metric):",
            '''class Initials(Metric):
    """The first letters of the words."""

    form: ClassVar[str] = "initials"
    about: ClassVar[str] = "the first letters of the words"

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        """Return the first letters."""
        return [(token[0],) for token in tokens]


class _Several(Metric):''',
        ),
    ]
}
STRATEGY: Final = {
    REGISTRY: [('        "greedy": ', '        "last": "optsum.heuristics.last:Last",\n        "greedy": ')],
    "heuristics/last.py": '''"""A baseline."""

from dataclasses import dataclass
from typing import ClassVar

from optsum.contracts.strategy import Run, Strategy


@dataclass(frozen=True)
class Last(Strategy):
    """The last sentence that fits."""

    name: ClassVar[str] = "last"
    about: ClassVar[str] = "the last sentence that fits"

    def search(self, run: Run) -> None:
        """Take it."""
        run.see(next(((unit,) for unit in reversed(range(run.problem.size)) if run.problem.fits((unit,))), ()))
''',
}
BACKEND: Final = {
    REGISTRY: [
        ('        "cp-sat": ', '        "all-subsets": "optsum.solvers.backends.subsets:Subsets",\n        "cp-sat": ')
    ],
    "solvers/backends/subsets.py": '''"""A solver that tries all subsets."""

from itertools import product

import numpy as np

from optsum.contracts.backend import Availability, Backend, RawOutcome
from optsum.contracts.backend import Declaration, Ending
from optsum.system.clock import Termination
from optsum.system.clock import Limits
from optsum.problem.problem import Problem, Selection


class Subsets(Backend):
    """All subsets of the units."""

    name = "all-subsets"
    about = "tries all subsets"
    declaration = Declaration(install="nothing", licence="free", statuses={"done": Ending.OPTIMAL})

    def available(self) -> Availability:
        """Return that it is here."""
        return Availability(usable=True, version="1")

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Try them."""
        ways = (tuple(np.flatnonzero(way).tolist()) for way in product((0, 1), repeat=problem.size))
        best = max((way for way in ways if problem.fits(way)), key=lambda way: problem.evaluate(way).key)
        return RawOutcome(termination=Termination.COMPLETED, optimal=True, selection=best, native="done")
''',
}
FORMULATION: Final = {
    REGISTRY: [
        ('        "cover": ', '        "openings": "optsum.formulations.openings:Openings",\n        "cover": ')
    ],
    "formulations/openings.py": '''"""Extracts of first sentences."""

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from optsum.corpus.topic import Topic
from optsum.problem.problem import CoverageProblem
from optsum.problem.formulation import Formulation, Spec
from optsum.problem.objective import Counted, Extract


@dataclass(frozen=True)
class Openings(Formulation):
    """The first sentence of each document."""

    name: ClassVar[str] = "openings"
    about: ClassVar[str] = "the first sentence of each document"

    def build(self, topic: Topic, spec: Spec) -> Extract:
        """Return the problem of a topic."""
        units = [0, *accumulate(map(len, topic.documents[:-1]))]
        instance = Counted.of(topic, spec).of_sentences([topic.sentences[unit] for unit in units])
        return Extract.of(topic, spec, CoverageProblem.of(instance), units)
''',
}
READER: Final = {
    "optsum/corpus/topics.py": [
        (
            '    if first.startswith(b"["):\n        return array_records(lines, name)\n',
            (
                '    if first.startswith(b"["):\n        return array_records(lines, name)\n'
                '    if first.startswith(b"# topic "):\n        return _headed(lines, name)\n'
            ),
        ),
        (
            "def _summaries(",
            '''def _headed(lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield topics of lines: a heading with the name, the reference after "=", and the sentences."""
    topic: dict[str, object] = {}
    documents: list[str] = []
    for number, raw in lines:
        text = raw.decode().strip()
        if text.startswith("# topic "):
            if topic:
                yield Line(f"{name}:{number}", topic)
            documents = []
            topic = {"id": text.removeprefix("# topic "), "documents": [documents]}
        elif text.startswith("="):
            topic["references"] = [[text[1:].strip()]]
        else:
            documents.append(text)
    yield Line(name, topic)


def _summaries(''',
        ),
    ]
}
OPTION: Final = {
    "heuristics/baselines.py": [
        (
            '    name: ClassVar[str] = "lead"\n',
            '    skip: int = 0\n    """Sentences that are left out."""\n    name: ClassVar[str] = "lead"\n',
        ),
        (
            "_take(run, list(run.problem.entries()), stop=True)\n",
            "_take(run, list(run.problem.entries())[self.skip :], stop=True)\n",
        ),
    ]
}
CHANGES: Final[dict[str, tuple[int, Any]]] = {
    "metric": (1, METRIC),
    "strategy": (2, STRATEGY),
    "backend": (2, BACKEND),
    "formulation": (2, FORMULATION),
    "reader": (1, READER),
    "option": (1, OPTION),
}
"""Addition -> how many files of production it may touch, and file -> its text, or pairs of old and new text."""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the changed sources, laid out as an installed package."""
    place = tmp_path_factory.mktemp("changed")
    for folder in FOLDERS:
        to = place / folder if folder == "optsum" else place / "optsum" / folder
        copytree(ROOT / folder, to, ignore=ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for _, change in CHANGES.values():
        for name, edits in change.items():
            path = place / name if name.startswith("optsum/") else place / "optsum" / name
            text = edits if isinstance(edits, str) else path.read_text("utf-8")
            for old, new in [] if isinstance(edits, str) else edits:
                assert text.count(old) == 1, f"{name} has no single {old!r}"
                text = text.replace(old, new)
            path.write_text(text, "utf-8")
    return place


COMMANDS: Final = {
    "metric": (str(NEWS), "--metric", "initials", "--max-length", "10"),
    "strategy": (str(NEWS), "--strategy", "last", "--max-length", "30"),
    "formulation": (str(NEWS), "--formulation", "openings", "--max-length", "60"),
    "no option": (str(NEWS), "--strategy", "lead", "--max-length", "60"),
    "option": (str(NEWS), "--strategy", "lead", "--max-length", "60", "--strategy-option", "skip=1"),
    "backend": ("few", "--strategy", "milp", "--max-length", "4", "--backend", "all-subsets"),
    "no backend": ("few", "--strategy", "milp", "--max-length", "4"),
    "reader": ("headed", "--max-length", "3"),
}
"""Arguments of `optsum solve` by the addition that they use."""


Rows: TypeAlias = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def rows(changed: Path) -> Rows:
    """Return the rows of all commands, with interpreted kernels, because compiling all of them takes minutes."""
    few = {"id": "few", "documents": [["a b", "b c", "d e f"]], "references": [["a b c d"]]}
    (changed / "few").write_text(json.dumps(few))
    (changed / "headed").write_text("# topic one\n= a b c\na b d\nc e f\n# topic two\n= x y\nx y z\n")
    commands = [["solve", *arguments] for arguments in COMMANDS.values()]
    environment = {**os.environ, "PYTHONPATH": str(changed), "OPTSUM_PATIENCE": "60"}
    found = {}
    for name, done in zip(COMMANDS, answers_of(commands, env=environment, cwd=changed), strict=True):
        assert done.returncode == 0, done.stderr
        found[name] = [json.loads(line) for line in done.stdout.splitlines()]
    return found


@pytest.mark.parametrize("kind", CHANGES)
def test_an_addition_touches_few_files(kind: str) -> None:
    most, change = CHANGES[kind]
    assert len(change) <= most


def test_a_metric(rows: Rows) -> None:
    row, *_ = rows["metric"]
    assert row["status"] == "optimal"
    assert "|metric:initials|" in f"|{row['signature']}"


def test_a_strategy(rows: Rows) -> None:
    for row in rows["strategy"]:
        assert (row["strategy"], len(row["selection"])) == ("last", 1)


def test_a_backend(rows: Rows) -> None:
    (own,), (other,) = rows["backend"], rows["no backend"]
    assert (own["backend"], own["objective"], own["selection"]) == ("all-subsets", other["objective"], [0, 1])


def test_a_formulation(rows: Rows) -> None:
    for row in rows["formulation"]:
        assert (row["formulation"], row["status"]) == ("openings", "optimal")


def test_a_reader(rows: Rows) -> None:
    assert [(row["id"], row["selection"]) for row in rows["reader"]] == [("one", [0]), ("two", [0])]


def test_an_option(rows: Rows) -> None:
    plain, skipping = rows["no option"], rows["option"]
    assert [row["selection"][0] for row in plain] == [0] * len(plain)
    assert [row["selection"][0] for row in skipping] == [1] * len(plain)
    assert {row["config_hash"] for row in plain}.isdisjoint(row["config_hash"] for row in skipping)
