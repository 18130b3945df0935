"""What was optimized, in one line that can be pasted into a paper, as sacrebleu's (Post 2018)."""

from __future__ import annotations

from optsum._version import __version__
from optsum.options.options import Options

__all__ = ["signature"]


def signature(options: Options, tokenizer: str) -> str:
    """Return what two results must have in common to be compared.

    Examples
    --------
    >>> signature(Options(max_length=100), "rouge").partition("|tok")[0]
    'form:extractive|metric:rouge-1|of:recall|refs:pooled|len:0-100 words'
    """
    longest = "" if options.max_length is None else options.max_length
    formulation = options.formulated()
    parts = {"form": options.formulation}
    if formulation.has_metric:
        parts |= {"metric": options.metric, "of": options.measure, "refs": options.references}
        parts |= {} if options.model_units == "whole" else {"models": options.model_units}
        parts["len"] = f"{options.min_length}-{longest} {options.length_unit}"
        parts |= {"tok": tokenizer, "stem": _stems(options), "stop": options.stopwords}
        parts |= {"count": options.counts, "in": options.boundaries}
    own = {name: getattr(options, name) for name in formulation.flags} | dict(options.formulation_options)
    parts |= {name: str(value) for name, value in own.items() if value is not None}
    return "|".join(f"{name}:{value}" for name, value in {**parts, "optsum": __version__}.items())


def _stems(options: Options) -> str:
    if not options.stem:
        return "no"
    return "yes" if options.stemmer == "rouge155" else options.stemmer
