"""The base of all models of options, and the options of scoring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from optsum.corpus import topic
from optsum.options.values import LONGEST, our_value
from optsum.plugins import named_function
from optsum.system.files import of_files

if TYPE_CHECKING:
    from optsum.corpus.topic import Reading
    from optsum.text.analyzer import Analyzer


_KINDS: Final[dict[Any, Literal["int_type", "float_type", "bool_type"]]] = {
    **dict.fromkeys((int, int | None), "int_type"),
    **dict.fromkeys((float, float | None), "float_type"),
    **dict.fromkeys((bool, bool | None), "bool_type"),
}


class Model(BaseModel):
    """Options that cannot be changed, refuse others, and take neither text nor true or false for a number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        if type(value).__module__ == "numpy" and not getattr(value, "shape", None):  # loaded already, if it is one
            if value.dtype.kind in "mM":  # whose items may be numbers
                raise PydanticCustomError("no_number", "a time is no number")
            value = value.item()
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation not in {bool, bool | None}:
            raise PydanticCustomError("no_number", "true or false is no number")
        if isinstance(value, str | bytes) and (kind := _KINDS.get(cls.model_fields[str(info.field_name)].annotation)):
            raise PydanticKnownError(kind)
        return our_value(str(info.field_name), value)


def function_or_name(value: Any, otherwise: ValidatorFunctionWrapHandler) -> Any:
    """Let a function be given for its name; one that has a name already keeps it."""
    if isinstance(value, str) and hasattr(value, "function"):  # pydantic would make plain text of it
        return value
    return named_function(value) if callable(value) else otherwise(value)


def _number_or_reference(value: Any, otherwise: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, str | bytes) and value != "reference":
        raise PydanticCustomError("no_number", "a text is no number")
    return otherwise(value)


MaxLength: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, le=LONGEST)] | Literal["reference"] | None, WrapValidator(_number_or_reference)
]


@dataclass(frozen=True)
class FlagHint:
    """How the command line shows an option: whether the short help has it, and the list whose names a shell offers."""

    brief: bool = False
    names: str = ""


# Searches and scores read texts alike, so what they say of it is one text.
Tokenizer: TypeAlias = Annotated[
    str | None,
    FlagHint(brief=True, names="tokenizers"),
    WrapValidator(function_or_name),
    Field(
        description="rouge (default), unicode, characters, blank, another name or module:function, or tokens "
        "(default for pre-tokenized topics)"
    ),
]
Language: TypeAlias = Annotated[
    str,
    FlagHint(brief=True, names="languages"),
    Field(description="of raw text, by whose rules it is split, such as en, de or zh"),
]
SplitterName: TypeAlias = Annotated[
    str,
    FlagHint(names="splitters"),
    WrapValidator(function_or_name),
    Field(description="splitter of raw text into sentences: sentencex, or module:function"),
]
LengthTokenizer: TypeAlias = Annotated[
    str | None,
    WrapValidator(function_or_name),
    Field(
        description="whose tokens are lengths: tiktoken:NAME, hf:NAME or module:function; to name one is to count them"
    ),
]
Stem: TypeAlias = Annotated[
    bool,
    FlagHint(brief=True),
    Field(description="Porter stemming as ROUGE-1.5.5 -m does, or as the stemmer named (rouge-score: google-stemmed)"),
]
Stemmer: TypeAlias = Annotated[
    str,
    FlagHint(names="stemmers"),
    WrapValidator(function_or_name),
    Field(
        description="rouge155 (as ROUGE-1.5.5 -m) or rouge-score, both English, snowball:LANGUAGE, another name or "
        "module:function; to name one is to stem"
    ),
]
Stopwords: TypeAlias = Annotated[str, Field(description="keep, drop (SMART list), or a file with one word a line")]
Metrics: TypeAlias = Annotated[str, FlagHint(brief=True, names="metrics")]
Preset: TypeAlias = Annotated[
    str | None,
    FlagHint(brief=True, names="presets"),
    Field(description="a set of options from a paper (optsum list presets)"),
]
Counts: TypeAlias = Annotated[
    Literal["clipped", "set"], Field(description="count each n-gram as often as it occurs, or once")
]
ModelUnits: TypeAlias = Annotated[
    Literal["whole", "sentences"],
    Field(description="a reference is one text, or each of its sentences is clipped by itself"),
]
FlatLists: TypeAlias = Annotated[
    Literal["sentences", "texts", "tokens"] | None,
    Field(description="a flat list of strings as documents or references: one text's sentences, raw texts, or tokens"),
]
Lines: TypeAlias = Annotated[
    bool | None, Field(description="each line of raw text is a sentence [of dialogues and highlights]")
]
SourceWords: TypeAlias = Annotated[
    int | None, Field(ge=1, description="read only the sentences within the first N words of the documents")
]


