"""Summaries of systems, with human scores, in any format of topics; the source sentences that they took."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optsum.corpus.formats.lines import Cells, Line, decoded
from optsum.corpus.sentences import json_type, well_formed
from optsum.corpus.topic import AS_IS, Reading, Text, Topic, as_id, reading_of
from optsum.corpus.topics import open_records, unique
from optsum.errors import InputError
from optsum.system.files import PathLike, is_meant, read_text
from optsum.text.lengths import joined
from optsum.text.tokenizers import Sentence, raw_text


@dataclass(frozen=True, slots=True)
class System:
    """One system's summary of one topic.

    Attributes
    ----------
    topic_id, system : str
    summary : tuple of sentences or None
        The text; None if only the selection or human scores are known.
    selection : tuple of int or str or None
        Sentences of an extract, in the given order: unit numbers, or the cover's names of the sentences.
    human : mapping of str to float
        Human scores by name, without those that are null in the input.
    source : str
        Where it was read, ``file:line``.
    place : int or None
        The number of the topic, from 0, if nothing else is known of it (plain text with a summary on each line); then
        it is also the `topic_id`.
    """

    topic_id: str
    system: str
    summary: Text | None = None
    selection: tuple[int | str, ...] | None = None
    human: Mapping[str, float] = field(default_factory=dict, hash=False)
    source: str = ""
    place: int | None = None


@dataclass(frozen=True, slots=True)
class BadSystem:
    """A line of a systems file that cannot be used."""

    source: str  # ``file:line``.
    error: str  # What is wrong, without the source.


def system_of(obj: object, reading: Reading = AS_IS, source: str = "") -> System:
    """Return a system's summary from its JSON form, checked.

    `obj`: with ``topic_id``, ``system``, and ``summary`` (a list of sentences or one raw text), ``selection`` (a list
    of unit numbers or sentence ids) or both, and perhaps ``human`` (numbers by name), which may also be alone. Or a row
    of `optsum solve`, `compare`, `enumerate` or `labels`: its strategy is the system.
    """
    if isinstance(obj, System):
        return obj
    obj = obj.record() if isinstance(obj, Cells) else obj
    if not isinstance(obj, Mapping):
        raise InputError(f'a system summary is an object with "topic_id", "system" and "summary", not {json_type(obj)}')
    if "topic_id" not in obj and "strategy" in obj:
        obj = _of_row(obj)
    place = obj.get("place") if "topic_id" not in obj else None
    if place is not None:
        obj = {**obj, "topic_id": place}
    for key in ("topic_id", "system"):
        if obj.get(key) is None:
            raise InputError(f'there is no "{key}"; give it beside "summary" or "selection"')
    summary, selection, human = obj.get("summary"), obj.get("selection"), _human(obj.get("human"))
    summary = None if summary == "" and (selection is not None or human) else summary  # an empty cell
    if summary is None and selection is None and not human:
        raise InputError('there is neither "summary" nor "selection"; give at least one of them')
    return System(
        as_id(obj["topic_id"], "the topic_id"),
        as_id(obj["system"], "the name of the system"),
        None if summary is None else reading.summary(summary, "summary"),
        None if selection is None else _selection(selection),
        human,
        source,
        place,
    )


def _of_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row of results as the summary of a system: its text, and the sentences of an extract."""
    if (labels := row.get("labels")) is not None:  # of `optsum labels`
        chosen = [unit for unit, label in enumerate(labels) if label]
        sentences = row.get("sentences")
        text = None if sentences is None else [sentences[unit] for unit in chosen]
        return {"topic_id": row.get("id"), "system": row["strategy"], "summary": text, "selection": chosen}
    if row.get("selection") is None:
        reason = row.get("error") or "its status is " + str(row.get("status"))
        raise InputError(f"this row of results has no summary ({reason}); leave it out")
    found = {"topic_id": row.get("id"), "system": row["strategy"], "summary": row.get("summary")}
    return found if row.get("formulation") == "compressive" else {**found, "selection": row["selection"]}


def _selection(value: object) -> tuple[int | str, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'"selection" is {json_type(value)}; give a list of unit numbers, or of sentence ids')
    for number, unit in enumerate(value):
        if isinstance(unit, bool) or not isinstance(unit, int | str) or (isinstance(unit, int) and unit < 0):
            raise InputError(f"selection[{number}] is {unit!r:.40}; units are whole numbers from 0, or sentence ids")
    if len(set(value)) < len(value):
        again = next(unit for place, unit in enumerate(value) if unit in value[:place])
        raise InputError(f"selection has unit {again!r:.40} twice; name each once")
    return tuple(value)


