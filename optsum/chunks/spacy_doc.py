"""Parsed sentences from spaCy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from optsum.chunks.parse import Parse, Token
from optsum.errors import InputError


def parses_of_spacy(doc: Any, source: str = "") -> tuple[Parse, ...]:
    """Return the parses of the sentences of a document that spaCy has parsed.

    spaCy itself is not imported; install it with the extra ``spacy``.

    Parameters
    ----------
    doc : spacy.tokens.Doc or spacy.tokens.Span
        With a dependency parse. Of a span, the sentences in it.
    source : str
        Where it comes from, for messages.

    Returns
    -------
    tuple of Parse
        Tokens of white space are no words; what hangs on them hangs on their head.

    Raises
    ------
    InputError
        If there is no dependency parse, or a span cuts a sentence so that the rest is no tree.
    """
    whole = getattr(doc, "doc", doc)
    if not whole.has_annotation("DEP"):
        raise InputError(f"{source or 'the document'}: spaCy has not parsed it; use a pipeline with a parser")
    return tuple(_sentences(doc, source))


def _sentences(doc: Any, source: str) -> Iterator[Parse]:
    for number, sentence in enumerate(doc.sents, start=1):
        words = [token for token in sentence if not token.is_space]
        if not words:
            continue
        where = f"{source}: sentence {number}" if source else f"sentence {number}"
        place = {token.i: position for position, token in enumerate(words)}
        begin = words[0].idx
        text = sentence.doc.text[begin : words[-1].idx + len(words[-1].text)]
        tokens = [
            Token(
                form=token.text,
                lemma=token.lemma_,
                upos=token.pos_,
                xpos=token.tag_,
                feats=token.morph.to_dict(),
                head=_head(token, place, where),
                deprel=token.dep_,
                start=token.idx - begin,
                end=token.idx - begin + len(token.text),
            )
            for token in words
        ]
        yield Parse(tuple(tokens), text, where)


def _head(token: Any, place: dict[int, int], where: str) -> int:
    """Return the place of the head among the words; -1 for the root."""
    here = token
    while here.head.i != here.i:
        here = here.head
        if here.i in place:
            return place[here.i]
        if not here.is_space:
            raise InputError(f"{where}: the head of {token.text!r:.40} is outside; give whole sentences")
    return -1
