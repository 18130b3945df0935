"""Formulations, which convert topics to problems as a specification says, and selections back to text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, combinations, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self, TypeAlias, final

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT, IntArray, Row, Sense
from optsum.errors import InputError, OptionError, UnsupportedError, either, visible
from optsum.metrics.rouge import METRICS, SUM, Metric, Score, parse_metric, rouge_all
from optsum.plugins import named_function
from optsum.problem.problem import CoverageProblem, Problem, Selection
from optsum.system.clock import NEVER, Deadline
from optsum.system.notebook import facts, marked_text
from optsum.text.analyzer import LENGTH_OF, Analyzer, Sentence, raw_texts, token_counter
from optsum.whole import whole, whole_numbers

# Side constraints limit more than the length. A sentence counts as chosen if any part of it is. A constraint on
# sentences becomes a row over the units that represent them (`Task.heads`), a limit of characters a row over all units.


def similar_pairs(tokens: Sequence[Iterable[str]], least: Fraction, deadline: Deadline) -> list[tuple[int, int]]:
    """Return the pairs of sentences whose sets of tokens have a Jaccard similarity of at least `least`.

    `tokens`: the tokens of each sentence; a sentence without tokens is in no pair. `least`: above 0, and a fraction,
    because a rounded float might exclude pairs of exactly this similarity.
    """
    top, bottom = least.as_integer_ratio()
    sets = [frozenset(words) for words in tokens]
    # The similarity of two sets is at most the quotient of their sizes.
    order = sorted((number for number, words in enumerate(sets) if words), key=lambda number: len(sets[number]))
    pairs = []
    for place, one in enumerate(deadline.watching(order)):
        for other in order[place + 1 :]:
            if bottom * len(sets[one]) < top * len(sets[other]):
                break
            common = len(sets[one] & sets[other])
            if bottom * common >= top * (len(sets[one]) + len(sets[other]) - common):
                pairs.append((min(one, other), max(one, other)))
    return sorted(pairs)


def cliques_of(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return cliques that together contain all pairs; a row for a clique is stronger than rows for its pairs.

    Each pair that is in no clique yet is extended to a clique by common neighbours of its two members.

    Examples
    --------
    >>> cliques_of([(0, 1), (0, 2), (1, 2), (2, 3)])
    [(0, 1, 2), (2, 3)]
    """
    import networkx as nx

    graph = nx.Graph(pairs)
    left = nx.Graph(graph.edges)
    found = []
    for one, other in sorted(sorted(pair) for pair in graph.edges):
        if left.has_edge(one, other):
            beside = graph.subgraph(nx.common_neighbors(graph, one, other)).copy()
            clique = sorted([one, other, *next(nx.find_cliques(beside), ())])
            left.remove_edges_from(combinations(clique, 2))
            found.append(tuple(clique))
    return found


