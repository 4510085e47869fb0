"""A real TensorBoard server on a folder of event files, looked at with a real browser.

With OPCOST_SCREENSHOTS=FOLDER in the environment the screenshots are kept there.
"""

from __future__ import annotations

import math
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost.costs import CostProfile, Environment, OpCost, with_ops
from pytest_opcost.facts import Place
from pytest_opcost.families import family_of
from pytest_opcost.flow import DataFlow, FlowNode
from pytest_opcost.judge import Outcome, Verdict
from pytest_opcost.results import CheckResult, RunResults, Subject
from pytest_opcost.training import Training
from pytest_opcost.workloads.source import SAMPLE_FOLDER, MnistSource, Origin

pytest.importorskip("tensorboard")
pytest.importorskip("PIL")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import sync_playwright

from pytest_opcost.report.tensorboard import write_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")

_SERVER_STARTS_S = 60.0
_PAGE_SHOWS_MS = 90_000.0

_CPU = Environment("cpu", "Chip A", "x86_64 AVX512", "2.9.1+cpu", 1, "quiet")
_STEP = {"aten::mkldnn_convolution": 400.0, "aten::addmm": 100.0, "aten::relu": 50.0}
_FLOW = DataFlow(
    (
        FlowNode("input", "input", Place("forward", "conv1"), "f32[16,1,28,28]"),
        FlowNode("aten::convolution", "conv", Place("forward", "conv1"), "f32[16,32,26,26]", 400.0),
        FlowNode("aten::relu", "elementwise", Place("forward", "Net"), "f32[16,32,26,26]", 50.0),
        FlowNode("aten::addmm", "addmm", Place("forward", "fc1"), "f32[16,10]", 100.0),
        FlowNode("aten::mm", "addmm", Place("backward", "fc1"), "f32[10,32]", 100.0),
    ),
    ((0, 1), (1, 2), (2, 3), (3, 4)),
)


def _profile(factor: float) -> CostProfile:
    ops = (OpCost(name, family_of(name), 1, factor * us, 0.0, 0.0) for name, us in _STEP.items())
    return replace(with_ops(CostProfile(_CPU, 30, (), 1.2 * factor * 550, 0.0, 0.0), ops), flow=_FLOW)


def _check(size: int, factor: float) -> CheckResult:
    profile = _profile(factor * size / 16)
    return CheckResult(
        Subject(f"test_net.py::test_train[cpu-{size}]", None, "test_net.py::test_train", "cpu", size),
        profile, Verdict(Outcome.PASSED), {"conv/addmm": 4.0 * factor}, "", {}, True, 10,
    )  # fmt: skip


def _training(size: int) -> Training:
    steps = tuple(range(10, 210, 10))
    return Training(
        "test_net.py::test_trains", "LeNet", "cpu", size, 1, 200 * size, 500, _CPU, "MNIST", "eager",
        (("optimizer", "Adadelta"), ("learning rate", "1.0")), steps,
        tuple(2.3 * math.exp(-step / (2 * size + 40)) for step in steps),
        tuple(1 - 0.9 * math.exp(-step / (2 * size + 40)) for step in steps),
        (0.1,), (0.97,), (2.0,),
    )  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a TensorBoard that shows three runs of two configurations."""
    folder = tmp_path_factory.mktemp("tb")
    images = MnistSource(SAMPLE_FOLDER, Origin.SAMPLE).first_images()
    for run, factor in enumerate((1.0, 1.02, 1.3)):
        checks, trainings = [_check(size, factor) for size in (16, 64)], [_training(size) for size in (16, 64)]
        write_events(folder, RunResults([_CPU], checks, trainings, f"2026-11-28T10:0{run}:00+00:00", images))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tensorboard.main", f"--logdir={folder}", "--host=127.0.0.1", f"--port={port}"]
    with (folder / "server.txt").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait_for(address, process)
            yield address
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _SERVER_STARTS_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            # Until it has read the folder it answers that there are no runs.
            with urllib.request.urlopen(f"{address}/data/runs") as answer:
                if answer.read() != b"[]":
                    return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"TensorBoard did not show the folder within {_SERVER_STARTS_S:.0f} s")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def view(browser: Any, server: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Opens one of TensorBoard's views; the test fails where a script of it did, a screenshot is taken at its end."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(_PAGE_SHOWS_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def opened(name: str) -> Any:
        page.goto(f"{server}/#{name}")
        return page

    yield opened
    kept = Path(os.environ.get("OPCOST_SCREENSHOTS") or tmp_path)
    page.screenshot(path=kept / f"{request.node.name.removeprefix('test_')}.png")
    page.close()
    assert errors == []


def _until(page: Any, holds: Callable[[], bool]) -> None:
    """Wait until something holds of the page; the test fails where it does not in time."""
    end = time.monotonic() + _PAGE_SHOWS_MS / 1000
    while not holds():
        assert time.monotonic() < end
        page.wait_for_timeout(100.0)


def test_scalars(view: Any) -> None:
    page = view("scalars&tagFilter=ratio%7Ctraining%2C")
    for tag in ("ratio/conv/addmm", "training, by step/loss", "training, by step/accuracy"):
        page.get_by_text(tag, exact=True).first.wait_for()
    for run in ("costs/test_net.py/test_train/batch-64-cpu-chip-a", "training/run-0003-2026-11-28t10-02-00"):
        page.get_by_text(run).first.wait_for()


def test_graph(view: Any) -> None:
    page = view("graphs")
    for node in ("conv1", "relu", "fc1", "backward"):
        page.locator("svg text", has_text=node).first.wait_for()


def test_images(view: Any) -> None:
    page = view("images")
    pictures = page.locator("img[src*=individualImage]")
    # The phases of two configurations, and the grid: eight images in a row, and gaps.
    _until(page, lambda: sorted(pictures.evaluate_all("all => all.map(one => one.naturalWidth)"))[:1] == [242])
    assert pictures.count() == 3


def test_text(view: Any) -> None:
    page = view("text")
    cell = page.locator("td code", has_text="aten::mkldnn_convolution").first
    cell.wait_for()
    assert cell.inner_text() == "aten::mkldnn_convolution"


def test_hyperparameters(view: Any) -> None:
    page = view("hparams")
    for name in ("batch size", "optimizer", "Adadelta"):
        page.get_by_text(name).first.wait_for()
    _until(page, lambda: page.get_by_text("training/run-000").count() == 6)
