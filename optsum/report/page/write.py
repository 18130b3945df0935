"""The page of results: one HTML file with its scripts, styles and data, and a policy that blocks all other sources."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from itertools import islice, pairwise
from math import ceil, floor, log10
from operator import itemgetter
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import ValidationError

from optsum._version import __version__
from optsum.contracts.result import Result, Status
from optsum.corpus.cover import claim_names, in_order, texts_of
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage.instance import Key, Sense
from optsum.errors import InputError, OptionError, OptsumError, counted, visible
from optsum.metrics.rouge import NGRAMS, SKIPS, parse_metric
from optsum.options.options import OF_SEARCHES, Options, sentence_of
from optsum.problem.formulation import Formulation
from optsum.registry import DEFAULT_HEURISTIC, FORMULATIONS, STRATEGIES
from optsum.report.comparison import claims, mean_of, ratio_to_best
from optsum.report.tables import as_row, headline, longest_said, number, seconds, short_seconds, words_kept
from optsum.running.one_problem import Setup, setup_of
from optsum.system.clock import Termination
from optsum.system.files import PathLike, as_path, describe_os_error, replacing
from optsum.text.analyzer import Sentence, raw_text, word_count
from optsum.whole import flag, is_list

_NOT_OF_PROBLEMS: Final = {*OF_SEARCHES, "verify", "preset"}

_SAID: Final = (
    "topics",
    *(name for name in Options.model_fields if name not in {*_NOT_OF_PROBLEMS, "formulation", "metric"}),
)
"""Names of a row's fields that define the problem, besides ``formulation`` and ``metric``."""

_REFERENCES: Final = {
    "pooled": "all references pooled",
    "each": "each reference by itself",
    "mean": "each reference, averaged",
    "best": "the reference of the largest value",
    "first": "the first reference",
    "agreed": "the reference with the best agreement",
}


@dataclass(frozen=True)
class Setting:
    """The options that define a problem; all topics whose rows have the same options share one setting."""

    formulation: str
    metric: str | None  # None if the formulation uses no metric.
    # The options in the details of a row, without options of searches; None if the row has no details.
    options: Options | None = None
    # (name, value) of other fields of a row that define the problem: options that a grid varies, the file of topics.
    said: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any], options: Options | None) -> Setting:
        names = [name for name in _SAID if options is None or name not in Options.model_fields]
        said = tuple((name, visible(str(row[name]))) for name in names if row.get(name) is not None)
        return cls(str(row.get("formulation") or "extractive"), row.get("metric"), options, said)

    @cached_property
    def setup(self) -> Setup | None:
        """The resolved options, for reading texts; None if the rows have no options, or a package is missing."""
        if self.options is None:
            return None
        try:
            return setup_of(self.options.model_copy(update={"strategy": DEFAULT_HEURISTIC}))
        except OptsumError:
            return None

    @property
    def minimizes(self) -> bool:
        return self._kind is not None and self._kind.sense is Sense.MINIMIZE

    @property
    def of_texts(self) -> bool:
        return self._kind is None or self._kind.reads_topics

    @cached_property
    def _kind(self) -> Formulation | type[Formulation] | None:
        """The formulation; None if it is not a built-in one, and the rows have no options."""
        if self.setup is not None:
            return self.setup.formulation
        return FORMULATIONS.load(self.formulation) if self.formulation in FORMULATIONS.builtin else None

    @cached_property
    def of_any_length(self) -> Setting:
        options = None if self.options is None else self.options.model_copy(update={"max_length": None})
        return replace(self, options=options, said=tuple(pair for pair in self.said if pair[0] != "max_length"))

    @property
    def label(self) -> str:
        if self.options is not None and self.setup is not None:
            return ", ".join([headline(self.options), *self._more])
        return ", ".join(filter(None, (self.formulation, self.metric, *self._more)))

    @property
    def _more(self) -> list[str]:
        return [f"{name.replace('_', ' ')} {value.rpartition('/')[2]}" for name, value in self.said]

    @property
    def max_length(self) -> int | None:
        if self.options is not None:
            return self.options.max_length if isinstance(self.options.max_length, int) else None
        length = dict(self.said).get("max_length", "")
        return int(length) if length.isdecimal() and len(length) < 16 else None

    @property
    def sentence(self) -> str:
        what = (self._kind and self._kind.summaries) or f"{self.formulation} summaries"
        options = self.options
        if options is None or self.setup is None:
            return "; ".join(filter(None, (what, _capitals(self.metric), *self._more)))
        if not self.of_texts:
            return self.setup.formulation.about
        if not self.setup.formulation.has_metric:
            if not self.minimizes:
                return f"{what}: {self.setup.formulation.goal(options.spec())}"
            return f"{what} of as few {options.length_unit if options.weights == 'length' else 'sentences'} as can be"
        longest = longest_said(options.max_length, options.length_unit)
        size = f"{options.min_length} to {longest}" if options.min_length else f"at most {longest}"
        size = "any length" if options.max_length is None else size
        measure = "F1" if options.measure == "f1" else options.measure
        words = [f"{what} of {size}; {_capitals(options.metric)} {measure} against {_REFERENCES[options.references]}"]
        return "; ".join([", ".join([*words, *words_kept(options)]), *self._more])

    def to_json(self) -> dict[str, Any]:
        options = {} if self.options is None else self.options.model_dump()
        components = list(_components(self.metric)) if self.metric is not None and options else []
        row = {"label": visible(self.label), "minimizes": self.minimizes, "texts": self.of_texts}
        row |= {"unit": options.get("length_unit") if self.of_texts else None, "components": components}
        row |= {"distinct": options.get("counts") == "set", "joined": options.get("boundaries") == "joined"}
        apart = options.get("model_units") == "sentences"
        return {**row, "apart": apart, "best": options.get("references") == "best"}


def _capitals(metric: str | None) -> str:
    return "" if metric is None else metric.replace("rouge-", "ROUGE-").replace("-su", "-SU").replace("E-l", "E-L")


def _components(metric: str) -> Iterator[dict[str, Any]]:
    try:
        components = parse_metric(metric).components
    except OptsumError:
        return
    for each in components:
        kind, number = each.coded or (None, 0)
        own = {what: number for known, what in ((NGRAMS, "size"), (SKIPS, "skip")) if kind == known}
        yield {"name": each.name, **own}


