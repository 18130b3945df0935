"""What studies that run heuristics have in common with `optsum compare`: several seeds, and more time for proofs."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from optsum.running.plan import seeds_of

__all__ = ["ExactSeconds", "Seed", "Seeds"]


def _listed(given: Any) -> str | None:
    """Return seeds as text that names each."""
    return None if given is None else ",".join(map(str, seeds_of(given)))


Seed: TypeAlias = Annotated[int, Field(ge=0, description="the same seed gives the same tables")]
Seeds: TypeAlias = Annotated[
    str | None,
    BeforeValidator(_listed),
    Field(description="run what proves nothing with each; 0:10 are ten [that of --seed]"),
]
ExactSeconds: TypeAlias = Annotated[
    float | None, Field(ge=0, description="seconds of search per problem for what proves, instead of --time-limit")
]
