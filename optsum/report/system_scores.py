"""Scores of systems (ROUGE of summaries, or claims that contexts support), and their correlation with human scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from logging import getLogger
from pathlib import Path
from statistics import fmean
from typing import Any, Final, TypeAlias, Unpack

from optsum.contracts.result import Status
from optsum.corpus.cover import alternatives_of, check_extract, texts_of
from optsum.corpus.topic import BadTopic, Topic
from optsum.corpus.topics import (
    AnyColumns,
    AnyTopics,
    System,
    checked_systems,
    checked_texts,
    extract_of,
    text_of,
    with_columns,
)
from optsum.errors import InputError, UnsupportedError, counted, describe, located, spoken
from optsum.metrics.rouge import agreed_reference, parse_metric, rouge_all
from optsum.optima.optima import Optima
from optsum.options.keywords import ScoreKeywords
from optsum.options.options import ScoreOptions, resolve, resolve_score
from optsum.problem.formulation import Task
from optsum.problem.problem import Selection
from optsum.registry import DEFAULT_EXACT, DEFAULT_STRATEGY, FORMULATIONS
from optsum.report.comparison import FEWEST, mean_of, pearson, spearman
from optsum.report.tables import Table, Tabular, longest_said, number, share
from optsum.running.each_topic import say_warned
from optsum.running.enumerate import oracles_of
from optsum.running.one_problem import Setup, answer, build, refused, score_signature, setup_of, single_problem, warm_up
from optsum.running.solve import resolve_context
from optsum.system.clock import Termination
from optsum.text.analyzer import nothing_left, tokenizer_check

_LOG: Final = getLogger("optsum")
_SHARED: Final = (  # Options of scoring that are also options of the search for oracles.
    *("references", "tokenizer", "stem", "stemmer", "stopwords", "counts", "model_units", "max_length", "length_unit"),
    *("length_tokenizer", "time_limit"),
)


class OracleScores:
    """All oracles of topics for each metric, within the maximum length, and the table of scores against them."""

    def __init__(self, options: ScoreOptions) -> None:
        given: dict[str, Any] = {name: getattr(options, name) for name in _SHARED if name in options.model_fields_set}
        self.setups: dict[str, Setup] = {}
        self.without: list[str] = []
        self.unfound = self.longer = 0
        given |= {"preset": options.preset, "strategy": DEFAULT_EXACT}
        for part in parse_metric(options.metric).components:
            way = resolve({**given, "metric": part.name}, reports=False)
            if refused(way):
                self.without.append(part.name)
            else:
                warm_up(self.setups.setdefault(part.name, setup_of(way)))

    def of(self, topic: Topic) -> dict[str, Optima | None]:
        """Return all oracles of a topic by metric; None for a metric if not all were found within the time limit."""
        found: dict[str, Optima | None] = {}
        for metric, setup in self.setups.items():
            oracles = oracles_of(single_problem(topic, setup), setup)
            if oracles.result.termination is Termination.INTERRUPTED:
                raise KeyboardInterrupt
            found[metric] = oracles if oracles.complete else None
            self.unfound += not oracles.complete
        return found

    def note_length(self, topic: Topic, system: System) -> None:
        text = text_of(topic, system)
        if text is not None and self.setups:
            spec = next(iter(self.setups.values())).spec_for(topic)
            self.longer += sum(map(spec.length_of, text)) > spec.max_length

    def table(self, rows: Sequence[SystemRow]) -> Table:
        points = list(product(self.setups, ("precision", "recall", "f1")))
        headings = [f"{metric} {measure[0].upper()}" for metric, measure in points]
        cells = [[row.system, *(number(row.oracle[metric][measure]) for metric, measure in points)] for row in rows]
        size = "no metric"
        for options in (setup.options for setup in self.setups.values()):
            limit = options.max_length
            size = "any length" if limit is None else f"{longest_said(limit, options.length_unit)} at most"
        title = f"Extracts against all oracles of {size}: means over topics"
        caption = ["A sentence that is not in the source is in no oracle; P and R are means over all oracles."]
        if self.without:
            caption.append(f"Oracles of {' and '.join(self.without)} cannot be enumerated.")
        if self.longer:
            caption.append(f"Summaries longer than the limit of oracles: {self.longer}; they are not cut.")
        if self.unfound:
            said = f"{self.unfound} (each a topic and a metric)"
            caption.append(f"Left out, because not all oracles were found in time: {said}.")
        return Table.of(["system"], headings, title, rows=cells, caption=caption)


class PackedContexts:
    """A comparison between each system's context (its choice of passages) and the best one of equal maximum length."""

    def __init__(self, options: ScoreOptions) -> None:
        names = ("formulation", "max_length", "length_unit", "length_tokenizer", "uncoverable", "time_limit", "flat")
        given = {name: getattr(options, name) for name in names if name in options.model_fields_set}
        self._given = {**given, "strategy": DEFAULT_STRATEGY}
        self._setup: Setup | None = None
        self.unproven = 0
        # Options are checked before the first topic is read, except whether topics have lengths.
        resolved = resolve_context(self._given, lengths_given=True)
        self.limits = resolved.formulated().goal(resolved.spec())

    def rows(self, topic: Topic, systems: Sequence[System]) -> Iterator[dict[str, Any]]:
        if self._setup is None:
            resolved = resolve_context(self._given, lengths_given=topic.lengths is not None)
            self.limits = resolved.formulated().goal(resolved.spec())
            self._setup = setup_of(resolved)
            warm_up(self._setup)
        setup = self._setup
        topic = single_problem(topic, setup)
        best = answer(topic, setup)
        if best.termination is Termination.INTERRUPTED:
            raise KeyboardInterrupt
        self.unproven += best.status is not Status.OPTIMAL
        task = build(topic, setup, keep_unmatched=True)  # with passages that support nothing, as systems may choose any
        most = best.bound_key if best.bound_key is not None else best.key
        fields = ("status", "objective", "bound", "numerator", "length", "selection", "missed")
        shown = {name: value for name, value in best.to_row().items() if name in fields}
        for system in systems:
            try:
                found, others = _chosen(topic, system, task, counted_one=setup.options.length_unit == "sentences")
            except InputError as error:
                yield _row_of(topic.id, system.system, located(system.source, str(error)))
                continue
            worth, (numerator, denominator) = task.problem.evaluate(found), task.problem.totals(found)
            length = others + (task.length(found) or 0)
            over = max(0, length - task.problem.max_length)
            gap = 1 - worth.key / most if most and not over else None  # without a possible claim, nothing can be lost
            row = {
                "objective": worth.value, "numerator": numerator, "denominator": denominator, "length": length,
                "over": over, "gap": None if gap is None else float(gap), **task.found(found), "optimum": shown,
                "human": dict(system.human), "signature": best.signature,
            }  # fmt: skip
            yield _row_of(topic.id, system.system, **row)


