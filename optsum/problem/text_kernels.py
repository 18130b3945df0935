"""The kernels between a text and its problem, and between an answer and its scores, compiled before a clock starts."""

from __future__ import annotations

from collections.abc import Callable

from optsum.corpus.topic import Topic
from optsum.metrics.names import parse_metric
from optsum.problem.numbered import NumberedTopic
from optsum.problem.spec import Spec
from optsum.system.compiling import compiles
from optsum.text.analyzer import Analyzer

__all__ = ["prepare"]


def _tiny(metric: str) -> NumberedTopic:
    topic = Topic("tiny", (("a b c", "b c"),), (("a b",),))
    return NumberedTopic.of(topic, Spec(analyzer=Analyzer("tokens"), metric=metric))


@compiles
def prepare_counts() -> None:
    """Compile what makes a problem of a text."""
    _tiny("rouge-2").coverage()


@compiles
def prepare_scores() -> None:
    """Compile what scores an answer."""
    _tiny("rouge-1").scores((0, 1), [parse_metric("rouge-1"), parse_metric("rouge-l")])


@compiles
def prepare_pairs() -> None:
    """Compile what counts pairs of tokens apart from each other."""
    _tiny("rouge-su1").coverage()


def prepare(*, pairs: bool = False) -> None:
    """Compile all of them, those for pairs of tokens apart from each other if they are wanted."""
    parts: list[Callable[[], None]] = [prepare_counts, *([prepare_pairs] if pairs else []), prepare_scores]
    for part in parts:
        part()
