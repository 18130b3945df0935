"""The study with the evaluation of Text Summarization Challenge 3 (Hirao et al. 2004)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, zip_longest
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from optsum.contracts.result import Status
from optsum.corpus.cover import SentenceId, alternatives_of, check_extract, in_order, texts_of
from optsum.corpus.topic import Text, Topic
from optsum.corpus.topics import System
from optsum.errors import InputError, OptionError, counted
from optsum.options.options import Options
from optsum.registry import STRATEGIES
from optsum.report.comparison import mean_of
from optsum.report.figures import Figure
from optsum.report.tables import Cell, Table, number
from optsum.running.one_problem import Setup
from optsum.studies import Row, Study, Submitted, option, searched, summaries_of
from optsum.system.compiled import njit
from optsum.text.analyzer import Sentence, raw_text
from optsum.whole import whole


@dataclass(frozen=True)
class ExtractScore:
    """The scores of one extract of one topic."""

    precision: Fraction
    coverage: Fraction
    correct: int  # m, the number of sentences in the extract that some alternative names.
    size: int  # Number of different sentences in the extract.
    minimum: int  # h, the size of the minimum cover.
    covered: tuple[Fraction, ...]  # e(i), the largest share of an alternative of abstract sentence i in the extract.
    uncoverable: tuple[int, ...]  # Numbers of abstract sentences without any alternative, which are left out.


def score_extract(
    topic: Topic, extract: Collection[SentenceId], minimum: int, *, uncoverable: str = "error"
) -> ExtractScore:
    """Return Precision and Coverage of an extract.

    Parameters
    ----------
    topic : Topic
        A topic with a cover.
    extract : collection
        The names of the extract's sentences in the cover; a repeated sentence counts once.
    minimum : int
        h, the size of the topic's minimum cover.
    uncoverable : str
        Whether an abstract sentence without any alternative is an "error", or left out of Coverage ("skip").

    Raises
    ------
    InputError
        If the topic's cover cannot be used (`optsum.corpus.cover.alternatives_of`), the extract names a sentence
        that the topic does not have (`optsum.corpus.cover.check_extract`), or `minimum` is not positive.

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
    covered = tuple(max(Fraction(len(one & given), len(one)) for one in sets) for sets in alternatives.sets)
    correct, size = len(given & alternatives.corresponding), len(given)
    precision, coverage = Fraction(correct, max(minimum, size)), sum(covered, Fraction(0)) / len(covered)
    return ExtractScore(precision, coverage, correct, size, minimum, covered, alternatives.uncoverable)


class Answers(NamedTuple):
    """The scores of one summary on the questions of one topic."""

    exact: Fraction  # Share of the questions whose answer is in the summary.
    edit: Fraction  # Mean over the questions of S_ed, the score by edit distance (equation 7).
    questions: int  # Number of questions.


def answers(topic: Topic, summary: Iterable[Sentence]) -> Answers | None:
    """Return the scores of pseudo question answering; None if the topic has no questions.

    Questions are ``meta["questions"]``, a list of objects with ``answer`` (text), or ``answers`` (a list of texts, of
    which the best counts). A sentence has an answer if the answer is a substring of it; several blanks count as one.
    """
    given = topic.meta.get("questions") or []
    questions = list(map(_known, given)) if isinstance(given, Sequence) else [[]]
    if [] in questions:
        raise InputError(
            f"In topic {topic.id!r} question {questions.index([])} of meta.questions has no answer: give each an "
            '"answer", or a list of "answers".'
        )
    if not questions:
        return None
    sentences = list(map(_plain, summary))
    exact = sum(any(answer in sentence for answer in known for sentence in sentences) for known in questions)
    best = (max((answer_score(text, one) for one in known for text in sentences), default=0) for known in questions)
    return Answers(Fraction(exact, len(questions)), Fraction(sum(best)) / len(questions), len(questions))


