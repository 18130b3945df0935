"""Test parsed sentences: how CoNLL-U is read and written, and which files are refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.chunks import Parse, Token, format_conllu, parse_conllu, read_conllu
from optsum.chunks.parse import conllu_blocks
from optsum.errors import InputError

PARSED = Path(__file__).parents[3] / "examples" / "data" / "parsed.conllu"

DID_NOT = """\
# sent_id = s1
# text = I didn't  go.
1\tI\tI\tPRON\tPRP\tCase=Nom|Number=Sing\t4\tnsubj\t4:nsubj\t_
2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdid\tdo\tAUX\tVBD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\tPolarity=Neg\t4\tadvmod\t_\t_
4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
4.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t4:conj\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_
"""


def lines(*rows: str) -> str:
    """Return CoNLL-U made of rows of form, head and relation."""
    return "\n".join(
        f"{number}\t{form}\t{form}\t_\t_\t_\t{head}\t{relation}\t_\t_"
        for number, (form, head, relation) in enumerate(map(str.split, rows), start=1)
    )


def test_words_of_a_multi_word_token_share_its_characters_and_empty_nodes_are_dropped() -> None:
    (parse,) = parse_conllu(DID_NOT, "f.conllu")
    assert parse.source == "f.conllu: sentence s1"
    assert [(t.form, parse.text[t.start : t.end], t.head, t.deprel) for t in parse.tokens] == [
        ("I", "I", 3, "nsubj"),
        ("did", "did", 3, "aux"),
        ("n't", "n't", 3, "advmod"),
        ("go", "go", -1, "root"),
        (".", ".", 3, "punct"),
    ]
    assert parse.tokens[0] == Token("I", "I", "PRON", "PRP", {"Case": "Nom", "Number": "Sing"}, 3, "nsubj", 0, 1)
    assert parse.tokens[1].feats == {}


def test_words_that_do_not_spell_their_multi_word_token_leave_it_to_the_first() -> None:
    text = (
        "1\tgeht\tgehen\tVERB\t_\t_\t0\troot\n2-3\tzum\n2\tzu\tzu\tADP\t_\t_\t4\tcase\n3\tdem\tder\tDET\t_\t_\t4\tdet\n"
    )
    (parse,) = parse_conllu(text + "4\tSee\tSee\tNOUN\t_\t_\t1\tobl")
    assert parse.text == "geht zum See"
    assert [(t.start, t.end) for t in parse.tokens] == [(0, 4), (5, 8), (8, 8), (9, 12)]


def test_without_a_text_line_the_words_make_the_text() -> None:
    (parse,) = parse_conllu(DID_NOT.replace("# text = I didn't  go.\n", ""))
    assert parse.text == "I didn't go."


def test_a_form_may_hold_blanks_that_the_text_lacks_and_the_other_way_round() -> None:
    (parse,) = parse_conllu("# text = 10\u00a0000 euro s\n1\t10 000\t_\t_\t_\t_\t2\tdep\n2\teuros\t_\t_\t_\t_\t0\troot")
    assert [parse.text[t.start : t.end] for t in parse.tokens] == ["10\u00a0000", "euro s"]


def test_an_underscore_can_be_a_word() -> None:
    (parse,) = parse_conllu("1\t_\t_\tSYM\t_\t_\t0\troot\t_\t_")
    assert (parse.text, parse.tokens[0].form, parse.tokens[0].lemma, parse.tokens[0].xpos) == ("_", "_", "_", "")


def test_files_compressed_or_with_other_line_ends_are_the_same(tmp_path: Path) -> None:
    expected = list(read_conllu(PARSED))
    assert len(expected) == 8
    for name, raw in [
        ("dos.conllu", b"\xef\xbb\xbf" + PARSED.read_bytes().replace(b"\n", b"\r\n")),
        ("packed.conllu.gz", gzip.compress(PARSED.read_bytes())),
        ("open.conllu", PARSED.read_bytes().rstrip()),
        ("wide.conllu", b"# only a comment\n\n\n" + PARSED.read_bytes().replace(b"\n\n", b"\n \n\n")),
    ]:
        (tmp_path / name).write_bytes(raw)
        assert [(p.tokens, p.text) for p in read_conllu(tmp_path / name)] == [(p.tokens, p.text) for p in expected]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (lines("a 2 dep", "b 1 dep"), "no word is the root"),
        (lines("a 0 root", "b 0 root"), "word 1 ('a') and word 2 ('b') are both roots"),
        (lines("a 0 root", "b 3 dep", "c 2 dep"), "the heads above word 2 ('b') form a cycle"),
        (lines("a 0 root", "b 2 dep"), "the heads above word 2 ('b') form a cycle"),
        (lines("a 0 root", "b 7 dep"), "the head of word 2 ('b') does not exist"),
        (lines("a 0 root", "b _ dep"), "word 2 has no head"),
        (lines("a 0 root", "b x dep"), "word 2 has no head"),
        (lines("a 0 root", "b -1 dep"), "word 2 has no head"),
        (lines("a 0 root", "b ² dep"), "word 2 has no head"),
        (lines("a 0 root").replace("1\t", "2\t", 1), "word 2 stands where word 1 should"),
        ("a word", "a line is not CoNLL-U"),
        ("_\ta\ta", "a line has no number"),
        ("# text = b\n" + lines("a 0 root"), "has 'b' where the word 'a' should be"),
        ("# text = a b\n" + lines("a 0 root"), "ends in 'b', which is in no word"),
        ("1-2\tab\n" + lines("a 0 root"), "the multi-word token 1-2 ends after the last word"),
        ("1-2\tab\n2-3\tbc\n" + lines("a 0 root", "b 1 dep", "c 1 dep"), "begins at word 2 overlaps another"),
        ("1-2\tab", "there is no word"),
    ],
)
def test_a_broken_sentence_is_refused_by_file_and_sentence(text: str, reason: str) -> None:
    for block, name in [(text, "sentence 1"), (f"# sent_id = s7\n{text}", "sentence s7")]:
        with pytest.raises(InputError) as caught:
            parse_conllu(block, "f.conllu")
        message = str(caught.value)
        assert message.startswith(f"f.conllu: {name}: ")
        assert reason in message
        assert "\n" not in message


def test_a_broken_sentence_does_not_cost_the_others() -> None:
    blocks = conllu_blocks(f"{lines('a 0 root')}\n\n{lines('b 1 dep')}\n\n{lines('c 0 root')}", "f")
    assert [block.source for block in blocks] == ["f: sentence 1", "f: sentence 2", "f: sentence 3"]
    assert [blocks[0].parse().text, blocks[2].parse().text] == ["a", "c"]
    with pytest.raises(InputError, match="sentence 2"):
        blocks[1].parse()


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.conllu").write_bytes("1\tné".encode("latin-1"))
    (tmp_path / "empty.conllu").write_text("# nothing\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    for name, reason in [
        ("latin.conllu", "not UTF-8"),
        ("empty.conllu", "has no sentence"),
        ("cut.gz", "cannot be read"),
        ("none.conllu", "no such file"),
        (".", "it is a folder"),
    ]:
        with pytest.raises(InputError, match=reason):
            read_conllu(tmp_path / name)


def test_a_parse_checks_its_tokens() -> None:
    with pytest.raises(InputError, match="there is no word"):
        Parse((), "")
    with pytest.raises(InputError, match="the span of word 1"):
        Parse((Token("ab", end=2),), "a")
    with pytest.raises(InputError, match="the span of word 2"):
        Parse((Token("a", start=2, end=3), Token("b", head=0, start=0, end=1)), "b a")


def test_long_sentences_take_linear_time() -> None:
    count = 20_000
    tokens = tuple(Token("a", head=number - 1, start=number, end=number + 1) for number in range(count))
    assert len(Parse(tokens, "a" * count).tokens) == count


FORMS = st.lists(
    st.tuples(st.text("ab'-", min_size=1, max_size=3), st.sampled_from(["", " ", "  "])), min_size=1, max_size=6
)


@given(FORMS, st.data())
def test_written_parses_are_read_back(forms: list[tuple[str, str]], data: st.DataObject) -> None:
    text, spans = "", []
    for form, blank in forms:
        spans.append((form, len(text), len(text) + len(form)))
        text += form
        if data.draw(st.booleans()):  # a further word of the same token, without characters of its own
            spans.append(("zz", len(text), len(text)))
        text += blank
    tokens = [
        Token(
            form, "a", "X", "", {"A": "b"}, data.draw(st.integers(0, number - 1)) if number else -1, "dep", start, end
        )
        for number, (form, start, end) in enumerate(spans)
    ]
    parse = Parse(tuple(tokens), text.rstrip())
    (again,) = parse_conllu(format_conllu(parse))
    assert (again.tokens, again.text) == (parse.tokens, parse.text)


def test_the_examples_are_written_as_they_are() -> None:
    for parse in read_conllu(PARSED):
        (again,) = parse_conllu(format_conllu(parse))
        assert (again.tokens, again.text) == (parse.tokens, parse.text)
