r"""An upper bound on the n-gram overlap with references of any text made of given words.

A text is a sequence of at most L words, in which word w occurs at most :math:`d_w` times; n-grams are of one or two
tokens. Let :math:`x_w` be the number of occurrences of w, :math:`a_{wg}` the number of n-grams g inside w, and
:math:`m_g` the number of bigrams g = (a, b) formed by a word that ends with a and a following word that begins with b.
Every text satisfies

.. math::
    \sum_w x_w \le L, \qquad
    \sum_b m_{(a,b)} \le \sum_{w \text{ ends with } a} x_w, \qquad
    \sum_a m_{(a,b)} \le \sum_{w \text{ begins with } b} x_w, \qquad
    \sum_g m_g \le \sum_w x_w - 1,

because a word has at most one neighbour on each side, and the first word has none before it. The t-th covered copy of g
is a step :math:`z_{gt} \le 1` with :math:`\sum_t z_{gt} \le \sum_w a_{wg} x_w + m_g`. So the optimum of the linear
relaxation is never below the gain of any text; its weak-duality bound in integers (`optsum.program.model`) is proven.

For unigrams the program has integral optima if every word is one token (the sum of the L largest steps), so some text
attains the bound. For bigrams the program is a flow in the graph of words, which may contain cycles that no text has,
so the bound may be slightly above the best text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import TypeAlias

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage.instance import IntArray, Sense
from optsum.errors import UnsupportedError
from optsum.metrics.rouge import Gram
from optsum.problem.formulation import Spec
from optsum.problem.objective import Counted
from optsum.program.model import LinearModel, LinearRows, model_bound
from optsum.system.clock import NEVER, Deadline

Word: TypeAlias = tuple[str, ...]  # The tokens of a word, at least one.


@dataclass(frozen=True, slots=True)
class TextLimit:
    """An upper limit for texts of the documents' words, of limited length: `hits` of `total` reference n-grams."""

    hits: int
    total: int

    @property
    def recall(self) -> Fraction:
        return Fraction(self.hits, self.total)


def any_text_limit(topic: Topic, spec: Spec, *, repeat: bool = False, deadline: Deadline = NEVER) -> TextLimit:
    """Return a proven upper limit of the recall of any text made of the documents' words.

    Every extract and every compression is such a text; for one-token words and rouge-1 some text attains the limit.
    `spec`: recall of rouge-1 or rouge-2, pooled references, clipped counts, a maximum length in words; anything else
    raises `UnsupportedError`. `repeat`: words may be repeated any number of times, not only as often as in the
    documents. `deadline`: when it passes, the limit proven so far is returned, which is valid but may be loose.
    """
    counted = Counted.of(topic, spec)
    parts = counted.metric.components
    if len(parts) != 1 or parts[0].sizes not in {(1,), (2,)} or not counted.simple or counted.distinct:
        raise UnsupportedError(
            "The bound on any text exists only for recall of rouge-1 or rouge-2, pooled references and clipped counts."
        )
    if spec.length_unit != "words":
        raise UnsupportedError("The bound on any text is in words: leave --length-unit at words.")
    references = counted.references(0)
    gains = {
        gram: [sum(reference[gram] >= copy for reference in references) for copy in range(1, most + 1)]
        for gram, most in reduce(or_, references).items()
    }
    total = sum(reference.total() for reference in references)
    words: Counter[tuple[str, ...]] = Counter()
    for sentence in topic.sentences:
        for word in sentence.split() if isinstance(sentence, str) else [(token,) for token in sentence]:
            tokens = tuple(spec.analyzer.tokens(word))
            if tokens:
                words[tokens] += 1
    if repeat:
        words = Counter(dict.fromkeys(words, spec.max_length))
    if spec.max_length < 1:
        return TextLimit(0, total)
    model = _model(words, gains, parts[0].sizes[0], spec.max_length)
    return TextLimit(0 if model is None else model_bound(model, deadline), total)


def _model(
    words: Mapping[Word, int], gains: Mapping[Gram, Sequence[int]], size: int, max_words: int
) -> LinearModel | None:
    """Return the linear program of the largest overlap of any text; None if no text overlaps with a reference."""
    grams: Callable[[Word], Iterable[Gram]] = iter if size == 1 else pairwise
    inside = {word: Counter(gram for gram in grams(word) if gram in gains) for word in words}
    ends, begins = {word[-1] for word in words}, {word[0] for word in words}
    pairs = {gram for gram in gains if size == 2 and gram[0] in ends and gram[1] in begins}
    lasts, firsts = {gram[0] for gram in pairs}, {gram[1] for gram in pairs}
    used = [word for word in words if inside[word] or word[-1] in lasts or word[0] in firsts]
    covered = sorted({gram for word in used for gram in inside[word]} | pairs, key=repr)
    if not covered:
        return None
    number = {gram: place for place, gram in enumerate(covered)}
    joins = [gram for gram in covered if gram in pairs]
    first_join, first_step = len(used), len(used) + len(joins)
    steps = [(number[gram], gain) for gram in covered for gain in gains[gram]]
    rows = LinearRows()
    entries = [
        (number[gram], column, -copies) for column, word in enumerate(used) for gram, copies in inside[word].items()
    ]
    entries += [(number[gram], first_join + place, -1) for place, gram in enumerate(joins)]
    entries += [(gram, first_step + place, 1) for place, (gram, _) in enumerate(steps)]
    _block(rows, len(covered), entries)
    for side, tokens in ((0, sorted(lasts)), (1, sorted(firsts))):
        row = {token: place for place, token in enumerate(tokens)}
        entries = [(row[gram[side]], first_join + place, 1) for place, gram in enumerate(joins)]
        touching = [(column, word[-1] if side == 0 else word[0]) for column, word in enumerate(used)]
        entries += [(row[token], column, -1) for column, token in touching if token in row]
        _block(rows, len(tokens), entries)
    _block(rows, 1, [(0, column, 1) for column in range(len(used))], max_words)
    if joins:
        entries = [(0, column, -1) for column in range(len(used))]
        _block(rows, 1, [*entries, *((0, first_join + place, 1) for place in range(len(joins)))], -1)
    most = [min(words[word], max_words) for word in used] + [len(gains[gram]) for gram in joins] + [1] * len(steps)
    return LinearModel(
        sense=Sense.MAXIMIZE,
        objective=np.array([0] * first_step + [gain for _, gain in steps], np.int64),
        upper=np.array(most, np.int64),
        integral=np.zeros(len(most), np.bool_),
        **rows.arrays(),
        units=len(used),
        denominator=1,
    )


def _block(rows: LinearRows, count: int, entries: Sequence[tuple[int, int, int]], upper: int = 0) -> None:
    table: IntArray = np.array(entries, np.int64).reshape(-1, 3)
    rows.add(table[:, 0], table[:, 1], table[:, 2])
    rows.close(count, -np.inf, upper)
