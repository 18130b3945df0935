"""Parsed sentences: words, heads, labels and positions in the text; and trees of words that can be changed.

Parses are made by spaCy, and read from and written as CoNLL-U text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Final

from optsum.errors import InputError, located
from optsum.system.files import PathLike, name_of, read_text

_BRACKETS = {"-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"}  # How the Penn Treebank writes brackets.
_LINE_BREAK = re.compile(r"\r\n?|\n")  # str.splitlines knows others, which a word may contain


@dataclass(frozen=True, slots=True)
class Token:
    """A syntactic word of a parsed sentence, with its place in the dependency tree and in the text."""

    # form, lemma, upos, xpos: the columns of CoNLL-U, empty if they are not given.
    form: str
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    # Morphological features, such as ``PronType`` -> ``Rel``.
    feats: Mapping[str, str] = field(default_factory=dict, hash=False)
    head: int = -1  # Number of the head among the tokens of the `Parse`, from 0; -1 for the root.
    deprel: str = ""  # The relation to the head.
    # start, end: the word is ``text[start:end]`` of the parse. Words of a multi-word token divide its characters among
    # them, or the first word has all, and the others have empty spans.
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Parse:
    """One sentence with its dependency tree, which may be non-projective."""

    tokens: tuple[Token, ...]  # In the order of the text, at least one.
    text: str  # The sentence.
    source: str = ""  # File and sentence, for messages.

    def __post_init__(self) -> None:
        if fault := self._fault():
            raise InputError(f"{self.source or f'the parse of {self.text[:40]!r}'}: {fault}")

    def _fault(self) -> str | None:
        tokens = self.tokens
        if not tokens:
            return "there is no word; give at least one"
        roots = [number for number, token in enumerate(tokens) if token.head == -1]
        at = 0
        for number, token in enumerate(tokens):
            if not -1 <= token.head < len(tokens):
                needed = "give the number of a word of the sentence, or 0 for the root"
                return f"the head of {self._named(number)} does not exist; {needed}"
            if not at <= token.start <= token.end <= len(self.text):
                return f"the span of {self._named(number)} is out of order, or not within the sentence; correct it"
            at = token.start
        if len(roots) > 1:
            return f"{self._named(roots[0])} and {self._named(roots[1])} are both roots; a tree has one root"
        if not roots:
            return "no word is the root; give one word the head 0"
        # Climbing from every word to the root stops at marked words, so each word is marked once, in linear time.
        climbed = [-1] * len(tokens)  # For each word, the word from which climbing first reached it.
        for number in range(len(tokens)):
            here = number
            while here != -1 and climbed[here] == -1:
                climbed[here] = number
                here = tokens[here].head
            if here != -1 and climbed[here] == number:
                return f"the heads above {self._named(here)} form a cycle; in a tree every word leads to the root"
        return None

    def _named(self, number: int) -> str:
        return f"word {number + 1} ({self.tokens[number].form!r:.40})"


def parses_of_spacy(doc: Any, source: str = "") -> tuple[Parse, ...]:
    """Return the parses of the sentences of a spaCy document or span; white space is not a word."""
    if not getattr(doc, "doc", doc).has_annotation("DEP"):
        raise InputError(f"{source or 'the document'}: spaCy has not parsed it; use a pipeline with a parser")
    found = []
    for number, sentence in enumerate(doc.sents, start=1):
        words = [token for token in sentence if not token.is_space]
        if not words:
            continue
        where = located(source, f"sentence {number}")
        place = {token.i: position for position, token in enumerate(words)}
        begin = words[0].idx
        text = sentence.doc.text[begin : words[-1].idx + len(words[-1].text)]
        tokens = []
        for token in words:
            start, above = token.idx - begin, _head(token, place, where)
            known = token.text, token.lemma_, token.pos_, token.tag_, token.morph.to_dict()
            tokens.append(Token(*known, above, token.dep_, start, start + len(token.text)))
        found.append(Parse(tuple(tokens), text, where))
    return tuple(found)


def _head(token: Any, place: dict[int, int], where: str) -> int:
    here = token
    while here.head.i != here.i:
        here = here.head
        if here.i in place:
            return place[here.i]
        if not here.is_space:
            raise InputError(f"{where}: the head of {token.text!r:.40} is outside the sentence; give whole sentences")
    return -1


class WorkingTree:
    """The words of a parse, whose heads and relations can be changed.

    `words`: numbers of all tokens except punctuation. `root`: the number of a word. `head`: for each token the number
    of its head, which is a word; -1 for root and punctuation. `relation`: for each token the relation to its head.
    """

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        tokens = parse.tokens
        is_word = [not is_punctuation(token) for token in tokens]
        self.head = [-1] * len(tokens)
        self.relation = [token.deprel for token in tokens]
        tops = []
        for number, token in enumerate(tokens):
            above = token.head
            while above != -1 and not is_word[above]:  # a word may depend on a bracket or dash, which is skipped
                above = tokens[above].head
            self.head[number] = above
            if above == -1 and is_word[number]:
                tops.append(number)
        if tops:
            self.root = tops[0]
            for number in tops[1:]:  # the root was punctuation: its first word replaces it
                self.head[number] = self.root
        else:  # nothing but punctuation
            self.root = next(number for number, token in enumerate(tokens) if token.head == -1)
            is_word[self.root] = True
        self.words = [number for number, word in enumerate(is_word) if word]
        for number, word in enumerate(is_word):
            if not word or number == self.root:
                self.head[number] = -1
        self._children: list[list[int]] | None = None

    def children(self, word: int) -> list[int]:
        if self._children is None:
            self._children = [[] for _ in self.head]
            for number in self.words:
                if self.head[number] != -1:
                    self._children[self.head[number]].append(number)
        return self._children[word]

    def attach(self, word: int, head: int, relation: str | None = None) -> None:
        """Give a word another head (-1 makes it the root) and optionally another relation."""
        self.head[word] = head
        if relation is not None:
            self.relation[word] = relation
        if head == -1:
            self.root = word
        self._children = None

    def below(self, word: int) -> set[int]:
        found, new = {word}, [word]
        while new:
            new = [child for each in new for child in self.children(each)]
            found.update(new)
        return found

    def lemma(self, word: int) -> str:
        token = self.parse.tokens[word]
        return (token.lemma or token.form).lower()


def is_punctuation(token: Token) -> bool:
    named = token.upos == "PUNCT" or token.deprel.partition(":")[0] == "punct"
    return named and (token.form in _BRACKETS or not any(map(str.isalnum, token.form)))


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence in CoNLL-U."""

    text: str  # Comments and words, as in the file.
    source: str  # File and sentence: its ``sent_id``, or else its number, from 1.
    sentence: str  # The comment ``# text``; empty if there is none.

    def parse(self) -> Parse:
        import conllu
        from conllu.exceptions import ParseException

        try:
            (rows,) = conllu.parse(self.text, field_parsers=_COLUMNS)
        except ParseException as error:
            raise InputError(f"{self.source}: a line is not CoNLL-U: {str(error).rstrip('.')}") from None
        words: list[Any] = []
        ranges: dict[int, tuple[int, str, bool]] = {}  # multi-word tokens: first word -> last, form, blank after
        for row in map(dict, rows):  # rows of `conllu` are slower
            kind = row.get("id")
            if isinstance(kind, int):
                words.append(row)
                if kind != len(words):
                    fault = f"word {kind} stands where word {len(words)} should be; number words consecutively"
                    raise InputError(f"{self.source}: {fault}")
            elif kind is None:
                raise InputError(f"{self.source}: a line has no number in its first column; number the words from 1")
            elif kind[1] == "-":
                ranges[kind[0]] = (kind[2], _text_of(row, "form"), _blank_after(row))
        if not words:
            raise InputError(f"{self.source}: there is no word; give at least one")
        surface = _surface(words, ranges, self.source)
        text = self.sentence or "".join(form + " " * blank for _, form, blank in surface).rstrip()
        spans, at = list[tuple[int, int]](), 0
        for members, form, _ in surface:
            start, at = _find(form, text, at, self.source)
            spans += _share(members, form, start, at)
        if rest := text[at:].strip():
            fault = f"the comment # text ends in {rest!r:.40}, which is in no word"
            raise InputError(f"{self.source}: {fault}; make the comment and the words agree")
        tokens = (_token(row, span, self.source) for row, span in zip(words, spans, strict=True))
        return Parse(tuple(tokens), text, self.source)


