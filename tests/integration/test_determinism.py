"""Exact facts are the same in every fresh process: the script that measures it, with two of them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "determinism.py"


def test_two_fresh_processes_find_the_same_facts():
    done = subprocess.run(
        [sys.executable, SCRIPT, "2", "--only", "lenet-train-16"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second, *_ = done.stdout.splitlines()
    assert first.split()[1:] == second.split()[1:]
    assert done.stdout.splitlines()[-1].split() == ["lenet-train-16", "2", "1", "0"]


def test_what_differs_is_named():
    spec = importlib.util.spec_from_file_location("determinism", SCRIPT)
    determinism = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(determinism)
    one = {"aten::mm": {"calls": 1, "flops": 8}, "aten::add": {"calls": 2}}
    other = {"aten::mm": {"calls": 1, "flops": 9}}
    assert determinism.differences([one, one, other]) == [
        "aten::add calls: 2x 2, 1x null",
        "aten::mm flops: 2x 8, 1x 9",
    ]
    assert determinism.differences([one, one]) == []
    assert determinism.digest_of(one) != determinism.digest_of(other)
