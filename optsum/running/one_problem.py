"""Solve one topic, as one problem or one for each reference: resolve options, warm up, build, search, report."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import chain
from math import fsum, inf
from time import perf_counter
from typing import Any, Final, TypeAlias, TypeVar

from optsum._version import __version__
from optsum.contracts.result import Result, Status, Timing
from optsum.contracts.strategy import Strategy
from optsum.corpus.topic import Topic, as_topic, digest_of_vectors, read_vectors
from optsum.coverage.instance import NO_LIMIT, Coverage, Key, Sense
from optsum.errors import BackendError, InputError, OptionError, OptsumError, UnsupportedError, describe, spoken
from optsum.metrics.rouge import Metric, agreed_reference, parse_metric, score_row
from optsum.options.options import OF_WORKERS, Options, ScoreOptions
from optsum.plugins import is_place
from optsum.problem.formulation import Formulation, Spec, Task
from optsum.problem.problem import CoverageProblem
from optsum.registry import DEFAULT_HEURISTIC, STRATEGIES
from optsum.running.search import exact_text, get_ready, is_ours, searched
from optsum.system.clock import INTERRUPTED_S, LIMIT_OPTIONS, NEVER, Deadline, Limits, Stopped, Termination, clock
from optsum.system.files import forget, of_files
from optsum.system.processes.signal_guard import postponing
from optsum.text.analyzer import nothing_left, stems_another, tokenizer_check

_LOG = logging.getLogger("optsum")


@dataclass(frozen=True, eq=False, kw_only=True)
class Setup:
    """The objects that options describe, such as the strategy; pickled as the options, and made again from them."""

    options: Options  # The options that were resolved.
    formulation: Formulation
    # spec, spec_of_tokens: the objective for topics given as text and as tokens, with all units if the strategy needs
    # them.
    spec: Spec
    spec_of_tokens: Spec
    strategy: Strategy
    limits: Limits
    scores: tuple[Metric, ...]  # Metrics by which the summary found is scored.
    blank: Result  # The fields of a result that do not depend on the search.
    has_other_files: bool = False  # Whether a file that an option names changed after the options were sent.
    # The kinds of problems (`optsum.Problem.prepared_as`) for which this process and the strategy are prepared.
    ready: set[Hashable] = field(default_factory=set, init=False, repr=False)
    _faults: dict[str, tuple[Topic, str | None, str | None]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def best_of_references(self) -> bool:
        return self.options.references == "best"

    @cached_property
    def stems_another(self) -> bool:
        return stems_another(self.spec.analyzer, self.options.language)

    @property
    def ours(self) -> bool:
        """Whether formulation, strategy, metrics and tokenizer are optsum's own: a sample topic can warm them up."""
        own_words = is_place(self.options.tokenizer or "")
        return not own_words and all(map(is_ours, (self.strategy, self.formulation, *self.scores)))

    @property
    def may_be_copied(self) -> bool:
        """Whether a prepared process may be forked: third-party code other than HiGHS might hold connections."""
        return self.ours and self.options.backend in {None, "highs"}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the options, which are small; another process resolves them once, and caches the setup."""
        return _setup_sent, (self.options, self.blank.config_hash)

    def spec_of_text(self, topic: Topic) -> Spec:
        """Return the specification for a topic of text or of tokens; a maximum length by its references is not set."""
        tokens = bool(topic.sentences) and all(isinstance(sentence, tuple) for sentence in topic.sentences)
        return self.spec_of_tokens if tokens else self.spec

    def spec_for(self, topic: Topic) -> Spec:
        spec = self.spec_of_text(topic)
        if self.options.references == "each" and topic.references:  # files of constraints name the whole topic
            held = {name: getattr(spec.sides, name) for name in ("exclusive", "requires")}
            own: dict[str, Any] = {
                name: {topic.id: each.get(topic.id, each.get(self._named(topic), ()))}
                for name, each in held.items()
                if isinstance(each, Mapping)
            }
            spec = replace(spec, sides=replace(spec.sides, **own)) if own else spec
        if self.options.max_length != "reference":
            return spec
        return replace(spec, max_length=_length_of_references(topic, spec))

    def faults_of(self, topic: Topic) -> tuple[str | None, str | None]:
        """Return an error (almost all text is dropped) and a warning (text is damaged, constraints lack), or None."""
        names = {topic.id, self._named(topic)}
        sides = {name: getattr(self.spec.sides, name) for name in ("exclusive", "requires")}
        lacking = [name for name, each in sides.items() if isinstance(each, Mapping) and names.isdisjoint(each)]
        unlisted = f"--{lacking[0]} lists nothing for {topic.id!r}; an empty list confirms this" if lacking else None
        if not self.formulation.has_metric:
            return None, unlisted
        last = self._faults.get("topic")
        if last is None or last[0] is not topic:  # called when a topic is read, and again when its problem is built
            texts = topic.sentences, list(chain.from_iterable(topic.references))
            sentences: list[Any] = list(chain(*texts))
            plain = set(map(type, sentences)) <= {str} and "".join(sentences).isascii()  # which no tokenizer damages
            last = topic, None, None
            if not plain or self.stems_another:
                options, analyzer = self.options, self.spec_of_text(topic).analyzer
                lost = nothing_left(texts, analyzer.tokenizer) if self.scores[0].of_texts else None
                in_words = options.max_length is not None and options.length_unit == "words"
                said = tokenizer_check(sentences, analyzer, options.language, in_words=in_words)
                last = topic, lost, None if said is None else spoken(said)
            self._faults["topic"] = last
        return last[1], last[2] or unlisted

    def _named(self, topic: Topic) -> str:
        return topic.id.rpartition("#")[0] if self.options.references == "each" else topic.id

    def is_spoiled(self, topic: Topic) -> bool:
        """Return whether the tokenizer or the stemmer damages a topic, or the check itself fails."""
        try:
            return any(self.faults_of(topic))
        except Exception:  # noqa: BLE001 - raised again when the topic is searched by itself
            return True


def _length_of_references(topic: Topic, spec: Spec) -> int:
    if not topic.references:
        raise InputError(f"topic {topic.id!r} has no reference that gives the maximum length; give --max-length N")
    words = sum(spec.length_of(sentence) for reference in topic.references for sentence in reference)
    length = round(words / len(topic.references))
    if length < spec.min_length:
        raise InputError(
            f"the references of topic {topic.id!r} give a maximum length of {length} {spec.length_unit}, which is "
            f"below --min-length {spec.min_length}; lower --min-length, or give --max-length N"
        )
    return length


@lru_cache(maxsize=64)
def _setup_sent(options: Options, config_hash: str) -> Setup:
    """Return the setup of options from another process; it is marked if files in the options have changed since."""
    if options.config_hash != config_hash:
        forget()
    setup = setup_of(options)
    return setup if options.config_hash == config_hash else replace(setup, has_other_files=True)


@of_files
@lru_cache(maxsize=64)
def setup_of(options: Options) -> Setup:
    strategy, formulation, spec = options.searcher(), options.formulated(), options.spec()
    if strategy.all_units:
        spec = spec.with_all_units()
    of_tokens = spec
    if options.tokenizer is None:
        of_tokens = replace(spec, analyzer=replace(spec.analyzer, tokenizer="tokens"))
    reported = map(parse_metric, ("rouge-1", "rouge-2", "rouge-l"))
    return Setup(
        options=options,
        formulation=formulation,
        spec=spec,
        spec_of_tokens=of_tokens,
        strategy=strategy,
        limits=Limits.named({name: getattr(options, name) for name in LIMIT_OPTIONS}),
        scores=tuple(dict.fromkeys([*parse_metric(options.metric).components, *reported])),
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


def problems(topic: Topic, setup: Setup) -> Iterator[Topic]:
    """Yield the problems of a topic, by the option `references`: the topic, or copies with one reference each.

    With "best" it keeps all references, which are searched one by one later; with "agreed" the one that agrees best
    with another. If the time limit comes first, it keeps all, and `build` refuses it.
    """
    options = setup.options
    if options.vectors is not None:
        if topic.vectors is not None:
            raise InputError(f"topic {topic.id!r} has vectors of its own, and --vectors others: leave out one of them")
        topic = read_vectors(topic, options.vectors)
    if options.references == "each" and topic.references:
        for number in range(len(topic.references)):
            yield replace(topic.with_references([number]), id=f"{topic.id}#{number}")
        return
    if options.references == "first":
        topic = part_of(topic, 0)
    elif options.references == "agreed" and topic.references:
        spec = setup.spec_of_text(topic)
        with suppress(Stopped):
            number = agreed_reference(
                topic.references,
                spec.metric,
                spec.measure,
                setup.limits.building().check,
                analyzer=spec.analyzer,
                counts=spec.counts,
                boundaries=spec.boundaries,
                last_unigram=True,
                model_units=spec.model_units,
            )
            topic = topic.with_references([number])
    yield topic


def of_one_problem(topic: Topic, options: Options, work: Callable[[Topic, Setup], Result]) -> Result:
    """Return the result of `work` on the only problem of a topic, with the text of the topic for notebooks."""
    setup = setup_of(options)
    part, ready = single_problem(topic, setup), warm_up(setup)
    return charged(work(part, setup), ready, source=part.documents)


def charged(result: Result, ready: float, **others: Any) -> Result:
    """Return a result with the seconds of the warm-up, unless these are 0, and with other fields (`others`) changed."""
    if ready:
        others["timing"] = replace(result.timing, warm_up_s=ready)
    return result.changed(**others) if others else result


def single_problem(topic: Topic, setup: Setup) -> Topic:
    parts = list(problems(topic, setup))
    if (warning := setup.faults_of(topic)[1]) is not None:
        _LOG.warning("topic %r: %s", topic.id, warning)
    if len(parts) != 1:
        raise OptionError(
            'A topic with several references is several problems with references="each": use solve_all for them, or '
            "give one reference."
        )
    return parts[0]


T = TypeVar("T")
Single: TypeAlias = Callable[[int, Topic, Setup, "Key | None", "Key | None"], Result]
"""Searches a topic with one reference, given its number, the topic, setup, root bound and cutoff (None if unknown)."""

_LARGE: Final = 100  # Sentences from which on all references are bounded before any is searched exactly.
_KEPT: Final = 16  # Largest number of references whose tasks are kept for a second search.
_LEAST_MORE: Final = Fraction(1, 10**9)  # Share by which a cutoff is lowered so that equal values are still found.
_LEAST_S: Final = 0.02  # Least time limit (s) of a reference, however many there are; greedy search needs less.
_PROVEN = {Status.OPTIMAL, Status.INFEASIBLE}


def best_of_references(topic: Topic, setup: Setup, single: Single) -> Result:
    """Return the result of the reference with the largest value.

    For a topic of many sentences, every reference is first searched greedily and bounded; then the exact strategy
    searches those whose bound is unknown or reaches the best known value. If the best is not proven, each selection
    found is evaluated on all references, because its value may be larger on another one. All references share one time
    limit, and half a second after it; thousands may need more time, and then the result has no bound.
    """
    began, over = clock(), too_late(setup)
    large = len(topic.sentences) >= _LARGE and len(topic.references) > 1
    bounded = large and setup.strategy.exact and setup.options.bound != "none"
    first = replace(setup, strategy=STRATEGIES.create(DEFAULT_HEURISTIC, {})) if bounded else setup
    results = for_each_reference(
        topic,
        first,
        lambda number, part, share: single(number, part, share, None, None),
        unsearched=lambda part, why: unsolved(part.id, setup, why),
        result_of=lambda result: result,
        over=over,
    )
    if bounded:
        _search_hopeful(results, topic, setup, single, began, over)
    best = best_result(results).changed(strategy=setup.strategy.name)
    if best.status in _PROVEN:
        return best
    found = [result.selection for _, result in results if result.selection is not None]
    interrupted = best.termination is Termination.INTERRUPTED
    deadline = Deadline(INTERRUPTED_S if interrupted else max(over.left_s, INTERRUPTED_S))
    try:
        for place, (number, old) in enumerate(results):
            if deadline.passed:
                break
            results[place] = number, _with_best(part_of(topic, number), setup, old, found, deadline)
    except KeyboardInterrupt:
        return best.changed(termination=Termination.INTERRUPTED)
    return best_result(results).changed(strategy=setup.strategy.name)


def _search_hopeful(
    results: list[tuple[int, Result]], topic: Topic, setup: Setup, single: Single, began: float, over: Deadline
) -> None:
    """Replace greedy results by exact results where the bound allows the largest value, the most promising first."""
    # Index of a result -> time limit (s) of the last exact search of its reference, which is repeated if others have
    # left it more time.
    given: dict[int, float] = {}

    def hope(place: int) -> tuple[bool, bool, Key, int]:
        bound = results[place][1].bound_key
        return place not in given, bound is None, results[place][1].key or 0, -place

    while not over.passed:
        limits = setup.limits.after(clock() - began)
        left_s = inf if limits.time_s is None else limits.time_s
        top = max((result.key for _, result in results if result.key is not None), default=None)
        left = [
            place
            for place, (_, result) in enumerate(results)
            if result.bound_key is None or top is None or result.bound_key >= top
            if place not in given or (result.termination is Termination.TIME_LIMIT and left_s > given[place])
        ]
        if not left:
            return
        place = max(left, key=hope)
        number, quick = results[place]
        if quick.termination is Termination.INTERRUPTED:
            return
        share_s = None if limits.time_s is None else _next_share(left_s, len(left), given.get(place))
        share = replace(limits, time_s=share_s, grace_s=limits.grace_s / len(results))
        given[place] = inf if share_s is None else share_s
        try:
            given_share = replace(setup, limits=share)
            result = single(number, part_of(topic, number), given_share, quick.bound_key, _cutoff_of(results, place))
        except KeyboardInterrupt:
            results[place] = number, quick.changed(termination=Termination.INTERRUPTED)
            return
        results[place] = number, _merged(quick, result)
        if result.termination is Termination.INTERRUPTED:
            return


def _next_share(left_s: float, searches: int, given_s: float | None) -> float:
    """Return a time limit (s): half of an equal share first, and at least twice what was `given_s` from then on.

    Often all references but one are soon done, which leaves more than an equal share to the one that needs it.
    """
    if searches == 1:
        return left_s
    return left_s / searches / 2 if given_s is None else max(left_s / searches, min(left_s, 2 * given_s))


def _cutoff_of(results: Sequence[tuple[int, Result]], place: int) -> Key | None:
    """Return the value that the reference at `place` must exceed to be the best, as ties go to the first, or None."""
    keys = {other: result.key for other, (_, result) in enumerate(results) if other != place and result.key is not None}
    if not keys:
        return None
    best = max(keys, key=keys.__getitem__)  # the first of equal ones
    return Fraction(keys[best]) * (1 - _LEAST_MORE) if place < best else keys[best]


def _merged(quick: Result, result: Result) -> Result:
    """Return the result of both searches of a reference: the better selection, and the tighter bound."""
    bounded = [each for each in (quick, result) if each.bound_key is not None]
    tight = min(bounded, key=lambda each: each.bound_key or 0, default=result)
    if quick.key is not None and (result.key is None or quick.key > result.key):
        result = quick.changed(termination=result.termination, detail=result.detail, statistics=result.statistics)
    return result.changed(
        bound=tight.bound,
        bound_exact=tight.bound_exact,
        seconds=quick.seconds + result.seconds,
        evaluations=quick.evaluations + result.evaluations,
        nodes=quick.nodes + result.nodes,
        timing=Timing.total([quick.timing, result.timing]),
    )


def part_of(topic: Topic, number: int) -> Topic:
    return topic.with_references([number]) if len(topic.references) > 1 else topic


def for_each_reference(
    topic: Topic,
    setup: Setup,
    answer: Callable[[int, Topic, Setup], T],
    unsearched: Callable[[Topic, Termination], T],
    result_of: Callable[[T], Result],
    over: Deadline,
) -> list[tuple[int, T]]:
    """Return the number and the `answer` of each reference, without those that raise an `InputError`.

    `answer` gets the setup with an even share of the time that is left. After Ctrl-C, or when `over` has passed, the
    other references get `unsearched` answers. `result_of`: returns the result of an answer.
    """
    found: list[tuple[int, T]] = []
    refused: InputError | None = None
    why: Termination | None = None
    began, all_of_them = clock(), max(1, len(topic.references))
    grace_s = max(setup.limits.grace_s / all_of_them, _LEAST_S)
    for number in range(all_of_them):
        if why is None and found and over.passed:
            why = Termination.TIME_LIMIT
        try:
            limits = setup.limits.after(clock() - began)
            time_s = limits.time_s and max(limits.time_s / (all_of_them - number), min(limits.time_s, _LEAST_S))
            share = replace(setup, limits=replace(limits, time_s=time_s, grace_s=grace_s))
            own = answer(number, part_of(topic, number), share) if why is None else unsearched(topic, why)
            found.append((number, own))
            if result_of(found[-1][1]).termination is Termination.INTERRUPTED:
                why = Termination.INTERRUPTED
        except InputError as error:
            refused = refused or error
        except KeyboardInterrupt:
            if not found:
                raise
            why = Termination.INTERRUPTED
            found.append((number, unsearched(topic, why)))
    if not found and refused is not None:
        raise refused
    return found


def too_late(setup: Setup) -> Deadline:
    """Return the deadline after which no further reference is searched: the time limit and its grace."""
    return Deadline(setup.limits.time_s).later(setup.limits.grace_s)


def best_result(results: Sequence[tuple[int, Result]]) -> Result:
    """Return the best result of all references (the first in case of ties) as the result of the topic.

    It is optimal only if no other reference can have a larger value: each is solved, or its bound is not larger. The
    bound is the largest bound; times and counts are summed.
    """
    held = [(number, result) for number, result in results if result.key is not None]
    bounds = [result.bound_key for _, result in results if result.status is not Status.INFEASIBLE]
    known: list[Key] = [bound for bound in bounds if bound is not None]
    largest = max(known) if known and len(known) == len(bounds) else None
    number, best = max(held, key=lambda one: (one[1].key or 0, -one[0])) if held else results[0]
    top = best.key
    others = [result for _, result in results if result is not best]
    proven = best.status in _PROVEN and all(
        result.status is Status.INFEASIBLE or (top is not None and reaches(top, result)) for result in others
    )
    statistics: dict[str, Any] = dict(best.statistics)
    if estimates := [result.estimate_s for _, result in results if result.estimate_s is not None]:
        statistics["estimate_s"] = fsum(estimates)
    statistics["reference_objectives"] = {str(number): result.objective for number, result in results}
    status, termination = best.status, best.termination
    if proven and not any(result.termination is Termination.INTERRUPTED for result in others):
        termination = termination if status is Status.OPTIMAL else Termination.COMPLETED
    else:
        status = {Status.OPTIMAL: Status.FEASIBLE, Status.INFEASIBLE: Status.NO_SOLUTION}.get(status, status)
        reasons = [result.termination for result in (best, *others)]
        stopped = [reason for reason in reasons if reason is not Termination.COMPLETED]
        termination = Termination.INTERRUPTED if Termination.INTERRUPTED in stopped else [*stopped, *reasons][0]
    source = next((result for _, result in results if largest is not None and result.bound_key == largest), None)
    return best.changed(
        status=status,
        termination=termination,
        bound=None if source is None else source.bound,
        bound_exact=None if source is None else source.bound_exact,
        seconds=fsum(result.seconds for _, result in results),
        evaluations=sum(result.evaluations for _, result in results),
        nodes=sum(result.nodes for _, result in results),
        timing=Timing.total(result.timing for _, result in results),
        statistics=statistics,
        extra={**best.extra, "reference": number if held else None},
    )


def reaches(key: Key, result: Result) -> bool:
    """Return whether a value is proven to be at least as good as every selection of a problem."""
    if result.status is Status.OPTIMAL and result.key is not None:
        return key >= result.key
    return result.bound_key is not None and key >= result.bound_key


def _with_best(part: Topic, setup: Setup, old: Result, found: Iterable[tuple[Any, ...]], deadline: Deadline) -> Result:
    """Return the result of a reference, with the best selection in `found` (names of units) if that is better."""
    try:
        task = setup.formulation.task(part, setup.spec_for(part).with_all_units().until(deadline))
    except Stopped:
        return old
    number_of, held = task.numbers(), old
    for names in dict.fromkeys(found):
        if not number_of.keys() >= set(names):
            continue
        selection = tuple(sorted({number_of[name] for name in names}))
        worth = task.problem.evaluate(selection)
        if worth.feasible and (held.key is None or task.problem.sense.better(worth.key, held.key)):
            value = {"objective": float(worth.value), "objective_exact": exact_text(worth.key)}
            held = old.changed(status=Status.FEASIBLE, selection=selection, **value)
    if held is old:
        return old
    now = clock()
    result = finished(task, setup, held, began=now, built=now)
    return result.changed(seconds=old.seconds, timing=old.timing, statistics=old.statistics)


def unsolved(name: str | None, setup: Setup, why: Termination | Stopped, *, seconds: float = 0.0) -> Result:
    timing = Timing(text_s=seconds, search_s=0.0)
    own: dict[str, Any] = {"statistics": {}, "extra": {}}  # new objects, which no other result shares
    stop = why if isinstance(why, Stopped) else Stopped(why)
    own |= {"termination": stop.termination, "detail": stop.detail}
    return setup.blank.changed(id=name, seconds=seconds, timing=timing, **own)


def finished(task: Task, setup: Setup, result: Result, *, began: float, built: float) -> Result:
    """Return a result with names of units, text and scores; `began`, `built`: when building and the search began."""
    found: dict[str, Any] = {}
    more: Mapping[str, Any] = {}
    if result.selection is not None:
        totals = task.problem.totals(result.selection)
        if len(totals) == 2 and setup.formulation.sense is Sense.MAXIMIZE and setup.formulation.reads_topics:
            found["numerator"], found["denominator"] = totals
        found["selection"] = task.name_units(result.selection)
        found["length"] = task.length(result.selection)
        more = task.found(result.selection)
        if (text := task.text(result.selection)) is not None:
            found["summary"] = text
        if (scores := task.scores(result.selection, setup.scores)) is not None:
            found["rouge"] = {name: score_row(score) for name, score in scores.items()}
    statistics, ended = result.statistics, clock()
    return result.changed(
        id=task.id,
        formulation=setup.blank.formulation,
        metric=setup.blank.metric,
        seed=setup.options.seed,
        seconds=ended - began,
        timing=Timing(text_s=built - began, search_s=result.seconds, bound_s=result.timing.bound_s),
        statistics={**statistics, **task.notes} if task.notes else statistics,
        config_hash=setup.blank.config_hash,
        signature=signature_of(setup, task.analyzer.tokenizer),
        extra={
            **result.extra,
            **more,
            **{name: statistics[name] for name in ("ran", "feasible") if name in statistics},
        },
        **found,
    )


def count_sentences(topic: Topic) -> int | None:
    """Return the number of sentences of a topic; None for a cover whose sentences have ids of their own."""
    return None if topic.cover is not None and "sentence_ids" in topic.meta else len(topic.sentences)


@postponing()
def build(topic: Topic, setup: Setup, deadline: Deadline = NEVER, *, keep_unmatched: bool = False) -> Task:
    """Build the task of a topic; `keep_unmatched`: keep units that match no reference, whatever the options say."""
    if setup.best_of_references and len(topic.references) > 1:
        raise OptionError(
            'With references="best" a topic with several references means several problems: give one reference.'
        )
    if setup.options.references == "agreed" and (number := len(topic.references)) > 1:
        raise Stopped(
            Termination.TIME_LIMIT,
            f"the time limit was reached before it was known which of the {number} references agrees best with another",
        )
    if setup.has_other_files:
        raise InputError("a file that an option names (such as stop words) was changed during this run: run it again")
    lost, warning = setup.faults_of(topic)
    if lost is not None:
        raise InputError(f"topic {topic.id!r}: {lost}")
    spec = setup.spec_for(topic)
    spec = replace(spec, keep_unmatched=True) if keep_unmatched else spec
    task = setup.formulation.task(topic, spec.until(deadline))
    task = task if warning is None else replace(task, notes={**task.notes, "warning": warning})
    return task if topic.start is None else replace(task, start=topic.start)


@postponing()
def answer(topic: Topic, setup: Setup) -> Result:
    """Search a topic as one problem, or as one problem for each reference if the best reference counts."""
    if setup.best_of_references:
        built: dict[int, Task] | None = {} if len(topic.references) <= _KEPT else None
        result = best_of_references(topic, setup, partial(_built_and_run, built))
    else:
        result = _built_and_run(None, 0, topic, setup)
    vars(result)["sentence_count"] = count_sentences(topic)  # the result is new, and `changed` takes longer
    return result


def _built_and_run(
    built: dict[int, Task] | None,
    number: int,
    topic: Topic,
    setup: Setup,
    root_bound: Key | None = None,
    cutoff: Key | None = None,
) -> Result:
    """Build and search the task of a reference; `built`: keeps tasks by `number` for searches of the same reference."""
    began = clock()
    task = None if built is None else built.get(number)
    if task is None:
        try:
            task = build(topic, setup, setup.limits.building())
        except Stopped as stop:
            return unsolved(topic.id, setup, stop, seconds=clock() - began)
        if built is not None:
            built[number] = task
    return run_task(task, setup, began=began, root_bound=root_bound, cutoff=cutoff)


def run_task(
    task: Task, setup: Setup, *, began: float | None = None, root_bound: Key | None = None, cutoff: Key | None = None
) -> Result:
    """Search a task, and return the `finished` result; `began`: its begin (default: now). Callers postpone Ctrl-C."""
    # A topic's randomness depends on its id, not on its place in the file or on the worker that gets it.
    seed = setup.options.seed + zlib.crc32(task.id.encode("utf-8", "surrogatepass"))
    built = clock()
    began = built if began is None else began
    limits = setup.limits if setup.limits.time_s is None else setup.limits.after(built - began)
    bound = "none" if setup.options.bound == "none" else "root"
    start = None if task.start is None else task.selection_of(task.start)
    ready = setup.ready if is_ours(setup.strategy) else None  # a third party's is prepared for each problem
    known: dict[str, Any] = {"root_bound": root_bound, "cutoff": cutoff, "bound": bound, "start": start}
    result = searched(task.problem, setup.strategy, limits, seed, ready=ready, **known)
    return finished(task, setup, result, began=began, built=built)


_SENTENCES: Final = ("the oracle reads all the references", "the summary reads the document", "the end is near")
_WORD: Final = "{0}\t{1}\t_\tX\t_\t_\t{2}\t{3}\t_\t_"  # A line of a parse, in which all words depend on the first.

SAMPLE: Final = as_topic(  # A tiny topic that every built-in formulation can use.
    {
        "id": "warm-up",
        "documents": [_SENTENCES],
        "parses": [
            "\n".join(_WORD.format(n, word, min(n - 1, 1), "dep" if n > 1 else "root") for n, word in words)
            for words in (enumerate(sentence.split(), 1) for sentence in _SENTENCES)
        ],
        "references": [["the oracle reads the document the end quotes"], ["all the references are near"]],
        "cover": [[[0], [1, 2]]],
        "lengths": [6, 5, 4],
        "vectors": {"sentences": [[1, 0], [1, 1], [0, 1]], "references": [[2, 1], [1, 2]]},
    }
)

_LIMIT_S: Final = 5.0
"""Time limit in seconds of the search of `SAMPLE`, whatever the options say, in case that a solver hangs."""

_ANY: Final = "whatever the problem is"  # A member of `Setup.ready` once the process is warmed up for a setup.
_ready: set[Options] = set()
"""Options for which this process is prepared; a state of the process, like its loaded kernels."""


def warm_up(setup: Setup) -> float:
    """Prepare this process for searches, and return the seconds that this took; a repeated call costs nothing."""
    if is_ready(setup):  # faster than hashing the options
        return 0.0
    small = _fitting(setup.options)
    seconds = 0.0 if small in _ready else _made_ready(setup, small)
    setup.ready.add(_ANY)
    return seconds


def is_ready(setup: Setup) -> bool:
    return _ANY in setup.ready


@postponing()
def _made_ready(setup: Setup, small: Options) -> float:
    began = perf_counter()
    from optsum.problem.objective import prepare_text  # small jobs need none of these
    from optsum.system.compiled import collected, compile_at_once  # small jobs compile nothing
    from optsum.system.parallel_compile import compile_parts  # small jobs compile nothing

    if setup.options.elsewhere:
        from multiprocessing import parent_process  # small jobs need no processes

        if parent_process() is None:  # other processes load what this one compiles
            compile_at_once()
    unlimited = small.model_copy(update={"time_limit": None}) if setup.limits.time_s is None else None

    def tried(search: Callable[[Setup], Result]) -> None:
        try:
            result = search(setup)
        except UnsupportedError:
            if unlimited is None:
                raise
            result = search(setup_of(unlimited))  # the solver takes no time limit
        if result.termination is Termination.INTERRUPTED:  # a search returns Ctrl-C as a result
            raise KeyboardInterrupt
        if result.solver_failed:  # otherwise all rows would have greedy selections
            raise BackendError(f"{result.detail}, on a tiny problem.")

    try:
        setup = setup_of(small)
        if setup.formulation.has_metric:
            compile_parts(collected(prepare_text))
        if not setup.ours or not setup.formulation.reads_topics:
            tiny = _try_parts(setup)
            if tiny is not None and setup.strategy.backend_name is not None:
                tried(lambda one: searched(tiny, one.strategy, one.limits, 0))
        else:
            compile_parts(collected(partial(_prepare, setup)))
            tried(partial(answer, SAMPLE))
    except InputError:  # this formulation wants topics of another kind
        setup.strategy.prepare()
    except OptsumError:
        raise
    except BaseException as error:  # noqa: BLE001 - every topic that it affects gets an error row
        describe(error)
    _ready.add(small)
    return perf_counter() - began


def _try_parts(setup: Setup) -> CoverageProblem | None:
    """Refuse unsupported combinations; warm up one of optsum's own strategies on a tiny instance, and return this."""
    if setup.formulation.has_metric:
        setup.formulation.serves.check(setup.formulation.name, setup.spec)
    if is_ours(setup.strategy):
        tiny = _tiny(Sense.MAXIMIZE)
        with suppress(UnsupportedError):
            setup.strategy.accept(tiny)
            get_ready(tiny, setup.strategy, setup.options.bound)
            return tiny
    return None


