"""Measure the size and time of a page of many topics, with repeated rows; or make a picture of a topic.

    optsum compare TOPICS --strategies greedy,lead --max-length 100 --details -o rows.jsonl
    python benchmarks/page.py rows.jsonl --topics 2000
    python benchmarks/page.py rows.jsonl --picture page.png --at "#topic=ID&strategy=greedy"

Needs Chromium and its driver.
"""

from __future__ import annotations

import argparse
import base64
import shutil
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from optsum import write_page
from optsum.corpus.row_files import read_rows


def browser() -> Any:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1200"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def repeated(rows: list[dict[str, Any]], topics: int) -> list[dict[str, Any]]:
    each = len({row["id"] for row in rows})
    copies = ([{**row, "id": f"{row['id']} {number}"} for row in rows] for number in count())
    return [row for copy in islice(copies, -(-topics // each)) for row in copy]


def measure(rows: list[dict[str, Any]], topics: int) -> None:
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        began = process_time()
        write_page(repeated(rows, topics), page)
        print(f"{topics} topics: written in {process_time() - began:.1f} s of CPU, {page.stat().st_size / 1e6:.1f} MB")
        chromium = browser()
        for _ in range(5):
            chromium.get("about:blank")
            began = perf_counter()
            chromium.get(f"file://{page}")
            print(f"opened in {perf_counter() - began:.2f} s")
        chromium.quit()


def picture(rows: list[dict[str, Any]], output: Path, address: str) -> None:
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        write_page(rows, page)
        chromium = browser()
        chromium.get(f"file://{page}{address}")
        chromium.set_script_timeout(20)
        chromium.execute_async_script("setTimeout(arguments[0], 500)")
        clip = {"x": 0, "y": 0, "width": 1400, "height": 1000, "scale": 1}
        shot = chromium.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
        output.write_bytes(base64.b64decode(shot["data"]))
        chromium.quit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("--topics", type=int, default=2000)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--at", default="")
    given = parser.parse_args()
    found = list(read_rows(given.rows))
    if given.picture:
        picture(found, given.picture, given.at)
    else:
        measure(found, given.topics)
