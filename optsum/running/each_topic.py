"""Process topics one by one: a failure (bad input, an error, a crash) becomes a row, and other topics go on.

The hash of a topic's text in its rows (`INPUT`) is also made here.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import chain, groupby
from math import fsum, gcd
from numbers import Number
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from optsum.contracts.result import Result, ResultCounts, Status, Timing, TracePoint
from optsum.contracts.strategy import Strategy
from optsum.corpus.row_files import read_rows, to_bytes
from optsum.corpus.sentences import json_type
from optsum.corpus.topic import AS_IS, BadTopic, Reading, Topic, as_topic, topic_of
from optsum.corpus.topics import (
    AnyTopic,
    AnyTopics,
    Lines,
    makes_problems,
    path_of,
    read_topics,
    topics_of,
    using,
    watched_to_end,
)
from optsum.coverage.instance import FORMAT, Coverage, IntArray, Sense, json_of_coverage
from optsum.errors import InputError, describe, located, spoken
from optsum.metrics.rouge import Score, codes_of, score_row
from optsum.options.options import read_config, reading_of, refuse_of_texts, resolve
from optsum.plugins import check_sent
from optsum.problem.objective import NO_SCORES, Extracts, extracts_of
from optsum.problem.problem import Capability, Problem
from optsum.registry import DEFAULT_EXACT, DEFAULT_STRATEGY, FORMULATIONS
from optsum.running.one_problem import (
    Setup,
    best_result,
    charged,
    count_sentences,
    is_ready,
    part_of,
    problems,
    setup_of,
    signature_of,
    unsolved,
    warm_up,
)
from optsum.running.workers import Answered, Batch, Outcomes, Several, Written, all_results, in_order, without_rest
from optsum.system.clock import Limits, Termination, clock
from optsum.system.compiled import compiles
from optsum.system.files import begin_of
from optsum.system.notebook import tracked
from optsum.system.processes.signal_guard import postponing
from optsum.text.analyzer import surely_fits
from optsum.text.interned import interned_texts
from optsum.whole import is_list, unchecked

if TYPE_CHECKING:
    from optsum.running.executors import AnyExecutor

_LOG = logging.getLogger("optsum")
Finish: TypeAlias = Callable[[Topic, Result], list[Result]]
"""Converts the search result of one problem to the results reported for it; pickled for other processes."""

_TOPICS = 64
_LETTERS = 300_000
"""Largest numbers of topics, and of their letters, that are searched together; signals then wait about 10 ms."""

_LONG = 15_000  # Letters above which a topic is searched by itself: the search takes most of its time.
_IS_PLAIN: Callable[[Any], bool] = str.isascii


def say_warned(warned: Counter[str | None], unit: str = "topics") -> None:
    """Log the number of topics with a warning, and the first warning; `warned`: number of topics by warning or None."""
    if messages := [message for message in warned if message is not None]:
        count = warned.total()
        _LOG.warning("%d of %d %s: %s", count - warned[None], count, unit, messages[0])


def each_topic(
    topics: AnyTopics,
    setups: Sequence[Setup],
    solve_part: Callable[[Topic], list[Result]],
    executor: AnyExecutor | None = None,
    finish: Finish | None = None,
    *,
    scores: bool = True,
    row_of: Callable[[Result], dict[str, Any]] | None = None,
) -> Generator[Any, None, None]:
    """Yield the results of topics, also of those that failed.

    Results are lists, one for each topic; `Several` lists of topics that were searched together; or, for `Lines`, rows
    that a worker has `Written`. `setups`: all setups of the searches, with the same problems and options of workers.
    `solve_part` (pickled): returns the results of one problem, one for each setup, or fewer if the last is interrupted.
    `finish`: converts a result of `optsum.running.one_problem.answer` to those of `solve_part`; with it, topics may be
    searched together. `scores`: whether these need the official scores. `row_of`: converts results of `Lines` to rows.
    """
    given = topics_of(topics, reading_of(setups[0].options))  # its notes report doubts about these topics
    if executor is not None:  # its processes find on disk what this one compiles
        from optsum.system.compiled import compile_at_once  # most runs compile nothing

        compile_at_once()
    ready, options = fsum(map(warm_up, setups)), setups[0].options
    crew = None
    if executor is not None or options.elsewhere or options.scheduler is not None:
        from optsum.running.executors import crew_of  # few commands need other processes

        crew = crew_of(options, executor, copied=all(setup.may_be_copied for setup in setups))
    if crew is not None:  # a function that cannot be sent is refused before any work
        for setup in setups:
            check_sent(vars(setup.options).values())
    work, lost = partial(search_topic, setups=setups, solve_part=solve_part), partial(lost_topic, setups=setups)
    together, path = None, path_of(topics)
    serves = type(setups[0].strategy).prove_extracts is not Strategy.prove_extracts
    # Only from a file or a list may later topics be read before an earlier one is answered.
    are_there = isinstance(topics, Sequence) if path is None else Path(path).is_file()
    if finish is not None and serves and (crew is not None or are_there):
        together = partial(answered_together, setup=setups[0], finish=finish, scores=scores)
    sent = all_results if row_of is None else partial(_sent, row_of=row_of)
    run = partial(in_order, work, crew=crew, lost=lost, together=together, sent=sent)
    batches = run(given) if path is None else watched_to_end(path, given, run)
    batches = using(batches, [name for setup in setups for name in setup.options.files])
    unpaid = ready if crew is None else 0.0  # worker processes report their own warm-up
    return tracked(_charged_once(batches, unpaid), len(topics) if isinstance(topics, Sized) else None)


def _charged_once(batches: Iterable[Outcomes], unpaid: float) -> Generator[Outcomes, None, None]:
    """Yield results, the first one with the seconds of the warm-up (`unpaid`), and log all warnings at the end."""
    warned: Counter[str | None] = Counter()
    try:
        for results in batches:
            if isinstance(results, Written):
                warned.update(results.counts.warned)
            else:
                results[0], unpaid = charged(results[0], unpaid), 0.0
                for answer in results.answers if isinstance(results, Several) else [results]:
                    warned[next((result.warning for result in answer if result.warning is not None), None)] += 1
            yield results
    finally:
        say_warned(warned)


def lost_topic(topic: AnyTopic, setups: Sequence[Setup]) -> list[Result]:
    reason = (
        "it killed its process twice: a solver crashed, or memory ran out; search it separately, with another "
        "backend, or with more memory"
    )
    return _failed(topic, reason, setups)


INPUT: Final = "input_hash"  # Field of a row: a hash of the topic's text, in hexadecimal digits.


def _sent(
    batch: Batch, topics: list[Any], answers: list[list[Result]], row_of: Callable[[Result], dict[str, Any]]
) -> Written | list[list[Result]]:
    """Return rows if the topics were read from `Lines`, otherwise results; `answers`: the results of each topic."""
    answers = without_rest(answers)
    if not isinstance(batch, Lines):
        return answers
    made = Written([], [], ResultCounts(), batch.reading.notes.said)
    for topic, results in zip(topics, answers, strict=False):  # the last may have been interrupted
        read = {INPUT: digest(topic)} if isinstance(topic, Topic) else {}
        made.rows.extend([to_bytes({**row_of(result), **read}) for result in results])
        made.ids.append(topic.id if isinstance(topic, Topic) else None)
        made.counts.warned[next((result.warning for result in results if result.warning is not None), None)] += 1
        for result in results:
            made.counts.add(result)
    return made


def digest(topic: Topic) -> str:
    """Return a hash of the content of a topic: 20 hexadecimal digits, or the 16 of `digest_before`."""
    texts = (*topic.documents, *topic.references)
    others = (topic.cover, topic.parses, topic.weights, topic.lengths, topic.problem)
    try:
        joined = "\0".join(chain.from_iterable(texts))  # type: ignore[arg-type]  # tokens are refused
    except TypeError:
        return digest_before(topic)
    if others.count(None) < len(others) or joined.count("\0") != sum(map(len, texts)) - 1 or not all(texts):
        return digest_before(topic)
    sizes = repr((list(map(len, topic.documents)), list(map(len, topic.references))))
    return blake2b(f"{sizes}\0{joined}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def digest_before(topic: Topic) -> str:
    """Return a hash of 16 hexadecimal digits, for topics with more than sentences; old versions used it for all."""
    held = repr((topic.documents, topic.references, topic.cover, topic.parses))
    held += "".join(repr(given) for given in (topic.weights, topic.lengths) if given is not None)
    if (problem := topic.problem) is not None:
        known = isinstance(problem, Problem) and problem.can(Capability.COVERAGE)
        held += json_of_coverage(problem.coverage) if known else _spelled(problem)
    return blake2b(held.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _spelled(value: Any) -> str:
    """Return a text that identifies a value in every process; users' classes count by their code, without globals."""
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_spelled(key)}:{_spelled(held)}' for key, held in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_spelled, value))}]"
    if isinstance(value, set | frozenset):
        return f"<{','.join(sorted(map(_spelled, value)))}>"
    if isinstance(value, FunctionType):
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        held = [each for each in held if not isinstance(each, type)]  # super() holds the class of the method itself
        return _spelled((value.__code__, value.__defaults__, value.__kwdefaults__, held))
    if isinstance(value, CodeType):
        return _spelled((value.co_code, value.co_names, value.co_consts))
    if hasattr(value, "tolist"):  # an array, or one of numpy's numbers
        return f"{value.dtype}{_spelled(value.tolist())}"
    if isinstance(value, type):
        ours = value.__module__.partition(".")[0] == "optsum" or value.__module__ == "builtins"
        own = [] if ours else [getattr(held, "__func__", getattr(held, "fget", held)) for held in vars(value).values()]
        return value.__qualname__ + "".join(_spelled(held) for held in own if isinstance(held, FunctionType))
    if value is None or isinstance(value, str | bytes | Number | Enum):
        return repr(value)
    classes = [kind for kind in type(value).__mro__ if kind is not object]
    return f"{_spelled(classes)}{_spelled(value.__getstate__())}"


