"""What a test's own markers and calls may set."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pytest_opcost.check_options import CheckOptions, marker_options
from pytest_opcost.errors import OptionError


def item(*markers):
    """A test with these `opcost` markers, the closest first, as pytest hands them out."""
    marks = [SimpleNamespace(args=args, kwargs=kwargs) for args, kwargs in markers]
    return SimpleNamespace(nodeid="test_a.py::test_b", iter_markers=lambda name: marks if name == "opcost" else [])


def test_the_closest_marker_wins_and_ratios_add_up():
    options = marker_options(
        item(
            ((), {"top": 3, "ratios": {"copy/total": 0.3}}), ((), {"top": 5, "warmup": 1, "ratios": {"pool/total": 1}})
        ),
        CheckOptions(tolerance=0.4),
    )
    expected = (("conv/addmm", None), ("pool/total", 1.0), ("copy/total", 0.3))
    assert options == CheckOptions(top=3, warmup=1, tolerance=0.4, ratios=expected)


def test_a_test_without_a_marker_has_the_defaults():
    assert marker_options(item(), CheckOptions(top=4)) == CheckOptions(top=4)


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        ((0.1,), {}, "takes keyword arguments only, found 0.1."),
        (
            (),
            {"tolerence": 1},
            "unknown argument tolerence.\nExpected: top, ratios, tolerance, floor, warmup, steps, on_drift, fail_on."
            "\nThe closest to tolerence is tolerance.",
        ),
        ((), {"b": 1, "a": 1}, "unknown arguments a, b."),
        ((), {"top": True}, "top=True is not valid."),
        ((), {"steps": 0}, "steps=0 is not valid."),
        ((), {"warmup": -1}, "warmup=-1 is not valid."),
        ((), {"tolerance": float("inf")}, "tolerance=inf is not valid."),
        ((), {"floor": float("nan")}, "floor=nan is not valid.\nExpected: microseconds, 0 or more"),
        ((), {"fail_on": "cheaper"}, "fail_on='cheaper' is not valid.\nExpected: dearer or drift."),
        ((), {"on_drift": "ignore"}, "on_drift='ignore' is not valid.\nExpected: fail or report."),
        ((), {"ratios": {"conv": 1}}, "ratios: 'conv' is no ratio."),
    ],
)
def test_a_marker_that_makes_no_sense(args, kwargs, told):
    with pytest.raises(OptionError) as caught:
        marker_options(item((args, kwargs)), CheckOptions())
    assert str(caught.value).startswith(f"@pytest.mark.opcost of test_a.py::test_b: {told}")


def test_an_argument_of_none_changes_nothing():
    options = CheckOptions(tolerance=0.3, steps=9)
    assert options.updated({"tolerance": None, "steps": None}, "here") == options
