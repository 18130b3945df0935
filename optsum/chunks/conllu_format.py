"""A parse as CoNLL-U text: the other direction of `optsum.chunks.conllu_text`."""

from __future__ import annotations

from optsum.chunks.parse import Parse, Token


def format_conllu(parse: Parse) -> str:
    r"""Return the CoNLL-U text of a sentence, such as a topic has in ``"parses"``.

    `parse_conllu` makes the same tokens of it; of the text, white space at the ends is lost.

    Parameters
    ----------
    parse : Parse

    Examples
    --------
    >>> print(format_conllu(Parse((Token("Go", "go", "VERB", deprel="root", end=2),), "Go")).replace("\t", " "))
    # text = Go
    1 Go go VERB _ _ 0 root _ _
    """
    lines = [f"# text = {_one_line(parse.text).strip()}"]
    tokens = parse.tokens
    inside = 0  # tokens before this one are words of a multi-word token
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
        feats = "|".join(
            f"{name}={value}" for name, value in sorted(token.feats.items(), key=lambda each: each[0].lower())
        )
        columns = [token.form, token.lemma, token.upos, token.xpos, feats, str(token.head + 1), token.deprel, "", misc]
        lines.append("\t".join([str(number + 1), *(_one_line(column) or "_" for column in columns)]))
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return "".join(" " if sign.isspace() else sign for sign in text)


def _misc(parse: Parse, token: Token) -> str:
    behind = parse.text[token.end : token.end + 1]
    return "SpaceAfter=No" if behind and not behind.isspace() else "_"
