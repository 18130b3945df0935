"""Options: one typed description of what to do, filled from keywords, a TOML file and the command line alike."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from optsum.coverage import NO_LIMIT
from optsum.errors import OptionError
from optsum.formulation import Spec
from optsum.names import unknown_name
from optsum.presets import PRESETS
from optsum.run import Limits
from optsum.text import Analyzer, load_stopwords

__all__ = ["Options", "read_config", "resolve"]

_NOT_IN_HASH = {"workers"}
"""Options that cannot change a result."""


class Options(BaseModel):
    """Every option, with its default; names as on the command line (``--max-length`` is ``max_length``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    formulation: str = Field("extractive", description="what the units are (optsum list formulations)")
    strategy: str = Field("milp", description="how to search (optsum list strategies)")
    backend: str = Field("highs", description="MILP solver, or pyomo:NAME (optsum list backends)")
    metric: str = Field("rouge-1", description="rouge-N or rouge-suK")
    measure: Literal["recall", "precision", "f1"] = Field("recall", description="what of the metric is maximized")
    references: Literal["pooled", "each", "mean"] = Field(
        "pooled", description="all references together, one problem for each, or the mean over them"
    )
    max_length: int | None = Field(None, ge=0, description="longest summary, in the length unit")
    min_length: int = Field(0, ge=0, description="shortest summary, in the length unit")
    length_unit: Literal["words", "sentences", "characters"] = Field(
        "words", description="what lengths count; words are blank-separated"
    )
    tokenizer: str | None = Field(
        None, description="rouge (default), blank, unicode, or tokens (default for pre-tokenized topics)"
    )
    stem: bool = Field(default=False, description="Porter stemming as ROUGE-1.5.5 -m does")
    stopwords: str = Field("keep", description="keep, drop (SMART list), or a file with one word a line")
    counts: Literal["clipped", "set"] = Field("clipped", description="count each n-gram as often as it occurs, or once")
    boundaries: Literal["sentence", "joined"] = Field(
        "sentence", description="n-grams of the summary within sentences, or across their ends"
    )
    keep_unmatched: bool = Field(default=False, description="keep sentences without any counted n-gram as units")
    preset: str | None = Field(None, description="a set of options from a paper (optsum list presets)")
    time_limit: float | None = Field(None, ge=0, description="seconds of search per problem")
    node_limit: int | None = Field(None, ge=0, description="nodes of the search tree per problem")
    evaluation_limit: int | None = Field(None, ge=0, description="selections evaluated per problem")
    gap: float | None = Field(None, ge=0, description="relative gap that is good enough")
    target: float | None = Field(None, description="objective that is good enough")
    seed: int = Field(0, ge=0, description="the same seed gives the same result")
    workers: int = Field(1, ge=1, description="processes")

    def analyzer(self) -> Analyzer:
        """Return the text analysis that the objective counts with."""
        keep = self.stopwords in {"keep", "drop"}
        return Analyzer(
            self.tokenizer or "rouge", self.stem, self.stopwords if keep else load_stopwords(self.stopwords)
        )

    def spec(self, *, pretokenized: bool = False) -> Spec:
        """Return what is optimized.

        Parameters
        ----------
        pretokenized : bool
            The topic comes as lists of tokens, which are used as they are unless a tokenizer was asked for.
        """
        if pretokenized and self.tokenizer is None:
            return self.model_copy(update={"tokenizer": "tokens"}).spec()
        return _spec(self)

    def limits(self) -> Limits:
        """Return when to stop early."""
        return Limits(
            time_s=self.time_limit,
            evaluations=self.evaluation_limit,
            nodes=self.node_limit,
            gap=self.gap,
            target=self.target,
        )

    def strategy_options(self) -> dict[str, Any]:
        """Return the options of the strategy itself."""
        return {"backend": self.backend} if self.strategy == "milp" else {}

    @property
    def config_hash(self) -> str:
        """Twelve hexadecimal digits that differ when an option that can change a result does."""
        return _hash(self)


@lru_cache(maxsize=64)
def _spec(options: Options) -> Spec:
    return Spec(
        analyzer=options.analyzer(),
        metric=options.metric,
        measure=options.measure,
        counts=options.counts,
        references="mean" if options.references == "mean" else "pooled",
        boundaries=options.boundaries,
        max_length=NO_LIMIT if options.max_length is None else options.max_length,
        min_length=options.min_length,
        length_unit=options.length_unit,
        keep_unmatched=options.keep_unmatched,
    )


@lru_cache(maxsize=256)
def _hash(options: Options) -> str:
    data = options.model_dump(exclude=_NOT_IN_HASH)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]


def read_config(path: str | Path) -> dict[str, Any]:
    """Read options from a TOML file; hyphens and underscores in names are the same.

    Raises
    ------
    OptionError
        If the file cannot be read, is no TOML, or sets an option twice.
    """
    try:
        with Path(path).open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise OptionError(f"The configuration {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"The configuration {path} is no TOML: {error}.") from error
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name in options:
            raise OptionError(f"The configuration {path} sets {name} twice.")
        if name not in Options.model_fields:
            raise unknown_name(f"option in {path}", key, Options.model_fields)
        options[name] = value
    return options


def resolve(given: Mapping[str, Any] | None = None, *, config: str | Path | None = None) -> Options:
    """Return the options: defaults, then the preset's, then the file's, then those given.

    Parameters
    ----------
    given : mapping, optional
        Option name -> value; None stands for "not given". What is given wins over the file, the file over the
        preset.
    config : path, optional
        A TOML file with the same names.

    Raises
    ------
    UnknownNameError
        For an option or a preset that does not exist, with the nearest names.
    OptionError
        For a value that is impossible, options that contradict one another, or no length limit where one is needed.
    """
    values = {name: value for name, value in (given or {}).items() if value is not None}
    for name in values:
        if name not in Options.model_fields:
            raise unknown_name("option", name, Options.model_fields)
    if config is not None:
        values = {**read_config(config), **values}
    if (preset := values.get("preset")) is not None:
        if preset not in PRESETS:
            raise unknown_name("preset", preset, PRESETS)
        values = {**PRESETS[preset].options, **values}
    try:
        return _validated(frozenset(values.items()))
    except TypeError:  # a value that cannot be hashed is wrong anyway; let the model say so
        return _validate(values)


@lru_cache(maxsize=64)
def _validated(items: frozenset[tuple[str, Any]]) -> Options:
    return _validate(dict(items))


def _validate(values: dict[str, Any]) -> Options:
    try:
        options = Options(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise OptionError(
            f"The option {name} cannot be {first['input']!r}: {first['msg'][:1].lower()}{first['msg'][1:]}."
        ) from None
    if options.max_length is None and options.measure == "recall":
        raise OptionError("Recall only grows with the length, so it needs a limit: give --max-length N, or a --preset.")
    if options.max_length is not None and options.min_length > options.max_length:
        raise OptionError(f"The minimum length {options.min_length} is above the maximum length {options.max_length}.")
    options.spec()  # refuses an unknown tokenizer, or a stop word file that cannot be read, before any work
    return options