def answer_score(sentence: str, answer: str) -> Fraction:
    """Return S_ed of a sentence (equation 7): (its length - edit distance) / length of the answer, clipped to [0, 1].

    Lengths are in characters. The score is 1 exactly if the sentence has all characters of the answer, in order.

    >>> answer_score("It costs 250,000 yen.", "250,000 yen"), answer_score("250,000 won", "250,000 yen")
    (Fraction(1, 1), Fraction(9, 11))
    >>> answer_score("no", "250,000 yen")  # (2 - 10) / 11 before it is clipped
    Fraction(0, 1)
    """
    if not answer:
        raise InputError("An empty answer cannot be looked for: give the text of the answer.")
    distance = int(_distance(*(np.array(list(map(ord, text)), np.int32) for text in (sentence, answer))))
    return min(Fraction(1), max(Fraction(0), Fraction(len(sentence) - distance, len(answer))))


def _plain(sentence: Sentence) -> str:
    return " ".join(raw_text(sentence).split())


def _known(question: Any) -> list[str]:
    known = question.get("answers", [question.get("answer")]) if isinstance(question, Mapping) else None
    if not isinstance(known, Sequence) or isinstance(known, str):
        return []
    plain = [_plain(answer) if isinstance(answer, str) else "" for answer in known]
    return plain if all(plain) else []


@njit(cache=True)
def _distance(left: Any, right: Any) -> int:
    row = np.arange(len(right) + 1)
    for i in range(len(left)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(right)):
            above = row[j + 1]
            row[j + 1] = min(diagonal + (left[i] != right[j]), above + 1, row[j] + 1)
            diagonal = above
    return int(row[len(right)])


LEAD: Final = "LEAD"  # The lead baseline: the first sentences of documents, as many as the minimum cover has.
BEST: Final = "minimum cover"  # The line of the minimum cover itself, which has the best scores.
CONTENT: Final = "content"  # The name of the human score in Table 5.

_CONDITIONS: Final = ("short", "long")
_QUESTION: Final = re.compile(r"q\d\d")


def conditions(study: Study) -> list[str]:
    found = dict.fromkeys(row.get("condition") or "" for row in study.of("score"))
    return sorted(found, key=lambda name: _CONDITIONS.index(name) if name in _CONDITIONS else len(_CONDITIONS))


def systems(study: Study) -> list[str]:
    return sorted(study.values_of("score"), key=lambda name: (name in {LEAD, BEST}, name == BEST))


def of(study: Study, system: str, condition: str) -> list[Row]:
    return [row for row in study.of("score") if (row["system"], row.get("condition") or "") == (system, condition)]


def participation(study: Study) -> Table:
    rows = []
    for system in (name for name in systems(study) if name not in {LEAD, BEST}):
        extracts = ["coverage" in row for row in study.of("score", system=system)]
        counts = (extracts.count(False), extracts.count(True))
        rows.append([system, *(Cell(str(count or "-"), count) for count in counts)])
    caption = ["Topics for which a system has an extract (selection), or another summary or score."]
    return study.table("Participation (Table 3)", ["ID"], ["abstraction", "extraction"], rows, caption)


def extraction(study: Tsc3Study) -> Table:
    table = _table(study, "Extracts (Table 4)", {"Cov.": "coverage", "Prec.": "precision"})
    if not (extracts := [row for row in study.of("score") if "coverage" in row]):
        table.caption = [*study.caption(), "Nothing to show: no topic could be scored."]
        return table
    table.caption.append("Cov.: mean share of the best alternative found, over abstract sentences. Prec.: m / h.")
    if other := sum(row["size"] != row["minimum"] for row in extracts):
        table.caption.append(
            f"{other} of {len(extracts)} extracts do not have the h sentences of the minimum cover; their "
            f"precision is m / {'max(h, size)' if study.other_sizes == 'larger' else 'h'}."
        )
    if LEAD not in systems(study):
        table.caption.append(f"There is no row {LEAD}: it needs topics with documents.")
    table.caption += _left_out(study, "coverage", "has no extract (selection)")
    return table


def content(study: Study) -> Table:
    table = _table(study, "Content scores (Table 5)", {"content": CONTENT, "Cov.": "coverage", "exact": "exact"})
    table.caption.append(f"content: imported, human.{CONTENT} of the systems' file; the others are computed.")
    return table


def readability(study: Study, condition: str) -> Table:
    names = sorted({name for row in study.of("score") for name in row["human"] if _QUESTION.fullmatch(name)})
    held = {system: of(study, system, condition) for system in systems(study)}
    means = {system: [_mean(scores, name) for name in names] for system, scores in held.items()}
    rows = [[system, *(number(one, 3) for one in known)] for system, known in means.items() if {*known} - {None}]
    caption = ["Imported, human.q00 to human.q15 of the systems' file; means over topics."]
    title = f"Quality questions (Table 6{f', {condition}' if condition else ''})"
    return study.table(title, ["ID"], names, rows, [*caption, *_uneven(held, names)])


