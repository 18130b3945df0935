"""Options, resolved once into what each part of the work on a problem takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from optsum._version import __version__
from optsum.contracts.result import Result, Status, Termination
from optsum.metrics.names import parse_metric

if TYPE_CHECKING:
    from optsum.contracts.run import Limits
    from optsum.contracts.strategy import Strategy
    from optsum.corpus.topic import Topic
    from optsum.options.options import Options
    from optsum.problem.formulation import Formulation
    from optsum.problem.spec import Spec

__all__ = ["Way", "way_of"]

_REPORTED = ("rouge-1", "rouge-2", "rouge-l")


@dataclass(frozen=True, eq=False, kw_only=True)
class Way:
    """One way to work on topics.

    Attributes
    ----------
    formulation : Formulation
    spec, spec_of_tokens : Spec
        What is optimized, with all units if the strategy must see them; the latter for topics that come as tokens.
    strategy : Strategy
    limits : Limits
    seed : int
    best_of_references : bool
        Whether each reference is a problem, of which the best counts.
    scores : tuple of str
        Metrics that the finished text is scored by.
    blank : Result
        What a result says whatever is found: nothing is searched yet.
    """

    formulation: Formulation
    spec: Spec
    spec_of_tokens: Spec
    strategy: Strategy
    limits: Limits
    seed: int
    best_of_references: bool
    scores: tuple[str, ...]
    blank: Result

    def spec_for(self, topic: Topic) -> Spec:
        """Return what is optimized on a topic."""
        tokens = bool(topic.sentences) and all(isinstance(sentence, tuple) for sentence in topic.sentences)
        return self.spec_of_tokens if tokens else self.spec


@lru_cache(maxsize=64)
def way_of(options: Options) -> Way:
    """Return what options come to.

    Raises
    ------
    OptsumError
        If a name is unknown, or an option of a strategy or formulation cannot be.
    """
    strategy = options.searcher()
    specs = [options.spec(pretokenized=tokens) for tokens in (False, True)]
    plain, of_tokens = [spec.with_all_units() for spec in specs] if strategy.all_units else specs
    return Way(
        formulation=options.formulated(),
        spec=plain,
        spec_of_tokens=of_tokens,
        strategy=strategy,
        limits=options.limits(),
        seed=options.seed,
        best_of_references=options.references == "best",
        scores=tuple(dict.fromkeys([*(part.name for part in parse_metric(options.metric).components), *_REPORTED])),
        blank=Result(
            formulation=options.formulation,
            strategy=options.strategy,
            backend=strategy.backend_name,
            metric=options.reported_metric,
            status=Status.NO_SOLUTION,
            termination=Termination.INTERRUPTED,
            seed=options.seed,
            version=__version__,
            config_hash=options.config_hash,
        ),
    )
