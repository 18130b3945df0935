"""Nuggets (claims) with the passages that support them, in the formats of retrieval evaluations.

- The nuggetizer of TREC's RAG track (Pradeep et al. 2025) assigns nuggets to a retriever's passages, one on each line:
  ``{"qid": ..., "docid": ..., "candidate_text": ..., "nuggets": [{"text": ..., "importance": "vital", "assignment":
  "support"}, ...]}``. The lines of a question are adjacent.
- Judgments of CoverageBench (Samuel et al. 2026), and of TREC's diversity tasks before it, name a question, a nugget, a
  passage, and whether this supports that: ``17 3 doc-81 1``.
- FreshStack (Thakur et al. 2025) has a record for each question, whose nuggets list the relevant passages.

A vital nugget counts one and an okay nugget a half, as in the track's weighted score; "partial_support" counts as no
support.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from optsum.corpus.formats.lines import Line, NumberedLines, bad_topic, decode, decoded, raw_lines
from optsum.errors import InputError

_WORTH: Final = {"vital": 1, "okay": 0.5}
_ASSIGNED: Final = {"support": True, "partial_support": False, "not_support": False}
NOTE: Final = "note"  # A key of the topic made of nuggets: what is to be said of the way they were read.

_NO_PASSAGES: Final = (
    "it lists nuggets, but not which passages support them; give nuggets that were assigned to passages, or passages "
    'as "documents" and the nuggets as their reference, of which optsum align makes a cover'
)
_JUDGMENT: Final = re.compile(rb"\s*\S+\s+(\S+)\s+\S+\s+-?\d+\s*")
_NUGGET: Final = re.compile(rb"\s*\S+\s+\S+\s+(?:vital|okay)\s+\S.*", re.DOTALL)


def nugget_reader(
    first: bytes, name: str, sample: bytes = b""
) -> Callable[[NumberedLines, str], Iterator[Line]] | None:
    """Return the reader for a file of nuggets, recognised by its first lines; None for other files.

    Judgments differ from a table of alternatives, which may also be of numbers alone, because questions have several. A
    file that does not say which passages support which nugget is refused.
    """
    if first.startswith(b"{"):
        if b'"nuggets"' not in first or b'"candidate_text"' not in first:
            return None
        found = decode(first, name).value
        return _assigned if isinstance(found, dict) and _is_assigned(found) else None
    if _NUGGET.fullmatch(first):
        raise InputError(f"{name} cannot be used: {_NO_PASSAGES}")
    whole = [
        line for line in sample.removeprefix(BOM_UTF8).split(b"\n")[: None if sample.endswith(b"\n") else -1] if line
    ]
    judged = _JUDGMENT.fullmatch(first)
    if judged is None or not all(map(_JUDGMENT.fullmatch, whole)) or len({x.split()[0] for x in whole}) == len(whole):
        return None
    if judged[1] in {b"0", b"Q0"}:
        raise InputError(
            f"{name} holds judgments of whole questions: its second column is {judged[1].decode()}, and no nugget; "
            "give judgments of nuggets"
        )
    return _judged


def _is_assigned(value: Mapping[Any, Any]) -> bool:
    return {"qid", "candidate_text", "nuggets"} <= value.keys() and "documents" not in value


def _assigned(lines: NumberedLines, name: str) -> Iterator[Line]:

    def question(line: Line) -> str | None:
        value = line.value
        return str(value["qid"]) if isinstance(value, dict) and _is_assigned(value) else None

    yield from _of_questions(decoded(raw_lines(lines, name)), question, _of_passages)


def _judged(lines: NumberedLines, name: str) -> Iterator[Line]:

    def split(raw: bytes, source: str) -> Line:
        raw = raw.removeprefix(BOM_UTF8)
        columns = raw.decode("utf-8", "replace").split()
        if _JUDGMENT.fullmatch(raw) is None:
            return Line(source, None, "this is not a judgment; give question, nugget, passage and a whole number")
        return Line(source, columns)

    def question(line: Line) -> str | None:
        return None if line.error is not None else str(line.value[0])

    yield from _of_questions(decoded(raw_lines(lines, name), split), question, _of_judgments)


def _of_questions(
    lines: Iterator[Line],
    question: Callable[[Line], str | None],
    made: Callable[[str, list[Any]], dict[str, Any]],
) -> Iterator[Line]:
    """Yield a topic for the lines of each question; lines without a question are passed on."""
    done: set[str] = set()
    for name, group in groupby(lines, question):
        together = list(group)
        source = together[0].source
        if name is None:
            yield from together
        elif name in done:
            yield bad_topic(source, name, "its lines are in several places; sort them by question")
        else:
            done.add(name)
            try:
                yield Line(source, made(name, [line.value for line in together]))
            except InputError as error:
                yield bad_topic(source, name, str(error))


def _of_passages(name: str, passages: list[dict[str, Any]]) -> dict[str, Any]:
    nuggets = [(each["text"], each["importance"]) for each in _nuggets(passages[0], "text", "importance")]
    supports, ids = [], [passage.get("docid", number) for number, passage in enumerate(passages)]
    for passage in passages:
        held = _nuggets(passage, "text", "importance", "assignment")
        if [(each["text"], each["importance"]) for each in held] != nuggets:
            raise InputError(
                f"passage {passage.get('docid')!r:.60} has other nuggets than the first; give all the same"
            )
        if wrong := [each["assignment"] for each in held if each["assignment"] not in _ASSIGNED]:
            raise InputError(f"the assignment {wrong[0]!r:.40} is not one of {', '.join(_ASSIGNED)}")
        supports.append([number for number, each in enumerate(held) if _ASSIGNED[each["assignment"]]])
    if wrong := [importance for _, importance in nuggets if importance not in _WORTH]:
        raise InputError(f"the importance {wrong[0]!r:.40} is not one of {', '.join(_WORTH)}")
    return {
        "id": name,
        "documents": [[passage["candidate_text"] for passage in passages]],
        "supports": supports,
        "references": [[text for text, _ in nuggets]],
        "weights": [_WORTH[importance] for _, importance in nuggets],
        "meta": {"sentence_ids": ids},
        NOTE: "okay nuggets count half as much as vital ones, partial support as none; a topic's weights say otherwise",
    }


def _nuggets(record: Mapping[str, Any], *fields: str) -> list[dict[str, Any]]:
    nuggets = record["nuggets"]
    if not isinstance(nuggets, list) or not all(
        isinstance(each, dict) and each.keys() >= {*fields} for each in nuggets
    ):
        raise InputError(f"nuggets are objects with {', '.join(fields)}; give a list of them")
    return nuggets


def _of_judgments(name: str, judgments: list[list[str]]) -> dict[str, Any]:
    cover: dict[str, list[list[str]]] = {}
    for _, nugget, passage, relevance in judgments:
        sets = cover.setdefault(nugget, [])
        if int(relevance) > 0 and [passage] not in sets:
            sets.append([passage])
    return {"id": name, "cover": list(cover.values()), "meta": {"abstract_ids": list(cover)}}


def topic_of_nuggets(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topic of a record whose nuggets name their supporting passages; refuse others."""
    nuggets = record["nuggets"]
    lists = [each.get("relevant_corpus_ids") if isinstance(each, dict) else None for each in nuggets or ()]
    if not lists or not all(isinstance(each, list) for each in lists):
        one = "it is one passage of a question; give the file of all of them"
        raise InputError(f"a record of nuggets cannot be used: {one if _is_assigned(record) else _NO_PASSAGES}")
    names = [each.get("_id", number) for number, each in enumerate(nuggets)]
    cover = [[[passage] for passage in dict.fromkeys(each)] for each in lists if each is not None]
    return {"id": record.get("query_id"), "cover": cover, "meta": {"abstract_ids": names}}
