"""A metric of your own: character n-grams (chrF, Popovic 2015), searched like any other.

Run it: python examples/own_metric.py [TOPICS]
"""

import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import optsum
from optsum import Evaluation, Problem

SIZE = 4
"""Characters of an n-gram."""


def grams(text: str) -> Counter[str]:
    """Return how often each character n-gram occurs, blanks removed."""
    letters = "".join(text.lower().split())
    return Counter(letters[start : start + SIZE] for start in range(len(letters) - SIZE + 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class CharacterF(Problem):
    """F1 of character n-grams: all that a search needs is `evaluate`."""

    units: tuple[Counter[str], ...]
    reference: Counter[str]

    def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
        """Score a selection; a fraction, so that ties are ties."""
        summary: Counter[str] = sum((self.units[unit] for unit in selection), Counter())
        hits = (summary & self.reference).total()
        key = Fraction(2 * hits, summary.total() + self.reference.total())
        return Evaluation(key, self.excess(selection), float(key))


def problem_of(topic: optsum.Topic, max_words: int) -> CharacterF:
    """Return the problem of a topic, with its first reference."""
    return CharacterF(
        lengths=tuple(len(str(sentence).split()) for sentence in topic.sentences),
        max_length=max_words,
        units=tuple(grams(str(sentence)) for sentence in topic.sentences),
        reference=grams(" ".join(map(str, topic.references[0]))),
    )


if __name__ == "__main__":
    shipped = Path(__file__).with_name("data") / "news.jsonl"
    for topic in optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else shipped):
        problem = problem_of(topic, 60)
        best = optsum.search(problem, "exhaustive")
        greedy, vns = (optsum.search(problem, strategy) for strategy in ("greedy", "vns"))
        values = (best.objective, greedy.objective, vns.objective)
        print(f"{topic.id:18} optimum {values[0]:.4f}  greedy {values[1]:.4f}  vns {values[2]:.4f}")
