"""Compressions: sentences of which parts may be left out, under a length limit.

Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), eq. 1-12: the dependency tree of a sentence becomes
a tree of chunks (`optsum.chunks`), and any part of it that holds, with each chunk, all above it may stand in the
summary. An n-gram is there if the chunks of its words are kept and the chunks between them are not
(`candidates`).

A unit is a group of chunks that live and die together; a whole sentence has the length and the n-grams that it has as
an extract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np

from optsum.chunks.rules.files import load_rules
from optsum.chunks.rules.rules import Rules
from optsum.chunks.tree import chunk_tree
from optsum.corpus.parses import parse_files, parses_of
from optsum.corpus.topic import Topic
from optsum.coverage.clauses import members
from optsum.coverage.instance import NO_LIMIT
from optsum.errors import InputError
from optsum.metrics.metric import Counts, Gram, Metric
from optsum.metrics.names import parse_metric
from optsum.metrics.similarity import Similarity
from optsum.problem.counted import Counted
from optsum.problem.formulation import Formulation
from optsum.problem.objective import Component
from optsum.problem.serves import Rule, Serves
from optsum.problem.spec import Spec

from ..similar import OF_SIMILARITY, Likeness, SimilarTask, needed_vectors
from .compression import Compression, CompressiveProblem, named
from .trimming import LENGTHS, TrimmableSentence, trimmable


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SimilarCompression(SimilarTask, Compression):
    """A compression that is also scored by its vectors."""


def similar_compression(
    topic: Topic,
    spec: Spec,
    metric: Similarity,
    sentences: tuple[TrimmableSentence, ...],
    lengths: Sequence[Sequence[int]],
    alive: Sequence[int],
) -> SimilarCompression:
    """Return the problem of a topic.

    Parameters
    ----------
    lengths : one integer a group, for each sentence
    alive : one integer a sentence
        The groups that fit into the summary together with all that they need, as bits.

    Raises
    ------
    InputError
        If there are no vectors, or not one for each word of the parses.
    """
    vectors = needed_vectors(topic)
    first = np.cumsum([0, *(len(sentence.chunks) for sentence in sentences)])
    group_of = np.zeros(len(vectors.sentence_of), np.int64)
    for number, sentence in enumerate(sentences):
        tokens = np.flatnonzero(vectors.sentence_of == number)
        if len(tokens) not in {0, len(sentence.group_of_word)}:
            raise InputError(
                f"Sentence {number} of topic {topic.id!r} has {len(tokens)} vectors, but {len(sentence.group_of_word)} "
                "words in its parse: a compression needs one for each word, in order."
            )
        group_of[tokens] = first[number] + np.array(sentence.group_of_word, np.int64)[: len(tokens)]
    all_places = [(number, group) for number, each in enumerate(sentences) for group in range(len(each.chunks))]
    found = Likeness.of(topic, vectors, spec, metric, group_of, range(len(all_places)))
    adds = found.adds
    kept: set[int] = set()
    for place in range(len(all_places) - 1, -1, -1):  # children come after their parents
        number, group = all_places[place]
        needed = adds[place] or spec.keep_unmatched or spec.min_length > 0
        if alive[number] >> group & 1 and (needed or place in kept):
            kept.add(place)
            if (parent := sentences[number].parents[group]) >= 0:
                kept.add(int(first[number]) + parent)
    order = sorted(kept)
    unit_of_place = np.full(len(all_places) + 1, -1, np.int64)
    unit_of_place[order] = np.arange(len(order))
    places = tuple(all_places[place] for place in order)
    above = [sentences[number].parents[group] for number, group in places]
    parents = np.array(
        [
            unit_of_place[first[number] + parent] if parent >= 0 else -1
            for (number, _), parent in zip(places, above, strict=True)
        ],
        np.int64,
    )
    instance = found.instance(order, [lengths[number][group] for number, group in places], spec, parents)
    return SimilarCompression(
        **named(topic, spec, CompressiveProblem.of(instance), sentences, places),
        vectors=vectors,
        unit_of=unit_of_place[group_of],
        similarity=metric,
        mean=spec.references == "mean",
    )


@dataclass(frozen=True, eq=False)
class CompressiveModel:
    """Build the compressive program as the paper means it, in Pyomo: a readable yardstick for the arrays.

    Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), eq. 3-12, over chunks, with what the printed
    equations leave to the reader: (5) and (6) hold for all k and j, (7) for all chunks but roots, V are the chunks of
    an n-gram's tokens and U the chunks of the tokens between them. Chunks that live and die together are tied by
    equations. Nothing is reduced: every way to have an n-gram of a reference has its variable m, possible or not.

    Parameters
    ----------
    references : sequence of Counts
        N(g, R_k), one counter a reference.
    metric : Metric
        One that is no sum.
    sentences : sequence of TrimmableSentence
        D.
    lengths : one sequence a sentence
        The length of each group; its topmost chunk has all of it.
    places : sequence of (sentence, group)
        The units of the problem.
    spec : Spec
        Of which the analyzer, L_max, and a minimum length, which is not in the paper.
    """

    references: Sequence[Counts]
    metric: Metric
    sentences: Sequence[TrimmableSentence]
    lengths: Sequence[Sequence[int]]
    places: Sequence[tuple[int, int]]
    spec: Spec

    def ways(self, i: int) -> list[tuple[Gram, set[int], set[int]]]:
        """Return each way in which a sentence may hold an n-gram of a reference: the n-gram, V and U, in groups."""
        tokens = self.sentences[i].tokens(self.spec.analyzer)
        wanted = {gram for reference in self.references for gram in reference}
        found: list[tuple[Gram, set[int], set[int]]] = []
        for size in self.metric.sizes:
            for places in combinations(range(len(tokens)), size):
                gram = tuple(tokens[place][0] for place in places)
                key: Gram = gram if size > 1 else gram[0]
                if key in wanted:
                    between = set(range(places[0], places[-1])).difference(places)
                    found.append((key, {tokens[v][1] for v in places}, {tokens[u][1] for u in between}))
        return found

    def __call__(self) -> Any:
        """Return a `pyomo.environ.ConcreteModel` whose ``x[unit]`` says whether a unit is chosen."""
        import pyomo.environ as pyo

        grams = sorted({gram for reference in self.references for gram in reference}, key=repr)
        pairs = [(k, j) for k, reference in enumerate(self.references) for j, g in enumerate(grams) if reference[g]]
        number = {gram: j for j, gram in enumerate(grams)}
        holders: list[list[tuple[int, int]]] = [[] for _ in grams]  # T(g_j)
        ways = [self.ways(i) for i in range(len(self.sentences))]
        for i, found in enumerate(ways):
            for v, (gram, _, _) in enumerate(found):
                holders[number[gram]].append((i, v))
        chunks = [
            (i, chunk) for i, sentence in enumerate(self.sentences) for group in sentence.chunks for chunk in group
        ]
        top = [sentence.top for sentence in self.sentences]

        model = pyo.ConcreteModel("compressive oracle")
        model.IU = pyo.Set(initialize=chunks, dimen=2)
        model.IV = pyo.Set(initialize=[(i, v) for i, found in enumerate(ways) for v in range(len(found))], dimen=2)
        model.KJ = pyo.Set(initialize=pairs, dimen=2)
        model.b = pyo.Var(model.IU, domain=pyo.Binary)  # (11)
        model.m = pyo.Var(model.IV, domain=pyo.Binary)  # (10)
        model.z = pyo.Var(model.KJ, domain=pyo.NonNegativeIntegers)  # (12)
        model.x = pyo.Var(range(len(self.places)), domain=pyo.Binary)

        model.hits = pyo.Objective(expr=pyo.quicksum(model.z.values()), sense=pyo.maximize)  # (3)
        length = pyo.quicksum(
            length * model.b[i, top[i][group]]
            for i, lengths in enumerate(self.lengths)
            for group, length in enumerate(lengths)
        )
        if self.spec.max_length < NO_LIMIT and chunks:
            model.max_length = pyo.Constraint(expr=length <= self.spec.max_length)  # (4)
        if self.spec.min_length > 0 and chunks:
            model.min_length = pyo.Constraint(expr=length >= self.spec.min_length)

        @model.Constraint(model.KJ)
        def copies(m: Any, k: int, j: int) -> Any:  # (5)
            return pyo.quicksum(m.m[way] for way in holders[j]) >= m.z[k, j]

        @model.Constraint(model.KJ)
        def clipped(m: Any, k: int, j: int) -> Any:  # (6)
            return m.z[k, j] <= self.references[k][grams[j]]

        model.tree = pyo.ConstraintList()
        for i, sentence in enumerate(self.sentences):
            for group, parent in enumerate(sentence.parents):
                if parent >= 0:
                    model.tree.add(model.b[i, top[i][parent]] >= model.b[i, top[i][group]])  # (7)
                for chunk in sentence.chunks[group]:
                    if chunk != top[i][group]:
                        model.tree.add(model.b[i, chunk] == model.b[i, top[i][group]])

        model.whole = pyo.ConstraintList()
        for i, found in enumerate(ways):
            for v, (_, stay, go) in enumerate(found):
                for group in stay:
                    model.whole.add(model.b[i, top[i][group]] >= model.m[i, v])  # (8)
                for group in go:
                    model.whole.add(model.b[i, top[i][group]] <= 1 - model.m[i, v])  # (9)

        @model.Constraint(range(len(self.places)))
        def unit(m: Any, number: int) -> Any:
            i, group = self.places[number]
            return m.x[number] == m.b[i, top[i][group]]

        return model


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to have an n-gram.

    Attributes
    ----------
    gram : tuple of str
    positions : tuple of int
        Of its tokens in the sentence.
    stay, go : int
        The sets V and U.
    """

    gram: tuple[str, ...]
    positions: tuple[int, ...]
    stay: int
    go: int

    def least_needed(self, needs: Sequence[int]) -> tuple[int, ...]:
        """Return the groups of V that are no ancestor of another: these need the others by themselves."""
        return tuple(
            group
            for group in members(self.stay)
            if not any(needs[other] >> group & 1 for other in members(self.stay) if other != group)
        )

    def topmost_gone(self, needs: Sequence[int]) -> tuple[int, ...]:
        """Return the groups of U without an ancestor in U: where these go, the others cannot stay."""
        return tuple(group for group in members(self.go) if not needs[group] & ~(1 << group) & self.go)


