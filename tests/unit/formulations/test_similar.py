"""Compare recall and precision of similarity with brute force over all selections."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from similar_topics import best_by_trying, precision_by_hand, random_topic, recall_by_hand, values_by_trying
from trying import blocks

import optsum
from optsum import InputError, OptionError, UnsupportedError
from optsum.coverage.instance import Coverage

_UNIT = 10_000
_EXACT = ("branch-and-bound", "exhaustive", "auto", "milp")
_OTHERS = ("greedy", "greedy+ls", "vns", "genetic", "lead", "random")


def _solved(topic: dict[str, Any], strategy: str = "branch-and-bound", **options: Any) -> optsum.Result:
    options = {"metric": "similarity", "max_length": 7, **options}
    return optsum.solve(topic, strategy=strategy, **options)


@pytest.mark.parametrize("seeds", blocks(160))
def test_the_best_recall_of_a_random_topic(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        metric = ("similarity", "similarity-shifted")[seed % 2]
        references = ("pooled", "mean")[seed % 4 // 2]
        unit = (_UNIT, 7)[seed % 5 == 0]
        best, sets = best_by_trying(seed, 7, unit=unit, shifted=seed % 2 == 1, mean=seed % 4 >= 2)
        options = {"metric": metric, "references": references, "similarity_unit": unit}
        found = _solved(topic, _EXACT[seed % 3], **options)
        assert found.status.value == "optimal"
        assert found.objective == pytest.approx(best, abs=1e-12)
        assert found.bound == found.objective
        if best > 0:
            assert found.selection in sets


@pytest.mark.parametrize("seeds", blocks(0, 300, 20))
@pytest.mark.parametrize("strategy", ["milp", *_OTHERS])
def test_every_strategy_keeps_below_its_bound_and_the_optimum(strategy: str, seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        best, _ = best_by_trying(seed, 7, unit=_UNIT)
        found = _solved(topic, strategy)
        assert found.objective is not None
        assert found.bound is not None
        assert found.selection is not None
        assert found.objective == pytest.approx(recall_by_hand(topic, found.selection, unit=_UNIT), abs=1e-12)
        assert found.objective <= best + 1e-12 <= found.bound + 2e-12
        if strategy == "milp":
            assert found.status.value == "optimal"
            assert found.objective == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seeds", blocks(60))
def test_all_optima_and_what_is_near_them(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        options: Any = {"metric": "similarity", "max_length": 7, "keep_unmatched": True}
        best, sets = best_by_trying(seed, 7, unit=_UNIT)
        found = optsum.enumerate_optima(topic, **options)
        assert found.complete
        assert set(found) == sets
        near = optsum.enumerate_optima(topic, within="20%", **options)
        values = values_by_trying(seed, 7, unit=_UNIT)
        assert set(near) == {chosen for chosen, value in values.items() if value >= 0.8 * best - 1e-12}


@pytest.mark.parametrize("seeds", blocks(60))
def test_the_best_precision(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        found = _solved(topic, "auto", measure="precision")
        best = max(values_by_trying(seed, 7, precision_by_hand, unit=_UNIT).values())
        assert found.status.value == "optimal"
        assert found.objective == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seeds", blocks(40))
def test_the_reported_score_uses_unrounded_similarities(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        found = _solved(topic)
        assert found.selection is not None
        assert found.rouge is not None
        assert found.objective is not None
        truth = recall_by_hand(topic, found.selection, unit=10**12)
        assert found.rouge["similarity"]["recall"] == pytest.approx(truth, abs=1e-9)
        assert -1e-9 <= truth - found.objective <= 1 / _UNIT


def test_each_reference_has_its_own_vectors() -> None:
    topic = {
        "id": "t",
        "documents": [["a", "b"]],
        "references": [["x"], ["y"]],
        "vectors": {"sentences": [[1, 0], [0, 1]], "references": [[1, 0], [0, 1]]},
    }
    options: Any = {"metric": "similarity", "max_length": 1, "references": "each"}
    assert [found.selection for found in optsum.solve_all([topic], **options)] == [(0,), (1,)]
    weighted = {**topic, "vectors": {**topic["vectors"], "reference_weights": [1, 3]}}  # type: ignore[dict-item]
    assert _solved(weighted, max_length=1).selection == (1,)
    assert _solved(weighted, max_length=1, references="best").objective == 1
    assert _solved(weighted, max_length=1, references="first").selection == (0,)


def test_equal_vectors_have_the_similarity_one() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 30))
    sentences = [f"s{number}" for number in range(50)]
    topic = {
        "id": "t",
        "documents": [sentences],
        "references": [sentences],
        "vectors": {"sentences": vectors * rng.uniform(0.1, 1e100, (50, 1)), "references": vectors},
    }
    assert _solved(topic, max_length=50, similarity_unit=1_000_000).objective == 1


def test_vectors_of_zeros_are_like_nothing() -> None:
    topic = {
        "id": "t",
        "documents": [["a", "b"]],
        "references": [["x"]],
        "vectors": {"sentences": [[0.0, 0.0], [-1.0, 0.0]], "references": [[1.0, 0.0]]},
    }
    assert _solved(topic).objective == 0
    shifted = _solved(topic, metric="similarity-shifted")
    assert (shifted.objective, shifted.selection) == (0.5, (0,))


def test_a_limit_leaves_a_bound_of_all_levels() -> None:
    rng = np.random.default_rng(3)
    sentences = ["w " * int(rng.integers(5, 40)) for _ in range(150)]
    topic = {
        "id": "t",
        "documents": [sentences],
        "references": [["r"] * 80],
        "vectors": {"sentences": rng.normal(size=(150, 6)), "references": rng.normal(size=(80, 6))},
    }
    proven = _solved(topic, max_length=60)
    assert proven.status.value == "optimal"
    for limit in ({"node_limit": 1}, {"time_limit": 0.0}, {"time_limit": 0.02}):
        found = _solved(topic, max_length=60, **limit)
        assert found.bound is None or found.bound >= proven.objective  # type: ignore[operator]
        assert found.objective is None or found.objective <= proven.objective  # type: ignore[operator]


def test_levels_are_kept_until_the_optimum_reaches_all_floors() -> None:
    # One token is best met by long sentences that do not fit together with the sentence that meets the others.
    near = [[1 - 0.001 * place, 0.0] for place in range(200)]
    similar = np.array([*near, [0.1, 1.0]])
    topic = {
        "id": "t",
        "documents": [["w w"] * 201],
        "references": [["r", "s"]],
        "vectors": {"similarities": similar},
    }
    found = _solved(topic, max_length=2)
    assert (found.objective, found.selection) == (0.55, (200,))
    assert found.statistics["rounds"] > 1


_GOOD: dict[str, Any] = {
    "id": "t",
    "documents": [["a b", "c"]],
    "references": [["x y"]],
    "vectors": {"sentences": [[1.0, 0.0], [0.0, 1.0]], "references": [[1.0, 1.0]]},
}


@given(
    rows=st.lists(st.lists(st.floats(-9, 9), min_size=2, max_size=2), min_size=2, max_size=2),
    at=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    odd=st.sampled_from([True, False, np.True_, np.False_, "1", b"1", None, 1j, 1 << 70]),
    name=st.sampled_from(["sentences", "references", "sentence_of", "sentence_weights"]),
)
def test_values_that_are_no_numbers_are_refused(
    rows: list[list[Any]], at: tuple[int, int], odd: Any, name: str
) -> None:
    arrays: dict[str, Any] = {
        "sentences": rows, "references": rows, "sentence_of": [0, 1], "sentence_weights": [1.0, 2.0]
    }  # fmt: skip
    held = [list(row) if isinstance(row, list) else row for row in arrays[name]]
    if isinstance(held[0], list):
        held[at[0]][at[1]] = odd
    else:
        held[at[0]] = odd
    given_as: tuple[Any, ...] = (held, tuple(map(tuple, held)) if name in {"sentences", "references"} else tuple(held))
    for value in (*given_as, np.array(held, object)):
        with pytest.raises(InputError, match="not numbers"):
            _solved({**_GOOD, "references": [["x y", "z"]], "vectors": {**arrays, name: value}})


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"sentences": [[1.0, np.nan], [0.0, 1.0]]}, "NaN or infinity"),
        ({"references": [[np.inf, 1.0]]}, "NaN or infinity"),
        ({"sentences": [[1.0, 0.0]]}, 'there are 1 vectors, but 2 sentences; give "sentence_of"'),
        ({"sentences": [1.0, 0.0]}, "1 dimensions; it must be of shape"),
        ({"references": [[1.0, 0.0, 0.0]]}, "have 2 dimensions, and those of references 3"),
        ({"sentence_of": [0, 2]}, "numbered from 0 to 1"),
        ({"sentence_of": [0, 0.5]}, "numbered from 0 to 1"),
        ({"sentence_of": [0]}, "give a number for each"),
        ({"reference_weights": [-1.0]}, "negative weight"),
        ({"reference_weights": [0.0]}, "weight above 0"),
        ({"reference_weights": [1.0, 2.0]}, "give a weight for each"),
        ({"similarities": [[1.0], [0.0]]}, "give one of them"),
        ({"sentences": "no"}, "not numbers"),
        ({"sentences": [[1.0], [1.0, 2.0]]}, "rows of different lengths"),
        ({"vector": [1.0]}, "the names are"),
        ({"references": None}, 'no array "references"'),
    ],
)
def test_vectors_that_do_not_fit_are_refused(arrays: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _solved({**_GOOD, "vectors": {**_GOOD["vectors"], **arrays}})


def test_similarities_beyond_one_are_refused() -> None:
    with pytest.raises(InputError, match="from -1 to 1"):
        _solved({**_GOOD, "vectors": {"similarities": [[1.5], [0.0]]}})
    assert _solved({**_GOOD, "vectors": {"similarities": [[1.0], [0.25]]}}).objective == 1


def test_a_topic_without_vectors_is_told_how_to_get_some() -> None:
    with pytest.raises(InputError, match=r"vectors=FILE\.npz"):
        _solved({name: value for name, value in _GOOD.items() if name != "vectors"})


def test_unsupported_options_are_refused() -> None:
    for options, said in (
        ({"measure": "f1", "references": "mean"}, 'pooled", each, best or first'),
        ({"counts": "set"}, "not count n-grams"),
        ({"boundaries": "joined"}, "not count n-grams"),
        ({"model_units": "sentences"}, "not count n-grams"),
        ({"metric": "rouge-1+similarity"}, "cannot be combined"),
    ):
        with pytest.raises(UnsupportedError, match=said):
            _solved(_GOOD, **options)
    with pytest.raises(OptionError, match='give metric="similarity"'):
        _solved(_GOOD, metric="rouge-1", vectors="x.npz")


def test_embed_gives_vectors_of_sentences_or_of_tokens() -> None:
    topic = {name: value for name, value in _GOOD.items() if name != "vectors"}

    def of_sentences(texts: list[str]) -> Any:
        return np.array([[text.count("a") + text.count("x"), 1.0] for text in texts])

    def of_tokens(texts: list[str]) -> Any:
        return [np.array([[ord(word), 1.0] for word in text.split()]) for text in texts]

    options: Any = {"metric": "similarity", "max_length": 2}
    assert optsum.solve(topic, embed=of_sentences, **options).selection == (0,)
    tokens = optsum.with_vectors(topic, of_tokens)
    assert tokens.vectors is not None
    assert tokens.vectors.sentence_of.tolist() == [0, 0, 1]
    assert optsum.solve(tokens, **options).status.value == "optimal"
    with pytest.raises(InputError, match="returns 1 results for 2 texts"):
        optsum.solve(topic, embed=lambda texts: [[1.0]] * (len(texts) - 1 or 1), **options)


def test_embed_gives_each_of_many_topics_vectors_and_a_failure_is_the_row_of_its_topic(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> Any:
        if "z" in texts[0]:
            raise RuntimeError("out of memory")
        return np.array([[text.count("a") + text.count("x"), 1.0] for text in texts])

    topic = {name: value for name, value in _GOOD.items() if name != "vectors"}
    topics = [topic, {**topic, "id": "none", "documents": 3}, {**topic, "id": "z", "documents": [["z a"]]}, topic]
    options: Any = {"metric": "similarity", "max_length": 2, "embed": embed}
    first, bad, failed, last = optsum.solve_all(topics, **options)
    assert first.selection == last.selection == (0,)
    assert first.source
    assert bad.status.value == failed.status.value == "error"
    assert "documents" in str(bad.error)
    assert (failed.id, "out of memory" in str(failed.error)) == ("z", True)
    file = tmp_path / "topics.jsonl"
    file.write_text(json.dumps(topic) + "\n", encoding="utf-8")
    assert [result.selection for result in optsum.solve_all(file, workers=2, **options)] == [(0,)]
    with pytest.raises(InputError, match="a single topic"):
        optsum.solve_all(topic, **options)


@pytest.mark.parametrize("scale", [1e308, 1e200, 1e-200, 1e-307, 2e-323])
@pytest.mark.parametrize("references", ["pooled", "mean", "best"])
def test_the_score_of_vectors_of_any_size(scale: float, references: str) -> None:
    def scores(scale: float, weigh: float) -> Any:
        vectors = {
            "sentences": [[scale, 0], [scale, scale], [0, scale]],
            "references": [[scale, scale / 2], [scale / 4, scale]],
            "sentence_weights": [weigh, weigh, weigh],
            "reference_weights": [weigh, weigh / 2],
        }
        topic = {"id": "t", "documents": [["a b", "c d", "e f"]], "references": [["a"], ["b"]], "vectors": vectors}
        result = optsum.solve(topic, metric="similarity", max_length=2, references=references)
        assert result.rouge is not None
        return [*result.rouge["similarity"].values(), result.objective]

    plain = scores(4.0, 1.0)
    assert min(plain) > 0.5
    if scale > 1e-320:
        assert scores(scale, 1.0) == pytest.approx(plain, rel=1e-12)
        assert scores(4.0, scale) == pytest.approx(plain, rel=1e-12)
    else:
        assert 0 < min(scores(scale, 1.0)) <= max(scores(scale, 1.0)) <= 1


@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive", "greedy"])
def test_tokens_without_weight_count_for_recall_alone(strategy: str) -> None:
    vectors = {"sentences": [[1, 0], [1, 1]], "references": [[1, 0], [0, 1]], "sentence_weights": [0, 0]}
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a"], ["b"]], "vectors": vectors}
    result = optsum.solve(topic, metric="similarity", max_length=4, strategy=strategy)
    assert result.rouge is not None
    assert result.rouge["similarity"]["recall"] == pytest.approx(result.objective or 0, abs=1e-4)
    assert (result.rouge["similarity"]["precision"], result.rouge["similarity"]["f1"]) == (0.0, 0.0)


@pytest.mark.parametrize("measure", ["recall", "precision", "f1"])
def test_similarities_in_parts_are_those_of_all_at_once(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    texts = {"documents": [["a b c", "d e", "f", "g h"]], "references": [["a c", "f g"]]}
    vectors = {"sentences": rng.normal(size=(4, 6)).tolist(), "references": rng.normal(size=(2, 6)).tolist()}
    topic = {"id": "t", **texts, "vectors": vectors}
    options = {"metric": "similarity", "measure": measure, "max_length": 5}
    whole = optsum.solve(topic, **options)
    monkeypatch.setattr("optsum.formulations.extractive._AT_ONCE", 1)
    part = optsum.solve(topic, **options)
    assert (part.objective_exact, part.selection) == (whole.objective_exact, whole.selection)


class Lengthless(list[Any]):
    """A list that has no length, like a sparse matrix of scipy."""

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous")


@pytest.mark.parametrize(
    ("embed", "said"),
    [
        (lambda texts: np.ones(len(texts)), "a number for a text"),
        (lambda texts: {number: [1, 2] for number, _ in enumerate(texts)}, "a value of type dict"),
        (lambda texts: {(1, number) for number, _ in enumerate(texts)}, "a value of type set"),
        (lambda texts: (text for text in texts), "a value of type generator"),
        (lambda texts: Lengthless(list(texts)), "a value of type Lengthless"),
        (lambda texts: [[1] * (number + 1) for number, _ in enumerate(texts)], "vectors of 1 and 2 and 3 dimensions"),
        (lambda texts: np.ones((len(texts), len(texts))), "so fit a model before"),
        (lambda texts: np.ma.masked_less(np.zeros((len(texts), 2)), 1), "not numbers"),
    ],
)
def test_what_embed_returns_is_checked(embed: Any, said: str) -> None:
    topic = {"id": "t", "documents": [["a b", "c d", "e"]], "references": [["a b"]]}
    with pytest.raises(InputError, match=said):
        optsum.solve(topic, metric="similarity", max_length=2, embed=embed)
    (result,) = optsum.solve_all([topic], metric="similarity", max_length=2, embed=embed)
    assert said in (result.error or "")
    assert "fault of optsum" not in (result.error or "")


def test_vectors_come_from_one_place(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> Any:
        return np.ones((len(texts), 1))

    plain = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]]}
    own = {**plain, "vectors": {"similarities": [[0.5], [1.0]]}}
    np.savez(tmp_path / "v.npz", **{"t/similarities": np.array([[1.0], [0.5]])})
    options: Any = {"metric": "similarity", "max_length": 2}
    with pytest.raises(OptionError, match="Both embed and vectors"):
        optsum.solve(plain, embed=embed, vectors=str(tmp_path / "v.npz"), **options)
    with pytest.raises(OptionError, match="leave out embed"):
        optsum.solve(plain, embed=embed, max_length=2)
    with pytest.raises(InputError, match="vectors of its own"):
        optsum.solve(own, embed=embed, **options)
    with pytest.raises(InputError, match="vectors of its own"):
        optsum.solve(own, vectors=str(tmp_path / "v.npz"), **options)


def test_vectors_written_again_at_the_same_time_are_read_again(tmp_path: Path) -> None:
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]]}
    file, found = tmp_path / "v.npz", []
    for similar in ([[1.0], [0.5]], [[0.5], [1.0]]):
        np.savez(file, **{"t/similarities": np.array(similar)})
        os.utime(file, ns=(10**18, 10**18))
        found.append(optsum.solve(topic, metric="similarity", max_length=2, vectors=str(file)).selection)
    assert found == [(0,), (1,)]


@pytest.mark.parametrize("measure", ["recall", "precision", "f1"])
def test_weights_that_would_be_lost_are_refused(measure: str) -> None:
    """Test a sentence of which nothing is left, and many small weights of a reference."""
    arrays: dict[str, Any] = {"similarities": [[1.0], [0.5]], "sentence_weights": [1e-5, 1]}
    if measure == "recall":
        weights = [1.0, *[4e-5] * 20_000]
        arrays = {"similarities": np.full((2, len(weights)), 0.5), "reference_weights": weights}
        arrays["reference_of"] = np.zeros(len(weights))
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]]}
    with pytest.raises(InputError, match="would count as 0"):
        optsum.solve({**topic, "vectors": arrays}, metric="similarity", measure=measure, max_length=2)


def test_weights_that_lose_next_to_nothing_are_accepted() -> None:
    rng = np.random.default_rng(0)
    weights = np.exp(rng.normal(scale=4, size=200))
    weights /= weights.sum()
    arrays = {"similarities": rng.random((2, 200)), "reference_of": [0] * 200, "reference_weights": weights}
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]], "vectors": arrays}
    assert (weights < weights.max() / 20000).any()
    found = optsum.solve(topic, metric="similarity", max_length=2)
    best = float((arrays["similarities"] @ weights).max())
    assert found.objective == pytest.approx(best, abs=2e-3)


def test_masked_similarities_are_refused() -> None:
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]]}
    masked = np.ma.array([[0.9], [0.1]], mask=[[1], [0]])
    for similar in (masked, list(masked)):
        with pytest.raises(InputError, match="not numbers"):
            optsum.solve({**topic, "vectors": {"similarities": similar}}, metric="similarity", max_length=2)
    whole = np.ma.array([[1, 2], [3, 1]], mask=[[0, 0], [1, 0]])
    with pytest.raises(InputError):
        Coverage.facility(whole, 1)
