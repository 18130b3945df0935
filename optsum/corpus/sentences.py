"""Convert strings, token lists or raw texts of topics and systems to sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from inspect import signature
from typing import Any, Final

from optsum.errors import InputError, OptionError, OptsumError
from optsum.plugins import Registry, named_function
from optsum.text.analyzer import Sentence

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_TAG = re.compile(r"(</?[sStT]>)")
_BETWEEN = re.compile(r"<q>|##SENT##|\[CLS\] \[SEP\]|\[SEP\] \[CLS\]")
_DOCUMENTS = re.compile(r"\|\|\|\|\||story_separator_special_tag|<doc-sep>")
_SPELLED_BREAK = re.compile(r"[^\S\n]*(?:NEWLINE_CHAR|(?<=[.!?…\"'”’)])[^\S\n]*<n>)[^\S\n]*")
# The splitter keeps a quotation whole, and if it is never closed, the rest of the text (45,000 signs of a meeting).
# So quotation marks are hidden from it, and sentences end within quotations, as in corpora split by other tools.
_OPENING = "“‘„‚‟«‹「『`"
_CLOSING = "\"'”’»›」』"
_MARKS = frozenset(_OPENING + _CLOSING)
# Marks that belong to the sentence before them. Languages differ in which marks close; before a blank, all do.
_ATTACHED = re.compile(rf"[{_OPENING}{_CLOSING}]+(?!\S)|[{_CLOSING}]+")
# The splitter's time is quadratic in some texts, such as Chinese ones, so it gets a window of a long text at a time.
# Sentence ends in the last `_AHEAD` characters of a window are left to the next: a bracket may close after them.
_WINDOW = 4096
_AHEAD = 1024
LANGUAGES: Final = (  # Language codes that shells complete; others are accepted too.
    *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "gu", "hi", "hu", "hy", "it", "ja"),
    *("kk", "kn", "ko", "lt", "ml", "mr", "my", "nl", "no", "pa", "pl", "pt", "ro", "ru", "sk", "sv", "ta", "te", "tr"),
    *("uk", "zh"),
)

# Sentence-ending signs of Unicode that the splitter does not know (Sentence_Terminal: Khmer, Coptic, vertical forms).
_TERMINALS: Final = (0x17D4, 0x17D5, 0x2CF9, 0x2CFA, 0x2CFB, 0xFE12, 0xFE15, 0xFE16)


def as_sentences(value: object, where: str, split: Splitter) -> tuple[Sentence, ...]:
    """Return the sentences of one document, reference or summary; lone surrogates become U+FFFD.

    `value`: a string, which `split` splits; or a list of sentences, each a string or a list of tokens. Blank sentences
    are kept, so that units keep their numbers.
    """
    if isinstance(value, str):
        return tuple(split(value))
    if not isinstance(value, list | tuple):
        raise InputError(f"{where} is {json_type(value)}; give a list of sentences or one string of raw text")
    if set(map(type, value)) == {str} and is_well_formed("".join(value)):
        return tuple(value)
    return tuple([_sentence(item, f"{where}[{number}]") for number, item in enumerate(value)])


def _sentence(item: object, where: str) -> Sentence:
    if isinstance(item, str):
        return well_formed(item)
    if not isinstance(item, list | tuple):
        raise InputError(f"{where} is {json_type(item)}; a sentence is a string or a list of tokens")
    for position, token in enumerate(item):
        if not isinstance(token, str):
            raise InputError(f"{where}[{position}] is {json_type(token)}; a token is a string")
    return tuple(map(well_formed, item))


def well_formed(text: str) -> str:
    """Return the text with lone surrogates, which files cannot store, replaced by U+FFFD."""
    return str(text) if is_well_formed(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_well_formed(text: str) -> bool:
    try:
        return text.isascii() or text.encode() is not None
    except UnicodeEncodeError:
        return False


def json_type(value: object) -> str:
    """Return the type of a value as JSON calls it, for messages: "a list", "null"; other types as "of type NAME"."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    names = {"a number": int | float, "a string": str, "a list": list | tuple, "an object": Mapping}
    own = f"of type {type(value).__name__}"
    return next((name for name, kinds in names.items() if isinstance(value, kinds)), own)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that are not blank, stripped; every line-ending character of Unicode ends a line."""
    return [stripped for line in text.splitlines() if (stripped := line.strip())]


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, which end at blank lines (white space of any kind) and U+2029."""
    lines, held = text.splitlines(keepends=True), list[str]()
    if len(lines) < 2:
        yield text
        return
    for line in [*lines, " "]:
        blank = line.isspace()
        if not blank:
            held.append(line)
        if held and (blank or line.endswith("\u2029")):
            yield "".join(held)
            held = []


