"""Check that names of other libraries and common variants are understood, or answered with the right name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import optsum
from optsum.errors import SPEAKS_OF_FLAGS, OptionError
from optsum.metrics.rouge import official_name
from optsum.options.options import resolve, resolve_score
from optsum.system.processes.children import environment

ROOT = Path(__file__).resolve().parents[4]
TOPIC: dict[str, Any] = {"id": "t", "documents": [["a b c", "d e", "a e"]], "references": [["a b e"]]}


@dataclass(frozen=True)
class Vowels(optsum.Metric):
    form: ClassVar[str] = "vowels"
    about: ClassVar[str] = "tokens that are vowels"

    def keys(self, tokens: Any) -> list[str]:
        return [each for each in tokens if each in "aeiou"]


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("rouge1", "rouge-1"), ("ROUGE-2", "rouge-2"), ("R1", "rouge-1"), ("r-2", "rouge-2"), ("Rouge_L", "rouge-l"),
        ("rougeLsum", "rouge-l"), ("ROUGE-SU4", "rouge-su4"), ("RL", "rouge-l"), ("rouge1+rouge2", "rouge-1+rouge-2"),
        ("rouge-1", "rouge-1"), ("ngram-1-4", "ngram-1-4"), ("rougeL", "rougeL"), ("random", "random"), ("", ""),
    ],
)  # fmt: skip
def test_metrics_by_other_names(given: str, ours: str) -> None:
    assert official_name(given) == ours
    if ours.startswith("rouge-") and "+" not in ours:
        assert resolve({"metric": given, "max_length": 3}).metric == ours
        assert optsum.rouge("a b", ["a b"], metric=given).f1 == optsum.rouge("a b", ["a b"], metric=ours).f1


def test_two_metrics_have_the_name_of_rouge_l() -> None:
    topic = {"id": "t", "documents": [["a b", "c"]], "references": [["c", "a b"]]}
    sentences = optsum.solve(topic, metric="rougeLsum", max_length=3)
    texts = optsum.solve(topic, metric="rougeL", max_length=3)
    assert (sentences.metric, sentences.objective_exact) == ("rouge-l", "1")
    assert (texts.metric, texts.objective_exact) == ("rougeL", "2/3")


def test_options_by_other_names() -> None:
    ours = resolve({"max_length": 3, "seed": 5, "workers": 2, "measure": "f1", "length_unit": "sentences"})
    theirs = {"max_length": 3, "random_state": 5, "n_jobs": 2, "measure": "fmeasure", "length_unit": "sentence"}
    assert resolve(theirs) == ours
    assert resolve(theirs).config_hash == ours.config_hash
    assert resolve_score({"best_by": "fmeasure"}).best_by == "f1"
    table = optsum.compare([TOPIC], ["greedy"], max_length=3, random_state=5)
    assert [variant.seed for variant in table.plan.variants] == [5, 5]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"timeout": 3}, "no option 'timeout'; optsum's name for it is time_limit"),
        ({"budget": 3}, "optsum's name for it is max_length"),
        ({"of": "f1"}, "optsum's name for it is measure"),
        ({"input": "x.jsonl"}, "no option 'input' here: the file of topics is an argument"),
        ({"seed": 1, "random_state": 2}, "are the same: give one"),
    ],
)
def test_near_names_are_suggested(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        resolve({"max_length": 3, **given})


def test_errors_use_the_terms_of_the_caller() -> None:
    with pytest.raises(OptionError) as caught:
        resolve({})
    assert str(caught.value).endswith("give max_length=N, or a preset.")
    with environment(SPEAKS_OF_FLAGS):
        assert str(caught.value).endswith("give --max-length N, or a --preset.")
    assert "--" not in str(caught.value)
    assert str(OptionError("a--b, ---, -- and --strategy-option")) == "a--b, ---, -- and strategy_options"


@pytest.mark.parametrize("own", [Vowels, Vowels()])
def test_a_metric_of_ones_own_is_given_itself(own: Any) -> None:
    result = optsum.solve(TOPIC, metric=own, max_length=4)
    assert (result.selection, result.numerator, result.denominator) == ((2,), 2, 2)
    assert result.metric == f"{__name__}:Vowels"
    assert optsum.compare([TOPIC], ["greedy"], metric=own, max_length=4).rows[0].mean_objective == 1


def test_a_metric_stands_in_a_file(tmp_path: Path) -> None:
    place = f"{ROOT / 'examples' / 'plugins' / 'character_ngrams.py'}:CharacterNGrams"
    topic = {"id": "t", "documents": [["abcdef gh", "cdefghij"]], "references": [["bcdefgh"]]}
    result = optsum.solve(topic, metric=place, measure="f1", max_length=5)
    again = list(optsum.solve_all([topic], metric=place, measure="f1", max_length=5, workers=2))
    assert [each.key for each in again] == [result.key]
    bad = tmp_path / "bad.py"
    bad.write_text("import no_such_module\n")
    for name, reason in (
        (f"{bad}:Metric", "cannot be imported: ModuleNotFoundError"),
        (f"{tmp_path}/none.py:Metric", "cannot be imported"),
        ("json:JSONDecoder", "is not a subclass of optsum.metrics.rouge.Metric"),
        ("json:nothing", "cannot be imported: AttributeError"),
    ):
        with pytest.raises(OptionError, match=reason):
            optsum.solve(TOPIC, metric=name, max_length=5)


def test_a_strategy_stands_in_a_module() -> None:
    table = optsum.compare([TOPIC], ["optsum.heuristics.baselines:Greedy"], "exhaustive", max_length=3)
    assert len(table.rows) == 2
    assert table.problems == 1


def test_two_strings_make_a_topic() -> None:
    text = "It rained. The match was called off. Fans left."
    result = optsum.solve(text, "Rain ended the match.", max_length=5)
    assert result.summary == ("The match was called off.",)
    assert optsum.solve(text.replace(". ", ".|").split("|"), ["Rain ended the match."], max_length=5).key == result.key
    assert optsum.solve("One sentence.", "One.", max_length=5).selection == (0,)
    assert list(optsum.enumerate_optima(text, "Rain ended the match.", max_length=5)) == [(1,)]
    with pytest.raises(optsum.InputError, match=r"give it too: solve\(text, summary\)"):
        optsum.solve(text, max_length=5)
    with pytest.raises(optsum.InputError, match="the summary is a number"):
        optsum.solve(text, 3, max_length=5)  # type: ignore[arg-type]
