"""Similarity of meaning: each token of a reference counts by the most similar token of the summary.

With vectors of tokens (or sentences), and the cosine of two as their similarity,

    recall    = sum of w_r max over t in the summary of sim(r, t), over the sum of w_r
    precision = sum of v_t max over r in the reference of sim(r, t), over the sum of v_t

like the greedy matching of BERTScore (Zhang et al. 2020, eq. 1-3), with given vectors and weights such as idf. The
vectors of a sentence come from the source; a model that reads only the summary may give it other vectors. The arrays
have the same names in npz files:

=================  ====================  ==========================================================================
name               shape                 what
=================  ====================  ==========================================================================
sentences          (tokens, dimensions)  vectors of the tokens of all sentences of the documents
sentence_of        (tokens,)             the sentence of each, from 0; left out if each sentence has one vector
references         (tokens, dimensions)  vectors of the tokens of all references
reference_of       (tokens,)             the reference of each, from 0; left out if there is one reference, or each
                                         sentence of the references has one vector
similarities       (tokens, tokens)      instead of vectors: the similarity, from -1 to 1, of each token of the
                                         sentences and each of the references
sentence_weights,  (tokens,)             weights, such as idf; 1 if left out
reference_weights
=================  ====================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.errors import InputError, UnsupportedError
from optsum.metrics.rouge import Gram, Metric
from optsum.text.analyzer import Sentence, raw_texts
from optsum.whole import is_list

FloatArray: TypeAlias = NDArray[np.float64]
_SHIFTED = "similarity-shifted"
_ROUNDING = 1e-6  # Fraction of a step by which the similarity of equal vectors may miss 1 in floating point.
IntArray: TypeAlias = NDArray[np.int64]
Embed: TypeAlias = Callable[[list[str]], Any]  # Texts -> for each a vector, or an array with a vector for each token.
NAMES: Final = (
    *("sentences", "sentence_of", "references", "reference_of", "similarities"),
    *("sentence_weights", "reference_weights"),
)


@dataclass(frozen=True)
class Similarity(Metric):
    """Mean similarity of each reference token to the most similar token of the summary."""

    # Whether a similarity s counts as ``(1 + s) / 2``, which has the same optima of recall as s. Otherwise a negative
    # similarity counts as 0.
    shifted: bool = False

    form: ClassVar[str] = "similarity"
    about: ClassVar[str] = (
        "mean best similarity of vectors (--vectors), as BERTScore's recall; similarity-shifted is of (1 + s) / 2"
    )
    countable: ClassVar[bool] = False
    of_texts: ClassVar[bool] = False

    @classmethod
    def read(cls, name: str) -> Metric | None:
        return cls(name == _SHIFTED) if name in {cls.form, _SHIFTED} else None

    @property
    def name(self) -> str:
        return _SHIFTED if self.shifted else self.form

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        del tokens
        raise UnsupportedError(
            f"{self} compares vectors of a topic's sentences and references, not texts: choose n-grams with --metric."
        )

    def valued(self, similarity: FloatArray) -> FloatArray:
        """Map similarities from -1 to 1 to counted values from 0 to 1."""
        return (1 + similarity) / 2 if self.shifted else np.maximum(similarity, 0.0)

    def steps(self, similarity: FloatArray, unit: int) -> NDArray[np.int64]:
        return np.minimum(np.floor(self.valued(similarity) * unit + _ROUNDING), unit).astype(np.int64)


def rescaled(vectors: FloatArray) -> FloatArray:
    """Scale each vector by a power of two, which is exact, so that no square of a number overflows or vanishes."""
    _, exponent = np.frexp(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0))
    found: FloatArray = np.ldexp(vectors, -exponent)
    return found


def _normal(vectors: FloatArray) -> FloatArray:
    """Return vectors of length 1; a zero vector is unchanged, so that its cosine with any vector is 0."""
    scaled = rescaled(vectors)
    norm = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    found: FloatArray = np.divide(scaled, norm, out=scaled, where=norm > 0)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class Vectors:
    """The vectors of a topic's tokens, or their similarities, with the arrays that this module describes."""

    sentences: FloatArray | None  # None, like `references`, if similarities are given.
    sentence_of: IntArray
    references: FloatArray | None
    reference_of: IntArray
    sentence_weights: FloatArray  # 0 or more, like `reference_weights`.
    reference_weights: FloatArray
    given: FloatArray | None = None  # Given similarities.

    def similarities(self, some: slice = slice(None)) -> FloatArray:
        if self.sentences is None or self.references is None:
            assert self.given is not None  # noqa: S101 - checked when it was made
            return self.given[some]
        found: FloatArray = np.clip(_normal(self.sentences[some]) @ _normal(self.references).T, -1.0, 1.0)
        return found

    def of_references(self, numbers: Sequence[int]) -> Vectors:
        places = [np.flatnonzero(self.reference_of == number) for number in numbers]
        place = np.concatenate(places)
        return replace(
            self,
            references=None if self.references is None else self.references[place],
            reference_of=np.repeat(np.arange(len(numbers), dtype=np.int64), list(map(len, places))),
            reference_weights=self.reference_weights[place],
            given=None if self.given is None else self.given[:, place],
        )


