"""The last measured step, from the profiler's events to a Chrome trace."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from made_up import made_up_result

from pytest_opcost.report.trace import chrome_trace
from pytest_opcost.timeline import Span


def test_a_trace_has_a_track_for_each_thread_and_the_device():
    trace = json.loads(gzip.decompress(chrome_trace(made_up_result("tests/test_a.py::test_step", 16, "cuda"))))
    names, events = trace["traceEvents"][:2], trace["traceEvents"][2:]
    assert [(one["ph"], one["tid"], one["args"]["name"]) for one in names] == [("M", 1, "host 1"), ("M", 2, "device")]
    assert events == [
        {"ph": "X", "pid": 1, "tid": 1, "name": "aten::addmm", "cat": "operator", "ts": 1.0, "dur": 20.0},
        {"ph": "X", "pid": 1, "tid": 2, "name": "gemm", "cat": "device", "ts": 25.5, "dur": 8.25},
    ]
    assert trace["otherData"]["test"] == "tests/test_a.py::test_step[cuda-16]"


def test_the_last_step_of_a_profile():
    from pytest_opcost.measure.aggregate import aggregate
    from pytest_opcost.measure.events import STEP_MARK, Event, Events, Kind
    from pytest_opcost.measure.timeline import last_step

    def event(name, kind, start, end, thread=7):
        return Event(name, kind, start, end, thread, 0, 0)

    events = Events.of(
        [
            event(STEP_MARK, Kind.ANNOTATION, 0, 1000),
            event("aten::old", Kind.OPERATOR, 100, 200),
            event(STEP_MARK, Kind.ANNOTATION, 2000, 9000),
            event("aten::addmm", Kind.OPERATOR, 3000, 5000),
            event("aten::mm", Kind.OPERATOR, 3000, 4000),
            event("[memory]", Kind.MEMORY, 3500, 3500),
            event("aten::add", Kind.OPERATOR, 6000, 6500, thread=8),
            event("gemm", Kind.DEVICE, 7000, 8000, thread=0),
            event("aten::after", Kind.OPERATOR, 9500, 9600),
        ]
    )
    assert last_step(events, aggregate(events)) == (
        Span(STEP_MARK, "annotation", "host 1", 0.0, 7.0),
        Span("aten::addmm", "operator", "host 1", 1.0, 2.0),
        Span("aten::mm", "operator", "host 1", 1.0, 1.0),
        Span("aten::add", "operator", "host 2", 4.0, 0.5),
        Span("gemm", "device", "device", 5.0, 1.0),
    )


def test_what_was_compared_and_the_timeline_survive_the_way_home():
    from pytest_opcost.results import CheckResult

    found = made_up_result("tests/test_a.py::test_step", 16, "cuda")
    data = json.loads(json.dumps(found.to_data()))
    again = CheckResult.from_data(data)
    assert again.profile.timeline == found.profile.timeline != ()
    assert again.verdict.compared == found.verdict.compared != ()


@pytest.mark.parametrize("own", [0.0, 0.19, -0.16])
def test_within_the_band_upwards_and_downwards(own):
    from pytest_opcost.judge import Compared

    assert Compared("aten::mm", 1.0, 1.0, own, 0.2).within
    assert not Compared("aten::mm", 1.0, 1.0, np.copysign(0.21, own), 0.2).within