def read_conllu(path: PathLike) -> Iterator[Parse]:
    """Read a CoNLL-U file (``-``: standard input) and iterate over its parses; a malformed sentence raises an error."""
    name = name_of(path)
    blocks = conllu_blocks(read_text(path, ""), name)
    if not blocks:
        raise InputError(f"{name} has no sentence; give CoNLL-U, with a blank line after each sentence")
    return (block.parse() for block in blocks)


def conllu_blocks(text: str, source: str = "") -> list[Block]:
    """Split CoNLL-U text into the lines of each sentence; comments without words are not a sentence."""
    blocks: list[Block] = []
    lines: list[str] = []
    for line in [*_LINE_BREAK.split(text), ""]:
        if line.strip():
            lines.append(line)
            continue
        if any(not each.startswith("#") for each in lines):
            pairs = [each[1:].partition("=") for each in lines if each.startswith("#")]
            meta = {key.strip(): value.strip() for key, equals, value in pairs if equals}
            where = f"sentence {meta.get('sent_id') or len(blocks) + 1}"
            blocks.append(Block("\n".join(lines), located(source, where), meta.get("text", "")))
        lines = []
    return blocks


def parse_conllu(text: str, source: str = "") -> tuple[Parse, ...]:
    r"""Return the parses of CoNLL-U text (`source`: where it comes from, for messages).

    Words with an integer id are the tokens of a parse. Empty nodes (``8.1``) and enhanced dependencies are dropped. The
    characters of a multi-word token (``2-3``) are divided among its words if these spell it; otherwise (German *zum*:
    *zu*, *dem*) the first word has all of them. The text is the comment ``# text``, or else the words joined by blanks,
    except after ``SpaceAfter=No``.

    >>> (parse,) = parse_conllu("1\tHush\thush\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n2\t!\t!\tPUNCT\t.\t_\t1\tpunct")
    >>> parse.text, [token.deprel for token in parse.tokens]
    ('Hush!', ['root', 'punct'])
    """
    return tuple(block.parse() for block in conllu_blocks(text, source))