@of_files
@lru_cache(maxsize=64)
def analyzer_of(tokenizer: str, stem: bool, stopwords: str, stemmer: str) -> Analyzer:
    """Return a text analysis; those that are the same are one object."""
    from optsum.text.analyzer import Analyzer, load_stopwords  # --help is quicker without

    dropped = stopwords if stopwords in {"keep", "drop"} else load_stopwords(stopwords)
    return Analyzer(tokenizer, stem, dropped, stemmer)


def reading_of(options: Any) -> Reading:
    """Return how options of any command have texts become sentences."""
    reading = topic.reading_of(
        language=options.language,
        splitter=options.splitter,
        flat=options.flat,
        lines=options.lines,
        source_words=options.source_words,
    )
    as_rouge_score = (getattr(options, "preset", None) or "").startswith("google")
    return reading._replace(summary_lines="always" if as_rouge_score else None)


class ScoreOptions(Model):
    """Every option of scoring."""

    model_config = ConfigDict(defer_build=True)  # most commands score nothing

    metric: Metrics = Field("rouge-1+rouge-2+rouge-l", description="one metric, or several joined by +")
    references: Literal["pooled", "mean", "best", "first", "agreed"] = Field(
        "pooled",
        description="all references together, the mean over them, the best of them, the first alone, or the one with "
        "which another agrees best",
    )
    best_by: Literal["recall", "precision", "f1"] = Field(
        "recall", description="measure that chooses the best reference: recall as ROUGE-1.5.5, f1 as rouge-score"
    )
    tokenizer: Tokenizer = None
    stem: Stem = False
    stemmer: Stemmer = "rouge155"
    stopwords: Stopwords = "keep"
    counts: Counts = "clipped"
    model_units: ModelUnits = "whole"
    max_words: int | None = Field(None, ge=1, description="cut summaries and references after so many words")
    oracles: bool = Field(
        default=False, description="also precision, recall and F of extracts against all oracles, of --max-length"
    )
    each_oracle: int = Field(
        default=0, ge=0, description="--oracles, and also against each of the first N oracles by itself"
    )
    formulation: str | None = Field(
        None, description="cover: claims that selections support within --max-length, beside the optimum [ROUGE]"
    )
    max_length: MaxLength = Field(
        None,
        description="longest oracle, in words or what the preset counts, or the budget of a cover; reference: as long "
        "as the topic's",
    )
    length_unit: Literal["words", "sentences", "characters", "tokens", "given"] | None = Field(
        None, description="of a cover's budget [given where topics give lengths, otherwise words]"
    )
    length_tokenizer: LengthTokenizer = None
    uncoverable: Literal["error", "skip"] = Field(
        "error", description="of a cover, a claim that no passage supports: missed, or left out"
    )
    time_limit: float | None = Field(None, ge=0, description="seconds to find the optimum, or all oracles, of a topic")
    language: Language = "en"
    splitter: SplitterName = "sentencex"
    flat: FlatLists = None
    lines: Lines = None
    source_words: SourceWords = None
    preset: Preset = None

    @cached_property
    def reading(self) -> Reading:
        """Options by which texts of the input become sentences."""
        return reading_of(self)

    def analyzer(self, *, pretokenized: bool = False) -> Analyzer:
        """Return the text analysis that n-grams are counted with."""
        tokenizer = self.tokenizer or ("tokens" if pretokenized else "rouge")
        return analyzer_of(tokenizer, self.stem, self.stopwords, self.stemmer)
