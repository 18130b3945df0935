"""Precision, recall and F-measure of extracts against all oracles (Hirao et al. 2017, section 6.2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Final

from optsum.contracts.result import Termination
from optsum.corpus.systems import System, extract_of
from optsum.corpus.topic import Topic
from optsum.metrics.names import parse_metric
from optsum.optima.optima import Optima
from optsum.options.options import ScoreOptions, resolve
from optsum.registry import PROVER
from optsum.report.tables.table import Table, number
from optsum.running.each_topic import single_problem
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import refused, warm_up
from optsum.system.clock import clock

_SHARED: Final = (
    *("references", "tokenizer", "stem", "stemmer", "stopwords", "counts", "model_units", "max_length", "time_limit"),
)
"""Options that scoring and searching have in common."""


class OracleScores:
    """Enumerates the oracles of topics, metric by metric, and holds summaries against all of them.

    Parameters
    ----------
    options : ScoreOptions
        The oracles are those of recall, or of what the preset measures, within `max_length`.

    Attributes
    ----------
    without : list of str
        Metrics whose oracles cannot be enumerated.
    unfound : int
        Topics and metrics whose oracles were not all found in time.

    Raises
    ------
    OptionError
        If there is no limit of length.
    """

    def __init__(self, options: ScoreOptions) -> None:
        given: dict[str, Any] = {name: getattr(options, name) for name in _SHARED if name in options.model_fields_set}
        self._setups: dict[str, Setup] = {}
        self.without: list[str] = []
        self.unfound = 0
        for metric in (part.name for part in parse_metric(options.metric).components):
            way = resolve({"preset": options.preset, **given, "metric": metric, "strategy": PROVER})
            if not refused(way):
                self._setups[metric] = setup_of(way)
                warm_up(self._setups[metric])
            else:
                self.without.append(metric)

    @property
    def metrics(self) -> list[str]:
        """Metrics of which all oracles can be enumerated."""
        return list(self._setups)

    @property
    def limits(self) -> str:
        """What an oracle keeps, in words."""
        for setup in self._setups.values():
            return f"{setup.options.max_length} {setup.options.length_unit} at most"
        return "no metric"

    def of(self, topic: Topic) -> dict[str, Optima | None]:
        """Return all oracles of a topic by metric; None where not all are found within the time limit.

        Raises
        ------
        InputError
            If the topic has no oracle.
        KeyboardInterrupt
            If the search was interrupted.
        """
        from optsum.running.all_optima.oracles import oracles_of

        found: dict[str, Optima | None] = {}
        for metric, setup in self._setups.items():
            oracles = oracles_of(single_problem(topic, setup), setup, began=clock())
            if oracles.result.termination is Termination.INTERRUPTED:
                raise KeyboardInterrupt
            found[metric] = oracles if oracles.complete else None
            self.unfound += not oracles.complete
        return found

    def table(self, means: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Table:
        """Return the table of the means of systems, by system, metric and measure."""
        points = list(product(self.metrics, ("precision", "recall", "f1")))
        headings = [f"{metric} {measure[0].upper()}" for metric, measure in points]
        table = Table.of(["system"], headings)
        for system, found in means.items():
            table.rows.append([system, *(number(found[metric][measure]) for metric, measure in points)])
        table.title = f"Extracts against all oracles of {self.limits}: means over topics"
        table.caption = ["A sentence that is none of the source is in no oracle; P and R are means over all oracles."]
        if self.without:
            table.caption.append(f"Oracles of {' and '.join(self.without)} cannot be enumerated.")
        if self.unfound:
            said = f"{self.unfound} of topics and metrics"
            table.caption.append(f"Left out, as not all oracles were found in time: {said}.")
        return table


def against(topic: Topic, system: System, oracles: Mapping[str, Optima | None]) -> dict[str, dict[str, Any] | None]:
    """Return precision, recall, F-measure and number of oracles of a summary, by metric.

    A sentence of the summary that is none of the source is in no oracle (`optsum.corpus.systems.extract_of`).
    """
    extract = extract_of(topic, system)
    scores: dict[str, dict[str, Any] | None] = {}
    for metric, optima in oracles.items():
        if extract is None or optima is None:
            scores[metric] = None
            continue
        found = optima.agreement(extract.names)
        scores[metric] = {
            "precision": float(found.precision),
            "recall": float(found.recall),
            "f1": float(found.f_measure),
            "count": optima.count,
        }
    return scores
