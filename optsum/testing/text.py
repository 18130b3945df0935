"""Check that a tokenizer, a stemmer or a splitter has the properties on which searches rely."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from optsum.corpus.sentences import splitter_of
from optsum.errors import OptsumError
from optsum.plugins import named_function
from optsum.testing.instances import ConformanceError
from optsum.text.analyzer import stemmer_of, tokenizer_of

_PIECES: Final = (
    *("The", "cats'", "running", "U.S.", "3.5", "e.g.", "Dr.", "naïve", "Straße", "İzmir", "ПРИВЕТ", "हिन्दी", "大桥。"),
    *("«Bonjour»", "—", '"', "(", ")", "x_y", "\u200d", "\u00ad", "\U0001f600", "a\u0301", "カタカナ", "ฝนตก"),
    *("ok?", "Yes!"),
)
_BLANKS: Final = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\n\n")


def check_tokenizer(tokenizer: str | Callable[..., Any], texts: Sequence[str] = (), *, seed: int = 0) -> None:
    """Check that a tokenizer depends only on the text, and returns strings.

    The same text must have the same tokens each time, in every order of texts; no text may be an error, including the
    empty one, blanks and half surrogate pairs; other processes must get the same tokens, or refuse the function with a
    message; returned lists must not change afterwards, and changing them must not change later answers.

    Parameters
    ----------
    tokenizer : str or callable
        As for ``--tokenizer``.
    texts : sequence of str, optional
        Further texts besides those of the suite.
    seed : int

    Raises
    ------
    ConformanceError
        With the text on which it fails.

    Examples
    --------
    >>> check_tokenizer("unicode")
    >>> check_tokenizer(str.split)
    """
    name = named_function(tokenizer) if callable(tokenizer) else tokenizer
    _check_lists(f"the tokenizer {name}", tokenizer_of(name).split, _texts(texts, seed))
    _check_sent(name, lambda again: tokenizer_of(again).split("The cats ran."))


def check_stemmer(stemmer: str | Callable[[str], Any], words: Sequence[str] = (), *, seed: int = 0) -> None:
    """Check that a stemmer depends only on the word, and returns a string.

    Parameters
    ----------
    stemmer : str or callable
        As for ``--stemmer``.
    words, seed
        As `texts` and `seed` of `check_tokenizer`.

    Raises
    ------
    ConformanceError
        With the word on which it fails.

    Examples
    --------
    >>> check_stemmer("snowball:german")
    """
    name = named_function(stemmer) if callable(stemmer) else stemmer
    found = [word for text in _texts((), seed) for word in text.lower().split()]
    stem = stemmer_of(name)
    _check_lists(f"the stemmer {name}", lambda word: [stem(word)], [*words, *dict.fromkeys(found), ""])
    _check_sent(name, lambda again: stemmer_of(again)("running"))


def check_splitter(
    splitter: str | Callable[..., Any], texts: Sequence[str] = (), *, language: str = "en", seed: int = 0
) -> None:
    """Check that a splitter depends only on the text, and loses nothing of it.

    In addition to the checks of `check_tokenizer`, the joined sentences must equal the text, except for white space.

    Parameters
    ----------
    splitter : str or callable
        As for ``--splitter``.
    language : str
        The language, if the splitter needs one.
    texts, seed
        As of `check_tokenizer`.

    Raises
    ------
    ConformanceError
        With the text on which it fails.

    Examples
    --------
    >>> check_splitter("sentencex", language="de")
    """
    split = splitter_of(language, splitter)
    what, every = f"the splitter {split.name}", _texts(texts, seed)
    _check_lists(what, split, every)
    for text in every:
        if _bare("".join(split(text))) != _bare(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")):
            raise ConformanceError(f"{what} changes the text {text!a}: letters are lost, added or moved")
    _check_sent(str(split.name), lambda again: splitter_of(language, again)("It ran. It sat."), split.name)


def _bare(text: str) -> str:
    return "".join(text.split())


def _texts(own: Sequence[str], seed: int) -> list[str]:
    rng = random.Random(seed)  # noqa: S311
    made = ["".join(rng.choice(_PIECES) + rng.choice(_BLANKS) for _ in range(rng.randrange(1, 25))) for _ in range(100)]
    return [*own, *made, "", " ", "\n", ".", "\ud800 a", "a" * 1000, "\0"]


def _check_lists(what: str, function: Callable[[Any], list[str]], texts: Sequence[str]) -> None:
    """Check that the same text has the same answer, in any order of texts."""
    try:
        first = [function(text) for text in texts]
        kept = [list(found) for found in first]
        for found in first:
            found.append("changed")
        again = [function(text) for text in reversed(texts)][::-1]
    except OptsumError as error:
        raise ConformanceError(f"{what} does not take every text: {error}") from error
    for text, before, after in zip(texts, kept, again, strict=True):
        if before != after:
            raise ConformanceError(f"{what} makes {before!a:.200} of {text!a:.200}, and {after!a:.200} another time")


def _check_sent(name: str, ask: Callable[[str], Any], own: Any = None) -> None:
    """Check that another process finds the function, or that it is refused with a message."""
    given = own if isinstance(own, str) else name
    try:
        again = pickle.loads(pickle.dumps(given))  # noqa: S301 - its own
    except OptsumError:  # which is the sentence
        return
    if hasattr(given, "function") and again == given:
        return
    if ask(again) != ask(given):
        raise ConformanceError(f"the function {name} has another answer in another process")