def _chosen(topic: Topic, system: System, task: Task, *, counted_one: bool) -> tuple[Selection, int]:
    """Return the unit numbers of the passages that a system chose, and the number of chosen passages without a unit."""
    names: Sequence[int | str]
    if system.selection is not None:
        check_extract(topic, alternatives_of(topic, "miss"), system.selection)
        names = system.selection
    elif (extract := extract_of(topic, system)) is None:
        raise InputError("there are human scores, but no selection; give one, or leave the record out")
    elif extract.others:
        raise InputError(
            f"{counted(extract.others, 'passage')} of the extract cannot be found in topic {topic.id!r}; give a "
            "selection of passage numbers"
        )
    else:
        called = list(texts_of(topic))
        names = [called[unit] for unit in extract.units]
    known = task.numbers()
    unknown = [name for name in names if name not in known]
    if unknown and not (counted_one and not topic.documents and topic.lengths is None):
        raise InputError(f"the selection names {unknown[0]!r:.40}, which is not a passage of topic {topic.id!r}")
    return tuple(sorted({known[name] for name in names if name in known})), len(unknown)


def against(
    topic: Topic, system: System, oracles: Mapping[str, Optima | None], each: int = 0
) -> dict[str, dict[str, Any] | None]:
    """Return by metric the mean precision, recall and F-measure of a summary over all oracles, and their number.

    The value is None if not all oracles are known, or the summary is no extract. A sentence of the summary that is not
    in the source is in no oracle (`optsum.corpus.topics.extract_of`). The field ``each`` has precision, recall and
    F-measure against each of the first `each` oracles (O1 and O2 of Hirao et al. 2017, section 6.2.3).
    """
    extract = extract_of(topic, system)
    scores: dict[str, dict[str, Any] | None] = {}
    for metric, optima in oracles.items():
        if extract is None or optima is None:
            scores[metric] = None
            continue
        names, singles = extract.names, []
        for oracle in islice(optima, each):
            both, size = len(names.intersection(oracle)), len(names) + len(oracle)
            precision = both / len(names) if names else float(not oracle)
            recall = both / len(oracle) if oracle else float(not names)
            f1 = 2 * both / size if size else 1.0
            singles.append({"oracle": list(oracle), "precision": precision, "recall": recall, "f1": f1})
        found = optima.agreement(names)
        means = {"precision": float(found.precision), "recall": float(found.recall), "f1": float(found.f_measure)}
        scores[metric] = {**means, "count": optima.count, **({"each": singles} if singles else {})}
    return scores


