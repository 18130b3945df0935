"""Check what notebooks show: short lines, the summary marked in its source, and no HTML from the data."""

from __future__ import annotations

import sys
from collections.abc import Generator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import optsum
from optsum.options.options import resolve
from optsum.running.one_problem import build, setup_of
from optsum.system import notebook
from optsum.system.notebook import facts, kept_words, marked_text, tracked

ROOT = Path(__file__).resolve().parents[3]
TOPIC: dict[str, Any] = {
    "id": "t<1>",
    "documents": [["a b c", "<script>alert(1)</script> x"], ["a \u202e z", "b c d e"]],
    "references": [["a b c d e"]],
}


class Reader(HTMLParser):
    """Collect tags, all text, and the text that is marked or struck out."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.within: dict[str, list[str]] = {"mark": [], "s": [], "p": []}
        self.titles: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        for tag, found in self.within.items():
            if tag in self.open:
                found.append(data)


def test_a_result_is_its_summary_marked_in_its_source() -> None:
    result = optsum.solve(TOPIC, max_length=7)
    assert repr(result).startswith("<Result 't<1>': optimal, by auto, rouge-1 1 (5/5), units 0 3, length 7, in")
    shown = Reader(result._repr_html_())
    assert shown.within["mark"] == ["a b c", "b c d e"]
    assert "<script>alert(1)</script> x" in shown.text
    assert "script" not in shown.tags
    assert "\u202e" not in result._repr_html_()
    assert shown.open == []


@pytest.mark.parametrize("workers", [1, 2])
def test_results_of_many_topics_are_marked_in_their_sources(workers: int) -> None:
    raw = {"id": "raw", "documents": ["It rained. Fans left."], "references": ["Rain made it end; it rained."]}
    two = {**TOPIC, "references": [["a b c"], ["e"]]}
    results = list(optsum.solve_all([two, raw], references="each", max_length=4, workers=workers))
    shown = [Reader(result._repr_html_()).within["mark"] for result in results]
    assert shown == [["a b c"], ["b c d e"], ["It rained."]]
    assert "<script>alert(1)</script> x" in Reader(results[0]._repr_html_()).text
    assert all("source" not in result.to_row() for result in results)


def test_a_row_read_back_shows_its_summary() -> None:
    result = optsum.solve(TOPIC, max_length=7)
    again = optsum.Result.from_row(result.to_row())
    assert again == result
    assert "source" not in result.to_row()
    assert "b c d e" in Reader(again._repr_html_()).text
    assert "mark" not in Reader(again._repr_html_()).tags


def test_other_results_say_what_they_hold() -> None:
    greedy = optsum.solve(TOPIC, max_length=4, strategy="greedy")
    assert "feasible, by greedy" in repr(greedy)
    assert "bound 0." in repr(greedy)
    (bad,) = optsum.solve_all([{"id": "x", "documents": [["a"]], "references": [["\x1b"]]}], max_length=3)
    assert "error" in repr(bad)
    assert "because" in "".join(Reader(bad._repr_html_()).text)
    assert "\x1b" not in repr(bad)
    cover = optsum.solve({"id": "t", "cover": [[["s1"], ["s10", "s11"]], [["s3"]]]}, formulation="cover")
    assert "units s1 s3" in repr(cover)
    assert "s1 s3" in Reader(cover._repr_html_()).text


def test_all_oracles_are_heat_on_the_source_and_texts() -> None:
    oracles = optsum.enumerate_optima({**TOPIC, "documents": [["a b", "b c", "a c"]]}, max_length=4)
    assert repr(oracles) == "<Oracles 't<1>': 3 optima of value 3>"
    unproven = optsum.Optima.of_sets([(0,)], 1, 2)
    assert repr(unproven) == "<Optima: 1 set of value 1, which is not proven to be the best>"
    shown = Reader(oracles._repr_html_())
    assert shown.within["mark"] == ["a b", "b c", "a c"]
    assert shown.titles == ["in 66.7% of the optima"] * 3
    assert list(oracles.summaries()) == [tuple(("a b", "b c", "a c")[unit] for unit in optimum) for optimum in oracles]


@pytest.mark.parametrize("references", ["pooled", "best"])
def test_the_first_text_is_the_results(references: str) -> None:
    for topic in optsum.read_topics(ROOT / "examples" / "data" / "news.jsonl"):
        oracles = optsum.enumerate_optima(topic, max_length=40, references=references)
        texts = list(oracles.summaries())
        assert len(texts) == oracles.count
        assert oracles.result.summary in texts
        assert texts == [tuple(topic.sentences[unit] for unit in optimum) for optimum in oracles]


def test_dropped_words_of_compressions_are_struck_out() -> None:
    (topic,) = optsum.read_topics(ROOT / "examples" / "data" / "parsed.jsonl")
    result = optsum.solve(topic, formulation="compressive", metric="rouge-2", max_length=30)
    shown = Reader(result._repr_html_())
    assert result.summary is not None
    assert {"Captain", "midnight."} <= set(shown.within["s"])
    kept = " ".join(" ".join(text.split()) for text in shown.within["mark"] if text not in shown.within["s"])
    assert "The ferry, made its last trip on Sunday." in " ".join(kept.split())
    oracles = optsum.enumerate_optima(topic, formulation="compressive", metric="rouge-2", max_length=30)
    assert list(oracles.summaries()) == [result.summary]


def test_a_cover_of_names_has_no_texts() -> None:
    oracles = optsum.enumerate_optima({"id": "t", "cover": [[["s1"]]]}, formulation="cover")
    with pytest.raises(optsum.UnsupportedError, match="no texts"):
        list(oracles.summaries())
    assert "1 optimum" in oracles._repr_html_()


def test_a_task_is_its_units() -> None:
    task = build(optsum.as_topic(TOPIC), setup_of(resolve({"max_length": 7})))
    assert repr(task) == "<Extract 't<1>': 3 units, 1 references>"
    assert {"a b c", "b c d e"} <= set(Reader(task._repr_html_()).text)


def test_long_texts_are_cut_around_what_is_marked() -> None:
    documents = [[f"s{number}" for number in range(100_000)], ["x" * 100_000]]
    html = marked_text(documents, {50_000: 1.0, 100_000: 1.0})
    shown = Reader(html)
    assert shown.within["mark"][0] == "s50000"
    assert {"s49999", "s50001", "s0"} <= set(shown.text)
    assert "s2000" not in shown.text
    assert any("sentences]" in text for text in shown.text)
    assert len(html) < 60_000
    everything = marked_text(documents, dict.fromkeys(range(100_000), 1.0))
    assert Reader(everything).tags.count("mark") <= 301


def test_facts_are_escaped() -> None:
    assert Reader(facts("<b>", [("<i>", "<script>\x1b"), ("none", None)])).tags == ["p", "b", "b"]


def test_kept_words_are_found_in_order() -> None:
    assert sorted(kept_words("a b a b a", "b a")) == [1, 2]
    assert kept_words(["a", ",", "b"], "a , b") == {0, 1, 2}
    assert kept_words("a b", "c") == set()


def counting(number: int) -> Generator[int, None, None]:
    yield from range(number)


def test_progress_is_shown_in_notebooks_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    items = counting(3)
    assert tracked(items, 3) is items
    shown: list[str] = []

    def display(text: str, *, display_id: bool) -> Any:
        assert display_id
        shown.append(text)
        return SimpleNamespace(update=shown.append)

    shell = type("ZMQInteractiveShell", (), {})()
    module = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display, HTML=str))
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(notebook, "_OFTEN", 0.0)
    assert list(tracked(counting(3), 3)) == [0, 1, 2]
    assert [Reader(text).tags[0] for text in shown] == ["progress", "progress", "progress", "small"]
    assert 'value="2" max="3"' in shown[1]
    shown.clear()
    stopped = tracked(counting(3), None)
    next(stopped)
    next(stopped)
    stopped.close()
    assert shown[-1].startswith("<small>1 topics")
