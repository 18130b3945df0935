"""Test the parsing of topics by spaCy, with a pipeline made here and with a trained one if installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.corpus import parses
from optsum.corpus.parses import load_model, parsed_topic
from optsum.errors import InputError, OptionError

TOPIC = {
    "id": "t",
    "documents": [["The ferry sank. It was old.", " "], [["Two", "men", "swam"]]],
    "references": [["The ferry sank."]],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

    @spacy.language.Language.component("flat_parser")
    def flat_parser(doc: Any) -> Any:
        from spacy.tokens import Doc

        deps = ["ROOT", *["dep"] * (len(doc) - 1)]
        spaces = [bool(token.whitespace_) for token in doc]
        words = [token.text for token in doc]
        return Doc(doc.vocab, words=words, spaces=spaces, heads=[0] * len(doc), deps=deps, pos=["X"] * len(doc))

    pipeline = spacy.blank("en")
    pipeline.add_pipe("flat_parser")
    folder = tmp_path_factory.mktemp("model")
    pipeline.to_disk(folder)
    return folder


def test_each_sentence_has_its_parse(model: Path) -> None:
    topic = parsed_topic(optsum.as_topic(TOPIC), load_model(str(model)))
    assert topic.parses is not None
    assert [parse.count("\t0\troot") + parse.count("\t0\tROOT") for parse in topic.parses] == [1, 0, 1]
    assert topic.parses[0].startswith("# text = The ferry sank. It was old.")  # a unit stays one, whatever it contains
    assert "\tswam\t" in topic.parses[2]


def test_the_command_writes_topics(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics, made = tmp_path / "topics.jsonl", tmp_path / "parsed.jsonl"
    topics.write_text(f"{json.dumps(TOPIC)}\n{{\n{json.dumps({**TOPIC, 'id': 'u'})}\n")
    assert main(["parse", str(topics), "--model", str(model), "-o", str(made)]) == 1
    caught = capsys.readouterr()
    assert "2 topics parsed" in caught.out
    assert "1 topic could not be parsed; the first:" in caught.err
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    assert [row["id"] for row in rows if "parses" in row] == ["t", "u"]
    assert len(rows[0]["parses"]) == 3
    assert main(["parse", str(topics), "--model", str(model), "-o", str(made)]) == 2  # the output exists


def test_a_missing_package_or_model_is_reported(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="no pipeline 'no_such': python -m spacy download no_such"):
        load_model("no_such")
    with pytest.raises(InputError, match="nothing to parse"):
        parsed_topic(optsum.as_topic({"id": "t", "cover": [[["s1"]]]}), load_model(str(model)))

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(parses, "import_module", missing)
    with pytest.raises(OptionError, match=r"pip install 'optsum\[spacy\]'"):
        load_model("any")


def test_raw_text_without_parses_is_answered_with_the_command() -> None:
    (result,) = optsum.solve_all([{"id": "t", "documents": [["a b"]], "references": [["a"]]}],
                                 formulation="compressive", max_length=3)  # fmt: skip
    assert "optsum parse TOPICS" in (result.error or "")


@pytest.fixture(scope="module")
def trained() -> str:
    """Return the name of an installed English pipeline with a parser."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    for name in spacy.util.get_installed_models():
        meta = spacy.util.get_package_path(name) / "meta.json"
        about = json.loads(meta.read_text(encoding="utf-8")) if meta.exists() else spacy.info(name)
        if about["lang"] == "en" and "parser" in about["pipeline"]:
            return str(name)
    pytest.skip("no trained English pipeline of spaCy is installed")


def test_parses_of_a_trained_pipeline_make_compressions(
    trained: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    news = Path(__file__).resolve().parents[3] / "examples" / "data" / "news.jsonl"
    if not news.exists():
        pytest.skip("the source tree is not beside the tests")
    made = tmp_path / "parsed.jsonl"
    assert main(["parse", str(news), "--model", trained, "--limit", "2", "-o", str(made)]) == 0
    assert "2 topics parsed" in capsys.readouterr().out
    gained = shortened = 0
    for topic in optsum.read_topics(made):
        assert isinstance(topic, optsum.Topic)
        assert topic.parses is not None
        assert len(topic.parses) == len(topic.sentences)
        options: dict[str, Any] = {"metric": "rouge-2", "max_length": 40}
        whole, trimmed, paper = (
            optsum.solve(topic, **options, **more)
            for more in ({}, {"formulation": "compressive"}, {"formulation": "compressive", "chunk_profile": "paper"})
        )
        assert {one.status.value for one in (whole, trimmed, paper)} == {"optimal"}
        keys = [one.key for one in (whole, trimmed, paper)]
        assert None not in keys
        assert keys == sorted(keys, key=lambda key: key or 0), "what can be left out can stay"
        gained += keys[0] != keys[1]
        for sentence in trimmed.summary or ():
            shortened += sentence not in topic.sentences
            assert any(set(sentence.lower().rstrip(".").split()) <= _words(str(given)) for given in topic.sentences)
    assert gained == 2
    assert shortened


def _words(sentence: str) -> set[str]:
    """Return the words of a sentence in the forms that they may take in a compression."""
    words = sentence.lower().split()
    return {form for word in words for form in (word, word.rstrip(".,;:"), "a", "an")}
