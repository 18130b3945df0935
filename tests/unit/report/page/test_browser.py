"""Test the report page in a browser: filters, sorting, keys, printing, dark mode, narrow screens, no network."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_rows import SCRIPT, TOPICS, rows_of

from optsum import write_page

Look = Callable[..., Any]

FAULTS = (Path(__file__).parent / "faults.js").read_text(encoding="utf-8")
"""Returns what is without a name, points to nothing, stands there twice, or cannot be read for want of contrast."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(rows_of(), path, title=f"A title {SCRIPT}")
    return path


@pytest.fixture
def look(chromium: Any, page: Path) -> Iterator[Look]:
    """Return a function that opens the page at an address; the test fails on any console message or request."""
    logs: list[dict[str, Any]] = []
    chromium.get_log("browser"), chromium.get_log("performance")

    def opened(address: str = "", at: Path = page) -> Any:
        chromium.get("about:blank")
        chromium.get(f"file://{at}{address}")
        return chromium

    yield opened
    logs = chromium.get_log("browser")
    assert logs == []
    events = [json.loads(each["message"])["message"] for each in chromium.get_log("performance")]
    asked = {
        event["params"]["request"]["url"].partition("#")[0]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith("file:///")} <= {"about:blank"}
    assert len(asked) <= 2


def texts(browser: Any, selector: str) -> list[str]:
    return list(
        browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector
        )
    )


def topics(browser: Any) -> list[str]:
    return [text[:6] for text in texts(browser, "#lines th")]