MEASURES: Final = ("recall", "precision", "f1")
_SHORT = {"recall": "R", "precision": "P", "f1": "F1"}

Point = tuple[str, str]  # A metric and a measure.

_CLAIMS: Final = tuple(product(["claims"], ["objective", "gap", "length"]))
"""Columns for contexts: the supported share of claims, the loss against the optimum, and the length."""

_ORACLE = "oracle "  # Prefix of the name of a metric for comparisons with its oracles.


@dataclass(frozen=True, kw_only=True)
class SystemRow:
    """The mean scores of one system."""

    system: str
    topics: int  # Number of topics with a summary of the system.
    rouge: dict[str, dict[str, float]]  # By metric and measure, means over those topics.
    human: dict[str, float]  # By kind of human score, means over the topics that have one.
    # By metric and measure, mean agreement with all oracles, over topics whose oracles were all found; None if there is
    # no such topic. Empty if not requested.
    oracle: dict[str, dict[str, float | None]] = field(default_factory=dict)
    # For contexts: the means of "objective" (supported share of the claims) and "gap" (lost share of the optimum) over
    # topics with contexts within the maximum length, the largest such gap ("worst"), the mean "length" of all contexts,
    # and the number of those that are too long ("over").
    claims: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class HumanCorrelation:
    """The correlations of one metric and measure with one human score; None if there are too few scores."""

    metric: str
    measure: str
    human: str
    # Correlations of the systems' means over topics.
    system_pearson: float | None
    system_spearman: float | None
    # Means over topics of the correlation between the summaries of a topic.
    summary_pearson: float | None
    summary_spearman: float | None


Scored: TypeAlias = tuple[dict[Point, float | None], dict[str, float]]  # The scores of a summary, and its human scores.


def _rated(summaries: Iterable[Scored], point: Point, name: str) -> tuple[list[float], list[float]]:
    """Return the scores and the human scores of all summaries that have both."""
    both = [(scores[point], human[name]) for scores, human in summaries if name in human]
    known = [(score, rating) for score, rating in both if score is not None]
    return [score for score, _ in known], [rating for _, rating in known]


