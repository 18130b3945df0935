"""Compressions: sentences whose parts may be left out are selected under a length limit.

Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), eq. 1-12: the dependency tree of a sentence becomes a
tree of chunks (`optsum.chunks`), and any subset of chunks that is closed under ancestors may appear in the summary. An
n-gram occurs if the chunks of its words are kept and the chunks between them are not (`candidates`). A sentence of
which all chunks are kept has the same length and n-grams as in an extract.

Chunks that are kept or dropped together (an edge of the tree is "required") are contracted into one group, which is a
unit. A group may be kept only with its parent. Every character of the sentence belongs to one group; a counted token,
or a word that counts for the length, belongs to the group of its first character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from heapq import heappop, heappush
from itertools import combinations, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np

from optsum.chunks.parse import Parse, is_punctuation
from optsum.chunks.tree import Rules, chunk_tree, load_rules
from optsum.corpus.parses import parse_files, parses_of
from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.metrics.rouge import Counts, Gram, Metric, parse_metric
from optsum.metrics.similarity import Similarity
from optsum.problem.formulation import Compatibility, Formulation, Requirement, Spec, Task
from optsum.problem.objective import Component, Counted
from optsum.problem.problem import CoverageProblem, Move, Selection
from optsum.program.model import members
from optsum.system.files import of_files
from optsum.text.analyzer import Analyzer, Sentence, character_count, raw_text, word_starts

from .extractive import OF_SIMILARITY, Likeness, maximize_hits, needed_vectors, vector_score

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class TrimmableSentence:
    """A parsed sentence as a tree of groups of chunks; the chunks of a group are kept or dropped together."""

    number: int  # The number of the sentence in its topic.
    sentence: Sentence  # The sentence as in the topic.
    parse: Parse
    # The chunks of each group, ascending; groups are ordered so that parents come first.
    chunks: tuple[tuple[int, ...], ...]
    top: tuple[int, ...]  # The topmost chunk of each group.
    parents: tuple[int, ...]  # The parent of each group, -1 for none.
    group_of_word: tuple[int, ...]  # The group of each word of the parse.

    @cached_property
    def _borders(self) -> tuple[list[int], list[int]]:
        words = zip(self.parse.tokens, self.group_of_word, strict=True)
        held = sorted([(word.start, group) for word, group in words if word.end > word.start], key=itemgetter(0))
        return [start for start, _ in held], [group for _, group in held]

    def owner(self, place: int) -> int:
        """Return the group of the character at an index; characters between two words belong to the first word."""
        starts, groups = self._borders
        return groups[max(0, bisect_right(starts, place) - 1)] if groups else 0

    def pieces(self) -> list[tuple[int, int]]:
        """Return (index of the first character, group) of each maximal piece of text that belongs to one group."""
        starts, groups = self._borders
        changes = zip([0, *starts[1:]], groups, [None, *groups], strict=False)
        return [(start, group) for start, group, before in changes if group != before]

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """For each group, the set of the group and its ancestors, as an integer with one bit for each group."""
        found: list[int] = []
        for group, parent in enumerate(self.parents):
            found.append(1 << group | (found[parent] if parent >= 0 else 0))
        return tuple(found)

    def tokens(self, analyzer: Analyzer) -> list[tuple[str, int]]:
        return [(token, self.owner(start)) for token, start in analyzer.spans(self.sentence)] if self.chunks else []


def trimmable(number: int, sentence: Sentence, parse: Parse, tree: nx.DiGraph) -> TrimmableSentence:
    group_of: dict[int, int] = {}
    chunks: list[list[int]] = []
    parents: list[int] = []
    waiting: list[tuple[int, int | None]] = sorted((chunk, None) for chunk, above in tree.in_degree() if not above)
    while waiting:  # a heap: parents first, otherwise in the order of numbers (networkx takes 3 times as long)
        chunk, parent = heappop(waiting)
        for child in tree.successors(chunk):
            heappush(waiting, (child, chunk))
        if parent is not None and tree.edges[parent, chunk]["required"]:
            group_of[chunk] = group_of[parent]
        else:
            group_of[chunk] = len(chunks)
            chunks.append([])
            parents.append(-1 if parent is None else group_of[parent])
        chunks[group_of[chunk]].append(chunk)
    group_of_word = [0] * len(parse.tokens)
    for chunk, words in tree.nodes(data="tokens"):
        for word in words:
            group_of_word[word] = group_of[chunk]
    return TrimmableSentence(
        number,
        sentence,
        parse,
        tuple(tuple(sorted(group)) for group in chunks),
        tuple(group[0] for group in chunks),
        tuple(parents),
        tuple(group_of_word),
    )


def _counted(sentence: TrimmableSentence, places: Sequence[int]) -> list[int]:
    held = Counter(map(sentence.owner, places))
    return [held[group] for group in range(len(sentence.chunks))]


LENGTHS: Mapping[str, Callable[[TrimmableSentence], list[int]]] = {
    "words": lambda sentence: _counted(sentence, word_starts(sentence.sentence)),
    "characters": lambda sentence: _counted(sentence, range(character_count(sentence.sentence))),
    "sentences": lambda sentence: [int(parent < 0) for parent in sentence.parents],
}
"""Functions that return the length of each group of a sentence, by length unit; the sum is the sentence's length.

