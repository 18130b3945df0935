"""Convert sentences to counted tokens (split, drop stop words, stem), measure and cut them.

A `Tokenizer` has two functions: `split` returns tokens quickly, and `locate` adds the position of each token's first
character. For a function of a third party or a caller, `locate` searches the text for each token. The byte tables of
`optsum.text.interned`, which tokenizes many sentences at once, must agree with these functions. `LICENSES.md` names
the origin and the licence of the word lists of ROUGE-1.5.5.

Two stemmers are for English: that of ROUGE-1.5.5 (its option ``-m``) and that of Google's package rouge-score. Both
follow Porter 1980, "An algorithm for suffix stripping", with two changes from Porter's own program: ``bli`` for
``abli``, and ``logi``. Tokens of at most three characters are not changed.

ROUGE-1.5.5 first looks up longer tokens in WordNet's exception lists. It differs from the algorithm twice. Step 4
removes the longest suffix other than ``ment``, ``ent`` and ``ion``, then ``ment``, then ``ent``, and ``ion`` only if
the word does not end in ``ent`` ("agreement" becomes "agreem"). In step 1b a double ``y`` is no double consonant.

rouge-score (``use_stemmer=True``) uses NLTK's extension of the algorithm. A few irregular words have stems of their own
("dying" is "die"). Words of four letters in ``ies`` or ``ied`` keep the ``e``; longer words in ``ied`` lose ``ed``.
``y`` becomes ``i`` after a consonant that is not the first letter ("happi", but "enjoy"). Step 2 first removes
``alli``, includes ``fulli``, and leaves the ``l`` of ``logi`` to the stem. A vowel with one consonant counts as a
short word ("owed" is "owe").

`stem` agrees with the original script, and `stem_rouge_score` with the stemmer of NLTK 3.10.4, on about 62,000 words of
real text and more than 160,000 random strings of vowels, consonants, digits and suffixes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.resources import files
from itertools import accumulate, chain, filterfalse
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from optsum.errors import InputError, OptionError, UnsupportedError, unknown_name
from optsum.plugins import Registry, named_function
from optsum.system.files import PathLike, read_text
from optsum.whole import flag, is_list

Sentence: TypeAlias = str | tuple[str, ...]  # A raw sentence, or the tokens of a pre-tokenized one.
_WORD = re.compile(r"\S+")  # what str.split() keeps together
_ROUGE_WORD = re.compile(r"[A-Za-z0-9]+")
# Byte -> byte: A-Z to lower case, a-z and 0-9 unchanged, everything else a blank.
_ROUGE_BYTES = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else ord(" ") for byte in bytes(range(256)).lower()
)
_LETTER: Final = re.compile(r"[^\W_]").search  # Whether there is a letter or a digit.
_KATAKANA: Final = r"[\u30a0-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff9f]"
# A Katakana character with its marks, or a run of other text; characters of other scripts are split by UAX 29.
_CHARACTER: Final = re.compile(rf"{_KATAKANA}[^\w]*|(?:(?!{_KATAKANA}).)+", re.DOTALL)
_NO_LETTER = re.compile(r"[^a-z0-9]")
# A word is [C](VC)^m[V], C and V runs of consonants and of vowels; y is a vowel after a consonant. Runs
# are matched possessively, so that a word has one reading only.
_C: Final = "[^aeiou][^aeiouy]*+"
_V: Final = "[aeiouy][aeiou]*+"
_SOME: Final = re.compile(f"(?:{_C})?+{_V}[^aeiou]", re.DOTALL).match  # Whether m > 0.
_SEVERAL: Final = re.compile(f"(?:{_C})?+{_V}{_C}{_V}[^aeiou]", re.DOTALL).match  # Whether m > 1.
_VOWEL: Final = re.compile(f"(?:{_C})?+[aeiouy]", re.DOTALL).match  # Whether there is a vowel.
# Whether m = 1 and the word ends in a consonant, a vowel, and a consonant other than w, x and y.
_SHORT: Final = re.compile(f"{_C}[aeiouy][^aeiouwxy]", re.DOTALL).fullmatch
_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3: Final = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_LONGEST_UNSTEMMED: Final = 3
# Whether a word ends in a double consonant other than l, s and z.
_DOUBLE: Final = re.compile(r"([^aeiouylsz])\1\Z", re.DOTALL).search
_STEP_4: Final = frozenset(
    ("ement", "ance", "ence", "able", "ible", "ant", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou")
)
_IRREGULAR: Final = {
    "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2_NLTK: Final = {**_STEP_2, "fulli": "ful"}
_STEP_4_NLTK: Final = _STEP_4 | {"ment", "ent", "sion", "tion"}
# Whether the last letter is a consonant; of several y in a row, every other one is.
_CONSONANT: Final = re.compile(r"(?:(?:\A|[aeiou])y|[^aeiouy])(?:yy)*+\Z", re.DOTALL).search
# Whether `_SHORT` matches, or the word is only a vowel and a consonant.
_SHORT_NLTK: Final = re.compile(f"{_C}[aeiouy][^aeiouwxy]|[aeiou][^aeiou]", re.DOTALL).fullmatch
# The order in which the original script's exception database is filled: a later entry replaces an earlier one.
_EXCEPTION_FILES = ("adj.exc", "adv.exc", "noun.exc", "verb.exc")
_WORDS_KEPT = 65_536  # Largest number of entries of a `_WordTable`, which is cleared when it is full.
_LONGEST_KEPT = 64  # characters of a word worth remembering
LENGTH_TOKENIZERS: Final[Registry[Any]] = Registry(
    "length tokenizer",
    {},
    "optsum.length_tokenizers",
    families={"tiktoken:": f"{__name__}:tiktoken", "hf:": f"{__name__}:hugging_face"},
)
"""Functions from a text to its tokens, or to their number."""

# White space as the original script sees it, which reads bytes: a no-break space does not end a word there.
_ASCII_WORD = re.compile(r"\S+", re.ASCII)
# Largest share of a text's characters (without blanks) that a tokenizer may treat badly without a warning.
_MOST: Final = 0.1
_LOST: Final = 0.9  # Smallest share of dropped letters that counts as all.
_CHINESE: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_INDOCHINESE: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Suitable tokenizer -> letters of scripts without blanks between words (Chinese and Japanese; Thai, Lao, Burmese,
# Khmer), and the mean number of these letters between blanks above which the text is not split into words.
_WITHOUT_BLANKS: Final = {"characters": (f"[{_CHINESE}]", 3), "tokens": (f"[{_INDOCHINESE}]", 8)}
_KEEPS_CLAUSES: Final = frozenset({"blank", "pypi-rouge", "tokens"})  # Tokenizers that part words at blanks alone.
# Tokenizers that keep all ASCII letters.
_KEEPS_LETTERS: Final = frozenset({"blank", "presumm", "pypi-rouge", "rouge", "rouge-score"})
_NO_LETTERS: Final = bytes(byte for byte in range(128) if not chr(byte).isalpha())
_PORTER: Final = frozenset({"rouge155", "rouge-score"})
_ADVICE: Final = {
    "unicode": "--tokenizer=unicode keeps them",
    "characters": "--tokenizer=characters treats each character as a word",
    "tokens": "give its sentences as lists of tokens, or a --tokenizer=module:function that can split it into words",
}
_BEGIN: Final = 1000  # Number of characters at the beginning of a text that `surely_fits` checks first.


class Tokenizer(NamedTuple):
    """A way to split a sentence into tokens."""

    split: Callable[[Sentence], list[str]]  # From a sentence to its tokens.
    # From a sentence to the same tokens, each with the position of its first character, in code points of the sentence
    # as written, or of its tokens joined by blanks.
    locate: Callable[[Sentence], list[tuple[str, int]]]


def raw_text(sentence: Sentence) -> str:
    return sentence if isinstance(sentence, str) else " ".join(sentence)


def raw_texts(sentences: Iterable[Sentence]) -> list[str]:
    """Return each sentence as a string; the tokens of a pre-tokenized sentence are joined by blanks."""
    held: list[Any] = list(sentences)
    return held if set(map(type, held)) <= {str} else list(map(raw_text, held))


def _split_rouge(sentence: Sentence) -> list[str]:
    """Split at all but a-z and 0-9, in lower case, as ROUGE-1.5.5 does."""
    # Lone surrogates have no UTF-8; "surrogatepass" makes bytes of them all the same, which then become blanks.
    return raw_text(sentence).encode("utf-8", "surrogatepass").translate(_ROUGE_BYTES).decode("ascii").split()


def _locate(pattern: re.Pattern[str], sentence: Sentence) -> list[tuple[str, int]]:
    return [(match[0].lower(), match.start()) for match in pattern.finditer(raw_text(sentence))]


def _split_blank(sentence: Sentence) -> list[str]:
    """Split at white space, in lower case."""
    return raw_text(sentence).lower().split()


def _split_rouge_score(sentence: Sentence) -> list[str]:
    """Split as the package rouge-score does: as rouge, but in lower case first (İ is i)."""
    return _split_rouge(raw_text(sentence).lower())


def _locate_rouge_score(sentence: Sentence) -> list[tuple[str, int]]:
    raw = raw_text(sentence)
    origin = [place for place, char in enumerate(raw) for _ in char.lower()]
    return [(token, origin[start]) for token, start in _locate(_ROUGE_WORD, raw.lower())]


@cache
def _boundaries() -> Callable[[str], list[str]]:
    import regex

    split: Callable[[str], list[str]] = regex.compile(r"(?V1w)\b").split
    return split


def _split_unicode(sentence: Sentence) -> list[str]:
    """Split at the word boundaries of Unicode (UAX 29), in lower case: for any language with blanks."""
    return list(filter(_LETTER, _boundaries()(unicodedata.normalize("NFC", raw_text(sentence)).lower())))


def _split_characters(sentence: Sentence) -> list[str]:
    """Split as unicode does, and take each Chinese or Japanese character for a word."""
    return [piece for word in _split_unicode(sentence) for piece in _CHARACTER.findall(word) if _LETTER(piece)]


def _locate_in_normal_form(pieces: Callable[[str], list[str]], sentence: Sentence) -> list[tuple[str, int]]:
    """Return the tokens in lower case and NFC with their positions in the sentence; `pieces` splits a single word."""
    raw = raw_text(sentence)
    text = unicodedata.normalize("NFC", raw).lower()
    parts = [piece for word in _boundaries()(text) for piece in pieces(word)]
    starts = accumulate(map(len, parts), initial=0)
    same = raw.isascii() or (text == raw.lower() and len(text) == len(raw))
    origin = range(len(text)) if same else _origins(raw)
    return [(part, origin[start]) for part, start in zip(parts, starts, strict=False) if _LETTER(part)]


def _origins(raw: str) -> list[int]:
    """Return, for each character of the lower-case NFC text, the position of the first raw character it comes from."""
    origins: list[int] = []
    start, whole = 0, ""
    for end in range(len(raw) + 1):
        apart = ""
        if end < len(raw):
            own = unicodedata.normalize("NFC", raw[end])
            apart = unicodedata.normalize("NFC", raw[start : end + 1])
            if unicodedata.combining(raw[end]) or apart != whole + own:  # it combines with characters before it
                whole = apart
                continue
            apart = own
        origins += [start] * len(whole.lower())
        start, whole = end, apart
    return origins


def _split_tokens(sentence: Sentence) -> list[str]:
    """Keep pre-tokenized sentences as they are; split others at white space, case kept."""
    return sentence.split() if isinstance(sentence, str) else list(sentence)


def _locate_tokens(sentence: Sentence) -> list[tuple[str, int]]:
    if isinstance(sentence, str):
        return [(match[0], match.start()) for match in _WORD.finditer(sentence)]
    return list(zip(sentence, accumulate((len(token) + 1 for token in sentence), initial=0), strict=False))


def _split_pypi_rouge(sentence: Sentence) -> list[str]:
    """Split at full stops and blanks, case and other signs kept, as the package rouge on PyPI does."""
    return [token for piece in raw_text(sentence).split(".") if piece for token in piece.split() or [""]]


def _locate_pypi_rouge(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for piece in re.finditer(r"[^.]+", raw_text(sentence)):
        words = [(match[0], piece.start() + match.start()) for match in _WORD.finditer(piece[0])]
        found += words or [("", piece.start())]
    return found


def _split_presumm(sentence: Sentence) -> list[str]:
    """Split at white space, in lower case, and take out all but a-z and 0-9, as PreSumm does."""
    return [token for word in raw_text(sentence).lower().split() if (token := _NO_LETTER.sub("", word))]


def _locate_presumm(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for match in _WORD.finditer(raw_text(sentence)):
        kept = [_NO_LETTER.sub("", char.lower()) for char in match[0]]
        if any(kept):
            found.append(("".join(kept), match.start() + next(place for place, char in enumerate(kept) if char)))
    return found


def _as_tokenizer(name: str, function: Callable[[str], Any]) -> Tokenizer:

    def split(sentence: Sentence) -> list[str]:
        text = raw_text(sentence)
        try:
            found = function(text)
            tokens = [found] if isinstance(found, str) else list(found)
        except Exception as error:
            raise InputError(f"the tokenizer {name} failed on the text {text[:40]!r}: {error!r:.200}") from error
        wrong = next((token for token in tokens if not isinstance(token, str)), found if found in tokens else None)
        if wrong is not None:
            raise InputError(
                f"the tokenizer {name} returned {type(found).__name__} with {type(wrong).__name__} in it for the text "
                f"{text[:40]!r}; it must return a list of strings"
            )
        return tokens

    def locate(sentence: Sentence) -> list[tuple[str, int]]:
        text, tokens, token = raw_text(sentence), split(sentence), ""
        lower = text.lower() if len(text.lower()) == len(text) else text
        for texts in ((text,), (lower,), (text, lower)):  # tokenizers that keep case, change it, or do both
            at, found = 0, list[tuple[str, int]]()
            for token in tokens:
                if (start := min((place for each in texts if (place := each.find(token, at)) >= 0), default=-1)) < 0:
                    break
                found.append((token, start))
                at = start + len(token)
            else:
                return found
        raise UnsupportedError(
            f"the tokenizer {name} makes the token {token[:20]!r} from the text {text[:40]!r}, which does "
            "not contain it, so its position is unknown; use a tokenizer that changes only case"
        )

    return Tokenizer(split, locate)


_BUILTIN: Final[Mapping[str, Tokenizer]] = {
    "rouge": Tokenizer(_split_rouge, partial(_locate, _ROUGE_WORD)),
    "rouge-score": Tokenizer(_split_rouge_score, _locate_rouge_score),
    "blank": Tokenizer(_split_blank, partial(_locate, _WORD)),
    "unicode": Tokenizer(_split_unicode, partial(_locate_in_normal_form, lambda word: [word])),
    "characters": Tokenizer(_split_characters, partial(_locate_in_normal_form, _CHARACTER.findall)),
    "tokens": Tokenizer(_split_tokens, _locate_tokens),
    "pypi-rouge": Tokenizer(_split_pypi_rouge, _locate_pypi_rouge),
    "presumm": Tokenizer(_split_presumm, _locate_presumm),
}
TOKENIZERS: Final[Registry[Any]] = Registry(
    "tokenizer", {name: each.split for name, each in _BUILTIN.items()}, "optsum.tokenizers"
)
"""Functions from a text to its tokens, before stop words and stemming, as described in `Analyzer`."""


@lru_cache(maxsize=64)
def tokenizer_of(name: str) -> Tokenizer:
    return _BUILTIN[name] if name in _BUILTIN else _as_tokenizer(name, TOKENIZERS.load(name))


def _exchange(word: str, suffixes: dict[str, str]) -> str:
    """Replace the longest suffix in a table if the rest has m > 0 (steps 2 and 3)."""
    for size in range(7, 1, -1):
        if (new := suffixes.get(word[-size:])) is not None:
            rest = word[:-size]
            return rest + new if _SOME(rest) else word
    return word


def _without(word: str, size: int) -> str:
    rest = word[:-size]
    return rest if _SEVERAL(rest) else word


def _without_past(word: str, doubled: Callable[[str], object], short: Callable[[str], object]) -> str:
    """Replace -eed by -ee, remove -ed and -ing (step 1b); then shorten a `doubled` rest, and add e to a `short` one."""
    if word.endswith("eed"):
        return word[:-1] if _SOME(word[:-3]) else word
    rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if not _VOWEL(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if doubled(rest):
        return rest[:-1]
    return f"{rest}e" if short(rest) else rest


def _without_end(word: str, short: Callable[[str], object]) -> str:
    """Remove a final e, except after a `short` rest, and one l of a final ll (step 5)."""
    if word.endswith("e"):
        rest = word[:-1]
        if _SEVERAL(rest) or (_SOME(rest) and not short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _SEVERAL(word[:-1]) else word


def stem(word: str) -> str:
    """Stem a lower-case token like ROUGE-1.5.5 with ``-m``; letters outside a-z count as consonants.

    >>> [stem(word) for word in ("was", "running", "mice", "agreement")]
    ['was', 'run', 'mouse', 'agreem']
    """
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    base = wordnet_exceptions().get(word)
    return _porter(word) if base is None else base


def _porter(word: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):  # step 1a
        word = word[:-2] if word.endswith(("sses", "ies")) else word[:-1]
    word = _without_past(word, _DOUBLE, _SHORT)
    if word.endswith("y") and _VOWEL(word[:-1]):  # step 1c
        word = f"{word[:-1]}i"
    word = _exchange(_exchange(word, _STEP_2), _STEP_3)
    return _without_end(_step_4(word), _SHORT)


def _step_4(word: str) -> str:
    for size in range(5, 1, -1):
        if word[-size:] in _STEP_4:
            word = _without(word, size)
            break
    if word.endswith("ment"):
        word = _without(word, 4)
    if word.endswith("ent"):
        return _without(word, 3)
    return _without(word, 3) if word.endswith(("sion", "tion")) else word


def stem_rouge_score(word: str) -> str:
    """Stem a lower-case token like the package rouge-score; letters outside a-z count as consonants.

    >>> [stem_rouge_score(word) for word in ("was", "running", "mice", "agreement")]
    ['was', 'run', 'mice', 'agreement']
    """
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    if (stem := _IRREGULAR.get(word)) is not None:
        return stem
    if word.endswith("s") and not word.endswith("ss"):  # step 1a
        off = 2 if word.endswith("sses") or (word.endswith("ies") and len(word) > 4) else 1
        word = word[:-off]
    if word.endswith("ied"):  # step 1b: -ied, -eed, -ed and -ing go
        word = word[:-1] if len(word) == 4 else word[:-2]
    else:
        word = _without_past(word, lambda rest: rest[-2:-1] == rest[-1] not in "lsz" and _CONSONANT(rest), _SHORT_NLTK)
    if word.endswith("y") and len(word) > 2 and _CONSONANT(word[:-1]):  # step 1c
        word = f"{word[:-1]}i"
    word = _exchange(_step_2_nltk(word), _STEP_3)
    return _without_end(_step_4_nltk(word), _SHORT_NLTK)


def _step_2_nltk(word: str) -> str:
    if word.endswith("alli") and _SOME(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _SOME(word[:-3]) else word
    return _exchange(word, _STEP_2_NLTK)


def _step_4_nltk(word: str) -> str:
    size = next((size for size in range(5, 1, -1) if word[-size:] in _STEP_4_NLTK), 0)
    return word if not size else _without(word, 3 if word.endswith("ion") else size)


def snowball(name: str) -> Callable[[str], str]:
    """Return the stemmer of Snowball for a language, in pure Python, because an installed compiled one may differ."""
    import snowballstemmer

    modules = [each.name for each in iter_modules(snowballstemmer.__path__)]
    languages = [each.removesuffix("_stemmer") for each in modules if each.endswith("_stemmer")]
    if name not in languages:
        raise unknown_name("stemmer", f"snowball:{name}", [f"snowball:{each}" for each in languages])
    made: Any = getattr(import_module(f"snowballstemmer.{name}_stemmer"), f"{name.title().replace('_', '')}Stemmer")
    return lambda word: made().stemWord(word)  # a stemmer stores the current word, and threads share this function


STEMMERS: Final[Registry[Any]] = Registry(
    "stemmer",
    {"rouge155": stem, "rouge-score": stem_rouge_score},
    "optsum.stemmers",
    families={"snowball:": f"{__name__}:snowball"},
)
"""Functions from a token to its stem; the two that are named here are for English."""


@lru_cache(maxsize=64)
def stemmer_of(name: str) -> Callable[[str], str]:
    function: Callable[[str], Any] = STEMMERS.load(name)
    if name in STEMMERS.builtin:
        return function

    def checked(word: str) -> str:
        try:
            found = function(word)
        except Exception as error:
            raise InputError(f"the stemmer {name} failed on the word {word[:40]!r}: {error!r:.200}") from error
        if not isinstance(found, str):
            raise InputError(f"the stemmer {name} returned {found!r:.40} for {word[:40]!r}; it must return a string")
        return found

    return checked


@cache
def smart_stopwords() -> frozenset[str]:
    """Return the stop words of the SMART system as ROUGE-1.5.5 ships them (596 lower-case words)."""
    return frozenset(_lines("smart_common_words.txt"))


@cache
def wordnet_exceptions() -> Mapping[str, str]:
    """Return the base form of each irregular form in the exception lists of WordNet 2.0 (5,930 entries)."""
    return MappingProxyType(dict(line.split()[:2] for name in _EXCEPTION_FILES for line in _lines(name)))


def _lines(name: str) -> list[str]:
    return files("optsum.text").joinpath(name).read_text(encoding="ascii").splitlines()


@dataclass(frozen=True)
class Analyzer:
    """The conversion of a sentence to counted tokens: split, drop stop words, stem, in this order.

    It is hashable and picklable; equal analyzers of a process share a cache of words.

    Parameters
    ----------
    tokenizer : str or callable
        The name of a tokenizer, ``module:function``, or a function from a text to a list of its tokens.

        * ``rouge``: lower case, every character outside a-z0-9 a blank, split (ROUGE-1.5.5, on UTF-8 bytes);
        * ``blank``: lower case, split at white space;
        * ``rouge-score``: like the package rouge-score: like ``rouge``, but converted to lower case first, so that two
          letters outside ASCII become ASCII (İ, and the Kelvin sign);
        * ``unicode``: the pieces between word boundaries of Unicode (UAX 29) that contain a letter or a digit, in lower
          case and normalized to NFC. In scripts without blanks between words, runs of Katakana stay whole, and every
          other character is a word;
        * ``characters``: like ``unicode``, with Katakana split too, for Chinese and Japanese;
        * ``tokens``: the tokens of a pre-tokenized sentence, unchanged, for any language; a raw sentence is split at
          white space, keeping case;
        * ``pypi-rouge``: like the package ``rouge`` on PyPI: split at "." and at blanks, keeping case and all other
          punctuation. Blanks between two full stops give one empty token;
        * ``presumm``: like PreSumm's greedy selection: lower case, split at white space, and every character outside
          a-z0-9 removed ("it's" becomes "its").

        All but ``tokens`` first join a pre-tokenized sentence by blanks.
    stem : bool
        Whether tokens are stemmed.
    stopwords : str or frozenset of str
        ``keep`` all words, ``drop`` the SMART list, or the set of tokens to drop (`load_stopwords`), compared
        with the tokens before stemming.
    stemmer : str or callable
        ``rouge155`` or ``rouge-score`` (the English stemmers of these programs), ``snowball:LANGUAGE`` (such as
        ``snowball:german``), another name of a stemmer, ``module:function``, or a function from a token to its stem.

    Raises
    ------
    UnknownNameError
        For a tokenizer or a stemmer that does not exist.
    OptionError
        For `stopwords` that is neither "keep" nor "drop" nor a set.

    Examples
    --------
    >>> Analyzer(stem=True, stopwords="drop").tokens("The Co-op's mice were running.")
    ['op', 'mouse', 'run']
    """

    tokenizer: Any = "rouge"  # a name after `__init__`
    stem: bool = False
    stopwords: str | frozenset[str] = "keep"
    stemmer: Any = "rouge155"

    def __post_init__(self) -> None:
        for name in ("tokenizer", "stemmer"):
            if callable(given := getattr(self, name)):
                object.__setattr__(self, name, named_function(given))
            elif not isinstance(given, str):
                raise OptionError(f"The {name} is {given!r:.40}: give a name or a function.")
        object.__setattr__(self, "stem", flag(self.stem, "stem"))
        tokenizer_of(self.tokenizer)
        stemmer_of(self.stemmer)
        if isinstance(self.stopwords, str):
            if self.stopwords not in {"keep", "drop"}:
                raise OptionError(
                    f"stopwords must be 'keep', 'drop' or a set of words, not {self.stopwords!r}; "
                    "load_stopwords reads the set from a file"
                )
        else:
            words = frozenset(self.stopwords) if is_list(self.stopwords, ordered=False) else frozenset([None])
            if not all(isinstance(word, str) for word in words):
                raise OptionError(f"stopwords is {self.stopwords!r:.40}: give 'keep', 'drop' or a set of words.")
            object.__setattr__(self, "stopwords", frozenset(map(str, words)))

    def tokens(self, sentence: Sentence) -> list[str]:
        """Return the counted tokens of one sentence.

        Parameters
        ----------
        sentence : str or tuple of str
            A raw sentence, or the tokens of a pre-tokenized one.
        """
        words = tokenizer_of(self.tokenizer).split(sentence)
        if self.stopwords == "keep" and not self.stem:
            return words
        return [token for token in self.counted(words) if token is not None]

    def counted(self, words: Iterable[str]) -> Iterator[str | None]:
        """Return the token that is counted for each of the tokenizer's words: its stem, itself, or None if dropped."""
        return map(_word_table(self.stemmer if self.stem else None, self.stopwords).__getitem__, words)

    def spans(self, sentence: Sentence) -> list[tuple[str, int]]:
        """Return the counted tokens, each with the position of its first character.

        Returns
        -------
        list of (token, start)
            The tokens are exactly those of `tokens`. `start` counts characters (code points) of the written sentence,
            or of its tokens joined by blanks.

        Examples
        --------
        >>> Analyzer(stopwords="drop").spans("The Co-op's mice")
        [('op', 7), ('mice', 12)]
        """
        located = tokenizer_of(self.tokenizer).locate(sentence)
        if self.stopwords == "keep" and not self.stem:
            return located
        found = zip(self.counted(word for word, _ in located), located, strict=True)
        return [(token, start) for token, (_, start) in found if token is not None]

    def joined_tokens(self, sentences: Iterable[Sentence]) -> list[str]:
        """Return the counted tokens of several sentences, one after the other."""
        return list(chain.from_iterable(map(self.tokens, sentences)))


