"""Recover from rows which problem was posed, apart from how it was searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pydantic import ValidationError

from optsum.coverage.instance import Sense
from optsum.errors import InputError, OptsumError, visible
from optsum.metrics.metric import Metric
from optsum.metrics.names import parse_metric
from optsum.metrics.ngrams import NGrams, SkipBigrams
from optsum.options.files.toml import sentence_of
from optsum.options.options import OF_SEARCHES, Options
from optsum.problem.formulation import Formulation
from optsum.registry import FORMULATIONS, QUICK
from optsum.report.tables.results import headline
from optsum.running.setup import Setup, setup_of

_NOT_OF_PROBLEMS: Final = {*OF_SEARCHES, "verify", "preset"}

_SAID: Final = (
    "topics",
    *(name for name in Options.model_fields if name not in {*_NOT_OF_PROBLEMS, "formulation", "metric"}),
)
"""Fields of a row, beside formulation and metric, that say what the problem is."""

_REFERENCES: Final = {
    "pooled": "all references pooled",
    "each": "each reference by itself",
    "mean": "each reference, averaged",
    "best": "the reference that gives most",
    "first": "the first reference",
    "agreed": "the reference that another agrees with best",
}


@dataclass(frozen=True)
class Setting:
    """A problem as it was posed to all topics; equal settings are one.

    Attributes
    ----------
    formulation : str
    metric : str or None
        None for a formulation that has none.
    options : Options or None
        Where the rows have them (`optsum.running.all_optima.details`); those of the search are the defaults.
    said : tuple of (name, value)
        What else rows say of the problem themselves: options that a grid varies, the file of the topics.
    """

    formulation: str
    metric: str | None
    options: Options | None = None
    said: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any], details: Mapping[str, Any] | None) -> Setting:
        """Return the setting of a row.

        Raises
        ------
        InputError
            If its details have options that cannot be.
        """
        given = None if details is None else details.get("options")
        options = None
        if given is not None:
            try:
                options = Options.model_validate({k: v for k, v in dict(given).items() if k not in _NOT_OF_PROBLEMS})
            except ValidationError as error:
                raise InputError(
                    f"its details are not those that optsum writes: {sentence_of(error.errors()[0])}"
                ) from None
            except (TypeError, ValueError):
                raise InputError("its details are not those that optsum writes: options is no object") from None
        return cls(*_named(row), options, _said(row, options))

    def goes_on(self, row: Mapping[str, Any]) -> bool:
        """Whether a row without details can be of the same setting as the one before it."""
        return (self.formulation, self.metric) == _named(row) and self.said == _said(row, self.options)

    @cached_property
    def setup(self) -> Setup | None:
        """How its topics are read; None where rows do not say it, or what it needs is not here."""
        if self.options is None:
            return None
        try:
            return setup_of(self.options.model_copy(update={"strategy": QUICK}))
        except OptsumError:
            return None

    @property
    def minimizes(self) -> bool:
        """Whether less is better."""
        return self._kind is not None and self._kind.sense is Sense.MINIMIZE

    @cached_property
    def _kind(self) -> type[Formulation] | None:
        """The formulation; None for somebody's own where rows do not say how its topics are read."""
        if self.setup is not None:
            return type(self.setup.formulation)
        return FORMULATIONS.load(self.formulation) if self.formulation in FORMULATIONS.builtin else None

    @property
    def label(self) -> str:
        """The problem in a few words."""
        if self.options is not None and self.setup is not None:
            return ", ".join([headline(self.options), *self._more])
        return ", ".join(filter(None, (self.formulation, self.metric, *self._more)))

    @property
    def _more(self) -> list[str]:
        return [f"{name.replace('_', ' ')} {value.rpartition('/')[2]}" for name, value in self.said]

    @property
    def max_length(self) -> int | None:
        """The longest summary, as far as rows say it."""
        if self.options is not None:
            return self.options.max_length
        length = dict(self.said).get("max_length", "")
        return int(length) if length.isdecimal() and len(length) < 16 else None

    @property
    def sentence(self) -> str:
        """The problem in one sentence's words."""
        what = (self._kind and self._kind.summaries) or f"{self.formulation} summaries"
        options = self.options
        if options is None or self.setup is None:
            return "; ".join(filter(None, (what, _capitals(self.metric), *self._more)))
        if not self.setup.formulation.reads_topics:
            return self.setup.formulation.about
        if not self.setup.formulation.has_metric:
            return f"{what} of as few {options.length_unit if options.weights == 'length' else 'sentences'} as can be"
        if options.max_length is None:
            size = f"{what} of any length"
        elif options.min_length:
            size = f"{what} of {options.min_length} to {options.max_length} {options.length_unit}"
        else:
            size = f"{what} of at most {options.max_length} {options.length_unit}"
        measure = "F1" if options.measure == "f1" else options.measure
        words = [f"{size}; {_capitals(options.metric)} {measure} against {_REFERENCES[options.references]}"]
        if options.stem:
            words.append("stemmed" if options.stemmer == "rouge155" else f"stemmed as {options.stemmer}")
        if options.stopwords != "keep":
            words.append("without stop words")
        return "; ".join([", ".join(words), *self._more])

    def to_json(self) -> dict[str, Any]:
        """Return what the page counts with."""
        options = self.options
        components = [] if self.metric is None or options is None else list(map(_component, _components(self.metric)))
        return {
            "label": visible(self.label),
            "minimizes": self.minimizes,
            "unit": None if options is None else options.length_unit,
            "components": components,
            "distinct": options is not None and options.counts == "set",
            "joined": options is not None and options.boundaries == "joined",
            "apart": options is not None and options.model_units == "sentences",
            "best": options is not None and options.references == "best",
        }


def _named(row: Mapping[str, Any]) -> tuple[str, str | None]:
    return str(row.get("formulation") or "extractive"), row.get("metric")


def _said(row: Mapping[str, Any], options: Options | None) -> tuple[tuple[str, str], ...]:
    names = [name for name in _SAID if options is None or name not in Options.model_fields]
    return tuple((name, visible(str(row[name]))) for name in names if row.get(name) is not None)


def _capitals(metric: str | None) -> str:
    return "" if metric is None else metric.replace("rouge-", "ROUGE-").replace("-su", "-SU").replace("E-l", "E-L")


def _components(metric: str) -> tuple[Metric, ...]:
    try:
        return parse_metric(metric).components
    except OptsumError:
        return ()


def _component(metric: Metric) -> dict[str, Any]:
    """Return how n-grams are made; of what is not made of neighbouring tokens only the name."""
    if isinstance(metric, NGrams):
        return {"name": metric.name, "size": metric.size}
    if isinstance(metric, SkipBigrams):
        return {"name": metric.name, "skip": metric.skip}
    return {"name": metric.name}
