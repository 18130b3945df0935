"""Test the text of compressions: the scored one and the readable one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optsum.formulations.compressive import TrimmableSentence, bare_text, readable_text

from optsum.chunks.parse import Parse, Token
from optsum.text.analyzer import Analyzer

# form/part of speech/head/relation; after "~" there is no blank before the word. Every word is a chunk.
SENTENCES = {
    "apposition": "Anna/PROPN/8/nsubj ~,/PUNCT/5/punct an/DET/5/det old/ADJ/5/amod friend/NOUN/1/appos "
    "~,/PUNCT/5/punct has/AUX/8/aux left/VERB/0/root town/NOUN/8/obj ~./PUNCT/8/punct",
    "brackets": "The/DET/2/det hut/NOUN/9/nsubj (/PUNCT/5/punct ~of/ADP/5/case stone/NOUN/2/nmod ~)/PUNCT/5/punct "
    "is/AUX/9/cop very/ADV/9/advmod old/ADJ/0/root ~!/PUNCT/9/punct",
    "quotes": 'They/PRON/2/nsubj sang/VERB/0/root "/PUNCT/6/punct ~the/DET/6/det old/ADJ/6/amod song/NOUN/2/obj '
    '~"/PUNCT/6/punct loudly/ADV/2/advmod ~./PUNCT/2/punct',
    "list": "We/PRON/2/nsubj sell/VERB/0/root tea/NOUN/2/obj ~,/PUNCT/5/punct milk/NOUN/3/conj ~,/PUNCT/8/punct "
    "and/CCONJ/8/cc bread/NOUN/3/conj ~;/PUNCT/11/punct nobody/PRON/11/nsubj buys/VERB/2/conj ~./PUNCT/2/punct",
    "article": "It/PRON/5/nsubj was/AUX/5/cop a/DET/5/det big/ADJ/5/amod elephant/NOUN/0/root ~./PUNCT/5/punct",
    "hour": "An/DET/3/det early/ADJ/3/amod union/NOUN/4/nsubj met/VERB/0/root ~./PUNCT/4/punct",
    "hyphen": "A/DET/4/det well/ADV/4/advmod ~-/PUNCT/4/punct ~known/ADJ/5/amod singer/NOUN/0/root",
    "fronted": "Then/ADV/6/advmod ~,/PUNCT/6/punct in/ADP/4/case May/PROPN/6/obl ~,/PUNCT/6/punct left/VERB/0/root "
    "iMacs/NOUN/6/nsubj ~?/PUNCT/6/punct",
    "asked": 'He/PRON/2/nsubj sighed/VERB/0/root ~,/PUNCT/5/punct "/PUNCT/5/punct ~Why/ADV/2/ccomp ~?/PUNCT/5/punct '
    '~"/PUNCT/5/punct',
    "colon": "Lima/PROPN/0/root ~:/PUNCT/4/punct with/ADP/4/case hills/NOUN/7/obl ~,/PUNCT/4/punct it/PRON/7/nsubj "
    "rises/VERB/1/parataxis ~./PUNCT/1/punct",
    "abbreviation": "We/PRON/2/nsubj sell/VERB/0/root tea/NOUN/2/obj ~,/PUNCT/5/punct etc./X/3/conj",
    "that": "He/PRON/2/nsubj said/VERB/0/root ~,/PUNCT/4/punct twice/ADV/2/advmod ~,/PUNCT/8/punct that/SCONJ/8/mark "
    "it/PRON/8/nsubj rains/VERB/2/ccomp ~./PUNCT/2/punct",
    "tokens": "Men/NOUN/6/nsubj ,/PUNCT/3/punct old/ADJ/1/amod ones/NOUN/1/appos ,/PUNCT/3/punct left/VERB/0/root "
    "town/NOUN/6/obj (/PUNCT/9/punct soon/ADV/6/advmod )/PUNCT/9/punct ./PUNCT/6/punct",
    "label": "tea/NOUN/0/root a/PUNCT/1/punct ~./PUNCT/1/punct",  # a letter is a word, whatever the parse says
    "clitic": "The/DET/2/det dog/NOUN/7/nmod:poss (/PUNCT/4/punct ~mine/PRON/2/appos ~)/PUNCT/4/punct "
    "~'s/PART/2/case tail/NOUN/0/root",
}


def sentence(spec: str) -> TrimmableSentence:
    tokens: list[Token] = []
    text = ""
    for word in spec.split():
        form, upos, head, relation = word.removeprefix("~").rsplit("/", 3)
        if tokens and not word.startswith("~") and tokens[-1].form != "(" and not text.endswith(' "'):
            text += " "
        xpos = "DT" if upos == "DET" else ""
        start = len(text)
        text += form
        tokens.append(
            Token(form, form.lower(), upos, xpos, head=int(head) - 1, deprel=relation, start=start, end=len(text))
        )
    groups = range(len(tokens))
    return TrimmableSentence(
        0,
        text,
        Parse(tuple(tokens), text),
        tuple((group + 1,) for group in groups),
        tuple(group + 1 for group in groups),
        (-1,) * len(tokens),
        tuple(groups),
    )


@pytest.mark.parametrize(
    ("name", "without", "shown"),
    [
        ("apposition", "", "Anna, an old friend, has left town."),
        ("apposition", "old", "Anna, a friend, has left town."),
        ("apposition", "an old friend", "Anna has left town."),
        ("apposition", "Anna town", "An old friend, has left."),
        ("brackets", "of stone", "The hut is very old!"),
        ("brackets", "of", "The hut (stone) is very old!"),
        ("brackets", "very old", "The hut (of stone) is!"),
        ("quotes", "the", 'They sang "old song" loudly.'),
        ("quotes", "song loudly", 'They sang "the old".'),
        ("quotes", "the old song", "They sang loudly."),
        ("list", "milk", "We sell tea, and bread; nobody buys."),
        ("list", "nobody buys", "We sell tea, milk, and bread."),
        ("list", "and bread", "We sell tea, milk; nobody buys."),
        ("list", "tea milk and bread", "We sell; nobody buys."),
        ("article", "big", "It was an elephant."),
        ("article", "It", "Was a big elephant."),
        ("hour", "early", "A union met."),
        ("hyphen", "well", "A known singer"),
        ("hyphen", "known", "A well singer"),
        ("fronted", "in May", "Then, left iMacs?"),
        ("fronted", "Then in May left", "iMacs?"),
        ("fronted", "Then", "In May, left iMacs?"),
        ("asked", "Why", "He sighed."),
        ("asked", "He sighed", '"Why?"'),
        ("colon", "with hills", "Lima: it rises."),
        ("colon", "it rises", "Lima: with hills."),
        ("colon", "with hills it rises", "Lima."),
        ("abbreviation", "etc.", "We sell tea."),
        ("abbreviation", "tea", "We sell, etc."),
        ("that", "twice", "He said that it rains."),
        ("that", "He", "Said, twice, that it rains."),
        ("label", "a", "tea."),
        ("label", "tea", "a."),
        ("tokens", "town", "Men , old ones , left (soon ) ."),
        ("tokens", "old town soon", "Men ones left ."),
        ("clitic", "mine", "The dog's tail"),
    ],
)
def test_the_readable_text_of_compressions(name: str, without: str, shown: str) -> None:
    made = sentence(SENTENCES[name])
    dropped = without.split()
    kept = [place for place, token in enumerate(made.parse.tokens) if token.form not in dropped]
    assert readable_text(made, kept) == shown


@given(st.sampled_from(sorted(SENTENCES)), st.data())
def test_the_readable_text_of_any_compression_is_well_formed(name: str, data: st.DataObject) -> None:
    """Check that the kept words appear in order, brackets and quotation marks in pairs, and no double blanks."""
    made = sentence(SENTENCES[name])
    kept = data.draw(st.sets(st.sampled_from(range(len(made.chunks)))))
    shown = readable_text(made, kept)
    held = [
        token.form
        for place, token in enumerate(made.parse.tokens)
        if place in kept and token.upos != "PUNCT" and token.form.lower() not in {"a", "an"}
    ]
    rest = shown.lower()
    for form in held:
        assert form.lower() in rest
        rest = rest.split(form.lower(), 1)[1]
    assert shown.count("(") == shown.count(")")
    assert shown.count('"') % 2 == 0
    assert "  " not in shown
    assert shown == shown.strip()
    assert ",," not in shown
    assert not shown.startswith((",", ";", ")"))
    if len(kept) == len(made.chunks):
        assert shown == made.parse.text


@pytest.mark.parametrize("tokenizer", ["rouge", "blank", "unicode", "tokens"])
@given(name=st.sampled_from(sorted(SENTENCES)), data=st.data())
def test_the_bare_text_has_the_counted_tokens(tokenizer: str, name: str, data: st.DataObject) -> None:
    made = sentence(SENTENCES[name])
    kept = data.draw(st.sets(st.sampled_from(range(len(made.chunks)))))
    counted = [token for token, group in made.tokens(Analyzer(tokenizer)) if group in kept]
    assert Analyzer(tokenizer).tokens(bare_text(made, kept, tokenizer)) == counted
