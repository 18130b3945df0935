"""A line on what was optimized or scored, to paste into a paper, like sacrebleu's signature (Post 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from optsum._version import __version__
from optsum.corpus.topic import digest_of_vectors
from optsum.coverage.instance import Sense
from optsum.metrics.rouge import parse_metric
from optsum.options.options import Options, ScoreOptions
from optsum.system.files import of_files

_digest: Final = of_files(lru_cache(maxsize=8)(digest_of_vectors))  # Which reads every file of a folder.
_SIDES: Final = ("max_sentences", "max_characters", "per_document", "require", "forbid", "exclusive", "requires")
"""Side constraints, which are mentioned only if there are any."""


def signature(options: Options, tokenizer: str) -> str:
    """Return the settings that two results must share to be compared.

    Examples
    --------
    >>> signature(Options(max_length=100), "rouge").partition("|tok")[0]
    'form:extractive|metric:rouge-1|of:recall|refs:pooled|len:0-100 words'
    """
    longest = "" if options.max_length is None else options.max_length
    formulation = options.formulated()
    parts = {"form": options.formulation}
    if formulation.has_metric:
        parts |= {"metric": options.metric, "of": options.measure, "refs": options.references} | _texts(options)
    if formulation.sense is Sense.MAXIMIZE and formulation.reads_topics:
        whose = "" if options.length_tokenizer is None else f" of {options.length_tokenizer}"
        parts["len"] = f"{options.min_length}-{longest} {options.length_unit}{whose}"
    if formulation.has_metric:
        if any(part.of_texts for part in parse_metric(options.metric).components):
            parts |= {**_analysis(options, tokenizer), "in": options.boundaries}
        else:  # vectors that come with the topics, or from a model, are not known here
            vectors = "own" if options.vectors is None else _digest(options.vectors)[:12]
            parts |= {"unit": str(options.similarity_unit), "vectors": vectors}
    flags = [name for name in formulation.flags if name != "max_length"]
    own = {name: getattr(options, name) for name in (*_SIDES, *flags)} | dict(options.formulation_options)
    return _line({**parts, **{name: str(value) for name, value in own.items() if value is not None}})


def score_signature(options: ScoreOptions, tokenizer: str) -> str:
    """Return the settings that two scores must share to be compared.

    Examples
    --------
    >>> score_signature(ScoreOptions(metric="rouge-2", stem=True, max_words=100), "rouge").partition("|optsum")[0]
    'score:rouge-2|refs:pooled|cut:100 words|tok:rouge|stem:yes|stop:keep|count:clipped'
    """
    parts = {"score": options.metric, "refs": options.references}
    parts |= {"by": options.best_by} if options.references == "best" else {}
    parts |= _texts(options)
    parts |= {} if options.max_words is None else {"cut": f"{options.max_words} words"}
    return _line({**parts, **_analysis(options, tokenizer)})


def _texts(options: Options | ScoreOptions) -> dict[str, str]:
    found: dict[str, str] = {} if options.model_units == "whole" else {"models": options.model_units}
    found |= {} if options.language == "en" else {"lang": options.language}
    found |= {} if options.lines is None else {"lines": str(options.lines).lower()}
    found |= {} if options.source_words is None else {"source": f"{options.source_words} words"}
    return found | ({} if options.splitter == "sentencex" else {"split": str(options.splitter)})


def _analysis(options: Options | ScoreOptions, tokenizer: str) -> dict[str, str]:
    stems = "yes" if options.stemmer == "rouge155" else options.stemmer
    return {
        "tok": tokenizer,
        "stem": stems if options.stem else "no",
        "stop": options.stopwords,
        "count": options.counts,
    }


def _line(parts: Mapping[str, str]) -> str:
    return "|".join(f"{name}:{value}" for name, value in {**parts, "optsum": __version__}.items())
