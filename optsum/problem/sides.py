"""Side constraints: constraints besides the length, given on sentences, as rows over the units of a task.

A sentence is chosen if any part of it is. A constraint on sentences is a row over the units that represent them
(`optsum.problem.formulation.Task.heads`); a length in another unit is a row over all units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, Final, TypeAlias

from optsum.corpus.topic import Topic
from optsum.coverage.row import Row
from optsum.errors import InputError
from optsum.system.clock import Deadline
from optsum.whole import whole, whole_numbers


def similar_pairs(tokens: Sequence[Iterable[str]], least: Fraction, deadline: Deadline) -> list[tuple[int, int]]:
    """Return the pairs whose sets of tokens have at least this Jaccard similarity; an empty sentence is in no pair.

    `least`: above 0, and exact: the rounding of a float might exclude pairs of exactly this similarity.
    """
    top, bottom = least.as_integer_ratio()
    sets = [frozenset(words) for words in tokens]
    # A pair is no more alike than its sizes are.
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
    """Return cliques that cover all pairs, for fewer and stronger rows.

    Each uncovered pair is extended to a clique by common neighbours of its members.

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


@dataclass(frozen=True, slots=True)
class Linear:
    """``low <= sum of the coefficients of the chosen sentences <= high``; None for no limit."""

    sentences: tuple[int, ...]
    coefficients: tuple[int, ...]
    low: int | None = None
    high: int | None = None
    name: str = ""


Pairs: TypeAlias = Mapping[str, tuple[tuple[int, int], ...]]
"""Pairs of sentences by topic id: the first may be chosen only with the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Side constraints of all topics; a topic's own are in its ``meta`` under ``constraints``."""

    # max_sentences, max_characters: limits beside the one of length.
    max_sentences: int | None = None
    max_characters: int | None = None
    per_document: int | None = None  # Most sentences of one document.
    # require, forbid: numbers of sentences, over all documents.
    require: tuple[int, ...] = ()
    forbid: tuple[int, ...] = ()
    # Sentences of which at most one is chosen: those whose sets of tokens have at least this Jaccard similarity, or
    # lists of them by the id of a topic.
    exclusive: Fraction | Mapping[str, tuple[tuple[int, ...], ...]] | None = field(default=None, hash=False)
    # Pairs of sentences, of which the first is chosen only with the second: of every topic, or by the id of a topic.
    requires: tuple[tuple[int, int], ...] | Pairs = field(default=(), hash=False)

    def __post_init__(self) -> None:
        for name in ("max_sentences", "max_characters", "per_document"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(value, name, least=0))
        for name in ("require", "forbid"):
            object.__setattr__(self, name, whole_numbers(getattr(self, name), f"Sentence {{}} of {name}", least=0))

    def linear(self, topic: Topic, tokens: Sequence[Iterable[str]] | None, deadline: Deadline) -> list[Linear]:
        """Return the constraints on sentences."""
        return list(_checked(self._all(topic, tokens, deadline), topic))

    def _all(self, topic: Topic, tokens: Sequence[Iterable[str]] | None, deadline: Deadline) -> Iterator[Linear]:
        everything = tuple(range(len(topic.sentences)))
        if self.max_sentences is not None:
            yield _count(everything, f"at most {self.max_sentences} sentences", high=self.max_sentences)
        if self.per_document is not None:
            first = 0
            for number, document in enumerate(topic.documents):
                own = everything[first : first + len(document)]
                yield _count(own, f"at most {self.per_document} of document {number}", high=self.per_document)
                first += len(document)
        own_ones = _own(topic)
        for number in (*self.require, *own_ones.get("require", ())):
            yield _count((number,), f"sentence {number} is required", low=1)
        for number in (*self.forbid, *own_ones.get("forbid", ())):
            yield _count((number,), f"sentence {number} is forbidden", high=0)
        for group in own_ones.get("groups", ()):
            yield _count(tuple(group), f"at least one of {_listed(group)}", low=1)
        for clique in (*self._cliques(topic, tokens, deadline), *own_ones.get("exclusive", ())):
            yield _count(tuple(clique), f"at most one of {_listed(clique)}", high=1)
        for row in own_ones.get("rows", ()):
            yield _row(row)
        for one, other in self.pairs(topic):
            yield Linear((one, other), (1, -1), None, 0, f"{one} requires {other}")

    def pairs(self, topic: Topic) -> list[tuple[int, int]]:
        """Return the distinct pairs of sentences of which the first may be chosen only with the second.

        Sentences that require each other are all chosen or none: each requires the next of them.
        """
        given = self.requires.get(topic.id, ()) if isinstance(self.requires, Mapping) else self.requires
        pairs = [*given, *_own(topic).get("requires", ())]
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise InputError(
                    f"In the constraints of topic {topic.id!r}, requires must hold pairs of sentences: [[0, 1]]."
                )
        numbers = whole_numbers(
            [number for pair in pairs for number in pair], f"In topic {topic.id!r}, a sentence of requires", least=0
        )
        found = dict.fromkeys(zip(numbers[::2], numbers[1::2], strict=True))
        return [(one, other) for one, other in found if one != other]

    def _cliques(
        self, topic: Topic, tokens: Sequence[Iterable[str]] | None, deadline: Deadline
    ) -> Sequence[Sequence[int]]:
        if isinstance(self.exclusive, Mapping):
            return self.exclusive.get(topic.id, ())
        if self.exclusive is None or tokens is None:
            return ()
        return cliques_of(similar_pairs(tokens, self.exclusive, deadline))

    def asks_more(self, topic: Topic) -> bool:
        """Whether something must be chosen, so that sentences without gain may be needed."""
        own_ones = _own(topic)
        linear = own_ones.get("rows", ())
        wanted = any(isinstance(row, Mapping) and (row.get("low", 0) or _is_negative(row)) for row in linear)
        asked = self.require or own_ones.get("require") or own_ones.get("groups")
        return bool(asked or self.requires or own_ones.get("requires") or wanted)

    def say_something(self, topic: Topic) -> bool:
        """Whether there is any constraint."""
        return self != _NOTHING or bool(_own(topic))


