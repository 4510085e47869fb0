"""Takes the README's pictures of TensorBoard: python examples/pictures/take.py LOGDIR [FOLDER]

LOGDIR is what `--opcost-tensorboard` wrote; needs Chromium, playwright and Pillow.
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


def main(logdir: str, folder: str = str(Path(__file__).parent)) -> None:
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
                # A palette of 64 colours makes a screenshot a third as large, and nobody sees it.
                shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(64)
                shot.save(Path(folder) / f"tensorboard-{name}.png", optimize=True)
        finally:
            server.terminate()


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