def vectors_of(arrays: Mapping[str, Any], sentences: int, references: Sequence[Sequence[Sentence]]) -> Vectors:
    if unknown := [name for name in arrays if name not in NAMES]:
        raise InputError(f"there are no vectors named {unknown[0]!r:.40}; the names are {', '.join(NAMES)}")
    held = {name: _numbers(arrays[name], name) for name in NAMES if arrays.get(name) is not None}
    given = held.get("similarities")
    if given is not None and {"sentences", "references"} & held.keys():
        raise InputError("there are both similarities and vectors; give one of them")
    shape = "(tokens, dimensions)" if given is None else "(tokens of the sentences, tokens of the references)"
    for name in ("sentences", "references") if given is None else ("similarities",):
        if name not in held:
            raise InputError(f'there is no array "{name}"; give sentences and references, or similarities')
        if held[name].ndim != 2:
            raise InputError(f'"{name}" has {held[name].ndim} dimensions; it must be of shape {shape}')
    if given is not None:
        if given.size and np.abs(given).max() > 1 + 1e-6:
            raise InputError(f"a similarity is {given.flat[np.abs(given).argmax()]:.10g}; it must be from -1 to 1")
        left = right = None
        tokens, model_tokens = given.shape
    else:
        left, right = held["sentences"], held["references"]
        if left.shape[1] != right.shape[1]:
            raise InputError(
                f"vectors of sentences have {left.shape[1]} dimensions, and those of references {right.shape[1]}; "
                "make both with the same model"
            )
        tokens, model_tokens = len(left), len(right)
    return Vectors(
        sentences=left,
        sentence_of=_belonging(held.get("sentence_of"), "sentence", tokens, sentences, [1] * sentences),
        references=right,
        reference_of=_belonging(
            held.get("reference_of"), "reference", model_tokens, len(references), list(map(len, references))
        ),
        sentence_weights=_weights(held.get("sentence_weights"), "sentence_weights", tokens),
        reference_weights=_weights(held.get("reference_weights"), "reference_weights", model_tokens),
        given=None if given is None else np.clip(given, -1.0, 1.0),
    )


def _numbers(value: Any, name: str) -> FloatArray:
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.array(None)
    if found.dtype.kind not in "fiu" or _has_others(value):
        raise InputError(f'"{name}" has values that are not numbers, or rows of different lengths; give an array')
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        raise InputError(f'"{name}" holds NaN or infinity; give finite numbers')
    return found


def _has_others(value: Any) -> bool:
    """Return whether lists of numbers contain truth values or masked ones, which NumPy would convert to numbers."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "b" or np.any(getattr(value, "mask", False)))
    if not isinstance(value, list | tuple):
        return False
    return not {bool, np.bool_}.isdisjoint(map(type, value)) or any(map(_has_others, value))


def _belonging(found: FloatArray | None, kind: str, tokens: int, number: int, sentences: list[int]) -> IntArray:
    name = f"{kind}_of"
    if found is None:
        if kind == "reference" and number == 1:
            return np.zeros(tokens, np.int64)
        if tokens != sum(sentences):
            what = "sentences" if kind == "sentence" else "sentences of references"
            raise InputError(
                f'there are {tokens} vectors, but {sum(sentences)} {what}; give "{name}", the {kind} of each vector'
            )
        return np.repeat(np.arange(number), sentences).astype(np.int64)
    if found.shape != (tokens,):
        raise InputError(f'"{name}" is of shape {found.shape}, but there are {tokens} vectors; give a number for each')
    whole = found.astype(np.int64)
    if (whole != found).any() or (tokens and not 0 <= whole.min() <= whole.max() < number):
        raise InputError(f'"{name}" names {kind}s that do not exist; they are numbered from 0 to {number - 1}')
    return whole


def _weights(found: FloatArray | None, name: str, tokens: int) -> FloatArray:
    if found is None:
        return np.ones(tokens)
    if found.shape != (tokens,):
        raise InputError(f'"{name}" is of shape {found.shape}, but there are {tokens} vectors; give a weight for each')
    if found.min(initial=0.0) < 0:
        raise InputError(f'"{name}" holds a negative weight; weights are 0 or more')
    return found


def embedded(embed: Embed, sentences: Sequence[Sentence], references: Sequence[Sequence[Sentence]]) -> Vectors:
    """Return the vectors of a model, called once for the sentences, and once for the sentences of each reference."""
    first, *others = [_embedded(embed, raw_texts(part)) for part in (sentences, *references)]
    held = [row for part in others for row in part]
    widths = dict.fromkeys(row.shape[1:] for row in (*first, *held) if len(row))
    if len(widths) > 1:
        shown = " and ".join(" x ".join(map(str, width)) for width in widths)
        raise InputError(
            f"embed returns vectors of {shown} dimensions, and all must have the same; it is called once for the "
            "documents and once for each reference, so fit a model before"
        )
    width = next(iter(widths), (1,))
    arrays = {
        "sentences": np.concatenate([np.zeros((0, *width)), *(row for row in first if len(row))]),
        "sentence_of": np.repeat(np.arange(len(first)), list(map(len, first))),
        "references": np.concatenate([np.zeros((0, *width)), *(row for row in held if len(row))]),
        "reference_of": np.repeat(np.arange(len(others)), [sum(map(len, part)) for part in others]),
    }
    return vectors_of(arrays, len(sentences), references)


def _embedded(embed: Embed, texts: list[str]) -> list[FloatArray]:
    made = embed(texts) if texts else []
    try:
        size = len(made) if is_list(made) and isinstance(made, Sized) else None
    except TypeError:  # a sparse matrix
        size = None
    if size is None:
        raise InputError(f"embed returns a value of type {type(made).__name__}; return an array or a list of vectors")
    if size != len(texts):
        raise InputError(f"embed returns {size} results for {len(texts)} texts; return one for each")
    found = [_numbers(one, "the result of embed") for one in made]
    if any(one.ndim == 0 for one in found):
        raise InputError("embed returns a number for a text; return a vector for each, or its token vectors")
    return [one.reshape(1, -1) if one.ndim == 1 else one for one in found]
