"""Rows brought together: for each problem what every strategy found, and what there is to look at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

from optsum.contracts.enumeration import listed
from optsum.contracts.result import Result
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage.instance import Key
from optsum.errors import InputError, OptsumError, visible
from optsum.problem.spec import Spec
from optsum.registry import STRATEGIES
from optsum.report.page.settings import Setting
from optsum.report.ratios import claims, ratio_to_best
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import word_count
from optsum.text.tokenizers import Sentence, raw_text

_STRANGE = "its details are not those that optsum writes"


def topic_of(row: Mapping[str, Any], details: Mapping[str, Any]) -> Topic:
    """Return the topic that a row's details are of.

    Raises
    ------
    InputError
        If there is none in them.
    """
    names, references = details.get("sentence_ids"), details.get("references")
    problem = references == [] and "cover" not in details  # which is held against no text
    topic = as_topic(
        {
            "id": row.get("id") or "?",
            "documents": details.get("documents"),
            "references": [[]] if problem else references,
            "cover": details.get("cover"),
            "lengths": details.get("lengths"),
            "meta": {} if names is None else {"sentence_ids": names},
        },
        flat="sentences",
    )
    return replace(topic, references=()) if problem else topic


def text_of(topic: Topic, setting: Setting, parts: object) -> dict[str, Any]:
    """Return the text of a topic for the page.

    A sentence is ``[length, pieces, tokens]``, and ``[..., chunks]`` where parts of it are chosen by themselves. The
    first piece is what stands before the first token, every other begins with its token. A token is a number, the same
    for equal tokens, and -1 where no reference has it.

    Raises
    ------
    InputError
        If `parts` are not those of its sentences.
    """
    setup = setting.setup
    analyzer = None if setup is None or not setup.formulation.has_metric else setup.spec_for(topic).analyzer
    spec = None if setup is None else setup.spec_for(topic)
    lengths = list(map(word_count, topic.sentences)) if spec is None else spec.lengths_of(topic)
    numbers: dict[str, int] = {}

    def shown(
        sentence: Sentence, length: int, *, known: bool, starts: list[tuple[int, int]] | None = None
    ) -> list[Any]:
        pieces, places, tokens = _cut(sentence, analyzer)
        ids = [numbers.get(token, -1) if known else numbers.setdefault(token, len(numbers)) for token in tokens]
        found = [length, pieces, ids]
        return found if starts is None else [*found, _owners(places, starts)]

    references = [
        [shown(sentence, _length(sentence, spec), known=False) for sentence in reference]
        for reference in topic.references
    ]
    begins = _begins(parts, len(topic.sentences))
    sentences = [
        shown(sentence, lengths[number], known=True, starts=None if begins is None else begins[number])
        for number, sentence in enumerate(topic.sentences)
    ]
    found: dict[str, Any] = {
        "documents": list(map(len, topic.documents)),
        "sentences": sentences,
        "references": references,
    }
    if topic.cover is not None:
        found["cover"] = [[list(chosen) for chosen in alternatives] for alternatives in topic.cover]
        found["names"] = list(topic.meta.get("sentence_ids", range(len(topic.sentences))))
    return found


def _length(sentence: Sentence, spec: Spec | None) -> int:
    """Return the length of a sentence of a reference, which nobody gives."""
    return word_count(sentence) if spec is None or spec.length_unit == "given" else spec.length_of(sentence)


def _cut(sentence: Sentence, analyzer: Analyzer | None) -> tuple[list[str], list[int], list[str]]:
    """Return the pieces of a sentence, where each begins, and the tokens that all but the first begin with."""
    text = raw_text(sentence)
    spans = [] if analyzer is None else analyzer.spans(sentence)
    starts = [0, *(start for _, start in spans)]
    pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    return pieces, starts, [token for token, _ in spans]


def _begins(parts: object, sentences: int) -> list[list[tuple[int, int]]] | None:
    if parts is None:
        return None
    fits = isinstance(parts, list) and len(parts) == sentences
    if not fits or not all(isinstance(each, list) and all(map(_is_begin, each)) for each in parts):  # type: ignore[attr-defined]
        raise InputError(f"{_STRANGE}: parts is no list of [place, part] for each sentence")
    return [[(place, part) for place, part in each] for each in parts]  # type: ignore[attr-defined]


def _is_begin(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(type(each) is int for each in value)


def _owners(places: list[int], begins: list[tuple[int, int]]) -> list[int]:
    """Return the part of each piece: that of its first character."""
    starts = [start for start, _ in begins]
    return [begins[max(0, bisect_right(starts, place) - 1)][1] if begins else 0 for place in places]


Variant: TypeAlias = tuple[str, str | None, int | None, int]
"""Strategy, backend and seed of a row, and which one it is of those that differ in other options of the search."""


@dataclass
class PageResult:
    """Result of one strategy for one problem, compared with the optimum.

    Attributes
    ----------
    result : Result
    ratio : float or None
        Of its value to the optimum, or to the best bound where that is not known.
    guaranteed : bool
        Whether it is to the bound: then the true ratio is at least that.
    reached : bool
        Whether its value is the optimum's, compared exactly.
    """

    result: Result
    ratio: float | None = None
    guaranteed: bool = False
    reached: bool = False


@dataclass
class PageProblem:
    """A topic in a setting.

    Attributes
    ----------
    id : str or None
    setting : Setting
    found : dict of Variant to PageResult
    optimum : Key or None
        Where it is known.
    bound : float or None
        The best that is proven, where the optimum is not known.
    text, optima : dict or None
        What the page shows of them (`optsum.report.page.gather`, `optsum.running.all_optima.details`).
    sentences, words : int or None
        Of the documents.
    """

    id: str | None
    setting: Setting
    found: dict[Variant, PageResult] = field(default_factory=dict)
    optimum: Key | None = None
    bound: float | None = None
    text: dict[str, Any] | None = None
    optima: dict[str, Any] | None = None
    sentences: int | None = None
    words: int | None = None

    @property
    def error(self) -> str | None:
        """Why nothing could be searched."""
        errors = [each.result.error for each in self.found.values()]
        return errors[0] if errors and None not in errors else None

    @property
    def value(self) -> float | None:
        """The optimum, for people; the best that was found where it is not known."""
        held = [each.result for each in self.found.values() if each.result.objective is not None]
        best = [each.result for each in self.found.values() if each.reached and each.result.objective is not None]
        if best:
            return best[0].objective
        chosen = (min if self.setting.minimizes else max)(held, key=lambda r: r.objective or 0.0, default=None)
        return None if chosen is None else chosen.objective

    def judge(self) -> None:
        """Hold what was found against the optimum, or against the best bound."""
        results = [each.result for each in self.found.values()]
        self.optimum, bounds, _ = claims(results)
        if self.optimum is None and bounds:
            self.bound = float((max if self.setting.minimizes else min)(bounds))
        for each in self.found.values():
            if (key := each.result.key) is not None:
                each.ratio, each.guaranteed = ratio_to_best(key, self.optimum, bounds)
                each.reached = key == self.optimum


@dataclass
class Gathered:
    """All rows of a page."""

    settings: list[Setting] = field(default_factory=list)
    problems: list[PageProblem] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)

    def names(self) -> list[str]:
        """Return what each variant is called: the strategy, and what tells it from others of the same strategy."""
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
        seen: Counter[str] = Counter()
        for place, name in enumerate(found):
            if counts[name] > 1:
                seen[name] += 1
                found[place] = f"{name} ({seen[name]})"
        return found

    def of(self, variant: Variant) -> list[PageResult]:
        """Return what a variant found, problem by problem."""
        return [problem.found[variant] for problem in self.problems if variant in problem.found]

    def exact(self) -> list[bool]:
        """Return of each variant whether it is one that proves."""
        return [_is_exact(strategy) for strategy, *_ in self.variants]


def _is_exact(strategy: str) -> bool:
    try:
        return bool(STRATEGIES.load(strategy).exact)
    except OptsumError:  # somebody else's, which is not installed here
        return False


def gather(rows: Iterable[Mapping[str, Any]]) -> Gathered:
    """Bring rows together.

    Parameters
    ----------
    rows : iterable of mapping
        As `optsum.contracts.result.Result.to_row` makes them. Those of a problem stand together, or have the same id.

    Raises
    ------
    InputError
        If a row is none of optsum, or there are two of the same search.
    """
    gathered = Gathered()
    known: dict[tuple[Setting, str], PageProblem] = {}
    block: PageProblem | None = None
    for number, row in enumerate(rows, start=1):
        try:
            result, details = _read(row)
            if (
                block is None
                or details is not None
                or result.id != block.id
                or not block.setting.goes_on(row)
                or (result.id is None and _variant(result, 0) in block.found)
            ):
                block = _problem(gathered, known, row, details)
            variant = _free(block, result)
        except InputError as error:
            raise InputError(f"rows: row {number}: {error}") from None
        kept = {key: value for key, value in result.extra.items() if key != "details"}
        block.found[variant] = PageResult(result.changed(extra=kept))
        if variant not in gathered.variants:
            gathered.variants.append(variant)
        if block.optima is None and result.enumeration is not None:
            block.optima = _of_enumeration(result)
    for problem in gathered.problems:
        problem.judge()
    gathered.variants.sort(key=lambda variant: not _is_exact(variant[0]))  # the first is what others are held against
    return gathered


def _variant(result: Result, number: int) -> Variant:
    return result.strategy, result.backend, result.seed, number


def _free(problem: PageProblem, result: Result) -> Variant:
    """Return the variant of a result that its problem does not have yet."""
    number = 0
    while (other := problem.found.get(_variant(result, number))) is not None:
        if other.result.config_hash == result.config_hash:
            raise InputError(f"there are two rows of {result.id!r} by {result.strategy}: give each file once")
        number += 1
    return _variant(result, number)


def _read(row: Mapping[str, Any]) -> tuple[Result, Mapping[str, Any] | None]:
    """Return the result that a row has, and its details, if there are any."""
    if "labels" in row and "selection" not in row:
        raise InputError(
            "this is a row of training labels, which does not tell one search from another: give rows of solve, "
            "compare, enumerate or run"
        )
    result, details = Result.from_row(row), row.get("details")
    if details is not None and not isinstance(details, Mapping):
        raise InputError("its details are not those that optsum writes: no object")
    return result, details


def _problem(
    gathered: Gathered, known: dict[tuple[Setting, str], PageProblem], row: Mapping[str, Any], details: Any
) -> PageProblem:
    """Return the problem that a row is of: one that is known, or a new one."""
    setting = Setting.of(row, details)
    name = row.get("id")
    problem = known.get((setting, name)) if name is not None else None
    if problem is None:
        problem = PageProblem(name, setting)
        gathered.problems.append(problem)
        if setting not in gathered.settings:
            gathered.settings.append(setting)
        if name is not None:
            known[setting, name] = problem
    count = row.get("sentence_count")
    problem.sentences = problem.sentences if count is None else count
    if details is not None and problem.text is None:
        topic = topic_of(row, details)
        problem.text = text_of(topic, setting, details.get("parts"))
        problem.sentences, problem.words = len(topic.sentences), sum(map(word_count, topic.sentences))
        problem.optima = _checked(details.get("optima"))
    return problem


def _checked(optima: object) -> dict[str, Any] | None:
    """Return optima as details have them, if they have them."""
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
        raise InputError("its details are not those that optsum writes: optima")
    return {"count": str(count), "complete": held.get("complete") is True, "listed": sets, "shares": shares}


def _of_enumeration(result: Result) -> dict[str, Any] | None:
    """Return the optima of a row of `optsum enumerate`, or what is near them; shares where they are known."""
    found = result.enumeration
    if found is None or not found.optima:
        return None
    sets = [list(map(listed, optimum)) for optimum in found.optima]
    held = {"count": str(found.count), "complete": found.complete, "listed": sets, "shares": None}
    if found.near is not None:
        shares = found.near.unit_shares
        own = None if shares is None else [[listed(unit), share] for unit, share in shares]
        return held | {"near": visible(found.near.near), "shares": own}
    if found.complete and len(sets) == found.count:
        counts = Counter(unit for optimum in found.optima for unit in optimum)
        held["shares"] = [[listed(unit), count / len(sets)] for unit, count in counts.items()]
    return held


def median_count(problems: Iterable[PageProblem]) -> tuple[str, str, str] | None:
    """Return median and largest number of tied optima, and of which topic that is; None where none are counted.

    Numbers are digits: they can be of any size.
    """
    counts = sorted(
        ((each.optima["count"], each.id or "?") for each in problems if each.optima and "near" not in each.optima),
        key=lambda pair: (len(pair[0]), pair[0]),
    )
    if not counts:
        return None
    low, high = counts[(len(counts) - 1) // 2][0], counts[len(counts) // 2][0]
    middle = f"{(int(low) + int(high)) / 2:g}" if len(high) <= 6 else low
    return middle, *counts[-1]
