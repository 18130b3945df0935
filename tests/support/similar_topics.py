"""Make random small topics with vectors, and find their best summaries by brute force, without code of the package."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import floor
from typing import Any

import numpy as np

__all__ = ["best_by_trying", "random_topic", "recall_by_hand", "values_by_trying"]


def random_topic(seed: int) -> dict[str, Any]:
    """Return a topic of up to 8 sentences whose vectors have ties, copies, zeros and opposite directions."""
    rng = np.random.default_rng(seed)
    sentences = [" ".join(["w"] * int(rng.integers(1, 6))) for _ in range(rng.integers(1, 9))]
    references = [["r s"] * int(rng.integers(1, 3)) for _ in range(rng.integers(1, 4))]
    width = int(rng.integers(1, 4))
    few = bool(rng.integers(2))  # few different numbers make ties

    def vectors(count: int) -> Any:
        made = rng.integers(-1, 3, (count, width)).astype(float) if few else rng.normal(size=(count, width))
        made[rng.random(count) < 0.1] = 0
        return made

    owner = np.sort(rng.integers(0, len(sentences), rng.integers(1, 3 * len(sentences) + 1)))
    model = np.concatenate([np.full(rng.integers(1, 5), number) for number in range(len(references))])
    arrays = {
        "sentences": vectors(len(owner)),
        "sentence_of": owner,
        "references": vectors(len(model)),
        "reference_of": model,
    }
    kind = rng.integers(3)
    if kind == 1:
        arrays["reference_weights"] = rng.integers(1, 4, len(model))
        arrays["sentence_weights"] = rng.integers(1, 4, len(owner))
    elif kind == 2:
        left, right = arrays.pop("sentences"), arrays.pop("references")
        arrays["similarities"] = np.array([[cosine(u, v) for v in right] for u in left])
    return {"id": f"t{seed}", "documents": [sentences], "references": references, "vectors": arrays}


def cosine(u: Any, v: Any) -> float:
    """Return the cosine of two vectors; 0 if either is 0."""
    size = float(np.sqrt(u @ u) * np.sqrt(v @ v))
    return max(-1.0, min(1.0, float(u @ v) / size)) if size else 0.0


def _tokens(topic: dict[str, Any], *, shifted: bool) -> tuple[list[list[float]], Any, Any, Any, Any]:
    arrays = topic["vectors"]
    if "similarities" in arrays:
        similar = arrays["similarities"].tolist()
    else:
        similar = [[cosine(u, v) for v in arrays["references"]] for u in arrays["sentences"]]
    counts = [[(1 + s) / 2 if shifted else max(0.0, s) for s in row] for row in similar]
    weights = arrays.get("reference_weights", np.ones(len(arrays["reference_of"])))
    own = arrays.get("sentence_weights", np.ones(len(arrays["sentence_of"])))
    return counts, arrays["sentence_of"].tolist(), arrays["reference_of"].tolist(), weights.tolist(), own.tolist()


def recall_by_hand(
    topic: dict[str, Any], chosen: tuple[int, ...], *, unit: int, shifted: bool = False, mean: bool = False
) -> float:
    """Return the recall of some sentences, with similarities rounded down to multiples of 1 / unit."""
    similar, sentence_of, reference_of, weights, _ = _tokens(topic, shifted=shifted)
    held = [token for token, sentence in enumerate(sentence_of) if sentence in chosen]
    best = [
        max((floor(similar[token][model] * unit + 1e-6) / unit for token in held), default=0.0)
        for model in range(len(reference_of))
    ]
    if not mean:
        return sum(map(float.__mul__, map(float, weights), best)) / sum(weights)
    found = []
    for reference in range(len(topic["references"])):
        mine = [model for model, of in enumerate(reference_of) if of == reference]
        found.append(sum(weights[m] * best[m] for m in mine) / sum(weights[m] for m in mine))
    return sum(found) / len(found)


def precision_by_hand(topic: dict[str, Any], chosen: tuple[int, ...], *, unit: int) -> float:
    """Return the precision of some sentences, as the mean over the references."""
    similar, sentence_of, reference_of, _, own = _tokens(topic, shifted=False)
    held = [token for token, sentence in enumerate(sentence_of) if sentence in chosen]
    if not held:
        return 0.0
    found = 0.0
    for reference in range(len(topic["references"])):
        mine = [model for model, of in enumerate(reference_of) if of == reference]
        top = sum(own[t] * max(floor(similar[t][m] * unit + 1e-6) / unit for m in mine) for t in held)
        found += top / sum(own[t] for t in held)
    return found / len(topic["references"])


def f1_by_hand(topic: dict[str, Any], chosen: tuple[int, ...], *, unit: int) -> float:
    """Return the harmonic mean of recall and precision."""
    recall, precision = recall_by_hand(topic, chosen, unit=unit), precision_by_hand(topic, chosen, unit=unit)
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def feasible(topic: dict[str, Any], max_length: int) -> list[tuple[int, ...]]:
    """Return all selections within the length."""
    lengths = [len(sentence.split()) for sentence in topic["documents"][0]]
    places = range(len(lengths))
    every = (chosen for size in range(len(lengths) + 1) for chosen in combinations(places, size))
    return [chosen for chosen in every if sum(lengths[place] for place in chosen) <= max_length]


@cache
def values_by_trying(
    seed: int, max_length: int, value: Callable[..., float] = recall_by_hand, **how: Any
) -> dict[tuple[int, ...], float]:
    """Return the value of all selections of a random topic, cached, because several tests compare with them."""
    topic = random_topic(seed)
    return {chosen: value(topic, chosen, **how) for chosen in feasible(topic, max_length)}


def best_by_trying(seed: int, max_length: int, **how: Any) -> tuple[float, set[tuple[int, ...]]]:
    """Return the best recall of a random topic, and all selections that reach it."""
    values = values_by_trying(seed, max_length, **how)
    best = max(values.values())
    return best, {chosen for chosen, value in values.items() if abs(value - best) < 1e-12}
