"""Test Precision, Coverage and pseudo question answering of TSC3, and the study that makes the paper's tables."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cover_topics import AIBO, mean

from optsum.corpus.alignment import align
from optsum.corpus.cover import is_cover_table, parse_cover_table
from optsum.corpus.topic import BadTopic, Topic, as_topic
from optsum.corpus.topics import BadSystem, System, read_topics
from optsum.errors import InputError
from optsum.studies.tsc3 import (
    BEST,
    LEAD,
    Tsc3Study,
    answer_score,
    answers,
    conditions,
    extraction,
    lead_extract,
    question_answering,
    score_extract,
)
from optsum.studies.tsc3 import systems as names_of

COVER = [[["s1"], ["s10", "s11"]], [["s3", "s5", "s6"]], [["s20", "s21", "s23"], ["s1", "s30", "s60"]]]
TABLE_1 = as_topic({"id": "t", "cover": COVER})


def study_tsc3(topics: Any, systems: Any = (), **options: Any) -> Tsc3Study:
    return Tsc3Study(**options).reads(systems).run(topics)


def test_the_papers_first_system() -> None:
    found = score_extract(TABLE_1, ["s10", "s11", "s5", "s17", "s60", "s61"], 6)
    assert found.precision == Fraction(4, 6)
    assert found.covered == (1, Fraction(1, 3), Fraction(1, 3))
    assert found.coverage == Fraction(5, 9)  # the paper rounds each third first, and prints 0.553
    assert (found.correct, found.size, found.uncoverable) == (4, 6, ())


def test_the_papers_second_system() -> None:
    found = score_extract(TABLE_1, ["s1", "s10", "s11", "s3", "s5", "s60"], 6)
    assert found.precision == 1
    assert found.covered == (1, Fraction(2, 3), Fraction(2, 3))
    assert found.coverage == Fraction(7, 9)  # the paper prints 0.780


def test_the_minimum_cover_has_everything() -> None:
    found = score_extract(TABLE_1, ["s1", "s3", "s5", "s6", "s30", "s60"], 6)
    assert (found.precision, found.coverage) == (1, 1)


@pytest.mark.parametrize(
    ("extract", "precision"),
    [
        ((), 0),
        (("s1",), Fraction(1, 6)),  # not 1, because the minimum counts
        (("s1", "s3", "s5", "s6", "s10", "s11", "s20", "s21"), 1),  # not 8/6
        (("s1", "s3", "s5", "s6", "a", "b", "c", "d"), Fraction(1, 2)),
        (("s1", "s1", "s1", "s1", "s1", "s1"), Fraction(1, 6)),
    ],
)
def test_precision_of_extracts_of_another_size(extract: tuple[str, ...], precision: Fraction) -> None:
    assert score_extract(TABLE_1, extract, 6).precision == precision


def test_uncoverable_sentences_count_nowhere() -> None:
    topic = as_topic({"id": "t", "cover": [[["a"]], [], [["b", "c"]]]})
    with pytest.raises(InputError, match="abstract sentence 1"):
        score_extract(topic, ["a"], 3)
    found = score_extract(topic, ["a", "b", "x"], 3, uncoverable="skip")
    assert (found.coverage, found.uncoverable) == (Fraction(3, 4), (1,))


def test_a_minimum_cover_has_a_sentence() -> None:
    with pytest.raises(InputError, match=r"h of a minimum cover .* is 0"):
        score_extract(TABLE_1, ["s1"], 0)


def levenshtein(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            diagonal, row[j] = row[j], min(diagonal + (a != b), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def test_the_edit_score_is_the_formula_clipped() -> None:
    lowest = Fraction(1)
    texts = ["".join(letters) for size in range(5) for letters in product("ab", repeat=size)]
    for sentence, answer in product(texts, texts[1:]):
        formula = Fraction(len(sentence) - levenshtein(sentence, answer), len(answer))
        lowest = min(lowest, formula)
        assert formula <= 1
        assert answer_score(sentence, answer) == max(0, formula)
        # It is 1 exactly for sentences that have the letters of the answer in order, even if apart.
        letters = iter(sentence)
        assert (formula == 1) == all(letter in letters for letter in answer)
    assert lowest == -1  # the values that clipping removes


def test_the_edit_score_of_longer_texts() -> None:
    rng = random.Random(1)  # noqa: S311
    for _ in range(50):
        sentence = "".join(rng.choices("abcdé ", k=rng.randint(0, 60)))
        answer = "".join(rng.choices("abcdé ", k=rng.randint(1, 20)))
        formula = Fraction(len(sentence) - levenshtein(sentence, answer), len(answer))
        assert answer_score(sentence, answer) == max(0, formula)


def test_question_answering() -> None:
    topic = as_topic(AIBO)
    found = answers(topic, ["AIBO costs\n 250,000  yen.", "3 000 were sold."])
    assert found is not None
    assert (found.exact, found.questions) == (Fraction(1, 3), 3)
    edits = (
        1,
        max(
            answer_score(text, name)
            for name in ("Toshiba", "Sony")
            for text in ("AIBO costs 250,000 yen.", "3 000 were sold.")
        ),
        answer_score("3 000 were sold.", "3,000"),
    )
    assert found.edit == sum(edits, Fraction(0)) / 3
    assert edits[2] == Fraction(4, 5)


def test_an_empty_summary_answers_nothing() -> None:
    found = answers(as_topic(AIBO), [])
    assert found is not None
    assert (found.exact, found.edit) == (0, 0)


def test_without_questions_there_is_no_score() -> None:
    assert answers(TABLE_1, ["x"]) is None


@pytest.mark.parametrize(
    "question", [{}, {"answer": ""}, {"answers": []}, {"answers": "yes"}, {"answers": ["a", 3]}, 5]
)
def test_a_question_without_an_answer(question: object) -> None:
    topic = as_topic({**AIBO, "meta": {"questions": [{"answer": "yes"}, question]}})
    with pytest.raises(InputError, match=r"question 1 of meta\.questions has no answer"):
        answers(topic, ["x"])
    with pytest.raises(InputError, match="empty answer"):
        answer_score("x", "")


def test_the_lead_takes_the_documents_in_turn() -> None:
    topic = as_topic({"id": "t", "documents": [["a", "b", "c"], ["d"], ["e", "f"]], "references": [["x"]]})
    assert lead_extract(topic, 4) == (0, 3, 4, 1)
    assert lead_extract(topic, 99) == (0, 3, 4, 1, 5, 2)
    assert lead_extract(topic, 4, in_turn=False) == (0, 1, 2, 3)


@pytest.mark.parametrize(("options", "precisions"), [({}, [1 / 2, 2 / 3]), ({"other_sizes": "minimum"}, [1 / 2, 1])])
def test_the_options_say_how_the_paper_is_read(options: dict[str, Any], precisions: list[float]) -> None:
    topic = {"id": "t", "documents": [["a", "b"], ["c", "d"]], "cover": [[[0]], [[1]]]}
    extracts = [{"topic_id": "t", "system": name, "selection": units} for name, units in (("s", [0]), ("l", [0, 1, 2]))]
    study = study_tsc3([topic], extracts, **options)
    assert [study.of("score", system=name)[0]["precision"] for name in ("s", "l")] == precisions
    assert f"precision is m / {'h' if options else 'max(h, size)'}." in str(extraction(study))
    assert [
        study_tsc3([topic], lead=lead).of("score", system=LEAD)[0]["precision"] for lead in ("in-turn", "first")
    ] == [1 / 2, 1]


def test_the_study_has_the_papers_numbers() -> None:
    short = {"id": "t", "cover": COVER, "meta": {"condition": "Short"}}
    systems = [
        System("t", "one", selection=("s10", "s11", "s5", "s17", "s60", "s61")),
        System("t", "two", selection=("s1", "s10", "s11", "s3", "s5", "s60")),
        {"topic_id": "aibo", "system": "one", "selection": [0]},
        {"topic_id": "aibo", "system": "abstract", "summary": ["AIBO costs 250,000 won."]},
    ]
    study = study_tsc3([AIBO, short], systems)
    assert study.errors == []
    assert conditions(study) == ["short", "long"]
    assert names_of(study) == ["one", "abstract", "two", LEAD, BEST]
    assert mean(study, "one", "short", "coverage") == pytest.approx(5 / 9)
    assert mean(study, "one", "short", "precision") == pytest.approx(4 / 6)
    assert mean(study, "two", "short", "coverage") == pytest.approx(7 / 9)
    assert mean(study, BEST, "short", "coverage") == mean(study, BEST, "long", "precision") == 1
    assert mean(study, LEAD, "short", "coverage") is None  # without documents the first sentences are unknown
    assert mean(study, LEAD, "long", "coverage") == 0.5
    assert mean(study, "abstract", "long", "coverage") is None
    assert mean(study, "one", "long", "exact") == pytest.approx(1 / 3)
    table = extraction(study).text()
    assert [line.split() for line in table.splitlines() if line.startswith("one")] == [
        ["one", "0.556", "0.667", "0.500", "0.500"]
    ]
    assert "\nabstract" not in table
    assert "1 of 6 extracts do not have the h sentences" in table
    assert "\nabstract" in question_answering(study).text()
    rows = {(row["id"], row["system"]): row for row in study.to_rows()}
    assert rows["t", "one"]["covered"] == pytest.approx([1, 1 / 3, 1 / 3])
    assert "coverage" not in rows["aibo", "abstract"]


def test_the_study_reports_what_it_left_out() -> None:
    topics = [
        BadTopic("b", "file:3", "broken"),
        {"id": "u", "cover": [[["a"]], []]},
        AIBO,
        {**AIBO, "id": "wrong", "meta": {"questions": [{}]}},
    ]
    systems = [
        BadSystem("file:4", "torn"),
        {"topic_id": "aibo"},
        {"topic_id": "nowhere", "system": "x", "selection": [1]},
        {"topic_id": "aibo", "system": "x", "selection": [1]},
        {"topic_id": "aibo", "system": "x", "selection": [2]},
    ]
    study = study_tsc3(topics, systems)
    reasons = ["file:4: torn", '"system"', "two summaries", "file:3: broken", "abstract sentence 1", "meta.questions"]
    assert all(any(reason in error for error in study.errors) for reason in [*reasons, "'nowhere'"])
    assert len(study.errors) == 7
    assert {row["id"] for row in study.of("score")} == {"aibo"}
    assert study_tsc3(topics[1:2], uncoverable="skip").errors == []


def test_a_minimum_that_is_not_proven_measures_nothing() -> None:
    study = study_tsc3([AIBO], [System("aibo", "one", selection=(0,))], time_limit=0)
    assert study.rows == []
    assert len(study.errors) == 1
    assert "was not proven" in study.errors[0]


def test_the_study_on_alignments_made_from_text(shared_data: Path) -> None:
    topics = align(read_topics(shared_data / "realsumm" / "topics.jsonl", bad="keep"))
    systems = [{"topic_id": "realsumm:001", "system": "first", "selection": [0, 1, 2]}]
    study = study_tsc3(topics, systems, uncoverable="skip")
    assert study.errors == []
    assert mean(study, BEST, "", "coverage") == 1
    lead = mean(study, LEAD, "", "coverage")
    assert lead is not None
    assert 0.3 < lead < 0.9
    assert mean(study, "first", "", "precision") is not None


@pytest.mark.parametrize(("name", "topics"), [("qmsum", 12), ("aclsum", 20)])
def test_the_study_on_what_people_marked(shared_data: Path, name: str, topics: int) -> None:
    """Check ranges and lists: if everything annotated is needed, the minimum cover is all of it."""
    folder = shared_data / name
    sizes: dict[str, list[int]] = {}
    for needed in ("all", "any"):
        marked = align(folder / "topics.jsonl", alignments=str(folder / "alignments.jsonl"), needed=needed)  # type: ignore[arg-type]
        study = study_tsc3(marked, [], uncoverable="skip")
        assert study.errors == []
        found = study.of("score", system=BEST)
        assert len(found) == topics
        assert {row["coverage"] for row in found} == {1}
        sizes[needed] = [row["size"] for row in found]
    assert all(one > few for one, few in zip(sizes["all"], sizes["any"], strict=True))


def test_a_summary_of_a_topic_serves_all_its_references() -> None:
    topic = {"id": "t", "documents": [["a cat", "a dog"]], "references": [["cat"], ["dog"]]}
    study = study_tsc3(align([topic]), [{"topic_id": "t", "system": "x", "selection": [1]}])
    assert [(row["id"], row["coverage"]) for row in study.of("score") if row["system"] == "x"] == [
        ("t#0", 0),
        ("t#1", 1),
    ]
    assert study.errors == []


LATEX = """Sentence ID of Abstract\tSet of Corresponding Sentences
1\t$\\{s_1\\} \\sqcup \\{s_{10}, s_{11}\\}$
2\t$\\{s_3, s_5, s_6\\}$
3\t$\\{s_{20}, s_{21}, s_{23}\\} \\sqcup \\{s_1, s_{30}, s_{60}\\}$
"""
PLAIN = """\ufeff# as the paper shows it
Sentence ID of Abstract    Set of Corresponding Sentences

