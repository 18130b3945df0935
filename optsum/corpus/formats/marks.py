"""Texts whose sentences or documents are set apart by marks, as many public data sets have them."""

from __future__ import annotations

import re

_TAG = re.compile(r"(</?[sStT]>)")
_BETWEEN = re.compile(r"<q>|##SENT##|\[CLS\] \[SEP\]|\[SEP\] \[CLS\]")
_DOCUMENTS = re.compile(r"\|\|\|\|\||story_separator_special_tag")


def between_marks(text: str) -> list[str] | None:
    """Return the sentences of a text that has marks for them, without the marks; None for one that has none.

    Marks are ``<S> ... </S>`` (the arXiv and PubMed set; also in lower case), ``<t> ... </t>`` (CNN / Daily Mail as
    pointer networks read it), and between two sentences ``<q>`` (PreSumm), ``##SENT##`` and ``[CLS] [SEP]``.

    Examples
    --------
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
    if len(pieces) > 1:
        return [sentence for piece in pieces if (sentence := piece.strip())]
    return None


def documents_between_marks(text: str) -> list[str]:
    """Return the documents of a text: ``|||||`` or ``story_separator_special_tag`` stands between two (Multi-News).

    Examples
    --------
    >>> documents_between_marks("one ||||| two |||||"), documents_between_marks("one")
    (['one', 'two'], ['one'])
    """
    return [document for piece in _DOCUMENTS.split(text) if (document := piece.strip())] or [text]
