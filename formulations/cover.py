"""Covers: the fewest source sentences from which an abstract can be made.

Hirao et al. 2004 (Text Summarization Challenge 3), section 3.1.1. To each sentence i of a human abstract correspond
alternative sets of source sentences A_i1, A_i2, ...; an extract that holds one whole set says what the abstract says
there. The smallest set of sentences that holds an alternative for every i is the "correct extract", and its size h is
the number of sentences that a system is asked for.

A unit is a source sentence, a feature an abstract sentence that needs one copy, an occurrence an alternative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from optsum.corpus.alternatives import SentenceId, alternatives_of, in_order, texts_of
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage, Joint, Sense
from optsum.errors import InputError
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.formulation import Formulation, Task
from optsum.problem.problem import Selection
from optsum.problem.spec import Spec
from optsum.text.lengths import LENGTH_OF
from optsum.text.tokenizers import Sentence


@dataclass(frozen=True, eq=False)
class CoverModel:
    """Build the minimum cover as logic, in Pyomo: a readable yardstick for the arrays.

    Hirao et al. 2004 (TSC3), section 3.1.1, write the constraints of Table 1 as

        C1 = s1 or (s10 and s11),    C2 = s3 and s5 and s6,    C3 = (s20 and s21 and s23) or (s1 and s30 and s60)

    and ask for the smallest set of sentences that makes all of them true.

    Parameters
    ----------
    clauses : sequence
        For each abstract sentence its alternatives, each the units that it needs.
    lengths : sequence of int
        What each unit counts.
    """

    clauses: Sequence[Sequence[Sequence[int]]]
    lengths: Sequence[int]

    def logical(self) -> Any:
        """Return the model as the paper has it: ``s[u]`` is true if unit u is chosen, ``x[u]`` the same as 0 or 1.

        No MILP solver reads this: some accept it and ignore every logical constraint without a word.
        """
        import pyomo.environ as pyo

        model = pyo.ConcreteModel("minimum cover")
        model.U = pyo.RangeSet(0, len(self.lengths) - 1)
        model.I = pyo.RangeSet(0, len(self.clauses) - 1)
        model.x = pyo.Var(model.U, domain=pyo.Binary)
        model.s = pyo.BooleanVar(model.U)
        for u in model.U:
            model.s[u].associate_binary_var(model.x[u])
        model.size = pyo.Objective(expr=pyo.quicksum(self.lengths[u] * model.x[u] for u in model.U))

        @model.LogicalConstraint(model.I)
        def C(m: Any, i: int) -> Any:  # noqa: N802 - as the paper calls it
            return pyo.lor([pyo.land([m.s[u] for u in alternative]) for alternative in self.clauses[i]])

        return model

    def __call__(self) -> Any:
        """Return a `pyomo.environ.ConcreteModel` of linear constraints that are equivalent to the logical ones."""
        import pyomo.environ as pyo

        model = self.logical()
        # A conjunction or disjunction becomes a 0/1 variable with a row for each of its members. The transformation
        # "core.logical_to_linear" multiplies disjunctions of conjunctions out, which grows exponentially.
        pyo.TransformationFactory("contrib.logical_to_disjunctive").apply_to(model)
        return model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CoverTask(Task):
    """A cover task: `units` are what the input calls the sentences.

    Attributes
    ----------
    texts : mapping
        Text of each sentence that has one.
    lengths : mapping
        Length of each, in the unit of the limits.
    """

    texts: Mapping[SentenceId, Sentence] = field(repr=False)
    lengths: Mapping[SentenceId, int] = field(repr=False)

    def heads(self) -> Mapping[int, int]:
        """Return the unit of each sentence that is one, by its place among the sentences of the documents."""
        number = {unit: place for place, unit in enumerate(self.units)}
        return {place: number[name] for place, name in enumerate(self.texts) if name in number}

    def unit_lengths(self, length_unit: str) -> list[int] | None:
        """Return the length of each unit; None if one has no text."""
        if not self.texts.keys() >= set(self.units):
            return None
        return [LENGTH_OF[length_unit](self.texts[unit]) for unit in self.units]

    def length(self, selection: Selection) -> int | None:
        """Return the length of the chosen sentences; None if one has no text."""
        texts = self.decode(selection)
        return None if texts is None else sum(map(self.lengths.__getitem__, self.name_units(selection)))

    def decode(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the chosen sentences; None if one has no text."""
        names = self.name_units(selection)
        return tuple(self.texts[name] for name in names) if self.texts and self.texts.keys() >= set(names) else None


