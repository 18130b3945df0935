"""Test topics from a folder of CoNLL-U files."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pytest

import optsum
from optsum.corpus.parses import parses_of
from optsum.corpus.topic import BadTopic, Topic
from optsum.corpus.topics import read_topics
from optsum.errors import InputError

GO = "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n2\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\t_\n"


def test_each_file_is_a_topic(tmp_path: Path) -> None:
    head = "# newdoc id = d1\n# summary1 = (human1) He goes. He went.\n# summary2 = (a model) No.\n"
    head += "# reference = Go (now).\n"
    (tmp_path / "b.conllu").write_text(f"{head}# sent_id = s\n{GO}\n{GO}\n# newdoc\n# meta::summary = Go!\n{GO}")
    (tmp_path / "a.conllu.gz").write_bytes(gzip.compress(f"# summary = Go.\n{GO}".encode()))
    (tmp_path / "c.conllu").write_text(GO)
    (tmp_path / "d.conllu").write_text(f"# summary = Go.\n{GO.replace('0', '5')}")
    (tmp_path / "e.txt").write_text("something else")
    a, b, c, d = read_topics(tmp_path, bad="keep")
    assert isinstance(a, Topic)
    assert (a.id, a.documents, a.references) == ("a", (("Go.",),), (("Go.",),))
    assert isinstance(b, Topic)
    assert (b.documents, b.source) == ((("Go.", "Go."), ("Go.",)), str(tmp_path / "b.conllu"))
    assert b.references == (("He goes.", "He went."), ("Go (now).",), ("Go!",))
    assert [parse.text for parse in parses_of(b)] == ["Go.", "Go.", "Go."]
    assert c == BadTopic(
        "c", str(tmp_path / "c.conllu"), "there is no reference; give it as a comment, # summary1 = text"
    )
    assert isinstance(d, BadTopic)
    assert d.error.startswith("sentence 1: the head of word 1 ('Go') does not exist")


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it is a folder; give a file, or a folder of files named \*\.conllu"):
        read_topics(tmp_path, bad="keep")


def test_a_topic_of_a_folder_is_compressed(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(f"# summary = Go.\n{GO}")
    (topic,) = read_topics(tmp_path, bad="keep")
    assert isinstance(topic, Topic)
    assert optsum.solve(topic, formulation="compressive", max_length=5).summary == ("Go.",)


def test_a_treebank_is_the_same_topics(shared_data: Path) -> None:
    lines = (shared_data / "gum" / "topics.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {line["meta"]["conllu"]: line for line in map(json.loads, lines)}
    topics = list(read_topics(shared_data / "gum" / "conllu", bad="keep"))
    assert len(topics) == len(expected) == 32
    for topic in topics:
        assert isinstance(topic, Topic)
        line = expected[f"{topic.id}.conllu"]
        assert [list(document) for document in topic.documents] == line["documents"]
        found = ["".join(" ".join(map(str, reference)).split()) for reference in topic.references]
        assert found == ["".join(" ".join(reference).split()) for reference in line["references"]]


def test_no_reference_and_no_document_of_comments_is_lost(tmp_path: Path) -> None:
    """Check a key that stands twice, and comments that a blank line parts from the words."""
    text = f"# reference = A.\n# reference = B.\n{GO}\n# newdoc\n# reference = C.\n\n{GO}\n# reference = D.\n"
    (tmp_path / "b.CONLLU").write_text(text)
    (tmp_path / "c.conllu.bz2").write_bytes(bz2.compress(text.encode()))
    topics = list(read_topics(tmp_path))
    assert [topic.id for topic in topics] == ["b", "c"]
    assert topics[0].references == topics[1].references == (("A.",), ("B.",), ("C.",), ("D.",))
    assert topics[0].documents == (("Go.",), ("Go.",))