Pairs: TypeAlias = Mapping[str, tuple[tuple[int, int], ...]]
"""Pairs of sentences by topic id: the first may be chosen only with the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Side constraints of all topics; a topic may add its own in its ``meta`` under ``constraints``."""

    # max_sentences, max_characters: limits besides the maximum length.
    max_sentences: int | None = None
    max_characters: int | None = None
    per_document: int | None = None  # Largest number of sentences from one document.
    # require, forbid: numbers of sentences, counted from 0 over all documents of a topic.
    require: tuple[int, ...] = ()
    forbid: tuple[int, ...] = ()
    # At most one sentence of a group is chosen: groups are sentences whose sets of tokens have at least this Jaccard
    # similarity, or are listed by topic id.
    exclusive: Fraction | Mapping[str, tuple[tuple[int, ...], ...]] | None = field(default=None, hash=False)
    # Pairs of sentences, for every topic or by topic id: the first may be chosen only with the second.
    requires: tuple[tuple[int, int], ...] | Pairs = field(default=(), hash=False)

    def __post_init__(self) -> None:
        for name in ("max_sentences", "max_characters", "per_document"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(value, name, least=0))
        for name in ("require", "forbid"):
            object.__setattr__(
                self, name, whole_numbers(getattr(self, name), f"Sentence {{}} of {name}", ordered=False, least=0)
            )

    def rows(self, topic: Topic, heads: Mapping[int, int], spec: Spec) -> list[Row]:
        """Return, as rows over units, the constraints that some selection violates; `heads`: result of `Task.heads`."""
        rows = [row for row in self._all(topic, heads, spec) if row.binds]
        similar = self.exclusive is not None and not isinstance(self.exclusive, Mapping)
        if (self.per_document is not None or similar) and not heads.keys() <= set(range(len(topic.sentences))):
            option, lacks = ("--per-document", "document") if self.per_document is not None else ("--exclusive", "text")
            raise InputError(
                f"Topic {topic.id!r} has a unit without a {lacks}: leave out {option}, or give every unit one."
            )
        return rows

    def _all(self, topic: Topic, heads: Mapping[int, int], spec: Spec) -> Iterator[Row]:
        limit = partial(_over_units, topic, heads)
        if self.max_sentences is not None:
            units = tuple(dict.fromkeys(heads.values()))
            name = f"at most {self.max_sentences} sentences"
            yield Row(units, (1,) * len(units), high=self.max_sentences, name=name)
        if self.per_document is not None:
            ends = accumulate(map(len, topic.documents), initial=0)
            for number, (first, last) in enumerate(pairwise(ends)):
                name = f"at most {self.per_document} of document {number}"
                yield limit(range(first, last), name, high=self.per_document)
        own_ones = _own(topic)
        for number in (*self.require, *own_ones.get("require", ())):
            yield limit((number,), f"sentence {number} is required", low=1)
        for number in (*self.forbid, *own_ones.get("forbid", ())):
            yield limit((number,), f"sentence {number} is forbidden", high=0)
        for group in own_ones.get("groups", ()):
            yield limit(group, f"at least one of {_listed(group)}", low=1)
        cliques: Sequence[Sequence[int]] = ()
        if isinstance(self.exclusive, Mapping):
            cliques = self.exclusive.get(topic.id, ())
        elif self.exclusive is not None:
            tokens = list(map(spec.analyzer.tokens, topic.sentences))
            cliques = cliques_of(similar_pairs(tokens, self.exclusive, spec.deadline))
        for clique in (*cliques, *own_ones.get("exclusive", ())):
            yield limit(clique, f"at most one of {_listed(clique)}", high=1)
        for row in own_ones.get("rows", ()):
            yield limit(**_row(row, topic))
        for one, other in self.pairs(topic):
            yield limit((one, other), f"{one} requires {other}", high=0, coefficients=(1, -1))

    def pairs(self, topic: Topic) -> list[tuple[int, int]]:
        """Return the distinct pairs of a sentence and another that it requires: it may be chosen only with that one.

        In a group that is chosen as a whole or not at all, each sentence requires the next one, in a cycle.
        """
        given = self.requires.get(topic.id, ()) if isinstance(self.requires, Mapping) else self.requires
        pairs = [*given, *_own(topic).get("requires", ())]
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise InputError(
                    f"In the constraints of topic {topic.id!r}, requires must list pairs of sentences, as in [[0, 1]]."
                )
        what = f"In topic {topic.id!r}, a sentence of requires"
        numbers = [whole(number, what, least=0) for pair in pairs for number in pair]
        found = dict.fromkeys(zip(numbers[::2], numbers[1::2], strict=True))
        return [(one, other) for one, other in found if one != other]

    def asks_more(self, topic: Topic) -> bool:
        """Return whether the constraints may force a sentence without gain to be chosen."""
        own_ones = _own(topic)
        linear = own_ones.get("rows", ())
        wanted = any(isinstance(row, Mapping) and (row.get("low", 0) or _is_negative(row)) for row in linear)
        asked = self.require or own_ones.get("require") or own_ones.get("groups")
        return bool(asked or self.requires or own_ones.get("requires") or wanted)

    def say_something(self, topic: Topic) -> bool:
        return self != _NOTHING or bool(_own(topic))