_WHOLE: Final = re.compile("[1-9][0-9]*")


def _number(columns: list[str], at: int) -> Any:
    from conllu.parser import parse_id_value

    return int(columns[at]) if _WHOLE.fullmatch(columns[at]) else parse_id_value(columns[at])


def _pairs(columns: list[str], at: int) -> dict[str, str]:
    if columns[at] in {"_", ""}:
        return {}
    pairs = (each.partition("=") for each in columns[at].split("|"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


# Parsers of columns that take a fraction of the time of the parsers in the package `conllu`.
_COLUMNS: Final[dict[str, Any]] = {
    "id": _number,
    "feats": _pairs,
    "head": lambda columns, at: int(columns[at]) if _WHOLE.fullmatch(columns[at]) or columns[at] == "0" else None,
    "deps": lambda *_: None,
    "misc": _pairs,
}


def _surface(
    words: list[Any], ranges: dict[int, tuple[int, str, bool]], source: str
) -> list[tuple[list[str], str, bool]]:
    found: list[tuple[list[str], str, bool]] = []
    first = 1
    while first <= len(words):
        last, form, blank = ranges.pop(first, (first, "", False))
        members = words[first - 1 : last]
        if last > len(words):
            fault = f"the multi-word token {first}-{last} ends after the last word; correct its range"
            raise InputError(f"{source}: {fault}")
        forms = [_text_of(row, "form") for row in members]
        found.append((forms, form, blank) if form else (forms, forms[0], _blank_after(members[0])))
        first = last + 1
    if ranges:
        fault = f"the multi-word token that begins at word {min(ranges)} overlaps another; correct it"
        raise InputError(f"{source}: {fault}")
    return found


def _find(form: str, text: str, at: int, source: str) -> tuple[int, int]:
    """Return start and end of the word `form`, which must come next in `text` from `at` on; white space is skipped."""
    start = None
    for letter in "".join(form.split()):
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(letter, at):
            fault = f"the comment # text has {text[at : at + 20]!r} where the word {form!r:.40} should be"
            raise InputError(f"{source}: {fault}; make them agree")
        start = at if start is None else start
        at += 1
    return (at if start is None else start), at


def _share(members: list[str], form: str, start: int, end: int) -> list[tuple[int, int]]:
    joined = "".join(members)
    if len(members) > 1 and joined.lower() == form.lower() and len(joined) == len(form) == end - start:
        return list(pairwise(accumulate(map(len, members), initial=start)))
    return [(start, end), *[(end, end)] * (len(members) - 1)]


def _token(row: Any, span: tuple[int, int], source: str) -> Token:
    head = row.get("head")
    if not isinstance(head, int) or head < 0:
        raise InputError(f"{source}: word {row['id']} has no head; give the number of a word, or 0 for the root")
    form, lemma, upos, xpos, deprel = (_text_of(row, name) for name in ("form", "lemma", "upos", "xpos", "deprel"))
    return Token(form, lemma, upos, xpos, row.get("feats") or {}, head - 1, deprel, *span)


def _text_of(row: Any, column: str) -> str:
    value = str(row.get(column) or "")
    return "" if value == "_" and column != "form" and row.get("form") != "_" else value


def _blank_after(row: Any) -> bool:
    return bool((row.get("misc") or {}).get("SpaceAfter") != "No")


def format_conllu(parse: Parse) -> str:
    r"""Return the CoNLL-U text of a sentence, as in ``"parses"`` of a topic.

    `parse_conllu` makes the same tokens from it; white space at the ends of the text is lost.

    >>> print(format_conllu(Parse((Token("Go", "go", "VERB", deprel="root", end=2),), "Go")).replace("\t", " "))
    # text = Go
    1 Go go VERB _ _ 0 root _ _
    """
    lines = [f"# text = {_one_line(parse.text).strip()}"]
    tokens = parse.tokens
    inside = 0  # tokens before this number are in a multi-word token that has been written
    for number, token in enumerate(tokens):
        end = number + 1
        while end < len(tokens) and tokens[end].start == tokens[end].end:
            end += 1
        surface = parse.text[token.start : token.end]
        if number >= inside and (end > number + 1 or surface != token.form):
            last = tokens[end - 1]
            lines.append("\t".join([f"{number + 1}-{end}", _one_line(surface), *"_" * 7, _misc(parse, last)]))
            inside = end
        misc = "_" if number < inside else _misc(parse, token)
        feats = "|".join(f"{name}={token.feats[name]}" for name in sorted(token.feats, key=str.lower))
        columns = [token.form, token.lemma, token.upos, token.xpos, feats, str(token.head + 1), token.deprel, "", misc]
        lines.append("\t".join([str(number + 1), *(_one_line(column) or "_" for column in columns)]))
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return "".join(" " if sign.isspace() else sign for sign in text)


def _misc(parse: Parse, token: Token) -> str:
    behind = parse.text[token.end : token.end + 1]
    return "SpaceAfter=No" if behind and not behind.isspace() else "_"
