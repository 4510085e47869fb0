"""pytest's way in: hooks and fixtures, a few lines each. Imports nothing heavy; without `--opcost` it only skips."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost import cards, declared, options
from pytest_opcost.errors import OpcostError

if TYPE_CHECKING:
    from collections.abc import Generator

    import torch

    from pytest_opcost.api import Opcost

pytest_plugins = ("pytest_opcost.fixtures",)

OPTIONS = pytest.StashKey[options.Options]()
#: `sys.path` before any conftest was loaded.
START_PATH = pytest.StashKey[tuple[str, ...]]()

_MARKER = (
    "opcost(top=10, ratios={'conv/addmm': 0.10}, tolerance=None, floor=None, warmup=5, steps=None, on_drift='fail', "
    "fail_on='dearer'): how this test's operator costs are measured and judged; the test is skipped without --opcost."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    declared.add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    early_config.stash[START_PATH] = tuple(sys.path)
    words = list(map(str, args))  # a script may hand paths to pytest
    given = any(word.startswith("--opcost") for word in words)
    if given:
        # Kineto reads this when torch is first imported, which a conftest may do.
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    if "PYTEST_XDIST_WORKER" in os.environ and (given or early_config.getini("opcost")):
        cards.turn_cards([*words, *(early_config.getini("opcost_device") or ())])
    result = yield
    early_config.stash[_FOREIGN_DEVICE] = not declared.add_device_alias(parser)
    return result


_FOREIGN_DEVICE = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    try:
        config.stash[OPTIONS] = opts = options.read_options(config)
    except OpcostError as error:
        raise pytest.UsageError(str(error)) from None
    foreign = config.stash.get(_FOREIGN_DEVICE, False) and config.getoption("--device", None)
    if opts.enabled and foreign and not config.getoption("opcost_device"):
        raise pytest.UsageError(
            f"--device={foreign} belongs to another plugin or conftest here, so opcost does not see it.\n"
            f"Run: pytest --opcost --opcost-device={foreign}"
        )
    if opts.enabled or opts.prune:
        from pytest_opcost.run import Run

        config.pluginmanager.register(Run(config, opts), "opcost-run")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    opts = metafunc.config.stash[OPTIONS]
    own = {name for mark in metafunc.definition.iter_markers("parametrize") for name in _argnames(mark)}
    for fixture, values in (("opcost_device", opts.devices), ("opcost_batch_size", opts.batch_sizes)):
        if fixture in metafunc.fixturenames and fixture not in own:
            metafunc.parametrize(fixture, values, indirect=True, scope="session")


def _argnames(mark: pytest.Mark) -> list[str]:
    names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A mistaken marker is an error of collecting its file, which pytest-xdist tells as well as pytest itself does."""
    report = yield
    try:
        for item in report.result or ():
            if isinstance(item, pytest.Item):
                options.marker_options(item, collector.config.stash[OPTIONS].check)
    except OpcostError as error:
        report.outcome, report.longrepr, report.result = "failed", str(error), []
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash[OPTIONS].enabled:
        return
    skip = pytest.mark.skip(reason="measures operator costs: needs --opcost")
    for item in items:
        if item.get_closest_marker("opcost") is not None or "opcost" in getattr(item, "fixturenames", ()):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def opcost_device(request: pytest.FixtureRequest) -> torch.device:
    """The device of this run of the test: one of those given with --opcost-device (--device)."""
    import torch

    return torch.device(request.param)


@pytest.fixture(scope="session")
def opcost_batch_size(request: pytest.FixtureRequest) -> int:
    """The batch size of this run of the test: one of those given with --opcost-batch-size."""
    size: int = request.param
    return size


@pytest.fixture
def opcost(request: pytest.FixtureRequest) -> Opcost:
    """Measures a step and compares its operator costs with the baseline: `opcost.check(step)`."""
    from pytest_opcost.run import Run

    run = request.config.pluginmanager.get_plugin("opcost-run")
    if not isinstance(run, Run):
        pytest.skip("measures operator costs: needs --opcost")
    return run.opcost_for(request.node)
