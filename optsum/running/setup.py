"""Options, resolved once into the arguments of each step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from optsum._version import __version__
from optsum.contracts.result import Result, Status, Termination
from optsum.errors import InputError, spoken
from optsum.metrics.names import parse_metric
from optsum.plugins import is_place
from optsum.text.tokenizer_check import nothing_left, tokenizer_check

if TYPE_CHECKING:
    from collections.abc import Hashable

    from optsum.contracts.run import Limits
    from optsum.contracts.strategy import Strategy
    from optsum.corpus.topic import Topic
    from optsum.metrics.metric import Metric
    from optsum.options.options import Options
    from optsum.problem.formulation import Formulation
    from optsum.problem.spec import Spec

_REPORTED = ("rouge-1", "rouge-2", "rouge-l")


@dataclass(frozen=True, eq=False, kw_only=True)
class Setup:
    """How topics are worked on. A process that it is sent to makes it anew from its options."""

    options: Options  # What it was made from.
    formulation: Formulation
    # spec, spec_of_tokens: what is optimized, with all units if the strategy must see them; the latter for topics that
    # come as tokens.
    spec: Spec
    spec_of_tokens: Spec
    strategy: Strategy
    limits: Limits
    scores: tuple[Metric, ...]  # Metrics that the finished text is scored by.
    blank: Result  # What a result says whatever is found: nothing is searched yet.
    # The kinds of problems that have been prepared for (`optsum.Problem.prepared_as`).
    ready: set[Hashable] = field(default_factory=set, init=False, repr=False)
    _warned: dict[str, tuple[Topic, str | None]] = field(default_factory=dict, init=False, repr=False)

    @property
    def best_of_references(self) -> bool:
        """Whether each reference is a problem, of which the best counts."""
        return self.options.references == "best"

    @cached_property
    def kinds(self) -> set[Hashable] | None:
        """`ready`; None where a third party's strategy is prepared, which may keep something of each problem."""
        return self.ready if is_ours(self.strategy) else None

    @property
    def ours(self) -> bool:
        """Whether formulation, strategy, metrics and tokenizer are optsum's own, so that any topic can be made up."""
        own_words = is_place(self.options.tokenizer or "")
        return not own_words and all(map(is_ours, (self.strategy, self.formulation, *self.scores)))

    @property
    def may_be_copied(self) -> bool:
        """Whether a process that is ready for this may be copied: it has loaded nothing of third parties but HiGHS.

        What they have may be a process or a connection, to which two would talk at once then.
        """
        return self.ours and self.options.backend in {None, "highs"}

    def __reduce__(self) -> tuple[Any, ...]:
        """Be sent as the options, which are small, and kept there as long as here."""
        return setup_of, (self.options,)

    def spec_for(self, topic: Topic) -> Spec:
        """Return what is optimized on a topic."""
        tokens = bool(topic.sentences) and all(isinstance(sentence, tuple) for sentence in topic.sentences)
        spec = self.spec_of_tokens if tokens else self.spec
        return replace(spec, max_length=_length_of_references(topic, spec)) if self.as_reference else spec

    @property
    def as_reference(self) -> bool:
        """Whether a summary may be as long as its topic's reference."""
        return self.options.max_length == "reference"

    def warning_of(self, topic: Topic) -> str | None:
        """Return what is to be said of a topic whose text the tokenizer or the stemmer spoils."""
        if not self.formulation.has_metric:
            return None
        last = self._warned.get("topic")
        if last is None or last[0] is not topic:  # it is asked when a topic is read, and when its problem is built
            texts = chain(topic.sentences, chain.from_iterable(topic.references))
            options, analyzer = self.options, self.spec_for(topic).analyzer
            in_words = options.max_length is not None and options.length_unit == "words"
            said = tokenizer_check(texts, analyzer, options.language, in_words=in_words)
            last = topic, None if said is None else spoken(said)
            self._warned["topic"] = last
        return last[1]

    def refuse_lost(self, topic: Topic) -> None:
        """Refuse a topic of which the tokenizer leaves almost nothing."""
        if not self.formulation.has_metric or not self.scores[0].of_texts:
            return
        texts = (topic.sentences, [sentence for reference in topic.references for sentence in reference])
        if (reason := nothing_left(texts, self.spec_for(topic).analyzer.tokenizer)) is not None:
            raise InputError(f"topic {topic.id!r}: {reason}")


def _length_of_references(topic: Topic, spec: Spec) -> int:
    """Return how long the reference is, or several are on average, rounded."""
    if not topic.references:
        raise InputError(f"topic {topic.id!r} has no reference that a summary could be as long as; give --max-length N")
    words = sum(spec.length_of(sentence) for reference in topic.references for sentence in reference)
    length = round(words / len(topic.references))
    if length < spec.min_length:
        raise InputError(
            f"the reference of topic {topic.id!r} has {length} {spec.length_unit}, and --min-length asks for "
            f"{spec.min_length}; give another limit"
        )
    return length


def is_ours(part: object) -> bool:
    """Whether a part is no third party's."""
    return type(part).__module__.partition(".")[0] == "optsum"


@lru_cache(maxsize=64)
def setup_of(options: Options) -> Setup:
    """Return what options come to."""
    strategy, formulation, spec = options.searcher(), options.formulated(), options.spec()
    if strategy.all_units:
        spec = spec.with_all_units()
    of_tokens = spec
    if options.tokenizer is None:
        of_tokens = replace(spec, analyzer=replace(spec.analyzer, tokenizer="tokens"))
    metric, reported = parse_metric(options.metric), map(parse_metric, _REPORTED)
    return Setup(
        options=options,
        formulation=formulation,
        spec=spec,
        spec_of_tokens=of_tokens,
        strategy=strategy,
        limits=options.limits(),
        scores=tuple(dict.fromkeys([*metric.components, *reported])),
        blank=Result(
            formulation=options.formulation,
            strategy=options.strategy,
            backend=strategy.backend_name,
            metric=options.metric if formulation.has_metric else None,
            status=Status.NO_SOLUTION,
            termination=Termination.INTERRUPTED,
            seed=options.seed,
            version=__version__,
            config_hash=options.config_hash,
        ),
    )
