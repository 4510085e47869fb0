"""What the integration tests share: a clean environment, and a project with the fake measuring seam."""

from __future__ import annotations

import gc
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# Imported here, since pytester forgets every module that is first imported during a test: the next test would patch
# the old one. Numpy and scipy, which the judge loads when it needs them, and torch cannot even be imported twice.
import scipy.special  # noqa: F401
import yaml  # noqa: F401

from pytest_opcost import seams
from pytest_opcost.judge.timing import changes, critical  # noqa: F401
from pytest_opcost.rounds import gate

from .fake_seam import FakeSeam
from .project import Project
from .repository import Repository, new_repository, prepare_git

with suppress(ImportError):  # not everywhere
    import torch  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the outer run's environment says must not reach the inner run."""
    outer = ("CI", "OPCOST_MNIST", "KINETO_LOG_LEVEL", "PYTEST_ADDOPTS", "FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS")
    outer += ("PYTEST_XDIST_WORKER",)  # no inner run is a worker, who would count the cards
    for name in outer:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    outside: Path = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_CACHE_HOME", str(outside / "empty-cache"))
    # Where turns are taken: a test waits for nobody but the processes of its own.
    temporary = outside / "temporary"
    temporary.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))


@pytest.fixture(scope="session", autouse=True)
def _frozen_garbage() -> Iterator[None]:
    """Every inner pytest collects garbage five times at its end, and torch alone is half a million objects."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def seam(monkeypatch: pytest.MonkeyPatch) -> FakeSeam:
    """The fake measuring seam, in place for this test."""
    fake = FakeSeam()
    monkeypatch.setattr(seams, "measure_step", fake.measure_step)
    monkeypatch.setattr(seams, "find_environments", fake.find_environments)
    monkeypatch.setattr(seams, "begin_memory", fake.begin_memory)
    monkeypatch.setattr(seams, "fresh_profile", fake.fresh_profile)
    monkeypatch.setattr(seams, "recorded_rounds", fake.recorded_rounds)
    return fake


@pytest.fixture(scope="session")
def warm_torch() -> None:
    """Torch with all that it imports at first use: pytester forgets what a test imports, torch cannot come twice."""
    pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    from pytest_opcost.measure import Plan, measure
    from pytest_opcost.workloads import mnist, models, steps

    images, labels = mnist.load_mnist(mnist.find_mnist("sample", Path("nowhere")), "cpu").batch(4)
    measure(steps.training_step(models.build(models.LeNet, "cpu"), images, labels), Plan("cpu", 0, 1))


def without_slow_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that measure with a fake need no torch, whatever this one has imported for other tests."""
    monkeypatch.setattr(gate, "SLOW_IMPORTS", ())


@pytest.fixture
def suite(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The same, ready for other processes: each has a fake seam of its own."""
    project.installs_its_own_seam()
    without_slow_imports(monkeypatch)
    return project


@pytest.fixture
def project(pytester: pytest.Pytester, seam: FakeSeam) -> Project:
    """A project with one opcost test, whose costs the test at hand makes up."""
    return Project(pytester, seam)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A user's repository with two commits, whose base is HEAD~1; temporary folders are made in `tmp_path / "tmp"`."""
    without_slow_imports(monkeypatch)
    prepare_git(monkeypatch, tmp_path / "home")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    repository = new_repository(tmp_path / "model")
    repository.commit("Begin", model__py="COST = 1\n", __gitignore="*.so\n__pycache__/\n")
    repository.commit("Make the model dearer", model__py="COST = 2\n")
    return repository
