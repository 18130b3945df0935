"""Topics parsed by spaCy, for compressions."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from optsum.chunks import format_conllu, parses_of_spacy
from optsum.corpus.topic import Topic
from optsum.errors import InputError, OptionError

__all__ = ["load_model", "parsed_topic"]


def load_model(name: str) -> Any:
    """Return a pipeline of spaCy.

    Parameters
    ----------
    name : str
        Of an installed package, such as "en_core_web_sm", or the path of a folder.

    Raises
    ------
    OptionError
        If spaCy, or the pipeline, is not there, or it has no parser.
    """
    try:
        spacy = import_module("spacy")
    except ImportError:
        raise OptionError("Parsing needs spaCy: pip install 'optsum[spacy]'.") from None
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise OptionError(
            f"spaCy has no pipeline {name!r}: python -m spacy download {name}, or give the folder of one."
        ) from error
    return pipeline


def parsed_topic(topic: Topic, pipeline: Any) -> Topic:
    """Return a topic with the parse of each of its sentences; those that there were are replaced.

    Sentences stay as they are: what the topic calls one is one for the parser, and tokens of a topic that comes as
    tokens are its words.

    Raises
    ------
    InputError
        If the pipeline has no parser, or the topic has no text.
    """
    if not topic.sentences:
        raise InputError(f"topic {topic.id!r} has no documents, so there is nothing to parse")
    found = []
    for number, sentence in enumerate(topic.sentences):
        document = _document(sentence, pipeline)
        for token in document:
            token.is_sent_start = not token.i
        for _, component in pipeline.pipeline:
            document = component(document)
        parses = parses_of_spacy(document, f"topic {topic.id!r}, sentence {number}") if len(document) else ()
        found.append("\n\n".join(map(format_conllu, parses)))
    meta = {name: value for name, value in topic.meta.items() if name != "conllu"}
    return replace(topic, parses=tuple(found), meta=meta)


def _document(sentence: str | tuple[str, ...], pipeline: Any) -> Any:
    if isinstance(sentence, str):
        return pipeline.make_doc(sentence)
    return import_module("spacy.tokens").Doc(pipeline.vocab, words=list(sentence))