class _WordTable(dict[str, str | None]):
    """A cache from a word to the token that is counted for it; None for a stop word."""

    def __init__(self, stemmer: str | None, dropped: frozenset[str]) -> None:
        super().__init__()
        self._stem, self._dropped = None if stemmer is None else stemmer_of(stemmer), dropped

    def __missing__(self, word: str) -> str | None:
        token = None if word in self._dropped else word if self._stem is None else self._stem(word)
        if len(word) <= _LONGEST_KEPT:
            if len(self) >= _WORDS_KEPT:
                self.clear()
            self[word] = token
        return token


@lru_cache(maxsize=16)
def _word_table(stemmer: str | None, stopwords: str | frozenset[str]) -> _WordTable:
    if isinstance(stopwords, str):
        stopwords = smart_stopwords() if stopwords == "drop" else frozenset()
    return _WordTable(stemmer, stopwords)


def load_stopwords(path: PathLike) -> frozenset[str]:
    """Read stop words for `Analyzer` from a UTF-8 file, one on each line, unchanged; blank lines are skipped."""
    words: set[str] = set()
    for number, line in enumerate(read_text(path, "the stop word file").splitlines(), start=1):
        if len(found := line.split()) > 1:
            raise InputError(f"{path}:{number}: {line.strip()!r} is more than one word; put one word on a line")
        words.update(found)
    return frozenset(words)


