"""Formulations, which convert a topic to a problem, and a selection back to text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage.instance import IntArray, Sense
from optsum.coverage.row import Row
from optsum.errors import InputError, UnsupportedError, visible
from optsum.metrics.metric import Metric
from optsum.metrics.names import METRICS, SUM, parse_metric
from optsum.metrics.rouge import Score, rouge_all
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.numbered import NumberedTopic, official_scores
from optsum.problem.problem import Problem, Selection
from optsum.problem.sides import rows_of
from optsum.problem.spec import Spec
from optsum.system.notebook import facts, marked_text
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import LENGTH_OF
from optsum.text.tokenizers import Sentence

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
"""Options that can be chosen besides the metric, under their names."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A restriction of a formulation.

    Aspects are those of `ASPECTS`, ``tokenizer``, ``metric`` (the kinds of the whole metric, `Metric.kinds`) and
    ``part`` (the kinds of each component of a sum or a mean).

    Attributes
    ----------
    say : str
        The sentence; ``{metric}``, ``{measure}`` and the other aspects are filled in.
    only : mapping
        The supported values, by aspect; all others are refused. If it is empty, every value is refused.
    when : mapping
        The rule applies if all of these aspects have one of these values.
    """

    say: str
    only: Choices = field(default_factory=dict)
    when: Choices = field(default_factory=dict)

    def refuses(self, chosen: Mapping[str, list[frozenset[str]]]) -> bool:
        """Whether the choice violates the rule."""
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
        return (
            *self.rules,
            *(
                Requirement(
                    f"The formulation {{formulation}} serves the {_called(aspect)} {_or(values)}, not {{{aspect}}}: "
                    f"change --{_called(aspect).replace(' ', '-')}, or --formulation.",
                    only={aspect: values} | ({"metric": (*values, SUM)} if aspect == "part" else {}),
                )
                for aspect, values in lists.items()
                if values is not None
            ),
        )

    def check(self, formulation: str, spec: Spec) -> None:
        """Refuse unsupported values.

        Parameters
        ----------
        formulation : str
            Its name.
        spec : Spec

        Raises
        ------
        UnsupportedError
            With a sentence that names supported values.
        """
        metric = parse_metric(spec.metric)
        said = {aspect: getattr(spec, aspect) for aspect in ASPECTS} | {
            "tokenizer": spec.analyzer.tokenizer,
            "length_unit": spec.length_unit,
        }
        chosen = {aspect: [frozenset({value})] for aspect, value in said.items()} | _of_metric(metric)
        for rule in self._all:
            if rule.refuses(chosen):
                raise UnsupportedError(rule.say.format(formulation=formulation, metric=metric, part=metric, **said))

    def metric_forms(self) -> list[str]:
        """Return the forms of metrics that are supported alone, with any other options."""
        examples = {"rouge-N": "rouge-1", "rouge-su0": "rouge-su0", "rouge-suK": "rouge-su4", "rouge-l": "rouge-l",
                    "rougeL": "rougeL", SUM: "rouge-1+rouge-2", "ngram-I-J": "ngram-1-4"}  # fmt: skip
        kinds = {form: _of_metric(parse_metric(name)) for form, name in examples.items()}
        for form in METRICS:
            if form not in METRICS.builtin:
                kinds[form] = {"metric": [frozenset({form})], "part": [frozenset({form})]}
        served = [form for form, of in kinds.items() if not self._refuses(of)]
        return [form for form in served if form != "rouge-su0" or "rouge-suK" not in served]

    def values(self, aspect: str) -> list[str]:
        """Return the supported values of an aspect if everything else has its default."""
        return [value for value in ASPECTS[aspect] if not self._refuses({aspect: [frozenset({value})]})]

    def _refuses(self, chosen: Mapping[str, list[frozenset[str]]]) -> bool:
        rules = (rule for rule in self._all if not rule.when and rule.only.keys() & chosen.keys())
        return any(rule.refuses(chosen) for rule in rules)


def _of_metric(metric: Metric) -> dict[str, list[frozenset[str]]]:
    return {"metric": [metric.kinds], "part": [part.kinds for part in metric.components]}


def _called(aspect: str) -> str:
    return "metric" if aspect == "part" else aspect.replace("_", " ")


def _or(values: tuple[str, ...]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


_SHOWN = 100  # Units whose texts a notebook shows.


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
        The input's name of each unit of the problem, in order.
    references : tuple of tuple of sentences
        The references in the objective.
    analyzer : Analyzer
        Makes the tokens for the objective and for the scores of the finished text.
    notes : mapping
        Remarks made while building the problem; they become part of the result's statistics.
    members : mapping
        The parts of a unit, in the numbering of the input, if `units` names it after one of several.
    start : tuple, optional
        A starting selection for searches, in the names of `units`.
    parents : mapping
        The unit that each unit requires, if any, both in the names of `units`.
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
        """Return the unit for each name in the numbering of the input."""
        return {name: unit for unit in range(len(self.units)) for name in self.name_units((unit,))}

    def selection_of(self, named: Sequence[Any]) -> Selection:
        """Return units by their names in the numbering of the input.

        Raises
        ------
        InputError
            If one of them is not a unit.
        """
        known = self.numbers()
        names = [tuple(name) if isinstance(name, list) else name for name in named]
        if unknown := [name for name in names if isinstance(name, _NO_NAMES) or name not in known]:
            raise InputError(f"The start of {self.id!r} names {unknown[0]!r:.40}, which is not a unit: leave it out.")
        return tuple(sorted({known[name] for name in names}))

    def text(self, selection: Selection) -> tuple[str, ...] | None:
        """Return the text of a selection for readers, sentence by sentence; None if the input has no text."""
        shown = self.display(selection)
        return None if shown is None else tuple(text if isinstance(text, str) else " ".join(text) for text in shown)

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return a selection in the numbering of the input, in document order."""
        return tuple(self.units[unit] for unit in selection)

    def length(self, selection: Selection) -> int | None:
        """Return the length of a selection, in the length unit; None if that needs a text that the input lacks."""
        return self.problem.length(selection)

    def found(self, selection: Selection) -> Mapping[str, Any]:
        """Return further fields of the row of a selection; by default none."""
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
        return rouge_all(sentences, self.references, metrics, analyzer=self.analyzer)

    def display(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the text of a selection for readers, if it differs from the scored text."""
        return self.decode(selection)

    def heads(self) -> Mapping[int, int]:
        """Return, for each sentence of the topic with units, the unit that is chosen if any part of it is."""
        return {}

    def unit_lengths(self, length_unit: str) -> Sequence[int] | None:
        """Return the length of each unit in words, sentences or characters; None if unknown."""
        del length_unit
        return None

    def parts(self) -> list[list[tuple[int, int]]] | None:
        """Return, for each sentence of the topic, where its parts begin, with their numbers in a selection.

        Positions count characters of tokens joined by blanks. None if sentences are chosen as a whole.
        """
        return None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Extract(Task):
    """A task of whole sentences: `units` are numbers of sentences of the topic.

    Attributes
    ----------
    sentences : tuple of sentences
        The sentences of the topic.
    numbered : NumberedTopic or None
        Its tokens as numbers, if the problem was made from them.
    """

    sentences: tuple[Sentence, ...] = field(repr=False)
    numbered: NumberedTopic | None = field(default=None, repr=False)

    def scores(self, selection: Selection, metrics: Sequence[Metric]) -> Mapping[str, Score] | None:
        """Return the official scores, from numbered tokens if the problem has them."""
        if self.numbered is not None and self.references:
            chosen = self.name_units(selection)
            found = official_scores(self.numbered.tokens, self.numbered.references, chosen, metrics)
            if found is not None:
                return found
        return super().scores(selection, metrics)

    def heads(self) -> Mapping[int, int]:
        """Return the unit of each sentence."""
        return {number: unit for unit, number in enumerate(self.units)}

    def unit_lengths(self, length_unit: str) -> Sequence[int]:
        """Return the length of each unit."""
        return [LENGTH_OF[length_unit](self.sentences[number]) for number in self.units]

    def decode(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return the chosen sentences."""
        return tuple(self.sentences[self.units[unit]] for unit in selection)

    @classmethod
    def of(
        cls, topic: Topic, spec: Spec, problem: Problem, units: Sequence[int], numbered: NumberedTopic | None = None
    ) -> Extract:
        """Return the task of a problem whose units are sentences of a topic, given by their numbers."""
        return cls(
            id=topic.id,
            problem=problem,
            units=tuple(units),
            references=topic.references,
            analyzer=spec.analyzer,
            sentences=topic.sentences,
            numbered=numbered,
        )


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
        Supported metrics, measures and so on; all others are refused before `build` is called.
    sense : Sense
        MAXIMIZE a metric under length limits, or MINIMIZE the length without limits.
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
        """Return the task of a topic, if the formulation supports the objective.

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
        """Return a task with the side constraints as rows of its instance."""
        problem, sides = task.problem, spec.sides
        if not isinstance(problem, CoverageProblem):
            what, do = f"{self.name} {spec.metric}", "choose n-grams with --metric"
            if not self.reads_topics:
                what, do = f"{task.id!r} ({type(problem).__name__})", "let the problem itself keep them"
            raise UnsupportedError(
                "Side constraints (--require, --forbid, --max-sentences and the like) are for problems in the normal "
                f"form, which {what} is not: {do}."
            )
        alike = sides.exclusive is not None and not isinstance(sides.exclusive, Mapping)
        tokens = list(map(spec.analyzer.tokens, topic.sentences)) if alike else None
        rows = list(rows_of(sides.linear(topic, tokens, spec.deadline), task.heads()))
        if sides.max_characters is not None:
            lengths = task.unit_lengths("characters")
            if lengths is None:
                raise UnsupportedError(f"The formulation {self.name} has no lengths of its units in characters.")
            held = {unit: length for unit, length in enumerate(lengths) if length}
            name = f"at most {sides.max_characters} characters"
            rows.append(Row(tuple(held), tuple(held.values()), 0, sides.max_characters, name))
        instance = problem.instance.with_rows((*problem.instance.rows, *(row for row in rows if row.binds)))
        return replace(task, problem=replace(problem, instance=instance, reference_model=None))

    def extracts(self, spec: Spec) -> IntArray | None:
        """Return the kernels' codes of the metrics, if topics are extracts by n-grams that may be searched together."""
        del spec
        return None

    @abstractmethod
    def build(self, topic: Topic, spec: Spec) -> Task:
        """Return the problem of a topic; the specification is a supported one.

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
        """Return the existing files that are read for a topic, except the file of topics."""
        del topic
        return ()
