"""Make parsed sentences from one line of text."""

from __future__ import annotations

from optsum.chunks import Parse, Token


def sentence(text: str) -> Parse:
    """Return a parse of words ``form/UPOS/head/relation``, some with ``/lemma/Feature=Value`` or ``/lemma/XPOS``."""
    tokens, at = [], 0
    words = [word.split("/") for word in text.split()]
    for form, upos, head, relation, *rest in words:
        lemma, extra = ([*rest, "", ""])[:2]
        feats = dict([extra.split("=")]) if "=" in extra else {}
        xpos = "" if "=" in extra else extra
        lemma = lemma or form.lower()
        tokens.append(Token(form, lemma, upos, xpos, feats, int(head) - 1, relation, at, at + len(form)))
        at += len(form) + 1
    return Parse(tuple(tokens), " ".join(word[0] for word in words))