def _failed(topic: AnyTopic, reason: str, setups: Sequence[Setup]) -> list[Result]:
    name = topic.get("id") if isinstance(topic, Mapping) else getattr(topic, "id", None)
    reason = located(getattr(topic, "source", ""), reason)
    return [error_result(name if isinstance(name, str) else None, reason, setup) for setup in setups]


@postponing()  # once for the topic, which is faster than for each step
def search_topic(topic: AnyTopic, setups: Sequence[Setup], solve_part: Callable[[Topic], list[Result]]) -> list[Result]:
    ready = fsum(map(warm_up, setups))
    if isinstance(topic, BadTopic):
        return _failed(topic, topic.error, setups)
    results: list[Result] = []
    warning = None
    try:
        given = topic_of(topic, setups[0].options.reading)
        warning = setups[0].faults_of(given)[1]
        for part in problems(given, setups[0]):
            results += solve_part(part)
            if results[-1].termination is Termination.INTERRUPTED:
                break
    except BaseException as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
        results += _failed(topic, describe(error), setups)
    results[0] = first = charged(results[0], ready)
    if warning is not None and first.status is not Status.ERROR:
        results[0] = first.changed(statistics={**first.statistics, "warning": warning})
    return results


def attempt(search: Callable[[Topic, Setup], Result], part: Topic, setup: Setup) -> Result:
    """Search one problem; after an exception, return an error or an interrupted result."""
    try:
        return search(part, setup)
    except KeyboardInterrupt:  # outside the search, which handles Ctrl-C itself
        return unsolved(part.id, setup, Termination.INTERRUPTED)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
        return _failed(part, describe(error), [setup])[0]


