"""A formulation of your own, without a package: extracts of sentences that contain a number.

python own_formulation.py [TOPICS]; the same on the command line:
optsum solve TOPICS --formulation examples/own_formulation.py:WithNumbers --max-length 75
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"


@dataclass(frozen=True)
class WithNumbers(optsum.Formulation):
    """Extracts of sentences in which a digit stands."""

    name: ClassVar[str] = "with-numbers"
    about: ClassVar[str] = "extracts of sentences that hold a number"
    serves: ClassVar[optsum.Compatibility] = optsum.Compatibility(metrics=("rouge-N",), boundaries=("sentence",))

    def build(self, topic: optsum.Topic, spec: optsum.Spec) -> optsum.Task:
        """Return the problem of a topic."""
        units = [unit for unit, sentence in enumerate(topic.sentences) if re.search(r"\d", str(sentence))]
        counted = optsum.Counted.of(topic, spec)
        instance = counted.of_sentences([topic.sentences[unit] for unit in units])
        return optsum.Extract.of(topic, spec, optsum.CoverageProblem.of(instance), units)


if __name__ == "__main__":
    for topic in optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS):
        free = optsum.solve(topic, max_length=75)
        bound = optsum.solve(topic, formulation=f"{__file__}:WithNumbers", max_length=75)
        print(f"{topic.id:20} {free.objective:.4f}  with numbers {bound.objective:.4f}  {bound.selection}")
