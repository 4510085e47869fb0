"""Nothing is started, and nothing asked of the network, before the first step is measured."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")

_SPY = """
import sys

import torch  # some starts a process of its own when it is imported

SEEN = []
WATCHED = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system"}


def audit(event, args):
    if event in WATCHED or event.startswith("socket."):
        SEEN.append((event, args))


def pytest_configure():
    sys.addaudithook(audit)
"""

_TEST = """
import subprocess
import sys

import torch
import spy


def test_model(opcost):
    layer, images = torch.nn.Linear(8, 8), torch.ones(4, 8)

    def step():
        first.append(list(spy.SEEN))
        layer(images)

    first = []
    opcost.check(step)
    assert first[0] == []
    subprocess.run([sys.executable, "-c", ""])
    assert spy.SEEN != []  # the spy looks
"""


def test_the_first_step_is_the_first_thing_that_runs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(spy=_SPY, test_model=_TEST)

    result = pytester.run(
        sys.executable, "-m", "pytest", "-p", "spy", "-p", "no:xdist", "--opcost", "--opcost-rounds=0"
    )

    result.assert_outcomes(passed=1)