def word_count(sentence: Sentence) -> int:
    """Return the length in words: the blank-separated pieces, or the tokens of a pre-tokenized sentence."""
    return len(sentence.split()) if isinstance(sentence, str) else len(sentence)


def word_starts(sentence: Sentence) -> list[int]:
    return [start for _, start in tokenizer_of("tokens").locate(sentence)]


def character_count(sentence: Sentence) -> int:
    return len(raw_text(sentence))


LENGTH_OF: Final[Mapping[str, Callable[[Sentence], int]]] = MappingProxyType(
    {"words": word_count, "characters": character_count, "sentences": lambda _: 1}
)
"""Functions that measure the length of a sentence, by the name of the unit of length."""


def tiktoken(name: str) -> Callable[[str], Any]:
    """Return the tokenizer of an encoding (``cl100k_base``) or of a model (``gpt-4o``) of the package tiktoken."""
    package = _imported("tiktoken")
    names = package.list_encoding_names()
    try:
        encoding = package.get_encoding(name) if name in names else package.encoding_for_model(name)
    except KeyError:
        raise OptionError(f"tiktoken has no encoding or model {name!r}; encodings: {', '.join(names)}.") from None
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
        wanted = f"Lengths in tokens of {package} need that package: pip install 'optsum[tokens]'."
        raise UnsupportedError(wanted) from error


