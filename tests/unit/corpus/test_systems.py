"""Test reading systems' summaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.corpus.topics import BadSystem, System, read_systems, system_of
from optsum.errors import InputError, OptionError

GOOD: dict[str, Any] = {"topic_id": "t", "system": "s", "summary": ["A .", "B ."], "human": {"lp": 1, "x": None}}


def test_all_fields() -> None:
    system = system_of(GOOD | {"selection": [3, 0], "other": 1}, source="f:1")
    assert system == System("t", "s", ("A .", "B ."), (3, 0), {"lp": 1.0}, "f:1")
    assert system_of(system) is system
    assert isinstance(system.human["lp"], float)


def test_summary_or_selection() -> None:
    assert system_of({"topic_id": 1, "system": 2, "selection": []}) == System("1", "2", None, ())
    assert system_of({"topic_id": 1, "system": 2, "summary": []}) == System("1", "2", ())
    assert system_of({"topic_id": 1, "system": 2, "summary": "It ran. It sat."}).summary == ("It ran.", "It sat.")
    assert system_of({"topic_id": 1, "system": 2, "summary": [["A", "."]]}).summary == (("A", "."),)


def test_extracts_in_the_ids_of_the_input() -> None:
    ids = ["s1", 7, "7a", "Satz 3", "文3"]
    assert system_of({"topic_id": "t", "system": "s", "selection": ids}).selection == tuple(ids)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"topic_id": None}, 'no "topic_id"'),
        ({"topic_id": ""}, "the topic_id is blank"),
        ({"system": None}, 'no "system"'),
        ({"system": 1.5}, "the name of the system is a number"),
        ({"summary": None, "human": None}, 'neither "summary" nor "selection"'),
        ({"summary": {}}, "summary is an object"),
        ({"summary": ["A", 1]}, r"summary\[1\] is a number"),
        ({"selection": "0"}, '"selection" is a string'),
        ({"selection": [0, -1]}, r"selection\[1\] is -1"),
        ({"selection": [True]}, r"selection\[0\] is True"),
        ({"selection": [1.0]}, r"selection\[0\] is 1.0"),
        ({"selection": [4, 4]}, "selection has unit 4 twice"),
        ({"selection": ["é", 1, "é"]}, "selection has unit 'é' twice"),
        ({"selection": [None]}, r"selection\[0\] is None; units are whole numbers from 0, or sentence ids"),
        ({"human": [1]}, '"human" is a list'),
        ({"human": {"x": "1"}}, "the human score 'x' is a string"),
        ({"human": {"x": False}}, "the human score 'x' is false"),
        ({"human": {"x": float("nan")}}, "the human score 'x' is not finite"),
        ({"human": {"x": 10**400}}, "the human score 'x' is not finite"),
    ],
)
def test_wrong_values_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        system_of(GOOD | values)


@pytest.mark.parametrize(
    ("labels", "sentences", "message"),
    [
        (5, None, '"labels" is a number'),
        ([0, 1], "ab", '"sentences" is a string'),
        ([0.3, 0], None, "a label is 0.3; labels are 1"),
        ([1, "0"], None, "a label is '0'"),
        ([1, 0], ["a", "b", "c"], "2 labels of 3 sentences"),
    ],
)
def test_labels_that_are_none_are_refused(labels: object, sentences: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        system_of({"id": "t", "strategy": "a", "labels": labels, "sentences": sentences})


def test_lines_that_are_no_objects_are_refused() -> None:
    with pytest.raises(InputError, match="a system summary is an object"):
        system_of([])


def test_bad_lines_do_not_cost_the_others(tmp_path: Path) -> None:
    path = tmp_path / "systems.jsonl"
    rows = [json.dumps(GOOD), "{", "3", json.dumps(GOOD), json.dumps(GOOD | {"system": "r"})]
    path.write_text("\n".join(rows), encoding="utf-8")
    first, broken, number, again, last = read_systems(path)
    assert isinstance(first, System)
    assert first.source == f"{path}:1"
    assert isinstance(broken, BadSystem)
    assert broken.source == f"{path}:2"
    assert broken.error.startswith("not JSON")
    assert isinstance(number, BadSystem)
    assert number.error.endswith("not a number")
    assert again == BadSystem(f"{path}:4", "a second summary of system 's' for topic 't'; give only one")
    assert isinstance(last, System)


def test_unusable_files_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "systems.jsonl"
    with pytest.raises(InputError, match="no such file"):
        read_systems(path)
    path.touch()
    with pytest.raises(InputError, match="is empty; give one system summary per line"):
        read_systems(path)
    with pytest.raises(OptionError, match="not a language code"):
        read_systems(path, language="")


@pytest.mark.parametrize(
    ("name", "count", "human"), [("realsumm", 1200, "litepyramid_recall"), ("summeval", 800, "coherence")]
)
def test_real_systems(shared_data: Path, name: str, count: int, human: str) -> None:
    systems = list(read_systems(shared_data / name / "systems.jsonl"))
    assert len(systems) == count
    for system in systems:
        assert isinstance(system, System), system
        assert human in system.human


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
keys = st.sampled_from(["topic_id", "system", "summary", "selection", "human"])


@given(st.lists(values | st.dictionaries(keys, values), min_size=1))
def test_any_json_is_a_system_or_a_bad_system(tmp_path_factory: pytest.TempPathFactory, items: list[Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "systems.jsonl"
    items = [{}, *items]  # a file that begins with a list is read as an array
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    systems = list(read_systems(path))
    assert len(systems) == len(items)
    assert all(isinstance(system, System | BadSystem) for system in systems)


def test_files_of_systems_are_read_or_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Check endings in capitals, files of other names, and names of topics as macOS writes them."""
    for name in ("A/1.txt", "A/2.TXT", "A/cafe\u0301.txt", "A/sub/3.txt", "B/1.out", "4.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a cat", encoding="utf-8")
    found = [(system.topic_id, system.system) for system in read_systems(tmp_path)]
    assert sorted(map(str, found)) == sorted(map(str, [("1", "A"), ("2", "A"), ("caf\u00e9", "A")]))
    assert "left out: 3 files of" in caplog.text