A blank counts for the group of the word before it. In sentences, a group has length 1 if it has no parent, otherwise 0.
"""


_CLOSER_OF = dict(zip("([{“‘«", ")]}”’»", strict=True)) | {"``": "''", "-LRB-": "-RRB-", "-LSB-": "-RSB-"}
_OPENS = frozenset(_CLOSER_OF)
_CLOSES = frozenset(_CLOSER_OF.values())
_SAME_BOTH_WAYS = frozenset({'"', "'"})
_STRENGTH = {",": 1, "-": 2, "–": 2, "—": 2, "--": 2, ":": 3, ";": 3}
_ENDS = frozenset({".", "?", "!", "…", "..."})


def _pairs(parse: Parse) -> dict[int, int]:
    partner: dict[int, int] = {}
    waiting: list[tuple[str, int]] = []
    for place, word in enumerate(parse.tokens):
        if not is_punctuation(word):
            continue
        form = word.form
        closes = form in _CLOSES or form in _SAME_BOTH_WAYS
        match = next((index for index in reversed(range(len(waiting))) if waiting[index][0] == form), None)
        if closes and match is not None:
            partner[place] = waiting[match][1]
            partner[waiting[match][1]] = place
            del waiting[match:]
        elif form in _OPENS or form in _SAME_BOTH_WAYS:
            waiting.append((_CLOSER_OF.get(form, form), place))
    return partner


def _sticks_to_left(parse: Parse, place: int) -> bool:
    """Return whether a token follows the one before it without a blank: a comma, a final mark, *'s*, *n't*."""
    word = parse.tokens[place]
    if not is_punctuation(word):
        return word.upos in {"PART", "AUX"} and (word.form[:1] in {"'", "’"} or word.form.lower() in {"n't", "n’t"})
    if (other := _pairs(parse).get(place)) is not None:
        return other < place
    return word.form not in _OPENS and word.form not in {"-", "–", "—", "--", "#", "*", "•"}


def kept_marks(parse: Parse, held: Sequence[bool]) -> list[bool]:
    """Return for each token whether it is shown: words that are kept (`held`), and punctuation that belongs to them."""
    words = parse.tokens
    last = max((place for place, word in enumerate(words) if not is_punctuation(word)), default=-1)
    first = next((place for place, word in enumerate(words) if not is_punctuation(word)), len(words))
    partner = _pairs(parse)
    shown = list(held)
    for place, word in enumerate(words):
        if not is_punctuation(word):
            continue
        if (other := partner.get(place)) is not None:
            shown[place] = any(held[min(place, other) : max(place, other)])
        elif place > last or place < first:  # the final mark, or a bullet
            shown[place] = True
        elif words[place - 1].end == word.start and word.end == words[place + 1].start:
            shown[place] = held[place - 1] and held[place + 1]
        else:
            beside = any(held[other] or is_punctuation(words[other]) for other in (place - 1, place + 1))
            introduces = word.form in {":", ";"} and held[place - 1]
            governor = place
            while is_punctuation(words[governor]) and words[governor].head >= 0:
                governor = words[governor].head
            belongs = held[governor] or introduces
            shown[place] = beside and belongs and not _parts_clause(parse, held, place)
    _tidy(parse, shown, first, last)
    return shown


def _parts_clause(parse: Parse, held: Sequence[bool], place: int) -> bool:
    """Return whether a mark would separate a verb from its subject or its *that*, after words between were dropped."""
    words = parse.tokens
    before = next((left for left in reversed(range(place)) if held[left]), None)
    after = next((right for right in range(place + 1, len(words)) if held[right]), None)
    if (
        before is None
        or after is None
        or all(held[each] or is_punctuation(words[each]) for each in range(before, after))
    ):
        return False
    if words[after].form.lower() == "that" and words[after].deprel == "mark":
        clause = words[words[after].head]
        return clause.deprel.startswith("ccomp") and clause.head == before
    above = set()
    while after >= 0:
        above.add(after)
        after = words[after].head
    while before >= 0 and before not in above:
        if words[before].head in above:
            return words[before].deprel.startswith(("nsubj", "csubj"))
        before = words[before].head
    return False


def _tidy(parse: Parse, shown: list[bool], first: int, last: int) -> None:
    """Clear `shown` for separators without words on both sides, before a final mark, or beside a stronger separator."""
    words = parse.tokens
    before = -1  # the last token so far that is shown
    for place, word in enumerate(words):
        if not shown[place]:
            continue
        mark, after_mark = is_punctuation(word), before >= 0 and is_punctuation(words[before])
        if mark and word.form in _STRENGTH and first <= place <= last and (before < 0 or after_mark):
            if before < 0 or (before != place - 1 and not _ends_pair(parse, before)):
                if before >= 0 and 0 < _STRENGTH.get(words[before].form, 0) < _STRENGTH[word.form]:
                    shown[before] = False
                else:
                    shown[place] = False
                    continue
        elif after_mark and mark and (word.form in _ENDS or _ends_pair(parse, place)):
            weaker = words[before].form in _STRENGTH and before <= last and before != place - 1
            shown[before] = shown[before] and not weaker
        before = place


def _ends_pair(parse: Parse, place: int) -> bool:
    word = parse.tokens[place]
    return is_punctuation(word) and (word.form in _CLOSES or _pairs(parse).get(place, place) < place)


def bare_text(sentence: TrimmableSentence, groups: Collection[int], tokenizer: str) -> Sentence:
    """Return the kept groups of a sentence with exactly the tokens that the objective counts, without repairs."""
    if len(groups) == len(sentence.chunks):
        return sentence.sentence
    spans = Analyzer(tokenizer).spans(sentence.sentence)
    kept = [sentence.owner(start) in groups for _, start in spans]
    if tokenizer == "tokens" and not isinstance(sentence.sentence, str):
        return tuple(token for (token, _), here in zip(spans, kept, strict=True) if here)
    text = raw_text(sentence.sentence)
    starts = [start for _, start in spans]
    runs = groupby(zip(starts, [*starts[1:], len(text)], kept, strict=True), key=itemgetter(2))
    pieces = ["".join(text[start:end] for start, end, _ in run) for here, run in runs if here]
    return " ".join(map(str.strip, pieces))


def readable_text(sentence: TrimmableSentence, groups: Collection[int]) -> str:
    """Return the kept part of a sentence as a person would write it; `groups` are the kept groups.

    Brackets and quotation marks are kept in pairs, the final mark stays, commas are dropped with the words that they
    set off, *a* and *an* fit the next word, and the first word is capitalized if the sentence began with a capital. In
    tokenized text, punctuation stays separated by blanks.
    """
    parse = sentence.parse
    if len(groups) == len(sentence.chunks):
        return parse.text
    words = parse.tokens
    marks = [is_punctuation(word) for word in words]
    held = [group in groups and not mark for group, mark in zip(sentence.group_of_word, marks, strict=True)]
    shown = [
        place for place, here in enumerate(kept_marks(parse, held)) if here and words[place].end > words[place].start
    ]
    pieces: list[str] = []
    # The first word takes the capital of a sentence whose first word is not shown.
    first = next((place for place in shown if not marks[place]), -1)
    begins_with_capital = next((letter.isupper() for letter in parse.text if letter.isalpha()), False)
    raised = begins_with_capital and first != next((place for place in range(len(words)) if not marks[place]), 0)
    for index, place in enumerate(shown):
        form = parse.text[words[place].start : words[place].end]
        if index:
            before = shown[index - 1]
            if place == before + 1:
                pieces.append(parse.text[words[before].end : words[place].start])
            elif not _close(parse, before, place):
                pieces.append(" ")
        if words[place].xpos == "DT" and form.lower() in {"a", "an"} and index + 1 < len(shown):
            after = shown[index + 1]
            if after != place + 1:
                form = _article(form, parse.text[words[after].start : words[after].end])
        if place == first and raised and form.islower():
            form = form[0].upper() + form[1:]
        pieces.append(form)
    text = "".join(pieces).strip()
    return _ended(text, parse, shown) if shown else text


def _close(parse: Parse, before: int, place: int) -> bool:
    word = parse.tokens[before]
    opens = is_punctuation(word) and (word.form in _OPENS or _pairs(parse).get(before, -1) > before)
    if opens and not parse.text[word.end :][:1].isspace():
        return True
    return _sticks_to_left(parse, place) and not parse.text[: parse.tokens[place].start][-1:].isspace()


def _ended(text: str, parse: Parse, shown: Sequence[int]) -> str:
    """Return the text with the final mark of the sentence, if that was dropped with a quotation or an abbreviation."""
    words = parse.tokens
    end = words[shown[-1]]
    gone = range(shown[-1] + 1, len(words))
    if end.form in {"?", "!"} and any(_ends_pair(parse, place) for place in gone):
        return text[:-1] + "."  # the mark ended a quotation, not the sentence
    last = words[-1]
    if gone and not is_punctuation(last) and last.form[-1:] in {".", "?", "!"} and text[-1:].isalnum():
        return text + last.form[-1]
    return text


def _article(form: str, following: str) -> str:
    word = following.lstrip("\"'“‘([")
    small = word.lower()
    if len(word) == 1 or (word.isupper() and word.isalpha()):
        vowel = word[:1].upper() in "AEFHILMNORSX"
    elif small.startswith("u"):
        vowel = not small.startswith(("ubi", "uk", "uni", "ura", "ure", "uri", "us", "ut"))  # as in "use"
    elif small.startswith(("eu", "one", "once", "ouija")):
        vowel = False
    else:
        said_with_a_vowel = "a", "e", "i", "o", "heir", "honest", "honor", "honour", "hour", "8", "11", "18", "80"
        vowel = small.startswith(said_with_a_vowel)
    article = "an" if vowel else "a"
    return article.capitalize() if form[0].isupper() else article


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Compression(Task):
    """A compressive problem of a topic; the name of a unit is (sentence, its topmost chunk), chunks counted from 1."""

    sentences: tuple[TrimmableSentence, ...] = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)  # Sentence and group of each unit.

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return (sentence, chunk) of all chunks in the units of a selection."""
        return tuple(
            (sentence.number, chunk)
            for sentence, groups in self._kept(selection)
            for chunk in sorted(chunk for group in groups for chunk in sentence.chunks[group])
        )

    def heads(self) -> Mapping[int, int]:
        """Return, by sentence, the unit without a parent, which every other unit of the sentence needs."""
        return {
            sentence: unit
            for unit, (sentence, group) in enumerate(self.places)
            if self.sentences[sentence].parents[group] < 0
        }

    def unit_lengths(self, length_unit: str) -> Sequence[int]:
        lengths = [LENGTHS[length_unit](sentence) for sentence in self.sentences]
        return [lengths[sentence][group] for sentence, group in self.places]

    def decode(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return the kept part of each sentence with exactly the tokens that the objective counts, without repairs."""
        tokenizer = self.analyzer.tokenizer
        return tuple(bare_text(sentence, groups, tokenizer) for sentence, groups in self._kept(selection))

    def display(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return the kept part of each sentence for readers, with punctuation, articles and capitals repaired."""
        return tuple(readable_text(sentence, groups) for sentence, groups in self._kept(selection))

    def parts(self) -> list[list[tuple[int, int]]]:
        """Return, by sentence, the first character and the topmost chunk of each piece of text that is in one group."""
        return [[(start, sentence.top[group]) for start, group in sentence.pieces()] for sentence in self.sentences]

    def _kept(self, selection: Selection) -> list[tuple[TrimmableSentence, set[int]]]:
        kept: dict[int, set[int]] = {}
        for unit in selection:
            sentence, group = self.places[unit]
            kept.setdefault(sentence, set()).add(group)
        return [(self.sentences[sentence], kept[sentence]) for sentence in sorted(kept)]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompressiveProblem(CoverageProblem):
    """A coverage problem whose units are groups of chunks, which form one tree for each sentence."""

    def entries(self) -> Iterator[Move]:
        heads = (self.instance.parents < 0).nonzero()[0].tolist()
        for first, end in pairwise([*heads, self.size]):
            yield tuple(range(first, end))


def _task(
    topic: Topic,
    spec: Spec,
    problem: CoverageProblem,
    sentences: tuple[TrimmableSentence, ...],
    places: tuple[tuple[int, int], ...],
    **others: Any,
) -> Compression:
    names = tuple((sentence, sentences[sentence].top[group]) for sentence, group in places)
    parents = zip(names, problem.instance.parents.tolist(), strict=True)
    return Compression.of(
        topic,
        spec,
        problem,
        names,
        members={
            name: tuple((s, chunk) for chunk in sentences[s].chunks[group])
            for name, (s, group) in zip(names, places, strict=True)
        },
        parents={name: names[parent] for name, parent in parents if parent >= 0},
        sentences=sentences,
        places=places,
        **others,
    )


def similar_compression(
    topic: Topic,
    spec: Spec,
    metric: Similarity,
    sentences: tuple[TrimmableSentence, ...],
    lengths: Sequence[Sequence[int]],
    alive: Sequence[int],
) -> Compression:
    vectors = needed_vectors(topic)
    first = np.cumsum([0, *(len(sentence.chunks) for sentence in sentences)])
    group_of = np.zeros(len(vectors.sentence_of), np.int64)
    for number, sentence in enumerate(sentences):
        tokens = np.flatnonzero(vectors.sentence_of == number)
        if len(tokens) not in {0, len(sentence.group_of_word)}:
            raise InputError(
                f"Sentence {number} of topic {topic.id!r} has {len(tokens)} vectors, but {len(sentence.group_of_word)} "
                "words in its parse: give one vector for each word, in order."
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
    above = [(first[number], sentences[number].parents[group]) for number, group in places]
    parents = np.array([unit_of_place[own + parent] if parent >= 0 else -1 for own, parent in above], np.int64)
    instance = found.instance(order, [lengths[number][group] for number, group in places], spec, parents)
    given = vectors, unit_of_place[group_of], metric, len(topic.references), spec.references == "mean"
    scored = {metric: partial(vector_score, *given)}
    return _task(topic, spec, CompressiveProblem.of(instance), sentences, places, scored=scored)


def _ways(
    tokens: Sequence[tuple[str, int]], wanted: Collection[Gram], metric: Metric
) -> Iterator[tuple[Gram, set[int], set[int]]]:
    """Yield (n-gram, groups of its tokens, groups of tokens between them) for each way to form one in a sentence."""
    for size in metric.sizes:
        for places in combinations(range(len(tokens)), size):
            gram = tuple(tokens[place][0] for place in places)
            key: Gram = gram if size > 1 else gram[0]
            if key in wanted:
                between = set(range(places[0], places[-1])).difference(places)
                yield key, {tokens[v][1] for v in places}, {tokens[u][1] for u in between}


def readable_model(
    references: Sequence[Counts],  # N(g, R_k)
    metric: Metric,  # A single metric, not a sum.
    sentences: Sequence[TrimmableSentence],  # D
    lengths: Sequence[Sequence[int]],  # By sentence, the length of each group, assigned to its topmost chunk.
    places: Sequence[tuple[int, int]],  # Sentence and group of each unit.
    spec: Spec,
) -> Any:
    """Return the compressive program of the paper as a Pyomo model; ``x[unit]`` is 1 if a unit is chosen.

    Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), eq. 3-12, over chunks, with the details that the
    printed equations omit: (5) and (6) hold for all k and j, (7) for all chunks but roots, V are the chunks of an
    n-gram's tokens and U the chunks of the tokens between them. Chunks that are kept or dropped together are tied by
    equations. No variable is eliminated: every way to form an n-gram of a reference has a variable m, even if V and U
    share a chunk, so that m must be 0.
    """
    import pyomo.environ as pyo

    wanted = {gram for reference in references for gram in reference}
    ways = [list(_ways(sentence.tokens(spec.analyzer), wanted, metric)) for sentence in sentences]
    holders: dict[Gram, list[tuple[int, int]]] = {}  # T(g_j)
    for i, found in enumerate(ways):
        for v, (gram, _, _) in enumerate(found):
            holders.setdefault(gram, []).append((i, v))
    chunks = [(i, chunk) for i, sentence in enumerate(sentences) for group in sentence.chunks for chunk in group]
    top = [sentence.top for sentence in sentences]

    model = pyo.ConcreteModel("compressive oracle")
    model.IU = pyo.Set(initialize=chunks, dimen=2)
    model.IV = pyo.Set(initialize=[(i, v) for i, found in enumerate(ways) for v in range(len(found))], dimen=2)
    model.b = pyo.Var(model.IU, domain=pyo.Binary)  # (11)
    model.m = pyo.Var(model.IV, domain=pyo.Binary)  # (10)
    model.x = pyo.Var(range(len(places)), domain=pyo.Binary)

    terms = [each * model.b[i, top[i][group]] for i, own in enumerate(lengths) for group, each in enumerate(own)]
    length = pyo.quicksum(terms) if chunks else None

    def held(gram: Gram) -> Any:
        return pyo.quicksum(model.m[way] for way in holders.get(gram, ()))

    maximize_hits(model, references, held, length, spec)
    model.tree = pyo.ConstraintList()
    for i, sentence in enumerate(sentences):
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

    @model.Constraint(range(len(places)))
    def unit(m: Any, number: int) -> Any:
        i, group = places[number]
        return m.x[number] == m.b[i, top[i][group]]

    return model


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way in which a compression of a sentence can contain an n-gram (`candidates`)."""

    gram: tuple[str, ...]
    positions: tuple[int, ...]  # The positions of its tokens in the sentence.
    stay: int  # V, the set of groups that must be kept, one bit for each group.
    go: int  # U, the set of groups that must be dropped.

    def least_needed(self, needs: Sequence[int]) -> tuple[int, ...]:
        """Return the groups of V that are no ancestors of other groups of V; keeping them keeps all of V."""
        return tuple(
            group
            for group in members(self.stay)
            if not any(needs[other] >> group & 1 for other in members(self.stay) if other != group)
        )

    def topmost_gone(self, needs: Sequence[int]) -> tuple[int, ...]:
        """Return the groups of U without an ancestor in U; dropping them drops all of U."""
        return tuple(group for group in members(self.go) if not needs[group] & ~(1 << group) & self.go)


@lru_cache(maxsize=16)
def _begun(wanted: frozenset[Gram], size: int) -> frozenset[tuple[str, ...]]:
    """Return the beginnings of the n-grams of `size` tokens."""
    grams = [gram for gram in wanted if isinstance(gram, tuple) and len(gram) == size]
    return frozenset(gram[:count] for gram in grams for count in range(1, size + 1))


def candidates(
    tokens: Sequence[tuple[str, int]], needs: Sequence[int], wanted: Collection[Gram], size: int
) -> Iterator[Candidate]:
    r"""Yield the ways in which compressions of one sentence can contain n-grams of `size` tokens that are wanted.

    A candidate is a sequence of token positions :math:`p_1 < \dots < p_n`: its tokens become neighbours if the groups
    of the tokens (V) are kept and the groups of all tokens between them (U) are dropped. It is valid if no group that
    must be kept (V and its ancestors) must also be dropped. These are the sets V and U of Hirao et al. 2017 (Oracle
    Summaries of Compressive Summarization), eq. 8-9, read as intended: U comes from the tokens between two positions;
    the printed definition by chunk numbers is wrong if a chunk is discontinuous (*in a ... meeting*). Sets of groups
    are integers, one bit for each group.

    From each position the text is scanned to the right, up to a token that cannot be dropped because the tokens read so
    far need its group.

    `tokens`: each token of the sentence with its group. `needs`: for each group, the set of the group and its
    ancestors. `size`: at least 1.
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
    """Token and n-gram counts of the groups of one sentence."""

    kept: tuple[int, ...]  # The groups that become units, parents first.
    tokens: tuple[int, ...]  # Number of counted tokens of each group.
    single: tuple[tuple[Counts, ...], ...]  # By metric and group: n-grams that occur whenever the group is kept.
    joint: tuple[Counter[_Joint], ...]  # By metric: copies of (n-gram, groups to be kept, groups to be dropped).
    needs: tuple[int, ...]  # `TrimmableSentence.needs`.

    def masses(self, metric: Metric) -> list[int] | None:
        """Return the number of n-grams that each kept group adds to the summary; None if that depends on other groups.

        A text of w > 0 tokens has w - 1 bigrams, so one is subtracted from the first group with tokens; the result is
        None if another group with tokens may be kept without that group.
        """
        masses = {group: len(metric.sizes) * self.tokens[group] for group in self.kept}
        bearing = [group for group in self.kept if self.tokens[group]]
        if 2 in metric.sizes and bearing:
            if any(not self.needs[group] >> bearing[0] & 1 for group in bearing):
                return None
            masses[bearing[0]] -= 1
        return list(masses.values())


def trimmed_counts(sentence: TrimmableSentence, alive: int, counted: Counted) -> TrimmedCounts:
    """Return which groups of a sentence become units, and the counts of tokens and wanted n-grams of its groups.

    `alive`: the groups that fit into the summary with all their ancestors, as bits.
    """
    spec, metrics, groups = counted.spec, counted.metric.components, range(len(sentence.chunks))
    all_unigrams = counted.distinct and spec.measure != "recall"
    tokens = [token for token in sentence.tokens(spec.analyzer) if alive >> token[1] & 1]
    single: list[list[Counts]] = [[Counter() for _ in groups] for _ in metrics]
    joint: list[Counter[_Joint]] = [Counter() for _ in metrics]
    useful = alive if spec.keep_unmatched or spec.min_length > 0 else 0
    for number, (metric, grams) in enumerate(zip(metrics, counted.wanted, strict=True)):
        for size in metric.sizes:
            if size == 1:
                for token, group in tokens:
                    if token in grams:
                        useful |= sentence.needs[group]
                    if token in grams or all_unigrams:
                        single[number][group][token] += 1
                continue
            for found in candidates(tokens, sentence.needs, grams, size):
                stay, go = found.least_needed(sentence.needs), found.topmost_gone(sentence.needs)
                for group in stay:
                    useful |= sentence.needs[group]
                joint[number][found.gram, stay, go] += 1
    several: list[Counter[_Joint]] = [Counter() for _ in metrics]  # without groups that are no units
    for number, found_ways in enumerate(joint):
        for (key, stay, go), copies in found_ways.items():
            units = tuple(group for group in go if useful >> group & 1)
            if units or len(stay) > 1:
                several[number][key, stay, units] += copies
            else:
                single[number][stay[0]][key] += copies
    lengths = Counter(group for _, group in tokens)
    counts = tuple(lengths[group] for group in groups)
    return TrimmedCounts(tuple(members(useful)), counts, tuple(map(tuple, single)), tuple(several), sentence.needs)


_SERVES: Final = Compatibility(
    rules=(
        Requirement(
            "The compressive formulation searches rouge-N, rouge-su0 and similarity, not {metric}: choose one with "
            "--metric.",
            only={"part": ("rouge-N", "rouge-su0", "similarity")},
        ),
        *OF_SIMILARITY,
        Requirement(
            "Model units and geometric means (Lin & Hovy 2003) are supported only for extracts: use "
            "--formulation=extractive, or rouge-N with --model-units=whole.",
            only={"metric": ("rouge-N", "rouge-su0", "A+B", "similarity"), "model_units": ("whole",)},
        ),
        Requirement(
            "The compressive formulation counts n-grams within sentences, as the paper does: give "
            "--boundaries=sentence.",
            only={"boundaries": ("sentence",)},
        ),
        Requirement(
            "The number of {metric} n-grams in a compression is not a linear function of its chunks: use "
            "--measure=recall, or choose rouge-1, rouge-2 or rouge-su0 with --metric.",
            only={"part": ("rouge-1", "rouge-2", "rouge-su0", "similarity")},
            when={"measure": ("precision", "f1")},
        ),
        Requirement(
            "With set counts the compressive formulation supports {measure} only of rouge-1: use --measure=recall, "
            "or --counts=clipped.",
            only={"part": ("rouge-1",)},
            when={"measure": ("precision", "f1"), "counts": ("set",)},
        ),
        Requirement(
            "The tokenizer pypi-rouge makes tokens from blanks, which belong to no chunk: choose another with "
            "--tokenizer.",
            when={"tokenizer": ("pypi-rouge",)},
        ),
        Requirement(
            "Chunks have lengths in words, sentences or characters; tokens and given lengths are known only for "
            "whole sentences: choose another --length-unit.",
            when={"length_unit": ("tokens", "given")},
        ),
    )
)


_rules_of = of_files(lru_cache(maxsize=8)(load_rules))


@dataclass(frozen=True)
class Compressive(Formulation):
    """The formulation whose summaries are sentences with some of their chunks dropped.

    Parameters
    ----------
    chunk_profile : {"strict", "paper"}
        Which parts of a sentence can be dropped; "strict" keeps subjects and objects with their verb.
    chunk_rules : str or None
        The rules that form chunks: a label scheme or a file; None chooses the scheme by the labels of the parse.
    """

    chunk_profile: Literal["strict", "paper"] = "strict"
    chunk_rules: str | None = None

    name: ClassVar[str] = "compressive"
    summaries: ClassVar[str] = "compressions"
    about: ClassVar[str] = "sentences of which parts may be left out (Hirao et al. 2017, compressive)"
    whole_sentences: ClassVar[bool] = False
    serves: ClassVar[Compatibility] = _SERVES
    flags: ClassVar[tuple[str, ...]] = ("chunk_profile", "chunk_rules")

    def __post_init__(self) -> None:
        self._rules()

    def _rules(self) -> Rules | None:
        return None if self.chunk_rules is None else _rules_of(self.chunk_rules)

    def contents(self) -> Mapping[str, Any]:
        rules = self._rules()
        return {} if rules is None else {"chunk_rules": rules.digest}

    def files_of(self, topic: Topic) -> Sequence[Path]:
        return parse_files(topic)

    def build(self, topic: Topic, spec: Spec) -> Compression:
        """Return the problem of a topic.

        A group of chunks is not a unit if it is, together with its ancestors, longer than the maximum length, or
        (without a minimum length) if neither it nor a descendant contains a part of an n-gram of a reference.
        """
        sentences = tuple(
            trimmable(number, sentence, parse, chunk_tree(parse, self.chunk_profile, self._rules()))
            for number, (sentence, parse) in enumerate(zip(topic.sentences, parses_of(topic), strict=True))
        )
        lengths = [LENGTHS[spec.length_unit](sentence) for sentence in sentences]
        alive = [_alive(sentence, own, spec) for sentence, own in zip(sentences, lengths, strict=True)]
        if isinstance(similarity := parse_metric(spec.metric), Similarity):
            return similar_compression(topic, spec, similarity, sentences, lengths, alive)
        counted = Counted.of(topic, spec)
        trimmed = [trimmed_counts(each, fitting, counted) for each, fitting in zip(sentences, alive, strict=True)]
        places = tuple((sentence, group) for sentence, found in enumerate(trimmed) for group in found.kept)
        unit_of = {place: unit for unit, place in enumerate(places)}
        instance = counted.coverage(
            _components(counted, topic, trimmed, unit_of),
            [lengths[sentence][group] for sentence, group in places],
            parents=np.array([unit_of.get((s, sentences[s].parents[g]), -1) for s, g in places], np.int64),
        )
        given = counted.references(0), counted.metric, sentences, lengths, places, spec
        model = partial(readable_model, *given) if counted.simple else None
        return _task(topic, spec, CompressiveProblem.of(instance, reference_model=model), sentences, places)


def _components(
    counted: Counted, topic: Topic, trimmed: Sequence[TrimmedCounts], unit_of: Mapping[tuple[int, int], int]
) -> list[Component]:
    """Return for each part of the metric the n-grams of each unit, and the occurrences that depend on several units."""
    components = []
    for number, part in enumerate(counted.metric.components):
        joints = [
            (key, tuple(unit_of[place, group] for group in stay), tuple(unit_of[place, group] for group in go), copies)
            for place, found in enumerate(trimmed)
            for (key, stay, go), copies in found.joint[number].items()
        ]
        masses: list[int] = []
        for sentence, found in enumerate(trimmed if counted.spec.measure != "recall" and not counted.distinct else ()):
            if (own := found.masses(part)) is None:
                raise InputError(
                    f"The main chunk of sentence {sentence} of topic {topic.id!r} has no counted token, so the number "
                    f"of {part} n-grams of its compressions is not a linear function of its chunks: use "
                    "--measure=recall."
                )
            masses += own
        units = [trimmed[sentence].single[number][group] for sentence, group in unit_of]
        components.append(counted.component(number, units, masses, joints=joints))
    return components


def _alive(sentence: TrimmableSentence, lengths: Sequence[int], spec: Spec) -> int:
    least: list[int] = []
    for parent, length in zip(sentence.parents, lengths, strict=True):
        least.append(length + (least[parent] if parent >= 0 else 0))
    return sum(1 << group for group, length in enumerate(least) if length <= spec.max_length or spec.keep_overlong)
