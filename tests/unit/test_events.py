"""torch's raw events -> ours, on fakes that have the raw events' methods."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

pytest.importorskip("torch")

from torch._C._autograd import DeviceType  # only where there is a torch

from pytest_opcost.measure.events import STEP_MARK, Event, Events, Kind, read_events

FUNCTION, BACKWARD, USER = 0, 1, 7


@dataclass
class OldRaw:
    """A raw event of an older torch: no flag for annotations."""

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

    def is_user_annotation(self):
        return self.annotated


def read(*raw, host_only=False):
    """What the columns hold, as one record an event."""
    events = read_events(list(raw), host_only=host_only)
    columns = (getattr(events, field).tolist() for field in Event._fields[1:])
    return [Event(events.names[name], *rest) for name, *rest in zip(events.name.tolist(), *columns)]


def kinds(*raw):
    """Name and kind of the events that are not left out."""
    return [(event.name, event.kind) for event in read(*raw) if event.kind != Kind.LEFT_OUT]


@pytest.mark.parametrize("host_only", [False, True])
@pytest.mark.parametrize("raw", [OldRaw, Raw])
def test_an_operator(raw, host_only):
    correlation = 0 if host_only else 9  # nothing links to the host alone
    assert read(raw("aten::mm"), host_only=host_only) == [
        Event("aten::mm", Kind.OPERATOR, 1_700_000_000_000_000_100, 1_700_000_000_000_000_150, 4, correlation, 0)
    ]


@pytest.mark.parametrize("host_only", [False, True])
def test_no_events(host_only):
    assert read(host_only=host_only) == []
    assert read_events([], host_only=host_only).names == []


def test_a_name_that_comes_many_times_is_kept_once():
    events = read_events([Raw(name) for name in ("mm", "add", "mm", "mm", "add")], host_only=True)
    assert (events.names, events.name.tolist()) == (["mm", "add"], [0, 1, 0, 0, 1])


def test_an_operator_and_an_annotation_of_one_name_stay_apart():
    raw = [Raw("aten::mm"), Raw("aten::mm", USER), Raw("aten::mm")]
    assert [event.kind for event in read(*raw)] == [Kind.OPERATOR, Kind.ANNOTATION, Kind.OPERATOR]


def test_the_host_alone_is_read_without_asking_for_links_and_devices():
    class HostOnly(Raw):
        device_type = linked_correlation_id = correlation_id = is_user_annotation = None

    assert [event.kind for event in read(HostOnly("aten::mm"), host_only=True)] == [Kind.OPERATOR]


def test_columns_hold_what_the_records_hold():
    records = [Event("a", Kind.OPERATOR, 1, 2, 3, 4, 5), Event("b", Kind.DEVICE, 6, 7, 8, 9, 10)] * 2
    events = Events.of(records)
    columns = (getattr(events, field).tolist() for field in Event._fields[1:])
    assert [Event(events.names[name], *rest) for name, *rest in zip(events.name, *columns)] == records
    assert events.names == ["a", "b"]


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
    (event,) = read(Raw("urEnqueueKernelLaunch", linked=5))
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
def test_the_profiler_s_own_overhead_is_told_apart(name):
    assert kinds(Raw(name), Raw("aten::mm")) == [(name, Kind.OVERHEAD), ("aten::mm", Kind.OPERATOR)]


def test_asynchronous_spans_are_left_out():
    assert kinds(Raw("aten::mm", asynchronous=True)) == []


@pytest.mark.parametrize("device", [DeviceType.CUDA, DeviceType.XPU])
@pytest.mark.parametrize("raw", [OldRaw, Raw])
def test_device_work_keeps_its_link(raw, device):
    (event,) = read(raw("a_kernel", device=device, linked=5))
    assert (event.name, event.kind, event.link) == ("a_kernel", Kind.DEVICE, 5)


@pytest.mark.parametrize("raw", [OldRaw, Raw])
def test_events_of_one_name_on_both_timelines_stay_apart(raw):
    told = {"annotated": True} if raw is Raw else {}
    both = [
        raw("aten::mm"),
        raw("aten::mm", USER),
        raw("aten::mm", device=DeviceType.CUDA, **told),
        raw("mine", device=DeviceType.CUDA, linked=3),
        raw("aten::mm"),
    ]
    assert [event.kind for event in read(*both)] == [
        Kind.OPERATOR,
        Kind.ANNOTATION,
        Kind.LEFT_OUT,
        Kind.DEVICE,
        Kind.OPERATOR,
    ]


def test_devices_are_asked_for_once_a_kind_of_event():
    asked = []

    class Asked(Raw):
        def device_type(self):
            asked.append(self.called)
            return self.device

    kernels = [Asked("kernel", device=DeviceType.CUDA, linked=number) for number in range(1, 50)]
    events = read(*[Asked("aten::mm")] * 50, *kernels)
    assert [event.kind for event in events] == [Kind.OPERATOR] * 50 + [Kind.DEVICE] * 49
    assert sorted(asked) == ["aten::mm", "kernel"]


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


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("## Call CompiledFxGraph fv6gmmpthn3zg6pxsrax23weftdhesvj ##", "## Call CompiledFxGraph ##"),
        ("Torch-Compiled Region: 0/1", "Torch-Compiled Region"),
        ("Torch-Compiled Region: 12/0 (in my_step)", "Torch-Compiled Region"),
        ("Torch-Compiled Region", "Torch-Compiled Region"),
        ("## Call CompiledFxGraph of mine ##", "## Call CompiledFxGraph of mine ##"),
    ],
)
def test_a_compiled_graph_s_row_has_no_hash_that_changes_with_every_edit(name, row):
    assert kinds(Raw(name)) == [(row, Kind.OPERATOR)]


def test_compiled_graphs_of_several_hashes_are_one_row():
    events = read_events([Raw(f"## Call CompiledFxGraph {name} ##") for name in ("abc", "def", "abc")], host_only=True)
    assert (events.names, events.name.tolist()) == (["## Call CompiledFxGraph ##"], [0, 0, 0])
