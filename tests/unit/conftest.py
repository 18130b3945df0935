"""Chromium without a window and without a network, for what only a browser can say."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


def _missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser; CI always has one, a user's machine need not."""
    driver, program = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        _missing("the page is tried in a browser: pip install selenium")
    if driver is None or program is None:
        _missing("the page is tried in a browser: install chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(program)
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1000",
        "--host-resolver-rules=MAP * ~NOTFOUND",  # whatever the page asks for, it does not get it
        "--disable-background-networking",
        "--lang=en",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(str(driver)))
    yield browser
    browser.quit()
