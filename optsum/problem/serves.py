"""State as data which options a formulation serves: for refusals in one sentence, and for a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from optsum.errors import UnsupportedError
from optsum.metrics.metric import Metric
from optsum.metrics.names import METRICS, MetricSum, parse_metric

if TYPE_CHECKING:
    from optsum.problem.spec import Spec


Choices: TypeAlias = Mapping[str, tuple[str, ...]]  # Aspect -> some of its values.

ASPECTS: Final[Choices] = MappingProxyType(
    {
        "measure": ("recall", "precision", "f1"),
        "references": ("pooled", "mean"),
        "counts": ("clipped", "set"),
        "boundaries": ("sentence", "joined"),
        "model_units": ("whole", "sentences"),
    }
)
"""What can be chosen beside the metric, under the names of the options."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is not served.

    Aspects are those of `ASPECTS`, ``tokenizer``, ``metric`` (the kinds of the whole, `Metric.kinds`) and ``part`` (the
    kinds of each component of a sum or a mean).

    Attributes
    ----------
    say : str
        The sentence; ``{metric}``, ``{measure}`` and the other aspects are filled in.
    only : mapping
        The values that are served, by aspect; all other values are refused. If it is empty, every value is refused.
    when : mapping
        The rule holds where all of these aspects have one of these values.
    """

    say: str
    only: Choices = field(default_factory=dict)
    when: Choices = field(default_factory=dict)

    def refuses(self, chosen: Mapping[str, list[frozenset[str]]]) -> bool:
        """Whether what was chosen is against the rule."""
        if not all(any(one & set(values) for one in chosen.get(of, ())) for of, values in self.when.items()):
            return False
        of_only = [one & set(values) for of, values in self.only.items() for one in chosen.get(of, ())]
        return not all(of_only) if self.only else True


@dataclass(frozen=True, slots=True, kw_only=True)
class Serves:
    """Values of options that a formulation serves; an option that is left out is served with any value.

    Attributes
    ----------
    metrics : tuple of str or None
        Kinds of metric (`Metric.kinds`), such as "rouge-N" and "rouge-suK"; of a sum, those of its parts.
    measure, references, counts, boundaries, model_units : tuple of str or None
        As the options of these names.
    rules : tuple of Rule
        Further rules with messages of their own; they are checked first.
    """

    metrics: tuple[str, ...] | None = None
    measure: tuple[str, ...] | None = None
    references: tuple[str, ...] | None = None
    counts: tuple[str, ...] | None = None
    boundaries: tuple[str, ...] | None = None
    model_units: tuple[str, ...] | None = None
    rules: tuple[Rule, ...] = field(default=())

    @property
    def _all(self) -> tuple[Rule, ...]:
        lists = {"part": self.metrics} | {aspect: getattr(self, aspect) for aspect in ASPECTS}
        return (
            *self.rules,
            *(
                Rule(
                    f"The formulation {{formulation}} serves the {_called(aspect)} {_or(values)}, not {{{aspect}}}: "
                    f"change --{_called(aspect).replace(' ', '-')}, or --formulation.",
                    only={aspect: values} | ({"metric": (*values, MetricSum.form)} if aspect == "part" else {}),
                )
                for aspect, values in lists.items()
                if values is not None
            ),
        )

    def check(self, formulation: str, spec: Spec) -> None:
        """Refuse what is not served.

        Parameters
        ----------
        formulation : str
            Its name.
        spec : Spec

        Raises
        ------
        UnsupportedError
            One sentence that says what is served instead.
        """
        metric = parse_metric(spec.metric)
        said = {aspect: getattr(spec, aspect) for aspect in ASPECTS} | {
            "tokenizer": spec.analyzer.tokenizer,
            "length_unit": spec.length_unit,
        }
        chosen = {aspect: [frozenset({value})] for aspect, value in said.items()} | _of_metric(metric)
        for rule in self._all:
            if rule.refuses(chosen):
                raise UnsupportedError(rule.say.format(formulation=formulation, metric=metric, part=metric, **said))

    def metric_forms(self) -> list[str]:
        """Return the forms of metrics that are served alone, under any other options."""
        examples = {"rouge-N": "rouge-1", "rouge-su0": "rouge-su0", "rouge-suK": "rouge-su4", "rouge-l": "rouge-l",
                    "rougeL": "rougeL", MetricSum.form: "rouge-1+rouge-2", "ngram-I-J": "ngram-1-4"}  # fmt: skip
        kinds = {form: _of_metric(parse_metric(name)) for form, name in examples.items()}
        for form in METRICS:
            if form not in METRICS.builtin:
                kinds[form] = {"metric": [frozenset({form})], "part": [frozenset({form})]}
        served = [form for form, of in kinds.items() if not self._refuses(of)]
        return [form for form in served if form != "rouge-su0" or "rouge-suK" not in served]

    def values(self, aspect: str) -> list[str]:
        """Return the values of an aspect that are served, if everything else is left at its default."""
        return [value for value in ASPECTS[aspect] if not self._refuses({aspect: [frozenset({value})]})]

    def _refuses(self, chosen: Mapping[str, list[frozenset[str]]]) -> bool:
        rules = (rule for rule in self._all if not rule.when and rule.only.keys() & chosen.keys())
        return any(rule.refuses(chosen) for rule in rules)


def _of_metric(metric: Metric) -> dict[str, list[frozenset[str]]]:
    return {"metric": [metric.kinds], "part": [part.kinds for part in metric.components]}


def _called(aspect: str) -> str:
    return "metric" if aspect == "part" else aspect.replace("_", " ")


def _or(values: tuple[str, ...]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"