def click(browser: Any, selector: str) -> None:
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def press(browser: Any, key: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(key).perform()


def wait(browser: Any, script: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20, 0.02).until(lambda each: each.execute_script(f"return {script}"))


def shown(browser: Any, name: str) -> None:
    wait(browser, f"document.querySelector('#topic h2')?.textContent === {json.dumps(name)}")


def test_the_overview_shows_counts_and_topics(look: Look) -> None:
    browser = look()
    assert texts(browser, ".tile .number")[2] == "0 of 3"
    assert topics(browser) == ["broken", "ties", "copies", "<scrip"]
    assert texts(browser, "#lines .error td")[0].startswith("error: ")
    assert len(texts(browser, "figure")) == len(texts(browser, "figure table")) >= 3


def test_topics_are_filtered_by_text_and_by_errors(look: Look) -> None:
    browser = look()
    browser.execute_script(
        "const field = document.querySelector('#filter'); field.value = 'IES'; field.dispatchEvent(new Event('input'))"
    )
    assert topics(browser) == ["ties", "copies"]
    assert texts(browser, "#count") == ["2 of 4 topics"]
    browser = look()
    click(browser, "[data-filter=error]")
    assert topics(browser) == ["broken"]
    assert browser.execute_script("return document.querySelector('[data-filter=error]').ariaPressed") == "true"
    click(browser, "[data-filter=error]")
    assert len(topics(browser)) == 4


def test_topics_are_sorted_both_ways_with_errors_first(look: Look) -> None:
    browser = look()
    click(browser, "th[data-column='0'] button")
    assert topics(browser) == ["broken", "<scrip", "copies", "ties"]
    click(browser, "th[data-column='0'] button")
    assert topics(browser) == ["broken", "ties", "copies", "<scrip"]
    click(browser, "th[data-column='1'] button")
    assert topics(browser) == ["broken", "ties", "copies", "<scrip"]
    heads = browser.execute_script("return [...document.querySelectorAll('#table th')].map((each) => each.ariaSort)")
    assert heads[:2] == [None, "descending"]


def test_a_topic_is_opened_and_closed_by_key_and_by_address(look: Look) -> None:
    browser = look()
    for name in ("broken", "ties", "copies"):
        press(browser, "j")
        shown(browser, name)
    press(browser, "k")
    shown(browser, "ties")
    assert "topic=ties" in browser.current_url
    press(browser, "\ue00c")
    wait(browser, "document.querySelector('#topic').hidden")
    assert browser.execute_script("return document.activeElement.textContent") == "ties"


def test_strategies_and_optima_are_switched_and_the_address_says_so(look: Look) -> None:
    browser = look("#topic=ties&strategy=branch-and-bound&optimum=1")
    shown(browser, "ties")
    seen = set()
    for number in range(5):
        assert f"optimum {number + 1} of 5" in texts(browser, "#optimum")[0]
        chosen = browser.execute_script(
            "return [...document.querySelectorAll('.sentence.chosen')].map((each) => Number(each.dataset.sentence))"
        )
        seen.add(tuple(chosen))
        press(browser, "l")
        wait(browser, f"!document.querySelector('#optimum').textContent.includes('optimum {number + 1} of')")
    assert seen == {(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)}
    press(browser, "h")
    wait(browser, "document.querySelector('#optimum').textContent.includes('optimum 5 of 5')")
    press(browser, "2")
    wait(browser, "document.querySelector('[role=tab][aria-selected=true]').textContent.includes('greedy')")
    assert browser.current_url.endswith("#topic=ties&strategy=greedy&optimum=5")
    kinds = browser.execute_script(
        "return [...document.querySelectorAll('.sentence')].map((each) => each.classList[1]).join(' ')"
    )
    again = look("#topic=ties&strategy=greedy&optimum=5")
    shown(again, "ties")
    assert kinds == again.execute_script(
        "return [...document.querySelectorAll('.sentence')].map((each) => each.classList[1]).join(' ')"
    )


def test_a_strategy_is_held_against_the_optimum_that_shares_most_with_its_choice(look: Look) -> None:
    browser = look("#topic=ties&strategy=greedy")
    shown(browser, "ties")
    assert len(texts(browser, ".sentence.chosen")) == 2  # greedy found an optimum here, which is the one compared with
    assert not texts(browser, ".sentence.missed, .sentence.only")


def test_covered_words_add_up_to_the_references(look: Look) -> None:
    browser = look("#topic=copies&strategy=greedy")
    shown(browser, "copies")
    row = next(row for row in rows_of(TOPICS[1:2]) if row["strategy"] == "greedy")
    (totals,) = texts(browser, "#totals")
    covered, left, out = (int(part.split()[-1]) for part in totals.split(", "))
    assert covered == row["numerator"]
    assert covered + left + out == row["denominator"]


def test_pointing_at_a_sentence_lights_what_it_covers(look: Look) -> None:
    browser = look("#topic=copies&strategy=branch-and-bound")
    shown(browser, "copies")
    browser.execute_script("document.querySelector('[data-sentence=\"1\"]').focus()")  # "a dog ran"
    assert sorted(texts(browser, ".references .lit")) == ["a", "dog", "ran"]
    browser.execute_script("document.querySelector('.references .word').focus()")  # "the"
    assert texts(browser, ".source .lit") == ["the", "the", "the"]
    assert texts(browser, "#live") == ["in 2 source sentences"]


def test_data_is_never_html(look: Look) -> None:
    browser = look()
    assert browser.title == f"A title {SCRIPT}"
    browser.execute_script("document.querySelectorAll('#lines a')[3].click()")
    shown(browser, SCRIPT)
    assert browser.title.endswith(f"A title {SCRIPT}")
    assert browser.execute_script("return document.querySelectorAll('img, script[src]').length") == 0
    assert SCRIPT in texts(browser, ".sentence .text")[0]
    wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0  # a word of 100,000 letters is broken


def test_scripts_in_the_data_do_not_run(look: Look, chromium: Any) -> None:
    browser = look()
    browser.execute_script(
        "const script = document.createElement('script'); script.textContent = \"document.title = 'owned'\";"
        "document.body.append(script)"
    )
    assert browser.title != "owned"
    assert "Content Security Policy" in "".join(each["message"] for each in chromium.get_log("browser"))


def test_dark_mode_follows_the_reader(look: Look) -> None:
    browser = look()

    def back() -> str:
        return str(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))

    light = back()
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert (light, back()) == ("rgb(255, 255, 255)", "rgb(22, 24, 26)")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_printed_page_has_all_topics_and_no_controls(look: Look) -> None:
    browser = look()
    size = {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}  # the size of a sheet of paper
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    right = browser.execute_script("return document.querySelector('.topics').getBoundingClientRect().right")
    hidden = browser.execute_script("return getComputedStyle(document.querySelector('#controls')).display")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert hidden == "none"
    assert right <= 720
    assert base64.b64decode(browser.print_page())[:5] == b"%PDF-"


@pytest.mark.parametrize("address", ["", "#topic=ties&strategy=greedy"])
def test_columns_stack_on_narrow_screens(look: Look, address: str) -> None:
    browser = look()
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser = look(address)
        if address:
            shown(browser, "ties")
            source, references = (
                browser.execute_script(f"return document.querySelector('{name}').getBoundingClientRect().toJSON()")
                for name in (".source", ".references")
            )
            assert references["top"] >= source["bottom"]
            click(browser, ".jump")
            assert browser.execute_script("return document.activeElement.matches('.references')")
            assert in_sight(browser, "#references-heading")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_what_is_chosen_and_what_is_covered_look_different_in_the_legend(look: Look) -> None:
    browser = look("#topic=ties")
    shown(browser, "ties")
    assert texts(browser, ".legend .sample.chosen") == ["●"]
    assert texts(browser, ".legend .sample.covered") == [""]
    assert browser.execute_script("return getComputedStyle(document.querySelector('.jump')).display") == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ["", "#topic=ties&strategy=greedy", "#topic=copies"])
def test_elements_are_named_labelled_and_legible(look: Look, address: str, scheme: str) -> None:
    browser = look()
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        browser = look(address)
        if address:
            shown(browser, address.partition("=")[2].partition("&")[0])
        assert browser.execute_script(FAULTS) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


