"""The official score: ROUGE like ROUGE-1.5.5, in plain Python and independent of every search.

It was compared with the script's answers: ``-n N`` (rouge-N), ``-2 K -u`` (rouge-suK), ROUGE-L, ``-m`` (``stem=True``),
``-s`` (``stopwords="drop"``), ``-l N`` (``max_words=N``), ``-f A`` (``references_mode="pooled"``), ``-f B`` ("best",
except that the script compares rounded recalls); recall, precision, and F at ``-p 0.5``, one summary at a time. Not
reproduced: ``-b`` (cut by bytes), ROUGE-W, ROUGE-S without unigrams, basic elements, bootstrap intervals, averages.

As in the script,

* the text is joined before n-grams are formed, so that they cross the ends of sentences;
* counts are clipped: an n-gram hits at most as often as it occurs in the reference;
* several references are pooled: the sum of the hits divided by the sum of the counts over all references;
* rouge-suK leaves out the unigram of the last token, on both sides;
* rouge-l takes, for every reference sentence, the union over the summary's sentences (`optsum.metrics.lcs`).

Scores are not rounded; the script rounds recall and precision to five digits before it computes F.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.metrics.metric import Metric, Tally, Texts
from optsum.metrics.names import parse_metric
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import cut_sentences
from optsum.text.tokenizers import Sentence
from optsum.whole import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Text: TypeAlias = str | Sequence[Sentence]  # A text: one string (a single sentence, for rouge-l), or its sentences.

Measure = Literal["recall", "precision", "f1"]
Counting = Literal["clipped", "set"]
ReferencesMode = Literal["pooled", "mean", "best"]
Boundaries = Literal["joined", "sentence"]
ModelUnits = Literal["whole", "sentences"]


@dataclass(frozen=True, slots=True)
class Score:
    """Recall, precision and F1 of one summary, each between 0 and 1; 0 if the denominator is 0.

    The integers are those of metrics that count; of similarities they are 0.
    """

    recall: float
    precision: float
    f1: float
    hits: int  # Matched n-grams (or tokens, for rouge-l), summed over the references that count.
    reference_total: int  # n-grams of the references that count.
    summary_total: int  # n-grams of the summary, once for each of those references.
    # The scores against single references that this one is the mean of; empty unless ``references_mode="mean"``.
    averaged: tuple[Score, ...] = ()

    @classmethod
    def from_counts(cls, hits: int, reference_total: int, summary_total: int) -> Score:
        """Return the score of hits / `reference_total` and hits / `summary_total`."""
        return cls(
            recall=hits / reference_total if reference_total else 0.0,
            precision=hits / summary_total if summary_total else 0.0,
            f1=2 * hits / (reference_total + summary_total) if hits else 0.0,
            hits=hits,
            reference_total=reference_total,
            summary_total=summary_total,
        )

    @classmethod
    def mean(cls, scores: Sequence[Score]) -> Score:
        """Average recall, precision and F1 separately; the integers are sums."""
        number = len(scores) or 1
        means = [sum(getattr(score, each) for score in scores) / number for each in get_args(Measure)]
        values: list[Any] = [*means, *_sums(scores), tuple(scores)]
        return cls(*values)

    def exact(self, measure: Measure) -> Fraction:
        """Return recall, precision or F1 as the exact ratio of integers."""
        _check("measure", measure, get_args(Measure))
        if self.averaged:
            return sum((score.exact(measure) for score in self.averaged), Fraction()) / len(self.averaged)
        if not self.hits:
            return Fraction()
        if measure == "recall":
            return Fraction(self.hits, self.reference_total)
        if measure == "precision":
            return Fraction(self.hits, self.summary_total)
        return Fraction(2 * self.hits, self.reference_total + self.summary_total)


def score_row(score: Score) -> dict[str, float]:
    """Return a score in the form of results."""
    return {"recall": score.recall, "precision": score.precision, "f1": score.f1}


def rouge(
    summary: Text,
    references: Sequence[Text],
    metric: str | Metric = "rouge-1",
    stem: bool = False,
    stopwords: str | frozenset[str] = "keep",
    max_words: int | None = None,
    *,
    tokenizer: str = "rouge",
    counts: Counting = "clipped",
    references_mode: ReferencesMode = "pooled",
    best_by: Measure = "recall",
    boundaries: Boundaries = "joined",
    last_unigram: bool = False,
    model_units: ModelUnits = "whole",
    stemmer: str | None = None,
) -> Score:
    """Score a summary against its references; by default exactly as ROUGE-1.5.5 does.

    Parameters
    ----------
    summary : str or sequence of sentences
        A sentence is a string, or a tuple of tokens. Only rouge-l depends on the ends of sentences (or every metric
        with ``boundaries="sentence"``).
    references : sequence of texts like `summary`
    metric : str or Metric
        "rouge-1", "rouge-2", ..., "rouge-su4", "rouge-l".
    stem, stopwords, tokenizer
        As in `optsum.text.analyzer.Analyzer`.
    stemmer : {"rouge155", "rouge-score"}, optional
        Stem like ROUGE-1.5.5, which is also the meaning of `stem`, or like the package ``rouge-score``.
    max_words : int, optional
        Cut the summary and every reference after N blank-separated words (at least 1).
    counts : {"clipped", "set"}
        "set" counts each n-gram of a text once.
    references_mode : {"pooled", "mean", "best"}
        Sum of hits / sum of counts; the mean of the scores against each reference; or the score against the
        reference where `best_by` is highest (the first of equals).
    best_by : {"recall", "precision", "f1"}
        What "best" compares. ROUGE-1.5.5 compares recall, the package ``rouge-score`` F1.
    boundaries : {"joined", "sentence"}
        "sentence" forms the summary's n-grams within its sentences, like the objective of some searches; references are
        joined.
    last_unigram : bool
        True adds the last token's unigram to rouge-suK, as in its formula but not in the script.
    model_units : {"whole", "sentences"}
        "sentences" clips every sentence of a reference separately, and pools the sentences (Lin & Hovy 2003, eq. 1, for
        recall). Then no n-gram of a reference crosses a sentence end.

    Returns
    -------
    Score
        All zeros if the summary or the references have no n-gram.

    Raises
    ------
    UnknownNameError
        For a metric, tokenizer or stemmer that does not exist.
    OptionError
        For any other option with an impossible value.
    UnsupportedError
        For a sum of metrics, which has no single recall and precision (`rouge_all` scores its parts), and for
        rouge-l with set counts.
    InputError
        For texts that are neither strings nor sequences of sentences.

    Examples
    --------
    >>> score = rouge(["the cat sat", "on a mat"], [["The cat is on the mat."]], "rouge-1")
    >>> score.hits, score.reference_total, score.summary_total
    (4, 6, 6)
    """
    metric = parse_metric(metric)
    if metric.parts:
        raise UnsupportedError(f"{metric} has no recall and precision of its own; score its parts with rouge_all")
    return rouge_all(
        summary,
        references,
        (metric,),
        analyzer=Analyzer(tokenizer, stem or stemmer is not None, stopwords, stemmer or "rouge155"),
        max_words=max_words,
        counts=counts,
        references_mode=references_mode,
        best_by=best_by,
        boundaries=boundaries,
        last_unigram=last_unigram,
        model_units=model_units,
    )[metric.name]


def rouge_all(
    summary: Text,
    references: Sequence[Text],
    metrics: Iterable[str | Metric] = ("rouge-1", "rouge-2", "rouge-l"),
    *,
    references_mode: ReferencesMode = "pooled",
    best_by: Measure = "recall",
    **analysis: Any,
) -> dict[str, Score]:
    """Score a summary by several metrics, tokenizing each text once; a sum or mean is replaced by its parts.

    `**analysis`: an `analyzer`, and options of `rouge` for reading and counting texts.
    """
    _check("references_mode", references_mode, get_args(ReferencesMode))
    _check("best_by", best_by, get_args(Measure))
    read, tally = _reading(**analysis)
    if isinstance(references, str):
        raise InputError("references must be a sequence of texts, not one string; put the string into a list")
    pieces = read(summary, "the summary")
    reference_pieces = [read(reference, f"reference {number}") for number, reference in enumerate(references)]
    scores: dict[str, Score] = {}
    for metric in (component for name in metrics for component in parse_metric(name).components):
        if metric.name not in scores:
            single = [Score.from_counts(*totals) for totals in metric.totals(pieces, reference_pieces, tally)]
            scores[metric.name] = _combine(single, references_mode, best_by)
    return scores


def _reading(
    analyzer: Analyzer = Analyzer(),  # noqa: B008  # frozen
    max_words: int | None = None,
    counts: Counting = "clipped",
    boundaries: Boundaries = "joined",
    last_unigram: bool = False,
    model_units: ModelUnits = "whole",
) -> tuple[Callable[[Text, str], list[list[str]]], Tally]:
    """Return the functions that read texts, each with a name for messages, and the way of counting."""
    _check("counts", counts, get_args(Counting))
    _check("boundaries", boundaries, get_args(Boundaries))
    _check("model_units", model_units, get_args(ModelUnits))
    if max_words is not None:
        max_words = whole(max_words, "max_words", error=OptionError)
        if max_words < 1:
            raise OptionError(f"max_words must be at least 1, not {max_words}; leave it out to score whole texts")
    tally = Tally(counts == "set", boundaries == "joined", model_units == "sentences", not last_unigram)
    return (lambda text, where: _tokenize(text, where, analyzer, max_words)), tally


def _check(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise OptionError(f"{option} must be one of {', '.join(allowed)}, not {value!r}")


def _tokenize(text: Text, where: str, analyzer: Analyzer, max_words: int | None) -> list[list[str]]:
    given: object = text  # what callers without a type checker pass
    if not isinstance(given, Sequence) or not all(isinstance(sentence, (str, tuple, list)) for sentence in given):
        raise InputError(
            f"{where} must be a string or a list of sentences (strings or tuples of tokens), not {text!r:.60}"
        )
    sentences: list[Sentence] = [text] if isinstance(text, str) else list(text)
    if max_words is not None:
        sentences = cut_sentences(sentences, max_words)
    return [analyzer.tokens(sentence) for sentence in sentences]


def _combine(single: Sequence[Score], mode: ReferencesMode, best_by: Measure) -> Score:
    if mode == "best" and single:
        return max(single, key=lambda score: score.exact(best_by))
    return Score.mean(single) if mode == "mean" else Score.from_counts(*_sums(single))


def _sums(scores: Sequence[Score]) -> list[int]:
    return [sum(getattr(score, name) for score in scores) for name in ("hits", "reference_total", "summary_total")]


_AT_ONCE: Final = 16  # References that are compared with a summary between two looks at the clock.


def agreed_reference(
    references: Sequence[Text],
    metric: str,
    measure: str = "recall",
    check: Callable[[], object] = lambda: None,
    **analysis: Any,
) -> int:
    """Return the number of the reference that agrees best with another, the first in case of ties; 0 for a single one.

    Agreement is the score of the other summary against this one (Lin & Hovy 2003, section 5). Scores of the parts of a
    sum are added, those of a geometric mean multiplied. `check`: called every few milliseconds, may raise an exception.
    `**analysis`: keywords of `rouge_all`.
    """
    if len(references) < 2:
        return 0
    found = parse_metric(metric)
    read, tally = _reading(**analysis)
    texts = []
    for number, reference in enumerate(references):
        check()
        texts.append(read(reference, f"reference {number}"))

    def scores(part: Metric, summary: Texts) -> Iterator[Fraction]:
        for begin in range(0, len(texts), _AT_ONCE):
            check()
            for totals in part.totals(summary, texts[begin : begin + _AT_ONCE], tally):
                yield Score.from_counts(*totals).exact(cast("Measure", measure))

    def agreements(summary: Texts) -> list[Fraction]:
        parts = [scores(part, summary) for part in found.components]
        combined = prod if found.geometric else sum
        return [combined(values, start=Fraction(found.geometric)) for values in zip(*parts, strict=True)]

    values = [agreements(summary) for summary in texts]
    return max(permutations(range(len(texts)), 2), key=lambda pair: values[pair[1]][pair[0]])[0]


@lru_cache(maxsize=64)
def codes_of(metrics: tuple[Metric, ...]) -> NDArray[Any] | None:
    """Return the codes of metrics for kernels, one in each row (`Metric.coded`); None if a metric has no code."""
    import numpy as np

    coded = [metric.coded for metric in metrics]
    return None if None in coded else np.array(coded, np.int64).reshape(-1, 2)
