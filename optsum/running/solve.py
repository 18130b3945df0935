"""Solve one topic (`solve`) or many (`solve_all`), and find the best contexts of a budget (`context`)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from optsum.contracts.result import Result
from optsum.corpus.topic import Topic
from optsum.corpus.topics import (
    AnyColumns,
    AnyTopics,
    each_with_vectors,
    read_topics,
    topic_given,
    with_columns,
    with_only_vectors,
)
from optsum.errors import InputError, OptionError, spoken
from optsum.metrics.rouge import parse_metric
from optsum.metrics.similarity import Embed
from optsum.options.keywords import Keywords, SolveKeywords
from optsum.options.options import Options, read_config, reading_of, resolve
from optsum.problem.problem import Problem
from optsum.registry import DEFAULT_HEURISTIC
from optsum.running.each_topic import each_topic, posed, search_part, started
from optsum.running.one_problem import Setup, answer, of_one_problem, setup_of
from optsum.running.workers import Outcomes
from optsum.system.notebook import Words
from optsum.system.processes.signal_guard import postponing
from optsum.whole import is_list

if TYPE_CHECKING:
    from optsum.running.executors import AnyExecutor


@postponing()
def solve(
    topic: Topic | Problem | Mapping[str, Any] | Words,
    summary: Words | None = None,
    *,
    embed: Embed | None = None,
    columns: AnyColumns | None = None,
    start: Iterable[Any] | None = None,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Result:
    """Solve one topic, or one problem.

    Parameters
    ----------
    topic : Topic or dict
        ``{"id": ..., "documents": [[sentence, ...], ...], "references": [[sentence, ...], ...]}``; or, with `summary`,
        a single document: a text, or a list of its sentences. Or a problem, which takes no options for texts.
    summary : str or list of str, optional
        The reference summary of that document.
    embed : callable, optional
        Returns vectors of texts, for ``metric="similarity"`` (`optsum.with_vectors`).
    columns : str or mapping, optional
        The columns of a record by their meaning, as for ``--map``: ``{"documents": "article", "references":
        "highlights"}``.
    start : iterable, optional
        Units of a starting selection, numbered as in the result.
    config : path, optional
        A TOML file of options; keywords take precedence.
    **options
        The command line's flags: ``max_length=100``, ``metric="rouge-2"``, ``strategy="milp"``, ...

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If the topic cannot be used.
    OptionError
        If the options cannot be used.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b c", "c d", "e"]], "references": [["b c d"]]}
    >>> result = solve(topic, max_length=3, strategy="greedy")
    >>> result.selection, result.numerator, result.denominator
    ((1,), 2, 3)
    >>> solve("It rained. The match was called off. Fans left.", "Rain ended the match.", max_length=5).summary
    ('The match was called off.',)
    """
    topic, found = posed(topic, options, config, summary=summary, embed=embed, columns=columns)
    resolved = resolve(found, config=config)
    given = topic_given(topic, summary, reading_of(resolved), columns)
    if embed is not None:
        _check_embed(embed, resolved)
        given = with_only_vectors(given, embed)
    if start is not None:
        if not is_list(start, ordered=False):
            raise InputError(f"start is {start!r:.60}: give a list of units.")
        given = replace(given, start=tuple(start))
    return of_one_problem(given, resolved, answer)


def _check_embed(embed: Embed, options: Options) -> None:
    if not callable(embed):
        raise OptionError(f"embed is {embed!r:.60}: give a function of texts that returns their vectors.")
    if options.vectors is not None:
        raise OptionError("Both embed and vectors give vectors: leave out one of them.")
    if all(part.of_texts for part in parse_metric(options.metric).components):
        raise OptionError(f"Vectors are for the metric similarity, not for {options.metric}: leave out embed.")


def solve_all(
    topics: AnyTopics,
    *,
    embed: Embed | None = None,
    columns: AnyColumns | None = None,
    start: Mapping[str, Iterable[Any]] | str | Path | Iterable[Result] | None = None,
    config: str | Path | None = None,
    executor: Literal["local", "dask"] | AnyExecutor | None = None,
    **options: Unpack[SolveKeywords],
) -> Iterator[Result]:
    """Solve topics one after another, lazily, in the order of the input.

    Parameters
    ----------
    topics : iterable
        Topics, their JSON form, or the items of `optsum.read_topics`; records of a data set: a dataset of `datasets`, a
        data frame, or objects with the columns of a well-known set or with `columns`; or the path of a file of them. Or
        problems, the path of a file of them in the normal form, or a function ``module.py:function`` that makes them.
    embed : callable, optional
        As in `solve`; it is called in this process, topic by topic.
    columns : str or mapping, optional
        As in `solve`; an id column stays the id.
    start : mapping, path or results, optional
        Starting selections: units by the id of a topic, a file of rows, or results of an earlier run.
    config, **options
        As in `solve`; ``workers=2`` uses two processes.
    executor : {"local", "dask"}, `concurrent.futures.Executor`, or a function that makes one
        The workers: processes of this machine, a cluster, or your own executor. Results are the same.

    Yields
    ------
    Result
        One for each problem. An unusable topic is a result too (``status`` "error"), and does not affect the others.
        After Ctrl-C, finished results are yielded before KeyboardInterrupt is raised. Each has its text
        (`Result.source`) for notebooks.

    Raises
    ------
    OptsumError
        If the options cannot be used or the solver is missing (at once), or if none of several records can be used.
    """
    own = None if isinstance(executor, str) else executor
    named = {"executor": executor} if own is None else {}
    topics, found = posed(topics, {**options, **named}, config, embed=embed, columns=columns)
    setup = setup_of(resolve(found, config=config))
    reading = reading_of(setup.options)
    given = with_columns(topics, columns, reading)
    if embed is not None:
        _check_embed(embed, setup.options)
        given = each_with_vectors(given, embed, reading)
    given = started(given, start, reading)
    batches = each_topic(given, [setup], partial(_search_shown, setup=setup), own, _shown)
    return (result for batch in batches for result in batch)


def _search_shown(part: Topic, setup: Setup) -> list[Result]:
    return _shown(part, *search_part(part, setup, answer))


def _shown(part: Topic, result: Result) -> list[Result]:
    vars(result)["source"] = part.documents  # the result is new, and its checks do not depend on the text
    return [result]


def solve_topics(topics: AnyTopics, options: Options, *, details: bool = False) -> Generator[Outcomes, None, None]:
    """Solve topics like `solve_all`, and yield lists of results; `details`: whether these have texts and all optima."""
    setup = setup_of(options)
    work = work_of(setup, answer, details=details)
    return each_topic(topics, [setup], work, finish=None if details else _alone, row_of=Result.to_row)


def _alone(part: Topic, result: Result) -> list[Result]:
    del part
    return [result]


def work_of(
    setup: Setup, search: Callable[[Topic, Setup], Result], *, details: bool
) -> Callable[[Topic], list[Result]]:
    """Return the function that `each_topic` calls for a topic; `details`: whether rows have texts and all optima."""
    work = partial(search_part, setup=setup, search=search)
    if not details:
        return work
    from optsum.running.enumerate import with_details  # few commands enumerate

    return partial(with_details, setups=[setup], solve_part=work)


def resolve_context(given: Mapping[str, Any], *, lengths_given: bool, config: str | Path | None = None) -> Options:
    """Resolve the options of contexts: by default covers with a budget, whose units are passages.

    Lengths are in tokens if a tokenizer is named, as in the topics if these have lengths, or else (warned of) in words.
    """
    found = {name: value for name, value in given.items() if value is not None}
    named = found.keys() | (read_config(config).keys() if config is not None else set())
    if named.isdisjoint({"max_length", "preset"}):
        raise OptionError("A context needs a budget: give --max-length N.")
    defaults = {"formulation": "cover", "flat": "sentences"}  # a flat list holds passages or claims
    found |= {name: value for name, value in defaults.items() if name not in named}
    if named.isdisjoint({"length_unit", "length_tokenizer", "preset"}):
        if lengths_given:
            found["length_unit"] = "given"
        else:
            getLogger("optsum").warning("%s", spoken("lengths are words; --length-tokenizer=NAME counts tokens"))
    return resolve(found, config=config)


def gives_lengths(path: str) -> bool:
    """Return whether the first topic of a file gives lengths; False for standard input, which cannot be read twice."""
    if path == "-":
        return False
    found = next(iter(read_topics(path, flat="sentences", bad="keep")), None)
    return isinstance(found, Topic) and found.lengths is not None


@postponing()
def context(
    topic: Topic | Mapping[str, Any],
    *,
    columns: AnyColumns | None = None,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Result:
    """Return the passages within a budget that support the most claims, with the greedy selection for comparison.

    Parameters
    ----------
    topic : Topic or dict
        ``{"id": ..., "documents": [[passage, ...]], "supports": [[claim, ...], ...]}``: passages are not split, and
        `supports` lists the claims of each passage. If a claim needs several passages together, give the key ``cover``.
    columns, config, **options
        As in `optsum.solve`; `max_length` is the budget. The default formulation is "cover"; with "extractive",
        references are answers whose n-grams count. Lengths are tokens of `length_tokenizer` if it is given, the topic's
        ``lengths`` if it has them, and words otherwise.

    Returns
    -------
    Result
        As for `optsum.solve`: `numerator` claims of `denominator` are supported, ``missed`` are the others, and
        ``greedy`` is the result of greedy selection.

    Raises
    ------
    InputError
        If the topic cannot be used.
    OptionError
        If the options cannot be used, or there is no budget.

    Examples
    --------
    >>> question = {"id": "q", "supports": [[0, 1], [2, 3], [0, 1, 2]], "lengths": [40, 45, 50]}
    >>> found = context(question, max_length=90)
    >>> found.numerator, found.denominator, found.selection, found.missed
    (4, 4, (0, 1), [])
    >>> found.greedy["numerator"], found.greedy["selection"]
    (3, [2])
    """
    lengths = topic.get("lengths") if isinstance(topic, Mapping) else getattr(topic, "lengths", None)
    resolved = resolve_context(options, lengths_given=lengths is not None, config=config)
    return of_one_problem(topic_given(topic, None, reading_of(resolved), columns), resolved, _packed)


def context_topics(
    topics: AnyTopics, options: Options, *, details: bool = False
) -> Generator[list[Result], None, None]:
    setup = setup_of(options)
    return each_topic(topics, [setup], work_of(setup, _packed, details=details))


def _packed(part: Topic, setup: Setup) -> Result:
    found = answer(part, setup)
    quick = setup.options.model_copy(update={"strategy": DEFAULT_HEURISTIC, "strategy_options": (), "bound": "none"})
    row = answer(part, setup_of(quick)).to_row()
    fields = ("objective", "numerator", "length", "selection")
    return found.changed(extra={**found.extra, DEFAULT_HEURISTIC: {name: row[name] for name in fields}})
