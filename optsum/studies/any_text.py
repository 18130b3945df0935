"""The best recall of any text that is made of the words of a topic's documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from optsum.corpus.topic import Topic
from optsum.errors import UnsupportedError
from optsum.metrics.ngrams import NGrams
from optsum.problem.counted import Counted
from optsum.problem.objective import gains_of
from optsum.problem.spec import Spec
from optsum.program.any_text import any_text_model
from optsum.program.dual_bound import model_bound
from optsum.system.deadline import NEVER, Deadline
from optsum.text.tokenizers import Sentence


@dataclass(frozen=True, slots=True)
class TextLimit:
    """What no text passes.

    Attributes
    ----------
    hits, total : int
        No text within the length has more than `hits` of the `total` n-grams of the references, clipped; proven in
        integers.
    """

    hits: int
    total: int

    @property
    def recall(self) -> Fraction:
        """Their ratio."""
        return Fraction(self.hits, self.total)


def any_text_limit(topic: Topic, spec: Spec, *, repeat: bool = False, deadline: Deadline = NEVER) -> TextLimit:
    """Return a proven upper limit of the recall of any text made of the documents' words.

    Every extract and every compression is such a text, so it is an upper limit for them too; for one-token words and
    rouge-1 it is reached by a text (`optsum.program.any_text`).

    Parameters
    ----------
    topic : Topic
    spec : Spec
        Recall of rouge-1 or rouge-2, pooled references, clipped counts, a maximum length in words.
    repeat : bool
        Words may be repeated as often as wanted, not only as often as the documents have them.
    deadline : Deadline
        For the linear program; a limit that is proven when it comes is valid, and may be far off.

    Raises
    ------
    InputError
        If the references have no n-gram.
    UnsupportedError
        For anything else to be optimized.
    """
    counted = Counted.of(topic, spec)
    parts = counted.metric.components
    metric = parts[0]
    if len(parts) != 1 or not isinstance(metric, NGrams) or metric.size > 2 or not counted.simple or counted.distinct:
        raise UnsupportedError(
            "The limit of any text is one of recall by rouge-1 or rouge-2, pooled references and clipped counts."
        )
    if spec.length_unit != "words":
        raise UnsupportedError("The limit of any text is one of words: leave --length-unit at words.")
    references = counted.references(0)
    gains = gains_of(references, [1] * len(references))
    total = sum(reference.total() for reference in references)
    words: Counter[tuple[str, ...]] = Counter()
    for sentence in topic.sentences:
        for word in _words(sentence):
            tokens = tuple(spec.analyzer.tokens(word))
            if tokens:
                words[tokens] += 1
    if repeat:
        words = Counter(dict.fromkeys(words, spec.max_length))
    if spec.max_length < 1:
        return TextLimit(0, total)
    model = any_text_model(words, gains, metric.size, spec.max_length)
    return TextLimit(0 if model is None else model_bound(model, deadline), total)


def _words(sentence: Sentence) -> list[Sentence]:
    """Return the words that `optsum.text.lengths.word_count` counts, each as a sentence of its own."""
    return list(sentence.split()) if isinstance(sentence, str) else [(token,) for token in sentence]