def _tiny(sense: Sense) -> CoverageProblem:
    limit = 1 if sense is Sense.MAXIMIZE else NO_LIMIT
    return CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]], goal=sense, max_length=limit))


def _prepare(setup: Setup) -> None:
    """Load the kernels for a search of `SAMPLE`, or all kernels of the strategy if the formulation cannot use it."""
    try:
        problem = build(SAMPLE, setup).problem
    except InputError:
        setup.strategy.prepare()
    else:
        get_ready(problem, setup.strategy, setup.options.bound)


def refused(options: Options) -> bool:
    """Return whether the strategy refuses every topic with these options; a missing solver is not a refusal."""
    small = setup_of(_fitting(options))
    try:
        if small.ours and small.formulation.reads_topics:  # whether third-party code refuses depends on its topics
            small.strategy.accept(build(SAMPLE, small).problem)
    except OptsumError as error:  # other errors are reported by the search
        return isinstance(error, UnsupportedError)
    return False


def unusable(options: Options) -> str | None:
    """Return why the strategy and its solver do not work on this machine; None if they do."""
    setup = setup_of(options)
    try:
        warm_up(setup)
        if setup.strategy.backend_name is not None or not setup.formulation.reads_topics:
            result = searched(_tiny(setup.formulation.sense), setup.strategy, setup.limits, 0)
            return result.detail if result.solver_failed else None
    except OptsumError as error:
        return describe(error)
    return None


