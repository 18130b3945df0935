"""Contexts: the passages within a budget that support most claims, and the greedy selection for comparison."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Unpack

from optsum.contracts.result import Result
from optsum.corpus.topic import Topic
from optsum.corpus.topics import AnyColumns, AnyTopics, read_topics, topic_given
from optsum.errors import OptionError, spoken
from optsum.options.keywords import Keywords
from optsum.options.options import Options, read_config, resolve
from optsum.registry import DEFAULT_HEURISTIC
from optsum.running.each_topic import charged, each_topic, search_part
from optsum.running.enumerate import detailed
from optsum.running.one_problem import Setup, answer, setup_of, single_problem, warm_up
from optsum.system.processes.signal_guard import postponing

_LOG: Final = logging.getLogger("optsum")
_DEFAULTS: Final = {"formulation": "cover", "flat": "sentences"}
"""Default options: a flat list of strings is a list of passages or claims, each a unit."""


def resolve_context(given: Mapping[str, Any], *, lengths_given: bool, config: str | Path | None = None) -> Options:
    """Resolve the options of contexts: by default covers with a budget, whose units are passages.

    Lengths are tokens if a tokenizer is named, given lengths if the topics have them, and otherwise words, with a
    message.
    """
    found = {name: value for name, value in given.items() if value is not None}
    named = found.keys() | (read_config(config).keys() if config is not None else set())
    if named.isdisjoint({"max_length", "preset"}):
        raise OptionError("A context needs a budget: give --max-length N.")
    found |= {name: value for name, value in _DEFAULTS.items() if name not in named}
    if named.isdisjoint({"length_unit", "length_tokenizer", "preset"}):
        if lengths_given:
            found["length_unit"] = "given"
        else:
            _LOG.warning("%s", spoken("lengths are words; --length-tokenizer=NAME counts tokens"))
    return resolve(found, config=config)


def gives_lengths(path: str) -> bool:
    """Return whether the first topic of a file gives lengths; False if the file cannot be read twice."""
    if path == "-":
        return False
    found = next(islice(read_topics(path, flat="sentences", bad="keep"), 1), None)
    return isinstance(found, Topic) and found.lengths is not None


@postponing()
def context(
    topic: Topic | Mapping[str, Any],
    *,
    columns: AnyColumns | None = None,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Result:
    """Return the passages within a budget that support most claims, with the greedy selection for comparison.

    Parameters
    ----------
    topic : Topic or dict
        ``{"id": ..., "documents": [[passage, ...]], "supports": [[claim, ...], ...]}``: passages are not split, and
        `supports` names the claims of each; ``cover`` is for claims that several passages support together.
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
    setup = setup_of(resolved)
    part, ready = single_problem(topic_given(topic, None, resolved.reading, columns), setup), warm_up(setup)
    return charged(_packed(part, setup), ready, source=part.documents)


def context_topics(
    topics: AnyTopics, options: Options, *, details: bool = False
) -> Generator[list[Result], None, None]:
    """Yield the contexts of topics one after another, all results of a topic together; with details for a page."""
    setup = setup_of(options)
    return each_topic(topics, [setup], detailed(partial(search_part, setup=setup, search=_packed), [setup], details))


def _packed(part: Topic, setup: Setup) -> Result:
    """Return the best context of a topic, and the greedy one."""
    found = answer(part, setup)
    quick = setup.options.model_copy(update={"strategy": DEFAULT_HEURISTIC, "strategy_options": (), "bound": "none"})
    row = answer(part, setup_of(quick)).to_row()
    fields = ("objective", "numerator", "length", "selection")
    return found.changed(extra={**found.extra, DEFAULT_HEURISTIC: {name: row[name] for name in fields}})
