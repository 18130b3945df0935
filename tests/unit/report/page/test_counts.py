"""Check that the page counts the hits of every strategy as the search did, for many objectives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from page_rows import rows_of

from optsum import write_page

WORDS = ["the", "cat", "cats", "sat", "on", "a", "mat", "and", "ran", "running", "to", "end"]

WAYS: list[dict[str, Any]] = [
    {"metric": "rouge-1"},
    {"metric": "rouge-2", "max_length": 12},
    {"metric": "rouge-3", "max_length": 14},
    {"metric": "rouge-su2", "max_length": 12},
    {"metric": "rouge-su0"},
    {"metric": "rouge-1", "stem": True, "stopwords": "drop"},
    {"metric": "rouge-2", "boundaries": "joined", "max_length": 12},
    {"metric": "rouge-1", "counts": "set"},
    {"metric": "rouge-1", "model_units": "sentences"},
    {"metric": "rouge-1", "references": "best"},
    {"metric": "rouge-2", "references": "each"},
    {"metric": "rouge-1", "measure": "precision"},
]

_SHOWN = """
const text = (selector) => document.querySelector(selector)?.textContent;
return [text('#topic h2'), text('[role=tab][aria-selected=true] bdi')];
"""


def some_topics(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)  # noqa: S311

    def text(sentences: int) -> list[str]:
        return [" ".join(rng.choices(WORDS, k=rng.randint(2, 5))).capitalize() + "." for _ in range(sentences)]

    return [
        {"id": f"{seed}-{number}", "documents": [text(4), text(2)], "references": [text(2), text(1)]}
        for number in range(4)
    ]


@pytest.mark.slow
def test_hits_are_those_of_the_search(chromium: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    rows = [
        row for way, options in enumerate(WAYS) for row in rows_of(some_topics(way), **{"max_length": 8, **options})
    ]
    write_page(rows, tmp_path / "page.html")
    read = 0
    for row in rows:
        if row["numerator"] is None:
            continue
        address = urlencode({"topic": row["id"], "strategy": row["strategy"]})
        chromium.get(f"file://{tmp_path}/page.html#{address}")
        WebDriverWait(chromium, 20, 0.01).until(
            lambda browser, row=row: browser.execute_script(_SHOWN) == [row["id"], row["strategy"]]
        )
        totals = chromium.execute_script("return document.querySelector('#totals').textContent")
        covered, left, out = (int(part.split()[-1]) for part in totals.split(", "))
        options = WAYS[int(row["id"].partition("-")[0])]
        assert covered == row["numerator"], (row["id"], options)
        if options.get("measure", "recall") == "recall":
            assert covered + left + out == row["denominator"], (row["id"], options)
        read += 1
    assert read >= 100


@pytest.mark.slow
def test_two_thousand_topics_are_one_page(chromium: Any, tmp_path: Path) -> None:
    rng = random.Random(0)  # noqa: S311
    vocabulary = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 10))) for _ in range(20_000)]
    (one, *others) = rows_of(some_topics(0)[:1], max_length=8)
    rows = []
    for number in range(2000):
        document = [" ".join(rng.choices(vocabulary, k=22)) for _ in range(15)]
        details = {**one["details"], "documents": [document], "references": [document[:3]]}
        rows += [{**row, "id": f"topic {number}"} for row in ({**one, "details": details}, *others)]
    write_page(rows, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 15e6  # random words compress worse than any language
    chromium.get(f"file://{tmp_path}/page.html")
    assert len(chromium.execute_script("return document.querySelectorAll('#lines tr')")) < 200
    script = "return performance.getEntriesByType('navigation')[0].domComplete"
    assert chromium.execute_script(script) < 20_000  # ms; 500 on a quiet machine
