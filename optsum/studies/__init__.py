"""Studies: the experiments of papers on any data, with their tables and figures.

A study is a subclass of `Study` whose fields are its options; it makes rows of a topic, and tables of rows. A line in
`_STUDIES` makes it available as ``optsum study NAME`` and ``optsum.study(name, ...)``.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property, partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field

from optsum.contracts.result import Result, Status
from optsum.corpus.topic import AS_IS, BadTopic, Reading, Text, Topic
from optsum.corpus.topics import AnyTopics, System, checked_systems, checked_texts, text_of, with_columns
from optsum.errors import InputError, OptionError, counted, located, unknown_name
from optsum.metrics.rouge import Score, rouge_all
from optsum.options.options import Options, columns_in, options_of, read_config, resolve, resolve_as
from optsum.plugins import load_place
from optsum.report.comparison import each_seed, seeds_of
from optsum.report.tables import Cell, Table, Tabular, shown
from optsum.running.each_topic import each_topic
from optsum.running.one_problem import Setup, answer, setup_of, unsolved
from optsum.system.clock import Termination
from optsum.text.analyzer import Sentence, cut_sentences, joined, raw_text, word_count

if TYPE_CHECKING:
    from optsum.report.figures import Figure


Row: TypeAlias = dict[str, Any]  # A JSON object that holds a finding about a topic.

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Submitted(Topic):
    """A topic with the summaries that systems made of it, in the order of the input."""

    systems: tuple[System, ...] = ()

    @classmethod
    def of(cls, topic: Topic, systems: Sequence[System] = ()) -> Self:
        return cls(**{one.name: getattr(topic, one.name) for one in fields(Topic) if one.init}, systems=tuple(systems))


@dataclass(frozen=True, slots=True)
class Cut:
    """The limit at which systems' summaries are cut: a number of words, a number of bytes, or none."""

    words: int  # 0 for no limit.
    bytes: int | None = None  # In UTF-8, with one blank between sentences; if given, `words` is ignored.

    def __str__(self) -> str:
        if self.bytes is not None:
            return f"systems cut after {self.bytes} bytes"
        return f"systems cut after {self.words} words" if self.words else "systems as they are"

    def text(self, summary: Sequence[Sentence]) -> list[Sentence]:
        if (left := self.bytes) is None:
            kept = cut_sentences(summary, self.words) if self.words else list(summary)
        else:
            kept = []
            for sentence in summary:
                text = raw_text(joined([sentence]))
                part = text.encode()[: max(0, left)].decode(errors="ignore")
                kept.append(sentence if part == text else part if isinstance(sentence, str) else tuple(part.split()))
                left -= len(text.encode()) + 1
        while kept and not (word_count(kept[-1]) if self.bytes is None else len(kept[-1])):
            kept.pop()
        return kept

    def system(self, system: System, text: Sequence[Sentence]) -> System:
        """Return a copy of a system with whole sentences up to the limit, so that an extract remains an extract."""
        count, selection = len(self.text(text)), system.selection
        if selection is not None and len(selection) == len(text):
            selection = selection[:count]
        return replace(system, summary=tuple(text[:count]), selection=selection)


def summary_of(topic: Topic, system: System) -> Sequence[Sentence]:
    """Return the sentences of a system's summary; `InputError` if it has only human scores."""
    if (text := text_of(topic, system)) is None:
        raise InputError("there are human scores, but no summary; give one")
    return text


def summaries_of(
    topic: Submitted, rows: list[Row], lines: Collection[str] = (), read: Callable[[Topic, System], Any] = summary_of
) -> Iterator[tuple[System, Any]]:
    """Yield each system with the result of `read`; for refused systems, or names in `lines`, add rows to `rows`."""
    for system in topic.systems:
        name = system.system
        try:
            if name in lines:
                raise InputError(  # noqa: TRY301 - as `read` does
                    f"No system can be called {name!r}, because the tables use this name: rename it."
                )
            text = read(topic, system)
        except InputError as error:
            reason = located(system.source, f"system {name!r}: {error}")
            rows.append({"kind": REFUSED, "system": name, "error": reason})
        else:
            yield system, text


def score_of(summary: Sequence[Sentence], references: Sequence[Text], setup: Setup) -> Score:
    """Return the score of a summary against all references together, by the metric and text analysis of a search."""
    tokens = all(isinstance(sentence, tuple) for text in (summary, *references) for sentence in text)
    how: dict[str, Any] = {name: getattr(setup.options, name) for name in ("counts", "boundaries", "model_units")}
    analyzer, metric = (setup.spec_of_tokens if tokens else setup.spec).analyzer, setup.options.metric
    return rouge_all(tuple(summary), references, [metric], analyzer=analyzer, last_unigram=True, **how)[metric]


