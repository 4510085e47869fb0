"""What is kept of the last measured step of a real profile."""

from __future__ import annotations

import pytest


def test_the_events_of_the_last_step(warm_torch: None) -> None:
    import torch

    from pytest_opcost.measure import Plan, measure

    model, images = torch.nn.Linear(64, 64), torch.randn(16, 64)
    profile = measure(lambda: model(images).relu().sum().backward(), Plan("cpu", 1, 3, timeline=True))
    spans = profile.timeline
    assert spans[0].start_us == 0
    assert {"aten::addmm", "aten::relu", "aten::sum"} <= {span.name for span in spans if span.kind == "operator"}
    assert [span.start_us for span in spans] == sorted(span.start_us for span in spans)
    # One step's events, each within it.
    assert sum(span.name == "aten::relu" for span in spans) == 1
    assert max(span.start_us + span.duration_us for span in spans) <= spans[0].duration_us + 1


def test_nothing_is_kept_unasked(warm_torch: None) -> None:
    torch = pytest.importorskip("torch")

    from pytest_opcost.measure import Plan, measure

    assert measure(lambda: torch.ones(3).add(1), Plan("cpu", 1, 3)).timeline == ()
