"""pytest's way in: hooks and fixtures, a few lines each; without `--opcost` it only skips.

Every pytest run loads this file, `declared` and `fixtures`, whether or not anybody asks for opcost: they import what
pytest has imported, and no more. `tests/benchmarks/startup.py` tells what they cost.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost import declared

if TYPE_CHECKING:
    from collections.abc import Generator

    import torch

    from pytest_opcost.api import Opcost
    from pytest_opcost.options import Options

pytest_plugins = ("pytest_opcost.fixtures",)

OPTIONS: pytest.StashKey[Options] = pytest.StashKey()
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
    words = [str(arg) for arg in args]  # a script may hand paths to `pytest.main`
    given = any(word.startswith("--opcost") for word in words)
    if given:
        # Kineto reads this when torch is first imported, which a conftest may do.
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    if "PYTEST_XDIST_WORKER" in os.environ and (given or early_config.getini("opcost")):
        from pytest_opcost import cards

        cards.turn_cards([*words, *(early_config.getini("opcost_device") or ())])
    result = yield
    if declared.needs_device_alias(words):
        early_config.stash[_FOREIGN_DEVICE] = not declared.add_device_alias(parser)
    return result


_FOREIGN_DEVICE = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if not declared.anything_given(config):
        return
    from pytest_opcost.errors import OpcostError

    try:
        opts = options_of(config)
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

        config.pluginmanager.register(run := Run(config, opts), "opcost-run")
        if opts.github and not run.is_worker:
            from pytest_opcost.github import GitHub

            config.pluginmanager.register(GitHub(run), "opcost-github")
    else:
        config.stash[_WITHOUT_EFFECT] = declared.without_effect(config.invocation_params.args)


_WITHOUT_EFFECT = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if names := config.stash.get(_WITHOUT_EFFECT, None):
        # No warning, which -W error would turn into a failure.
        terminalreporter.write_line(f"opcost: no effect without --opcost: {', '.join(names)}", yellow=True)


def options_of(config: pytest.Config) -> Options:
    """The options of the run, read when they are first asked for. Raises OptionError for those that make no sense."""
    if OPTIONS not in config.stash:
        from pytest_opcost.options import read_options

        config.stash[OPTIONS] = read_options(config)
    return config.stash[OPTIONS]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if not {"opcost_device", "opcost_batch_size"}.intersection(metafunc.fixturenames):
        return
    opts = options_of(metafunc.config)
    own = {name for mark in metafunc.definition.iter_markers("parametrize") for name in _argnames(mark)}
    for fixture, values in (("opcost_device", opts.devices), ("opcost_batch_size", opts.batch_sizes)):
        if fixture in metafunc.fixturenames and fixture not in own:
            metafunc.parametrize(fixture, values, indirect=True, scope="session")


def _argnames(mark: pytest.Mark) -> list[str]:
    names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _is_marked(item: pytest.Item) -> bool:
    return item.get_closest_marker("opcost") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    opts = config.stash.get(OPTIONS, None)
    if opts is not None and opts.enabled:
        return
    skip = pytest.mark.skip(reason="measures operator costs: needs --opcost")
    for item in items:
        if _is_marked(item) or "opcost" in getattr(item, "fixturenames", ()) or _is_refused(item):
            item.add_marker(skip)


def _is_refused(item: pytest.Item) -> bool:
    if not hasattr(getattr(item, "cls", None), "assertEqual"):  # as a unittest.TestCase has
        return False
    from pytest_opcost.unittests import asked_in_vain

    return bool(asked_in_vain(item))


@pytest.fixture(scope="session")
def opcost_device(request: pytest.FixtureRequest) -> torch.device:
    """The device of this run of the test: one of those given with --opcost-device (--device)."""
    device: str = _parameter(request)
    import torch

    return torch.device(device)


@pytest.fixture(scope="session")
def opcost_batch_size(request: pytest.FixtureRequest) -> int:
    """The batch size of this run of the test: one of those given with --opcost-batch-size."""
    size: int = _parameter(request)
    return size


def _parameter(request: pytest.FixtureRequest) -> Any:
    if hasattr(request, "param"):
        return request.param
    name = request.fixturename
    return pytest.fail(
        f"{name} is a parameter of the test, and this one does not take it by its name, or cannot have parameters.\n"
        f"Expected: a function, or a method of a class that is no unittest.TestCase, with {name} among its arguments "
        "or those of its fixtures.",
        pytrace=False,
    )


@pytest.fixture
def opcost(request: pytest.FixtureRequest) -> Opcost:
    """Measures a step and compares its operator costs with the baseline: `opcost.check(step)`."""
    from pytest_opcost.run import Run

    run = request.config.pluginmanager.get_plugin("opcost-run")
    if not isinstance(run, Run):
        pytest.skip("measures operator costs: needs --opcost")
    return run.opcost_for(request.node)
