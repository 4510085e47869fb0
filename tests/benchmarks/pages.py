"""How fast the page is with 20 and with 500 tests: python tests/benchmarks/pages.py [-n 500]

Writing it, its size on disk, and in headless Chromium, in the median of some turns, both sizes in turn: opening it till
it is painted, sorting its verdicts, finding a test by a few letters and all tests again. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright
from tabulate import tabulate

from pytest_opcost.report.page import write_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from made_up import many

FEW, TURNS = 20, 5
#: Resolves when the browser has drawn what the call before it changed.
_PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def opened(page: Page, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    page.evaluate(_PAINTED)


def sorted_by_step(page: Page, _: Path) -> None:
    page.locator("table.verdicts").get_by_role("button", name="Step").click()
    page.evaluate(_PAINTED)


def filtered(page: Page, _: Path) -> None:
    page.get_by_role("searchbox").fill("[cuda-4]")
    page.evaluate(_PAINTED)
    page.get_by_role("searchbox").fill("")


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the page is with 20 and with many tests.")
    parser.add_argument("-n", type=int, default=500, help="tests of the large page (default: 500)")
    count = parser.parse_args().n
    if count <= FEW:
        parser.error(f"-n {count}: more than {FEW}, which they are set beside")
    if (chrome := shutil.which("chromium")) is None:
        sys.exit("no chromium on the path: apt-get install chromium")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        rows: dict[str, list[float]] = {"writing, s": [], "on disk, MB": []}
        folders = {number: Path(scratch) / str(number) for number in (FEW, count)}
        for number, folder in folders.items():
            run = many(number)
            rows["writing, s"].append(seconds(lambda folder=folder, run=run: write_page(folder, run)))  # type: ignore[misc]
            rows["on disk, MB"].append(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6)
        chromium = playwright.chromium.launch(executable_path=chrome, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1400, "height": 1000})
        actions = {"opening, s": opened, "sorting, s": sorted_by_step, "finding a test, s": filtered}
        taken: dict[tuple[str, int], list[float]] = {}
        for number, folder in list(folders.items()) * TURNS:
            for name, action in actions.items():
                taken.setdefault((name, number), []).append(seconds(lambda: action(page, folder)))  # noqa: B023
        rows |= {name: [statistics.median(taken[name, number]) for number in folders] for name in actions}
        chromium.close()
    table = [(name, few, more, more / few) for name, (few, more) in rows.items()]
    print(tabulate(table, ("", f"{FEW} tests", f"{count} tests", "times"), floatfmt=".3g"))


if __name__ == "__main__":
    main()