def question_answering(study: Study) -> Table:
    table = _table(study, "Pseudo question answering (Table 7)", {"exact": "exact", "edit": "edit"})
    scores = study.of("score")
    if not any("exact" in row for row in scores):
        said = "Nothing to show: no topic has both meta.questions and a summary with text."
        table.caption = [*study.caption(), said]
        return table
    table.caption.append("exact: share of the answers that are in the summary. edit: mean S_ed, clipped to [0, 1].")
    asked, all_ = {row["id"] for row in scores if "exact" in row}, {row["id"] for row in scores}
    if len(asked) < len(all_):
        table.caption.append(f"Only {len(asked)} of {len(all_)} topics have questions and a summary with text.")
    table.caption += _left_out(study, "exact", "has no text for topics with questions")
    return table


def _value(row: Row, measure: str) -> float | None:
    """Return a score of a row: a human one for `CONTENT` and quality questions, a computed one for other measures."""
    found: float | None = (row["human"] if _QUESTION.fullmatch(measure) or measure == CONTENT else row).get(measure)
    return found


def _mean(rows: Sequence[Row], measure: str) -> float | None:
    return mean_of(_value(row, measure) for row in rows)


def _left_out(study: Study, measure: str, reason: str) -> list[str]:
    shown = {row["system"] for row in study.of("score") if measure in row}
    return [f"Not in this table: {name}, which {reason}." for name in systems(study) if name not in shown]


def _uneven(rows: Mapping[str, Sequence[Row]], measures: Iterable[str]) -> list[str]:
    counts = [{sum(_value(row, one) is not None for row in found) for found in rows.values()} for one in measures]
    said = "Not every system is scored on every topic; each mean is over the topics it is scored on."
    return [said] if any(len(each - {0}) > 1 for each in counts) else []


def _table(study: Study, title: str, measures: Mapping[str, str]) -> Table:
    found = conditions(study)
    named = {name: name.capitalize() or ("Other" if len(found) > 1 else "") for name in found}
    headings = [f"{named[condition]} {name}".strip() for condition in found for name in measures]
    table = study.table(title, ["ID"], headings)
    rows = {condition: {system: of(study, system, condition) for system in systems(study)} for condition in found}
    for system in systems(study):
        values = [_mean(rows[each][system], measure) for each in found for measure in measures.values()]
        if any(value is not None for value in values):
            table.add(system, *(number(value, 3) for value in values))
    if found == [""]:
        table.caption.append("No topic has meta.condition (short or long): all are averaged together.")
    elif missing := [name for name in _CONDITIONS if name not in found]:
        table.caption.append(f"No topic has the condition {' or '.join(missing)}, so there are no such columns.")
    uneven = (_uneven(held, measures.values()) for held in rows.values())
    table.caption += next(filter(None, uneven), [])
    return table


