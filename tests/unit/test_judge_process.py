"""What processes may differ by on a CPU: changes of that size are not told, whatever part of the operator they are."""

from __future__ import annotations

import pytest
from records import on_device, op, profile

from pytest_opcost.costs import RecordedRatio
from pytest_opcost.judge import Kind, Rules
from pytest_opcost.judge.cost import cost_findings, machine_factor


def steps(scale=1.0, **now):
    """A step of 1,000 us times `scale`, as it was and with some operators' costs as they are now."""
    was = {"addmm": 100.0, "convolution": 400.0, "relu": 200.0, "sum": 150.0, "add": 150.0}
    return (
        profile(*(op(f"aten::{name}", scale * cost) for name, cost in costs.items())) for costs in (was, {**was, **now})
    )


def findings(old, new, recorded=None, rules=None):
    return cost_findings(old, recorded or {}, new, rules or Rules({}), machine_factor(old, new), set())


def found(old, new, load=0.0, ratios=()):
    recorded = {name: RecordedRatio(old.ratio(name), 0.0) for name in ratios}
    new = profile(*new.ops, load=load)
    return [(f.kind, f.op, f.fails) for f in findings(old, new, recorded, Rules(dict.fromkeys(ratios, 0.1)))]


@pytest.mark.parametrize(("now", "kind"), [(149.0, Kind.NOISE), (151.0, Kind.DEARER)])
def test_fifty_microseconds_of_an_operator(now, kind):
    assert found(*steps(addmm=now)) == [(kind, "aten::addmm", kind is Kind.DEARER)]


def test_what_is_not_told_says_from_where_on_it_would_have_been():
    old, new = steps(addmm=140.0)
    (finding,) = findings(old, new)
    assert finding.message == (
        "aten::addmm (addmm): 140 us a step, was 100 us (+40 %): processes differ by as much; only above 150 us "
        "would have been told"
    )
    # Another measurement in this process would not help, so none is asked for.
    assert finding.change == 0


@pytest.mark.parametrize(
    ("everything", "load", "name", "now"),
    [
        (1.0, 0.0, "addmm", 140.0),
        (1.2, 0.0, "addmm", 200.0),
        (0.8, 0.0, "addmm", 140.0),
        (1.0, 1.0, "convolution", 500),
    ],
    ids=["as it was", "a slower machine", "a faster machine", "a busy machine, a dear operator"],
)
def test_from_the_limit_that_is_told_on_it_is_told(everything, load, name, now):
    def finding_of(cost):
        old, _ = steps()
        ops = (op(one.name, cost if one.name == f"aten::{name}" else everything * one.self_host_us) for one in old.ops)
        (finding,) = (f for f in findings(old, profile(*ops, load=load)) if name in f.op)
        return finding

    drowned = finding_of(now)
    assert "processes differ by as much" in drowned.message
    limit = float(drowned.message.partition("only above ")[2].partition(" us")[0])
    assert finding_of(limit - 1).kind is Kind.NOISE
    told = finding_of(limit + 1)
    assert (told.kind, told.fails) == (Kind.DEARER, True)
    allowed = (limit / told.baseline - 1) * 100
    assert f"allowed +{allowed:.0f} %)" in told.message


def test_on_a_busy_machine_the_limit_in_percent_is_the_true_one_too():
    old, new = steps(convolution=600.0)
    (finding,) = findings(old, profile(*new.ops, load=1.0))
    assert finding.message.endswith("the machine is busier or slower; only above 60 % would have been told")
    # All others cost 1.2 times as much, which widens the band to 44 %: 400 us * 1.2 * 1.44 is 73 % more.
    slower = profile(*(op(one.name, one.self_host_us * (1.65 if one.family == "conv" else 1.2)) for one in old.ops))
    (finding,) = (f for f in findings(old, slower) if f.family == "conv")
    assert finding.message.endswith("the machine is busier or slower; only above 73 % would have been told")


def test_a_twelfth_of_a_short_step():
    # A step of 200 us, of which 8 % are 16 us.
    assert found(*steps(scale=0.2, addmm=100.0 + 16.1 / 0.2)) == [(Kind.DEARER, "aten::addmm", True)]
    assert found(*steps(scale=0.2, addmm=100.0 + 15.9 / 0.2)) == [(Kind.NOISE, "aten::addmm", False)]


def test_a_device_s_clock_knows_no_such_difference():
    old, new = (on_device(one) for one in steps(addmm=110.0))
    assert [finding.kind for finding in findings(old, new)] == [Kind.DEARER]


@pytest.mark.parametrize(("now", "kind"), [(140.0, Kind.NOISE), (155.0, Kind.RATIO)])
def test_a_ratio_s_side_must_move_as_far(now, kind):
    assert (kind, "conv/addmm", kind is Kind.RATIO) in found(*steps(addmm=now), ratios=["conv/addmm"])


def test_load_widens_it_as_it_widens_the_bands():
    # All other cores busy: bands and floor are three times as wide, 60 % and 150 us.
    assert found(*steps(addmm=249.0), load=1.0) == [(Kind.NOISE, "aten::addmm", False)]
    assert found(*steps(addmm=251.0), load=1.0) == [(Kind.DEARER, "aten::addmm", True)]


def test_a_ratio_that_was_edited_is_not_what_processes_differ_by():
    """The rows say that nothing moved: the stored value is what does not fit."""
    old, new = steps()
    (finding,) = findings(old, new, {"conv/addmm": RecordedRatio(5.2, 0.0)}, Rules({"conv/addmm": 0.1}))
    assert (finding.kind, finding.fails) == (Kind.RATIO, True)
