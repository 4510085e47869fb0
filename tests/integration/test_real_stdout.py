"""What a step prints reaches the user, once for each call and in order, and nothing that torch's libraries print."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

from pytest_opcost.measure.exact import STEPS

_SCRIPT = """
import ctypes, os, sys

from pytest_opcost.measure import Plan, measure
import torch

libc, calls = ctypes.CDLL(None), []
layer, conv = torch.nn.Linear(64, 64), torch.nn.Conv2d(3, 8, 3)


def step():
    number = len(calls)
    calls.append(conv(torch.ones(2, 3, 16, 16)))
    print("python", number, flush=True)
    layer(torch.ones(64, 64))
    os.write(1, b"system %d\\n" % number)
    libc.puts(b"library %d" % number)
    libc.fflush(None)
    os.system(f"echo child {number}")
    conv(torch.ones(2, 3, 16, 16))
    print("no newline", number, end="", flush=True)
    conv(torch.ones(2, 3, 16, 16))
    print(flush=True)


print("before", flush=True)
profile = measure(step, Plan("cpu", 1, 3))
print("after", flush=True)
libc.puts(b"after too")
libc.fflush(None)
kernels = sum(count for op in profile.ops for _, count in op.facts.kernels)
print(len(calls), "calls,", kernels, "kernels", file=sys.stderr)
"""
_EACH = ("python {0}", "system {0}", "library {0}", "child {0}", "no newline {0}")


def run(stdout):
    return subprocess.run([sys.executable, "-c", _SCRIPT], stdout=stdout, stderr=subprocess.PIPE, text=True, check=True)


def expected(stderr):
    calls, kernels = (int(word) for word in stderr.splitlines()[-1].split() if word.isdigit())
    if sys.platform == "linux":
        assert kernels > 0
    lines = [line.format(number) for number in range(calls) for line in _EACH]
    return ["before", *lines, "after", "after too"]


def test_into_a_pipe():
    done = run(subprocess.PIPE)
    assert done.stdout.splitlines() == expected(done.stderr)


def test_into_a_file(tmp_path):
    path = tmp_path / "out.txt"
    with path.open("w") as file:
        done = run(file)
    assert path.read_text().splitlines() == expected(done.stderr)


def test_more_than_a_pipe_holds():
    script = """
import os
from pytest_opcost.measure import Plan, measure
import torch


def step():
    os.write(1, (b"x" * 99 + b"\\n") * 5000)
    return torch.ones(4) + 1


measure(step, Plan("cpu", 1, 3))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()) == {"x" * 99}
    assert len(done.stdout.splitlines()) == 5000 * (1 + 1 + 3 + 3 * STEPS)
