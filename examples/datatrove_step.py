"""A pipeline step for datatrove (or any pipeline of generators) that adds the labels of the oracle to documents.

In a pipeline of datatrove it comes between a reader and a writer, ``[JsonlReader(...), OracleLabels(...),
JsonlWriter(...)]``; the reference is ``metadata["summary"]``. To try it: python datatrove_step.py
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import optsum

try:
    from datatrove.pipeline.base import PipelineStep
except ImportError:  # any object with `run` is a step
    PipelineStep = object


class OracleLabels(PipelineStep):  # type: ignore[misc]
    """Adds ``sentences``, ``labels`` and the oracle's ``objective`` to the metadata of each document."""

    type = "optsum"
    name = "oracle labels"

    def __init__(self, summary: str = "summary", **options: Any) -> None:
        super().__init__()
        self.summary, self.options = summary, options

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yield the documents, in order; one that cannot be labelled has the reason in ``error``."""
        del rank, world_size  # each worker has different documents
        for document in data:
            given = {"id": document.id, "documents": [document.text], "references": [document.metadata[self.summary]]}
            (row,) = map(dict, optsum.labels([given], flat="texts", **self.options))
            kept = ("sentences", "labels", "objective", "status", "signature", "error")
            document.metadata |= {name: row[name] for name in kept if row[name] is not None}
            yield document

    __call__ = run


@dataclass
class Text:
    """Stands for a document of datatrove."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


if __name__ == "__main__":
    text = "The bridge closed on Monday. Repairs take 14 months. Shop owners are angry. It is 90 years old."
    shown = Text("bridge", text, {"summary": "The bridge closed for 14 months and shop owners are angry."})
    for document in OracleLabels(max_length=10).run([shown]):
        print(document.id, document.metadata["labels"], f"{document.metadata['objective']:.4f}")
