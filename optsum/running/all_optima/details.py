"""The fields of a row beside its result where people are to look at it: the text, what was asked for, and all optima.

The page (`optsum.report.page`) is made of rows alone, so that they can be moved, kept and sent without the topics they
are of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from optsum.contracts.result import Result
from optsum.corpus.topic import Topic, topic_to_json
from optsum.errors import OptsumError
from optsum.options.options import OF_WORKERS
from optsum.running.one_problem import build
from optsum.running.setup import Setup

_NO_MATTER: Final = {"preset", "seed", *OF_WORKERS}


def carrying(result: Result, details: Mapping[str, Any]) -> Result:
    """Return a result whose row has these details."""
    return result.changed(extra={**result.extra, "details": details})


def details_of(part: Topic, setup: Setup, optima: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the details of a problem, as a row has them.

    Parameters
    ----------
    part : Topic
        As it was searched: with the references that count.
    optima : mapping, optional
        Its optima, as the page shows them (`optsum.running.all_optima.detailed`).

    Returns
    -------
    dict
        ``options`` that are not the defaults; ``documents``, ``references`` and perhaps ``cover`` as in a topic;
        ``parts``, for sentences that are not chosen as a whole: where each part begins, and which it is; ``optima``
        as they are given.
    """
    options = setup.options.model_dump(mode="json", exclude_defaults=True, exclude=_NO_MATTER)
    text = topic_to_json(part)
    found: dict[str, Any] = {"options": options}
    found |= {name: text[name] for name in ("documents", "references", "cover", "lengths") if name in text}
    if (ids := part.meta.get("sentence_ids")) is not None:
        found["sentence_ids"] = ids
    parts = _parts(part, setup)
    if parts is not None:
        found["parts"] = parts
    if optima is not None:
        found["optima"] = dict(optima)
    return found


def _parts(part: Topic, setup: Setup) -> list[list[tuple[int, int]]] | None:
    if setup.formulation.whole_sentences:
        return None
    try:
        return build(part, setup).parts()
    except OptsumError:  # its row says why
        return None
