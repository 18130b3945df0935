"""Lengths in words, sentences, characters or a model's tokens, and cutting of texts.

A *word* is a blank-separated piece of a sentence, independent of the tokens of `optsum.text.analyzer.Analyzer`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.plugins import Registry
from optsum.text.tokenizers import Sentence, raw_text, tokenizer_of


def word_count(sentence: Sentence) -> int:
    """Return the length in words: the blank-separated pieces, or the tokens of a pre-tokenized sentence."""
    return len(sentence.split()) if isinstance(sentence, str) else len(sentence)


def word_starts(sentence: Sentence) -> list[int]:
    """Return the position of each word counted by `word_count`, like `spans` of the analyzer for tokens."""
    return [start for _, start in tokenizer_of("tokens").locate(sentence)]


def character_count(sentence: Sentence) -> int:
    """Return the length of a sentence in characters (code points), with tokens joined by blanks."""
    return len(raw_text(sentence))


LENGTH_OF: Final[Mapping[str, Callable[[Sentence], int]]] = MappingProxyType(
    {"words": word_count, "characters": character_count, "sentences": lambda _: 1}
)
"""Length of a sentence, by the name of the unit."""


def tiktoken(name: str) -> Callable[[str], Any]:
    """Return the tokenizer of an encoding (``cl100k_base``) or of a model (``gpt-4o``) of the package tiktoken."""
    package = _imported("tiktoken")
    try:
        known = name in package.list_encoding_names()
        encoding = package.get_encoding(name) if known else package.encoding_for_model(name)
    except KeyError:
        raise OptionError(
            f"tiktoken has no encoding or model {name!r}; encodings: {', '.join(package.list_encoding_names())}."
        ) from None
    except Exception as error:
        raise OptionError(
            f"tiktoken cannot load {name!r} ({error!r:.150}): it downloads an encoding once, and keeps it in the "
            "folder that TIKTOKEN_CACHE_DIR names."
        ) from error
    return partial(encoding.encode, disallowed_special=())


def hugging_face(name: str) -> Callable[[str], Any]:
    """Return a function that encodes a text by a tokenizer of Hugging Face: a hub model, or a ``tokenizer.json``."""
    package = _imported("tokenizers")
    try:
        made = package.Tokenizer.from_file(name) if Path(name).exists() else package.Tokenizer.from_pretrained(name)
    except Exception as error:
        raise OptionError(
            f"The tokenizer {name!r} cannot be loaded ({error!r:.150}): give the name of a model of the hub, which is "
            "downloaded once, or a file tokenizer.json."
        ) from error
    return partial(made.encode, add_special_tokens=False)


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise UnsupportedError(
            f"Lengths in tokens of {package} need that package: pip install 'optsum[tokens]'."
        ) from error


LENGTH_TOKENIZERS: Final[Registry[Any]] = Registry(
    "length tokenizer",
    {},
    "optsum.length_tokenizers",
    families={"tiktoken:": f"{__name__}:tiktoken", "hf:": f"{__name__}:hugging_face"},
)
"""Functions from a text to its tokens, or to their number."""


@lru_cache(maxsize=32)
def token_counter(name: str) -> Callable[[Sentence], int]:
    """Return the function that counts the tokens of a sentence; pre-tokenized ones are joined by blanks first."""
    function = LENGTH_TOKENIZERS.load(name)

    def count(sentence: Sentence) -> int:
        text = raw_text(sentence)
        try:
            found = function(text)
            if isinstance(found, Mapping):  # as tokenizers of transformers return
                found = found["input_ids"]
            number = found if isinstance(found, int) else len(found)
        except Exception as error:
            raise InputError(f"the length tokenizer {name} failed on the text {text[:40]!r}: {error!r:.200}") from error
        if isinstance(found, bool) or number < 0:
            raise InputError(
                f"the length tokenizer {name} returned {found!r} for the text {text[:40]!r}; it must return a list "
                f"of tokens, or their number"
            )
        return number

    return count


def joined(sentences: Iterable[Sentence]) -> Sentence:
    """Return one text: pre-tokenized sentences concatenated, all others (and mixtures) joined by blanks."""
    texts = list(sentences)
    if texts and not any(isinstance(text, str) for text in texts):
        return tuple(token for text in texts for token in text)
    return " ".join(map(raw_text, texts))


# White space as the original script sees it, which reads bytes: a no-break space does not end a word there.
_ASCII_WORD = re.compile(r"\S+", re.ASCII)


def cut_sentences(sentences: Iterable[Sentence], max_words: int) -> list[Sentence]:
    """Cut sentences after `max_words` words (ASCII white space) like ROUGE-1.5.5 -l; later ones become empty."""
    if max_words < 0:
        raise OptionError(f"a text cannot be cut to {max_words} words; give 0 or more")
    left = max_words
    cut: list[Sentence] = []
    for sentence in sentences:
        if isinstance(sentence, str):
            ends = [word.end() for word in _ASCII_WORD.finditer(sentence)]
            words = len(ends)
            part: Sentence = sentence if words <= left else sentence[: ends[left - 1] if left else 0]
        else:
            words = len(sentence)
            part = sentence[:left]
        cut.append(part)
        left = max(0, left - words)
    return cut