def with_breaks(text: str) -> str:
    r"""Return a text with line breaks for ``NEWLINE_CHAR`` (Multi-News) and for ``<n>`` after a sentence (PEGASUS).

    >>> with_breaks("Boats sank. <n>It rained NEWLINE_CHAR Fog, <n> times")
    'Boats sank.\nIt rained\nFog, <n> times'
    """
    return _SPELLED_BREAK.sub("\n", text) if "NEWLINE_CHAR" in text or "<n>" in text else text


def between_marks(text: str) -> list[str] | None:
    """Return the sentences of a text with sentence marks, without the marks; None for a text without marks.

    Marks are ``<S> ... </S>`` (the arXiv and PubMed set; also in lower case), ``<t> ... </t>`` (CNN / Daily Mail for
    pointer networks), and between two sentences ``<q>`` (PreSumm), ``##SENT##`` and ``[CLS] [SEP]``.

    >>> between_marks("<S> we study cats . </S> <S> they sleep . </S>"), between_marks("a b<q>c d")
    (['we study cats .', 'they sleep .'], ['a b', 'c d'])
    >>> between_marks("a < b")
    """
    pieces = _TAG.split(text)  # text, tag, text, tag, ..., text
    if len(pieces) > 1 and not any(outside.strip() for outside in pieces[::4]):
        tags = [tag.lower() for tag in pieces[1::2]]
        opened, closed = tags[::2], tags[1::2]
        if all("/" not in tag for tag in opened) and closed == [f"</{tag[1:]}" for tag in opened]:
            return [sentence for inner in pieces[2::4] if (sentence := inner.strip())]
    pieces = _BETWEEN.split(text)
    return [sentence for piece in pieces if (sentence := piece.strip())] if len(pieces) > 1 else None


def documents_between_marks(text: str) -> list[str]:
    """Return the documents in a text that separates them by marks, as Multi-News does; without marks, the text."""
    pieces = _DOCUMENTS.split(text)
    return [document for piece in pieces if (document := piece.strip())] if len(pieces) > 1 else [text]


def split_sentences(text: str, language: str = "en") -> list[str]:
    r"""Split raw text into stripped sentences by the rules of the package sentencex; none is blank.

    A single line break does not end a sentence. Sentences may end within quotations. `language`: a code such as ``en``.

    >>> split_sentences('Dr. Smith left. "I saw him. He ran."\n\nToo late')
    ['Dr. Smith left.', '"I saw him.', 'He ran."', 'Too late']
    """
    return [sentence for piece in _pieces(text, language) if (sentence := piece.strip())]


SPLITTERS: Final[Registry[Any]] = Registry("splitter", {"sentencex": split_sentences}, "optsum.splitters")
"""Functions that split a raw text into sentences; a function with a parameter ``language`` gets the language code."""