class SystemScores(Tabular):
    """The scores that `score` returns; ``print(scores)`` shows them as tables.

    `rows`: means by system. `agreements`: correlations with human scores. `failed`: number of rows with an error.
    """

    def __init__(self, options: ScoreOptions) -> None:
        self.options = options
        parts = parse_metric(options.metric).components
        self.metrics = [part.name for part in parts]
        self.summaries = self.topics = self.failed = 0
        self._each: list[list[str]] = []
        self.oracles = OracleScores(options) if options.oracles or options.each_oracle else None
        packs = options.formulation is not None and not FORMULATIONS.load(options.formulation).has_metric
        if vectors := [part.name for part in parts if not packs and not part.of_texts]:
            raise UnsupportedError(
                f"{vectors[0]} compares vectors, and summaries to score have none: choose n-grams with --metric."
            )
        self.packed = PackedContexts(options) if packs else None
        self._systems: defaultdict[str, list[Scored]] = defaultdict(list)
        self._of_topics: defaultdict[tuple[str, Point], list[tuple[float | None, float | None]]] = defaultdict(list)

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        good = [row for row in rows if row["error"] is None]
        self.failed += len(rows) - len(good)
        self.summaries += len(good)
        self.topics += bool(good)
        scored: list[Scored] = [({point: _value(row, *point) for point in self._points}, row["human"]) for row in good]
        for row, scores in zip(good, scored, strict=True):
            self._systems[row["system"]].append(scores)
            self._each += [
                [row["topic_id"], row["system"], metric, ", ".join(map(str, one["oracle"])), *map(number, measures)]
                for metric, found in row.get("oracle", {}).items()
                for one in (found or {}).get("each", ())
                for measures in [(one["precision"], one["recall"], one["f1"])]
            ]
        for name, point in product({name for _, human in scored for name in human}, self._points):
            rated = _rated(scored, point, name)
            self._of_topics[name, point].append((pearson(*rated), spearman(*rated)))

    @property
    def _points(self) -> list[Point]:
        if self.packed is not None:
            return list(_CLAIMS)
        against = [] if self.oracles is None else [_ORACLE + metric for metric in self.oracles.setups]
        return list(product([*self.metrics, *against], MEASURES))

    @property
    def rows(self) -> list[SystemRow]:
        rows = []
        for system, held in self._systems.items():
            means = {point: mean_of(scores[point] for scores, _ in held) for point in self._points}
            metrics = self.metrics if self.packed is None else ()
            rouge: dict[str, Any] = {of: {name: means[of, name] for name in MEASURES} for of in metrics}
            searched = () if self.oracles is None else self.oracles.setups
            oracle = {of: {name: means[_ORACLE + of, name] for name in MEASURES} for of in searched}
            kinds = dict.fromkeys(kind for _, human in held for kind in human)
            human = {kind: fmean(human[kind] for _, human in held if kind in human) for kind in kinds}
            row = SystemRow(system=system, topics=len(held), rouge=rouge, oracle=oracle, human=human)
            if self.packed is not None:
                gaps = [gap for scores, _ in held if (gap := scores["claims", "gap"]) is not None]
                over = sum(scores["claims", "objective"] is None for scores, _ in held)
                row.claims.update({point[1]: means[point] for point in _CLAIMS})
                row.claims.update(worst=max(gaps, default=None), over=over)
            rows.append(row)
        return rows

    @property
    def agreements(self) -> list[HumanCorrelation]:
        found = []
        systems = self._systems.values()
        names = dict.fromkeys(name for held in systems for _, human in held for name in human)
        for name, point in product(names, self._points):
            rated = [_rated(held, point, name) for held in systems]
            values, human = ([fmean(each[side]) for each in rated if each[side]] for side in (0, 1))
            linear, ranks = zip(*self._of_topics[name, point], strict=True)
            own: dict[str, Any] = {"system_pearson": pearson(values, human), "system_spearman": spearman(values, human)}
            own |= {"summary_pearson": mean_of(linear), "summary_spearman": mean_of(ranks)}
            found.append(HumanCorrelation(metric=point[0], measure=point[1], human=name, **own))
        return found

    def tables(self) -> list[Table]:
        oracles = [] if self.oracles is None else [self.oracles.table(self.rows)]
        if self._each:
            names, title = ["topic", "system", "metric", "oracle"], "Extracts against single oracles"
            oracles.append(Table.of(names, ["P", "R", "F"], title, rows=self._each))
        return [_systems(self), *oracles, *([_agreements(self.agreements)] if self.agreements else [])]


def score(
    topics: AnyTopics,
    systems: Any,
    *,
    columns: AnyColumns | None = None,
    config: str | Path | None = None,
    **options: Unpack[ScoreKeywords],
) -> SystemScores:
    """Score systems' summaries by ROUGE, or contexts by the claims that they support, and correlate with human scores.

    Parameters
    ----------
    topics : iterable
        Topics, as in `optsum.solve_all`; they are read once, with one in memory at a time.
    systems : iterable
        Summaries, their JSON form, or the items of `optsum.read_systems`; or the path of a file of them, or a data
        frame. All are held in memory.
    columns : str or mapping, optional
        The names of columns in the topics' records, as for ``--map``: ``{"documents": "article", "references":
        "highlights"}``.
    config : path, optional
        A TOML file of options, which keywords override.
    **options
        Options of the command ``optsum score``: ``metric="rouge-1+rouge-2"``, ``stem=True``, ``references="best"``, ...

    Returns
    -------
    SystemScores

    Raises
    ------
    OptionError, UnsupportedError
        If the options cannot be used.

    Notes
    -----
    Summaries that cannot be scored are left out and counted (``failed``); a warning tells the first reason.
    """
    scores = SystemScores(resolve_score(options, config=config))
    given = with_columns(topics, columns, scores.options.reading)
    first = None
    for rows in score_rows(given, systems, scores):
        scores.add(rows)
        first = first or next((row["error"] for row in rows if row["error"] is not None), None)
    if scores.failed:
        _LOG.warning("%s could not be scored; the first: %s", counted(scores.failed, "summary"), first)
    return scores