@dataclass(kw_only=True)
class Tsc3Study(Study):
    """Score systems as TSC3 did: Precision and Coverage of extracts, question answering on summaries.

    Topics need covers. The challenge has two abstracts for each document set: give each as a topic, with
    ``meta["condition"]`` "short" or "long". Questions are in ``meta["questions"]`` (`optsum.studies.tsc3.answers`).

    A system's extract is its ``selection`` (names of sentences in the cover). Question answering uses its ``summary``,
    or the text of the selected sentences. Human judgments are in ``human``: ``content``, and the counts ``q00`` to
    ``q15`` of the quality questions. Tables also show the minimum cover, and for topics with documents the baseline
    LEAD of h sentences (option `lead`, because the paper does not define it).
    """

    name: ClassVar[str] = "tsc3"

    uncoverable: Annotated[
        Literal["error", "skip"], option("an abstract sentence without any alternative is an error, or left out")
    ] = "error"
    lead: Annotated[
        Literal["in-turn", "first"],
        option("LEAD: first sentences of all documents in turn, or those of the first document"),
    ] = "in-turn"
    other_sizes: Annotated[
        Literal["larger", "minimum"],
        option("Precision of extracts without exactly h sentences: divided by the larger number, or by h"),
    ] = "larger"
    strategy: Annotated[str, option("strategy for the minimum covers, which must be proven")] = "branch-and-bound"

    @cached_property
    def _searches(self) -> dict[str, list[Options]]:
        options = self._options("uncoverable strategy", formulation="cover")
        if not STRATEGIES.load(options.strategy).exact:
            able = ", ".join(name for name in STRATEGIES.names() if STRATEGIES.load(name).exact)
            raise OptionError(
                f"Minimum covers must be proven, which {options.strategy!r} cannot do: use one of {able}."
            )
        return {BEST: [options]}

    def work(self) -> Callable[[Submitted], list[Row]]:
        return partial(_rows, setup=self._setup_of_each()[BEST], lead=self.lead, larger=self.other_sizes == "larger")

    @classmethod
    def serves(cls, topic: Topic) -> bool:
        return topic.cover is not None

    def about(self) -> str:
        return f"minimum covers by {self.strategy}; Coverage and Precision of sentences, answers in texts"

    def lacking(self) -> list[str]:
        count = sum({row["id"]: len(row["uncoverable"]) for row in self.of("score") if "uncoverable" in row}.values())
        return [f"{counted(count, 'abstract sentence')} without any alternative"] if count else []

    def tables(self) -> list[Table]:
        scores = self.of("score")
        rated = [content(self)] if any(CONTENT in row["human"] for row in scores) else []
        asked = any(_QUESTION.fullmatch(name) for row in scores for name in row["human"])
        read = [readability(self, condition) for condition in conditions(self)] if asked else []
        joined = [participation(self)] if set(systems(self)) - {LEAD, BEST} else []
        return [*joined, extraction(self), *rated, *read, question_answering(self)]

    def figures(self) -> list[Figure]:
        return [Figure.of_table("table-4", extraction(self), (), "")]


def _rows(topic: Submitted, setup: Setup, lead: str, larger: bool) -> list[Row]:
    answers(topic, ())  # raises one error for the topic if its questions cannot be used, not one for each system
    result = searched(topic, setup)
    if result.status is not Status.OPTIMAL or result.selection is None:
        raise InputError(
            f"The minimum cover of topic {topic.id!r} was not proven ({result.status.value}), so nothing is measured "
            "against it: give it more time, or an exact strategy."
        )
    size = len(result.selection)
    scored = partial(_score, minimum=size, uncoverable=setup.options.uncoverable, larger=larger)
    rows: list[Row] = []
    for _, row in summaries_of(topic, rows, {LEAD, BEST}, scored):
        rows.append(row)
    extracts = {LEAD: lead_extract(topic, size, in_turn=lead == "in-turn")} if topic.documents else {}
    for name, extract in {**extracts, BEST: result.selection}.items():
        rows.append(scored(topic, System(topic.id, name, None, extract)))
    return rows


def _score(topic: Topic, system: System, minimum: int, uncoverable: str, larger: bool) -> Row:
    condition = str(topic.meta.get("condition") or "").lower() or None
    row: Row = {"kind": "score", "system": system.system, "condition": condition, "human": dict(system.human)}
    summary: Text | None = system.summary
    if system.selection is not None:
        texts = texts_of(topic)
        if summary is None and texts.keys() >= set(system.selection):
            summary = tuple(texts[unit] for unit in system.selection)
        extract = score_extract(topic, system.selection, minimum, uncoverable=uncoverable)
        precision = float(extract.precision) if larger else extract.correct / extract.minimum
        row |= {"coverage": float(extract.coverage), "precision": precision}
        row |= {name: getattr(extract, name) for name in ("correct", "size", "minimum")}
        row |= {"covered": list(map(float, extract.covered)), "uncoverable": list(extract.uncoverable)}
    if summary is not None and (found := answers(topic, summary)):
        row |= {"exact": float(found.exact), "edit": float(found.edit), "questions": found.questions}
    return row


def lead_extract(topic: Topic, size: int, *, in_turn: bool = True) -> tuple[SentenceId, ...]:
    names = iter(texts_of(topic))
    by_document = [[next(names) for _ in document] for document in topic.documents]
    ordered = chain.from_iterable(zip_longest(*by_document) if in_turn else by_document)
    return tuple(name for name in ordered if name is not None)[:size]
