"""How commands take topics: the argument, the flag that maps columns, and what is said of those that are recognised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias, cast

import typer

from optsum.cli.exits import DONE, tell
from optsum.corpus.formats.columns import parse_columns
from optsum.corpus.topic import AS_IS, BadTopic, Flat, Notes, Reading, Topic, reading_of
from optsum.errors import OptionError, unknown_name
from optsum.options.options import Options, read_config
from optsum.report.messages import count_lines
from optsum.system.files import name_of

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
    flat: Annotated[str | None, typer.Option(metavar="sentences|texts|tokens", help=_help("flat"))] = None
    lines: Annotated[bool | None, typer.Option("--lines/--no-lines", help=_help("lines"))] = None
    source_words: Annotated[int | None, typer.Option(metavar="N", min=1, help=_help("source_words"))] = None

    def reading(self) -> Reading:
        """Return how texts become sentences; what cannot be is refused."""
        flat = self.flat
        if flat is not None and flat not in {"sentences", "texts", "tokens"}:
            raise unknown_name("kind of flat list", flat, ["sentences", "texts", "tokens"])
        return reading_of(
            language=self.language or "en",
            splitter=self.splitter or "sentencex",
            flat=cast("Flat | None", flat),
            lines=self.lines,
            source_words=self.source_words,
        )


Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="only the first N topics [all]")
]


def open_topics(
    path: str, columns: str | Mapping[str, str] | None, reading: Reading = AS_IS, limit: int | None = None
) -> Iterator[Topic | BadTopic]:
    """Read topics, or the first of them.

    Which columns were recognised, and what is uncertain, is said on the standard error output.
    """
    from optsum.corpus.topics import topics_read

    def told(sentence: str) -> None:
        tell(sentence, DONE)

    mapped = None if columns is None else parse_columns(columns)
    return islice(topics_read(path, reading._replace(columns=mapped, notes=Notes(name_of(path), told))), limit)


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
