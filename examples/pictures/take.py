"""Takes the README's pictures: python examples/pictures/take.py LOGDIR|PAGE.html [FOLDER]

LOGDIR is what `--opcost-tensorboard` wrote, PAGE.html one test's page that `--opcost-html` wrote; needs Chromium,
playwright and Pillow.
"""

from __future__ import annotations

import io
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Page, sync_playwright

SIZE = {"width": 1200, "height": 800}
#: As much of a page as shows what it is, below the line at its top, in points, and how wide that is in the README.
PAGE_TOP, PAGE_HEIGHT, PAGE_WIDTH = 60, 2890, 700


def main(source: str, folder: str = str(Path(__file__).parent)) -> None:
    if source.endswith(".html"):
        take_page(Path(source), Path(folder))
    else:
        take_tensorboard(source, Path(folder))


def take_page(html: Path, folder: Path) -> None:
    """The beginning of one test's page."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport=SIZE)
        page.goto(html.resolve().as_uri())
        shot = Image.open(io.BytesIO(page.screenshot(full_page=True)))
        shot = shot.crop((0, PAGE_TOP, shot.width, min(PAGE_TOP + PAGE_HEIGHT, shot.height)))
        height = shot.height * PAGE_WIDTH // shot.width
        save(shot.resize((PAGE_WIDTH, height), Image.Resampling.LANCZOS), folder / "page.png")


def take_tensorboard(logdir: str, folder: Path) -> None:
    """The graph and the scalars of a TensorBoard server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tensorboard.main", f"--logdir={logdir}", "--host=127.0.0.1", f"--port={port}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server, sync_playwright() as playwright:
        try:
            runs = runs_at(f"http://127.0.0.1:{port}/data/runs")
            chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = chromium.new_page(viewport=SIZE)
            shown = next((run for run in runs if "test_lenet.py/test_train/batch-64" in run), runs[0])
            for name, take in (("graph", graph), ("scalars", scalars)):
                take(page, f"http://127.0.0.1:{port}/", shown)
                save(Image.open(io.BytesIO(page.screenshot())), folder / f"tensorboard-{name}.png")
        finally:
            server.terminate()


def save(shot: Image.Image, path: Path) -> None:
    # A palette of 64 colours makes a screenshot a third as large, and nobody sees it.
    shot.convert("RGB").quantize(64).save(path, optimize=True)


def graph(page: Page, address: str, run: str) -> None:
    """The data flow of one run folder, coloured by compute time."""
    page.goto(f"{address}#graphs")
    page.locator("svg text", has_text="conv1").first.wait_for()
    page.locator("paper-dropdown-menu").first.click()
    page.locator("paper-item", has_text=run).first.click()
    page.wait_for_timeout(2000)
    page.locator("paper-dropdown-menu").last.click()
    page.get_by_text("self time of one step").last.click()
    page.wait_for_timeout(2000)  # until what moves stands still
    page.get_by_text("Compute time").first.click()
    page.get_by_text("Fit to screen").click()
    page.wait_for_timeout(2000)


def scalars(page: Page, address: str, run: str) -> None:
    """Loss and accuracy of the trainings, and the ratio of one test from run to run."""
    shown = quote(f"^training|{run.rpartition('/')[0]}/", safe="")
    tags = quote("ratio.*addmm$|training,", safe="")
    page.goto(f"{address}#scalars&_smoothingWeight=0&regexInput={shown}&tagFilter={tags}")
    page.get_by_text("ratio/conv/addmm", exact=True).first.wait_for()
    page.wait_for_timeout(2000)


def runs_at(address: str) -> list[str]:
    """The run folders, as soon as TensorBoard has read them."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(address) as answer:
                if runs := json.load(answer):
                    return sorted(runs)
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit("TensorBoard found no runs there")


if __name__ == "__main__":
    main(*sys.argv[1:])