_STRANGE = "its details were not written by optsum"


def _options_of(details: Mapping[str, Any] | None) -> Options | None:
    given = None if details is None else details.get("options")
    if given is None:
        return None
    try:
        return Options.model_validate({k: v for k, v in dict(given).items() if k not in _NOT_OF_PROBLEMS})
    except ValidationError as error:
        raise InputError(f"{_STRANGE}: {sentence_of(error, Options, in_file=True)}") from None
    except (TypeError, ValueError):
        raise InputError(f"{_STRANGE}: options is not an object") from None


def topic_of(row: Mapping[str, Any], details: Mapping[str, Any]) -> Topic:
    references = details.get("references")
    problem = references == [] and "cover" not in details  # a problem without texts
    given: dict[str, Any] = {"id": row.get("id") or "?", "references": [[]] if problem else references}
    given |= {name: details.get(name) for name in ("documents", "cover", "weights", "lengths")}
    given["meta"] = {name: details[name] for name in ("sentence_ids", "abstract_ids") if name in details}
    topic = as_topic(given, flat="sentences")
    return replace(topic, references=()) if problem else topic


def text_of(topic: Topic, setting: Setting, parts: object) -> dict[str, Any]:
    """Return the texts of a topic for the page, in which a sentence is [length, pieces, tokens, chunks].

    Pieces: the text of the sentence, cut at the start of each token. Tokens: a number for each, -1 if no reference has
    it. Chunks: the number of the chunk of each piece, only if `parts` is given. `parts`: by sentence, (index of the
    first character, chunk) of each run of characters in one chunk.
    """
    setup = setting.setup
    analyzer = None if setup is None or not setup.formulation.has_metric else setup.spec_for(topic).analyzer
    spec = None if setup is None else setup.spec_for(topic)
    lengths = list(map(word_count, topic.sentences)) if spec is None else spec.lengths_of(topic)
    numbers: dict[str, int] = {}

    def shown(sentence: Sentence, length: int, *, known: bool, parts: Sequence[Any] | None = None) -> list[Any]:
        text, spans = raw_text(sentence), [] if analyzer is None else analyzer.spans(sentence)
        starts = [0, *(start for _, start in spans)]
        pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
        ids = [numbers.get(token, -1) if known else numbers.setdefault(token, len(numbers)) for token, _ in spans]
        if parts is None:
            return [length, pieces, ids]
        return [length, pieces, ids, [parts[max(0, _index(parts, start))][1] if parts else 0 for start in starts]]

    length_of = word_count if spec is None or spec.length_unit == "given" else spec.length_of
    references = [[shown(each, length_of(each), known=False) for each in reference] for reference in topic.references]
    rows = zip(topic.sentences, lengths, _checked_parts(parts, len(lengths)), strict=True)
    sentences = [shown(sentence, length, known=True, parts=begin) for sentence, length, begin in rows]
    found: dict[str, Any] = {
        "documents": list(map(len, topic.documents)), "sentences": sentences, "references": references,
    }  # fmt: skip
    if topic.cover is not None:
        found["cover"] = [[list(chosen) for chosen in alternatives] for alternatives in topic.cover]
        found["names"] = list(texts_of(topic))
        if not topic.documents:  # passages without text are shown by their names in the cover
            given = topic.lengths if setting.options is not None and setting.options.length_unit == "given" else None
            named = in_order(frozenset().union(*(chosen for sets in topic.cover for chosen in sets)))
            found["names"] = list(range(len(given))) if given is not None else list(named)
            found["sentences"] = [
                [1 if given is None else given[place], [str(name)], []] for place, name in enumerate(found["names"])
            ]
        found["claims"] = claim_names(topic, range(len(topic.cover)))
        if topic.weights is not None:
            found["weights"] = list(map(float, topic.weights))
    return found


def _checked_parts(parts: Any, sentences: int) -> Sequence[list[tuple[int, int]] | None]:
    if parts is None:
        return [None] * sentences
    try:
        found = [[(place, part) for place, part in each] for each in parts]
    except (TypeError, ValueError):
        found = []
    if len(found) != sentences or any(type(number) is not int for each in found for pair in each for number in pair):
        raise InputError(f"{_STRANGE}: parts is not a list of [place, part] for each sentence")
    return found


Variant: TypeAlias = tuple[str, str | None, int | None, int]
"""A way to search: strategy, backend, seed, and a number that distinguishes searches with different other options."""


@dataclass
class PageResult:
    """The result of one variant for one problem, compared with the optimum."""

    result: Result
    ratio: float | None = None  # Approximation ratio to the optimum, or to the best bound if that is not known.
    guaranteed: bool = False  # Whether the bound was used, so that the true ratio is at least `ratio`.
    reached: bool = False  # Whether its value equals the optimum, compared exactly.


@dataclass
class PageProblem:
    """A topic in a setting, with the results of all variants."""

    id: str | None
    setting: Setting
    found: dict[Variant, PageResult] = field(default_factory=dict)
    optimum: Key | None = None  # The optimum if it is known.
    bound: float | None = None  # The best proven bound if the optimum is not known.
    text: dict[str, Any] | None = None  # The texts for the page (`text_of`).
    optima: dict[str, Any] | None = None  # Number, list and unit shares of all optima.
    # Numbers of sentences and words of the documents.
    sentences: int | None = None
    words: int | None = None

    @property
    def error(self) -> str | None:
        errors = [each.result.error for each in self.found.values()]
        return errors[0] if errors and None not in errors else None

    @property
    def value(self) -> float | None:
        held = [(each.reached, value) for each in self.found.values() if (value := each.result.objective) is not None]
        best = (value for reached, value in held if reached)
        known = (min if self.setting.minimizes else max)((value for _, value in held), default=None)
        return next(best, known)

    def judge(self) -> None:
        self.optimum, bounds, _ = claims([each.result for each in self.found.values()])
        if self.optimum is None and bounds:
            self.bound = float((max if self.setting.minimizes else min)(bounds))
        for each in self.found.values():
            each.ratio, each.guaranteed = ratio_to_best(each.result.key, self.optimum, bounds)
            each.reached = self.optimum is not None and each.result.key == self.optimum


