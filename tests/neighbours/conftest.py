"""What the tests beside other plugins share: a project whose runs load the plugins that are named, in that order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from integration.conftest import _clean_environment, _frozen_garbage, project, seam, suite  # noqa: F401

from .beside import NEIGHBOURS, Beside, installed

if TYPE_CHECKING:
    from integration.project import Project


@pytest.fixture
def beside(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Beside:
    """A project whose runs are processes of their own, and load no plugin that is not named."""
    installed([*NEIGHBOURS])
    own: Project = request.getfixturevalue("suite")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
        monkeypatch.delenv(name)  # of the worker that runs this test
    return Beside(own)
