"""Test the dependency labels of spaCy's English models: detection, chunk rules, and parses from a spaCy document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from chunk_sentences import sentence

from optsum.chunks import (
    Parse,
    Token,
    chunk_tree,
    format_conllu,
    load_rules,
    parse_conllu,
    parses_of_spacy,
    rules_for,
)
from optsum.chunks.tree import bracketed
from optsum.errors import InputError


def cut(text: str, profile: str = "strict") -> str:
    parse = sentence(text)
    return bracketed(parse, chunk_tree(parse, profile, load_rules("clearnlp")))


SENTENCES = [
    # Figure 1 of Hirao et al. 2017 has the same chunks as with Universal Dependencies
    (
        (
            "Most/ADJ/2/amod/most/JJS dolphins/NOUN/3/nsubj/dolphin/NNS live/VERB/0/ROOT/live/VBP in/ADP/3/prep/in/IN "
            "every/DET/6/det/every/DT ocean/NOUN/4/pobj/ocean/NN ./PUNCT/3/punct/./."
        ),
        "[Most]1 [dolphins]2! [live]3 [in every ocean .]4",
    ),
    (
        (
            "Some/DET/2/det/some/DT dolphins/NOUN/3/nsubj/dolphin/NNS live/VERB/0/ROOT/live/VBP in/ADP/3/prep/in/IN "
            "rivers/NOUN/4/pobj/river/NNS in/ADP/3/prep/in/IN some/DET/8/det/some/DT regions/NOUN/6/pobj/region/NNS"
        ),
        "[Some dolphins]1! [live]2 [in rivers]3 [in some regions]4",
    ),
    (
        (
            "Dolphins/NOUN/3/nsubj/dolphin/NNS usually/ADV/3/advmod/usually/RB live/VERB/0/ROOT/live/VBP "
            "20-40/NUM/5/nummod/20-40/CD years/NOUN/3/dobj/year/NNS in/ADP/5/prep/in/IN the/DET/8/det/the/DT "
            "wild/NOUN/6/pobj/wild/NN"
        ),
        "[Dolphins]1! [usually]2 [live]3 [20-40 years]4! [in the wild]5",
    ),
    # "be" heads its clause, so its complement is required
    (
        (
            "The/DET/3/det/the/DT fishing/NOUN/3/compound/fishing/NN boat/NOUN/4/nsubj/boat/NN was/AUX/0/ROOT/be/VBD "
            "n't/PART/4/neg/not/RB very/ADV/7/advmod/very/RB old/ADJ/4/acomp/old/JJ"
        ),
        "[The]1! [fishing]2 [boat]1 [was n't]3 [very]4 [old]5!",
    ),
    # agent and its noun, names, a possessor that is a pronoun and one that is not
    (
        (
            "Ann/PROPN/2/compound/Ann/NNP Lee/PROPN/4/nsubjpass/Lee/NNP was/AUX/4/auxpass/be/VBD "
            "seen/VERB/0/ROOT/see/VBN by/ADP/4/agent/by/IN her/PRON/7/poss/her/PRP$ friend/NOUN/9/poss/friend/NN "
            "'s/PART/7/case/'s/POS son/NOUN/5/pobj/son/NN"
        ),
        "[Ann Lee]1! [was seen]2 [by]3 [her friend 's]4! [son]3",
    ),
    # coordination as a chain, with coordinators on the left
    (
        (
            "Ann/PROPN/7/nsubj/Ann/NNP ,/PUNCT/1/punct/,/, Bo/PROPN/1/conj/Bo/NNP ,/PUNCT/3/punct/,/, "
            "and/CCONJ/3/cc/and/CC Cy/PROPN/3/conj/Cy/NNP left/VERB/0/ROOT/leave/VBD"
        ),
        "[Ann ,]1! [Bo ,]2 [and Cy]3! [left]4",
    ),
    (
        (
            "He/PRON/2/nsubj/he/PRP ate/VERB/0/ROOT/eat/VBD both/CCONJ/4/preconj/both/CC tea/NOUN/2/dobj/tea/NN "
            "and/CCONJ/4/cc/and/CC cake/NOUN/4/conj/cake/NN and/CCONJ/2/cc/and/CC slept/VERB/2/conj/sleep/VBD"
        ),
        "[He]1! [ate]2 [both]3 [tea]4! [and cake]5 [and slept]6",
    ),
    # required adverbs and prepositions, a verb before its subject
    (
        (
            "Those/PRON/4/nsubj/those/DT with/ADP/1/prep/with/IN sense/NOUN/2/pobj/sense/NN look/VERB/0/ROOT/look/VBP "
            "forward/ADV/4/advmod/forward/RB to/ADP/4/prep/to/IN it/PRON/6/pobj/it/PRP"
        ),
        "[Those]1! [with sense]2! [look]3 [forward]4! [to it]5!",
    ),
    (
        (
            "In/ADP/4/prep/in/IN the/DET/3/det/the/DT hall/NOUN/1/pobj/hall/NN are/AUX/0/ROOT/be/VBP "
            "men/NOUN/4/nsubj/man/NNS with/ADP/5/prep/with/IN hats/NOUN/6/pobj/hat/NNS"
        ),
        "[In the hall]1! [are]2 [men]3! [with hats]4",
    ),
    # an attribution, a relative clause, prepositions
    (
        (
            "It/PRON/2/nsubj/it/PRP rains/VERB/5/ccomp/rain/VBZ ,/PUNCT/5/punct/,/, he/PRON/5/nsubj/he/PRP "
            "said/VERB/0/ROOT/say/VBD"
        ),
        "[It]1! [rains ,]2 [he]3! [said]4",
    ),
    (
        (
            "house/NOUN/0/ROOT/house/NN in/ADP/5/prep/in/IN which/PRON/2/pobj/which/WDT he/PRON/5/nsubj/he/PRP "
            "lived/VERB/1/relcl/live/VBD until/ADP/5/prep/until/IN recently/ADV/6/pcomp/recently/RB"
        ),
        "[house]1 [in which]2 [he]3! [lived]2 [until recently]4",
    ),
    (
        (
            "One/NUM/5/nsubj/one/CD of/ADP/1/prep/of/IN the/DET/4/det/the/DT men/NOUN/2/pobj/man/NNS "
            "came/VERB/0/ROOT/come/VBD out/ADP/5/prep/out/IN of/ADP/6/prep/of/IN jail/NOUN/7/pobj/jail/NN "
            "depending/VERB/5/advcl/depend/VBG on/ADP/9/prep/on/IN him/PRON/10/pobj/he/PRP"
        ),
        "[One]1! [of the men]2! [came]3 [out of jail]4 [depending]5 [on him]6!",
    ),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_rules_cut_sentences_into_the_expected_chunks(text: str, expected: str) -> None:
    assert cut(text) == expected
    assert cut(text, "paper") == expected.replace("!", "")
    assert rules_for(sentence(text)).name == "clearnlp"


def test_labels_tell_the_scheme() -> None:
    assert rules_for(sentence("He/PRON/2/nsubj ate/VERB/0/root tea/NOUN/2/obj")).name == "ud"
    assert rules_for(sentence("He/PRON/2/nsubj ate/VERB/0/root tea/NOUN/2/dobj")).name == "clearnlp"
    assert rules_for(sentence("He/PRON/2/nsubj slept/VERB/0/root")).name == "ud"  # no label tells the schemes apart
    assert rules_for(sentence("He/PRON/2/nsubj slept/VERB/0/ROOT")).name == "clearnlp"


def test_the_scheme_can_be_given() -> None:
    parse = sentence("We/PRON/2/nsubj/we/PRP go/VERB/0/root/go/VBP nowhere/ADV/2/npadvmod/nowhere/RB")
    assert chunk_tree(parse, rules=load_rules("ud")).graph["rules"] == "ud"
    assert chunk_tree(parse).graph["rules"] == "clearnlp"


# Documents. spaCy is an extra, so the test also runs on doubles with the attributes that are used.


@dataclass
class _Morph:
    feats: dict[str, str]

    def to_dict(self) -> dict[str, str]:
        return self.feats


@dataclass
class _Token:
    i: int
    idx: int
    text: str
    lemma_: str
    pos_: str
    tag_: str
    dep_: str
    is_space: bool
    morph: _Morph
    head: Any = None


@dataclass
class _Doc:
    tokens: list[_Token]
    text: str
    starts: list[int]
    parsed: bool = True
    doc: Any = field(init=False)

    def __post_init__(self) -> None:
        self.doc = self

    def has_annotation(self, name: str) -> bool:
        return name == "DEP" and self.parsed

    @property
    def sents(self) -> list[Any]:
        return [
            _Span(self, first, last)
            for first, last in zip(self.starts, [*self.starts[1:], len(self.tokens)], strict=True)
        ]


@dataclass
class _Span:
    doc: _Doc
    first: int
    last: int

    def __iter__(self) -> Any:
        return iter(self.doc.tokens[self.first : self.last])

    @property
    def sents(self) -> list[Any]:
        return [self]


WORDS = ["He", "did", "n't", "eat", "\n", "cake", ".", "Why", "?"]
SPACES = [True, False, True, True, False, False, True, False, False]
HEADS = [3, 3, 3, 3, 3, 4, 3, 7, 7]
LABELS = ["nsubj", "aux", "neg", "ROOT", "dep", "dobj", "punct", "ROOT", "punct"]
TAGS = ["PRP", "VBD", "RB", "VB", "_SP", "NN", ".", "WRB", "."]
KINDS = ["PRON", "AUX", "PART", "VERB", "SPACE", "NOUN", "PUNCT", "SCONJ", "PUNCT"]
LEMMAS = ["he", "do", "not", "eat", "\n", "cake", ".", "why", "?"]


def double(*, parsed: bool = True) -> Any:
    text, tokens = "", []
    for i, word in enumerate(WORDS):
        morph = _Morph({"PronType": "Prs"} if word == "He" else {})
        tokens.append(_Token(i, len(text), word, LEMMAS[i], KINDS[i], TAGS[i], LABELS[i], word.isspace(), morph))
        text += word + " " * SPACES[i]
    for i, token in enumerate(tokens):
        token.head = tokens[HEADS[i]]
    return _Doc(tokens, text, [0, 7], parsed)


def real(*, parsed: bool = True) -> Any:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    morphs = ["PronType=Prs", *[""] * (len(WORDS) - 1)]
    given = {"heads": HEADS, "deps": LABELS} if parsed else {}
    return spacy.tokens.Doc(
        spacy.blank("en").vocab, words=WORDS, spaces=SPACES, tags=TAGS, pos=KINDS, lemmas=LEMMAS, morphs=morphs, **given
    )


@pytest.mark.parametrize("document", [double, real])
def test_a_spacy_document_becomes_parses(document: Any) -> None:
    parses = parses_of_spacy(document(), "doc")
    assert [(parse.text, parse.source) for parse in parses] == [
        ("He didn't eat \ncake.", "doc: sentence 1"),
        ("Why?", "doc: sentence 2"),
    ]
    first = parses[0]
    assert first.tokens[0] == Token("He", "he", "PRON", "PRP", {"PronType": "Prs"}, 3, "nsubj", 0, 2)
    assert [first.text[t.start : t.end] for t in first.tokens] == ["He", "did", "n't", "eat", "cake", "."]
    assert [t.head for t in first.tokens] == [3, 3, 3, -1, 3, 3]  # the parent of "cake" was dropped
    assert bracketed(first, chunk_tree(first)) == "[He]1! [did n't eat]2 [cake .]3!"
    (again,) = parse_conllu(format_conllu(first))
    assert again.tokens == first.tokens


@pytest.mark.parametrize("document", [double, real])
def test_a_sentence_of_a_spacy_document_becomes_a_parse(document: Any) -> None:
    (parse,) = parses_of_spacy(list(document().sents)[1])
    assert (parse.text, parse.source, parse.tokens[0].start) == ("Why?", "sentence 1", 0)


@pytest.mark.parametrize("document", [double, real])
def test_a_document_without_a_parse_is_refused(document: Any) -> None:
    with pytest.raises(InputError, match="the document: spaCy has not parsed it"):
        parses_of_spacy(document(parsed=False))


def test_part_of_a_sentence_is_refused() -> None:
    with pytest.raises(InputError, match="the head of 'He' is outside"):
        parses_of_spacy(_Span(double(), 0, 2))


def test_a_parse_needs_no_file() -> None:
    parse = Parse((Token("Go", deprel="ROOT", end=2),), "Go")
    assert bracketed(parse, chunk_tree(parse)) == "[Go]1"