REFUSED: Final = "refused"  # The kind of a row whose field ``error`` says why a summary could not be used.


def option(description: str, **limits: Any) -> Any:
    return Field(description=description, **limits)


@dataclass(kw_only=True)
class Study(Tabular):
    """The experiment of a paper, with its options and its findings so far.

    The fields of a subclass are its options, each ``Annotated[type, option(description)]``. The findings about a
    topic are a list of rows. Tables and figures are made of rows alone, so rows of an earlier run can be used, too.
    """

    name: ClassVar[str]  # Its name for `optsum study`.
    shown_only: ClassVar[frozenset[str]] = frozenset()  # Options that change tables, but no rows.

    paper: Annotated[bool, option("also show the paper's own values, where it prints them")] = False
    # Most searches take milliseconds; the limit keeps a few hard topics from delaying the study.
    time_limit: Annotated[float | None, option("seconds of search per problem", ge=0)] = 5.0
    workers: Annotated[int, option("number of processes", ge=1)] = 1
    # Rows of all finished topics, with the topic's ``id``, the ``kind`` of row, and the topic's number of ``rows``.
    rows: list[Row] = field(default_factory=list, init=False)
    failures: list[str] = field(default_factory=list, init=False)  # A sentence for each input that could not be used.
    missing: list[str] = field(default_factory=list, init=False)  # Ids of topics that occur only in systems' summaries.
    left_out: int = field(default=0, init=False)  # Number of topics that the study does not want (`wants`).
    interrupted: bool = field(default=False, init=False)  # Whether Ctrl-C ended the run before all topics were done.
    _kept: dict[str, list[Row]] = field(default_factory=dict, init=False)  # Rows of an earlier run, by topic.
    _systems: dict[str, dict[str, System]] = field(default_factory=dict, init=False)  # By topic and name.

    @property
    @abstractmethod
    def _searches(self) -> Mapping[Any, Sequence[Options]]:
        """The searches of each topic: a key of the study -> the options for each seed; bad ones raise `OptionError`."""

    def _options(self, names: str, **how: Any) -> Options:
        """Return the options of a search: the study's limits, its options `names`, and `how`, which overrides them."""
        shared = ("time_limit", "workers", *names.split())
        return resolve({**{name: getattr(self, name) for name in shared}, **how}, reports=False)

    def searches(self) -> Sequence[Options]:
        """Return the options of all searches; the first options also determine how topics are processed."""
        return list(chain.from_iterable(self._searches.values()))

    def _setups(self) -> dict[Any, list[Setup]]:
        return {way: list(map(setup_of, seeded)) for way, seeded in self._searches.items()}

    def _setup_of_each(self) -> dict[Any, Setup]:
        return {way: setup for way, (setup,) in self._setups().items()}

    @abstractmethod
    def work(self) -> Callable[[Submitted], list[Row]]:
        """Return the function that makes the rows of a topic; it must be picklable, for several workers."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables of the paper with the values found here; captions say what is missing."""

    def shown_tables(self) -> list[Table]:
        tables = self.tables()
        return [_beside(table, self.papers_values()) for table in tables] if self.paper else tables

    def papers_values(self) -> Mapping[str, Any]:
        return papers()[self.name]

    @abstractmethod
    def figures(self) -> list[Figure]:
        """Return the figures of the paper, or figures of its main table."""

    @classmethod
    def serves(cls, topic: Topic) -> bool:
        """Return whether a topic has everything that the study needs; by default a text and a reference."""
        return bool(topic.references and topic.sentences)

    def wants(self, topic: Topic) -> bool:
        del topic
        return True

    def reads(self, systems: Any, reading: Reading = AS_IS) -> Self:
        """Read the summaries of systems, as `optsum.score` does, before `run` is called; return the study itself."""
        self._systems = {}
        for system in checked_systems(systems, reading):
            if not isinstance(system, System):
                self.failures.append(located(system.source, system.error))
            elif system.system in (known := self._systems.setdefault(system.topic_id, {})):
                again = f"has two summaries of topic {system.topic_id!r}: the second is left out."
                self.failures.append(f"The system {system.system!r} {again}")
            else:
                known[system.system] = system
        vars(self).pop("config_hash", None)
        return self

    def resumes(self, rows: Iterable[Mapping[str, Any]]) -> Self:
        self._kept = grouped((row["id"], dict(row)) for row in rows)
        return self

    def run(
        self,
        topics: AnyTopics,
        done: Callable[[list[Row]], None] = lambda _: None,
        pull: Callable[[Generator[list[Result], None, None]], Iterable[list[Result]]] = iter,
    ) -> Self:
        """Process all topics and return the study; `done` gets each topic's rows, `pull` iterates over the results."""
        used: set[str] = set()
        try:
            setups = [setup_of(options) for options in self.searches()]
            work = partial(_found, work=self.work(), setup=setups[0])
            for batch in pull(each_topic(self._pending(topics, used), setups, work)):
                if errors := [result.error for result in batch if result.error is not None]:
                    self.failures.append(errors[0])
                    continue
                for found in (result.extra[_ROWS] for result in batch):
                    marks = {"rows": len(found), "study": self.name, "config_hash": self.config_hash}
                    rows = [{**row, **marks} for row in found]
                    self.rows += rows
                    done(rows)
        except KeyboardInterrupt:
            self.interrupted = True
        else:
            self.missing = [name for name in self._systems if name not in used]
        return self

    def _pending(self, topics: AnyTopics, used: set[str]) -> Iterator[Topic | BadTopic]:
        for topic in checked_texts(topics, "study"):
            if isinstance(topic, BadTopic):
                used.add(topic.id or "")
                yield topic
                continue
            name = topic.id
            if name not in self._systems and "align" in topic.meta:  # `optsum align` makes t#0, t#1, ... of topic t
                name = name.rpartition("#")[0] or name
            used.add(name)
            if not self.wants(topic):
                self.left_out += 1
            elif topic.id in self._kept:
                self.rows += self._kept.pop(topic.id)
            else:
                yield Submitted.of(topic, list(self._systems.get(name, {}).values()))

    @cached_property
    def config_hash(self) -> str:
        without = {"paper", "workers", *self.shown_only}
        options = {one.name: getattr(self, one.name) for one in fields(self) if one.init and one.name not in without}
        digest = hashlib.sha256()
        for system in chain.from_iterable(known.values() for known in self._systems.values()):
            given = asdict(system)
            del given["source"]
            digest.update(json.dumps(given, sort_keys=True).encode())
        data = json.dumps([self.name, options, digest.hexdigest()], sort_keys=True)
        return hashlib.sha256(data.encode()).hexdigest()[:12]

    @property
    def errors(self) -> list[str]:
        missing = (f"There is no topic {name!r}, but systems have summaries of it." for name in self.missing)
        return [*self.failures, *(row["error"] for row in self.of(REFUSED)), *missing]

    def to_rows(self) -> list[Row]:
        return self.rows

    def of(self, kind: str, **values: object) -> list[Row]:
        return [row for row in self.rows if row["kind"] == kind and values.items() <= row.items()]

    @property
    def topics(self) -> int:
        return len({row["id"] for row in self.rows})

    def values_of(self, kind: str, name: str = "system") -> list[Any]:
        return list(dict.fromkeys(row[name] for row in self.of(kind)))

    def table(
        self,
        title: str,
        names: Iterable[str],
        numbers: Iterable[str],
        rows: Iterable[list[str]] = (),
        caption: Iterable[str] = (),
    ) -> Table:
        """Return a table with names on the left, numbers on the right, and `caption` after the caption of the study."""
        return Table.of(names, numbers, title, rows=rows, caption=[*self.caption(), *caption])

    @abstractmethod
    def about(self) -> str:
        """Return a description of the settings in a few words, without the time limit, for captions."""

    def lacking(self) -> list[str]:
        return []

    def caption(self) -> list[str]:
        limited = "no time limit" if self.time_limit is None else f"{self.time_limit:g} s a search"
        if (exact := getattr(self, "exact_time_limit", None)) is not None:
            limited += f", {exact:g} s an exact one"
        left = self.lacking()
        if self.left_out:
            left.append(f"{counted(self.left_out, 'topic')} by the filters")
        if refused := len(self.errors) - len(self.missing):
            left.append(f"{counted(refused, 'part')} of the input that could not be used")
        if self.missing:
            left.append(f"systems' summaries of {counted(len(self.missing), 'topic')} not read")
        if self.interrupted:
            left.append("topics not done when the study was interrupted")
        about = f"{counted(self.topics, 'topic')}; {self.about()}, {limited}."
        return [about, f"Left out: {'; '.join(left) or 'nothing'}."]

    def text(self) -> str:
        return super().text() + "\n\nInterrupted: the tables cover the topics finished by then." * self.interrupted


