"""The kernels between a text and its problem, and between an answer and its scores, compiled before a clock starts."""

from __future__ import annotations

from optsum.corpus.topic import Topic
from optsum.metrics.names import parse_metric
from optsum.problem.numbered import NumberedTopic
from optsum.problem.spec import Spec
from optsum.system.compiling import compiles
from optsum.text.analyzer import Analyzer


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


def prepare() -> None:
    """Compile all of them."""
    prepare_counts()
    prepare_scores()