@lru_cache(maxsize=16)
def _begun(wanted: frozenset[tuple[str, ...]], size: int) -> frozenset[tuple[str, ...]]:
    """Return what n-grams begin with: the same for all sentences of a topic, so it is made once."""
    return frozenset(gram[:count] for gram in wanted for count in range(1, size + 1))


def candidates(
    tokens: Sequence[tuple[str, int]], needs: Sequence[int], wanted: Collection[tuple[str, ...]], size: int
) -> Iterator[Candidate]:
    r"""Yield the valid candidates of some n-grams in one sentence.

    A candidate is a sequence of token positions :math:`p_1 < \dots < p_n`: its tokens become neighbours if the groups
    of the tokens (V) stay and the groups of all tokens between them (U) go. It is valid if no group that must stay, an
    ancestor of V or V itself, must go. These are the sets V and U of Hirao et al. 2017 (Oracle Summaries of Compressive
    Summarization), eq. 8-9, read as intended: U is taken from the tokens between two positions; taken from the numbers
    of chunks, as printed, it would be wrong where a chunk is torn apart (*in a ... meeting*). Sets of groups are
    integers, one bit a group.

    From each position the text is read to the right. It ends where a token cannot go, because what was read so far
    needs its group.

    Parameters
    ----------
    tokens : sequence of (token, group)
    needs : one set a group
        The group with all its ancestors.
    wanted : collection of tuples of `size` tokens
    size : int
        At least 1.
    """
    begun = _begun(frozenset(wanted), size)

    def read_on(
        gram: tuple[str, ...], positions: tuple[int, ...], needed: int, stay: int, go: int
    ) -> Iterator[Candidate]:
        if len(gram) == size:
            yield Candidate(gram, positions, stay, go)
            return
        for place in range(positions[-1] + 1, len(tokens)):
            token, group = tokens[place]
            longer = (*gram, token)
            if longer in begun and not needs[group] & go:
                yield from read_on(longer, (*positions, place), needed | needs[group], stay | 1 << group, go)
            if needed >> group & 1:
                return
            go |= 1 << group

    for place, (token, group) in enumerate(tokens):
        if (token,) in begun:
            yield from read_on((token,), (place,), needs[group], 1 << group, 0)


