"""Covers: the fewest source sentences that support an abstract, or those that support most of it within a length.

Hirao et al. 2004 (Text Summarization Challenge 3), section 3.1.1. To each sentence i of a human abstract correspond
alternative sets of source sentences A_i1, A_i2, ...; an extract that contains one of these sets conveys sentence i. The
smallest set of sentences that contains an alternative for every i is the "correct extract", and its size h is the
number of sentences that a system must return.

With a maximum length, the objective is to support as much of the abstract as possible: maximum coverage with a knapsack
(Khuller, Moss and Naor 1999), generalized to alternatives of several sentences.

In the normal form, a unit is a source sentence, a feature is an abstract sentence, and an occurrence of the feature is
an alternative, of which one is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from optsum.corpus.cover import SentenceId, alternatives_of, claim_names, in_order, texts_of, worth_of
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage, Joint, Sense
from optsum.errors import InputError
from optsum.problem.formulation import Formulation, Spec, Task
from optsum.problem.problem import CoverageProblem, Selection
from optsum.text.analyzer import LENGTH_OF, Sentence
from optsum.whole import LARGEST


def cover_model(
    clauses: Sequence[Sequence[Sequence[int]]],
    lengths: Sequence[int],
    worth: Sequence[int] = (),
    max_length: int | None = None,
    min_length: int = 0,
    *,
    logical: bool = False,
) -> Any:
    """Return the cover problem as a `pyomo.environ.ConcreteModel`, to check the instance in the normal form against it.

    Hirao et al. 2004 (TSC3), section 3.1.1, write the constraints of Table 1 as

        C1 = s1 or (s10 and s11),    C2 = s3 and s5 and s6,    C3 = (s20 and s21 and s23) or (s1 and s30 and s60)

    and ask for the smallest set of sentences that makes all of them true: ``s[u]`` is true if unit u is chosen, and
    ``x[u]`` is the same as 0 or 1.

    `clauses`: for each abstract sentence its alternatives, each a sequence of units. `lengths`: length of each unit.
    `max_length`: maximum length; if given, the summed `worth` of the supported abstract sentences is maximized.
    `logical`: return the paper's logical constraints instead of equivalent linear ones; no MILP solver supports logical
    constraints, and some solvers silently ignore them.
    """
    import pyomo.environ as pyo

    model = pyo.ConcreteModel("minimum cover")
    model.U = pyo.RangeSet(0, len(lengths) - 1)
    model.I = pyo.RangeSet(0, len(clauses) - 1)
    model.x = pyo.Var(model.U, domain=pyo.Binary)
    model.s = pyo.BooleanVar(model.U)
    for u in model.U:
        model.s[u].associate_binary_var(model.x[u])
    size = pyo.quicksum(lengths[u] * model.x[u] for u in model.U)
    if max_length is None:
        model.size = pyo.Objective(expr=size)
    else:
        model.y = pyo.Var(model.I, domain=pyo.Binary)
        model.c = pyo.BooleanVar(model.I)
        for i in model.I:
            model.c[i].associate_binary_var(model.y[i])
        model.supported = pyo.Objective(expr=pyo.quicksum(worth[i] * model.y[i] for i in model.I), sense=pyo.maximize)
        if len(lengths):
            model.within = pyo.Constraint(expr=pyo.inequality(min_length, size, max_length))

    @model.LogicalConstraint(model.I)
    def C(m: Any, i: int) -> Any:  # noqa: N802 - as the paper calls it
        holds = pyo.lor([pyo.land([m.s[u] for u in alternative]) for alternative in clauses[i]])
        return holds if max_length is None else m.c[i].implies(holds)

    if not logical:
        # A conjunction or disjunction becomes a 0/1 variable with a row for each of its members. The transformation
        # "core.logical_to_linear" multiplies disjunctions of conjunctions out, which grows exponentially.
        pyo.TransformationFactory("contrib.logical_to_disjunctive").apply_to(model)
    return model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CoverTask(Task):
    """A cover problem of a topic; its units have the names or numbers of sentences in the input."""

    texts: Mapping[SentenceId, Sentence] = field(repr=False)  # Text of each sentence that has one.
    lengths: Mapping[SentenceId, int] = field(repr=False)  # Length of each sentence, in the unit of the limits.
    # With a maximum length: the alternatives of each abstract sentence that counts, by its name in the input.
    claims: Mapping[SentenceId, tuple[frozenset[SentenceId], ...]] = field(default_factory=dict, repr=False)

    def heads(self) -> Mapping[int, int]:
        # Without documents, passages have the numbers that the topic gives them.
        places: dict[SentenceId, int] = {name: place for place, name in enumerate(self.texts)}
        if not self.texts:
            places = {name: name for name in self.units if isinstance(name, int)}
        return {places.get(name, -1 - unit): unit for unit, name in enumerate(self.units)}

    def unit_lengths(self, length_unit: str) -> list[int] | None:
        if not self.texts.keys() >= set(self.units):
            return None
        return [LENGTH_OF[length_unit](self.texts[unit]) for unit in self.units]

    def length(self, selection: Selection) -> int | None:
        names = self.name_units(selection)
        known = self.lengths.keys() >= set(names)
        return sum(map(self.lengths.__getitem__, names)) if known and self.lengths else None

    def found(self, selection: Selection) -> Mapping[str, Any]:
        """Return ``{"missed": names}`` of the abstract sentences not supported; ``{}`` without a maximum length."""
        chosen = set(self.name_units(selection))
        missed = [name for name, sets in self.claims.items() if not any(map(chosen.issuperset, sets))]
        return {"missed": missed} if self.claims else {}

    def decode(self, selection: Selection) -> tuple[Sentence, ...] | None:
        names = self.name_units(selection)
        return tuple(self.texts[name] for name in names) if self.texts and self.texts.keys() >= set(names) else None


def _instance(
    clauses: Sequence[Sequence[tuple[int, ...]]],
    lengths: Sequence[int],
    worth: Sequence[int],
    constants: tuple[int, int] = (0, 1),
    **others: Any,
) -> Coverage:
    """Return the instance with one feature for each clause; any of its alternatives gains the feature's `worth`."""
    units, features = len(lengths), len(clauses)
    alone = [(chosen[0], number) for number, clause in enumerate(clauses) for chosen in clause if len(chosen) == 1]
    entries = np.array(sorted(alone), np.int64).reshape(-1, 2)
    joints = [Joint(number, chosen) for number, clause in enumerate(clauses) for chosen in clause if len(chosen) > 1]
    return Coverage(
        lengths=lengths,  # type: ignore[arg-type]  # lists are converted, and too large numbers refused
        unit_start=np.searchsorted(entries[:, 0], np.arange(units + 1)),
        unit_feature=entries[:, 1].copy(),
        unit_count=np.ones(len(entries), np.int64),
        level_start=np.arange(0, 2 * features + 1, 2),
        level=[gain for each in worth for gain in (0, each)],  # type: ignore[arg-type]
        slot=np.zeros(features, np.int64),
        constants=constants,  # type: ignore[arg-type]
        mass=np.zeros((2, units), np.int64),
        joints=tuple(joints),
        **others,
    )


