"""What a reader does with a page, in a real browser; a process of its own, since the browser's loop would stay behind.

Prints what was found as JSON: python browsing.py FOLDER CHROMIUM
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST_COLUMN = "table => Array.from(table.tBodies[0].rows, row => row.cells[0].textContent)"
WIDER = "document.documentElement.scrollWidth - window.innerWidth"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def browse(page: Page, folder: Path) -> dict[str, Any]:
    """Sort a table, follow a link to a test that drifted, switch its view, change the theme, go back."""
    found: dict[str, Any] = {}
    page.goto((folder / "index.html").as_uri())
    found["title"] = page.title()
    verdicts = page.locator("table.verdicts")
    found["verdicts"] = verdicts.evaluate(FIRST_COLUMN)
    step = verdicts.get_by_role("button", name="Step")
    header = verdicts.get_by_role("columnheader", name="Step")
    step.focus()
    page.keyboard.press("Enter")
    values = "table => Array.from(table.tBodies[0].rows, row => Number(row.cells[4].dataset.value))"
    found["steps"] = [verdicts.evaluate(values)]
    found["sorted"] = [header.get_attribute("aria-sort")]
    step.click()
    found["steps"].append(verdicts.evaluate(values))
    found["sorted"].append(header.get_attribute("aria-sort"))
    found["sorted others"] = verdicts.locator("th[aria-sort]:not([aria-sort=none])").count()

    rows, families = verdicts.locator("tbody tr"), page.locator(".family")
    visible = "all => all.filter(one => one.checkVisibility()).length"
    search = page.get_by_role("searchbox", name="Find a test")
    found["found"] = []
    for words in ("", "[cuda-4]", "CPU 4]", "nowhere"):
        search.fill(words)
        told = page.get_by_role("status").inner_text()
        found["found"].append([rows.evaluate_all(visible), families.evaluate_all(visible), told])
    search.fill("")

    page.get_by_role("link", name="[cuda-4]").first.click()
    section = page.locator("details.test:target")
    found["section"] = section.locator("h3").inner_text()
    found["open"] = section.evaluate("one => one.open")
    closed = page.locator("details.test:not([open])").first
    page.evaluate("id => { location.hash = id; }", closed.get_attribute("id"))
    page.wait_for_function("document.querySelector('details.test:target')?.open")

    tabs = page.locator("details.test[open] [role=tablist]").first
    panels = tabs.locator("xpath=..").locator("[role=tabpanel]")
    shown = "all => all.map(one => one.checkVisibility())"
    found["views"] = [panels.evaluate_all(shown)]
    tabs.get_by_role("tab", name="CPU view").click()
    found["views"].append(panels.evaluate_all(shown))
    page.keyboard.press("ArrowRight")
    found["views"].append(panels.evaluate_all(shown))
    found["focus"] = page.evaluate("document.activeElement.textContent")

    kernels = page.locator("details.test[open] details.more summary").first
    kernels.click()
    found["kernels"] = page.get_by_text("cutlass::gemm").first.is_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Trace of the last measured step").first.click()
    found["trace"] = "traceEvents" in json.loads(gzip.decompress(Path(download.value.path()).read_bytes()))

    found["backgrounds"] = [page.evaluate(BACKGROUND)]
    page.get_by_role("button", name="theme").click()
    found["backgrounds"].append(page.evaluate(BACKGROUND))
    page.reload()
    found["backgrounds"].append(page.evaluate(BACKGROUND))
    page.emulate_media(media="print")
    found["backgrounds"].append(page.evaluate(BACKGROUND))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    found["closed on paper"] = page.locator("details.test:not([open])").count()
    page.emulate_media(media="screen")

    page.get_by_role("link", name="Operator costs").click()
    page.wait_for_url("**/index.html")
    found["back"] = page.url.rpartition("/")[2]
    page.keyboard.press("Tab")
    found["first stop"] = page.evaluate("document.activeElement.textContent")
    return found


def main(folder: Path, chromium: str) -> None:
    complaints: list[str] = []
    requests: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light").new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        found = browse(page, folder)
        wider = {}
        for width in (1400, 400):
            page.set_viewport_size({"width": width, "height": 900})
            for path in (folder / "index.html", *sorted(folder.glob("pages-*/*.html"))):
                page.goto(path.as_uri())
                page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
                wider[f"{width} {path.name}"] = page.evaluate(WIDER)
        browser.close()
    network = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    print(json.dumps({**found, "wider": wider, "complaints": complaints, "network": network}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
