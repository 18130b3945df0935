"""Define a topic that every formulation serves, and objectives for it, on which all kernels are tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.registry import STRATEGIES

OBJECTIVES: dict[str, dict[str, Any]] = {
    "recall": {"max_length": 20},
    "window": {"max_length": 20, "min_length": 15},
    "f1": {"measure": "f1"},
    "mean f1": {"measure": "f1", "references": "mean", "max_length": 20},
    "joined": {"metric": "rouge-2", "boundaries": "joined", "max_length": 20},
    "joined f1": {"metric": "rouge-2", "boundaries": "joined", "measure": "f1", "max_length": 20},
    "compressive": {"formulation": "compressive", "metric": "rouge-2", "max_length": 20},
    "cover": {"formulation": "cover"},
}
BUDGETS: dict[str, dict[str, Any]] = {
    "vns": {"strategy_options": ["no_improvement=15"]},
    "vns+greedy": {"strategy_options": ["no_improvement=15"]},
    "genetic": {"strategy_options": ["population=10", "no_improvement=4"]},
    "genetic+greedy": {"strategy_options": ["population=10", "no_improvement=4"]},
    "vns-paper": {"strategy_options": ["iterations=60"]},
    "vns-paper+greedy": {"strategy_options": ["iterations=60"]},
}
"""Of searches that would go on long after they have called all that they call."""

_ALL_OF = {"recall", "joined"}


def strategies_for(objective: str) -> list[str]:
    """Return the strategies to try; chains such as ``greedy+vns`` only on the objectives in `_ALL_OF`."""
    names = STRATEGIES.names()
    return [name for name in names if objective in _ALL_OF or "+" not in name or not set(name.split("+")) <= {*names}]


def topic(
    seed: int, sentences: int, *, words: int, longest: int, covered: int, alternative: int, references: tuple[int, int]
) -> dict[str, Any]:
    """Return a random topic that bounds alone do not solve; `references` gives their number and their words."""
    rng = np.random.default_rng(seed)
    known = [f"w{number}" for number in range(words)]
    texts = [" ".join(rng.choice(known, 3 + number % (longest - 2)).tolist()) for number in range(sentences)]
    parses = [
        "\n".join(
            f"{n}\t{word}\t_\tX\t_\t_\t{n // 2}\t{'dep' if n > 1 else 'root'}\t_\t_"
            for n, word in enumerate(text.split(), 1)
        )
        for text in texts
    ]
    cover = [
        [[int(unit)] for unit in rng.choice(sentences, alternative)] + [[number, number + 1]]
        for number in range(covered)
    ]
    many, long = references
    models = [[" ".join(rng.choice(known, long).tolist()) for _ in range(many)] for _ in range(2)]
    return {"id": "t", "documents": [texts], "parses": parses, "references": models, "cover": cover}