def score_rows(
    topics: AnyTopics, systems: Any, scores: SystemScores, limit: int | None = None
) -> Generator[list[dict[str, Any]], None, None]:
    """Yield the rows of each topic's summaries, then of summaries without a topic; `limit`: most topics to score."""
    options = scores.options
    of_topic: dict[str | int, list[System]] = {}  # by its id, or by its place
    unread = []
    for system in checked_systems(systems, options.reading):
        if isinstance(system, System):
            of_topic.setdefault(system.topic_id if system.place is None else system.place, []).append(system)
        else:
            unread.append(_row_of(system.topic_id, system.system, located(system.source, system.error)))
    lines = 1 + max((place for place in of_topic if isinstance(place, int)), default=-1)
    warned: Counter[str | None] = Counter()
    place, without = -1, []
    for place, topic in enumerate(checked_texts(topics, "score", options.reading)):
        own = of_topic.pop(place, [])
        if limit is not None and place >= limit:
            of_topic.pop(topic.id or "", None)
        elif isinstance(topic, BadTopic):
            # Summaries with its id are kept, because a later topic may have the same id.
            yield [_row_of(topic.id, None, located(topic.source, topic.error))]
        elif found := own + of_topic.pop(topic.id, []):
            said = None
            if scores.packed is None:
                sentences = [sentence for reference in topic.references for sentence in reference]
                analyzer = options.analyzer(pretokenized=all(isinstance(sentence, tuple) for sentence in sentences))
                said = tokenizer_check(sentences, analyzer, options.language)
            warned[None if said is None else spoken(said)] += 1
            yield _rows(topic, found, scores)
        else:
            without.append(topic.id)
    say_warned(warned)
    if 0 < lines <= place and limit is None:
        matched = "there are %d topics and %s of summaries: they are matched line by line with the first topics"
        _LOG.warning(matched, place + 1, counted(lines, "line"))
    elif without and len(without) < (total := min(place + 1, limit or place + 1)):
        has = "has" if len(without) == 1 else "have"
        lacking = "%d of %d topics %s no summary, such as %r: means are over the others"
        _LOG.warning(lacking, len(without), total, has, without[0])
    for name, left in of_topic.items():
        reason = f"no topic has the id {name!r}" if isinstance(name, str) else f"there are only {place + 1} topics"
        yield [
            _row_of(str(name), system.system, located(system.source, reason))
            for system in left
            if isinstance(name, str) or system.summary  # blank lines at the end are no summaries
        ]
    if unread:
        yield unread


def _rows(topic: Topic, systems: Sequence[System], scores: SystemScores) -> list[dict[str, Any]]:
    try:
        if scores.packed is not None:
            return list(scores.packed.rows(topic, systems))
        rows = [_row(topic, system, scores.options) for system in systems]
        good = [(row, system) for row, system in zip(rows, systems, strict=True) if row["error"] is None]
        if scores.oracles is None or not good:
            return rows
        found = scores.oracles.of(topic)
        for row, system in good:
            scores.oracles.note_length(topic, system)
            row["oracle"] = against(topic, system, found, scores.options.each_oracle)
    except BaseException as error:  # noqa: BLE001 - the other topics are scored all the same
        reason = describe(error)
        return [_row_of(topic.id, system.system, located(system.source, reason)) for system in systems]
    return rows


def _value(row: dict[str, Any], metric: str, measure: str) -> float | None:
    """Return a score of a row; None if it is unknown, or is the supported share of a context that is too long."""
    if (metric, measure) in _CLAIMS:
        return None if row["over"] and measure == "objective" else row[measure]
    of: dict[str, Any] | None = row["rouge"].get(metric)
    if of is None:
        of = row["oracle"][metric.removeprefix(_ORACLE)]
    return None if of is None else of[measure]


def _row(topic: Topic, system: System, options: ScoreOptions) -> dict[str, Any]:
    try:
        return _row_of(topic.id, system.system, **_scores(topic, system, options))
    except BaseException as error:  # noqa: BLE001 - the other summaries are scored all the same
        return _row_of(topic.id, system.system, located(system.source, describe(error)))


