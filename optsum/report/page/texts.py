"""The text of a topic as the page shows it: sentences cut where tokens begin, tokens as numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from optsum.corpus.topic import Topic, as_topic
from optsum.errors import InputError
from optsum.report.page.settings import Setting
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import LENGTH_OF
from optsum.text.tokenizers import Sentence, raw_text

_STRANGE = "its details are not those that optsum writes"


def topic_of(row: Mapping[str, Any], details: Mapping[str, Any]) -> Topic:
    """Return the topic that a row's details are of.

    Raises
    ------
    InputError
        If there is none in them.
    """
    names = details.get("sentence_ids")
    return as_topic(
        {
            "id": row.get("id") or "?",
            "documents": details.get("documents"),
            "references": details.get("references"),
            "cover": details.get("cover"),
            "meta": {} if names is None else {"sentence_ids": names},
        },
        flat="sentences",
    )


def text_of(topic: Topic, setting: Setting, parts: object) -> dict[str, Any]:
    """Return the text of a topic for the page.

    A sentence is ``[length, pieces, tokens]``, and ``[..., chunks]`` where parts of it are chosen by themselves. The
    first piece is what stands before the first token, every other begins with its token. A token is a number, the same
    for equal tokens, and -1 where no reference has it.

    Raises
    ------
    InputError
        If `parts` are not those of its sentences.
    """
    setup = setting.setup
    analyzer = None if setup is None or not setup.formulation.has_metric else setup.spec_for(topic).analyzer
    unit = setting.options.length_unit if setting.options is not None else "words"
    numbers: dict[str, int] = {}

    def shown(sentence: Sentence, *, known: bool, starts: list[tuple[int, int]] | None = None) -> list[Any]:
        pieces, places, tokens = _cut(sentence, analyzer)
        ids = [numbers.get(token, -1) if known else numbers.setdefault(token, len(numbers)) for token in tokens]
        found = [LENGTH_OF[unit](sentence), pieces, ids]
        return found if starts is None else [*found, _owners(places, starts)]

    references = [[shown(sentence, known=False) for sentence in reference] for reference in topic.references]
    begins = _begins(parts, len(topic.sentences))
    sentences = [
        shown(sentence, known=True, starts=None if begins is None else begins[number])
        for number, sentence in enumerate(topic.sentences)
    ]
    found: dict[str, Any] = {
        "documents": list(map(len, topic.documents)),
        "sentences": sentences,
        "references": references,
    }
    if topic.cover is not None:
        found["cover"] = [[list(chosen) for chosen in alternatives] for alternatives in topic.cover]
        found["names"] = list(topic.meta.get("sentence_ids", range(len(topic.sentences))))
    return found


def _cut(sentence: Sentence, analyzer: Analyzer | None) -> tuple[list[str], list[int], list[str]]:
    """Return the pieces of a sentence, where each begins, and the tokens that all but the first begin with."""
    text = raw_text(sentence)
    spans = [] if analyzer is None else analyzer.spans(sentence)
    starts = [0, *(start for _, start in spans)]
    pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    return pieces, starts, [token for token, _ in spans]


def _begins(parts: object, sentences: int) -> list[list[tuple[int, int]]] | None:
    if parts is None:
        return None
    fits = isinstance(parts, list) and len(parts) == sentences
    if not fits or not all(isinstance(each, list) and all(map(_is_begin, each)) for each in parts):  # type: ignore[attr-defined]
        raise InputError(f"{_STRANGE}: parts is no list of [place, part] for each sentence")
    return [[(place, part) for place, part in each] for each in parts]  # type: ignore[attr-defined]


def _is_begin(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(type(each) is int for each in value)


def _owners(places: list[int], begins: list[tuple[int, int]]) -> list[int]:
    """Return the part of each piece: that of its first character."""
    starts = [start for start, _ in begins]
    return [begins[max(0, bisect_right(starts, place) - 1)][1] if begins else 0 for place in places]
