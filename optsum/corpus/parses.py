"""The parses of a topic's sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from optsum.chunks.conllu_text import Block, conllu_blocks, read_text
from optsum.chunks.parse import Parse
from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.text import Sentence

__all__ = ["parses_of"]

_FOLDER = "conllu"


def parses_of(topic: Topic) -> tuple[Parse, ...]:
    """Return the parse of each sentence of a topic.

    They come from ``parses``, the CoNLL-U text of each sentence, or else from the file that ``meta.conllu`` names (or
    the files, if it is a list), one sentence after the other. A file is looked for beside the file that the topic was
    read from, then in the folder ``conllu`` there; for a topic of the Python API, in the current folder.

    Returns
    -------
    tuple of Parse
        As many as sentences; ``text`` is exactly the sentence (tokens joined by blanks, if it came as tokens), and the
        spans of the tokens lie in it.

    Raises
    ------
    InputError
        If there are no parses, not one for each sentence, one is not of its sentence (white space aside), or one is no
        tree; the message names the topic and the sentence.
    """
    try:
        return tuple(
            _fitted(block.parse(), sentence, unit)
            for unit, (block, sentence) in enumerate(zip(_blocks(topic), topic.sentences, strict=True))
        )
    except InputError as error:
        raise InputError(f"topic {topic.id!r}: {error}") from None


def _blocks(topic: Topic) -> list[Block]:
    """Return the CoNLL-U of each sentence."""
    blocks = _found(topic)
    if len(blocks) != len(topic.sentences):
        raise InputError(
            f"there are {len(blocks)} parses for {len(topic.sentences)} sentences; give one for each, in order"
        )
    return blocks


def _found(topic: Topic) -> list[Block]:
    if topic.parses is not None:
        found = []
        for number, text in enumerate(topic.parses):
            blocks = conllu_blocks(text, f"parses[{number}]")
            if len(blocks) != 1:
                raise InputError(f"parses[{number}] holds {len(blocks)} sentences; give the CoNLL-U text of one")
            found += blocks
        return found
    names = topic.meta.get("conllu")
    if names is None:
        raise InputError(
            'there are no parses; give "parses", the CoNLL-U text of each sentence, or meta.conllu, a file'
        )
    files = names if isinstance(names, list | tuple) else [names]
    if not files or not all(isinstance(name, str) and name for name in files):
        raise InputError(f"meta.conllu is {names!r:.40}; give the name of a file, or a list of them")
    return [block for name in files for block in _read(name, topic.source)]


def _read(name: str, source: str) -> list[Block]:
    beside = Path(source.rpartition(":")[0]).parent  # the current folder, if the topic was not read from a file
    places = [beside / name, beside / _FOLDER / name]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError(f"meta.conllu names {name!r}, but neither {places[0]} nor {places[1]} exists; mend the name")
    return conllu_blocks(read_text(path), str(path))


def _fitted(parse: Parse, sentence: Sentence, unit: int) -> Parse:
    """Return the parse with the sentence as its text, whatever white space either has."""
    text = sentence if isinstance(sentence, str) else " ".join(sentence)
    if text == parse.text:
        return parse
    places = [place for place, sign in enumerate(text) if not sign.isspace()]
    before = [0]  # before[place]: how many characters of the parse's text in front of it are no white space
    for sign in parse.text:
        before.append(before[-1] + (not sign.isspace()))
    if "".join(parse.text.split()) != "".join(text.split()):
        raise InputError(
            f"{parse.source}: the parse is of {parse.text!r:.80}, but unit {unit} reads {text!r:.80}; "
            "give the parse of each sentence in their order"
        )
    tokens = []
    for token in parse.tokens:
        first, last = before[token.start], before[token.end]
        end = places[last - 1] + 1 if last else 0
        tokens.append(replace(token, start=places[first] if last > first else end, end=end))
    return Parse(tuple(tokens), text, parse.source)