LONG: dict[str, Any] = {
    "id": "a-meeting-whose-name-is-longer-than-forty-characters-are",
    "documents": [[*(f"w{place} uh" for place in range(300)), "the cat sat", *["hm"] * 40, "on the mat", "yes"]],
    "references": [["the cat sat on the mat"]],
}


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("meeting") / "page.html"
    write_page(rows_of([LONG, *TOPICS[:2]], max_length=6), path)
    return path


def in_sight(browser: Any, selector: str) -> bool:
    return bool(
        browser.execute_script(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return box.top >= 0 && box.bottom <= innerHeight",
            selector,
        )
    )


def test_a_long_meeting_begins_with_its_summary(look: Look, meeting: Path) -> None:
    browser = look(f"#topic={LONG['id']}&strategy=branch-and-bound", at=meeting)
    shown(browser, LONG["id"])
    assert texts(browser, ".summary li bdi") == ["the cat sat", "on the mat"]
    assert in_sight(browser, ".summary")
    assert in_sight(browser, '[data-sentence="300"]')
    top = browser.execute_script("return document.querySelector('.summary').getBoundingClientRect().top")
    assert top < 170  # little space is left above for tabs and values
    assert texts(browser, ".fold summary") == ["298 sentences, 0 to 297", "36 sentences, 303 to 338"]
    assert not browser.execute_script("return document.querySelector('[data-sentence=\"5\"]').checkVisibility()")
    browser.execute_script("document.querySelector('.fold summary').click()")
    assert browser.execute_script("return document.querySelector('[data-sentence=\"5\"]').checkVisibility()")


def test_keys_go_from_one_chosen_sentence_to_the_next(look: Look, meeting: Path) -> None:
    browser = look(f"#topic={LONG['id']}&strategy=branch-and-bound", at=meeting)
    shown(browser, LONG["id"])
    for key, number in (("n", "300"), ("n", "341"), ("n", "300"), ("p", "341"), ("p", "300")):
        press(browser, key)
        assert browser.execute_script("return document.activeElement.dataset.sentence") == number
        assert in_sight(browser, f'[data-sentence="{number}"]')
    click(browser, '[data-to="341"]')
    assert browser.execute_script("return document.activeElement.dataset.sentence") == "341"


def test_the_legend_is_behind_a_question_mark_and_stays_open(look: Look) -> None:
    browser = look("#topic=ties&strategy=greedy")
    shown(browser, "ties")
    assert not browser.execute_script("return document.querySelector('.legend').checkVisibility()")
    click(browser, ".explained summary")
    wait(browser, "document.querySelector('#topic .legend').checkVisibility()")
    press(browser, "j")
    shown(browser, "copies")
    assert browser.execute_script("return document.querySelector('#topic .legend').checkVisibility()")


def test_the_summary_is_copied(look: Look, meeting: Path) -> None:
    browser = look(f"#topic={LONG['id']}&strategy=branch-and-bound", at=meeting)
    shown(browser, LONG["id"])
    browser.execute_script(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }"
    )
    click(browser, "#copy")
    wait(browser, "document.querySelector('#copy').textContent === 'copied'")
    assert browser.execute_script("return window.copied") == "the cat sat\non the mat"


def test_the_table_is_saved_as_it_is_shown(look: Look) -> None:
    browser = look()
    click(browser, "th[data-column='0'] button")
    browser.execute_script(
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return '#'; };"
        "HTMLAnchorElement.prototype.click = function () { window.name_ = this.download; }"
    )
    click(browser, "#csv")
    wait(browser, "Boolean(window.saved)")
    rows = list(csv.DictReader(browser.execute_script("return window.saved").splitlines()))
    assert [row["topic"][:6] for row in rows] == topics(browser)
    assert browser.execute_script("return window.name_") == "topics.csv"
    assert rows[0]["error"]
    assert {float(row["greedy"]) for row in rows[1:]} <= {1.0}
    assert rows[1]["topic"] == SCRIPT  # quoted, with its comma and quotes


def test_a_ratio_is_sorted_by_the_lowest_first(look: Look) -> None:
    browser = look()
    place = texts(browser, "#table th bdi")[: len(texts(browser, "#table thead th"))].index("lead")
    click(browser, f"th[data-column='{place}'] button")
    ratios = [float(text) for text in texts(browser, f"#lines tr:not(.error) td:nth-child({place + 1}) .value")]
    assert ratios == sorted(ratios)


def test_a_long_name_does_not_make_its_line_higher(look: Look, meeting: Path) -> None:
    browser = look(at=meeting)
    heights = browser.execute_script(
        "return [...document.querySelectorAll('#lines tr')].map((each) => Math.round(each.offsetHeight))"
    )
    assert len(set(heights)) == 1


def test_help_opens_by_its_key(look: Look) -> None:
    browser = look()
    press(browser, "?")
    assert browser.execute_script("return document.querySelector('#help').open")
    press(browser, "\ue00c")
    assert not browser.execute_script("return document.querySelector('#help').open")
