"""Our figures are those of torch's own `key_averages()`, read from the same profile."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import numpy as np
import torch
from torch.autograd import DeviceType  # only where there is a torch
from torch.autograd.profiler_util import FunctionEventAvg
from torch.profiler import ProfilerActivity, profile, record_function

from pytest_opcost.measure.aggregate import aggregate
from pytest_opcost.measure.events import OVERHEAD, STEP_MARK, read_events, step_mark
from pytest_opcost.workloads.models import LeNet, LeNet5, build
from pytest_opcost.workloads.steps import inference_step, training_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA"))]
STEPS = 3
#: Before torch 2.5 an annotation called like an operator is added to the operator's row.
HAS_FLAG = hasattr(FunctionEventAvg(), "is_user_annotation")


def lenet(device: str, train: bool) -> Callable[[], object]:
    images, labels = torch.randn(4, 1, 28, 28, device=device), torch.arange(4, device=device)
    model = build(LeNet, device)
    return training_step(model, images, labels) if train else inference_step(model, images)


def lenet5(device: str, train: bool) -> Callable[[], object]:
    images, labels = torch.randn(4, 3, 32, 32, device=device), torch.arange(4, device=device)
    model = build(LeNet5, device)
    return training_step(model, images, labels) if train else inference_step(model, images)


def resnet18(device: str, train: bool) -> Callable[[], object]:
    from torchvision.models import resnet18

    return _plain_step(resnet18(num_classes=10).to(device), torch.randn(2, 3, 64, 64, device=device), train)


def transformer(device: str, train: bool) -> Callable[[], object]:
    layer = torch.nn.TransformerEncoderLayer(d_model=32, nhead=4, dim_feedforward=64, batch_first=True)
    return _plain_step(layer.to(device), torch.randn(2, 10, 32, device=device), train)


def _plain_step(model: torch.nn.Module, given: torch.Tensor, train: bool) -> Callable[[], object]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step() -> None:
        model.train()
        optimizer.zero_grad()
        # The user's own annotation, called like an operator: it is none.
        with record_function("aten::addmm") if HAS_FLAG else nullcontext():
            loss = model(given).square().mean()
        loss.backward()
        optimizer.step()

    return step if train else inference_step(model, given)


def profiled(step: Callable[[], object], device: str) -> Any:
    """The profiler of some marked steps."""
    step()
    activities = [ProfilerActivity.CPU]
    if device != "cpu":
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as profiler:
        for _ in range(STEPS):
            with step_mark():
                step()
                if device != "cpu":
                    torch.cuda.synchronize()
    return profiler


Row: TypeAlias = "tuple[int, float, float, float, float]"


def ours(profiler: Any, device: str) -> dict[str, Row]:
    """Calls, self host, self device, inclusive host and device microseconds by operator, of all steps."""
    costs = aggregate(read_events(profiler.profiler.kineto_results.events(), host_only=device == "cpu"))
    assert (costs.negative_clamped, costs.outside) == (0, 0)
    calls, host_ns, device_ns = (table.sum(axis=0) for table in (costs.calls, costs.host_ns, costs.device_ns))
    of_calls = costs.host_calls
    inclusive = (of_calls.inclusive_ns, of_calls.inclusive_device_ns)
    sums = [np.bincount(of_calls.name, column, len(costs.names)) for column in inclusive]
    columns = [table / 1000 for table in (host_ns, device_ns, *sums)]
    return {name: (calls[i], *(column[i] for column in columns)) for i, name in enumerate(costs.names)}


def theirs(profiler: Any) -> dict[str, Row]:
    """The same by `key_averages()`, less its rows that are no operator's and with the calls that it folds."""
    folded = Counter(folded_calls(profiler.profiler.kineto_results.experimental_event_tree()))
    twice = device_time_counted_twice(profiler)
    rows = {}
    for row in profiler.key_averages():
        # A user's annotation, on the host's and on the device's timeline, spans what runs in it there.
        if row.is_user_annotation if HAS_FLAG else row.key.startswith((STEP_MARK, "Optimizer.")):
            continue
        # Kernels are rows of their own besides: their time is in the row of the operator that launched them, too.
        if row.device_type != DeviceType.CPU:
            continue
        # The profiler's own cost, which some versions of torch give device time.
        if OVERHEAD.match(row.key):
            continue
        times = (row.self_cpu_time_total, row.self_device_time_total, row.cpu_time_total)
        rows[row.key] = (row.count + folded[row.key], *times, row.device_time_total - twice[row.key])
    return rows


def device_time_counted_twice(profiler: Any) -> Counter[str]:
    """Microseconds by operator that its total has twice: a kernel during whose launch the profiler asked for a buffer
    is the operator's, and that of the request within it (seen with torch 2.11).
    """
    found: Counter[str] = Counter()
    for event in profiler.events():
        if OVERHEAD.match(event.name) and event.device_type == DeviceType.CPU:
            around = event.cpu_parent
            while around is not None:
                found[around.name] += event.device_time_total
                around = around.cpu_parent
    return found


def folded_calls(nodes: list[Any]) -> Iterator[str]:
    """Names of the calls that `key_averages()` leaves out: an only child called like its parent, as div_ in div_."""
    for node in nodes:
        if [child.name for child in node.children] == [node.name]:
            yield node.name
        yield from folded_calls(node.children)


# torch 2.10 and 2.11 say so at every use.
@pytest.mark.filterwarnings("ignore:.*Profiler clears events at the end of each cycle:UserWarning")
@pytest.mark.parametrize("train", [True, False], ids=["train", "infer"])
@pytest.mark.parametrize("model", [lenet, lenet5, resnet18, transformer])
@pytest.mark.parametrize("device", DEVICES)
def test_costs_are_those_of_key_averages(model: Callable[..., Any], train: bool, device: str) -> None:
    profiler = profiled(model(device, train), device)

    found, expected = ours(profiler, device), theirs(profiler)

    if device == "cuda":
        # torch synchronises once more when the profiler stops, outside of every step.
        assert expected.pop("cudaDeviceSynchronize")[0] == found.pop("cudaDeviceSynchronize")[0] + 1
    assert {name: calls for name, (calls, *_) in found.items()} == {
        name: calls for name, (calls, *_) in expected.items()
    }
    for name, (_, *times) in expected.items():
        # Their sums are of floats, in microseconds since the profiler's start.
        assert found[name][1:] == pytest.approx(times, abs=0.001), name
    assert len(found) > 10
    assert device == "cpu" or sum(device_us for _, _, device_us, _, _ in found.values()) > 0
