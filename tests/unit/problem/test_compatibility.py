"""Test the declarations of what formulations serve: their refusals, the table, and those of third parties."""

from __future__ import annotations

from typing import Any

import pytest
from optsum.formulations.compressive import Compressive
from optsum.formulations.extractive import Extractive

from optsum.errors import OptionError, UnsupportedError
from optsum.problem.formulation import Compatibility, Formulation, Requirement, Spec
from optsum.text.analyzer import Analyzer


def check(serves: Compatibility, *, tokenizer: str = "rouge", **spec: Any) -> None:
    serves.check("mine", Spec(analyzer=Analyzer(tokenizer), **spec))


@pytest.mark.parametrize(
    ("formulation", "spec", "sentence"),
    [
        (Extractive, {"metric": "ngram-1-2", "measure": "f1"}, "geometric mean ngram-1-2 is defined for recall"),
        (Extractive, {"metric": "ngram-1-2", "references": "mean"}, "geometric mean ngram-1-2 is defined for recall"),
        (Extractive, {"model_units": "sentences", "measure": "precision"}, "Model units are clipped separately only"),
        (Extractive, {"model_units": "sentences", "metric": "rouge-l"}, "Model units are clipped separately only"),
        (Extractive, {"boundaries": "joined", "metric": "rouge-3"}, "for rouge-1 and rouge-2, not for rouge-3"),
        (Extractive, {"boundaries": "joined", "metric": "rouge-su0"}, "for rouge-1 and rouge-2, not for rouge-su0"),
        (Extractive, {"boundaries": "joined", "counts": "set", "measure": "f1"}, "for recall, not for f1"),
        (Extractive, {"metric": "rouge-l", "counts": "set"}, "Common subsequences have only clipped counts"),
        (Extractive, {"metric": "rouge-1+rougeL", "counts": "set"}, "Common subsequences have only clipped counts"),
        (Compressive, {"metric": "rouge-su4"}, "searches rouge-N, rouge-su0 and similarity, not rouge-su4"),
        (Compressive, {"metric": "rouge-l"}, "searches rouge-N, rouge-su0 and similarity, not rouge-l"),
        (Compressive, {"metric": "ngram-1-2"}, "geometric means"),
        (Compressive, {"model_units": "sentences"}, "Model units and"),
        (Compressive, {"boundaries": "joined"}, "counts n-grams within sentences"),
        (Compressive, {"metric": "rouge-3", "measure": "f1"}, "The number of rouge-3 n-grams in a compression"),
        (Compressive, {"metric": "rouge-2", "counts": "set", "measure": "f1"}, "supports f1 only of rouge-1"),
        (Compressive, {"tokenizer": "pypi-rouge"}, "pypi-rouge makes tokens from blanks"),
    ],
)
def test_each_unsupported_option_is_refused_by_its_sentence(
    formulation: type[Formulation], spec: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UnsupportedError, match=sentence):
        check(formulation.serves, **spec)


@pytest.mark.parametrize(
    ("formulation", "spec"),
    [
        (Extractive, {"metric": "rouge-1+rouge-su4", "measure": "f1", "counts": "set", "references": "mean"}),
        (Extractive, {"metric": "rouge-1+rouge-2", "boundaries": "joined", "measure": "f1"}),
        (Extractive, {"metric": "ngram-1-4"}),
        (Extractive, {"metric": "rouge-l", "measure": "f1"}),
        (Extractive, {"metric": "rouge-1+rouge-2+rougeL", "measure": "f1", "references": "mean"}),
        (Compressive, {"metric": "rouge-4"}),
        (Compressive, {"metric": "rouge-1", "measure": "f1", "counts": "set"}),
        (Compressive, {"metric": "rouge-1+rouge-su0", "measure": "precision"}),
    ],
)
def test_supported_options_are_accepted(formulation: type[Formulation], spec: dict[str, Any]) -> None:
    check(formulation.serves, **spec)


def test_declared_lists_refuse_by_their_sentence() -> None:
    serves = Compatibility(metrics=("rouge-N", "rouge-suK"), measure=("recall", "f1"))
    for spec in ({"metric": "rouge-7"}, {"metric": "rouge-su0", "measure": "f1"}, {"metric": "rouge-1+rouge-2"}):
        check(serves, **spec)
    with pytest.raises(
        UnsupportedError, match=r"mine supports the measure recall or f1, not precision: change measure"
    ):
        check(serves, measure="precision")
    with pytest.raises(UnsupportedError, match=r"mine supports the metric rouge-N or rouge-suK, not rouge-1.rouge-l"):
        check(serves, metric="rouge-1+rouge-l")
    with pytest.raises(UnsupportedError, match=r"supports the metric rouge-N or rouge-suK, not ngram-1-2"):
        check(serves, metric="ngram-1-2")


def test_the_table_is_filled_from_the_same_data() -> None:
    assert Compressive.serves.metric_forms() == ["rouge-N", "rouge-su0", "A+B"]
    assert Compressive.serves.values("boundaries") == ["sentence"]
    assert Compressive.serves.values("measure") == ["recall", "precision", "f1"]
    assert Extractive.serves.metric_forms() == ["rouge-N", "rouge-suK", "rouge-l", "rougeL", "A+B", "ngram-I-J"]
    assert Compatibility(references=("mean",)).values("references") == ["mean"]


def test_a_rule_holds_only_where_its_conditions_do() -> None:
    rule = Requirement("no", only={"counts": ("clipped",)}, when={"measure": ("f1",)})
    sets, f1 = {"counts": [frozenset({"set"})]}, {"measure": [frozenset({"f1"})]}
    assert rule.refuses(sets | f1)
    assert not rule.refuses(sets | {"measure": [frozenset({"recall"})]})
    assert not rule.refuses(sets)


def test_an_unknown_length_unit_is_refused() -> None:
    with pytest.raises(OptionError, match="no length unit 'lines'"):
        check(Compatibility(), length_unit="lines")