@dataclass
class Gathered:
    """The contents of all rows of a page."""

    settings: list[Setting] = field(default_factory=list)
    problems: list[PageProblem] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)

    def names(self) -> list[str]:
        found = []
        for variant in self.variants:
            same = [other for other in self.variants if other[0] == variant[0]]
            name = variant[0]
            if len({other[1] for other in same}) > 1:
                name += f" on {variant[1]}"
            if len({other[2] for other in same if other[1] == variant[1]}) > 1:
                name += f", seed {variant[2]}"
            found.append(visible(name))
        counts = Counter(found)
        before = [found[:place].count(name) for place, name in enumerate(found, start=1)]
        return [f"{name} ({n})" if counts[name] > 1 else name for name, n in zip(found, before, strict=True)]

    def of(self, variant: Variant) -> list[PageResult]:
        return [problem.found[variant] for problem in self.problems if variant in problem.found]

    def each(self) -> Iterator[tuple[PageProblem, int, PageResult]]:
        """Yield each result with its problem and the place of its variant, variant by variant."""
        for place, variant in enumerate(self.variants):
            yield from ((each, place, each.found[variant]) for each in self.problems if variant in each.found)

    def counts(self) -> list[tuple[str, str]]:
        """Return (number of tied optima as digits of any length, name) of each problem with a count, ascending."""
        counted = ((each.optima, each.id or "?") for each in self.problems)
        held = [(optima["count"], name) for optima, name in counted if optima and "near" not in optima]
        return sorted(held, key=lambda pair: (len(pair[0]), pair[0]))

    def heuristics(self) -> dict[int, list[PageResult]]:
        return {place: self.of(each) for place, each in enumerate(self.variants) if not _is_exact(each[0])}

    def table(self, headings: Iterable[str], cells: Mapping[int, Iterable[str]]) -> list[list[str]]:
        """Return headings and a line of cells for each variant, by its place; greedy search of frontiers is last."""
        names = [*self.names(), GREEDY]
        return [["strategy", *headings], *([names[place], *line] for place, line in cells.items())]

    @property
    def kind(self) -> str:
        """The word for one of the problems; a topic in several settings is several problems."""
        return "topic" if len(self.settings) == 1 and self.settings[0].of_texts else "problem"

    def by_objective(self) -> dict[Setting, Gathered]:
        """Return the contents for each setting apart from its maximum length: values of one can be averaged."""
        found: dict[Setting, list[PageProblem]] = defaultdict(list)
        for problem in self.problems:
            found[problem.setting.of_any_length].append(problem)
        return {setting: replace(self, problems=problems) for setting, problems in found.items()}

    def has_frontier(self) -> bool:
        return any(each.result.frontier is not None for *_, each in self.each())


def _is_exact(strategy: str) -> bool:
    try:
        return bool(STRATEGIES.load(strategy).exact)
    except OptsumError:  # a plug-in that is not installed here
        return False


def gather(rows: Iterable[Mapping[str, Any]]) -> Gathered:
    """Group rows by setting and id (rows without an id: by being adjacent), and compare them with the optimum."""
    gathered = Gathered()
    known: dict[tuple[Setting, str], PageProblem] = {}
    block: PageProblem | None = None
    for place, row in enumerate(rows, start=1):
        try:
            if "labels" in row and "selection" not in row:
                raise InputError(  # noqa: TRY301 - with the number of the row
                    "this is a row of training labels, which does not identify searches: give rows of solve, compare, "
                    "enumerate or run"
                )
            result, details = Result.from_row(row), row.get("details")
            search = result.strategy, result.backend, result.seed
            if details is not None and not isinstance(details, Mapping):
                raise InputError(f"{_STRANGE}: not an object")  # noqa: TRY301
            if (
                block is None
                or details is not None
                or result.id != block.id
                or block.setting != Setting.of(row, block.setting.options)
                or (result.id is None and (*search, 0) in block.found)
            ):
                block = _problem(gathered, known, row, details)
            variant = _free(block, result)
            if variant is None:  # an id that occurs twice, of which one row is an error
                block = _problem(gathered, {}, row, details)
                if result.id is not None and result.error is None:
                    known[block.setting, result.id] = block
                variant = *search, 0
        except InputError as error:
            raise InputError(f"{getattr(row, 'source', f'row {place}')}: {error}") from None
        kept = {key: value for key, value in result.extra.items() if key != "details"}
        block.found[variant] = PageResult(result.changed(extra=kept))
        if variant not in gathered.variants:
            gathered.variants.append(variant)
        if block.optima is None and result.enumeration is not None:
            block.optima = _of_enumeration(result)
    for problem in gathered.problems:
        problem.judge()
    gathered.settings = list(dict.fromkeys(problem.setting for problem in gathered.problems))
    gathered.variants.sort(key=lambda variant: not _is_exact(variant[0]))  # exact strategies first
    return gathered


def _free(problem: PageProblem, result: Result) -> Variant | None:
    """Return a variant without a result; None if there is one of the same search, and one of the two is an error."""
    search = result.strategy, result.backend, result.seed
    others = [each.result for variant, each in problem.found.items() if variant[:3] == search]
    same = [other for other in others if other.config_hash == result.config_hash]
    if same and (result.error, same[0].error) == (None, None):
        raise InputError(f"there are two rows of {result.id!r} by {result.strategy}: give the rows of each search once")
    return None if same else (*search, len(others))


def _problem(
    gathered: Gathered, known: dict[tuple[Setting, str], PageProblem], row: Mapping[str, Any], details: Any
) -> PageProblem:
    setting = Setting.of(row, _options_of(details))
    name: Any = row.get("id")
    problem = known.get((setting, name))
    if problem is None:
        problem = PageProblem(name, setting)
        gathered.problems.append(problem)
        if name is not None:
            known[setting, name] = problem
    count = row.get("sentence_count", row.get("units"))  # the latter for a problem without a text
    problem.sentences = problem.sentences if count is None else count
    if details is not None and problem.text is None:
        topic = topic_of(row, details)
        problem.text = text_of(topic, setting, details.get("parts"))
        problem.sentences = len(topic.sentences)
        problem.words = sum(map(word_count, topic.sentences)) if setting.of_texts else None
        problem.optima = _checked(details.get("optima"))
    return problem