@dataclass(frozen=True)
class Cover(Formulation):
    """The formulation that selects source sentences to support the sentences of an abstract.

    Parameters
    ----------
    weights : {"one", "length"}
        The cost of a source sentence in a minimum cover: 1, or its length.
    uncoverable : {"error", "skip"}
        Whether an abstract sentence without an alternative is an error or left out; with a maximum length, "error"
        counts it as missed.
    max_length : int or "reference", optional
        Maximum length within which as much of the abstract as possible is supported; None asks for the fewest
        sentences that support all of it. "reference" is the length of the topic's reference.
    """

    weights: Literal["one", "length"] = "one"
    uncoverable: Literal["error", "skip"] = "error"
    max_length: int | Literal["reference"] | None = None

    name: ClassVar[str] = "cover"
    summaries: ClassVar[str] = "covers"
    about: ClassVar[str] = (
        "fewest sentences from which an abstract can be made (TSC3, Hirao et al. 2004), or the most claims within a "
        "length"
    )
    sense: ClassVar[Sense] = Sense.MINIMIZE
    has_metric: ClassVar[bool] = False
    flags: ClassVar[tuple[str, ...]] = ("weights", "uncoverable", "max_length")

    def __post_init__(self) -> None:
        if self.max_length is not None:
            object.__setattr__(self, "sense", Sense.MAXIMIZE)

    def build(self, topic: Topic, spec: Spec) -> CoverTask:
        """Return the problem of a topic.

        Units are the sentences that an alternative names, in document order; those that are in no document follow,
        sorted by name. With a minimum length, or `Spec.keep_unmatched`, all sentences of the documents are units.
        """
        budget = self.max_length is not None
        alternatives = alternatives_of(topic, "miss" if budget and self.uncoverable == "error" else self.uncoverable)
        texts = texts_of(topic)
        named = alternatives.corresponding
        known = range(len(topic.lengths)) if not texts and topic.lengths is not None else texts
        every = spec.keep_unmatched or spec.min_length > 0
        units: tuple[SentenceId, ...] = (
            *(unit for unit in known if unit in named or every),
            *in_order(named.difference(known)),
        )
        number = {unit: place for place, unit in enumerate(units)}
        clauses = [[tuple(sorted([number[unit] for unit in chosen])) for chosen in sets] for sets in alternatives.sets]
        all_lengths: Mapping[SentenceId, int]
        if spec.length_unit == "sentences":
            all_lengths = dict.fromkeys((*texts, *units), 1)
        elif not topic.documents and topic.lengths is not None and spec.length_unit == "given":
            all_lengths = dict(enumerate(topic.lengths))
        else:
            all_lengths = dict(zip(texts, spec.lengths_of(topic), strict=True))
        lengths = [1] * len(units)
        if self.weights != "one" or budget:
            if not all_lengths.keys() >= set(units):
                instead = (
                    "count sentences with --length-unit=sentences" if budget else "count sentences with --weights=one"
                )
                raise InputError(
                    f"Topic {topic.id!r} lacks the text of a sentence of its cover, whose length is therefore "
                    f"unknown: {instead}."
                )
            lengths = [all_lengths[unit] for unit in units]
        worth = [1] * len(clauses)
        claims: dict[int, tuple[frozenset[SentenceId], ...]] = {}
        limits: dict[str, Any] = {"goal": Sense.MINIMIZE}
        if budget:
            of_each, claims = worth_of(topic), dict(zip(alternatives.sentences, alternatives.sets, strict=True))
            if self.uncoverable == "error":
                claims |= dict.fromkeys(alternatives.uncoverable, ())
            claims = dict(sorted(claims.items()))
            worth = [of_each[claim] for claim in alternatives.sentences]
            total = sum(of_each[claim] for claim in claims)
            if not 0 < total <= LARGEST:
                wrong = "are all 0: give at least one above 0" if not total else "have too many digits: round them"
                raise InputError(f"The weights of topic {topic.id!r} {wrong}.")
            limits = {"constants": (0, total), "min_length": spec.min_length, "max_length": spec.max_length}
        instance = _instance(clauses, lengths, worth, **limits)
        longest = spec.max_length if budget else None
        model = partial(cover_model, clauses, lengths, worth, longest, spec.min_length)
        return CoverTask.of(
            topic,
            spec,
            CoverageProblem.of(instance, reference_model=model),
            units,
            notes={"uncoverable": list(alternatives.uncoverable)} if alternatives.uncoverable else {},
            texts=texts,
            lengths=all_lengths,
            claims=dict(zip(claim_names(topic, claims), claims.values(), strict=True)),
        )

    def goal(self, spec: Spec) -> str:
        what = (
            "abstract sentences without any alternative" if self.max_length is None else "claims that nothing supports"
        )
        left_out = f", {what} left out" if self.uncoverable == "skip" else ""
        if self.max_length is not None:
            least = f", at least {spec.min_length}" if spec.min_length else ""
            unit = "of the given lengths" if spec.length_unit == "given" else spec.length_unit
            longest = (
                f"as many {unit} as the reference" if self.max_length == "reference" else f"{self.max_length} {unit}"
            )
            return f"most claims within {longest}{least}{left_out}"
        of = spec.length_unit if self.weights == "length" else "sentences"
        return f"minimum cover, as few {of} as possible{left_out}"