def _each_seed(given: Any) -> str | None:
    return ",".join(map(str, seeds_of(given))) or None


@dataclass(kw_only=True)
class SeededStudy(Study):
    """Base class of studies with heuristics, which can be run with several seeds."""

    exact_time_limit: Annotated[
        float | None, option("seconds of search per problem for exact strategies, instead of --time-limit", ge=0)
    ] = None
    seed: Annotated[int, option("seed of random choices; the same seed gives the same tables", ge=0)] = 0
    seeds: Annotated[
        str | None, BeforeValidator(_each_seed), option("seeds for heuristics; 0:10 means ten [that of --seed]")
    ] = None

    def _seeded(self, names: str, *, heuristic: bool, **how: Any) -> list[Options]:
        """Return the options of a heuristic for each seed, or of an exact search with its time limit (`_options`)."""
        limit = self.time_limit if heuristic or self.exact_time_limit is None else self.exact_time_limit
        options = self._options(f"seed {names}", **{"time_limit": limit, **how})
        return each_seed(options, seeds_of(self.seeds)) if heuristic else [options]

    @property
    def seeding(self) -> str:
        seeds = seeds_of(self.seeds)
        return f"{len(seeds)} seeds" if seeds else f"seed {self.seed}"


@dataclass(kw_only=True)
class CutStudy(Study):
    """Base class of studies that cut the summaries of systems at a limit."""

    max_words: Annotated[
        int | None,
        option("words of a system's summary that count, like ROUGE's -l; 0 for all [as many as oracles]", ge=0),
    ] = None
    max_bytes: Annotated[
        int | None, option("bytes of a system's summary that count, like ROUGE's -b, instead of words", ge=1)
    ] = None

    def cut_after(self, longest: int) -> Cut:
        """Return the limit at which summaries are cut: the one in the options, otherwise `longest` words."""
        return Cut(longest if self.max_words is None else self.max_words, self.max_bytes)


