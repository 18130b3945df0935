"""What all models of options have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from optsum.options.values.other_names import our_value

if TYPE_CHECKING:
    from optsum.text.analyzer import Analyzer

__all__ = ["Model", "analyzer_of"]


class Model(BaseModel):
    """Options that cannot be changed, refuse others, and take no true or false for a number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("input should not be true or false")
        return our_value(str(info.field_name), value)


@lru_cache(maxsize=64)
def analyzer_of(tokenizer: str, stem: bool, stopwords: str, stemmer: str) -> Analyzer:
    """Return a text analysis; those that are the same are one object."""
    from optsum.text.analyzer import Analyzer, load_stopwords

    dropped = stopwords if stopwords in {"keep", "drop"} else load_stopwords(stopwords)
    return Analyzer(tokenizer, stem, dropped, stemmer)
