"""torch's raw events -> ours, on fakes that have the raw events' methods."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

pytest.importorskip("torch")

from torch._C._autograd import DeviceType  # only where there is a torch

from pytest_opcost.measure.events import STEP_MARK, Event, Kind, _read

FUNCTION, BACKWARD, USER = 0, 1, 7


@dataclass
class OldRaw:
    """A raw event of an older torch: its duration instead of its end, no flag for annotations."""

    called: str
    range: int = FUNCTION
    device: DeviceType = DeviceType.CPU
    linked: int = 0
    asynchronous: bool = False

    def name(self):
        return self.called

    def scope(self):
        return self.range

    def device_type(self):
        return self.device

    def linked_correlation_id(self):
        return self.linked

    def is_async(self):
        return self.asynchronous

    def start_ns(self):
        return 1_700_000_000_000_000_100

    def duration_ns(self):
        return 50

    def start_thread_id(self):
        return 4

    def correlation_id(self):
        return 9


@dataclass
class Raw(OldRaw):
    annotated: bool = False

    def duration_ns(self):
        raise AssertionError("the end is exact, the duration may be rounded")

    def end_ns(self):
        return 1_700_000_000_000_000_150

    def is_user_annotation(self):
        return self.annotated


def kinds(*raw):
    return [(event.name, event.kind) for event in _read(list(raw))]


@pytest.mark.parametrize("raw", [OldRaw, Raw])
def test_an_operator(raw):
    assert _read([raw("aten::mm")]) == [
        Event("aten::mm", Kind.OPERATOR, 1_700_000_000_000_000_100, 1_700_000_000_000_000_150, 4, 9, 0)
    ]


def test_no_events():
    assert _read([]) == []


@pytest.mark.parametrize("raw", [OldRaw, Raw])
@pytest.mark.parametrize("name", [STEP_MARK, "my block", "aten::addmm", "cudaThing", "Instrumentation"])
def test_a_user_s_annotation_is_one_whatever_it_is_called(raw, name):
    assert kinds(raw(name, USER)) == [(name, Kind.ANNOTATION)]


@pytest.mark.parametrize("raw", [OldRaw, Raw])
def test_backward_nodes_are_told_by_their_scope_or_by_the_engine_s_wrapper(raw):
    wrapper = "autograd::engine::evaluate_function: MmBackward0"
    assert kinds(raw("MmBackward0", BACKWARD), raw(wrapper), raw("aten::mm")) == [
        ("MmBackward0", Kind.BACKWARD),
        (wrapper, Kind.BACKWARD),
        ("aten::mm", Kind.OPERATOR),
    ]


@pytest.mark.parametrize(
    "name",
    ["cudaLaunchKernel", "cudaMemcpyAsync", "cuLaunchKernelEx", "hipLaunchKernel", "zeCommandListAppendLaunchKernel"],
)
def test_runtime_calls_are_told_by_their_name(name):
    assert kinds(Raw(name)) == [(name, Kind.RUNTIME)]


def test_a_host_event_that_is_linked_to_another_is_a_runtime_call():
    (event,) = _read([Raw("urEnqueueKernelLaunch", linked=5)])
    assert (event.kind, event.link) == (Kind.RUNTIME, 5)


@pytest.mark.parametrize(
    "name", ["aten::cudnn_convolution", "custom::op", "cumulative", "cudnn_convolution", "zeta", "cu"]
)
def test_operators_that_begin_almost_like_a_runtime_call(name):
    assert kinds(Raw(name)) == [(name, Kind.OPERATOR)]


@pytest.mark.parametrize(
    "name",
    [
        "Activity Buffer Request",
        "Buffer Flush",
        "Instrumentation",
        "Resource",
        "Lazy Function Loading",
        "Command Buffer Full Overhead",
        "Kernel Launch",
    ],
)
def test_the_profiler_s_own_overhead_is_left_out(name):
    assert kinds(Raw(name), Raw("aten::mm")) == [("aten::mm", Kind.OPERATOR)]


def test_asynchronous_spans_are_left_out():
    assert kinds(Raw("aten::mm", asynchronous=True)) == []


@pytest.mark.parametrize("device", [DeviceType.CUDA, DeviceType.XPU])
@pytest.mark.parametrize("raw", [OldRaw, Raw])
def test_device_work_keeps_its_link(raw, device):
    (event,) = _read([raw("a_kernel", device=device, linked=5)])
    assert (event.name, event.kind, event.link) == ("a_kernel", Kind.DEVICE, 5)


def test_an_annotation_on_the_device_s_timeline_is_no_work():
    events = (Raw("a_kernel", device=DeviceType.CUDA), Raw("block", device=DeviceType.CUDA, annotated=True))
    assert kinds(*events) == [("a_kernel", Kind.DEVICE)]


def test_an_older_torch_s_annotation_on_the_device_s_timeline_is_told_by_its_name():
    events = (
        OldRaw("block", device=DeviceType.CUDA),
        OldRaw("a_kernel", device=DeviceType.CUDA),
        OldRaw("block", USER),
    )
    assert kinds(*events) == [("a_kernel", Kind.DEVICE), ("block", Kind.ANNOTATION)]