@lru_cache(maxsize=32)
def token_counter(name: str) -> Callable[[Sentence], int]:
    function = LENGTH_TOKENIZERS.load(name)

    def count(sentence: Sentence) -> int:
        text = raw_text(sentence)
        try:
            found = function(text)
            if isinstance(found, Mapping):  # as from tokenizers of transformers
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
    """Join sentences: to one tuple of tokens if all are pre-tokenized, otherwise to a string, with blanks between."""
    texts = list(sentences)
    if texts and not any(isinstance(text, str) for text in texts):
        return tuple(token for text in texts for token in text)
    return " ".join(raw_texts(texts))


def cut_sentences(sentences: Iterable[Sentence], max_words: int) -> list[Sentence]:
    """Cut a text after `max_words` words (by ASCII white space), like ROUGE-1.5.5 -l; later sentences become empty."""
    if max_words < 0:
        raise OptionError(f"a text cannot be cut to {max_words} words; give a number of 0 or more")
    left, cut = max_words, list[Sentence]()
    for sentence in sentences:
        if isinstance(sentence, str):
            ends = [0, *(word.end() for word in _ASCII_WORD.finditer(sentence))]
            cut.append(sentence if len(ends) <= left + 1 else sentence[: ends[left]])
            left = max(0, left + 1 - len(ends))
        else:
            cut.append(sentence[:left])
            left = max(0, left - len(sentence))
    return cut


