"""Label the sentences of topics: 1 for each sentence in the best summary, 0 for each other sentence."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack, cast

from optsum._version import __version__
from optsum.contracts.result import Result, ResultCounts, Status, labels_of
from optsum.corpus.topic import Topic
from optsum.corpus.topics import AnyColumns, AnyTopics, with_columns
from optsum.errors import OptionError, UnsupportedError
from optsum.optima.optima import Nearness
from optsum.options.keywords import Keywords
from optsum.options.options import Options, described, reading_of, resolve, toml_of
from optsum.registry import FORMULATIONS
from optsum.running.each_topic import attempt, each_topic, posed
from optsum.running.enumerate import Oracles, oracles_of, resolve_enumeration
from optsum.running.one_problem import Setup, answer, setup_of
from optsum.running.workers import Outcomes
from optsum.system.clock import Termination
from optsum.text.analyzer import raw_texts
from optsum.whole import flag, whole

_FIRST: Final = ("id", "sentences", "labels", "ran")
_LAST: Final = ("objective", "bound", "status", "termination", "strategy", "config_hash", "signature", "error")
_OWN: Final = {"shares", "near", "at_least", "weighted", "count", "complete", "diversified", "all_labels", "references"}


@dataclass(frozen=True, slots=True)
class LabelFields:
    """The requested fields of a row of labels, besides the labels of one optimum."""

    soft: bool = False  # The share of the optima that contain each sentence.
    optima: int = 0  # Number of optima to list.
    far_apart: bool = False  # List optima that differ much from one another, instead of the first ones.
    references: bool = False  # The references that the labels were made for.
    nearness: Nearness | None = None  # Shares and lists include all selections that reach this threshold.
    weighted: bool = False  # Weight each selection by its objective when computing shares.

    @property
    def enumerates(self) -> bool:
        return self.soft or self.optima > 0

    def differing(self, row: Mapping[str, Any]) -> str | None:
        """Return a flag that differs from the one by which a row was made; None if no flag is known to differ."""
        if row.get("labels") is None:
            return None
        listed, complete, count = row.get("all_labels"), row.get("complete", True), row.get("count")
        wanted = min(count, self.optima) if isinstance(count, int) else self.optima
        # If all optima are listed, or at most one, it does not matter how they were chosen.
        chosen = listed is not None and len(listed) > 1 and (count is None or len(listed) < count)
        differs = {
            "--soft": complete and self.soft != (row.get("shares") is not None),
            "--all": (self.optima > 0) != (listed is not None) or (listed is not None and len(listed) != wanted),
            "--diverse": chosen and self.far_apart != bool(row.get("diversified")),
            "--format bertsum": self.references != (row.get("references") is not None),
            "--within, --at-least, --within-steps or --best": row.get("near") != (self.nearness and str(self.nearness)),
            "--weighted": self.weighted != bool(row.get("weighted")),
        }
        return next((flag for flag, is_other in differs.items() if is_other), None)


def resolve_labels(given: Mapping[str, Any], fields: LabelFields, *, config: str | Path | None = None) -> Options:
    if fields.far_apart and not fields.optima:
        raise OptionError("Diverse labels need a number of optima: give --all K too.")
    if fields.references and fields.enumerates:
        how = "leave out --soft and --all, or write another format"
        raise OptionError(f"The format bertsum has the labels of one selection only: {how}.")
    if fields.nearness is not None and not fields.enumerates:
        raise OptionError("Labels of near-optimal selections are shares or lists: give --soft or --all K too.")
    if fields.weighted and not (fields.soft and fields.nearness is not None):
        how = "give --soft and one of --within, --at-least, --within-steps and --best too"
        raise OptionError(f"Only shares of selections that differ in value can be weighted: {how}.")
    every = fields.enumerates
    options = resolve_enumeration(given, fields.nearness, config=config) if every else resolve(given, config=config)
    formulation = FORMULATIONS.load(options.formulation)
    if not formulation.reads_topics:
        where = "its selection is in the rows of solve"
        raise UnsupportedError(f"Labels are for sentences of a text, but a problem has none: {where}.")
    if not formulation.whole_sentences:
        fault = f"The formulation {options.formulation} selects parts of sentences, but labels are for whole ones"
        raise UnsupportedError(f"{fault}: use --formulation=extractive.")
    return options


class LabelRow(TypedDict):
    """A row of `labels`; the fields after `error` exist if they were requested."""

    id: str
    sentences: list[str] | None
    labels: list[int] | None
    objective: float | None
    bound: float | None
    status: str
    termination: str
    strategy: str
    config_hash: str | None
    signature: str | None
    ran: str | None
    error: str | None
    near: str
    at_least: str | list[int] | float | None
    weighted: bool
    count: int | None
    complete: bool | None
    shares: list[float] | None
    diversified: bool
    all_labels: list[list[int]] | None
    references: list[list[str]]


def labels(
    topics: AnyTopics,
    *,
    soft: bool = False,
    all_: int = 0,
    diverse: bool = False,
    within: float | str | None = None,
    at_least: float | str | None = None,
    within_steps: int | None = None,
    best: int | None = None,
    weighted: bool = False,
    columns: AnyColumns | None = None,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Iterator[LabelRow]:
    """Label topics one after another, lazily, in the order of the input.

    Parameters
    ----------
    topics : iterable
        As for `optsum.solve_all`.
    soft : bool
        Add ``shares``, the share of optima that contain each sentence, and ``count``, the number of optima.
    all_ : int
        Add ``all_labels``: the labels of up to this many optima, or near-optimal selections, the best first.
    diverse : bool
        For ``all_labels``, choose optima that differ much from one another, instead of the first ones.
    within, at_least, within_steps, best : optional
        Compute ``shares`` and ``all_labels`` over near-optimal selections, as in `optsum.enumerate_optima`.
    weighted : bool
        Weight each near-optimal selection by its objective in ``shares``.
    columns, config, **options
        As in `optsum.solve`.

    Yields
    ------
    LabelRow
        ``sentences`` holds the sentences of the topic as raw text was split. A topic that could not be searched has
        None for sentences and labels, and the reason in ``error``.

    Raises
    ------
    OptsumError
        At once, if the options cannot be used.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}
    >>> row = next(labels([topic], max_length=4, soft=True, all_=2))
    >>> row["labels"], row["shares"], row["all_labels"]
    ([1, 1, 0], [0.6666666666666666, 0.6666666666666666, 0.6666666666666666], [[1, 1, 0], [1, 0, 1]])
    """
    nearness = Nearness.given(within, at_least, within_steps, best)
    optima = whole(all_, "The number of optima, all_,", least=0, most=10**400, error=OptionError)
    soft, diverse = flag(soft, "The option soft"), flag(diverse, "The option diverse")
    fields = LabelFields(soft, optima, diverse, nearness=nearness, weighted=flag(weighted, "The option weighted"))
    topics, named = posed(topics, options, config, columns=columns)
    resolved = resolve_labels(named, fields, config=config)
    batches = label_topics(with_columns(topics, columns, reading_of(resolved)), resolved, fields)
    return (cast("LabelRow", label_row(result)) for batch in batches for result in cast("list[Result]", batch))


def label_topics(topics: AnyTopics, options: Options, fields: LabelFields) -> Generator[Outcomes, None, None]:
    setup = setup_of(options)
    work, finish = partial(_label_part, setup=setup, fields=fields), partial(_with_labels, fields=fields)
    together = None if fields.enumerates else finish
    return each_topic(topics, [setup], work, finish=together, scores=False, row_of=label_row)


def label_row(result: Result) -> dict[str, Any]:
    held = {**vars(result), **result.extra, "status": result.status.value, "termination": result.termination.value}
    own = [name for name in result.extra if name in _OWN]
    return dict(zip(names := (*_FIRST, *own, *_LAST), map(held.get, names), strict=True))


def label_result(row: Mapping[str, Any]) -> Result:
    labels = row.get("labels")
    chosen = None if labels is None else [unit for unit, label in enumerate(labels) if label]
    known = {name: row.get(name) for name in _LAST if name != "error"}
    if known["status"] in {Status.OPTIMAL, Status.INFEASIBLE}:  # a limit may have come after the proof
        known["termination"] = Termination.COMPLETED
    return Result.from_row({**known, "id": row.get("id"), "selection": chosen})


def _label_part(part: Topic, setup: Setup, fields: LabelFields) -> list[Result]:
    def searched(part: Topic, setup: Setup) -> Result:
        oracles = oracles_of(part, setup, fields.nearness) if fields.enumerates else None
        result = answer(part, setup) if oracles is None else oracles.result
        extra = {} if oracles is None else _of_optima(oracles, len(part.sentences), setup.options.seed, fields)
        return result.changed(extra={**result.extra, **extra, **_labels_of(part, result, fields)})

    result = attempt(searched, part, setup)
    return [result.changed(extra={**result.extra, "sentences": raw_texts(part.sentences)})]


def _with_labels(part: Topic, result: Result, fields: LabelFields) -> list[Result]:
    extra = {"sentences": list(part.sentences), **_labels_of(part, result, fields)}  # raw, in topics searched together
    vars(result)["extra"] = {**result.extra, **extra}  # nothing else refers to it yet
    return [result]


def _labels_of(part: Topic, result: Result, fields: LabelFields) -> dict[str, Any]:
    found = result.labels()
    extra: dict[str, Any] = {"labels": None if found is None else list(found)}
    if fields.references:
        best = result.reference  # if the best of several was asked for
        references = part.references if best is None else part.references[best : best + 1]
        extra["references"] = list(map(raw_texts, references))
    return extra


def _of_optima(oracles: Oracles, sentences: int, seed: int, fields: LabelFields) -> dict[str, Any]:
    extra: dict[str, Any] = {"count": oracles.count, "complete": oracles.complete}
    if fields.nearness is not None:
        least = oracles.least
        extra["near"] = str(fields.nearness)
        extra["at_least"] = None if least is None else oracles.tasks[0].problem.value_of(least)
    if fields.weighted:
        extra["weighted"] = True
    if fields.soft:
        share: Mapping[Any, Any] | None = None
        if oracles.complete and oracles.count:
            share = oracles.weighted_share(seed) if fields.weighted else oracles.share()
        extra["shares"] = None if share is None else [float(share.get(unit, 0)) for unit in range(sentences)]
    if fields.optima:
        listed = oracles.diverse(fields.optima) if fields.far_apart else oracles.best_first(fields.optima)
        if fields.far_apart:
            extra["diversified"] = True
        extra["all_labels"] = [list(labels_of(selection, sentences)) for selection in listed]
    return extra


def label_card(
    options: Options, topics: str, counts: ResultCounts, fields: LabelFields, output: str, given: Mapping[str, object]
) -> str:
    """Return the data card of published labels: Markdown with the metadata that the hub of Hugging Face reads.

    `given`: flags of the command that are no options of searches, with their values; None if one was not given.
    """
    flags = [
        f" --{name.replace('_', '-')}" + f" {value}" * (value is not True)
        for name, value in given.items()
        if value is not None
    ]
    kind = "optima" if fields.nearness is None else f"selections ({fields.nearness})"
    more = {
        f"`count` of {kind} and whether it is `complete`": fields.enumerates,
        f"`shares` of the {kind} that contain each sentence": fields.soft,
        f"`all_labels` of up to {fields.optima} {kind}": fields.optima > 0,
    }
    names = ["`id`", "`sentences` as they were searched", "`labels`", *(name for name, has in more.items() if has)]
    names += ["`objective`", "`bound` (none can be better)", "`status`", "`signature`"]
    defaults = {name: field.default for name, field in Options.model_fields.items()}
    own = {name: value for name, value in described(options).items() if value not in (None, defaults.get(name, ...))}
    solved = counts.statuses["optimal"] + counts.statuses["feasible"]
    kinds = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in counts.statuses.items())
    card = (files("optsum.exchange") / "label_card.md").read_text(encoding="utf-8")
    return card.format(
        flags="".join(flags), output="labels.jsonl" if output == "-" else output,
        fields="`src`, `tgt` (the reference), `labels`" if fields.references else ", ".join(names),
        others="see `shares`" if fields.soft else "`--soft` adds the share of them that contain each sentence",
        language=options.language, version=__version__, topics=topics, signature=counts.signature or "",
        hash=options.config_hash, options=toml_of(own).rstrip(),
        counts=kinds or "none", ones=counts.chosen, mean=f"{counts.objective / solved:.4f}" if solved else "-",
    )  # fmt: skip
