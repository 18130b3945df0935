"""Problems that are given where topics may be: the options that they are solved with follow from the first of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from optsum.corpus.topic import Topic
from optsum.corpus.topics import is_program, read_topics
from optsum.coverage.instance import Sense
from optsum.coverage.normal_form_json import FORMAT
from optsum.options.options import read_config
from optsum.problem.problem import Problem
from optsum.registry import CHOOSER, FORMULATIONS, PROVER
from optsum.system.files import begin_of

__all__ = ["posed", "prover_of"]

_BEGIN: Final = 4096
_FORMULATION: Final = {Sense.MAXIMIZE: "problem", Sense.MINIMIZE: "problem:minimize"}


def posed(given: Any, options: Mapping[str, Any], config: str | Path | None = None) -> tuple[Any, dict[str, Any]]:
    """Return problems or topics, to be iterated over once, and the options that they are solved with.

    Parameters
    ----------
    given : topics, problems, the path of a file of either, or ``module.py:function``
        A problem by itself is returned as a topic.
    options : mapping
        Of which the formulation is added, unless it is there, where the first that is given is a problem.
    config : path, optional
        A file of options, which may name the formulation.
    """
    found = dict(options)
    named = found.get("formulation") is not None or (config is not None and "formulation" in read_config(config))
    if isinstance(given, Problem):
        topic = given.as_topic()
        given = topic if topic.id else _named(topic, "problem")
        first: Any = topic
    elif isinstance(given, str | os.PathLike):
        first = _first_of_file(given) if not named else None
    elif isinstance(given, list | tuple | Iterator):
        items = iter(given)
        first = next(items, None)
        if isinstance(given, Iterator):
            given = chain(() if first is None else (first,), items)
        if isinstance(first, Problem) or getattr(first, "problem", None) is not None:
            given = _numbered(given)
    else:
        first = None
    sense = _sense(first)
    if sense is not None and not named:
        found["formulation"] = _FORMULATION[sense]
    return given, found


def prover_of(options: Mapping[str, Any]) -> str:
    """Return the strategy that finds all optima if none is named: for problems that are given, what serves each."""
    name = options.get("formulation")
    return PROVER if name is None or FORMULATIONS.load(name).reads_topics else CHOOSER


def _sense(first: Any) -> Sense | None:
    """Return what a problem is to do; None for what is none."""
    if isinstance(first, Topic):
        first = first.problem
    if isinstance(first, Mapping) and first.get("format") == FORMAT:
        return Sense.MINIMIZE if first.get("goal") == Sense.MINIMIZE.value else Sense.MAXIMIZE
    return first.sense if isinstance(first, Problem) else None


def _numbered(given: Iterable[Any]) -> Iterator[Any]:
    """Yield problems as topics; one without a name is called by its number, from 0."""
    for number, each in enumerate(given):
        if isinstance(each, Problem):
            topic = each.as_topic()
            yield topic if topic.id else _named(topic, str(number))
        else:
            yield each


def _named(topic: Topic, name: str) -> Topic:
    return Topic(name, topic.documents, problem=topic.problem)


def _first_of_file(path: str | os.PathLike[str]) -> Any:
    """Return the first problem of a file, or of a function; None where that is a topic, or the standard input."""
    if is_program(path):
        return next(iter(read_topics(path)), None)
    if str(path) == "-" or not Path(path).is_file():
        return None
    begin = begin_of(path, _BEGIN) or b""
    if json.dumps(FORMAT).encode() not in begin:
        return None
    return next(iter(read_topics(path)), None)
