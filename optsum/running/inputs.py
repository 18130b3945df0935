"""Inputs of searches: topics or problems, which determine the formulation, and starting selections (``--start``)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from optsum.corpus.rows import read_rows
from optsum.corpus.topic import AS_IS, BadTopic, Reading, Topic, topic_of
from optsum.corpus.topics import makes_problems, read_topics, topics_of
from optsum.coverage.instance import Coverage, Sense
from optsum.coverage.normal_form_json import FORMAT
from optsum.errors import InputError, spoken
from optsum.options.options import read_config, refuse_of_texts
from optsum.problem.problem import Problem
from optsum.registry import DEFAULT_EXACT, DEFAULT_STRATEGY, FORMULATIONS
from optsum.running.each_topic import say_warned
from optsum.system.files import begin_of

_BEGIN: Final = 4096
_FORMULATION: Final = {Sense.MAXIMIZE: "problem", Sense.MINIMIZE: "problem:minimize"}


def posed(
    given: Any, options: Mapping[str, Any], config: str | Path | None = None, **of_texts: object
) -> tuple[Any, dict[str, Any]]:
    """Return problems or topics, to be iterated over once, and the options for them.

    `given`: a single problem is returned as a topic. `options`: if the first item is a problem, the formulation is
    added, unless it is given. `config`: a file of options, which may name the formulation. `of_texts`: arguments for
    reading texts, which are refused for problems.
    """
    found = dict(options)
    named = found.get("formulation") is not None or (config is not None and "formulation" in read_config(config))
    if isinstance(given, Problem):
        topic = given.as_topic()
        given = topic if topic.id else replace(topic, id="problem")
        first: Any = topic
    elif hasattr(given, "component_data_objects") or isinstance(given, Coverage):  # no problem yet: it is said how
        first = topic_of(given, AS_IS)
    elif isinstance(given, str | os.PathLike):
        first = _first_of_file(given) if not named else None
    elif isinstance(given, list | tuple | Iterator):
        items = iter(given)
        try:
            first = next(items, None)
        except Exception as error:  # noqa: BLE001 - options are refused first; whoever reads on is told
            first, items = None, _raising(error)
        if isinstance(given, Iterator):
            given = chain(() if first is None else (first,), items)
        if isinstance(first, Problem) or getattr(first, "problem", None) is not None:
            given = _numbered(given)
    else:
        first = None
    sense = _sense(first)
    if sense is not None:
        refuse_of_texts(**of_texts)
    if sense is not None and not named:
        found["formulation"] = _FORMULATION[sense]
    return given, found


def started(topics: Any, start: Any, reading: Reading) -> Any:
    """Add the starting selections to topics; `start`: units by id, or rows or results of an earlier run."""
    if start is None:
        return topics
    if isinstance(start, str | os.PathLike):
        start = _by_topic((row.get("id"), row.get("selection")) for row in read_rows(start))
    elif not isinstance(start, Mapping):
        start = _by_topic((result.id, result.selection) for result in start)
    return _with_starts(topics_of(topics, reading), start, reading)


def _by_topic(rows: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, units in rows:
        if units is not None and found.setdefault(str(name), units) != units:
            raise InputError(f"--start has two selections of {str(name)!r}: give the rows of one strategy.")
    return found


def _with_starts(topics: Iterable[Any], starts: Mapping[str, Any], reading: Reading) -> Iterator[Any]:
    """Yield topics with their starts, and report how many have none."""
    warned: Counter[str | None] = Counter()
    said = None
    for topic in topics:
        made, missing = topic, False
        with suppress(InputError):  # whoever searches it says why
            made = topic if isinstance(topic, Topic | BadTopic) else topic_of(topic, reading)
        if isinstance(made, Topic):
            units = starts.get(made.id or "")
            made = made if units is None else replace(made, start=tuple(units))
            missing = made.start is None
        said = said or (spoken(f"--start has no selection for {made.id!r}") if missing else None)
        warned[said if missing else None] += 1
        yield made
    say_warned(warned)


def prover_of(options: Mapping[str, Any]) -> str:
    """Return the default strategy for enumerating optima."""
    name = options.get("formulation")
    return DEFAULT_EXACT if name is None or FORMULATIONS.load(name).reads_topics else DEFAULT_STRATEGY


def _sense(first: Any) -> Sense | None:
    """Return the goal of a problem; None for other objects."""
    if isinstance(first, Topic):
        first = first.problem
    if isinstance(first, Mapping) and first.get("format") == FORMAT:
        return Sense.MINIMIZE if first.get("goal") == Sense.MINIMIZE.value else Sense.MAXIMIZE
    return first.sense if isinstance(first, Problem) else None


def _numbered(given: Iterable[Any]) -> Iterator[Any]:
    """Yield problems as topics; one without a name is named by its number, from 0."""
    for number, each in enumerate(given):
        if isinstance(each, Problem):
            topic = each.as_topic()
            yield topic if topic.id else replace(topic, id=str(number))
        else:
            yield each


def _raising(error: Exception) -> Iterator[Any]:
    yield from ()
    raise error


def _first_of_file(path: str | os.PathLike[str]) -> Any:
    """Return the first problem of a file or function; None if it is a topic, or for the standard input."""
    if makes_problems(path):
        wrong = None
        for each in read_topics(path, bad="keep"):
            if isinstance(each, Topic):
                return each
            wrong = wrong or each
        if wrong is not None:
            raise InputError(f"{path} does not make problems: {wrong.error}")
        return None
    if str(path) == "-" or not Path(path).is_file():
        return None
    begin = begin_of(path, _BEGIN) or b""
    if json.dumps(FORMAT).encode() not in begin:
        return None
    return next(iter(read_topics(path, bad="keep")), None)