@cache
def papers() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(files("optsum.studies").joinpath("papers.toml").read_text(encoding="utf-8"))


def _beside(table: Table, paper: Mapping[str, Any]) -> Table:
    """Return a table with the paper's values beside those found here; rows that only the paper has come last."""
    values: dict[str, dict[str, Any]] | None = next((paper[key] for key in paper if key in table.title), None)
    if values is None:
        return table
    named = set(chain.from_iterable(values.values()))
    keys = [re.sub(r" \(\d+\)$", "", column.heading) if column.numeric else "" for column in table.columns]
    names = keys.count("")
    columns = [
        each
        for column, key in zip(table.columns, keys, strict=True)
        for each in ([column, replace(column, heading=f"{key} (paper)")] if key in named else [column])
    ]

    def widened(cells: Sequence[str], known: Mapping[str, Any]) -> list[str]:
        row: list[str] = []
        for cell, key in zip(cells, keys, strict=False):
            value = known.get(key)
            papers_own = Cell(value, value) if isinstance(value, str) else shown(value, ",.6g")
            row += [cell, papers_own] if key in named else [cell]
        return row

    met = [" ".join(cell for cell in row[:names] if cell not in {"", "-"}) for row in table.rows]
    rows = [widened(row, values.get(name, {})) for name, row in zip(met, table.rows, strict=True)]
    if names == 1:
        blank = ["-"] * (len(keys) - 1)
        rows += [widened([name, *blank], known) for name, known in values.items() if name not in met]
    return Table(columns, rows, table.title, [*table.caption, f"(paper): {paper['differs']}."])


_ROWS: Final = "rows"  # The key in `Result.extra` under which a process returns the rows of a topic.


def _found(part: Topic, work: Callable[[Submitted], list[Row]], setup: Setup) -> list[Result]:
    if setup.formulation.has_metric and not (part.references and part.sentences):
        raise InputError(f"The topic {part.id!r} has no reference, or no text, so it has no oracle.")
    try:  # a part that is the topic as it was given is a `Submitted`, which has its systems
        rows = work(part if isinstance(part, Submitted) else Submitted.of(part))
    except KeyboardInterrupt:
        return [unsolved(part.id, setup, Termination.INTERRUPTED)]
    done = unsolved(part.id, setup, Termination.COMPLETED)
    return [done.changed(extra={_ROWS: [{"id": part.id, **row} for row in rows]})]


def searched(topic: Topic, setup: Setup) -> Result:
    """Search a topic and return the result; `KeyboardInterrupt` if the search was interrupted."""
    return without_interruption(answer(topic, setup))


