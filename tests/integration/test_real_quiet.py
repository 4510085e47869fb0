"""A run in a process of its own prints what pytest and the plugin have to say, and nothing else."""

from __future__ import annotations

import re
import sys

import pytest

pytest.importorskip("torch")

_KINETO = re.compile(r"^[A-Z]+:\d{4}-\d\d-\d\d ", re.MULTILINE)


def test_kineto_prints_nothing(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import torch\n")
    pytester.makepyfile(
        test_model="import torch\n\n\ndef test_model(opcost):\n    opcost.check(lambda: torch.ones(8) + 1)\n"
    )

    result = pytester.run(sys.executable, "-m", "pytest", "-s", "--opcost", "--opcost-rounds=1", "--opcost-steps=3")

    result.assert_outcomes(passed=1)
    assert result.stderr.str() == ""
    assert not _KINETO.search(result.stdout.str())