def tokenizer_check(
    sentences: Iterable[Sentence], analyzer: Analyzer, language: str = "en", *, in_words: bool = False
) -> str | None:
    """Return a warning if an analyzer, or a length in words, does not suit a text; otherwise None.

    A text is not suited if more than a tenth of it is in words that lose letters, or in a script without blanks that is
    not split into words; nor is another language for an English stemmer. `in_words`: whether lengths count words.
    """
    joined, tokenizer = "".join(texts := raw_texts(sentences)), analyzer.tokenizer
    if stems_another(analyzer, language):
        return (
            f"the stemmer {analyzer.stemmer} is for English, and the language is {language}: give another, such as "
            "--stemmer=snowball:german, or --no-stem"
        )
    if joined.isascii():  # every tokenizer keeps ASCII words
        return None
    whole = len(joined) - joined.count(" ")
    foreign = [word for text in filterfalse(str.isascii, texts) for word in filterfalse(str.isascii, text.split())]
    if sum(map(len, foreign)) <= _MOST * whole:
        return None
    if tokenizer in _KEEPS_CLAUSES:
        share, serving = _unparted(foreign, whole)
        return share and (
            f"the tokenizer {tokenizer} splits words at blanks, but {share} of the text is in a script without them: "
            f"{_ADVICE[serving]}"
        )
    split, torn, example = tokenizer_of(tokenizer).split, 0, ""
    for piece in foreign:
        word = unicodedata.normalize("NFC", piece).lower()
        kept = split(word)
        if _letters("".join(kept)) < _letters(word):
            torn += len(piece)
            example = example or f"{piece[:20]} becomes {' '.join(kept)[:20] or 'nothing'}"
    if torn > _MOST * whole:
        return (
            f"the tokenizer {tokenizer} drops letters: {torn / whole:.0%} of the text is words that it splits or "
            f"drops ({example}); {_ADVICE[_serving(foreign)]}"
        )
    others = sum(_letters(piece) for piece in foreign if not "".join(filter(str.isalpha, piece)).isascii()) / whole
    if analyzer.stem and analyzer.stemmer in _PORTER and others > 2 * _MOST:
        return (
            f"the stemmer {analyzer.stemmer} is for English, and {others:.0%} of the text is words in other scripts "
            f"({foreign[0][:20]}): give another, such as --stemmer=snowball:german, or --no-stem"
        )
    if in_words and (share := _unparted(foreign, whole)[0]):
        return (
            f"lengths count words between blanks, and {share} of the text is in a script without them, so a "
            f"sentence is one word: give --length-unit=characters"
        )
    return None