def without_interruption(result: Result) -> Result:
    if result.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    found: defaultdict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return found


def unproven(oracles: Sequence[bool]) -> list[str]:
    """Return a phrase about the number of unproven oracles for `Study.lacking`; `oracles`: whether each is unproven."""
    left = f"the proof of {sum(oracles)} of {counted(len(oracles), 'oracle')} in time"
    return [f"{left}: replaced by the best found"] if any(oracles) else []


def check_row_of(study: Study, output: str, row: Mapping[str, Any]) -> None:
    if row.get("status") == Status.ERROR:
        return
    if row.get("study") != study.name or row.get("config_hash") != study.config_hash:
        what = "with other options or summaries" if row.get("study") == study.name else "by something else"
        raise OptionError(
            f"the output {output} was made {what}, so it cannot be resumed: give the same ones, --overwrite, or "
            "another output"
        )


class Entry(NamedTuple):
    """The place and the description of a study."""

    made_by: str  # ``module:class``, imported when the study is run.
    about: str  # One line for ``optsum study --help``.


_STUDIES: Final = {
    "akhmetov:AkhmetovStudy": "upper bounds by greedy, VNS and genetic search (Akhmetov et al., 2022)",
    "hirao:HiraoStudy": "greedy against all oracles, and their number (Hirao et al., 2017)",
    "compressive:CompressiveStudy": "compressive and extractive oracles (Hirao et al., 2017, compressive)",
    "gap:GapStudy": "what extraction and compression cost: any text, oracles, heuristics, systems in one table",
    "lin_hovy:LinHovyStudy": "extracts of 100 and 150 words, full text and human agreement (Lin & Hovy, 2003)",
    "tsc3:Tsc3Study": "Extracts against minimum covers: Precision, Coverage, pseudo QA (TSC3, Hirao et al., 2004)",
}
STUDIES: Final = {
    place.partition(":")[0].replace("_", "-"): Entry(f"optsum.studies.{place}", about)
    for place, about in _STUDIES.items()
}


def load_study(name: str) -> type[Study]:
    if name not in tuple(STUDIES):  # a tuple, for names that cannot be hashed
        raise unknown_name("study", name, STUDIES)
    found: type[Study] = load_place(STUDIES[name].made_by)
    return found


def prepared(name: str, options: Mapping[str, Any], config: str | Path | None = None) -> Study:
    made_by = load_study(name)
    resolved = resolve_as(options_of(made_by), options, config=config)
    if (seed := options.get("seed")) is not None and "seeds" in resolved.model_fields_set:
        seeds_of(options.get("seeds"), seed)
        resolved = resolved.model_copy(update={"seeds": None})  # seeds of the file are overridden by a given seed
    made = made_by(**resolved.model_dump())
    if made.paper and name not in papers():
        raise OptionError(
            f"The study {name} is not from a paper, so there are no values to compare with: leave out paper."
        )
    made.searches()
    return made


def study(
    name: str, topics: AnyTopics, systems: Any = (), *, config: str | Path | None = None, **options: Any
) -> Study:
    """Run the experiment of a paper on topics.

    Parameters
    ----------
    name : str
        The name of the study, such as "tsc3" (``optsum study --help`` lists them).
    topics : iterable
        Topics, their JSON form, or the items of `optsum.read_topics`; or the path of a file of them, or a data frame.
    systems : iterable
        Summaries of systems, as for `optsum.score`, or rows of `optsum solve`.
    config : path, optional
        A TOML file of options, which keywords override.
    **options
        The options of ``optsum study NAME``.

    Returns
    -------
    Study
        ``print(report)`` shows the tables; ``report.to_rows()`` returns the rows behind them, ``report.figures()`` the
        figures, and ``report.errors`` lists what was left out.

    Raises
    ------
    UnknownNameError
        For a study or an option that does not exist, with the nearest names.
    OptionError
        For an impossible value.

    Examples
    --------
    >>> topic = {"id": "t", "cover": [[["s1"], ["s10", "s11"]], [["s3"]]]}
    >>> report = study("tsc3", [topic], [{"topic_id": "t", "system": "mine", "selection": ["s1", "s2"]}])
    >>> report.to_rows()[0]["precision"], report.to_rows()[0]["coverage"]
    (0.5, 0.5)
    """
    made = prepared(name, options, config)
    if config is not None:
        file = read_config(config, also=options_of(type(made)).model_fields)
        topics = with_columns(topics, columns_in(file, config), AS_IS)
    return made.reads(systems).run(topics)