def search_part(part: Topic, setup: Setup, search: Callable[[Topic, Setup], Result]) -> list[Result]:
    """Return the result of `attempt` as a list, as `each_topic` needs it of its `solve_part`."""
    return [attempt(search, part, setup)]


def error_result(name: str | None, reason: str, setup: Setup) -> Result:
    empty = unsolved(name, setup, Termination.INTERRUPTED)
    return empty.changed(status=Status.ERROR, termination=Termination.FAILED, error=reason)


# Below, one compiled loop searches several topics; topics whose optimum it does not prove are searched one by one.


class _Ahead(NamedTuple):
    """One of several searches that a compiled loop does together."""

    place: int  # Index of the topic among the items.
    searches: int  # Number of the topic's searches: one for each problem, or each reference if the best one counts.
    part: Topic  # The problem of the topic.
    reference: int  # Index of the reference if the best one counts; otherwise 0.
    topic: Topic  # The topic to search: the problem, with only this reference if the best one counts.
    text: str  # The sentences of `topic`, references first, joined by NUL.
    sentences: int  # Number of sentences in `text`.
    checked: bool  # Whether it is known that the tokenizer damages nothing.


@lru_cache(maxsize=16)
def _codes(setup: Setup) -> tuple[IntArray, IntArray] | None:
    """Return `Metric.coded` of the metrics in objective and scores; None if topics must be searched one by one."""
    coded = setup.formulation.extracts(setup.spec) if setup.ours else None
    scored = codes_of(setup.scores)
    alone = setup.options.vectors is not None or setup.options.max_length == "reference"
    limited = setup.limits != Limits(memory=setup.limits.memory)
    return None if coded is None or scored is None or alone or limited else (coded, scored)