_NOTHING: Final = Sides()


def _listed(sentences: Sequence[int]) -> str:
    return ", ".join(map(str, sentences[:8])) + (", ..." if len(sentences) > 8 else "")


_KEYS = ("require", "forbid", "exclusive", "groups", "requires", "rows")


def _is_negative(row: Mapping[str, Any]) -> bool:
    numbers = row.get("coefficients", ())
    return isinstance(numbers, list | tuple) and any(isinstance(one, int | float) and one < 0 for one in numbers)


def _own(topic: Topic) -> Mapping[str, Any]:
    if "constraints" not in topic.meta:
        return {}
    own: Any = topic.meta["constraints"]
    where = f"constraints of topic {topic.id!r}"
    if not isinstance(own, Mapping) or not set(own) <= set(_KEYS):
        raise InputError(f"The {where} must be an object with no other keys than {', '.join(_KEYS)}.")
    for key, value in own.items():
        if not isinstance(value, list | tuple):
            raise InputError(f"In the {where}, {key!r} must be a list.")
    if not all(isinstance(group, list | tuple) for key in ("exclusive", "groups") for group in own.get(key, ())):
        raise InputError(f"In the {where}, each item of exclusive and groups must be a list of sentences.")
    return own


def _row(row: Any, topic: Topic) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise InputError("A row of constraints must be an object with sentences, coefficients, low and high.")
    if not all(isinstance(numbers, list | tuple) for numbers in (row.get("sentences"), row.get("coefficients", ()))):
        raise InputError(
            "A row of constraints must have a list of sentences, and may have a list of as many coefficients."
        )
    known = ("sentences", "coefficients", "low", "high", "name")
    if (other := next((key for key in row if key not in known), None)) is not None:
        raise InputError(f"A row of constraints of topic {topic.id!r} has the key {other!r}: use {', '.join(known)}.")
    if row.get("low") is None and row.get("high") is None:
        raise InputError(f"A row of constraints of topic {topic.id!r} limits nothing: give low, high or both.")
    return {"name": "", **row}


def _over_units(
    topic: Topic,
    heads: Mapping[int, int],
    sentences: Sequence[int],
    name: Any,
    low: Any = None,
    high: Any = None,
    coefficients: Sequence[int] | None = None,
) -> Row:
    """Return ``low <= sum of the coefficients (by default 1) of chosen sentences <= high`` as a row over units."""
    if coefficients is None:
        coefficients = (1,) * len(sentences)
    most = max(len(topic.sentences), len(topic.lengths or ()))
    where = f"The constraints of topic {topic.id!r}"
    limits = [limit for limit in (low, high) if limit is not None]
    try:
        numbers = whole_numbers((*sentences, *coefficients, *limits), "A number", most=10**400)
    except InputError as error:
        raise InputError(f"{where} have numbers that are not whole: {error}") from None
    if min(sentences, default=0) < 0 or len(sentences) != len(coefficients):
        raise InputError(f"{where} have a negative sentence number, or not one coefficient for each sentence.")
    if len(set(sentences)) != len(sentences):
        raise InputError(f"{where} name a sentence twice: {_listed(sentences)}.")
    if not most and any(number >= 0 for number in heads):  # passages that only the alternatives of a cover number
        if (unknown := next((number for number in sentences if number not in heads), None)) is not None:
            known = _listed(sorted(number for number in heads if number >= 0))
            raise InputError(f"{where} name passage {unknown}; the passages of its alternatives are {known}.")
    elif max(sentences, default=-1) >= most:
        raise InputError(f"{where} name sentence {max(sentences)}; the topic has {most}, numbered from 0.")
    if max(map(abs, numbers), default=0) > _MOST:
        raise InputError(f"{where} have numbers beyond {_MOST}: divide all numbers of such a row by a common factor.")
    numbered = zip(sentences, coefficients, strict=True)
    held = {heads[sentence]: number for sentence, number in numbered if number and sentence in heads}
    least = {} if low is None else {"low": low}
    return Row(tuple(held), tuple(held.values()), high=high, name=str(name), **least)


