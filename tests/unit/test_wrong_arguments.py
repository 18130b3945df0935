"""Arguments of the wrong type are refused in one sentence that names them, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsum
from optsum import Optima, OptsumError, Problem

TOPIC = {"id": "t", "documents": [["a b", "b c"]], "references": [["a b c"]]}
EXPERIMENT = {"topics": "t.jsonl", "grid": {"max_length": [2]}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text(json.dumps(TOPIC) + "\n")
    return tmp_path


PATHS: dict[str, Callable[[Any], Any]] = {
    "configuration": lambda path: optsum.solve(TOPIC, max_length=2, config=path),
    "system summaries": optsum.read_systems,
    "program": Problem.from_mps,
    "optima": Optima.load,
    "table": optsum.to_frame,
    "folder of a run": optsum.status,
    "folders to merge": lambda path: optsum.merge(path, "merged"),
    "folder to merge": lambda path: optsum.merge([path], "merged"),
    "folder of the merged run": lambda path: optsum.merge(["run"], path),
    "folder of the run": lambda path: optsum.run(EXPERIMENT, path),
    "folder of the export": lambda path: optsum.export([TOPIC], path, max_length=2),
    "solutions": lambda path: optsum.import_solutions([TOPIC], path, max_length=2),
    "output": lambda path: optsum.write_page([], path),
    "alignments": lambda path: list(optsum.align([TOPIC], alignments=path)),
}


@pytest.mark.parametrize("value", [5, 3.5, True, b"x"])  # 5 could be the number of an open file
@pytest.mark.parametrize("what", PATHS)
def test_what_is_no_path_is_refused(what: str, value: Any, folder: Path) -> None:
    with pytest.raises(OptsumError, match=f"{what}.* {value!r}[:.]"):
        PATHS[what](value)
    assert [path.name for path in folder.iterdir()] == ["t.jsonl"]


OTHERS: dict[str, Callable[[Any], Any]] = {
    "columns": lambda value: optsum.solve(TOPIC, max_length=2, columns=value),
    "language": lambda value: optsum.read_topics("t.jsonl", language=value),
    "splitter": lambda value: optsum.read_topics("t.jsonl", splitter=value),
    "embed": lambda value: optsum.solve(TOPIC, max_length=2, metric="similarity", embed=value),
    "formulation": lambda value: optsum.solve(TOPIC, max_length=2, formulation=value),
    "study": lambda value: optsum.study(value, [TOPIC]),
    "strategy": lambda value: optsum.compare([TOPIC], max_length=2, exact=value),
    "format": lambda value: optsum.export([TOPIC], "out", value, max_length=2),
    "shard": lambda value: optsum.run(EXPERIMENT, "run", shard=value, progress=False),
    "limit": lambda value: optsum.run(EXPERIMENT, "run", limit=value, progress=False),
    "executor": lambda value: list(optsum.solve_all([TOPIC], max_length=2, executor=value)),
    "rows": lambda value: optsum.write_page(value, "page.html"),
    "title": lambda value: optsum.write_page([optsum.solve(TOPIC, max_length=2)], "page.html", title=value),
}


@pytest.mark.parametrize("value", [[], {}, {1}, b"x", 2.5, Decimal("0.5"), Fraction(1, 2), date(2020, 1, 1), object()])
@pytest.mark.parametrize("what", OTHERS)
def test_other_arguments_are_named(what: str, value: Any, folder: Path) -> None:
    if (what, value) in [("columns", {}), ("rows", []), ("rows", {1})]:  # allowed here, and refused for what is missing
        value = 5
    with pytest.raises(OptsumError, match=rf"(?i)\b{what}\b|There is no {what}"):
        OTHERS[what](value)
    assert {path.name for path in folder.iterdir()} <= {"t.jsonl", "run"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: optsum.write_page([5], "page.html"), "A int is neither a result nor a row"),
        (lambda: optsum.to_frame([5]), "A int is neither a result nor a row"),
        (
            lambda: optsum.solve(TOPIC, max_length=2, metric="similarity", embed=lambda _: 5),
            "a value of type int",
        ),
        (lambda: list(optsum.solve_all([TOPIC], max_length=2, executor=lambda: 5)), "executor returns 5"),
        (lambda: optsum.solve({**TOPIC, "id": np.array([1, 2])}, max_length=2), "the id of a topic is of type ndarray"),
        (lambda: optsum.solve(TOPIC, max_length=2, start=np.array(5)), "start is array"),
        (lambda: optsum.solve([b"a"], "a", max_length=2), "sentence 0 of the document is of type bytes"),
        (lambda: optsum.solve("a b", ["a", None], max_length=2), "sentence 1 of the summary is null"),
        (lambda: optsum.solve("t.jsonl", "a", max_length=2), "the document is 't.jsonl', a path"),
        (lambda: optsum.read_topics("t.jsonl", bad="ignore"), "there is no value 'ignore' of bad"),
        (lambda: optsum.read_topics("t.jsonl", flat="text"), "did you mean texts"),
        (lambda: optsum.as_topic(TOPIC, lines="no"), "lines is 'no'; give true or false"),
        (lambda: optsum.Analyzer(stem="no"), "stem is 'no'; give true or false"),  # type: ignore[arg-type]
        (lambda: optsum.Analyzer(stopwords=b"the"), "stopwords is b'the'"),  # type: ignore[arg-type]
        (lambda: optsum.Analyzer(stopwords=[None]), "stopwords is"),  # type: ignore[arg-type]
        (lambda: optsum.Analyzer(tokenizer=[]), "tokenizer is"),
        (lambda: optsum.rouge("a", ["a"], stemmer=""), "stemmer"),
        (lambda: optsum.solve(TOPIC, max_length=2, workers=10**30), "workers"),
    ],
)
def test_what_a_value_holds_or_returns_is_named(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(OptsumError, match=said):
        call()


FLAGS: dict[str, Callable[[Any], Any]] = {
    "resume": lambda value: optsum.run(EXPERIMENT, "run", resume=value, progress=False),
    "details": lambda value: optsum.run(EXPERIMENT, "run", details=value, progress=False),
    "progress": lambda value: optsum.run(EXPERIMENT, "run", progress=value),
    "soft": lambda value: optsum.labels([TOPIC], max_length=2, soft=value),
    "diverse": lambda value: optsum.labels([TOPIC], max_length=2, all_=2, diverse=value),
    "weighted": lambda value: optsum.labels([TOPIC], max_length=2, soft=True, within=0.1, weighted=value),
    "details of a comparison": lambda value: optsum.compare([TOPIC], ["greedy"], max_length=2, details=value),
    "keep_results": lambda value: optsum.compare([TOPIC], ["greedy"], max_length=2, keep_results=value),
    "optima": lambda value: optsum.frontier(TOPIC, max_length=2, optima=value),
    "greedy": lambda value: optsum.frontier(TOPIC, max_length=2, greedy=value),
    "overwrite": lambda value: optsum.write_page([optsum.solve(TOPIC, max_length=2)], "page.html", overwrite=value),
    "minimal": lambda value: optsum.enumerate_optima(TOPIC, max_length=2).to_result(minimal=value),
}


@pytest.mark.parametrize("what", FLAGS)
def test_what_is_neither_true_nor_false_is_refused(what: str, folder: Path) -> None:
    name = what.partition(" ")[0]
    for value in ("no", 1, None, [], np.array([True, False])):
        with pytest.raises(optsum.OptionError, match=rf"The option {name} is .*; give true or false\."):
            FLAGS[what](value)
    assert [path.name for path in folder.iterdir()] == ["t.jsonl"]
    FLAGS[what](np.True_)


def test_where_no_model_can_be_given_vectors_of_topics_are_advised() -> None:
    for call in (optsum.enumerate_optima, optsum.frontier, optsum.context):
        with pytest.raises(optsum.OptionError, match=r"optsum\.with_vectors adds the vectors"):
            call(TOPIC, max_length=2, embed=len)  # type: ignore[operator]
    for several in (optsum.compare, optsum.labels):
        with pytest.raises(optsum.OptionError, match=r"optsum\.with_vectors adds the vectors"):
            several([TOPIC], max_length=2, embed=len)  # type: ignore[operator]
