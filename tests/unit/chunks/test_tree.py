"""Test chunk trees: each rule, re-attachment, punctuation, and properties of all trees."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from chunk_sentences import sentence
from hypothesis import given
from hypothesis import strategies as st

from optsum.chunks import PROFILES, Parse, Token, chunk_tree, load_rules, read_conllu, rules_for
from optsum.chunks.tree import SCHEMES, bracketed, explained, indented
from optsum.errors import UnknownNameError

PARSED = Path(__file__).parents[3] / "examples" / "data" / "parsed.conllu"


def cut(text: str, profile: str = "strict") -> str:
    parse = sentence(text)
    return bracketed(parse, chunk_tree(parse, profile))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # relative and interrogative words
        ("people/NOUN/0/root who/PRON/3/nsubj/who/PronType=Rel came/VERB/1/acl:relcl", "[people]1 [who came]2"),
        ("people/NOUN/0/root who/PRON/3/nsubj/who/PronType=Int,Rel came/VERB/1/acl:relcl", "[people]1 [who came]2"),
        (
            "men/NOUN/0/root two/NUM/5/nsubj of/ADP/4/case whom/PRON/2/nmod/who/PronType=Rel came/VERB/1/acl:relcl",
            "[men]1 [two of whom]2! [came]3",
        ),
        (
            "see/VERB/0/root which/PRON/5/nsubj/which/PronType=Int of/ADP/4/case them/PRON/2/nmod came/VERB/1/ccomp",
            "[see]1 [which]2! [of them]3 [came]4!",
        ),
        (
            (
                "man/NOUN/0/root at/ADP/4/case whose/PRON/4/nmod:poss/whose/PronType=Rel house/NOUN/5/obl "
                "ate/VERB/1/acl:relcl"
            ),
            "[man]1 [at whose house]2! [ate]3",
        ),
        (
            "like/VERB/0/root what/PRON/1/obj/what/PronType=Rel he/PRON/4/nsubj does/VERB/2/acl:relcl",
            "[like]1 [what]2! [he]3! [does]4!",
        ),
        # function words
        ("all/DET/3/det:predet the/DET/3/det works/NOUN/0/root", "[all]1 [the works]2"),
        ("He/PRON/3/nsubj has/AUX/3/aux gone/VERB/0/root up/ADP/3/compound:prt", "[He]1! [has gone up]2"),
        ("Ann/PROPN/4/nsubj Lee/PROPN/1/flat is/AUX/4/cop tall/ADJ/0/root", "[Ann Lee]1! [is tall]2"),
        ("Hm/INTJ/2/dep and/CCONJ/3/dep go/VERB/0/root", "[Hm]1 [and go]2"),
        # adverbs
        ("He/PRON/3/nsubj never/ADV/3/advmod sang/VERB/0/root loudly/ADV/3/advmod", "[He]1! [never sang]2 [loudly]3"),
        ("nie/ADV/2/advmod/nie/Polarity=Neg sang/VERB/0/root", "[nie sang]1"),
        ("no/DET/2/advmod longer/ADV/3/advmod/long sings/VERB/0/root", "[no longer sings]1"),
        ("almost/ADV/2/advmod all/DET/3/det men/NOUN/0/root", "[almost all men]1"),
        ("so/ADV/2/advmod tired/ADJ/0/root today/ADV/2/advmod", "[so tired]1 [today]2"),
        ("left/VERB/0/root years/NOUN/1/obl:unmarked/year ago/ADV/2/advmod", "[left]1 [years ago]2"),
        ("left/VERB/0/root two/NUM/3/nummod years/NOUN/4/obl:unmarked ago/ADV/1/advmod", "[left]1 [two years ago]2"),
        # compounds and names
        ("State/PROPN/2/compound Department/PROPN/3/compound staff/NOUN/0/root", "[State Department]1 [staff]2"),
        ("dress/NOUN/2/compound code/NOUN/0/root", "[dress]1 [code]2"),
        ("due/ADJ/2/compound process/NOUN/0/root", "[due process]1"),
        ("National/ADJ/2/amod/national/NNP Park/PROPN/0/root", "[National Park]1"),
        ("national/ADJ/2/amod/national/JJ Park/PROPN/0/root", "[national]1 [Park]2"),
        ("came/VERB/0/root last/ADJ/3/amod week/NOUN/1/obl:tmod", "[came]1 [last week]2"),
        ("came/VERB/0/root in/ADP/4/case cold/ADJ/4/amod weeks/NOUN/1/obl:tmod/week", "[came]1 [in]2 [cold]3 [weeks]2"),
        ("my/PRON/2/nmod:poss car/NOUN/0/root", "[my car]1"),
        ("Ann/PROPN/3/nmod:poss 's/PART/1/case car/NOUN/0/root", "[Ann 's]1! [car]2"),
        ("a/DET/2/det lot/NOUN/3/obl:npmod better/ADV/0/root", "[a lot better]1"),
        # required chunks
        ("give/VERB/0/root me/PRON/1/iobj tea/NOUN/1/obj", "[give]1 [me]2! [tea]3!"),
        ("end/NOUN/0/root of/ADP/3/case June/PROPN/1/nmod", "[end]1 [of June]2!"),
        ("price/NOUN/0/root of/ADP/3/case tea/NOUN/1/nmod", "[price]1 [of tea]2"),
        ("two/NUM/0/root of/ADP/3/case them/PRON/1/nmod", "[two]1 [of them]2!"),
        ("be/VERB/0/root in/ADP/3/case Rome/PROPN/1/obl", "[be]1 [in Rome]2!"),
        (
            "There/PRON/2/expl is/VERB/0/root/be tea/NOUN/2/nsubj in/ADP/5/case it/PRON/2/obl",
            "[There is]1 [tea]2! [in it]3",
        ),
        (
            "relies/VERB/0/root/rely on/ADP/3/case her/PRON/1/obl in/ADP/5/case May/PROPN/1/obl",
            "[relies]1 [on her]2! [in May]3",
        ),
        ("come/VERB/0/root up/ADP/1/compound:prt with/ADP/4/case ideas/NOUN/1/obl", "[come up]1 [with ideas]2!"),
        ("come/VERB/0/root with/ADP/3/case ideas/NOUN/1/obl", "[come]1 [with ideas]2"),
        ("put/VERB/0/root it/PRON/1/obj near/ADP/4/case me/PRON/1/obl", "[put]1 [it]2! [near me]3!"),
        ("fact/NOUN/0/root that/SCONJ/4/mark he/PRON/4/nsubj left/VERB/1/acl", "[fact]1 [that]2! [he]3! [left]2"),
        ("those/PRON/0/root present/ADJ/1/acl", "[those]1 [present]2!"),
        ("blue/ADJ/2/amod one/NOUN/0/root", "[blue]1! [one]2"),
        ("as/ADV/2/advmod old/ADJ/0/root as/ADP/4/case hills/NOUN/2/obl", "[as old]1 [as hills]2!"),
        ("as/ADV/2/advmod old/ADJ/0/root as/ADP/4/case hills/NOUN/1/obl", "[as old]1 [as hills]2!"),
        (
            "Ann/PROPN/4/nsubj/Ann/Number=Sing and/CCONJ/3/cc Bo/PROPN/1/conj left/VERB/0/root",
            "[Ann]1! [and Bo]2! [left]3",
        ),
        (
            "Ann/PROPN/4/nsubj/Ann/Number=Sing or/CCONJ/3/cc Bo/PROPN/1/conj left/VERB/0/root",
            "[Ann]1! [or Bo]2 [left]3",
        ),
        ("tells/VERB/0/root/tell me/PRON/1/iobj about/ADP/4/case ants/NOUN/1/obl", "[tells]1 [me]2! [about ants]3!"),
        (
            "look/VERB/0/root forward/ADV/1/advmod to/SCONJ/4/mark going/VERB/1/advcl/go/VerbForm=Ger now/ADV/4/advmod",
            "[look]1 [forward]2! [to going]3! [now]4",
        ),
        (  # the "to" of an infinitive is no preposition
            "look/VERB/0/root forward/ADV/1/advmod to/PART/4/mark going/VERB/1/advcl/go/VerbForm=Ger",
            "[look]1 [forward]2! [to going]3",
        ),
        ("came/VERB/0/root forward/ADV/1/advmod", "[came]1 [forward]2"),
        (
            "At/ADP/2/case ends/NOUN/4/obl are/AUX/4/cop/be/Mood=Ind forms/NOUN/0/root here/ADV/4/advmod",
            "[At ends]1! [are forms]2 [here]3",
        ),
        (
            "At/ADP/2/case ends/NOUN/5/obl they/PRON/5/nsubj are/AUX/5/cop/be/Mood=Ind forms/NOUN/0/root",
            "[At ends]1 [they]2! [are forms]3",
        ),
        ("Be/AUX/3/cop/be/Mood=Imp now/ADV/3/advmod kind/ADJ/0/root", "[Be]1 [now]2 [kind]1"),
        ("Here/ADV/2/advmod comes/VERB/0/root it/PRON/2/nsubj now/ADV/2/advmod", "[Here]1! [comes]2 [it]3! [now]4"),
        ("Here/ADV/3/advmod it/PRON/3/nsubj comes/VERB/0/root", "[Here]1 [it]2! [comes]3"),
        (
            "those/PRON/0/root/that with/ADP/4/case an/DET/4/det aim/NOUN/1/nmod in/ADP/6/case mind/NOUN/4/nmod",
            "[those]1 [with an aim]2! [in mind]3",
        ),
        (
            (
                "fleet/NOUN/5/nsubj:pass/fleet/Number=Sing of/ADP/3/case ships/NOUN/1/nmod "
                "were/AUX/5/aux:pass/be/Number=Plur sunk/VERB/0/root"
            ),
            "[fleet]1! [of ships]2! [were sunk]3",
        ),
        (
            "fleet/NOUN/4/nsubj/fleet/Number=Sing of/ADP/3/case ships/NOUN/1/nmod sail/VERB/0/root/sail/Number=Plur",
            "[fleet]1! [of ships]2! [sail]3",
        ),
        (
            "fleet/NOUN/4/nsubj/fleet/Number=Sing of/ADP/3/case ships/NOUN/1/nmod sails/VERB/0/root/sail/Number=Sing",
            "[fleet]1! [of ships]2 [sails]3",
        ),
        (
            "name/NOUN/0/root of/ADP/3/case author/NOUN/1/nmod/author/Number=Sing Ann/PROPN/3/appos",
            "[name]1 [of author]2 [Ann]3!",
        ),
        (
            "name/NOUN/0/root of/ADP/4/case an/DET/4/det author/NOUN/1/nmod/author/Number=Sing Ann/PROPN/4/appos",
            "[name]1 [of an author]2 [Ann]3",
        ),
        (
            "town/NOUN/0/root he/PRON/3/nsubj met/VERB/1/acl:relcl and/CCONJ/5/cc liked/VERB/3/conj Bo/PROPN/5/obj",
            "[town]1 [he]2! [met]3 [and liked]4! [Bo]5!",
        ),
        (
            (
                "town/NOUN/0/root he/PRON/3/nsubj met/VERB/1/acl:relcl me/PRON/3/obj and/CCONJ/6/cc liked/VERB/3/conj "
                "Bo/PROPN/6/obj"
            ),
            "[town]1 [he]2! [met]3 [me]4! [and liked]5 [Bo]6!",
        ),
        # relations without a rule
        ("go/VERB/0/root now/ADV/1/strange:thing", "[go]1 [now]2"),
    ],
)
def test_rules_cut_sentences_into_the_expected_chunks(text: str, expected: str) -> None:
    assert cut(text) == expected
    assert cut(text, "paper") == expected.replace("!", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("both/CCONJ/2/cc:preconj A/NOUN/0/root and/CCONJ/4/cc B/NOUN/2/conj", {1: 3, 3: 2}),
        ("A/NOUN/0/root ,/PUNCT/3/punct B/NOUN/1/conj and/CCONJ/5/cc C/NOUN/1/conj", {2: 3, 3: 1}),
        ("A/NOUN/0/root and/CCONJ/3/cc B/NOUN/1/conj and/CCONJ/5/cc C/NOUN/1/conj", {2: 1, 3: 1}),
        ("A/NOUN/0/root B/NOUN/1/conj", {2: 1}),
        # attribution
        ("It/PRON/2/nsubj rains/VERB/5/ccomp ,/PUNCT/2/punct he/PRON/5/nsubj said/VERB/0/root", {1: 2, 3: 4, 4: 2}),
        ("It/PRON/2/nsubj rains/VERB/4/ccomp ,/PUNCT/2/punct said/VERB/0/root Ann/PROPN/4/nsubj", {1: 2, 3: 2, 4: 3}),
        ("He/PRON/2/nsubj said/VERB/0/root it/PRON/4/nsubj rains/VERB/2/ccomp ./PUNCT/2/punct", {1: 2, 3: 4, 4: 2}),
        ("What/PRON/2/obj eats/VERB/4/ccomp he/PRON/4/nsubj said/VERB/0/root", {1: 2, 2: 4, 3: 4}),  # without a comma
        (
            "That/SCONJ/2/mark rains/VERB/5/ccomp ,/PUNCT/2/punct he/PRON/5/nsubj said/VERB/0/root",
            {1: 3, 2: 3},
        ),
        # degree
        ("ran/VERB/0/root enough/ADV/1/advmod to/PART/4/mark win/VERB/1/advcl", {2: 1, 3: 2}),
        ("ran/VERB/0/root so/ADV/3/advmod fast/ADV/1/advmod that/SCONJ/5/mark won/VERB/1/advcl", {2: 1, 3: 2}),
        ("ran/VERB/0/root so/ADV/3/advmod fast/ADV/1/advmod when/SCONJ/5/mark won/VERB/1/advcl", {2: 1, 3: 1}),
        ("to/PART/2/mark win/VERB/4/advcl enough/ADV/4/advmod ran/VERB/0/root", {1: 3, 2: 3}),  # after the clause
    ],
)
def test_chunks_are_reattached(text: str, expected: dict[int, int]) -> None:
    assert {child: parent for parent, child in chunk_tree(sentence(text)).edges} == expected


def test_a_coordinator_before_an_attribution_goes_with_what_was_said() -> None:
    text = "But/CCONJ/6/cc it/PRON/3/nsubj rains/VERB/6/ccomp ,/PUNCT/3/punct he/PRON/6/nsubj said/VERB/0/root"
    assert cut(text) == "[But]1 [it]2! [rains ,]1 [he]3! [said]4"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"/PUNCT/2/punct Go/VERB/0/root "/PUNCT/2/punct now/ADV/2/advmod', '[" Go "]1 [now]2'),
        ("Go/VERB/0/root (/PUNCT/3/punct now/ADV/1/advmod )/PUNCT/3/punct", "[Go]1 [( now )]2"),
        ("Go/VERB/0/root (/PUNCT/4/punct ,/PUNCT/4/punct now/ADV/1/advmod", "[Go]1 [( , now]2"),
        ("Go/VERB/0/root ,/PUNCT/4/punct ``/PUNCT/4/punct now/ADV/1/advmod ''/PUNCT/4/punct", "[Go ,]1 [`` now '']2"),
        ("Go/VERB/0/root now/ADV/1/advmod (/PUNCT/1/punct", "[Go]1 [now (]2"),
        ("-/PUNCT/2/punct Go/VERB/0/root", "[- Go]1"),
        ("-/PUNCT/0/root Go/VERB/1/dep now/ADV/1/dep", "[- Go]1 [now]2"),  # the root is punctuation
        ("Go/VERB/0/root -/PUNCT/1/punct now/ADV/2/advmod", "[Go -]1 [now]2"),  # a word hangs on punctuation
        ("*/PUNCT/0/root */PUNCT/1/punct", "[* *]1"),
        ("-LRB-/PUNCT/2/punct Go/VERB/0/root x/PUNCT/2/punct", "[-LRB- Go]1 [x]2"),  # a letter is no punctuation
    ],
)
def test_punctuation_belongs_to_the_expected_chunk(text: str, expected: str) -> None:
    assert cut(text) == expected


def test_straight_quotes_open_and_close_by_the_blanks_around_them() -> None:
    text = 'He said "go" now'
    words = [
        ("He", 1, "nsubj"),
        ("said", -1, "root"),
        ('"', 3, "punct"),
        ("go", 1, "obj"),
        ('"', 3, "punct"),
        ("now", 1, "advmod"),
    ]
    tokens, at = [], 0
    for form, head, relation in words:
        start = text.index(form, at)
        at = start + len(form)
        tokens.append(Token(form, form, "PUNCT" if form == '"' else "X", "", {}, head, relation, start, at))
    parse = Parse(tuple(tokens), text)
    assert bracketed(parse, chunk_tree(parse)) == '[He]1! [said]2 [" go "]3! [now]4'


def test_the_hyphen_must_join() -> None:
    text = "sit-abouts sit - abouts"
    tokens = [Token(f, f, "NOUN", "", {}, h, "compound", s, s + len(f)) for f, h, s in
              [("sit", 2, 0), ("-", 0, 3), ("abouts", 5, 4), ("sit", 5, 11), ("-", 3, 15)]]  # fmt: skip
    tokens.append(Token("abouts", "about", "NOUN", "", {}, -1, "root", 17, 23))
    tokens = [
        Token(t.form, t.lemma, "PUNCT", "", {}, t.head, "punct", t.start, t.end) if t.form == "-" else t for t in tokens
    ]
    parse = Parse(tuple(tokens), text)
    assert bracketed(parse, chunk_tree(parse)) == "[sit - abouts]1 [sit -]2 [abouts]3"


def test_the_graph_has_words_heads_and_required_edges() -> None:
    parse = next(iter(read_conllu(PARSED)))
    tree = chunk_tree(parse)
    assert tree.graph == {"text": parse.text, "profile": "strict", "rules": "ud", "root": 6}
    assert tree.nodes[1] == {"tokens": (0, 2, 3), "head": 2}
    assert tree.edges[6, 1]["required"] is True
    assert tree.edges[6, 1]["relation"] == "nsubj"
    assert "subjects" in tree.edges[6, 1]["note"]
    assert chunk_tree(parse, "paper").edges[6, 1]["required"] is False


def test_the_published_examples_have_their_chunks() -> None:
    found = [bracketed(parse, chunk_tree(parse)) for parse in read_conllu(PARSED)]
    assert found == [
        (
            "[The]1! [old]2 [ferry ,]1 [which]3 [the town]4! [bought]3 [in 1962 ,]5 [made]6 [its]7! [last]8 [trip]7 "
            "[on Sunday .]9"
        ),
        (
            "[About 300 people]1! [watched]2 [from the pier ,]3 [and]4 [the]5! [brass]6 [band]5 [of the]7 [fire]8 "
            "[brigade]7 [played]4 [a]9! [slow]10 [march .]9"
        ),
        (
            "[The]1! [new]2 [bridge]1 [will carry]3 [both]4 [cars]5! [and bicycles ,]6 [Mayor]7 [Anna Berg]8! [said]9 "
            "[on Monday .]10"
        ),
        "[Captain]1 [Holm ,]2! [the cook]3 [and two deckhands]4! [did n't leave]5 [the ship]6! [until midnight .]7",
        "[A third]1! [of the passengers]2! [came]3 [back]4 [for a]5 [second]6 [crossing]5 [last week .]7",
        '[Nobody]1! [had loved]2 [the boat]3! [enough]4 [to pay]5 [for a]6 [new]7 [engine]6 [( " too loud " ) .]8',
        "[What had]1 [the owners]2! [really]3 [asked for ?]1",
        "[Its future]1! [depends]2 [on a]3! [small]4 [museum ,]3 [which wants]5 [to open]6! [it]7! [to visitors .]8",
    ]


def test_trees_and_reasons_for_people() -> None:
    parse = sentence("The/DET/3/det old/ADJ/3/amod dog/NOUN/4/nsubj sleeps/VERB/0/root ./PUNCT/4/punct")
    assert indented(parse, chunk_tree(parse)) == "3 sleeps .\n  1! The ... dog\n    2 old"
    lines = explained(parse).splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["The", "det"],
        ["old", "amod"],
        ["dog", "nsubj"],
        ["sleeps", "root"],
    ]
    assert [line.split()[3] for line in lines[:3]] == ["MERGE", "SEP", "REQ"]
    assert lines[3].endswith("the root")


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean strict"):
        chunk_tree(sentence("go/VERB/0/root"), "strikt")


RELATIONS = [
    "nsubj", "obj", "obl", "obl:unmarked", "nmod", "nmod:poss", "amod", "advmod", "det", "case", "cc", "cc:preconj",
    "conj", "punct", "ccomp", "advcl", "acl:relcl", "mark", "flat", "compound", "appos", "dep", "parataxis", "xcomp",
    "fixed", "dobj", "prep", "pobj", "preconj", "relcl",
]  # fmt: skip
WORDS = ["a", "both", "enough", "so", "to", "that", "as", ",", '"', "(", "one", "of", "who", "be", "put", "not"]


@st.composite
def parses(draw: st.DrawFn) -> Parse:
    """Draw any tree, projective or not, with any labels."""
    count = draw(st.integers(1, 12))
    order = draw(st.permutations(range(count)))
    heads = [-1] * count
    for place, number in enumerate(order[1:], start=1):
        heads[number] = order[draw(st.integers(0, place - 1))]
    tokens, text = [], ""
    for head in heads:
        form = draw(st.sampled_from(WORDS))
        relation = "root" if head == -1 else draw(st.sampled_from(RELATIONS))
        upos = "PUNCT" if form in ',"(' else draw(st.sampled_from(["NOUN", "VERB", "ADV", "ADJ", "PROPN", "PRON"]))
        feats = draw(st.sampled_from([{}, {"PronType": "Rel"}, {"Number": "Sing"}]))
        start = len(text)
        text += form
        tokens.append(
            Token(form, form, upos, draw(st.sampled_from(["", "NNP", "``"])), feats, head, relation, start, len(text))
        )
        text += draw(st.sampled_from(["", " "]))
    return Parse(tuple(tokens), text)


@given(parses(), st.sampled_from([None, *SCHEMES]))
def test_chunks_are_a_partition_and_their_graph_is_a_tree(parse: Parse, scheme: str | None) -> None:
    rules = load_rules(scheme) if scheme else None
    trees = {profile: chunk_tree(parse, profile, rules) for profile in PROFILES}
    strict, paper = trees["strict"], trees["paper"]
    assert strict.nodes(data=True) == paper.nodes(data=True)
    assert set(strict.edges) == set(paper.edges)
    assert not any(required for *_, required in paper.edges(data="required"))
    assert sorted(token for _, tokens in strict.nodes(data="tokens") for token in tokens) == [*range(len(parse.tokens))]
    assert all(list(tokens) == sorted(tokens) for _, tokens in strict.nodes(data="tokens"))
    assert list(strict) == [*range(1, len(strict) + 1)]
    assert nx.is_arborescence(strict)
    assert [node for node, degree in strict.in_degree if degree == 0] == [strict.graph["root"]]
    words = (rules or rules_for(parse)).prepare(parse).words
    first = [min(token for token in tokens if token in words) for _, tokens in sorted(strict.nodes(data="tokens"))]
    assert first == sorted(first)
    assert all(strict.nodes[node]["head"] in strict.nodes[node]["tokens"] for node in strict)
    assert bracketed(parse, strict).replace("!", "") == bracketed(parse, paper)
    assert len(indented(parse, strict).splitlines()) == len(strict)


def test_reasons_are_aligned_where_letters_take_two_places() -> None:
    from rich.cells import cell_len

    parse = sentence("大桥/NOUN/2/nsubj 关闭/VERB/0/root a/ADV/2/advmod")
    lines = explained(parse).splitlines()
    places = [cell_len(line[: line.index(relation)]) for line, relation in zip(lines, ("nsubj", "root", "advmod"))]  # noqa: B905
    assert len(set(places)) == 1
