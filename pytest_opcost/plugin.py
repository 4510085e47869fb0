"""pytest's way in: hooks and fixtures, a few lines each; without `--opcost` it only skips.

Every pytest run loads this file, whether or not anybody asks for opcost: it imports what pytest has imported, and no
more, and declares the options that take a value only where one may stand on the command line or in the ini file.
pytest looks at every name in here, so what only opcost tests need is in `collecting` and `lab`.
`tests/benchmarks/startup.py` tells what it costs.
"""

from __future__ import annotations

import os
import re
import shlex
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
#: Set where pytest was told of all options, not of the flags alone.
ALL_DECLARED: pytest.StashKey[bool] = pytest.StashKey()

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
        _declare_all(config, parser)


def add_flags(parser: pytest.Parser) -> None:
    """Declare the options that take no value, and their ini twins."""
    group = parser.getgroup(GROUP, "operator-cost regression (pytest-opcost)")
    for name, text in FLAGS:
        dest = name.replace("-", "_")
        group.addoption(f"--{name}", action="store_true", default=None, dest=dest, help=text)
        parser.addini(dest, text, type="bool", default=None)


def _may_be_asked_for(config: pytest.Config) -> bool:
    """Whether one of our options may stand anywhere; declaring them takes longer than all else here."""
    if _given(config) or "PYTEST_XDIST_WORKER" in os.environ or any(map(_may_ask, config.invocation_params.args)):
        return True
    try:
        if any(map(_may_ask, shlex.split(os.environ.get("PYTEST_ADDOPTS", "")))):
            return True
        text = b"" if config.inipath is None else config.inipath.read_bytes()
    except (AttributeError, OSError, ValueError):
        return True  # registered before pytest has looked for an ini file; or what pytest itself will complain of
    # As a key or in `addopts`; a mere requirement of `pytest-opcost` asks for nothing.
    return b"--device" in text or (
        b"opcost" in text and re.search(rb"--opcost|(?<![\w-])opcost\w*[\"']?\s*[=:]", text) is not None
    )


def _given(config: pytest.Config) -> bool:
    """Whether an option is set that was found, or that a conftest or the controller of this worker has set."""
    return any(name.startswith("opcost") and value is not None for name, value in vars(config.option).items())


def _may_ask(given: object) -> bool:
    """Whether a word of the command line is an option of ours, one for `-o`, asks for help, or is a file of words."""
    word = str(given)  # a script may hand paths to `pytest.main`
    if word.startswith(("--opcost", "--device", "--help", "@")) or ("opcost" in word and "=" in word):
        return True
    # Flags may stand together, as in -vh; what follows one that takes a value is none, as in -phypothesis.
    return word.startswith("-") and "h" in word and word[1] not in "-ckmnoprW"


def _declare_all(config: pytest.Config, parser: pytest.Parser) -> None:
    from pytest_opcost import declared

    declared.add_options(parser)
    config.stash[ALL_DECLARED] = True


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    early_config.stash[START_PATH] = tuple(sys.path)
    if early := ALL_DECLARED in early_config.stash:
        from pytest_opcost import declared

        declared.before_conftests(early_config, args)
    result = yield
    if not early and any(map(_may_ask, args)):  # from another plugin, or from a file that `addopts` names
        _declare_all(early_config, parser)
    if ALL_DECLARED in early_config.stash:
        from pytest_opcost import declared

        declared.after_conftests(early_config, parser, args)
    return result


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if ALL_DECLARED not in config.stash and not _given(config):
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
