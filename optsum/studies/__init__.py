"""The papers' experiments, on any data: each returns the paper's tables.

A study is one function. Its positional parameters are what it reads (``topics``, perhaps ``systems``), its
keyword-only ones are its options, each ``Annotated[type, Field(description=...)]``; it returns a `Report`. That is all
that `optsum study NAME` and ``optsum.study(name, ...)`` need to know, beside a line in `STUDIES`. It should take its
topics one by one: then progress is shown, and Ctrl-C leaves the tables of those that are done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from optsum.errors import unknown_name
from optsum.studies.report import Report

if TYPE_CHECKING:
    from optsum.corpus.given import AnyTopics

__all__ = ["STUDIES", "Entry", "Report", "load_study", "study"]


class Entry(NamedTuple):
    """Where a study is, and what it is."""

    function: str
    """``module:function``, imported when the study is asked for."""
    about: str


STUDIES: Final[Mapping[str, Entry]] = MappingProxyType(
    {
        "akhmetov": Entry(
            "optsum.studies.akhmetov:study_akhmetov",
            "upper bounds by greedy, VNS and genetic search (Akhmetov et al., 2022)",
        ),
        "hirao": Entry(
            "optsum.studies.hirao:study_hirao",
            "greedy against all oracles, and how many there are (Hirao et al., 2017)",
        ),
        "compressive": Entry(
            "optsum.studies.compressive:study_compressive",
            "compressive beside extractive oracles (Hirao et al., 2017, compressive)",
        ),
        "gap": Entry(
            "optsum.studies.gap:study_gap",
            "what extraction and compression cost: any text, oracles, heuristics, systems in one table",
        ),
        "lin-hovy": Entry(
            "optsum.studies.lin_hovy:study_lin_hovy",
            "extracts of 100 and 150 words, full text and human agreement (Lin & Hovy, 2003)",
        ),
        "tsc3": Entry(
            "optsum.studies.tsc3:study_tsc3",
            "Extracts against minimum covers: Precision, Coverage, pseudo QA (TSC3, Hirao et al., 2004)",
        ),
    }
)


def load_study(name: str) -> Callable[..., Report]:
    """Return the function of a study.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    """
    if name not in STUDIES:
        raise unknown_name("study", name, STUDIES)
    module, _, function = STUDIES[name].function.partition(":")
    found: Callable[..., Report] = getattr(import_module(module), function)
    return found


def study(
    name: str,
    topics: AnyTopics,
    *inputs: Any,
    config: str | Path | None = None,
    **options: Any,
) -> Report:
    """Run a paper's experiment on topics.

    Parameters
    ----------
    name : str
        "tsc3", ... (``optsum study --help`` lists them).
    topics : iterable
        Topics, their JSON form, or what `optsum.read_topics` yields; or the path of a file of them, or a data frame.
    *inputs : iterables
        What else the study reads; for "tsc3" systems, given as for `optsum.score`.
    config : path, optional
        A TOML file of options; keywords win over it.
    **options
        The flags of ``optsum study NAME``.

    Returns
    -------
    Report
        ``print(report)`` shows the tables; ``report.to_rows()`` is what they are made of, ``report.errors`` what was
        left out.

    Raises
    ------
    UnknownNameError
        For a study or an option that does not exist, with the nearest names.
    OptionError
        For a value that is impossible.

    Examples
    --------
    >>> topic = {"id": "t", "cover": [[["s1"], ["s10", "s11"]], [["s3"]]]}
    >>> report = study("tsc3", [topic], [{"topic_id": "t", "system": "mine", "selection": ["s1", "s2"]}])
    >>> report.to_rows()[0]["precision"], report.to_rows()[0]["coverage"]
    (0.5, 0.5)
    """
    from optsum.corpus.given import systems_of, topics_of
    from optsum.options.options import options_of, resolve_as

    function = load_study(name)
    resolved = resolve_as(options_of(function), options, config=config)
    return function(topics_of(topics), *map(systems_of, inputs), **resolved.model_dump())