1    {s1} ⊔ {s10, s11}
2    {s3, s5, s6}
3    {s20, s21, s23} ∪ {s1,s30,s60}
"""
BARE = "1 s1 s10,s11\n2 s3,s5,s6\n3 s20,s21,s23 or s1, s30, s60\n"


@pytest.mark.parametrize("text", [LATEX, PLAIN, BARE], ids=["latex", "braces", "bare"])
def test_tables_as_the_paper_shows_them(text: str, tmp_path: Path) -> None:
    file = tmp_path / "release-of-aibo.txt"
    file.write_text(text, encoding="utf-8")
    (topic,) = read_topics(file, bad="keep")
    assert isinstance(topic, Topic)
    assert topic.cover == TABLE_1.cover
    assert (topic.id, topic.documents, topic.source) == ("release-of-aibo", (), str(file))
    assert topic.meta["abstract_ids"] == ["1", "2", "3"]


@pytest.mark.parametrize("text", [LATEX, PLAIN, BARE], ids=["latex", "braces", "bare"])
@pytest.mark.parametrize("name", ["aibo.txt", "aibo.TSV", "aibo"])
def test_read_topics_takes_a_table(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (topic,) = read_topics(tmp_path / name, bad="keep")
    assert isinstance(topic, Topic)
    assert (topic.id, topic.cover) == ("aibo", TABLE_1.cover)


@pytest.mark.parametrize(
    ("start", "table"),
    [
        ("", False),
        ("<DOC>", False),
        ("The cat sat on the mat.\n", False),
        ("In 1990 the cat sat.\nIt ran.\n", False),
        ("id,documents,references\n", False),
        ("1 s1", True),
        ("1 s1\n2\n3 s4,s5 or s6\n", True),
        ("\ufeff# words\n1\ts1", True),
        ("Sentence ID of Abstract\n", True),
        ("C1 {one} | {two, three}", True),
    ],
)
def test_tables_are_recognised(start: str, table: bool) -> None:
    assert is_cover_table(start.encode()) == table


def test_topics_in_a_file_called_txt_are_still_topics(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text('{"id": "a", "cover": [[["x"]]]}\n{"id": "b", "cover": [[["x"]]]}\n')
    assert [topic.id for topic in read_topics(tmp_path / "topics.txt", bad="keep")] == ["a", "b"]


def test_numbers_and_other_ids_in_tables() -> None:
    topic = parse_cover_table("a 0 01 12,3\nb\nc doc_1-s2 | 文3", topic_id="t")
    assert topic.cover == (((0,), ("01",), (12, 3)), (), (("doc_1-s2",), ("文3",)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the table is empty"),
        ("# nothing\n", "the table is empty"),
        ("1 {s1", "file:1: a brace is not closed"),
        ("1 a\n\n2 {a {b}", "file:3: a brace is not closed"),
        ("1 {}", "file:1: the set '' is not made of ids"),
        ("1 {a b}", "file:1: the set 'a b' is not made of ids"),
        ("1 a,,b", "file:1: the set 'a,,b' is not made of ids"),
        ("{s1} {s2}", "file:1: '{s1}' is not the id"),
        ("1 {s1} ; {s2}", "file:1: ';' is neither a set nor a sign"),
        ("1 {s1} and {s2}", "file:1: 'and' is neither a set nor a sign"),
        ("1 {s1} + s2", "file:1: '+' is neither a set nor a sign"),
        ("1 s1 / s2", "file:1: '/' is neither a set nor a sign"),
        ("1 a\n1 b", "file:2: abstract sentence 1 has two lines"),
    ],
)
def test_lines_that_are_no_table_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_cover_table(text, topic_id="t", source="file")
    assert reason in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_topics(tmp_path / "missing.txt", bad="keep")
    (tmp_path / "latin.txt").write_bytes(b"1 {caf\xe9}")
    with pytest.raises(InputError, match="not UTF-8"):
        read_topics(tmp_path / "latin.txt", bad="keep")


def test_human_scores_stand_beside_computed_ones() -> None:
    """Check Tables 3, 5 and 6: means over topics of imported scores, including those of HUMAN."""
    short = {**AIBO, "id": "short", "meta": {**AIBO["meta"], "condition": "short"}}
    questions = {f"q{number:02}": number for number in range(16)}
    systems = [
        {"topic_id": "aibo", "system": "one", "selection": [0], "human": {"content": 0.5, **questions}},
        {"topic_id": "short", "system": "one", "selection": [0], "human": {"content": 0.25, "q08": -1}},
        {"topic_id": "aibo", "system": "HUMAN", "human": {"content": 0.75, "q00": 3}},
        {"topic_id": "aibo", "system": "abstract", "summary": ["AIBO costs 250,000 yen."]},
    ]
    study = study_tsc3([AIBO, short], systems)
    assert not study.errors
    tables = {table.title: table for table in study.tables()}
    names = ["Participation (Table 3)", "Extracts (Table 4)", "Content scores (Table 5)"]
    assert list(tables)[:5] == [*names, "Quality questions (Table 6, short)", "Quality questions (Table 6, long)"]
    content = {row[0]: row[1:] for row in tables["Content scores (Table 5)"].rows}
    assert [column.heading for column in tables["Content scores (Table 5)"].columns][1::3] == [
        "Short content",
        "Long content",
    ]
    assert (content["one"][0], content["one"][3]) == ("0.250", "0.500")
    assert content["HUMAN"] == ["-", "-", "-", "0.750", "-", "-"]
    assert content["one"][4] == f"{mean(study, 'one', 'long', 'coverage'):.3f}"
    long = {row[0]: row[1:] for row in tables["Quality questions (Table 6, long)"].rows}
    assert long["one"] == [f"{number}.000" for number in range(16)]
    assert long["HUMAN"] == ["3.000", *15 * ["-"]]
    assert {row[0]: row[9] for row in tables["Quality questions (Table 6, short)"].rows} == {"one": "-1.000"}
    joined = {row[0]: row[1:] for row in tables["Participation (Table 3)"].rows}
    assert joined == {"one": ["-", "2"], "HUMAN": ["1", "-"], "abstract": ["1", "-"]}


def test_means_of_different_topics_are_reported_below_every_table() -> None:
    topics = [{**AIBO, "id": name} for name in ("a", "b")]
    rated = {"content": 0.5, "q00": 1}
    systems = [
        *({"topic_id": name, "system": "both", "selection": [0], "human": rated} for name in ("a", "b")),
        {"topic_id": "a", "system": "one", "selection": [0], "human": rated},
    ]
    uneven = study_tsc3(topics, systems).tables()[1:]
    assert ["Not every system is scored on every topic" in str(table) for table in uneven] == [True] * 4
    even = study_tsc3(topics[:1], systems).tables()[1:]
    assert not any("Not every system is scored on every topic" in str(table) for table in even)


def test_the_error_shows_the_beginning_of_a_long_line() -> None:
    with pytest.raises(InputError, match="is not made of ids") as caught:
        parse_cover_table("1 {" + "a b" * 100_000 + "}", topic_id="t", source="file")
    assert len(str(caught.value)) < 150