def _checked(optima: object) -> dict[str, Any] | None:
    if optima is None:
        return None
    held = optima if isinstance(optima, Mapping) else {}
    count, sets, shares = held.get("count"), held.get("listed"), held.get("shares")
    fits = (
        isinstance(count, int | str)
        and re.fullmatch("0|[1-9][0-9]*", str(count)) is not None
        and isinstance(sets, list)
        and isinstance(shares, list | None)
        and all(isinstance(each, list) for each in [*sets, *(shares or [])])
        and all(len(each) == 2 and isinstance(each[1], int | float) for each in shares or [])
    )
    if not fits:
        raise InputError(f"{_STRANGE}: optima need count, complete, listed and shares")
    return {"count": str(count), "complete": held.get("complete") is True, "listed": sets, "shares": shares}


def _of_enumeration(result: Result) -> dict[str, Any] | None:
    """Return the listed optima or near-optimal sets of a result, with each unit's share if known; None without."""
    found = result.enumeration
    if found is None or not found.optima:
        return None
    held: dict[str, Any] = {"count": str(found.count), "complete": found.complete, "listed": found.optima}
    if found.near is not None:
        return held | {"shares": found.unit_shares, "near": visible(found.near)}
    shares = None
    if found.complete and len(found.optima) == found.count:
        counts = Counter(unit for optimum in found.optima for unit in optimum)
        shares = [(unit, times / found.count) for unit, times in counts.items()]
    return held | {"shares": shares}


_POINTS: Final = 160  # The most corners of a line in a chart, which is too small to show more.
_FAR: Final = 1e15
GREEDY: Final = "greedy (frontier)"  # The name of greedy search in the rows of frontiers, as it has no row of its own.

Point = tuple[float, float]


class Axis(NamedTuple):
    """The title, range and scale of an axis of a chart."""

    title: str
    low: float
    high: float
    log: bool = False  # Whether the scale is logarithmic.
    unit: str = ""  # "seconds", "share", or empty for plain numbers.


def _share_of(gathered: Gathered) -> Axis:
    return Axis(f"share of {gathered.kind}s", 0.0, 1.0, unit="share")


class Chart(NamedTuple):
    """One small chart of the page."""

    title: str
    about: str  # A sentence that says what is shown, what is counted, and what is left out.
    x: Axis
    y: Axis
    series: dict[int, list[Point]]  # By the place of a variant among all.
    table: list[list[str]]  # The same data as a table, the headings first.
    kind: str = "steps"  # "steps", "line" or "dots".


def counts_in_words(counts: Iterable[int]) -> str:
    least, most = min(counts := list(counts)), max(counts)
    return f"n = {most}" if least == most else f"n = {least} to {most}"


def rising(found: Sequence[float], count: int, axis: Axis) -> list[Point]:
    """Return corners of the line that shows the share of `count` values, ascending, that are at most x."""
    inside = [value for value in dict.fromkeys(found) if value <= axis.high]
    points = [(axis.low, 0.0), *((value, bisect_right(found, value) / count) for value in inside)]
    if len(points) > _POINTS:
        every = (len(points) - 1) / (_POINTS - 1)
        points = [points[round(place * every)] for place in range(_POINTS)]
    return [*points, (axis.high, points[-1][1])]


WIDTH: Final = 320
HEIGHT: Final = 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 8, 36
IN_BLOCK: Final = 8  # Number of topics compressed together: fewer need more space, more take longer to unpack.
STYLES: Final = 8  # Number of different styles of lines; the ninth variant looks like the first.


def drawn(chart: Chart) -> dict[str, Any]:
    """Return the parts of a chart for the template of the page, in pixels: ticks of the axes, paths and dots."""
    x = _scale(chart.x, _LEFT, WIDTH - _RIGHT)
    y = _scale(chart.y, HEIGHT - _BOTTOM, _TOP)
    series = [
        (place % STYLES, [(round(x(one), 1), round(y(other), 1)) for one, other in found])
        for place, found in chart.series.items()
    ]
    is_dots, turn = chart.kind == "dots", "H{:g}V{:g}" if chart.kind == "steps" else "L{:g} {:g}"
    paths = [
        (style, "M{:g} {:g}".format(*points[0]) + "".join(turn.format(*each) for each in points[1:]))
        for style, points in series
    ]
    x_ticks = [(round(x(value), 1), _shown(value, chart.x)) for value in _ticks(chart.x)]
    parts: dict[str, Any] = {"dots": series, "lines": []} if is_dots else {"dots": [], "lines": paths}
    parts |= {"y_ticks": [(round(y(value), 1), _shown(value, chart.y)) for value in _ticks(chart.y)]}
    parts |= {"x_ticks": [(at, text, "end" if at > WIDTH - 2 * _RIGHT else "middle") for at, text in x_ticks]}
    borders = {"width": WIDTH, "height": HEIGHT, "left": _LEFT, "right": WIDTH - _RIGHT, "bottom": HEIGHT - _BOTTOM}
    return {"chart": chart, **parts, **borders}


def _scale(axis: Axis, start: float, end: float) -> Callable[[float], float]:
    low, high = (log10(axis.low), log10(axis.high)) if axis.log else (axis.low, axis.high)
    span = high - low or 1.0

    def place(value: float) -> float:
        at = log10(max(value, axis.low)) if axis.log else value
        return start + (end - start) * min(1.0, max(0.0, (at - low) / span))

    return place


def _ticks(axis: Axis) -> list[float]:
    if axis.log:
        low, high = log10(axis.low), log10(axis.high)
        if high - low < 1:  # there may be no power of ten in between
            return [axis.low, (axis.low * axis.high) ** 0.5, axis.high]
        every = max(1, ceil((high - low) / 5))
        return [10.0**power for power in range(ceil(low - 1e-9), floor(high + 1e-9) + 1, every)]
    rough = (axis.high - axis.low) / 4
    base = 10 ** floor(log10(rough))
    step = next(base * factor for factor in (1, 2, 2.5, 5, 10) if base * factor >= rough * 0.999)
    first = ceil(axis.low / step - 1e-9)
    return [round(step * place, 12) for place in range(first, floor(axis.high / step + 1e-9) + 1)]


