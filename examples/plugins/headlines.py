"""A formulation of your own: extracts of the first sentences of each document.

optsum solve TOPICS --formulation headlines --formulation-option first=2 --max-length 60
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import optsum


@dataclass(frozen=True)
class Headlines(optsum.Formulation):
    """The first sentences of each document, some of them."""

    first: int = 3
    name: ClassVar[str] = "headlines"
    about: ClassVar[str] = "some of the first sentences of each document"
    serves: ClassVar[optsum.Compatibility] = optsum.Compatibility(
        metrics=("rouge-N", "rouge-suK", "char"), boundaries=("sentence",), model_units=("whole",)
    )

    def __post_init__(self) -> None:
        """Refuse a number that means nothing."""
        if self.first < 1:
            raise optsum.OptionError(f"The option first is {self.first}; give at least 1.")

    def build(self, topic: optsum.Topic, spec: optsum.Spec) -> optsum.Task:
        """Return the problem of a topic."""
        ends = accumulate(map(len, topic.documents))
        units = [
            unit
            for document, end in zip(topic.documents, ends, strict=True)
            for unit in range(end - len(document), min(end - len(document) + self.first, end))
        ]
        counted = optsum.Counted.of(topic, spec)  # refuses a topic without n-grams
        instance = counted.of_sentences([topic.sentences[unit] for unit in units])
        return optsum.Extract.of(topic, spec, optsum.CoverageProblem.of(instance), units)