@dataclass(frozen=True, slots=True)
class Splitter:
    """A function that splits raw text into sentences, with its language."""

    # A code such as ``en`` or ``de``. For a language without rules of its own, the splitter uses general ones.
    language: str = "en"
    # A name in `SPLITTERS`, ``module:function``, or a function from a text to a list of sentences.
    name: str | Callable[..., Any] = "sentencex"

    def __post_init__(self) -> None:
        code: object = self.language
        if not isinstance(code, str) or not _LANGUAGE.fullmatch(code):
            raise OptionError(f"{self.language!r} is not a language code; give one such as en, de or zh")
        object.__setattr__(self, "language", self.language.lower())
        if callable(self.name):
            object.__setattr__(self, "name", named_function(self.name))
        _split_by(self.name)

    def __call__(self, text: str) -> list[str]:
        split, takes_language = _split_by(self.name)
        split = partial(split, language=self.language) if takes_language else split
        return [piece for paragraph in paragraphs(well_formed(text)) for piece in self._pieces(paragraph, split)]

    def _pieces(self, text: str, split: Callable[[str], Any]) -> list[str]:
        try:
            found = split(text)
            pieces = [piece.strip() for piece in found] if not isinstance(found, str) else None
        except OptsumError:
            raise
        except Exception as error:
            raise InputError(f"the splitter {self.name} failed on the text {text[:40]!r}: {error!r:.200}") from error
        if pieces is None or not all(isinstance(piece, str) for piece in pieces):
            raise InputError(f"the splitter {self.name} returned {json_type(found)}; it must return a list of strings")
        return [well_formed(piece) for piece in pieces if piece]


@lru_cache(maxsize=32)
def _split_by(name: str) -> tuple[Callable[..., Any], bool]:
    function = SPLITTERS.load(name)
    try:
        return function, "language" in signature(function).parameters
    except (TypeError, ValueError):  # compiled functions may lack a signature
        return function, False


ENGLISH: Final = Splitter()


@lru_cache(maxsize=64)
def splitter_of(language: str, name: str | Callable[..., Any]) -> Splitter:
    return Splitter(language, name)


def _pieces(text: str, language: str) -> Iterator[str]:
    window = first = 0  # where the window and the current sentence begin; the sentence may begin earlier
    while window < len(text):
        stop = window + _WINDOW
        settled = stop - _AHEAD if stop < len(text) else len(text)
        for cut in _ends(text[window:stop], language):
            if window + cut > settled:
                break
            yield text[first : window + cut]
            first = window + cut
        if first > window:
            window = first
        else:  # the sentence is longer than the window, which moves on to the beginning of a word
            blanks = (back for back in range(settled, window, -1) if text[back - 1].isspace())
            window = next(blanks, settled)
    if first < len(text):
        yield text[first:]


def _ends(text: str, language: str) -> Iterator[int]:
    shown = text
    if "#" in text:  # in numbers whose digits are masked, such as #.## (Gigaword)
        shown = re.sub(r"#[#\d]*(?:[.,]#[#\d]*)+", lambda number: number[0].replace("#", "0"), text)
    shown = shown.translate(_table())
    kept = range(len(text)) if len(shown) == len(text) else [i for i, c in enumerate(text) if c not in _MARKS]
    begin = 0
    for piece in _segments(shown, language):
        if length := len(piece.rstrip()):
            end = kept[begin + length - 1] + 1
            attached = _ATTACHED.match(text, end)
            yield attached.end() if attached else end
        begin += len(piece)


@cache
def _table() -> dict[int, str | None]:
    # The splitter crashes on a capital, a no-break space and a full stop in a row, so it gets plain blanks.
    table: dict[int, str | None] = {code: " " for code in range(0x80, 0x3001) if chr(code).isspace()}
    return table | dict.fromkeys(_TERMINALS, "\u0964") | {ord(mark): None for mark in _MARKS}


def _segments(text: str, language: str) -> list[str]:
    import sentencex

    try:
        return list(sentencex.segment(language, text))
    except BaseException as error:
        # A panic in the splitter's Rust code is not an Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(
            f"the sentence splitter failed on raw text that begins {text[:40]!r}; give a list of sentences"
        ) from error