@postponing()
def answered_together(items: Sequence[Any], setup: Setup, finish: Finish, *, scores: bool) -> list[Any]:
    """Search topics together; return the items, with `Answered` in place of each whose optimum was proven.

    `scores`: whether results have the official scores, and the text.
    """
    found, codes = list(items), _codes(setup)
    if codes is None or len(items) < 2 or not is_ready(setup):
        return found
    coded, scored = codes
    ratios = 1 if setup.spec.measure == "recall" else len(coded)
    try:
        for block in _blocks(items, setup):
            began = clock()
            kept, extracts, fit = _extracts(block, setup, coded, scored if scores else NO_SCORES)
            if extracts is None:
                continue
            built = clock()
            proven = setup.strategy.prove_extracts(extracts)
            if proven is None:
                break
            times = built - began, clock() - built
            results = _results(kept, proven, setup, ratios, scores=scores, times=times)
            for place, own in groupby(results, key=lambda each: each[0].place):
                answers = list(own)
                if place in fit and len(answers) == answers[0][0].searches:
                    found[place] = Answered(_finished(answers, setup, finish))
    except Exception:  # noqa: BLE001 - searched one by one, only the faulty topic fails
        return list(items)
    return found


@compiles
def prepare_together() -> None:
    """Compile the kernels that search several topics together, if optional kernels are compiled."""
    topic = as_topic({"id": "warm-up", "documents": [["one two", "three"]], "references": [["one three"]]})
    for options in ({"max_length": 5}, {"max_length": 5, "stem": True}):
        setup = setup_of(resolve(options))
        coded, scored = _codes(setup) or (NO_SCORES, NO_SCORES)
        for block in _blocks([topic, topic], setup):
            if (extracts := _extracts(block, setup, coded, scored)[1]) is not None:
                setup.strategy.prove_extracts(extracts)


def _finished(answers: Iterable[tuple[_Ahead, Result]], setup: Setup, finish: Finish) -> list[Result]:
    results: list[Result] = []
    for _, own in groupby(answers, key=lambda each: each[0].part.id):
        of_references = list(own)
        ahead, result = of_references[0]
        if setup.best_of_references:
            result = best_result([(one.reference, result) for one, result in of_references])
        results += finish(ahead.part, result)
    return results


def _blocks(items: Sequence[Any], setup: Setup) -> Iterator[list[_Ahead]]:
    """Yield blocks of searches that may be done together; all searches of a topic are in the same block."""
    block: list[_Ahead] = []
    letters = 0
    for place, topic in enumerate(items):
        if not isinstance(topic, Topic) or topic.problem is not None or topic.start is not None:
            continue
        if not topic.references or not topic.sentences or setup.spec.sides.say_something(topic):
            continue
        best = setup.best_of_references
        searches = [
            (part, number, part_of(part, number) if best else part)
            for part in problems(topic, setup)
            for number in range(len(part.references) if best else 1)
        ]
        all_sentences = [[*chain.from_iterable(one.references), *one.sentences] for _, _, one in searches]
        try:
            texts = list(map("\0".join, all_sentences))  # type: ignore[arg-type]  # tokens are refused
            others = () if searches[0][0] is topic else chain.from_iterable(topic.references)
            plain = not setup.stems_another and all(map(_IS_PLAIN, chain(texts, others)))
        except TypeError:  # tokens
            continue
        size = sum(map(len, texts))
        if size > _LONG * len(searches) or len(searches) > _TOPICS:
            continue
        later = plain or (len(searches) == 1 and searches[0][0] is topic)
        if not later and (setup.faults_of(topic)[1] or any(setup.is_spoiled(one) for _, _, one in searches)):
            continue
        if block and (len(block) + len(searches) > _TOPICS or letters + size > _LETTERS):
            yield block
            block, letters = [], 0
        block += [
            _Ahead(place, len(searches), part, number, one, text, len(sentences), plain or not later)
            for (part, number, one), text, sentences in zip(searches, texts, all_sentences, strict=True)
        ]
        letters += size
    if block:
        yield block


