"""The experiments of papers on any data, with their tables and figures.

A study is a class whose fields are its options; it converts a topic to rows, and rows to tables (`Study`). A line in
`STUDIES` makes it available as `optsum study NAME` and ``optsum.study(name, ...)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from optsum.corpus.topics import AnyTopics
from optsum.errors import OptionError, unknown_name
from optsum.options.options import options_of, resolve_as
from optsum.report.comparison import seeds_of
from optsum.studies.base import Study, papers

__all__ = ["STUDIES", "Entry", "Study", "load_study", "prepared", "study"]


class Entry(NamedTuple):
    """The module and the description of a study."""

    made_by: str  # ``module:class``, imported when the study is asked for.
    about: str


_MADE_BY: Final = {
    "akhmetov:AkhmetovStudy": "upper bounds by greedy, VNS and genetic search (Akhmetov et al., 2022)",
    "hirao:HiraoStudy": "greedy against all oracles, and their number (Hirao et al., 2017)",
    "compressive:CompressiveStudy": "compressive and extractive oracles (Hirao et al., 2017, compressive)",
    "gap:GapStudy": "what extraction and compression cost: any text, oracles, heuristics, systems in one table",
    "lin_hovy:LinHovyStudy": "extracts of 100 and 150 words, full text and human agreement (Lin & Hovy, 2003)",
    "tsc3:Tsc3Study": "Extracts against minimum covers: Precision, Coverage, pseudo QA (TSC3, Hirao et al., 2004)",
}
STUDIES: Final[Mapping[str, Entry]] = MappingProxyType(
    {
        made_by.partition(":")[0].replace("_", "-"): Entry(f"optsum.studies.{made_by}", about)
        for made_by, about in _MADE_BY.items()
    }
)


def load_study(name: str) -> type[Study]:
    """Return the class of a study."""
    if name not in STUDIES:
        raise unknown_name("study", name, STUDIES)
    module, _, made_by = STUDIES[name].made_by.partition(":")
    found: type[Study] = getattr(import_module(module), made_by)
    return found


def prepared(name: str, options: Mapping[str, Any], config: str | Path | None = None) -> Study:
    """Return a study before its run."""
    made_by = load_study(name)
    resolved = resolve_as(options_of(made_by), options, config=config)
    if (seed := options.get("seed")) is not None and "seeds" in resolved.model_fields_set:
        seeds_of(options.get("seeds"), seed)
        resolved = resolved.model_copy(update={"seeds": None})  # those of the file
    made = made_by(**resolved.model_dump())
    if made.paper and name not in papers():
        raise OptionError(
            f"The study {name} is not from a paper, so there are no values to compare with: leave out paper."
        )
    made.searches()
    return made


def study(
    name: str, topics: AnyTopics, systems: Any = (), *, config: str | Path | None = None, **options: Any
) -> Study:
    """Run a paper's experiment on topics.

    Parameters
    ----------
    name : str
        "tsc3", ... (``optsum study --help`` lists them).
    topics : iterable
        Topics, their JSON form, or the items of `optsum.read_topics`; or the path of a file of them, or a data frame.
    systems : iterable
        Summaries of systems, as for `optsum.score`, or rows of `optsum solve`.
    config : path, optional
        A TOML file of options; keywords take precedence.
    **options
        The flags of ``optsum study NAME``.

    Returns
    -------
    Study
        ``print(report)`` shows the tables; ``report.to_rows()`` returns the rows behind them, ``report.figures()`` the
        figures, and ``report.errors`` lists what was left out.

    Raises
    ------
    UnknownNameError
        For a study or an option that does not exist, with the nearest names.
    OptionError
        For an impossible value.

    Examples
    --------
    >>> topic = {"id": "t", "cover": [[["s1"], ["s10", "s11"]], [["s3"]]]}
    >>> report = study("tsc3", [topic], [{"topic_id": "t", "system": "mine", "selection": ["s1", "s2"]}])
    >>> report.to_rows()[0]["precision"], report.to_rows()[0]["coverage"]
    (0.5, 0.5)
    """
    return prepared(name, options, config).reads(systems).run(topics)
