"""Test files of chunk rules: their syntax, their effect, and the files that are refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from chunk_sentences import sentence

from optsum.chunks import chunk_tree, load_rules
from optsum.chunks.tree import SCHEMES, Action, bracketed, parse_rules
from optsum.errors import InputError

ONLY = "He/PRON/3/nsubj only/ADV/3/advmod reads/VERB/0/root old/ADJ/5/amod books/NOUN/3/obj/book"


def cut(text: str, rules: str, profile: str = "strict") -> str:
    parse = sentence(text)
    return bracketed(parse, chunk_tree(parse, profile, parse_rules(rules)))


def test_the_first_rule_that_fits_decides() -> None:
    rules = """
        [[rule]]
        relation = ["nsubj"]
        action = "SEP"
        [[rule]]
        relation = ["*"]
        action = "MERGE"
        [[rule]]
        relation = ["obj"]
        action = "REQ"
    """
    assert cut(ONLY, rules) == "[He]1 [only reads old books]2"


def test_a_word_that_no_rule_knows_can_be_left_out() -> None:
    assert cut(ONLY, '[[rule]]\nrelation = ["nsubj"]\naction = "REQ"') == "[He]1! [only]2 [reads]3 [old]4 [books]5"


def test_a_file_can_extend_a_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("""
        extends = "ud"
        [[rule]]
        relation = ["advmod"]
        lemma = ["@focus"]
        action = "MERGE"
        [[rule]]
        relation = ["amod"]
        head = { lemma = ["book"] }
        action = "REQ"
        [lexicon]
        focus = ["only", "just"]
    """)
    rules = load_rules(file)
    assert rules.name == str(file)
    assert len(rules.rules) == len(load_rules("ud").rules) + 2
    steps, same = ([(step.func, step.keywords) for step in each.steps] for each in (rules, load_rules("ud")))
    assert steps == same
    parse = sentence(ONLY)
    assert bracketed(parse, chunk_tree(parse, rules=rules)) == "[He]1! [only reads]2 [old]3! [books]4!"


def test_a_list_replaces_that_of_the_extended_table() -> None:
    text = "end/NOUN/0/root of/ADP/3/case May/PROPN/1/nmod"
    rule = '[[rule]]\nrelation = ["vocative"]\naction = "SEP"'
    assert cut(text, f'extends = "ud"\n{rule}') == "[end]1 [of May]2!"
    assert cut(text, f'extends = "ud"\n{rule}\n[lexicon]\npartitive = ["part"]') == "[end]1 [of May]2"


def test_steps_replace_those_of_the_extended_table() -> None:
    text = "It/PRON/2/nsubj rains/VERB/5/ccomp ,/PUNCT/2/punct he/PRON/5/nsubj said/VERB/0/root"
    rule = '[[rule]]\nrelation = ["vocative"]\naction = "SEP"\n'
    step = '[[reattach]]\nstep = "preconjunction"\nrelation = ["cc:preconj"]\nconjunct = ["conj"]\n'
    assert cut(text, 'extends = "ud"\n' + rule) == "[It]1! [rains ,]2 [he]3! [said]4"
    assert cut(text, 'extends = "ud"\n' + step + rule) == "[It]1! [rains ,]2! [he]3! [said]4"


@pytest.mark.parametrize(
    ("conditions", "fits"),
    [
        ('relation = ["nmod:*"]', {"poss"}),
        ('relation = ["nmod"]', set()),
        ('relation = ["*", "!nmod:*"]', {"old", "he", "dog", "quickly"}),
        ('relation = ["*"]\nupos = ["!NOUN", "!ADJ"]', {"he", "poss", "quickly"}),
        ('relation = ["*"]\nform = ["quickly"]', {"quickly"}),
        ('relation = ["*"]\nlemma = ["@animals"]', {"dog"}),
        ('relation = ["*"]\nfeats = ["Degree=Pos", "Case=Nom"]', {"old", "he"}),
        ('relation = ["*"]\nfeats = ["!Degree=Pos"]', {"he", "poss", "dog", "quickly"}),
        ('relation = ["*"]\nhead = { lemma = ["dog"] }', {"old", "poss"}),
        ('relation = ["*"]\nhead = { child = { upos = ["ADJ"] } }', {"old", "poss"}),
        ('relation = ["*"]\nchild = { relation = ["amod"] }', {"dog"}),
        ('relation = ["*"]\nno_child = { relation = ["amod"] }', {"he", "poss", "old", "quickly"}),
        ('relation = ["*"]\nsibling = { relation = ["amod"] }', {"poss"}),
        ('relation = ["*"]\nno_sibling = { relation = ["obj"] }', {"poss", "old", "dog"}),
        ('relation = ["*"]\nside = "left"', {"he", "poss", "old"}),
        ('relation = ["*"]\nside = "right"', {"dog", "quickly"}),
    ],
)
def test_each_condition_of_a_rule_selects_its_words(conditions: str, fits: set[str]) -> None:
    text = (
        "he/PRON/2/nsubj/he/Case=Nom walks/VERB/0/root poss/PRON/5/nmod:poss old/ADJ/5/amod/old/Degree=Pos "
        "dog/NOUN/2/obj quickly/ADV/2/advmod"
    )
    rules = parse_rules(f'[[rule]]\n{conditions}\naction = "REQ"\n[lexicon]\nanimals = ["cat", "dog"]')
    parse = sentence(text)
    tree = rules.prepare(parse)
    found = {parse.tokens[word].form for word in tree.words if word != tree.root and rules.decide(tree, word).note == ""
             and rules.decide(tree, word).action is Action.REQ}  # fmt: skip
    assert found == fits


def test_the_root_may_be_asked_about_as_a_head() -> None:
    rules = '[[rule]]\nrelation = ["*"]\nhead = { relation = ["root"], sibling = { upos = ["X"] } }\naction = "REQ"'
    assert "!" not in cut(ONLY, rules)  # the root has no siblings, so the rule does not apply


RULE = '[[rule]]\nrelation = ["obj"]\naction = "REQ"\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rule = [", "is not TOML"),
        ("", "there is no [[rule]]"),
        (RULE + "[other]\n", "there is no entry 'other'"),
        ('extends = "udd"\n' + RULE, "did you mean ud?"),
        ('words = "french"\n' + RULE, "there is no list 'french' of words"),
        ("lexicon = 3\n" + RULE, "[lexicon] is not a table"),
        ("[rule]\nrelation = []", "write [[rule]], with two brackets"),
        ('[[rule]]\nrelation = ["obj"]\n', "rule 1: action is None"),
        (RULE + '[[rule]]\nrelation = ["obj"]\naction = "KEEP"\nnote = "mine"', "rule 2 ('mine'): action is 'KEEP'"),
        ('[[rule]]\naction = "REQ"', "there is no relation"),
        ('[[rule]]\nrelation = ["obj"]\nacton = "REQ"', "there is no condition 'acton' of a rule; did you mean action"),
        (
            '[[rule]]\nrelation = ["obj"]\nupos = ["!NOUM"]\naction = "REQ"',
            "there is no universal part-of-speech tag 'NOUM'; did you mean",
        ),
        ('[[rule]]\nrelation = "obj"\naction = "REQ"', "relation is 'obj'; give a list"),
        ('[[rule]]\nrelation = ["@x"]\naction = "REQ"', "there is no list 'x' in [lexicon]"),
        (
            '[[rule]]\nrelation = ["obj"]\nlema = ["a"]\naction = "REQ"',
            "there is no condition 'lema' of a rule; did you mean",
        ),
        ('[[rule]]\nrelation = ["obj"]\nhead = { lema = ["a"] }\naction = "REQ"', "condition 'lema' of a head"),
        ('[[rule]]\nrelation = ["obj"]\nhead = ["a"]\naction = "REQ"', "head is ['a']; give conditions in braces"),
        ('[[rule]]\nrelation = ["obj"]\nhyphen = 1\naction = "REQ"', "hyphen is 1"),
        ('[[rule]]\nrelation = ["obj"]\nside = "before"\naction = "REQ"', "side is 'before'; give \"left\""),
        ('[[rule]]\nrelation = ["obj"]\ntakes = "x"\naction = "REQ"', "there is no table 'x' in [lexicon]"),
        ('[[reattach]]\nstep = "degre"\n' + RULE, "reattach 1: there is no step 'degre'; did you mean degree"),
        ("[[reattach]]\nstep = 3\n" + RULE, "there is no step 3"),
        ('[[reattach]]\nstep = "chain"\nconjunct = ["conj"]\n' + RULE, "the step chain lacks coordinator"),
        ('[[reattach]]\nstep = "chain"\nx = ["conj"]\n' + RULE, "there is no entry 'x' of the step chain"),
        (
            '[[reattach]]\nstep = "attribution"\nclause = ["c"]\nalong = []\nsubordinator = []\nbecomes = ["x"]\n'
            + RULE,
            "becomes is ['x']; give one relation",
        ),
        (
            '[[reattach]]\nstep = "degree"\nclause = ["c"]\nadverb = ["a"]\nmarkers = ["x"]\n' + RULE,
            "markers is ['x']; give words in braces",
        ),
        (
            '[[reattach]]\nstep = "degree"\nclause = ["c"]\nadverb = ["a"]\nmarkers = { so = 1 }\n' + RULE,
            "markers.so is 1; give a list",
        ),
    ],
)
def test_invalid_rules_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_rules(file)
    assert reason in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes("# é".encode("latin-1"))
    for name, reason in [("latin.toml", "not UTF-8"), ("none.toml", "no such file"), (".", "it is a folder")]:
        with pytest.raises(InputError, match=reason):
            load_rules(tmp_path / name)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_tables_of_the_package(scheme: str) -> None:
    rules = load_rules(scheme)
    assert rules is load_rules(scheme)
    assert all(rule.note for rule in rules.rules)
    assert {rule.action for rule in rules.rules} == set(Action)
    assert pickle.loads(pickle.dumps(rules)) == rules  # noqa: S301 - our own
    assert len({rules, parse_rules('extends = "ud"\n' + RULE)}) == 2


@pytest.mark.parametrize(
    ("scheme", "entry", "message"),
    [
        ("ud", 'relation = ["nsbj"]', r"rule 1: there is no relation 'nsbj' in the scheme ud; did you mean nsubj"),
        ("ud", 'relation = ["!obll:*"]', "'obll' in the scheme ud; did you mean obl"),
        ("ud", 'relation = ["nsubj:pas"]', "'nsubj:pas' in the scheme ud; did you mean nsubj:pass"),
        ("ud", 'relation = ["*"]\nhead = { relation = ["amood"] }', "'amood' in the scheme ud; did you mean amod"),
        ("ud", 'relation = ["@mine"]', "'advmodd' in the scheme ud; did you mean advmod"),
        ("clearnlp", 'relation = ["dobjj"]', "'dobjj' in the scheme clearnlp; did you mean dobj"),
    ],
)
def test_a_mistyped_relation_is_refused(scheme: str, entry: str, message: str) -> None:
    text = f'extends = "{scheme}"\n[[rule]]\n{entry}\naction = "REQ"\n[lexicon]\nmine = ["advmodd"]\n'
    with pytest.raises(InputError, match=message):
        parse_rules(text)


def test_a_mistyped_relation_of_a_step_is_refused() -> None:
    text = 'extends = "ud"\n[[reattach]]\nstep = "preconjunction"\nrelation = ["cc:preconj"]\nconjunct = ["cnj"]\n'
    with pytest.raises(InputError, match="reattach 1: there is no relation 'cnj' in the scheme ud; did you mean conj"):
        parse_rules(text)


@pytest.mark.parametrize(
    "text",
    [
        'extends = "ud"\n[[rule]]\nrelation = ["nsubj:lvc", "obl:*", "dobj", "!mwe", "*"]\naction = "REQ"\n',
        '[[rule]]\nrelation = ["SB", "OA"]\naction = "MERGE"\n',  # a custom scheme
    ],
)
def test_known_and_custom_relations_are_accepted(text: str) -> None:
    assert parse_rules(text).rules