def _shown(value: float, axis: Axis) -> str:
    if axis.unit == "share":
        return f"{value:.0%}".replace("%", " %")
    if axis.unit == "seconds":
        return short_seconds(value)
    return f"{value:.4g}"


def profile(gathered: Gathered) -> Chart | None:
    """Return the performance profile of time (Dolan & More 2002), over topics whose optimum a variant found."""
    times: dict[int, dict[int, float]] = defaultdict(dict)  # by strategy, then by problem
    best: dict[int, float] = {}
    for problem, place, each in gathered.each():
        if problem.optimum is not None and each.reached:
            times[place][id(problem)] = time = max(_answer_time(each.result), 1e-6)
            best[id(problem)] = min(time, best.get(id(problem), time))
    ratios = {place: sorted(time / best[topic] for topic, time in found.items()) for place, found in times.items()}
    if len(ratios) < 2:
        return None
    axis, n = Axis("times the fastest", 1.0, max(10.0, *(found[-1] for found in ratios.values())), log=True), len(best)
    about = (
        f"Share of {gathered.kind}s whose optimum was found within this many times the time of the fastest that found "
        f"it; n = {counted(n, gathered.kind)} with a known optimum."
    )
    series = {place: rising(found, n, axis) for place, found in ratios.items()}
    factors = [factor for factor in (1, 2, 5, 10, 100, 1000) if factor <= axis.high * 10]
    cells = {place: [f"{bisect_right(found, one) / n:.0%}" for one in factors] for place, found in ratios.items()}
    table = gathered.table((f"{factor} x" for factor in factors), cells)
    return Chart("Performance profile of time", about, axis, _share_of(gathered), series, table)


def values(gathered: Gathered) -> Chart | None:
    traces: dict[int, list[list[Point]]] = defaultdict(list)
    for problem, place, each in gathered.each():
        if problem.optimum is not None and each.result.trace and (best := problem.value):
            known = [(point.seconds, point.objective) for point in each.result.trace if point.objective]
            least = problem.setting.minimizes
            shares = ((second, best / value if least else value / best) for second, value in known)
            traces[place].append([(0.0, 0.0), *shares])
    times = [second for found in traces.values() for trace in found for second, _ in trace if second > 0]
    if not times:
        return None
    low = 10 ** floor(log10(max(min(times), 1e-6)))
    high = max(low * 10, 10 ** ceil(log10(max(*times, 2e-6))))
    grid = [low * (high / low) ** (step / 60) for step in range(61)]
    series = {
        place: [(time, fmean(trace[_index(trace, time)][1] for trace in found)) for time in grid]
        for place, found in traces.items()
    }
    n = counts_in_words(map(len, traces.values()))
    about = f"Mean of the value held after a time of search, as a share of the optimum; {n}."
    x = Axis("seconds of search", low, high, log=True, unit="seconds")
    cells = {place: [f"{share:.1%}" for _, share in points[::6]] for place, points in series.items()}
    table = gathered.table(map(seconds, grid[::6]), cells)
    return Chart("Value over time", about, x, Axis("value / optimum", 0.0, 1.0, unit="share"), series, table, "line")


def _index(points: Sequence[Any], place: float) -> int:
    """Return the index of the last of some pairs, in ascending order, that begins at or before a place; -1 without."""
    return bisect_right(points, place, key=itemgetter(0)) - 1


