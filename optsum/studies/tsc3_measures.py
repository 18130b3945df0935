"""The measures of Text Summarization Challenge 3 (Hirao et al. 2004, sections 3.1.2, 3.1.3 and 3.3.1).

Extracts: Precision (equation 1) and Coverage (equations 4-6), against the alternatives of each abstract sentence.
Abstracts: pseudo question answering, by exact match and by edit distance (equation 7).

Where the paper needs a reading:

* *Precision* is m / h for extracts of h sentences, the size of the minimum cover. Here it is m / max(h, size), the same
  for extracts of h sentences. A shorter extract gains nothing by what it leaves out, and a longer one cannot pass 1.
* *Coverage* of the paper's two examples is 5/9 = 0.5556 and 7/9 = 0.7778; it prints 0.553 and 0.780, which come from
  rounding each e(i) first.
* *S_ed* divides by the length of the answer alone. With the edit distance of Levenshtein the value is at most 1, but
  negative, down to -1, for sentences that are shorter than the answer and unlike it: the range is not the [0, 1] that
  the paper gives. It is clipped to [0, 1]. It is 1 not only for sentences that include the answer, but for all that
  have its letters in order, with whatever in between; so long sentences have high values by themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from optsum.corpus.alternatives import SentenceId, alternatives_of, check_extract, in_order
from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.system.compiled import njit
from optsum.text.tokenizers import Sentence, raw_text
from optsum.whole import whole


@dataclass(frozen=True)
class ExtractScore:
    """One extract against one topic.

    Attributes
    ----------
    precision, coverage : Fraction
    correct : int
        m: sentences of the extract that some alternative names.
    size : int
        Sentences of the extract, each counted once.
    minimum : int
        h.
    covered : tuple of Fraction
        e(i) of each abstract sentence that has an alternative.
    uncoverable : tuple of int
        Abstract sentences without any alternative; they are left out.
    """

    precision: Fraction
    coverage: Fraction
    correct: int
    size: int
    minimum: int
    covered: tuple[Fraction, ...]
    uncoverable: tuple[int, ...]


def score_extract(
    topic: Topic, extract: Collection[SentenceId], minimum: int, *, uncoverable: str = "error"
) -> ExtractScore:
    """Return Precision and Coverage of an extract.

    Parameters
    ----------
    topic : Topic
        With a cover.
    extract : collection
        Sentences as the cover calls them; a sentence given twice counts once.
    minimum : int
        h: the size of the topic's minimum cover.
    uncoverable : str
        "error" or "skip": what is done about abstract sentences without any alternative. Those skipped count
        neither in n nor in the sum of e(i).

    Raises
    ------
    InputError
        If the topic's cover cannot be used (`optsum.corpus.alternatives.alternatives_of`), the extract names a sentence
        that the topic does not have (`optsum.corpus.alternatives.check_extract`), or `minimum` is not positive.

    Examples
    --------
    >>> from optsum.corpus.topic import as_topic
    >>> topic = as_topic({"id": "t", "cover": [[["s1"], ["s10", "s11"]], [["s3", "s5", "s6"]]]})
    >>> found = score_extract(topic, ["s10", "s11", "s5", "s17"], 4)
    >>> found.precision, found.coverage
    (Fraction(3, 4), Fraction(2, 3))
    """
    minimum = whole(minimum, f"The size h of a minimum cover of topic {topic.id!r}", least=1, most=10**400)
    alternatives = alternatives_of(topic, uncoverable)
    given = frozenset(
        sentence if isinstance(sentence, str) else whole(sentence, "A sentence of the extract", most=10**400)
        for sentence in extract
    )
    check_extract(topic, alternatives, in_order(given))
    covered = tuple(
        max(Fraction(*part) for part in {(len(chosen & given), len(chosen)) for chosen in sets})
        for sets in alternatives.sets
    )
    correct = len(given & alternatives.corresponding)
    return ExtractScore(
        precision=Fraction(correct, max(minimum, len(given))),
        coverage=sum(covered, Fraction(0)) / len(covered),
        correct=correct,
        size=len(given),
        minimum=minimum,
        covered=covered,
        uncoverable=alternatives.uncoverable,
    )


@dataclass(frozen=True)
class Answers:
    """One summary against the questions of one topic.

    Attributes
    ----------
    exact : Fraction
        Share of the questions whose answer is in the summary.
    edit : Fraction
        Mean over the questions of S_ed, the score by edit distance (equation 7).
    questions : int
    """

    exact: Fraction
    edit: Fraction
    questions: int


def answers(topic: Topic, summary: Iterable[Sentence]) -> Answers | None:
    """Return the scores of pseudo question answering; None if the topic has no questions.

    Questions are ``meta["questions"]``, a list of objects with ``answer`` (text), or ``answers`` (a list of texts of
    which the best counts), and usually ``question``, which is for people. A sentence includes an answer if the answer
    is a part of it, letter by letter, runs of blanks counting as one.

    Raises
    ------
    InputError
        If a question has no answer.
    """
    questions = _questions(topic)
    if not questions:
        return None
    sentences = list(map(_plain, summary))
    exact = sum(any(answer in sentence for answer in known for sentence in sentences) for known in questions)
    edit = sum(
        (max((answer_score(text, answer) for answer in known for text in sentences), default=Fraction(0)))
        for known in questions
    )
    return Answers(Fraction(exact, len(questions)), Fraction(edit) / len(questions), len(questions))


def answer_score(sentence: str, answer: str) -> Fraction:
    """Return S_ed of a sentence (equation 7): (length - edit distance) / length of the answer, clipped to [0, 1].

    Lengths are in characters; insertions, deletions and substitutions cost 1. It is 1 exactly if the sentence
    includes the answer, or has all of its letters in order.

    Examples
    --------
    >>> answer_score("It costs 250,000 yen.", "250,000 yen"), answer_score("250,000 won", "250,000 yen")
    (Fraction(1, 1), Fraction(9, 11))
    >>> answer_score("no", "250,000 yen")  # (2 - 10) / 11 before it is clipped
    Fraction(0, 1)
    """
    if not answer:
        raise InputError("An empty answer cannot be looked for: give the text of the answer.")
    distance = int(_distance(_code_points(sentence), _code_points(answer)))
    return min(Fraction(1), max(Fraction(0), Fraction(len(sentence) - distance, len(answer))))


def _plain(sentence: Sentence) -> str:
    return " ".join(raw_text(sentence).split())


def _questions(topic: Topic) -> list[list[str]]:
    given = topic.meta.get("questions") or []
    found = [_known(question) for question in given] if isinstance(given, Sequence) else [None]
    if any(not known for known in found):
        raise InputError(
            f"In topic {topic.id!r} question {[bool(known) for known in found].index(False)} of meta.questions has no "
            'answer: give each an "answer", or a list of "answers".'
        )
    return [known for known in found if known]


def _known(question: Any) -> list[str] | None:
    if not isinstance(question, Mapping):
        return None
    known = question.get("answers", [question.get("answer")])
    if not isinstance(known, Sequence) or isinstance(known, str):
        return None
    plain = [_plain(answer) for answer in known if isinstance(answer, str)]
    return plain if len(plain) == len(known) and all(plain) else None


def _code_points(text: str) -> Any:
    return np.array([ord(character) for character in text], np.int32)


@njit(cache=True)
def _distance(left: Any, right: Any) -> int:
    """Edit distance of Levenshtein, one row at a time."""
    row = np.arange(len(right) + 1)
    for i in range(len(left)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(right)):
            above = row[j + 1]
            row[j + 1] = min(diagonal + (left[i] != right[j]), above + 1, row[j] + 1)
            diagonal = above
    return int(row[len(right)])