@lru_cache(maxsize=64)
def _fitting(options: Options) -> Options:
    """Return the options with limits that suit `SAMPLE`, and defaults where an option does not affect preparation."""
    # Whether there is a limit matters (not every solver takes each kind), its value does not.
    limits = {"node_limit": 1000, "evaluation_limit": 1_000_000, "gap": 0.0}
    without_effect = ("min_length", "target", "seed", "preset", *OF_WORKERS)
    fitting = {
        **{name: value for name, value in limits.items() if getattr(options, name) is not None},
        **{name: Options.model_fields[name].default for name in without_effect},
        "max_length": options.max_length and 1000,
        "time_limit": _LIMIT_S,
        "references": "pooled" if options.references in {"best", "agreed"} else options.references,
    }
    return options.model_copy(update=fitting)


_digest: Final = of_files(lru_cache(maxsize=8)(digest_of_vectors))  # Cached: it reads every file of a folder.


@lru_cache(maxsize=64)
def signature_of(setup: Setup, tokenizer: str) -> str:
    """Return the settings that two results must share to be compared."""
    options, formulation = setup.options, setup.formulation
    longest = "" if options.max_length is None else options.max_length
    parts = {"form": options.formulation}
    if formulation.has_metric:
        parts |= {"metric": options.metric, "of": options.measure, "refs": options.references} | _texts(options)
    if formulation.sense is Sense.MAXIMIZE and formulation.reads_topics:
        whose = "" if options.length_tokenizer is None else f" of {options.length_tokenizer}"
        parts["len"] = f"{options.min_length}-{longest} {options.length_unit}{whose}"
    if formulation.has_metric:
        if any(part.of_texts for part in parse_metric(options.metric).components):
            parts |= {**_analysis(options, tokenizer), "in": options.boundaries}
        else:  # vectors that come with the topics, or from a model, are not known here
            vectors = "own" if options.vectors is None else _digest(options.vectors)[:12]
            parts |= {"unit": str(options.similarity_unit), "vectors": vectors}
    sides = [each.name for each in fields(setup.spec.sides)]
    names = (*sides, *(name for name in formulation.flags if name != "max_length"))
    own = {name: getattr(options, name) for name in names} | dict(options.formulation_options)
    return _line({**parts, **{name: str(value) for name, value in own.items() if value is not None}})


