"""Check that text kernels are prepared as parts that another process can run by name."""

from __future__ import annotations

import pkgutil
from typing import Any

import pytest

from optsum.corpus.topic import Topic
from optsum.metrics import kernels
from optsum.metrics.kernels import counted, official_hits
from optsum.metrics.rouge import parse_metric
from optsum.problem import objective
from optsum.problem.formulation import Spec
from optsum.problem.objective import NumberedTopic, features_of, official_scores, prepare_text
from optsum.system.compiled import call_plainly, collected, plain_of
from optsum.text.analyzer import Analyzer
from optsum.text.word_kernel import number_words


def test_parts_are_found_by_name_and_leave_one_signature_each() -> None:
    parts = collected(prepare_text)
    assert len(parts) == 2
    for part in parts:
        assert pkgutil.resolve_name(f"{part.__module__}:{part.__qualname__}") is part
        part()
    for kernel in (number_words, counted, features_of, official_hits):
        assert len(kernel.dispatcher.signatures) == 1, kernel


@pytest.mark.parametrize(
    "others",
    [
        {"metric": "rouge-2"},
        {"metric": "rouge-1+rouge-su1", "measure": "f1", "references": "mean"},
        {"metric": "rouge-2+rouge-su4", "counts": "set"},
        {"metric": "ngram-1-2"},
    ],
)
def test_interpreted_kernels_give_the_same_answers(others: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def both_ways(kernel: Any) -> Any:
        plainly = plain_of(kernel)

        def call(*arguments: Any) -> Any:
            called.append(kernel.__name__)
            compiled, plain = kernel(*arguments), call_plainly(plainly, arguments, 60.0)
            for one, other in zip(compiled, plain, strict=True):
                assert one.dtype == other.dtype
                assert one.tolist() == other.tolist()
            return compiled

        return call

    for module, kernel in ((kernels, counted), (objective, features_of), (kernels, official_hits)):
        monkeypatch.setattr(module, kernel.__name__, both_ways(kernel))
    topic = Topic("t", (("a b c a b", "b c", "", "c a b b"), ("d a a a",)), (("a b a b", "c"), ("b c d a a",)))
    numbered = NumberedTopic.of(topic, Spec(analyzer=Analyzer("tokens"), **others))
    assert numbered.coverage() is not None
    metrics = list(map(parse_metric, ("rouge-2", "rouge-su1", "rouge-l")))
    assert official_scores(numbered.tokens, numbered.references, (0, 3, 4), metrics) is not None
    assert called == ["counted", "features_of", "official_hits"]
