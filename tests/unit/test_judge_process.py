"""What processes may differ by on a CPU: changes of that size are not told, whatever part of the operator they are."""

from __future__ import annotations

import pytest
from records import on_device, op, profile

from pytest_opcost.costs import RecordedRatio
from pytest_opcost.judge import Kind, Rules
from pytest_opcost.judge.cost import cost_findings


def steps(scale=1.0, **now):
    """A step of 1,000 us times `scale`, as it was and with some operators' costs as they are now."""
    was = {"addmm": 100.0, "convolution": 400.0, "relu": 200.0, "sum": 150.0, "add": 150.0}
    return (
        profile(*(op(f"aten::{name}", scale * cost) for name, cost in costs.items())) for costs in (was, {**was, **now})
    )


def found(old, new, load=0.0, ratios=()):
    recorded = {name: RecordedRatio(old.ratio(name), 0.0) for name in ratios}
    new = profile(*new.ops, load=load)
    return [
        (f.kind, f.op, f.fails) for f in cost_findings(old, recorded, new, Rules(dict.fromkeys(ratios, 0.1)), set())
    ]


@pytest.mark.parametrize(("now", "kind"), [(149.0, Kind.NOISE), (151.0, Kind.DEARER)])
def test_fifty_microseconds_of_an_operator(now, kind):
    assert found(*steps(addmm=now)) == [(kind, "aten::addmm", kind is Kind.DEARER)]


def test_what_is_not_told_says_from_where_on_it_would_have_been():
    old, new = steps(addmm=140.0)
    (finding,) = cost_findings(old, {}, new, Rules({}), set())
    assert finding.message == (
        "aten::addmm (addmm): 140 us a step, was 100 us (+40 %): processes differ by as much; only above 50 us "
        "would have been told"
    )
    # Another measurement in this process would not help, so none is asked for.
    assert finding.change == 0


def test_a_twelfth_of_a_short_step():
    # A step of 200 us, of which 8 % are 16 us.
    assert found(*steps(scale=0.2, addmm=100.0 + 16.1 / 0.2)) == [(Kind.DEARER, "aten::addmm", True)]
    assert found(*steps(scale=0.2, addmm=100.0 + 15.9 / 0.2)) == [(Kind.NOISE, "aten::addmm", False)]


def test_a_device_s_clock_knows_no_such_difference():
    old, new = (on_device(one) for one in steps(addmm=110.0))
    assert [finding.kind for finding in cost_findings(old, {}, new, Rules({}), set())] == [Kind.DEARER]


@pytest.mark.parametrize(("now", "kind"), [(140.0, Kind.NOISE), (155.0, Kind.RATIO)])
def test_a_ratio_s_side_must_move_as_far(now, kind):
    assert (kind, "conv/addmm", kind is Kind.RATIO) in found(*steps(addmm=now), ratios=["conv/addmm"])


def test_load_widens_it_as_it_widens_the_bands():
    # All other cores busy: bands and floor are three times as wide, 60 % and 150 us.
    assert found(*steps(addmm=249.0), load=1.0) == [(Kind.NOISE, "aten::addmm", False)]
    assert found(*steps(addmm=251.0), load=1.0) == [(Kind.DEARER, "aten::addmm", True)]