def stems_another(analyzer: Analyzer, language: str) -> bool:
    english = language.partition("-")[0].partition("_")[0] == "en"
    return not english and analyzer.stem and analyzer.stemmer in _PORTER


def surely_fits(text: str, first: int, foreign: int, analyzer: Analyzer, language: str) -> bool:
    """Return whether a quick check shows that `tokenizer_check` and `nothing_left` would both return None.

    `text`: the sentences of references and then of documents, joined by NUL. `first`: index of the first character of
    the documents. `foreign`: an upper bound of the number of letters in words that are not ASCII.
    """
    if stems_another(analyzer, language) or analyzer.tokenizer not in _KEEPS_LETTERS or "\u212a" in text:
        return False
    parts, many = (text[:first], text[first:]), _LOST / (1 - _LOST)
    return any(  # the beginning often outweighs a few foreign words
        foreign <= _MOST * (len(begin := text[:size]) - begin.count(" ") - begin.count("\0"))
        # the number of e is a lower bound of the letters that are kept
        and all(part.isascii() or foreign < part.count("e", 0, size) * many - 1 for part in parts)
        for size in (_BEGIN, len(text))
    )


def nothing_left(texts: Sequence[Iterable[Sentence]], tokenizer: str) -> str | None:
    """Return a message if a tokenizer keeps almost nothing of documents or references (`texts`), else None."""
    for what, sentences in zip(("documents", "references"), texts, strict=False):
        joined = "".join(raw := raw_texts(sentences))
        if joined.isascii() or (tokenizer in _KEEPS_LETTERS and _mostly_plain(joined)):
            continue
        letters = sum(map(_letters, raw))
        lost = letters - sum(_letters("".join(tokenizer_of(tokenizer).split(text))) for text in raw)
        if letters and lost >= _LOST * letters:
            pieces = [piece for text in raw for piece in text.split() if not piece.isascii()]
            return (
                f"the tokenizer {tokenizer} drops {lost / letters:.0%} of the letters of the {what}, so there is "
                f"nothing to count; {_ADVICE[_serving(pieces)]}"
            )
    return None


def _mostly_plain(text: str) -> bool:
    many = _LOST / (1 - _LOST)
    if len(text.encode("utf-8", "surrogatepass")) - len(text) < text.count("e") * many - 1:  # a quick bound
        return True
    plain = text.encode("ascii", "ignore")
    return len(text) - len(plain) < len(plain.translate(None, _NO_LETTERS)) * many - 1


def _unparted(foreign: Sequence[str], whole: int) -> tuple[str | None, str]:
    """Return the percentage of a text in a script without blanks (None if small), and the tokenizer for the script."""
    for serving, (letter, most) in _WITHOUT_BLANKS.items():
        held = [len(found) for piece in foreign if (found := re.findall(letter, piece))]
        if sum(held) > _MOST * whole and sum(held) > most * len(held):
            return f"{sum(held) / whole:.0%}", serving
    return None, ""


def _serving(pieces: Iterable[str]) -> str:
    text = "".join(pieces)
    counts = {serving: len(re.findall(letter, text)) for serving, (letter, _) in _WITHOUT_BLANKS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if 2 * counts[best] > _letters(text) else "unicode"


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
