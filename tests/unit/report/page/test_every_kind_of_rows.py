"""Open pages of every kind of rows (formulations, enumerations, frontiers, rows without texts) without errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_rows import TOPICS, rows_of

from optsum.corpus.topics import read_topics
from optsum.coverage.instance import Coverage
from optsum.optima.optima import Nearness
from optsum.problem.problem import CoverageProblem
from optsum.report.page.write import charts_of, gather, sentences_of, tiles_of, write_page
from optsum.running.enumerate import enumerate_topics, resolve_enumeration
from optsum.running.frontier import frontier_topics, resolve_frontier

EXAMPLES = Path(__file__).resolve().parents[4] / "examples/data"


def compressions() -> list[dict[str, Any]]:
    return rows_of(read_topics(EXAMPLES / "parsed.jsonl"), formulation="compressive", max_length=40)


def covers() -> list[dict[str, Any]]:
    return rows_of(list(read_topics(EXAMPLES / "covers.jsonl"))[:2], formulation="cover", max_length=None)


QUESTION: dict[str, Any] = {
    "id": "q",
    "documents": [["It opened in 1932.", "Opened in 1932, it cost 4 million.", "It carries trains."]],
    "supports": [[0], [0, 1], [2]],
    "references": [["opened in 1932", "cost 4 million", "carries trains", "painted grey"]],
    "weights": [1, 1, 0.5, 1],
}
BARE: dict[str, Any] = {"id": "bare", "cover": [[["p1"]], [["p2", "p10"], ["p3"]], []]}


def contexts() -> list[dict[str, Any]]:
    return rows_of([QUESTION], formulation="cover", max_length=8)


def contexts_without_texts() -> list[dict[str, Any]]:
    return rows_of([BARE], formulation="cover", max_length=2, length_unit="sentences")


def subsequences() -> list[dict[str, Any]]:
    return rows_of(TOPICS[:2], exact="exhaustive", metric="rouge-l")


def without_texts() -> list[dict[str, Any]]:
    return rows_of(details=False)


def near() -> list[dict[str, Any]]:
    nearness = Nearness.given(within="25%")
    options = resolve_enumeration({"max_length": 4}, nearness)
    (results,) = enumerate_topics(TOPICS[:1], options, nearness, details=True)
    return [result.to_row() for result in results]


def enumerated_compressions() -> list[dict[str, Any]]:
    """Return rows of a file, where the names of units are lists, with and without a threshold."""
    rows = []
    for nearness in (None, Nearness.given(within="10%")):
        given = {"formulation": "compressive", "max_length": 12}
        options = resolve_enumeration(given, nearness)
        for results in enumerate_topics(read_topics(EXAMPLES / "parsed.jsonl"), options, nearness):
            rows += [json.loads(json.dumps(result.to_row())) for result in results]
    return rows


def frontier() -> list[dict[str, Any]]:
    (row,) = rows_of(TOPICS[:1], "branch-and-bound", "none", details=False)
    steps = [{"from": 2, "to": 3, "objective": 0.4}, {"from": 4, "to": 9, "objective": 0.8}]
    about = {"lengths": "2:9:1", "complete": True, "termination": "completed", "solves": 2}
    return [{**row, "frontier": {**about, "steps": steps, "greedy": steps[:1]}}]


def lengths() -> list[dict[str, Any]]:
    """Return the frontier of a topic with its text: the best of 2 words covers two of five, that of 4 words four."""
    options, asked = resolve_frontier({}, "2:4:2")
    ((result,),) = frontier_topics(TOPICS[:1], options, asked, details=True)
    return [result.to_row()]


def sites() -> list[dict[str, Any]]:
    """Return the rows of a problem without text."""
    problem = CoverageProblem.of(Coverage.facility([[9, 1, 4], [2, 8, 4], [1, 7, 5]], 2), name="sites")
    return rows_of([problem], exact="auto", formulation="problem", max_length=None)


KINDS = (
    *(compressions, covers, contexts, contexts_without_texts, subsequences, without_texts, near, frontier),
    *(enumerated_compressions, lengths, sites),
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_topic_opens_with_every_strategy(
    chromium: Any, tmp_path: Path, kind: Callable[[], list[dict[str, Any]]]
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    rows = kind()
    write_page(rows, tmp_path / "page.html")
    chromium.get_log("browser")
    chromium.get(f"file://{tmp_path}/page.html")
    for number in range(min(4, len({row["id"] for row in rows}))):
        chromium.execute_script("location.hash = document.querySelectorAll('#lines a')[arguments[0]].hash", number)
        name = chromium.execute_script("return document.querySelectorAll('#lines a')[arguments[0]].textContent", number)
        WebDriverWait(chromium, 20, 0.01).until(
            lambda browser, name=name: (
                browser.execute_script("return document.querySelector('#topic h2')?.textContent") == name
            )
        )
        chromium.execute_async_script(
            """
            const done = arguments[0];
            (async () => {
              for (const tab of document.querySelectorAll('[role=tab]:not(:disabled)')) {
                document.getElementById(tab.id).click();
                await new Promise((go) => setTimeout(go, 30));
                for (const each of document.querySelectorAll('.sentence, .references .word, .abstract')) each.focus();
                document.querySelector('#later')?.click();
                await new Promise((go) => setTimeout(go, 30));
              }
              done();
            })();
            """
        )
        assert chromium.execute_script("return document.querySelector('#panel').textContent.length") > 10
    assert chromium.get_log("browser") == []


def test_dropped_chunks_are_struck_through(chromium: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    write_page(compressions(), tmp_path / "page.html")
    chromium.get(f"file://{tmp_path}/page.html#topic=last-ferry")
    WebDriverWait(chromium, 20, 0.01).until(
        lambda browser: browser.execute_script("return document.querySelectorAll('del').length") > 3
    )
    text = "return [...document.querySelectorAll('[data-sentence=\"0\"] .text > span')].map((each) => each.textContent)"
    assert "".join(chromium.execute_script(text)).split() == ["The", "old", "ferry,", "made", "its", "last", "trip"]


def wait_for(chromium: Any, happened: Callable[[], bool]) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(chromium, 20, 0.01).until(lambda _: happened())


def page_of(
    chromium: Any, path: Path, rows: list[dict[str, Any]], topic: str, strategy: str = "branch-and-bound"
) -> Callable[[str], list[str]]:
    """Open a topic of a page, and return a function that reads the texts of elements."""
    write_page(rows, path)
    chromium.get("about:blank")
    chromium.get(f"file://{path}#topic={topic}&strategy={strategy}")

    def texts(selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
        return list(chromium.execute_script(script, selector))

    wait_for(chromium, lambda: texts("#topic h2") == [topic])
    return texts


def test_claims_are_supported_missed_or_out_of_reach(chromium: Any, tmp_path: Path) -> None:
    texts = page_of(chromium, tmp_path / "page.html", contexts(), "q")
    assert texts("#totals") == ["supported 2, missed 1, by no passage 1"]
    assert texts(".abstract.covered > bdi") == ["opened in 1932", "cost 4 million"]
    assert texts(".abstract.left > bdi") == ["carries trains"]
    assert texts(".abstract.left > small") == [" worth 0.5"]
    assert texts(".abstract.out > .note") == ["no passage supports it"]
    assert texts(".abstract .set.held") == ["● 1 (chosen)", "● 1 (chosen)"]
    assert "4 of 7 of the claims' worth" in texts(".values")[0]
    chromium.execute_script("document.querySelector('[data-sentence=\"1\"]').focus()")
    assert texts(".abstract.has > bdi") == ["opened in 1932", "cost 4 million"]
    assert texts("#live") == ["supports 2 claims"]
    chromium.execute_script("document.querySelector('[data-claim=\"2\"]').focus()")
    assert texts("#live") == ["the selection does not support it"]


def test_claims_of_passages_without_text_are_shown(chromium: Any, tmp_path: Path) -> None:
    texts = page_of(chromium, tmp_path / "page.html", contexts_without_texts(), "bare")
    assert texts(".sentence .number") == ["p1", "p2", "p3", "p10"]
    assert texts(".sentence.chosen .number") == ["p1", "p3"]
    assert texts("#totals") == ["supported 2, missed 0, by no passage 1"]
    assert texts(".abstract > bdi") == ["claim 0", "claim 1", "claim 2"]
    assert texts(".abstract .set.held") == ["● p1 (chosen)", "● p3 (chosen)"]


def test_near_optimal_selections_are_not_called_optimal() -> None:
    gathered = gather(near())
    assert gathered.problems[0].optima is not None
    assert gathered.problems[0].optima["near"] == "within 25%"
    assert [what for _, what, _ in tiles_of(gathered)] == ["oracle"]


def test_a_frontier_is_drawn_with_greedy_beside_it() -> None:
    (chart,) = [chart for chart in charts_of(gather(frontier())) if chart.title == "Value against length"]
    assert chart.series == {0: [(2.0, 0.4), (4.0, 0.8)], 1: [(2.0, 0.4), (4.0, 0.4)]}
    assert "; maximum lengths up to 9; " in sentences_of(gather(frontier()))[0]


def test_every_length_of_a_frontier_is_shown(chromium: Any, tmp_path: Path) -> None:
    texts = page_of(chromium, tmp_path / "page.html", lengths(), "ties")
    assert texts("#optimum") == [" maximum 4 words, step 2 of 2 "]
    assert texts(".values strong, #totals") == ["0.8000", "covered 4, left 1, out of reach 0"]
    assert len(texts(".sentence.chosen")) == 2
    chromium.find_element("css selector", "#earlier").click()
    wait_for(chromium, lambda: texts("#optimum") == [" maximum 2 words, step 1 of 2 "])
    assert texts(".values strong, #totals") == ["0.4000", "covered 2, left 3, out of reach 0"]
    assert len(texts(".sentence.chosen")) == 1
    assert chromium.current_url.endswith("&optimum=1")


def test_a_problem_that_is_no_text_has_no_words_and_references(chromium: Any, tmp_path: Path) -> None:
    rows = sites()
    assert [what for _, what, _ in tiles_of(gather(rows))] == ["optimum", "ratio of greedy", "optima that are tied"]
    assert sentences_of(gather(rows))[0].startswith("1 problem; ")
    texts = page_of(chromium, tmp_path / "page.html", rows, "sites", "auto")
    assert texts(".values strong") == ["24"]
    assert texts(".references, .jump") == []
    assert texts("#topic h3") == ["Selection 2 unitscopy", "Units 3 units"]
    assert texts("h1, #topics-heading") == ["Best selections", "Problems"]


def test_a_frontier_stands_first_and_wide(chromium: Any, tmp_path: Path) -> None:
    rows = frontier()
    assert charts_of(gather(rows))[0].title == "Value against length"
    (tile,) = [tile for tile in tiles_of(gather(rows)) if tile[1].startswith("greedy / optimum")]
    assert (tile[0], tile[2]) == ("0.7500", "0.5000 at length 4, the lowest")
    write_page(rows, tmp_path / "page.html")
    chromium.get(f"file://{tmp_path}/page.html")
    widths = chromium.execute_script(
        "return [...document.querySelectorAll('svg.chart')].map((each) => each.getBoundingClientRect().width)"
    )
    assert widths[0] > 600


def test_an_enumeration_says_how_many_optima_there_are() -> None:
    options = resolve_enumeration({"max_length": 4}, None)
    found = enumerate_topics(TOPICS[:2], options, None, details=True)
    gathered = gather(result.to_row() for results in found for result in results)
    assert [what for _, what, _ in tiles_of(gathered)] == [
        "mean oracle", "tied optima (median)", "topics with a single optimum",
    ]  # fmt: skip
    assert charts_of(gathered)[0].title == "Number of optima"
    assert charts_of(gathered)[0].series[0][-1][1] == 1.0


FAR = {
    "lengths": "",
    "complete": True,
    "termination": "",
    "solves": 1,
    "steps": [{"from": 1e300, "to": 1e300, "objective": 1}],
}


@pytest.mark.parametrize("strange", [3, {"steps": 3}, {"steps": [3]}, FAR, {**FAR, "greedy": [{"from": "x", "to": 1}]}])
def test_a_frontier_that_is_none_is_not_drawn(strange: object) -> None:
    row = json.loads(json.dumps({**frontier()[0], "frontier": strange}))
    assert "Value against length" not in [chart.title for chart in charts_of(gather([row]))]
    assert "maximum lengths" not in sentences_of(gather([row]))[0]
