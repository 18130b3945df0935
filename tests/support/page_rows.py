"""Make rows for report pages: topics with tied optima, an error, and texts that look like HTML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from optsum.report.comparison import compare_topics, plan_of

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

TOPICS: list[dict[str, Any]] = [
    {
        "id": "ties",
        "documents": [["a b", "b c", "c d", "d e", "a e", "a b c x"]],
        "references": [["a b c d e"]],
    },
    {
        "id": "copies",
        "documents": [["the cat the cat sat"], ["a dog ran", "the end"]],
        "references": [["the cat and the dog", "the cat sat"], ["a cat ran"]],
    },
    {
        "id": SCRIPT,
        "documents": [[f"{SCRIPT} </script> one", "\u202eoverride two", "w" * 100_000]],
        "references": [["one two", "</script>"]],
    },
    {"id": "broken", "documents": [["a b"]], "references": [["..."]]},
]  # fmt: skip


def rows_of(
    topics: Iterable[dict[str, Any]] = TOPICS,
    strategies: str = "greedy,lead",
    exact: str = "branch-and-bound",
    *,
    details: bool = True,
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the rows of a comparison of strategies on topics."""
    plan = plan_of(strategies, exact, **{"max_length": 4, **options})
    return [result.to_row() for results in compare_topics(topics, plan, details=details) for result in results]