@pytest.mark.parametrize(
    ("file", "system"),
    [("gpt-3.5-turbo.txt", "gpt-3.5-turbo"), ("gpt-3.5", "gpt-3.5"), ("lead.out", "lead"), ("a.b.hypo", "a.b")],
)
def test_the_name_of_a_system_is_that_of_its_file_without_the_ending(tmp_path: Path, file: str, system: str) -> None:
    (tmp_path / file).write_text("a cat ran\n")
    assert [found.system for found in read_systems(tmp_path / file)] == [system]


@pytest.mark.parametrize(
    "first",
    ["[Laughter] The cat", "{x} y", "42", '"quoted"', "cat 5", "the , status , of", "[1] cat", "null", "1 {s1}"],
)
def test_any_first_line_of_a_text_is_a_summary(tmp_path: Path, first: str) -> None:
    (tmp_path / "lead.txt").write_text(f"{first}\na dog\n")
    assert [(found.topic_id, found.system) for found in read_systems(tmp_path / "lead.txt")] == [
        ("0", "lead"), ("1", "lead")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '{"topic_id": "1", "system": "a", "summary": "cat"}\n',
        '[\n{"topic_id": "1", "system": "a", "summary": "cat"}]',
        "topic_id,system,summary\n1,a,cat\n",
        "id\tstrategy\tselection\n1\ta\t[0]\n",
    ],
)
def test_records_in_a_text_file_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "lead.txt").write_text(text)
    assert [(found.topic_id, found.system) for found in read_systems(tmp_path / "lead.txt")] == [("1", "a")]
