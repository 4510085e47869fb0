"""A profiler in the step, around it or beside it: a right result or a clear error (pitfall 8 of `test_pitfalls.py`)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from pytest_opcost.errors import MeasureError
from pytest_opcost.measure import Plan, measure

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = Plan("cpu", warmup=1, steps=3)
X = torch.ones(8, 8)


def times() -> object:
    return X @ X


def is_measured() -> bool:
    """Whether a step can be measured, and all of it is seen."""
    return measure(times, QUICK).by_name()["aten::mm"].calls == 1


@pytest.mark.parametrize(
    "profiler",
    [
        lambda: profile(activities=[ProfilerActivity.CPU]),
        lambda: torch.autograd.profiler.profile(use_kineto=True),
    ],
    ids=["torch.profiler", "autograd"],
)
@pytest.mark.parametrize("since", [1, 4], ids=["from the start", "later"])
def test_a_step_that_profiles_itself_is_refused_and_what_comes_after_is_measured(
    profiler: Callable[[], Any], since: int
) -> None:
    seen: list[None] = []

    def step() -> None:
        seen.append(None)
        if len(seen) < since:
            times()
            return
        with profiler():
            times()

    with pytest.raises(MeasureError, match="another profiler pushed ours aside") as raised:
        measure(step, QUICK)
    assert "Take the profiler out of the step" in str(raised.value)
    assert is_measured()


def test_a_step_that_raises_within_a_profiler_of_its_own_is_told_by_its_own_error() -> None:
    def step() -> None:
        with profile(activities=[ProfilerActivity.CPU]):
            raise ValueError("out of data")

    with pytest.raises(MeasureError, match="the step raised ValueError: out of data"):
        measure(step, QUICK)
    assert is_measured()


def test_a_step_that_raises_leaves_no_profiler_running() -> None:
    with pytest.raises(MeasureError, match="the step raised ZeroDivisionError"):
        measure(lambda: 1 / 0, QUICK)
    assert not torch.autograd.profiler._is_profiler_enabled


def test_a_profiler_around_the_measurement_is_refused_and_keeps_what_it_saw() -> None:
    with profile(activities=[ProfilerActivity.CPU]) as outer:
        X + X
        with pytest.raises(MeasureError, match="another profiler is at work in this process"):
            measure(times, QUICK)
        X - X
    assert {"aten::add", "aten::sub"} <= {row.key for row in outer.key_averages()}


def right_or_refused() -> None:
    """Which of the two depends on torch's version; what must not be is a result that lacks operators."""
    try:
        cost = measure(times, QUICK)
    except MeasureError as error:
        assert "another profiler pushed ours aside" in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert cost.by_name()["aten::mm"].calls == 1


@pytest.mark.filterwarnings("ignore")
def test_a_profiler_that_is_warming_up_around_the_measurement() -> None:
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=1)):
        right_or_refused()
    assert is_measured()


@pytest.mark.filterwarnings("ignore")
def test_a_profiler_in_another_thread() -> None:
    started, done = threading.Event(), threading.Event()

    def other() -> None:
        with profile(activities=[ProfilerActivity.CPU]):
            started.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    started.wait()
    try:
        right_or_refused()
    finally:
        done.set()
        thread.join()
    assert is_measured()
