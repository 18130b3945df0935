"""Read parses of sentences from topics and files, or make them with spaCy."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from optsum.chunks import format_conllu, parses_of_spacy
from optsum.chunks.parse import Block, Parse, Token, conllu_blocks
from optsum.corpus.topic import Topic
from optsum.errors import InputError, OptionError
from optsum.system.files import read_text
from optsum.text.analyzer import Sentence, raw_text


def parses_of(topic: Topic) -> tuple[Parse, ...]:
    """Return the parse of each sentence of a topic; the text of a parse is the sentence as in the topic.

    Parses are in ``parses``, the CoNLL-U text of each sentence, or else, in order, in the file (or list of files) that
    ``meta.conllu`` names, beside the topic's own file or in a folder ``conllu`` beside it. A sentence without words
    needs no parse: ``""`` in ``parses``, nothing in a file.
    """
    try:
        return tuple(map(_fitted, _blocks(topic), topic.sentences))
    except InputError as error:
        raise InputError(f"topic {topic.id!r}: {error}") from None


def _blocks(topic: Topic) -> list[Block | None]:
    has_words = [bool(raw_text(sentence).strip()) for sentence in topic.sentences]
    found: list[Block | None] = []
    if topic.parses is not None:
        for number, text in enumerate(topic.parses):
            blocks = conllu_blocks(text, f"parses[{number}]")
            if not blocks and number < len(has_words) and not has_words[number]:
                found.append(None)
            elif len(blocks) != 1:
                fault = f"parses[{number}] should hold one sentence, but holds {len(blocks)}"
                raise InputError(f"{fault}; give the CoNLL-U text of one")
            found += blocks
    elif topic.meta.get("conllu") is not None:
        found += (block for name in _names(topic) for block in _read(name, topic.source))
    else:
        raise InputError(
            'there are no parses; give "parses", the CoNLL-U text of each sentence, or name a file in meta.conllu, '
            "or make them with optsum parse TOPICS --model NAME (spaCy)"
        )
    if len(found) == sum(has_words) < len(has_words):
        parses = iter(found)
        found = [next(parses) if words else None for words in has_words]
    if len(found) != len(has_words):
        counts = f"the number of parses is {len(found)}, but that of sentences is {len(has_words)}"
        raise InputError(f"{counts}; give one parse for each sentence, in order")
    return found


def parse_files(topic: Topic) -> list[Path]:
    if topic.parses is not None or topic.meta.get("conllu") is None:
        return []
    return [path for name in _names(topic) if (path := _existing(name, topic.source)) is not None]


def _names(topic: Topic) -> list[str]:
    names = topic.meta["conllu"]
    files = list(names) if isinstance(names, list | tuple) else [names]
    if not files or not all(isinstance(name, str) and name for name in files):
        raise InputError(f"meta.conllu is {names!r:.40}; give the name of a file, or a list of them")
    return files


def rebased(topic: Topic, folder: Path) -> Topic:
    """Return a topic whose ``meta.conllu`` names the same files relative to `folder`, so that it can be moved there."""
    names = topic.meta.get("conllu")
    if names is None or folder.resolve() == _folder_of(topic.source).resolve():
        return topic
    moved = [_seen_from(folder, name, topic.source) for name in (names if isinstance(names, list | tuple) else [names])]
    return replace(topic, meta={**topic.meta, "conllu": moved if isinstance(names, list | tuple) else moved[0]})


def _seen_from(folder: Path, name: object, source: str) -> object:
    if not isinstance(name, str) or Path(name).is_absolute() or (path := _existing(name, source)) is None:
        return name
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return str(path.resolve())


def _folder_of(source: str) -> Path:
    return Path(source.rpartition(":")[0]).parent


def _existing(name: str, source: str) -> Path | None:
    beside = _folder_of(source)
    return next((place for place in (beside / name, beside / "conllu" / name) if place.is_file()), None)


def _read(name: str, source: str) -> list[Block]:
    if (path := _existing(name, source)) is None:
        one, other = _folder_of(source) / name, _folder_of(source) / "conllu" / name
        raise InputError(f"meta.conllu names {name!r}, but neither {one} nor {other} exists; correct the name")
    return conllu_blocks(read_text(path, ""), str(path))


def _fitted(block: Block | None, sentence: Sentence) -> Parse:
    """Return the parse with the sentence as its text; the two may differ in white space only."""
    text = raw_text(sentence)
    if block is None:  # a sentence without a word
        return Parse((Token("", deprel="root"),), text)
    if (parse := block.parse()).text == text:
        return parse
    places = [place for place, sign in enumerate(text) if not sign.isspace()]
    # before[place]: number of characters before it in the parse's text that are not white space
    before = list(accumulate((not sign.isspace() for sign in parse.text), initial=0))
    if "".join(parse.text.split()) != "".join(text.split()):
        fault = f"the parse is of {parse.text!r:.80}, but the topic's text there is {text!r:.80}"
        raise InputError(f"{parse.source}: {fault}; give a parse for each sentence, in the order of the sentences")
    tokens = []
    for token in parse.tokens:
        first, last = before[token.start], before[token.end]
        end = places[last - 1] + 1 if last else 0
        tokens.append(replace(token, start=places[first] if last > first else end, end=end))
    return Parse(tuple(tokens), text, parse.source)


def load_model(name: str) -> Any:
    try:
        spacy = import_module("spacy")
    except ImportError:
        raise OptionError("Parsing needs spaCy: pip install 'optsum[spacy]'.") from None
    try:
        return spacy.load(name)
    except (OSError, ValueError) as error:
        how = f"python -m spacy download {name}, or give the folder of one"
        raise OptionError(f"spaCy has no pipeline {name!r}: {how}.") from error


def parsed_topic(topic: Topic, pipeline: Any) -> Topic:
    if not topic.sentences:
        raise InputError(f"topic {topic.id!r} has no documents, so there is nothing to parse")
    found = []
    for number, sentence in enumerate(topic.sentences):
        if isinstance(sentence, str):
            document = pipeline.make_doc(sentence)
        else:
            document = import_module("spacy.tokens").Doc(pipeline.vocab, words=list(sentence))
        for token in document:
            token.is_sent_start = not token.i
        for _, component in pipeline.pipeline:
            document = component(document)
        parses = parses_of_spacy(document, f"topic {topic.id!r}, sentence {number}") if len(document) else ()
        found.append("\n\n".join(map(format_conllu, parses)))
    meta = {name: value for name, value in topic.meta.items() if name != "conllu"}
    return replace(topic, parses=tuple(found), meta=meta)