def score_signature(options: ScoreOptions, tokenizer: str) -> str:
    """Return the settings that two scores must share to be compared."""
    parts = {"score": options.metric, "refs": options.references}
    parts |= {"by": options.best_by} if options.references == "best" else {}
    parts |= _texts(options)
    parts |= {} if options.max_words is None else {"cut": f"{options.max_words} words"}
    return _line({**parts, **_analysis(options, tokenizer)})


def _texts(options: Options | ScoreOptions) -> dict[str, str]:
    found: dict[str, str] = {} if options.model_units == "whole" else {"models": options.model_units}
    found |= {} if options.language == "en" else {"lang": options.language}
    found |= {} if options.lines is None else {"lines": str(options.lines).lower()}
    found |= {} if options.source_words is None else {"source": f"{options.source_words} words"}
    return found | ({} if options.splitter == "sentencex" else {"split": str(options.splitter)})


def _analysis(options: Options | ScoreOptions, tokenizer: str) -> dict[str, str]:
    stems = "yes" if options.stemmer == "rouge155" else options.stemmer
    return {
        "tok": tokenizer,
        "stem": stems if options.stem else "no",
        "stop": options.stopwords,
        "count": options.counts,
    }


def _line(parts: Mapping[str, str]) -> str:
    return "|".join(f"{name}:{value}" for name, value in {**parts, "optsum": __version__}.items())