def _human(value: object) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f'"human" is {json_type(value)}; give an object of numbers by name')
    scores = {}
    for name, number in value.items():
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InputError(
                f"the human score {name!r} is {json_type(number)}; give a number, or null if there is none"
            )
        if not abs(number) <= sys.float_info.max:
            raise InputError(f"the human score {name!r} is not finite; give null if there is none")
        scores[str(name)] = float(number)
    return scores


def read_systems(
    path: PathLike, *, language: str = "en", splitter: str | Callable[..., Any] = "sentencex"
) -> Iterator[System | BadSystem]:
    """Open a file of system summaries and iterate over them.

    Parameters
    ----------
    path : str or path
        As for `optsum.read_topics`; also plain text with the summary of one topic on each line, named after the system,
        and a folder with a file ``SYSTEM/TOPIC.txt`` for each summary.
    language, splitter
        How raw texts become sentences (`optsum.as_topic`).

    Returns
    -------
    iterator of System or BadSystem
        One for each line that is not blank, in order; it never raises. A second summary of the same system
        for the same topic is a `BadSystem`.

    Raises
    ------
    InputError
        At once, before anything is read, if the file cannot be opened, is empty or has an unknown format.
    OptionError
        If the language code or the splitter is unknown.
    """
    return systems_read(path, reading_of(language=language, splitter=splitter))


def systems_read(path: PathLike, reading: Reading) -> Iterator[System | BadSystem]:
    """Read systems like `read_systems`, with resolved options."""
    folder = Path(path)
    files = [] if path == "-" or not folder.is_dir() else sorted(folder.glob("*/*.txt"))
    summaries = [file for file in files if is_meant(file.name) and is_meant(file.parent.name)]
    lines = map(_of_file, summaries) if summaries else decoded(open_records(path, what="system summary"))
    return unique((_system(line, reading) for line in lines), _name_of, _again)


def _of_file(file: Path) -> Line:
    source = well_formed(str(file))
    try:
        text = read_text(file, "")
    except InputError as error:
        return Line(source, None, str(error))
    return Line(source, {"topic_id": file.stem, "system": file.parent.name, "summary": text})


def _system(line: Line, reading: Reading) -> System | BadSystem:
    if line.error is not None:
        return BadSystem(line.source, line.error)
    try:
        return system_of(line.value, reading, line.source)
    except InputError as error:
        return BadSystem(line.source, str(error))


def _name_of(read: System | BadSystem) -> str | None:
    return f"{read.topic_id}\n{read.system}" if isinstance(read, System) else None


def _again(read: System | BadSystem) -> System | BadSystem:
    topic_id, system = (_name_of(read) or "").split("\n")
    return BadSystem(read.source, f"a second summary of system {system!r} for topic {topic_id!r}; give one")


@dataclass(frozen=True)
class SystemExtract:
    """The sentences of a summary, matched to those of the source."""

    units: tuple[int, ...]  # Sentences of the source, in order.
    others: int  # Sentences of the summary that are none of the source.

    @property
    def names(self) -> set[int | str]:
        """The source sentences that an oracle is compared with, and a name for each other sentence."""
        return {*self.units, *(f"other {number}" for number in range(self.others))}


def extract_of(topic: Topic, system: System) -> SystemExtract | None:
    """Return the source sentences of a summary; None if its text is not known.

    A sentence matches one of the source with the same letters and digits in any case; among equal ones, the first
    unmatched.
    """
    if system.selection is not None:
        units = {unit for unit in system.selection if isinstance(unit, int)}
        if len(units) == len(system.selection):
            return SystemExtract(tuple(sorted(units)), 0)
    if system.summary is None:
        return None
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for unit, sentence in enumerate(topic.sentences):
        places[_letters(sentence)].append(unit)
    found: list[int] = []
    others = 0
    for letters in filter(None, map(_letters, system.summary)):
        if places[letters]:
            found.append(places[letters].popleft())
        else:
            others += 1
    return SystemExtract(tuple(sorted(found)), others)


def _letters(sentence: Sentence) -> str:
    return "".join(filter(str.isalnum, raw_text(joined([sentence])).casefold()))
