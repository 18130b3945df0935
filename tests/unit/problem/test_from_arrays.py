"""Compare instances made from arrays of tokens with those made n-gram by n-gram."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optsum.formulations.extractive import Extractive, by_counters

import optsum
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage.instance import NO_LIMIT, Coverage
from optsum.errors import InputError, UnsupportedError
from optsum.problem.formulation import Spec
from optsum.problem.objective import Extract, NumberedTopic, official_scores
from optsum.problem.problem import CoverageProblem
from optsum.text.analyzer import Analyzer

WORD = st.sampled_from(["a", "b", "c", "The", "running", "runs", "d-e", "\u0130", "\u03a3", "x\0y", ".", "9"])
SENTENCE = st.lists(WORD, max_size=8).map(" ".join) | st.lists(WORD, max_size=5).map(tuple)
TEXT = st.lists(SENTENCE, max_size=5)
TOPICS = st.builds(
    lambda documents, references: as_topic({"id": "t", "documents": documents, "references": references}),
    st.lists(TEXT, min_size=1, max_size=2),
    st.lists(TEXT, min_size=1, max_size=3),
)
METRICS = (
    "rouge-1",
    "rouge-2",
    "rouge-3",
    "rouge-su0",
    "rouge-su2",
    "rouge-1+rouge-2",
    "ngram-1-2",
    "rouge-2+rouge-su4",
)
SPECS = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(METRICS),
        "measure": st.sampled_from(["recall", "precision", "f1"]),
        "counts": st.sampled_from(["clipped", "set"]),
        "references": st.sampled_from(["pooled", "mean"]),
        "model_units": st.sampled_from(["whole", "sentences"]),
        "max_length": st.sampled_from([4, 9, NO_LIMIT]),
        "min_length": st.sampled_from([0, 0, 3]),
        "length_unit": st.sampled_from(["words", "sentences", "characters"]),
        "keep_unmatched": st.booleans(),
        "keep_overlong": st.booleans(),
        "analyzer": st.builds(
            Analyzer, st.sampled_from(["rouge", "presumm", "blank", "pypi-rouge", "unicode", "tokens"]), st.booleans()
        ),
    }
)


def built(how: Any, topic: Topic, spec: Spec) -> Extract | str:
    try:
        task = how(topic, spec)
    except (InputError, UnsupportedError) as error:
        return str(error)
    assert isinstance(task, Extract)
    return task


def plainly(topic: Topic, spec: Spec) -> Extract:
    return by_counters(topic, spec, NumberedTopic.of(topic, spec))


def assert_same(topic: Topic, spec: Spec) -> bool:
    """Compare both instances, or both errors; return whether there were instances to compare."""
    try:
        Extractive.serves.check("extractive", spec)
    except UnsupportedError:
        return False
    one, other = built(Extractive().task, topic, spec), built(plainly, topic, spec)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return False
    assert one.units == other.units
    left, right = one.problem, other.problem
    assert isinstance(left, CoverageProblem)
    assert isinstance(right, CoverageProblem)
    assert left.lengths == right.lengths
    assert (left.reference_model is None) == (right.reference_model is None)
    for field in fields(Coverage):
        mine, theirs = getattr(left.instance, field.name), getattr(right.instance, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype == np.int64
            assert mine.tolist() == theirs.tolist(), field.name
        else:
            assert mine == theirs, field.name
    return True


@given(TOPICS, SPECS)
def test_both_ways_make_the_same_instance(topic: Topic, given_spec: dict[str, Any]) -> None:
    assert_same(topic, Spec(**given_spec))


DATA = {
    "recall": {"metric": "rouge-2", "max_length": 100},
    "skip": {"metric": "rouge-su4", "max_length": 100},
    "presumm": {
        "metric": "rouge-1+rouge-2", "measure": "f1", "counts": "set", "max_length": 3, "length_unit": "sentences",
        "analyzer": Analyzer("presumm"),
    },
    "stems": {"metric": "rouge-1", "max_length": 100, "analyzer": Analyzer(stem=True, stopwords="drop")},
    "means": {"metric": "rouge-2", "measure": "f1", "references": "mean", "max_length": 100, "min_length": 50},
    "units": {"metric": "rouge-1", "model_units": "sentences", "max_length": 100},
}  # fmt: skip


@pytest.mark.parametrize("name", ["realsumm", "squality", "dbs", "gum", "opinosis"])
def test_real_topics(shared_data: Path, name: str) -> None:
    topics = [t for t in optsum.read_topics(shared_data / name / "topics.jsonl") if isinstance(t, Topic)]
    for topic in topics[:2]:
        for given_spec in DATA.values():
            assert assert_same(topic, Spec(**{"analyzer": Analyzer(), **given_spec}))


def test_a_metric_of_counters_alone_is_served_by_counters() -> None:
    class Letters(optsum.Metric):
        form = "letters"

        def keys(self, tokens: Any) -> Any:
            return "".join(tokens)

    topic = as_topic({"id": "t", "documents": [["a b", "c d"]], "references": [["a c"]]})
    numbered = NumberedTopic(
        topic=topic,
        spec=(spec := Spec(analyzer=Analyzer())),
        metric=Letters(),
        tokens=NumberedTopic.of(topic, spec).tokens,
        references=(0, 1),
    )
    assert numbered.coverage() is None
    assert official_scores(numbered.tokens, numbered.references, [0], [Letters()]) is None


@given(TOPICS, SPECS)
def test_unchecked_instances_would_pass_the_checks(topic: Topic, given_spec: dict[str, Any]) -> None:
    try:
        problem = Extractive().task(topic, Spec(**given_spec)).problem
    except (InputError, UnsupportedError):
        return
    assert isinstance(problem, CoverageProblem)
    made = problem.instance
    assert Coverage(**{field.name: getattr(made, field.name) for field in fields(Coverage)}).size == made.size


def test_limits_that_contradict_one_another_are_refused_all_the_same() -> None:
    topic = as_topic({"id": "t", "documents": [["a b", "c d"]], "references": [["a c"]]})
    with pytest.raises(InputError, match="the minimum length is above the maximum"):
        Extractive().task(topic, Spec(analyzer=Analyzer(), min_length=5, max_length=4))