def _extracts(
    parts: Sequence[_Ahead], setup: Setup, coded: IntArray, scored: IntArray
) -> tuple[list[_Ahead], Extracts | None, set[int]]:
    """Return the supported searches, their texts as numbers, and the places of topics that suit the tokenizer."""
    texts, sizes = [part.text for part in parts], [part.sentences for part in parts]
    made = interned_texts(setup.spec.analyzer, texts, sizes)
    if made is None:
        return [], None, set()
    tokens, numbers, foreign = made
    kept = [parts[number] for number in numbers]
    references = [list(map(len, part.topic.references)) for part in kept]
    fit = {part.place for part, most in zip(kept, foreign, strict=True) if part.checked or _fits(part, most, setup)}
    return kept, extracts_of(tokens, references, coded, scored, setup.spec), fit


def _fits(part: _Ahead, foreign: int, setup: Setup) -> bool:
    first = sum(len(sentence) + 1 for reference in part.topic.references for sentence in reference)
    known = surely_fits(part.text, first, foreign, setup.spec.analyzer, setup.options.language)
    return known or not setup.is_spoiled(part.topic)


def _results(
    parts: Sequence[_Ahead], proven: Extracts, setup: Setup, ratios: int, *, scores: bool, times: tuple[float, float]
) -> Iterator[tuple[_Ahead, Result]]:
    """Yield each search with a proven optimum, and its result; `ratios`: number of ratios for one reference."""
    text_s, search_s = (seconds / len(parts) for seconds in times)
    by_reference = setup.spec.references == "mean" and setup.spec.measure != "recall"
    ran = {} if proven.ran is None else {"ran": proven.ran}
    common = {
        **vars(setup.blank),
        "strategy": setup.strategy.name,
        "status": Status.OPTIMAL,
        "termination": Termination.COMPLETED,
        "seconds": text_s + search_s,
        "timing": Timing(text_s=text_s, search_s=search_s),
        "evaluations": 1,
        "signature": signature_of(setup, setup.spec.analyzer.tokenizer),
    }
    sizes, units, *others = proven.answers
    units = units[:, : max(0, *sizes[:, 0].tolist())]  # most places are unused, and would be converted for nothing
    each = zip(parts, *(rows.tolist() for rows in (sizes, units, *others)), strict=True)
    for part, (count, length, nodes), chosen, totals, hits in each:
        if count < 0:
            continue
        topic, selection = part.topic, tuple(chosen[:count])
        many = ratios * len(topic.references) if by_reference else ratios
        value, exact = _mean_of(totals)
        own: dict[str, Any] = {
            "id": topic.id,
            "objective": value,
            "bound": value,
            "objective_exact": exact,
            "bound_exact": exact,
            "selection": selection,
            "sentence_count": count_sentences(topic),
            "length": length,
            "nodes": nodes,
            "statistics": dict(ran),
            "extra": dict(ran),
            "trace": (TracePoint(search_s, 1, value),),
        }
        if many == 1:
            own["numerator"], own["denominator"] = totals[:2]
        if scores:
            own["summary"] = tuple(topic.sentences[unit] for unit in selection)
            own["rouge"] = {
                metric.name: score_row(Score.from_counts(shared, total, mass * len(topic.references)))
                for metric, (shared, total, mass) in zip(setup.scores, hits, strict=True)
            }
        yield part, unchecked(Result, common, own)


def _mean_of(totals: Sequence[int]) -> tuple[float, str]:
    """Return the mean of ratios, given by numerators and denominators in turn, as a float and as text; skip 0/0."""
    top, bottom, ratios = 0, 1, 0
    for own, whole in zip(totals[::2], totals[1::2], strict=True):
        if whole > 0:
            top, bottom, ratios = top * whole + own * bottom, bottom * whole, ratios + 1
    bottom *= ratios
    shared = gcd(top, bottom)
    exact = f"{top // shared}" if shared == bottom else f"{top // shared}/{bottom // shared}"
    return top / bottom, exact