def sizes(gathered: Gathered) -> Chart | None:
    dots: dict[int, list[Point]] = defaultdict(list)
    for problem, place, each in gathered.each():
        if problem.sentences and each.result.error is None:
            dots[place].append((float(problem.sentences), max(_answer_time(each.result), 1e-6)))
    sizes = sorted({size for found in dots.values() for size, _ in found})
    if len(sizes) < 2:
        return None
    times = [time for found in dots.values() for _, time in found]
    borders = sorted({sizes[len(sizes) * part // 4] for part in range(4)})
    parts = list(pairwise([*borders, sizes[-1] + 1]))
    cells = {}
    for place, found in dots.items():
        inside = [[time for size, time in found if low <= size < end] for low, end in parts]
        cells[place] = [seconds(median(times) if times else None) for times in inside]
    count = max(map(len, dots.values()))
    every = ceil(count / 400)  # so that there are at most 400 dots of one variant
    left = f", of which every {every}th is drawn" if every > 1 else ""
    about = f"Seconds from text to answer by number of sentences; n = {count}{left}."
    x = Axis("sentences", sizes[0], sizes[-1], log=sizes[-1] / sizes[0] > 20)
    y = Axis("seconds", min(times), max(*times, min(times) * 1.1), log=True, unit="seconds")
    table = gathered.table((f"{low:g}" if end == low + 1 else f"{low:g} to {end - 1:g}" for low, end in parts), cells)
    return Chart("Time against size", about, x, y, {each: dots[each][::every] for each in dots}, table, "dots")


def losses(gathered: Gathered) -> Chart | None:
    values = {
        place: [0.0 if each.reached else 1 - each.ratio for each in found if each.ratio is not None]
        for place, found in gathered.heuristics().items()
    }
    lost = [loss for found in values.values() for loss in found if loss > 0]
    if not lost:
        return None
    bound = sum(each.guaranteed for *_, each in gathered.each())
    note = f"; {bound} against the best bound, where the optimum is not known" if bound else ""
    about = (
        f"Share of {gathered.kind}s that lose at most this part of the optimum; curves begin with those that lose "
        f"none{note}."
    )
    low = max(1e-4, 10.0 ** floor(log10(min(lost))))  # smaller losses are drawn at the left end
    high = max(10 * low, *lost)
    return _distribution(gathered, "Loss against the optimum", about, values, Axis("1 - ratio", low, high, log=True))


def ties(gathered: Gathered) -> Chart | None:
    counts = [min(float(count[:300]), _FAR) for count, _ in gathered.counts()]
    if len(set(counts)) < 2:
        return None
    about = f"Share of {gathered.kind}s by their number of tied optima: at most this many; n = {len(counts)}."
    axis = Axis("optima", max(1.0, counts[0]), max(10.0, counts[-1]), log=True)
    line = ["optima", *map("{:g}".format, (counts[0], median(counts), counts[-1]))]
    table, series = [["", "least", "median", "largest"], line], {0: rising(counts, len(counts), axis)}
    return Chart("Number of optima", about, axis, _share_of(gathered), series, table)


def gaps(gathered: Gathered) -> Chart | None:
    values = {
        place: [gap for each in gathered.of(variant) if (gap := each.result.gap) is not None]
        for place, variant in enumerate(gathered.variants)
    }
    every = [gap for gaps in values.values() for gap in gaps]
    if not any(every):
        return None
    wide = sum(gap > 1 for gap in every)
    more = f"; {wide} of more than 1" if wide else ""
    about = f"Share of {gathered.kind}s with at most this gap to the strategy's own bound{more}."
    return _distribution(gathered, "Certified gap", about, values, Axis("gap", 0.0, min(1.0, max(every))))


def _distribution(gathered: Gathered, title: str, about: str, values: dict[int, list[float]], axis: Axis) -> Chart:
    values = {place: sorted(found) for place, found in values.items() if found}
    shares = {"least": 0.0, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95, "largest": 1.0}
    cells = {
        place: [number(found[min(len(found) - 1, floor(share * len(found)))], 4) for share in shares.values()]
        for place, found in values.items()
    }
    about = f"{about} {counts_in_words(map(len, values.values()))}."
    series = {place: rising(found, len(found), axis) for place, found in values.items()}
    return Chart(title, about, axis, _share_of(gathered), series, gathered.table(shares, cells))


def lengths(gathered: Gathered, objective: str = "") -> Chart | None:
    curves = _curves(gathered)
    where = sorted({length for found in curves.values() for curve in found for length, _ in curve})
    if len(where) < 2:
        return None
    grid = where[:: ceil(len(where) / 120)]
    series = {place: _mean(found, grid) for place, found in sorted(curves.items())}
    heights = [value for points in series.values() for _, value in points]
    shown = grid[:: ceil(len(grid) / 12)]  # the table has at most 12 lengths
    of = f" ({objective})" if objective else ""
    about = f"Mean objective by maximum length{of}; {counted(len(where), 'length')}."
    x, y = Axis("maximum length", where[0], where[-1]), Axis("objective", min([0.0, *heights]), max([*heights, 1e-9]))
    cells = {place: [number(dict(points).get(length)) for length in shown] for place, points in series.items()}
    table = gathered.table((f"{length:g}" for length in shown), cells)
    return Chart("Value against length", about, x, y, series, table, "line")


def _curves(gathered: Gathered) -> dict[int, list[list[Point]]]:
    """Return the objectives of each topic by maximum length, for each variant; greedy search of frontiers is last."""
    single: dict[int, dict[str, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    found: dict[int, list[list[Point]]] = defaultdict(list)
    for problem, place, each in gathered.each():
        if (frontier := each.result.frontier) is not None:
            found[place] += [curve] if (curve := _points(frontier.steps)) else []
            found[len(gathered.variants)] += [curve] if (curve := _points(frontier.greedy or ())) else []
        elif each.result.objective is not None and (length := problem.setting.max_length) is not None:
            single[place][problem.id or f"#{id(problem)}"][float(length)] = each.result.objective
    for place, topics in single.items():
        found[place] += [sorted(values.items()) for values in topics.values()]
    return {place: curves for place, curves in found.items() if curves}


def _points(steps: Sequence[Any]) -> list[Point]:
    held = [step for step in steps if step.objective is not None and abs(step.first) < _FAR]
    return sorted((float(step.first), float(step.objective or 0)) for step in held)


def _mean(curves: list[list[Point]], grid: list[float]) -> list[Point]:
    points = []
    for length in grid:
        held = [curve[place][1] for curve in curves if (place := _index(curve, length)) >= 0]
        if len(held) == len(curves):  # a mean over fewer topics could not be compared with the others
            points.append((length, fmean(held)))
    return points


def charts_of(gathered: Gathered) -> list[Chart]:
    parts = gathered.by_objective()
    by_length = [lengths(part, setting.label if len(parts) > 1 else "") for setting, part in parts.items()]
    # One problem has no distributions.
    makers = [losses, ties, gaps, profile, values, sizes] if len(gathered.problems) > 1 else [values]
    others = [maker(gathered) for maker in makers]
    is_first = gathered.has_frontier() or len(gathered.problems) == 1
    charts = [*by_length, *others] if is_first else [*others, *by_length]
    return [chart for chart in charts if chart is not None]


Tile: TypeAlias = tuple[str, str, str]  # A number that is shown large, its name, and a remark.
MatrixCell: TypeAlias = tuple[str, str, str, str]  # Mean objective, mean ratio, number of optima reached, mean time.


def sentences_of(gathered: Gathered) -> list[str]:
    exact = [strategy for strategy, *_ in gathered.variants if _is_exact(strategy)]
    said = []
    for setting in gathered.settings:
        problems = [problem for problem in gathered.problems if problem.setting == setting]
        results = [each.result for problem in problems for each in problem.found.values()]
        provers = Counter(result.strategy for result in results if result.status is Status.OPTIMAL)
        names = [name for name in dict.fromkeys(exact) if provers[name] == max(provers.values(), default=0) > 0]
        by = f" by {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}" if names else ""
        known = sum(problem.optimum is not None for problem in problems)
        count = "all" if known == len(problems) > 1 else str(known)
        failed = sum(problem.error is not None for problem in problems)
        errors = f"; {counted(failed, 'error')}" if failed else ""
        frontiers = [frontier for result in results if (frontier := result.frontier) is not None]
        longest = max((step.last for each in frontiers for step in each.steps), default=_FAR)
        size = f"; maximum lengths up to {longest:,}" if longest < _FAR and setting.max_length is None else ""
        many = counted(len(problems), "topic" if setting.of_texts else "problem")
        said.append(f"{many}; {setting.sentence}{size}; optimum proven{by} for {count}{errors}.")
    return said


def tiles_of(gathered: Gathered) -> list[Tile]:
    problems = gathered.problems
    oracles = [problem.value for problem in problems if problem.optimum is not None and problem.value is not None]
    tiles: list[Tile] = []
    mean = "" if len(problems) == 1 else "mean "
    if oracles and len(gathered.by_objective()) == 1:  # values of several objectives have no common mean
        whole = all(problem.setting.minimizes or not problem.setting.of_texts for problem in problems)
        what = ("minimum cover" if whole else "oracle") if problems[0].setting.of_texts else "optimum"
        proven = f"of {counted(len(oracles), gathered.kind)}, proven" if mean else "proven"
        where = " at the largest maximum length" if gathered.has_frontier() else ""
        value = fmean(oracles)
        digits = 0 if _is_whole(value, problems) else 2 if whole else 4
        tiles.append((number(value, digits), f"{mean}{what}", proven + where))
    names = gathered.names()
    rated = {
        place: [each.ratio for each in found if each.ratio is not None]
        for place, found in gathered.heuristics().items()
        if any(each.ratio is not None for each in found)
    }
    if rated:
        place, ratios = max(rated.items(), key=lambda item: fmean(item[1]))
        least = "at least " if any(each.guaranteed for each in gathered.of(gathered.variants[place])) else ""
        worst = f"; {least}{number(min(ratios))} at worst" if mean else ""
        what = f"{mean or least}ratio of {names[place]}"
        tiles.append((number(fmean(ratios)), what, f"the best heuristic{worst}"))
    if rated and mean:
        place = missing_strategy(gathered)
        found = gathered.of(gathered.variants[place])
        reached = [each.reached for each in found if not each.guaranteed and each.ratio is not None]
        what = f"{gathered.kind}s whose optimum {names[place]} misses"
        tiles.append((f"{reached.count(False)} of {len(reached)}", what, ""))
    tiles += _frontier_tiles(gathered)
    counts = gathered.counts()
    if counts:
        (low, _), (high, _) = counts[(len(counts) - 1) // 2], counts[len(counts) // 2]
        middle = short(f"{(int(low) + int(high)) / 2:g}" if len(high) <= 6 else low)
        what, more = "tied optima (median)", f"{short(counts[-1][0])} at most, for {visible(counts[-1][1])}"
        tiles.append((middle, what, more) if mean else (middle, "optima that are tied", ""))
        if not rated and mean:
            single = sum(count == "1" for count, _ in counts)
            tiles.append((f"{single} of {len(counts)}", f"{gathered.kind}s with a single optimum", ""))
    return tiles


def _is_whole(value: float, problems: Iterable[PageProblem]) -> bool:
    """Return whether a value is shown without decimals: a whole number, of problems without texts."""
    return value.is_integer() and not any(problem.setting.of_texts for problem in problems)


def _frontier_tiles(gathered: Gathered) -> list[Tile]:
    curves = _curves(gathered) if gathered.has_frontier() and len(gathered.by_objective()) == 1 else {}
    best, greedy = curves.get(0), curves.get(len(gathered.variants))
    if not best or not greedy:
        return []
    grid = sorted({length for curve in best for length, _ in curve})
    most, reached = (dict(_mean(found, grid)) for found in (best, greedy))
    shares = [(reached[length] / most[length], length) for length in grid if most.get(length) and length in reached]
    if not shares:
        return []
    least, where = min(shares)
    remark = f"{number(least)} at length {where:g}, the lowest"
    return [(number(fmean(share for share, _ in shares)), "greedy / optimum, mean over lengths", remark)]


def missing_strategy(gathered: Gathered) -> int:
    """Return the place of greedy, or of the first heuristic: the page can filter topics whose optimum it misses."""
    names = {place: gathered.variants[place][0] for place in gathered.heuristics()}
    return min(names, key=lambda place: (names[place] != DEFAULT_HEURISTIC, place), default=0)


def short(digits: str) -> str:
    return digits if len(digits) <= 6 or "." in digits else f"{digits[0]}.{digits[1]}e{len(digits) - 1}"


def matrix_of(gathered: Gathered) -> list[tuple[str, list[MatrixCell | None]]]:
    results: dict[tuple[int, Setting], list[tuple[PageProblem, PageResult]]] = defaultdict(list)
    for problem, place, each in gathered.each():
        results[place, problem.setting].append((problem, each))
    return [
        (name, [_cell(found) if (found := results.get((place, one))) else None for one in gathered.settings])
        for place, name in enumerate(gathered.names())
    ]


def _cell(results: list[tuple[PageProblem, PageResult]]) -> MatrixCell:
    mean = mean_of(each.result.objective for _, each in results)
    whole = mean is not None and _is_whole(mean, (problem for problem, _ in results))
    least = "≥ " if any(each.guaranteed for _, each in results) else ""
    ratio = f"{least}{number(mean_of(each.ratio for _, each in results))}"
    known = [each.reached for problem, each in results if problem.optimum is not None]
    time = seconds(mean_of(_answer_time(each.result) for _, each in results if each.result.error is None))
    return number(mean, 0 if whole else 4), ratio, f"{sum(known)} of {len(known)}", time


def table_of(gathered: Gathered) -> list[dict[str, Any]]:
    settings = {setting: place for place, setting in enumerate(gathered.settings)}
    return [_line(problem, settings[problem.setting], gathered) for problem in ordered(gathered)]


def ordered(gathered: Gathered) -> list[PageProblem]:
    return sorted(gathered.problems, key=lambda problem: problem.error is None)


def _line(problem: PageProblem, setting: int, gathered: Gathered) -> dict[str, Any]:
    results: list[list[str | float | None] | None] = []
    for each in map(problem.found.get, gathered.variants):
        if each is None:
            results.append(None)
            continue
        mark = int(each.reached) if problem.optimum is not None else int(each.guaranteed) * 2
        cells = [each.result.status.value, _rounded(each.result.objective), _rounded(each.ratio, 6), mark]
        results.append([*cells, _rounded(_answer_time(each.result), 6)])
    optima = None
    if (found := problem.optima) is not None:  # count, whether it is exact, and the threshold if near-optimal
        optima = [found["count"], found["complete"], *([found["near"]] if "near" in found else [])]
    line = {"id": visible(problem.id or "?"), "setting": setting}
    line |= {"sentences": problem.sentences, "words": problem.words, "value": _rounded(problem.value)}
    line |= {"proven": problem.optimum is not None, "bound": _rounded(problem.bound), "optima": optima}
    line |= {"error": None if problem.error is None else visible(problem.error), "results": results}
    return {key: value for key, value in line.items() if value is not None}


def _answer_time(result: Result) -> float:
    return result.timing.answer_s or result.seconds


def _rounded(value: float | None, digits: int = 8) -> float | None:
    return None if value is None else round(value, digits)


_SCRIPTS: Final = (
    *("core.js", "grams.js", "table.js", "marks.js"),
    *("topic.js", "source.js", "references.js", "cover.js", "start.js"),
)
_STYLES: Final = ("page.css", "table.css", "topic.css", "print.css")


def write_page(
    rows: Iterable[Result | Mapping[str, Any]], output: PathLike, *, title: str = "", overwrite: bool = False
) -> None:
    """Write results as one HTML file, which needs no server and no network.

    Parameters
    ----------
    rows : iterable of Result or mapping
        Results, such as ``compare(...).results``, or rows of ``Result.to_row``. With details (``compare(...,
        details=True)``) the page shows texts; otherwise only summaries, values and times.
    output : str or path
        The file to write, in an existing folder.
    title : str
        Heading of the page; by default "Oracle summaries", or "Best selections" for problems without texts.
    overwrite : bool
        Whether to replace an existing file.

    Raises
    ------
    InputError
        If there is no row, or a row has another form.
    OptionError
        If the output exists, or cannot be written.
    """
    if not is_list(rows, ordered=False):
        raise InputError(f"The rows are {rows!r:.60}: give a list of results, or of rows.")
    if not isinstance(title, str):
        raise OptionError(f"The title is {title!r:.60}: give a text.")
    path = checked_output(output, overwrite=flag(overwrite, "The option overwrite"))
    save(path, page_of(gather(map(as_row, rows)), title=title))


def checked_output(output: PathLike, *, overwrite: bool, inputs: Iterable[PathLike] = ()) -> Path:
    path = as_path(output, "The output")
    if any(path.exists() and Path(each).exists() and path.samefile(each) for each in inputs):
        raise OptionError(f"the output {path} is also an input; name another output")
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OptionError(f"the output {path} cannot be written: {what}")
    if path.exists() and not overwrite:
        raise OptionError(f"the output {path} exists already: --overwrite replaces it")
    return path


def save(path: Path, text: str) -> None:
    try:
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:  # the latter for a path that no file can have
        raise OptionError(f"the output {visible(str(path))} cannot be written: {describe_os_error(error)}") from None


def page_of(gathered: Gathered, *, title: str = "") -> str:
    if not gathered.problems:
        raise InputError("there are no rows to report: write some with optsum compare ... --details -o rows.jsonl")
    script, style = _assets(_SCRIPTS), _assets(_STYLES)
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = (  # allows only these scripts and styles, and no connection
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; base-uri 'none'; "
        "form-action 'none'"
    )
    charts, problems = charts_of(gathered), ordered(gathered)
    has_greedy = any(len(gathered.variants) in chart.series for chart in charts)
    data = {
        "strategies": [
            {"name": name, "exact": _is_exact(strategy)}
            for name, (strategy, *_) in zip(gathered.names(), gathered.variants, strict=True)
        ],
        "styles": STYLES,
        "kind": gathered.kind,
        "missed": missing_strategy(gathered),
        "settings": [setting.to_json() for setting in gathered.settings],
        "topics": table_of(gathered),
        "perBlock": IN_BLOCK,
    }
    text: str = _template().render(
        title=visible(title) or ("Oracle summaries" if gathered.settings[0].of_texts else "Best selections"),
        policy=policy,
        script=script,
        style=style,
        data=data,
        blocks=list(blocks_of(problems, gathered)),
        topics="Topics" if gathered.settings[0].of_texts else "Problems",
        sentences=list(map(visible, sentences_of(gathered))),
        tiles=tiles_of(gathered),
        settings=[visible(setting.label) for setting in gathered.settings],
        matrix=matrix_of(gathered),
        charts=list(map(drawn, charts)),
        wide=gathered.has_frontier(),
        strategies=[*gathered.names(), *([GREEDY] if has_greedy else [])],
        guaranteed=any(each.guaranteed for *_, each in gathered.each()),
        has_text=any(problem.text is not None for problem in problems),
        version=__version__,
    )
    return text


@cache
def _assets(names: tuple[str, ...]) -> str:
    folder = files("optsum.report.page.assets")
    text = "\n".join((folder / name).read_text(encoding="utf-8").strip() for name in names)
    return f'"use strict";\n(() => {{\n{text}\n}})();\n' if names[0].endswith(".js") else f"{text}\n"


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_assets(("page.html",)))


def blocks_of(problems: Iterable[PageProblem], gathered: Gathered) -> Iterator[str]:
    """Yield blocks of problems as JSON, compressed (raw deflate) and encoded in base64, which browsers can unpack."""

    def view(problem: PageProblem) -> dict[str, Any]:
        held = {name: own for name in ("text", "optima") if (own := getattr(problem, name)) is not None}
        found = map(problem.found.get, gathered.variants)
        return {**held, "results": [None if each is None else _result(each.result) for each in found]}

    views = map(view, problems)
    while block := list(islice(views, IN_BLOCK)):
        text = json.dumps(block, separators=(",", ":"), ensure_ascii=True)  # ASCII, as UTF-8 has no lone surrogates
        yield b64encode(zlib.compress(text.encode(), 9, -zlib.MAX_WBITS)).decode()


def _result(result: Result) -> dict[str, Any]:
    # The steps of a frontier that have a selection, with a bound only if the value is not proven.
    of_steps = ("from", "to", "objective", "bound", "length", "selection")
    steps = [
        {name: row.get(name) for name in of_steps if name != "bound" or step.bound_exact != step.objective_exact}
        for step in (() if result.frontier is None else result.frontier.steps)
        if step.selection is not None and step.objective is not None and (row := step.to_row())
    ]
    names = ("selection", "numerator", "denominator", "objective", "bound", "length", "termination", "reference")
    shown = {name: getattr(result, name) for name in (*names, "rouge", "error", "summary")}
    if result.bound_exact == result.objective_exact:
        shown["bound"] = None
    if result.termination is Termination.COMPLETED:
        shown["termination"] = None
    if result.rouge is not None:
        shown["rouge"] = {visible(name): dict(scores) for name, scores in result.rouge.items()}
    if result.error is not None:
        shown["error"] = visible(result.error)
    return {key: value for key, value in {**shown, "steps": steps or None}.items() if value is not None}