_NOTHING: Final = Sides()


def rows_of(linear: Iterable[Linear], heads: Mapping[int, int]) -> tuple[Row, ...]:
    """Return rows over units, where `heads` gives the unit that represents a sentence, if there is one."""
    rows = []
    for each in linear:
        numbers = dict(zip(each.sentences, each.coefficients, strict=True))
        held = {heads[sentence]: number for sentence, number in numbers.items() if number and sentence in heads}
        low = {} if each.low is None else {"low": each.low}
        rows.append(Row(tuple(held), tuple(held.values()), high=each.high, name=each.name, **low))
    return tuple(row for row in rows if row.binds)


def _count(sentences: tuple[int, ...], name: str, *, low: int | None = None, high: int | None = None) -> Linear:
    return Linear(sentences, (1,) * len(sentences), low, high, name)


def _listed(sentences: Sequence[int]) -> str:
    return ", ".join(map(str, sentences[:8])) + (", ..." if len(sentences) > 8 else "")


_KEYS = ("require", "forbid", "exclusive", "groups", "requires", "rows")


def _is_negative(row: Mapping[str, Any]) -> bool:
    numbers = row.get("coefficients", ())
    return isinstance(numbers, list | tuple) and any(isinstance(one, int | float) and one < 0 for one in numbers)


def _own(topic: Topic) -> Mapping[str, Any]:
    own: Any = topic.meta.get("constraints", {})
    if not isinstance(own, Mapping) or not set(own) <= set(_KEYS):
        raise InputError(f"The constraints of topic {topic.id!r} must be an object with {', '.join(_KEYS)} alone.")
    for key, value in own.items():
        if not isinstance(value, list | tuple):
            raise InputError(f"In the constraints of topic {topic.id!r}, {key!r} must be a list.")
    if not all(isinstance(group, list | tuple) for key in ("exclusive", "groups") for group in own.get(key, ())):
        raise InputError(
            f"In the constraints of topic {topic.id!r}, each item of exclusive and groups must be a list of sentences."
        )
    return own


def _row(row: Any) -> Linear:
    if not isinstance(row, Mapping):
        raise InputError("A row of constraints must be an object with sentences, coefficients, low and high.")
    sentences = row.get("sentences")
    numbers = row.get("coefficients", [1] * len(sentences) if isinstance(sentences, list | tuple) else None)
    if not isinstance(sentences, list | tuple) or not isinstance(numbers, list | tuple):
        raise InputError(
            "A row of constraints must have a list of sentences, and may have one of as many coefficients."
        )
    return Linear(tuple(sentences), tuple(numbers), row.get("low"), row.get("high"), str(row.get("name", "")))


def _checked(found: Iterable[Linear], topic: Topic) -> Iterator[Linear]:
    most = len(topic.sentences)
    for each in found:
        limits = [limit for limit in (each.low, each.high) if limit is not None]
        numbers = (*each.sentences, *each.coefficients, *limits)
        try:
            numbers = whole_numbers(numbers, "a number", most=10**400)
        except InputError as error:
            raise InputError(
                f"The constraints of topic {topic.id!r} have numbers that are not whole: {error}"
            ) from None
        if min(each.sentences, default=0) < 0 or len(each.sentences) != len(each.coefficients):
            raise InputError(
                f"The constraints of topic {topic.id!r} have negative numbers of sentences, or too few coefficients."
            )
        if len(set(each.sentences)) != len(each.sentences):
            raise InputError(f"The constraints of topic {topic.id!r} name a sentence twice: {_listed(each.sentences)}.")
        if max(each.sentences, default=-1) >= most:
            raise InputError(
                f"The constraints of topic {topic.id!r} name sentence {max(each.sentences)}; it has {most}, from 0 on."
            )
        if max(map(abs, numbers), default=0) > _MOST:
            raise InputError(f"The constraints of topic {topic.id!r} have numbers beyond {_MOST}.")
        yield each


_MOST = 10**6