def posed(
    given: Any, options: Mapping[str, Any], config: str | Path | None = None, **of_texts: object
) -> tuple[Any, dict[str, Any]]:
    """Return problems or topics, which can be iterated over once (a single problem as a topic), and their options.

    If the first item is a problem, its formulation is added, unless the options or the file `config` name one.
    `of_texts`: arguments for reading texts, which are refused for problems.
    """
    found = dict(options)
    named = found.get("formulation") is not None or (config is not None and "formulation" in read_config(config))
    if isinstance(given, Problem):
        topic = given.as_topic()
        given = topic if topic.id else replace(topic, id="problem")
        first: Any = topic
    elif hasattr(given, "component_data_objects") or isinstance(given, Coverage):  # the error says what to do
        first = topic_of(given, AS_IS)
    elif isinstance(given, str | os.PathLike):
        first = _first_of_file(given) if not named else None
    elif isinstance(given, list | tuple | Iterator):
        items = iter(given)
        try:
            first = next(items, None)
        except Exception as error:  # noqa: BLE001 - raised on reading, after options are checked
            first, items = None, _raising(error)
        if isinstance(given, Iterator):
            given = chain(() if first is None else (first,), items)
        if isinstance(first, Problem) or getattr(first, "problem", None) is not None:
            given = _numbered(given)
    else:
        first = None
    if (sense := _sense(first)) is not None:
        refuse_of_texts(**of_texts)
        if not named:
            found["formulation"] = "problem" if sense is Sense.MAXIMIZE else "problem:minimize"
    return given, found


def started(topics: Any, start: Any, reading: Reading) -> Any:
    """Add the starting selections to topics; `start`: units by id, or rows or results of an earlier run."""
    if start is None:
        return topics
    if isinstance(start, str | os.PathLike):
        start = _by_topic((row.get("id"), row.get("selection")) for row in read_rows(start))
    elif not isinstance(start, Mapping):
        results = tuple(start) if is_list(start) else (None,)
        if not all(isinstance(result, Result) for result in results):
            raise InputError(f"start is {start!r:.60}: give units by id, results, or the file of an earlier run.")
        start = _by_topic((result.id, result.selection) for result in results)
    for name, units in start.items():
        if units is not None and not is_list(units, ordered=False):
            raise InputError(f"--start has {json_type(units)} as the selection of {name!r}; give a list of units.")
    return _with_starts(topics_of(topics, reading), start, reading)


def _by_topic(rows: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, units in rows:
        if units is not None and found.setdefault(str(name), units) != units:
            raise InputError(f"--start has two selections of {str(name)!r}: give the rows of one strategy.")
    return found


def _with_starts(topics: Iterable[Any], starts: Mapping[str, Any], reading: Reading) -> Iterator[Any]:
    warned: Counter[str | None] = Counter()
    said = None
    for topic in topics:
        made, missing = topic, False
        with suppress(InputError):  # its search reports the error
            made = topic if isinstance(topic, Topic | BadTopic) else topic_of(topic, reading)
        if isinstance(made, Topic):
            units = starts.get(made.id or "")
            made = made if units is None else replace(made, start=tuple(units))
            missing = made.start is None
        said = said or (spoken(f"--start has no selection for {made.id!r}") if missing else None)
        warned[said if missing else None] += 1
        yield made
    say_warned(warned)


def prover_of(options: Mapping[str, Any]) -> str:
    name = options.get("formulation")
    return DEFAULT_EXACT if name is None or FORMULATIONS.load(name).reads_topics else DEFAULT_STRATEGY


def _sense(first: Any) -> Sense | None:
    """Return the sense of a problem, which may be in a topic or a JSON object; None for other items."""
    if isinstance(first, Topic):
        first = first.problem
    if isinstance(first, Mapping) and first.get("format") == FORMAT:
        return Sense.MINIMIZE if first.get("goal") == Sense.MINIMIZE.value else Sense.MAXIMIZE
    return first.sense if isinstance(first, Problem) else None


def _numbered(given: Iterable[Any]) -> Iterator[Any]:
    """Yield topics and, in place of each problem, a topic with it; a nameless problem is named by its number from 0."""
    for number, each in enumerate(given):
        if isinstance(each, Problem):
            topic = each.as_topic()
            yield topic if topic.id else replace(topic, id=str(number))
        else:
            yield each


def _raising(error: Exception) -> Iterator[Any]:
    yield from ()
    raise error


def _first_of_file(path: str | os.PathLike[str]) -> Any:
    """Return the first problem of a file or function; None for a file of topics, and for standard input."""
    if makes_problems(path):
        wrong = None
        for each in read_topics(path, bad="keep"):
            if isinstance(each, Topic):
                return each
            wrong = wrong or each
        if wrong is not None:
            raise InputError(f"{path} does not make problems: {wrong.error}")
        return None
    is_file = str(path) != "-" and Path(path).is_file()
    has_problem = is_file and json.dumps(FORMAT).encode() in (begin_of(path, 4096) or b"")
    return next(iter(read_topics(path, bad="keep")), None) if has_problem else None