@dataclass(frozen=True)
class Cover(Formulation):
    """Alternatives of abstract sentences.

    Parameters
    ----------
    weights : {"one", "length"}
        What a sentence counts.
    uncoverable : {"error", "skip"}
        What is done about an abstract sentence without any alternative.
    """

    weights: Literal["one", "length"] = "one"
    uncoverable: Literal["error", "skip"] = "error"

    name: ClassVar[str] = "cover"
    summaries: ClassVar[str] = "covers"
    about: ClassVar[str] = "fewest sentences from which an abstract can be made (TSC3, Hirao et al. 2004)"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    has_metric: ClassVar[bool] = False
    flags: ClassVar[tuple[str, ...]] = ("weights", "uncoverable")

    def build(self, topic: Topic, spec: Spec) -> CoverTask:
        """Return the problem of a topic.

        Units are the sentences that some alternative names, in document order; those that are in no document follow
        in natural order of their names. Baselines that must see every sentence get all of the documents.

        Raises
        ------
        InputError
            If the topic has no alternatives that can be used (`optsum.corpus.alternatives.alternatives_of`), or
            sentences are to be weighted by length and there is no text.
        """
        alternatives = alternatives_of(topic, self.uncoverable)
        texts = texts_of(topic)
        named = alternatives.corresponding
        units: tuple[SentenceId, ...] = (
            *(unit for unit in texts if unit in named or spec.keep_unmatched),
            *in_order(named - texts.keys()),
        )
        number = {unit: place for place, unit in enumerate(units)}
        clauses = [[tuple(sorted(number[unit] for unit in chosen)) for chosen in sets] for sets in alternatives.sets]
        of_texts = dict(zip(texts, spec.lengths_of(topic), strict=True))
        lengths = self._weights(topic, units, of_texts)
        occurrences: list[dict[int, int]] = [{} for _ in units]
        joints = []
        for feature, clause in enumerate(clauses):
            for chosen in clause:
                if len(chosen) == 1:
                    occurrences[chosen[0]][feature] = 1
                else:
                    joints.append(Joint(feature, chosen))
        instance = Coverage.of(lengths, occurrences, [[1]] * len(clauses), joints=tuple(joints), goal=Sense.MINIMIZE)
        return CoverTask(
            id=topic.id,
            problem=CoverageProblem.of(instance, reference_model=CoverModel(clauses, lengths)),
            units=units,
            references=topic.references,
            analyzer=spec.analyzer,
            notes={"uncoverable": list(alternatives.uncoverable)} if alternatives.uncoverable else {},
            texts=texts,
            lengths=of_texts,
        )

    def _weights(self, topic: Topic, units: tuple[SentenceId, ...], of_texts: Mapping[SentenceId, int]) -> list[int]:
        if self.weights == "one":
            return [1] * len(units)
        if not of_texts.keys() >= set(units):
            raise InputError(
                f"Topic {topic.id!r} has no text for each sentence of its cover, so they have no length: leave "
                "--weights at one."
            )
        return [of_texts[unit] for unit in units]

    def goal(self, spec: Spec) -> str:
        """Return what is minimized, in a few words."""
        of = spec.length_unit if self.weights == "length" else "sentences"
        left_out = ", abstract sentences without any alternative left out" if self.uncoverable == "skip" else ""
        return f"minimum cover, as few {of} as can be{left_out}"
