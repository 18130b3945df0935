"""Solve one topic (`solve`), or several one after another (`solve_all`)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from optsum.contracts.result import Result
from optsum.corpus.topic import Topic
from optsum.corpus.topics import AnyColumns, AnyTopics, each_with_vectors, topic_given, with_columns, with_vectors
from optsum.corpus.vectors import Embed
from optsum.options.keywords import Keywords, SolveKeywords
from optsum.options.options import Options, resolve
from optsum.problem.problem import Problem
from optsum.running.each_topic import each_topic, search_part
from optsum.running.inputs import posed, started
from optsum.running.one_problem import Setup, answer, setup_of, single_problem, warm_up
from optsum.running.workers import Outcomes
from optsum.system.notebook import Words
from optsum.system.processes.signal_guard import postponing

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
        a single document: a text, or a list of its sentences. Or a problem, which needs no options for texts.
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
    given = topic_given(topic, summary, resolved.reading, columns)
    given = given if embed is None else with_vectors(given, embed)
    given = given if start is None else replace(given, start=tuple(start))
    setup = setup_of(resolved)
    part, ready = single_problem(given, setup), warm_up(setup)
    result = answer(part, setup)
    return result.changed(source=part.documents, timing=replace(result.timing, warm_up_s=ready or None))


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
        At once, if the options cannot be used, or the solver is missing; if none of several records can be used.
    """
    own = None if executor is None or isinstance(executor, str) else executor
    named = {"executor": executor} if own is None else {}
    topics, found = posed(topics, {**options, **named}, config, embed=embed, columns=columns)
    setup = setup_of(resolve(found, config=config))
    given = with_columns(topics, columns, setup.options.reading)
    given = given if embed is None else each_with_vectors(given, embed, setup.options.reading)
    given = started(given, start, setup.options.reading)
    batches = each_topic(given, [setup], partial(_search_shown, setup=setup), own, _shown)
    return (result for batch in batches for result in batch)


def _search_shown(part: Topic, setup: Setup) -> list[Result]:
    return _shown(part, *search_part(part, setup, answer))


def _shown(part: Topic, result: Result) -> list[Result]:
    vars(result)["source"] = part.documents  # nobody else holds it yet, and what it claims has been checked
    return [result]


def solve_topics(topics: AnyTopics, options: Options, *, details: bool = False) -> Generator[Outcomes, None, None]:
    """Solve topics like `solve_all`, but yield all results of a topic together, for rows.

    They have no text, except in `details`, as in a comparison.
    """
    setup = setup_of(options)
    solve_part: Callable[[Topic], list[Result]] = partial(search_part, setup=setup, search=answer)
    if details:
        from optsum.running.enumerate import with_details  # which enumerates, as few commands do

        solve_part = partial(with_details, setups=[setup], solve_part=solve_part)
    return each_topic(topics, [setup], solve_part, finish=None if details else _alone, row_of=Result.to_row)


def _alone(part: Topic, result: Result) -> list[Result]:
    del part
    return [result]
