"""How commands take topics: the argument, the flag that maps columns, and what is said of those that are recognised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias, cast

import typer

from optsum.cli.exits import DONE, tell
from optsum.corpus.sentences import splitter_of
from optsum.corpus.topic import AS_IS, BadTopic, Flat, Reading, Topic
from optsum.errors import OptionError, unknown_name
from optsum.options.options import Options, read_config
from optsum.report.messages import count_lines

Topics: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TOPICS",
        help="a file or folder of topics, of any format (docs/topics.md), or hf:NAME; - for standard input",
    ),
]

Map: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--map", metavar="KEY=COLUMN,...", help="columns of a data set: documents=article,references=highlights,id=id"
    ),
]


def _help(option: str) -> str:
    field = Options.model_fields[option]
    return f"{field.description} [{field.default}]" if field.default is not None else f"{field.description}"


@dataclass(frozen=True)
class ReadingFlags:
    """How texts become sentences, for commands without a model of options; each field is a flag."""

    language: Annotated[str | None, typer.Option(metavar="CODE", help=_help("language"))] = None
    splitter: Annotated[str | None, typer.Option(metavar="NAME", help=_help("splitter"))] = None
    flat: Annotated[str | None, typer.Option(metavar="sentences|texts", help=_help("flat"))] = None

    def reading(self) -> Reading:
        """Return how texts become sentences; what cannot be is refused."""
        flat = self.flat
        if flat is not None and flat not in {"sentences", "texts"}:
            raise unknown_name("kind of flat list", flat, ["sentences", "texts"])
        return Reading(splitter_of(self.language or "en", self.splitter or "sentencex"), cast("Flat | None", flat))


Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="only the first N topics [all]")
]


def open_topics(
    path: str, columns: str | Mapping[str, str] | None, reading: Reading = AS_IS, limit: int | None = None
) -> Iterator[Topic | BadTopic]:
    """Read topics, or the first of them; which columns were recognised is said on the standard error output."""
    from optsum.corpus.topics import topics_read

    def told(sentence: str) -> None:
        tell(sentence, DONE)

    return islice(topics_read(path, reading, columns, told), limit)


def count_topics(path: str, limit: int | None) -> int | None:
    """Return how many topics there will be; None where only reading them would tell."""
    lines = count_lines(path)
    return limit if lines is None else lines if limit is None else min(lines, limit)


def columns_of(config: str | Path, also: Iterable[str] = ()) -> str | Mapping[str, str] | None:
    """Return which columns of the topics are what, as a file of options says it: ``map``, a text or a table.

    `also` are options of the command that reads it.

    Raises
    ------
    OptionError
        As `read_config`, or if it is neither.
    """
    said = read_config(config, also=also).get("map")
    if isinstance(said, Mapping) and all(isinstance(path, str) for path in said.values()):
        return dict(said)
    if said is not None and not isinstance(said, str):
        raise OptionError(f'{config}: map is no text and no table of texts: write map = "documents=COLUMN,..."')
    return said
