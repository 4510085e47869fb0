"""pytest's way in: hooks and fixtures, a few lines each; without `--opcost` it only skips.

Every pytest run loads this file, whether or not anybody asks for opcost: it imports what pytest has imported, and no
more, and declares its options only where one of them may stand on the command line or in the ini file. pytest looks at
every name in here, so what only opcost tests need is in `collecting` and `lab`. `tests/benchmarks/startup.py` tells
what it costs.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    import torch

    from pytest_opcost.api import Opcost
    from pytest_opcost.options import Options
    from pytest_opcost.training import Training
    from pytest_opcost.workloads.mnist import Mnist
    from pytest_opcost.workloads.models import LeNet, LeNet5

OPTIONS: pytest.StashKey[Options] = pytest.StashKey()
#: `sys.path` before any conftest was loaded.
START_PATH: pytest.StashKey[tuple[str, ...]] = pytest.StashKey()
#: Whether pytest was told of the options.
_DECLARED: pytest.StashKey[bool] = pytest.StashKey()

_MARKER = (
    "opcost(top=10, ratios={'conv/addmm': 0.10}, tolerance=None, floor=None, warmup=5, steps=None, on_drift='fail', "
    "fail_on='dearer'): how this test's operator costs are measured and judged; the test is skipped without --opcost."
)
GROUP = "opcost"
FLAGS: tuple[tuple[str, str], ...] = (
    ("opcost", "measure the opcost tests and compare them with their baselines"),
    ("opcost-update-baselines", "write the baselines of every test that passes (implies --opcost)"),
    ("opcost-update-missing", "write only the baselines that do not exist yet (implies --opcost)"),
    ("opcost-add-rounds", "add this session's fresh processes to the baselines that hold (implies --opcost)"),
    ("opcost-prune-baselines", "remove the baselines whose test no longer exists"),
)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    add_flags(parser)  # always, since a conftest may well ask for them
    config: Any = pluginmanager.get_plugin("pytestconfig")
    if _may_be_asked_for(config):
        _declare(config, parser)


def add_flags(parser: pytest.Parser) -> None:
    """Declare the options that take no value."""
    group = parser.getgroup(GROUP, "operator-cost regression (pytest-opcost)")
    for name, text in FLAGS:
        group.addoption(f"--{name}", action="store_true", default=None, dest=name.replace("-", "_"), help=text)


def _may_be_asked_for(config: pytest.Config) -> bool:
    """Whether one of our options may stand anywhere; declaring them takes longer than all else here."""
    words = [*map(str, config.invocation_params.args), *os.environ.get("PYTEST_ADDOPTS", "").split()]
    # A worker of pytest-xdist is not told the words of its controller.
    if "PYTEST_XDIST_WORKER" in os.environ or any(map(_may_ask, words)):
        return True
    try:
        text = b"" if config.inipath is None else config.inipath.read_bytes()
    except (AttributeError, OSError):  # registered before pytest has looked for an ini file, or it is gone
        return True
    # As a key or in `addopts`; a mere requirement of `pytest-opcost` asks for nothing.
    return b"--device" in text or (
        b"opcost" in text and re.search(rb"--opcost|(?<![\w-])opcost\w*[\"']?\s*[=:]", text) is not None
    )


def _may_ask(word: str) -> bool:
    """Whether a word of the command line is an option of ours, one for `-o`, asks for help, or is a file of words."""
    if word.startswith(("--opcost", "--device", "--help", "@")) or ("opcost" in word and "=" in word):
        return True
    # Flags that take no value may stand together, as in -vh; the h of -phypothesis is none.
    return word.startswith("-") and "h" in word and set(word) <= set("-hlqsvVx")


def _declare(config: pytest.Config, parser: pytest.Parser) -> None:
    from pytest_opcost import declared

    declared.add_options(parser)
    config.stash[_DECLARED] = True


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    early_config.stash[START_PATH] = tuple(sys.path)
    if _DECLARED not in early_config.stash:
        result = yield
        if any(map(_may_ask, map(str, args))):  # a plugin or a conftest has added to the command line
            _declare(early_config, parser)
        return result
    from pytest_opcost import declared

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
        early_config.stash[declared.FOREIGN_DEVICE] = not declared.add_device_alias(parser)
    return result


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if _DECLARED not in config.stash:
        return
    from pytest_opcost import declared

    if not declared.anything_given(config):
        return
    from pytest_opcost.errors import OpcostError

    try:
        opts = options_of(config)
    except OpcostError as error:
        raise pytest.UsageError(str(error)) from None
    foreign = config.stash.get(declared.FOREIGN_DEVICE, False) and config.getoption("--device", None)
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
    elif names := declared.without_effect(config.invocation_params.args):
        config.pluginmanager.register(declared.NoEffect(names), "opcost-no-effect")


def options_of(config: pytest.Config) -> Options:
    """The options of the run, read when they are first asked for. Raises OptionError for those that make no sense."""
    if OPTIONS not in config.stash:
        from pytest_opcost.options import read_options

        config.stash[OPTIONS] = read_options(config)
    return config.stash[OPTIONS]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if {"opcost_device", "opcost_batch_size"}.isdisjoint(metafunc.fixturenames):
        return
    from pytest_opcost.collecting import parametrize

    parametrize(metafunc, options_of(metafunc.config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    opts = config.stash.get(OPTIONS, None)
    if opts is not None and opts.enabled:
        return
    skip = pytest.mark.skip(reason="measures operator costs: needs --opcost")
    for item in items:
        wanted = item.get_closest_marker("opcost") or "opcost" in getattr(item, "fixturenames", ())
        if not wanted and hasattr(getattr(item, "cls", None), "assertEqual"):  # as a unittest.TestCase has
            from pytest_opcost.unittests import asked_in_vain

            wanted = bool(asked_in_vain(item))
        if wanted:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def opcost_device(request: pytest.FixtureRequest) -> torch.device:
    """The device of this run of the test: one of those given with --opcost-device (--device)."""
    from pytest_opcost.collecting import parameter_of

    device: str = parameter_of(request)
    import torch

    return torch.device(device)


@pytest.fixture(scope="session")
def opcost_batch_size(request: pytest.FixtureRequest) -> int:
    """The batch size of this run of the test: one of those given with --opcost-batch-size."""
    from pytest_opcost.collecting import parameter_of

    size: int = parameter_of(request)
    return size


@pytest.fixture
def opcost(request: pytest.FixtureRequest) -> Opcost:
    """Measures a step and compares its operator costs with the baseline: `opcost.check(step)`."""
    from pytest_opcost.run import Run

    run = request.config.pluginmanager.get_plugin("opcost-run")
    if not isinstance(run, Run):
        pytest.skip("measures operator costs: needs --opcost")
    return run.opcost_for(request.node)


@pytest.fixture(scope="session")
def mnist(request: pytest.FixtureRequest, opcost_device: torch.device) -> Mnist:
    """MNIST as tensors on the device, normalised: the folder given with --opcost-mnist, a download, or the sample."""
    from pytest_opcost.lab import load

    return load(request, opcost_device)


@pytest.fixture
def lenet(opcost_device: torch.device) -> LeNet:
    """The network of the PyTorch MNIST sample, with the same weights in every run, on the device."""
    from pytest_opcost.workloads.models import LeNet, build

    return build(LeNet, opcost_device)


@pytest.fixture
def lenet5(opcost_device: torch.device) -> LeNet5:
    """The textbook's network, with the same weights in every run, on the device."""
    from pytest_opcost.workloads.models import LeNet5, build

    return build(LeNet5, opcost_device)


@pytest.fixture
def lenet_step(lenet: LeNet, mnist: Mnist, opcost_batch_size: int) -> Callable[[], None]:
    """One training step of `lenet` on one batch of MNIST, of `opcost_batch_size` images."""
    from pytest_opcost.workloads.steps import training_step

    return training_step(lenet, *mnist.batch(opcost_batch_size))


@pytest.fixture
def lenet_training(
    request: pytest.FixtureRequest, mnist: Mnist, opcost_device: torch.device, opcost_batch_size: int
) -> Training:
    """LeNet trained on MNIST with the Lab's recipe, for --opcost-epochs: the record of it, which the reports get too.

    By default it takes the Lab's 14 epochs, or one on the shipped sample.
    """
    from pytest_opcost.lab import train

    return train(request, mnist, opcost_device, opcost_batch_size)