def _scores(topic: Topic, system: System, options: ScoreOptions) -> dict[str, Any]:
    if topic.cover is not None and not topic.references:
        raise InputError(
            f"topic {topic.id!r} has claims, but no reference; give --formulation=cover with --max-length N, its budget"
        )
    summary = text_of(topic, system)
    if summary is None:
        raise InputError("there are human scores, but no summary; give one, or leave the record out")
    pretokenized = all(isinstance(sentence, tuple) for text in (summary, *topic.references) for sentence in text)
    analyzer = options.analyzer(pretokenized=pretokenized)
    names = ("max_words", "counts", "model_units")
    analysis: dict[str, Any] = {"analyzer": analyzer, **{name: getattr(options, name) for name in names}}
    references, mode = topic.references, options.references
    if mode == "first" or mode == "agreed":
        agrees = mode == "agreed" and references
        number = agreed_reference(references, options.metric, options.best_by, **analysis) if agrees else 0
        references, mode = references[number : number + 1], "pooled"
    if (reason := nothing_left(((), [each for text in references for each in text]), analyzer.tokenizer)) is not None:
        raise InputError(f"topic {topic.id!r}: {reason}")
    scores = rouge_all(summary, references, [options.metric], references_mode=mode, best_by=options.best_by, **analysis)
    if not any(found.reference_total for found in scores.values()):
        raise InputError(f"the references of topic {topic.id!r} have nothing to count; give it a reference with text")
    rouge = {name: {measure: getattr(found, measure) for measure in MEASURES} for name, found in scores.items()}
    signature = score_signature(options, analyzer.tokenizer)
    return {"rouge": rouge, "human": dict(system.human), "signature": signature}


def _row_of(topic: str | None, system: str | None, error: str | None = None, **own: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"topic_id": topic, "system": system, "rouge": None, "human": {}, "signature": None}
    return {**row, "error": error, **own}


def _systems(scores: SystemScores) -> Table:
    rows, packed, points = scores.rows, scores.packed, list(product(scores.metrics, MEASURES))
    humans = list(dict.fromkeys(name for row in rows for name in row.human))
    headings = [f"{metric} {_SHORT[measure]}" for metric, measure in points]
    caption = []
    if packed is not None:
        headings = ["over", "used", "supported", "loses", "worst"]
        caption = [
            "supported: share of the claims; loses: missed share of an optimum above 0, worst: its largest value",
            "over: choices above the budget; they are only in the mean of the used length",
        ]
        if packed.unproven:
            said = counted(packed.unproven, "topic")
            caption.append(f"Compared with a bound, because the optimum was not proven in time: {said}.")
    if len({row.topics for row in rows}) > 1:
        caption.append("Not every system has a summary of every topic, so the means are not of the same topics.")
    of = "" if packed is None else f"{packed.limits}, "
    title = f"{counted(len(rows), 'system')} on {counted(scores.topics, 'topic')}: {of}means over topics"
    table = Table.of(["system"], ["topics", *headings, *humans], title, caption=caption)
    for row in rows:
        if packed is None:
            cells = [number(row.rouge[metric][measure]) for metric, measure in points]
        else:
            cells = [number(row.claims["over"], 0), number(row.claims["length"], 1)]
            cells += [share(row.claims[name], 1) for name in ("objective", "gap", "worst")]
        table.add(row.system, number(row.topics, 0), *cells, *(number(row.human.get(name)) for name in humans))
    return table


def _agreements(found: Sequence[HumanCorrelation]) -> Table:
    headings = ["system r", "system rho", "summary r", "summary rho"]
    names = [f"{of}_{kind}" for of in ("system", "summary") for kind in ("pearson", "spearman")]
    rows = [[one.human, one.metric, one.measure, *(number(getattr(one, name)) for name in names)] for one in found]
    caption = [
        "r is Pearson's, rho is Spearman's.",
        "system: over systems, each by its means over topics.",
        "summary: over the systems of one topic; the mean over the topics where it is defined.",
    ]
    if any("-" in row for row in rows):
        caption.append(f"-: a correlation needs {FEWEST} systems whose scores are not all equal.")
    title = "Correlation with human scores"
    return Table.of(["human score", "metric", "measure"], headings, title, rows=rows, caption=caption)
