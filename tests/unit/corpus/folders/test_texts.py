"""Test topics from raw text in folders."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from optsum import read_topics
from optsum.corpus.folders import parallel_folders, parallel_topics, stories_in, story_topics
from optsum.corpus.topic import AS_IS, Notes, Reading

STORY = (
    "(CNN) -- One came. Two\nleft.\n\nA heading\n\nThree.\n\n@highlight\n\nTwo left\n\n@highlight\n\nThree stayed\nin\n"
)


def test_stories_and_their_highlights(tmp_path: Path) -> None:
    (tmp_path / "b.story").write_text(STORY)
    (tmp_path / "a.story").write_text("No highlight.")
    (tmp_path / "c.story").write_bytes(b"\xff")
    bad, good, broken = (line.value for line in story_topics(stories_in(tmp_path, AS_IS)))
    assert good == {
        "id": "b",
        "documents": [["(CNN) -- One came.", "Two\nleft.", "A heading", "Three."]],
        "references": [["Two left", "Three stayed in"]],
    }
    assert (bad["id"], bad["status"], "@highlight" in bad["error"]) == ("a", "error", True)
    assert (broken["id"], "UTF-8" in broken["error"]) == ("c", True)


def test_documents_and_references_in_folders(tmp_path: Path) -> None:
    for name, text in {
        "documents/a.txt": "One came. Two left.",
        "documents/b.v2.txt": "B.",
        "documents/c.txt": "C.",
        "documents/d/1.txt": "D one.",
        "documents/d/2.txt": "D two.",
        "references/a.txt": "Two\nleft.",
        "references/a.B.txt": "One.",
        "references/b.v2.txt": "B is.",
        "references/d/x.txt": "D.",
        "references/d/y.txt": "D too.",
        "references/.hidden": "no",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folders = parallel_folders(tmp_path)
    assert folders == (tmp_path / "documents", tmp_path / "references")
    a, b, c, d = (line.value for line in parallel_topics(folders))
    assert a == {"id": "a", "documents": [["One came.", "Two left."]], "references": [["Two\nleft."], ["One."]]}
    assert (b["id"], b["references"]) == ("b.v2", [["B is."]])
    assert (c["id"], c["status"], "no reference" in c["error"]) == ("c", "error", True)
    assert (d["documents"], d["references"]) == ([["D one."], ["D two."]], [["D."], ["D too."]])


def test_an_accent_may_be_a_character_of_its_own(tmp_path: Path) -> None:
    """Test this because macOS decomposes the names of files."""
    for name, text in {"documents/wo\u0308lfe.txt": "Sie heulen.", "references/w\u00f6lfe.Anna.txt": "Heulen."}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    folders = parallel_folders(tmp_path)
    assert folders is not None
    (topic,) = (line.value for line in parallel_topics(folders))
    assert (topic["id"], topic["references"]) == ("w\u00f6lfe", [["Heulen."]])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("f/e\u0301.json", '{"documents": [["a"]], "references": [["a"]]}'),
        ("f/e\u0301.conllu", "# reference = A.\n1\tA\ta\tX\tX\t_\t0\troot\n"),
        ("e\u0301.txt", "1 {s1}\n2 {s2}\n"),
    ],
)
def test_ids_from_names_of_files_are_composed(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / file).write_text(text)
    (topic,) = read_topics(tmp_path / "f" if file.startswith("f/") else tmp_path / file)
    assert topic.id == "\u00e9"


def test_other_folders_are_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    assert parallel_folders(tmp_path) is None
    assert stories_in(tmp_path, AS_IS) == []


def test_stories_of_any_case_and_compressed_are_read_and_deeper_ones_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.story", "C.STORY", "sub/d.story"):
        (tmp_path / name).write_text(STORY)
    (tmp_path / "b.story.gz").write_bytes(gzip.compress(STORY.encode()))
    topics = story_topics(stories_in(tmp_path, Reading(notes=Notes())))
    assert sorted(line.value["id"] for line in topics) == ["C", "a", "b"]
    assert "left out: 1 file in subfolders, such as" in caplog.text


def test_the_plain_reference_is_the_first_and_deeper_folders_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = (
        "documents/a.txt",
        *(f"references/a{mark}.txt" for mark in ("", ".1", ".2", ".10")),
        "references/b/y/1.txt",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    folders = parallel_folders(tmp_path)
    assert folders is not None
    (topic,) = (line.value for line in parallel_topics(folders, Reading(notes=Notes())))
    assert [text for (text,) in topic["references"]] == list(names[1:5])
    assert f"the files in {tmp_path / 'references' / 'b' / 'y'} are left out" in caplog.text


def test_an_empty_file_among_references_is_refused(tmp_path: Path) -> None:
    for name, text in {"documents/a.txt": "A cat.", "references/a.txt": "A.", "references/a.1.txt": " "}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (bad,) = read_topics(tmp_path, bad="keep")
    assert "the reference is empty; give it a text, or leave it out" in getattr(bad, "error", "")