_MOST = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The options that define a problem; names and defaults are those of the command line.

    Attributes
    ----------
    analyzer : Analyzer
        Tokenizer, stemming and stop words of the objective.
    metric : str
        A name for `optsum.metrics.rouge.parse_metric`.
    measure : str
        "recall", "precision" or "f1".
    counts : str
        "clipped": an n-gram counts at most as often as in the reference; "set": each n-gram counts once.
    references : str
        "pooled": scores against all references together; "mean": the mean of the scores against each reference.
    boundaries : str
        "sentence": n-grams within sentences; "joined": also across sentence ends, as in the official score.
    model_units : str
        "whole": a reference is one text; "sentences": each of its sentences is clipped separately (Lin & Hovy 2003).
    max_length, min_length : int
        Limits of the summary, in `length_unit`; `optsum.coverage.instance.NO_LIMIT` for none.
    length_unit : str
        "words" (blank-separated), "sentences", "characters", "tokens" (of `length_tokenizer`), or "given" (the topic's
        own `lengths`).
    length_tokenizer : str or callable, optional
        The tokenizer for lengths: ``tiktoken:NAME``, ``hf:NAME``, ``module:function``, or a function from a text to a
        sequence or a number.
    similarity_unit : int
        Number of steps from 0 to 1; similarities are rounded down to a step.
    keep_unmatched : bool
        Whether sentences that share no counted n-gram with a reference are units.
    keep_overlong : bool
        Whether sentences longer than the maximum are units, because the lead baseline stops at the first of them.
    sides : Sides
        Constraints besides the length.
    deadline : Deadline
        Time limit for building the problem, which slow formulations check.
    """

    analyzer: Analyzer
    metric: str = "rouge-1"
    measure: str = "recall"
    counts: str = "clipped"
    references: str = "pooled"
    boundaries: str = "sentence"
    model_units: str = "whole"
    max_length: int = NO_LIMIT
    min_length: int = 0
    length_unit: str = "words"
    length_tokenizer: Any = None  # after construction always a name or None
    similarity_unit: int = 10_000
    keep_unmatched: bool = False
    keep_overlong: bool = False
    sides: Sides = field(default_factory=Sides)
    deadline: Deadline = field(default=NEVER, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.length_unit not in {*LENGTH_OF, "tokens", "given"}:
            raise OptionError(
                f"There is no length unit {self.length_unit!r}: use words, sentences, characters, tokens or given."
            )
        if (self.length_tokenizer is not None) != (self.length_unit == "tokens"):
            raise OptionError(
                "--length-unit=tokens and --length-tokenizer=NAME go together, and only one of them was given."
            )
        if callable(self.length_tokenizer):
            object.__setattr__(self, "length_tokenizer", named_function(self.length_tokenizer))
        for name, what, least in (
            ("min_length", "The minimum length", 0),
            ("max_length", "The maximum length", 0),
            ("similarity_unit", "The similarity unit", 1),
        ):
            number = whole(getattr(self, name), what, least=least, most=10**400, error=OptionError)
            object.__setattr__(self, name, min(number, NO_LIMIT))

    @property
    def length_of(self) -> Callable[[Sentence], int]:
        """The function that returns the length of a sentence, in the unit of the limits.

        Raises
        ------
        OptionError
            If lengths are given with the topic (see `lengths_of`), or the tokenizer cannot be loaded.
        """
        if self.length_unit == "given":
            raise OptionError("Lengths are given only for the topic's own sentences: choose another --length-unit.")
        return token_counter(self.length_tokenizer) if self.length_unit == "tokens" else LENGTH_OF[self.length_unit]

    def lengths_of(self, topic: Topic) -> list[int]:
        """Return the length of each sentence of a topic, in the unit of the limits.

        Raises
        ------
        InputError
            If lengths are to be given by the topic, but are missing; if a tokenizer fails on a sentence.
        """
        if self.length_unit != "given":
            return list(map(self.length_of, topic.sentences))
        if topic.lengths is None:
            raise InputError(
                f'Topic {topic.id!r} has no "lengths": give a whole number for each sentence, or another --length-unit.'
            )
        return list(topic.lengths)

    def until(self, deadline: Deadline) -> Spec:
        """Return the same specification with a deadline for building the problem."""
        if deadline is self.deadline:
            return self
        made = object.__new__(Spec)  # without repeating the checks
        for each in Spec.__slots__:
            object.__setattr__(made, each, getattr(self, each))
        object.__setattr__(made, "deadline", deadline)
        return made

    def with_all_units(self) -> Spec:
        """Return the same specification with every sentence as a unit, for baselines."""
        return replace(self, keep_unmatched=True, keep_overlong=True)


Choices: TypeAlias = Mapping[str, tuple[str, ...]]  # Aspect -> some of its values.

ASPECTS: Final[Choices] = MappingProxyType(
    {
        "measure": ("recall", "precision", "f1"),
        "references": ("pooled", "mean"),
        "counts": ("clipped", "set"),
        "boundaries": ("sentence", "joined"),
        "model_units": ("whole", "sentences"),
    }
)
"""The options of the objective besides the metric, with all their values."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule on the options that a formulation supports.

    Aspects are those of `ASPECTS`, ``tokenizer``, ``length_unit``, ``metric`` (the kinds of the whole metric,
    `Metric.kinds`) and ``part`` (the kinds of each component of a sum or a mean).

    Attributes
    ----------
    say : str
        The message of a refusal; ``{metric}``, ``{measure}`` and the other aspects are filled in.
    only : mapping
        The supported values of each aspect; other values are refused. An empty mapping refuses everything.
    when : mapping
        The rule applies only if each of these aspects has one of its values.
    """

    say: str
    only: Choices = field(default_factory=dict)
    when: Choices = field(default_factory=dict)

    def refuses(self, chosen: Mapping[str, list[frozenset[str]]]) -> bool:
        """Return whether the chosen values, listed by aspect, violate the rule."""
        if not all(any(one & set(values) for one in chosen.get(of, ())) for of, values in self.when.items()):
            return False
        of_only = [one & set(values) for of, values in self.only.items() for one in chosen.get(of, ())]
        return not all(of_only) if self.only else True


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """Option values that a formulation supports; an option that is left out may have any value.

    Attributes
    ----------
    metrics : tuple of str or None
        Kinds of metric (`Metric.kinds`), such as "rouge-N" and "rouge-suK"; for a sum, those of its parts.
    measure, references, counts, boundaries, model_units : tuple of str or None
        Values of the options of these names.
    rules : tuple of Requirement
        Further rules with their own messages; they are checked first.
    """

    metrics: tuple[str, ...] | None = None
    measure: tuple[str, ...] | None = None
    references: tuple[str, ...] | None = None
    counts: tuple[str, ...] | None = None
    boundaries: tuple[str, ...] | None = None
    model_units: tuple[str, ...] | None = None
    rules: tuple[Requirement, ...] = field(default=())

    @property
    def _all(self) -> tuple[Requirement, ...]:
        lists = {"part": self.metrics} | {aspect: getattr(self, aspect) for aspect in ASPECTS}
        own = [
            Requirement(
                f"The formulation {{formulation}} supports the {_called(aspect)} {either(values)}, not {{{aspect}}}: "
                f"change --{_called(aspect).replace(' ', '-')}, or --formulation.",
                only={aspect: values} | ({"metric": (*values, SUM)} if aspect == "part" else {}),
            )
            for aspect, values in lists.items()
            if values is not None
        ]
        return (*self.rules, *own)

    def check(self, formulation: str, spec: Spec) -> None:
        """Raise `UnsupportedError` for unsupported options; its message names supported values."""
        metric = parse_metric(spec.metric)
        said = {aspect: getattr(spec, aspect) for aspect in (*ASPECTS, "length_unit")}
        said["tokenizer"] = spec.analyzer.tokenizer
        chosen = {aspect: [frozenset({value})] for aspect, value in said.items()} | _of_metric(metric)
        for rule in self._all:
            if rule.refuses(chosen):
                raise UnsupportedError(rule.say.format(formulation=formulation, metric=metric, part=metric, **said))

    def metric_forms(self) -> list[str]:
        """Return the forms of metrics, such as "rouge-N", that no unconditional rule refuses."""
        examples = {"rouge-N": "rouge-1", "rouge-su0": "rouge-su0", "rouge-suK": "rouge-su4", "rouge-l": "rouge-l",
                    "rougeL": "rougeL", SUM: "rouge-1+rouge-2", "ngram-I-J": "ngram-1-4"}  # fmt: skip
        kinds = {form: _of_metric(parse_metric(name)) for form, name in examples.items()}
        for form in METRICS:
            if form not in METRICS.builtin:
                kinds[form] = {"metric": [frozenset({form})], "part": [frozenset({form})]}
        served = [form for form, of in kinds.items() if not self._refuses(of)]
        return [form for form in served if form != "rouge-su0" or "rouge-suK" not in served]

    def values(self, aspect: str) -> list[str]:
        """Return the values of an aspect that no unconditional rule refuses."""
        return [value for value in ASPECTS[aspect] if not self._refuses({aspect: [frozenset({value})]})]

    def _refuses(self, chosen: Mapping[str, list[frozenset[str]]]) -> bool:
        rules = (rule for rule in self._all if not rule.when and rule.only.keys() & chosen.keys())
        return any(rule.refuses(chosen) for rule in rules)


def _of_metric(metric: Metric) -> dict[str, list[frozenset[str]]]:
    return {"metric": [metric.kinds], "part": [part.kinds for part in metric.components]}


def _called(aspect: str) -> str:
    return "metric" if aspect == "part" else aspect.replace("_", " ")


_SHOWN = 100  # Largest number of units whose texts a notebook shows.


_NO_NAMES: Final = (bool, np.bool_, complex, np.ndarray, dict, set)
"""Types of values that cannot name a unit, although they may equal a number."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Task(ABC):
    """A topic as a problem, with the conversion of selections back to text.

    Attributes
    ----------
    id : str
    problem : Problem
    units : tuple
        The name of each unit of the problem in the input, such as the number of its sentence.
    references : tuple of tuple of sentences
        The references in the objective.
    analyzer : Analyzer
        Makes the tokens for the objective and for the scores of summaries.
    notes : mapping
        Remarks made while building the problem; they become part of the result's statistics.
    members : mapping
        Name of a unit that has several parts -> the names of all its parts.
    start : tuple, optional
        A starting selection for searches, as names of units.
    parents : mapping
        Name of a unit -> name of the unit that it requires.
    scored : mapping
        Metric that does not score texts -> function from a selection to its score.
    """

    id: str
    problem: Problem
    units: tuple[Any, ...]
    references: tuple[tuple[Sentence, ...], ...]
    analyzer: Analyzer
    notes: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict)
    parents: Mapping[Any, Any] = field(default_factory=dict)
    start: tuple[Any, ...] | None = None
    scored: Mapping[Metric, Callable[[Selection], Score]] = field(default_factory=dict)

    @classmethod
    def of(cls, topic: Topic, spec: Spec, problem: Problem, units: Sequence[Any], **others: Any) -> Self:
        """Return the task of a topic; `others`: further attributes of the task."""
        known: dict[str, Any] = {"id": topic.id, "references": topic.references, "analyzer": spec.analyzer}
        if "sentences" in cls.__dataclass_fields__:
            known["sentences"] = topic.sentences
        return cls(problem=problem, units=tuple(units), **known | others)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind} {visible(repr(self.id))}: {len(self.units)} units, {len(self.references)} references>"

    def _repr_html_(self) -> str:
        texts = [self.text((unit,)) for unit in range(min(len(self.units), _SHOWN))]
        counts = [("units", len(self.units)), ("references", len(self.references))]
        said = facts(f"{self.id}: {type(self).__name__}", counts)
        if not texts or any(text is None for text in texts):
            return said
        more = f"<p>... and {len(self.units) - _SHOWN:,} more</p>" if len(self.units) > _SHOWN else ""
        return said + marked_text([[" ".join(text or ())] for text in texts], {}) + more

    def numbers(self) -> dict[Any, int]:
        """Return the number of each unit by its name in the input."""
        return {name: unit for unit in range(len(self.units)) for name in self.name_units((unit,))}

    def selection_of(self, named: Sequence[Any]) -> Selection:
        """Return the selection of the units that have the given names in the input.

        Raises
        ------
        InputError
            If one of them is not a unit.
        """
        known = self.numbers()
        names = [tuple(name) if isinstance(name, list) else name for name in named]
        if unknown := [name for name in names if isinstance(name, _NO_NAMES) or name not in known]:
            raise InputError(
                f"The start of {self.id!r} names {unknown[0]!r:.40}, which is not one of its units: leave it out."
            )
        return tuple(sorted({known[name] for name in names}))

    def text(self, selection: Selection) -> tuple[str, ...] | None:
        """Return the text of a selection for readers, sentence by sentence; None if the input has no text."""
        shown = self.display(selection)
        return None if shown is None else tuple(raw_texts(shown))

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return the names of the chosen units in the input, in document order."""
        return tuple(self.units[unit] for unit in selection)

    def length(self, selection: Selection) -> int | None:
        """Return the length of a selection, in the length unit; None if this needs text that the input lacks."""
        return self.problem.length(selection)

    def found(self, selection: Selection) -> Mapping[str, Any]:
        """Return further fields for the output row of a selection; by default none."""
        del selection
        return {}

    @abstractmethod
    def decode(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the text of a selection, in document order; None if the input has no text."""

    def scores(self, selection: Selection, metrics: Sequence[Metric]) -> Mapping[str, Score] | None:
        """Return the official scores of the text of a selection; None without a text or a reference."""
        sentences = self.decode(selection)
        if sentences is None or not self.references:
            return None
        found = {metric.name: self.scored[metric](selection) for metric in metrics if metric in self.scored}
        of_text = [metric for metric in metrics if metric not in self.scored]
        return found | rouge_all(sentences, self.references, of_text, analyzer=self.analyzer)

    def display(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the text of a selection for readers; by default the scored text."""
        return self.decode(selection)

    def heads(self) -> Mapping[int, int]:
        """Return, for each sentence that has units, the unit that is chosen whenever any part of the sentence is.

        Keys are the numbers of sentences in options and topics; a sentence without a number has a key below 0.
        """
        return {}

    def unit_lengths(self, length_unit: str) -> Sequence[int] | None:
        """Return the length of each unit in words, sentences or characters; None if unknown."""
        del length_unit
        return None

    def parts(self) -> list[list[tuple[int, int]]] | None:
        """Return a list for each sentence, with the start of each part and the name of the part's unit.

        Starts count characters of tokens joined by blanks. The result is None if sentences are chosen as a whole.
        """
        return None


@lru_cache(maxsize=64)
def _served(formulation: type[Formulation], spec: Spec) -> None:
    formulation.serves.check(formulation.name, spec)


class Formulation(ABC):
    """A way to make an optimization problem from a topic. Subclasses are frozen dataclasses; fields are options.

    Attributes
    ----------
    name : str
        As in ``--formulation``.
    about : str
        One line for ``optsum list formulations``.
    serves : Compatibility
        Supported metrics, measures and other options; all others are refused before `build` is called.
    sense : Sense
        `Sense.MAXIMIZE` a metric under length limits, or `Sense.MINIMIZE` the length without limits.
    has_metric : bool
        Whether it optimizes a metric against references.
    whole_sentences : bool
        Whether it selects whole sentences, so that each sentence has a label: selected or not.
    summaries : str
        Plural name of its selections: "extracts"; by default its name before "summaries".
    reads_topics : bool
        Whether it makes problems from texts; otherwise problems are given directly.
    flags : tuple of str
        Its fields that are also options under the same name; others are given by ``--formulation-option``.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    serves: ClassVar[Compatibility] = Compatibility()
    sense: ClassVar[Sense] = Sense.MAXIMIZE
    has_metric: ClassVar[bool] = True
    whole_sentences: ClassVar[bool] = True
    summaries: ClassVar[str] = ""
    reads_topics: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ()

    @final
    def task(self, topic: Topic, spec: Spec) -> Task:
        """Return the task of a topic, with its side constraints.

        Raises
        ------
        UnsupportedError
            If the objective is not supported.
        InputError
            If the topic has nothing to optimize.
        """
        if self.reads_topics and topic.problem is not None:
            raise InputError(
                f"{topic.id!r} is a problem, and the formulation {self.name} takes texts: solve problems separately."
            )
        if self.has_metric:
            _served(type(self), spec)
        if not spec.sides.say_something(topic):
            return self.build(topic, spec)
        asking = spec.sides.asks_more(topic)
        return self._sided(self.build(topic, replace(spec, keep_unmatched=True) if asking else spec), topic, spec)

    def _sided(self, task: Task, topic: Topic, spec: Spec) -> Task:
        problem, sides = task.problem, spec.sides
        if not isinstance(problem, CoverageProblem):
            what, do = f"{self.name} {spec.metric}", "choose n-grams with --metric"
            if not self.reads_topics:
                what, do = f"{task.id!r} ({type(problem).__name__})", "let the problem itself keep them"
            raise UnsupportedError(
                "Side constraints (--require, --forbid, --max-sentences and the like) are for problems in the normal "
                f"form, which {what} is not: {do}."
            )
        heads = task.heads()
        named = replace(sides, max_characters=None).say_something(topic)  # constraints of sentences
        if named and not heads and problem.size:
            raise UnsupportedError(
                f"The formulation {self.name} does not say which units represent sentences, as side constraints need: "
                "define Task.heads."
            )
        rows = sides.rows(topic, heads, spec)
        if sides.max_characters is not None:
            lengths = task.unit_lengths("characters")
            if lengths is None:
                raise UnsupportedError(
                    f"The formulation {self.name} has no lengths in characters: leave out --max-characters."
                )
            held = {unit: length for unit, length in enumerate(lengths) if length}
            name = f"at most {sides.max_characters} characters"
            rows.append(Row(tuple(held), tuple(held.values()), 0, sides.max_characters, name))
        instance = problem.instance.with_rows((*problem.instance.rows, *(row for row in rows if row.binds)))
        return replace(task, problem=replace(problem, instance=instance, reference_model=None))

    def extracts(self, spec: Spec) -> IntArray | None:
        """Return `Metric.coded` of each metric (metrics, 2) if topics can be searched together; otherwise None."""
        del spec
        return None

    @abstractmethod
    def build(self, topic: Topic, spec: Spec) -> Task:
        """Return the task of a topic; `spec` has been checked against `serves`.

        Raises
        ------
        InputError
            If the topic has nothing to optimize (no reference n-gram).
        """

    def goal(self, spec: Spec) -> str:
        """Name the objective in a few words, for the title of a table."""
        return f"{spec.metric} {spec.measure}"

    def contents(self) -> Mapping[str, Any]:
        """Return the contents of the files in options, because results depend on contents, not on names."""
        return {}

    def files_of(self, topic: Topic) -> Sequence[Path]:
        """Return the existing files that `build` reads for a topic, besides the file of topics."""
        del topic
        return ()