_Joint = tuple[Gram, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class TrimmedCounts:
    """Counts of one sentence.

    Attributes
    ----------
    kept : tuple of int
        The groups that become units, parents first.
    tokens : tuple of int
        Counted tokens of each group.
    single : tuple of tuples of Counts
        By metric and group: n-grams that are there as soon as the group is.
    joint : tuple of Counters
        By metric: n-gram, groups it needs, groups that must be gone -> copies.
    needs : tuple of int
        Each group with its ancestors, as bits.
    """

    kept: tuple[int, ...]
    tokens: tuple[int, ...]
    single: tuple[tuple[Counts, ...], ...]
    joint: tuple[Counter[_Joint], ...]
    needs: tuple[int, ...]

    def masses(self, metric: Metric) -> list[int] | None:
        """Return what each kept group adds to the number of n-grams of the summary; None if that is not linear.

        A text of w > 0 tokens has w - 1 bigrams: one less for the topmost group that has tokens, if there is one.
        """
        bearing = [group for group in self.kept if self.tokens[group]]
        masses = [0] * len(self.tokens)
        for size in metric.sizes:
            for group in bearing:
                masses[group] += self.tokens[group]
            if size == 2 and bearing:
                top = bearing[0]
                if any(not self.needs[group] >> top & 1 for group in bearing):
                    return None
                masses[top] -= 1
        return [masses[group] for group in self.kept]

    def joints(
        self, metric: int, unit_of: Mapping[int, int]
    ) -> list[tuple[Gram, tuple[int, ...], tuple[int, ...], int]]:
        """Return the n-grams of several units, in the numbers of the units."""
        return [
            (key, tuple(unit_of[group] for group in stay), tuple(unit_of[group] for group in go), copies)
            for (key, stay, go), copies in self.joint[metric].items()
        ]


@lru_cache(maxsize=16)
def _of_size(grams: frozenset[Gram], size: int) -> frozenset[tuple[str, ...]]:
    return frozenset(gram for gram in grams if isinstance(gram, tuple) and len(gram) == size)


def trimmed_counts(
    sentence: TrimmableSentence,
    tokens: Sequence[tuple[str, int]],
    metrics: Sequence[Metric],
    wanted: Sequence[Collection[Gram]],
    *,
    alive: int,
    all_unigrams: bool,
    keep_all: bool,
) -> TrimmedCounts:
    """Count.

    Parameters
    ----------
    tokens : sequence of (token, group)
        As `TrimmableSentence.tokens` has them.
    wanted : one collection of n-grams a metric
        Those of the references.
    alive : int
        The groups that fit into the summary, as bits, with each all its ancestors.
    all_unigrams : bool
        Count unigrams that are not wanted too.
    keep_all : bool
        Keep groups that hold nothing that is wanted and lead to nothing that does.
    """
    groups = range(len(sentence.chunks))
    tokens = [token for token in tokens if alive >> token[1] & 1]
    single: list[list[Counts]] = [[Counter() for _ in groups] for _ in metrics]
    joint: list[Counter[_Joint]] = [Counter() for _ in metrics]
    useful = alive if keep_all else 0
    for number, (metric, grams) in enumerate(zip(metrics, wanted, strict=True)):
        for size in metric.sizes:
            if size == 1:
                for token, group in tokens:
                    if token in grams:
                        useful |= sentence.needs[group]
                    if token in grams or all_unigrams:
                        single[number][group][token] += 1
                continue
            for found in candidates(tokens, sentence.needs, _of_size(frozenset(grams), size), size):
                stay, go = found.least_needed(sentence.needs), found.topmost_gone(sentence.needs)
                for group in stay:
                    useful |= sentence.needs[group]
                joint[number][found.gram, stay, go] += 1
    settled = [_settle(found, of, useful) for found, of in zip(joint, single, strict=True)]
    lengths = Counter(group for _, group in tokens)
    return TrimmedCounts(
        tuple(members(useful)),
        tuple(lengths[group] for group in groups),
        tuple(map(tuple, single)),
        tuple(settled),
        sentence.needs,
    )


def _settle(joint: Counter[_Joint], single: Sequence[Counts], useful: int) -> Counter[_Joint]:
    """Leave groups that are no units out of the gaps; move what a single group decides to what that group holds."""
    several: Counter[_Joint] = Counter()
    for (key, stay, go), copies in joint.items():
        staying = tuple(group for group in go if useful >> group & 1)
        if staying or len(stay) > 1:
            several[key, stay, staying] += copies
        else:
            single[stay[0]][key] += copies
    return several


_SERVES: Final = Serves(
    rules=(
        Rule(
            "The compressive formulation searches rouge-N, rouge-su0 and similarity, not {metric}: choose one with "
            "--metric.",
            only={"part": ("rouge-N", "rouge-su0", "similarity")},
        ),
        *OF_SIMILARITY,
        Rule(
            "Model units and geometric means (Lin & Hovy 2003) are served for extracts: use --formulation extractive, "
            "or rouge-N with --model-units whole.",
            only={"metric": ("rouge-N", "rouge-su0", "A+B", "similarity"), "model_units": ("whole",)},
        ),
        Rule(
            "The compressive formulation counts n-grams within sentences, as the paper does: give --boundaries "
            "sentence.",
            only={"boundaries": ("sentence",)},
        ),
        Rule(
            "How many {metric} n-grams a compression has is no linear function of its chunks: use --measure recall, "
            "or rouge-1, rouge-2 or rouge-su0.",
            only={"part": ("rouge-1", "rouge-2", "rouge-su0", "similarity")},
            when={"measure": ("precision", "f1")},
        ),
        Rule(
            "With set counts the compressive formulation serves {measure} of rouge-1 only: use --measure recall, "
            "or --counts clipped.",
            only={"part": ("rouge-1",)},
            when={"measure": ("precision", "f1"), "counts": ("set",)},
        ),
        Rule(
            "The tokenizer pypi-rouge makes tokens of blanks, which are in no chunk: choose another with --tokenizer.",
            when={"tokenizer": ("pypi-rouge",)},
        ),
        Rule(
            "Chunks have lengths in words, sentences or characters; tokens and given lengths are of whole sentences: "
            "choose another --length-unit.",
            when={"length_unit": ("tokens", "given")},
        ),
    )
)


_rules_of = lru_cache(maxsize=8)(load_rules)


@dataclass(frozen=True)
class Compressive(Formulation):
    """Sentences without some of their chunks.

    Parameters
    ----------
    chunk_profile : {"strict", "paper"}
        Which parts of a sentence can go by themselves.
    chunk_rules : str or None
        By which chunks are made, a label scheme or a file; None for those that go with the labels of the parse.
    """

    chunk_profile: Literal["strict", "paper"] = "strict"
    chunk_rules: str | None = None

    name: ClassVar[str] = "compressive"
    summaries: ClassVar[str] = "compressions"
    about: ClassVar[str] = "sentences of which parts may be left out (Hirao et al. 2017, compressive)"
    whole_sentences: ClassVar[bool] = False
    serves: ClassVar[Serves] = _SERVES
    flags: ClassVar[tuple[str, ...]] = ("chunk_profile", "chunk_rules")

    def __post_init__(self) -> None:
        """Refuse rules that cannot be read."""
        self._rules()

    def _rules(self) -> Rules | None:
        return None if self.chunk_rules is None else _rules_of(self.chunk_rules)

    def contents(self) -> Mapping[str, Any]:
        """Return what the file of rules holds."""
        rules = self._rules()
        return {} if rules is None else {"chunk_rules": rules.digest}

    def files_of(self, topic: Topic) -> Sequence[Path]:
        """Return the files of its parses."""
        return parse_files(topic)

    def build(self, topic: Topic, spec: Spec) -> Compression:
        """Return the problem of a topic.

        A group of chunks that holds no n-gram of any reference and leads to none is no unit, and neither is one that
        is longer than the maximum with all that it needs; a minimum length keeps the former.

        Raises
        ------
        InputError
            If the topic has no parse of each sentence, or its references have no n-gram to count.
        """
        sentences = tuple(
            trimmable(number, sentence, parse, chunk_tree(parse, self.chunk_profile, self._rules()))
            for number, (sentence, parse) in enumerate(zip(topic.sentences, parses_of(topic), strict=True))
        )
        lengths = [LENGTHS[spec.length_unit](sentence) for sentence in sentences]
        if isinstance(similarity := parse_metric(spec.metric), Similarity):
            alive = [_alive(sentence, own, spec) for sentence, own in zip(sentences, lengths, strict=True)]
            return similar_compression(topic, spec, similarity, sentences, lengths, alive)
        counted = Counted.of(topic, spec)
        metric = counted.metric
        trimmed = [
            trimmed_counts(
                sentence,
                sentence.tokens(spec.analyzer),
                metric.components,
                counted.wanted,
                alive=_alive(sentence, own, spec),
                all_unigrams=counted.distinct and spec.measure != "recall",
                keep_all=spec.keep_unmatched or spec.min_length > 0,
            )
            for sentence, own in zip(sentences, lengths, strict=True)
        ]
        places = tuple((sentence, group) for sentence, found in enumerate(trimmed) for group in found.kept)
        unit_of = {place: unit for unit, place in enumerate(places)}
        instance = counted.coverage(
            _components(counted, topic, trimmed, unit_of, spec),
            [lengths[sentence][group] for sentence, group in places],
            parents=np.array([unit_of.get((s, sentences[s].parents[g]), -1) for s, g in places], np.int64),
        )
        references = counted.references(0)
        model = CompressiveModel(references, metric, sentences, lengths, places, spec) if counted.simple else None
        problem = CompressiveProblem.of(instance, reference_model=model)
        return Compression(**named(topic, spec, problem, sentences, places))


def _components(
    counted: Counted, topic: Topic, trimmed: Sequence[TrimmedCounts], unit_of: Mapping[tuple[int, int], int], spec: Spec
) -> list[Component]:
    """Return what units and joints hold of each component of a metric; a unit is a group of a sentence."""
    components = []
    for number, part in enumerate(counted.metric.components):
        joints = [
            joint
            for sentence, found in enumerate(trimmed)
            for joint in found.joints(number, {group: unit_of[sentence, group] for group in found.kept})
        ]
        components.append(
            counted.component(
                number,
                [trimmed[sentence].single[number][group] for sentence, group in unit_of],
                _masses(topic, trimmed, part) if spec.measure != "recall" and not counted.distinct else (),
                joints=joints,
            )
        )
    return components


def _alive(sentence: TrimmableSentence, lengths: Sequence[int], spec: Spec) -> int:
    """Return the groups that fit into the summary together with all that they need, as bits."""
    least: list[int] = []
    for parent, length in zip(sentence.parents, lengths, strict=True):
        least.append(length + (least[parent] if parent >= 0 else 0))
    return sum(1 << group for group, length in enumerate(least) if length <= spec.max_length or spec.keep_overlong)


def _masses(topic: Topic, counted: Sequence[TrimmedCounts], metric: Metric) -> list[int]:
    masses: list[int] = []
    for number, found in enumerate(counted):
        own = found.masses(metric)
        if own is None:
            raise InputError(
                f"The main chunk of sentence {number} of topic {topic.id!r} has no counted token, so the number of "
                f"{metric} n-grams of its compressions is no linear function of its chunks: use --measure recall."
            )
        masses += own
    return masses
