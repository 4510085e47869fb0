"""When what is recorded of a test is written, and when not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from records import result, step

from pytest_opcost import carried
from pytest_opcost.found import Found
from pytest_opcost.judge import Outcome

if TYPE_CHECKING:
    from pytest_opcost.results import CheckResult


@dataclass(eq=False)
class Report:
    when: str
    outcome: str = "passed"
    nodeid: str = "a.py::test"
    worker_id: str = "gw0"


def recorded(check=None):
    return result(step(), Outcome.RECORDED, check=check, compared=False, changes=("new",), text="schema: 2")


def take(found, when, *results, **more):
    report = Report(when, **more)
    carried.send(report, results, [], away=False)
    found.take(report)


def begun(*, writable=True):
    written: list[CheckResult] = []

    def write(one):
        if writable:
            written.append(one)
        return writable

    return Found(write), written


def test_a_baseline_is_written_when_its_test_is_over():
    found, written = begun()
    one = recorded()
    take(found, "setup")
    take(found, "call", one)
    assert written == []
    take(found, "teardown")
    assert written == [one]
    found.end()
    assert found.results == [one]


def test_a_baseline_that_could_not_be_written_is_not_told_as_recorded():
    found, _ = begun(writable=False)
    take(found, "setup")
    take(found, "call", recorded())
    take(found, "teardown")
    (one,) = found.results
    assert (one.verdict.outcome, one.text) == (Outcome.NOT_JUDGED, None)
    assert one.changes == ("not written, since its file cannot be",)


def test_one_test_s_failure_is_no_other_s():
    found, written = begun()
    for worker in ("gw0", "gw1"):
        take(found, "setup", worker_id=worker)
        take(found, "call", recorded(worker), worker_id=worker, outcome="failed" if worker == "gw0" else "passed")
    for worker in ("gw0", "gw1"):
        take(found, "teardown", worker_id=worker)
    assert [one.subject.check for one in written] == ["gw1"]
    assert [one.changes for one in found.results] == [("not written, since the test failed",), ("new",)]


def test_a_test_that_is_skipped_in_its_midst_has_not_failed():
    found, written = begun()
    take(found, "call", recorded(), outcome="skipped")
    take(found, "teardown")
    assert len(written) == 1


def test_a_test_that_is_run_again_counts_as_it_went_the_last_time():
    found, written = begun()
    take(found, "setup")
    take(found, "call", recorded(), recorded("more"), outcome="rerun")
    take(found, "setup")
    assert {one.changes for one in found.results} == {("not written, since it was run again",)}
    last = recorded()
    take(found, "call", last)
    take(found, "teardown")
    assert written == [last]
    assert [(one.subject.check, one.text) for one in found.results] == [(None, "schema: 2"), ("more", None)]


def test_a_test_that_was_broken_off_leaves_nothing():
    found, written = begun()
    take(found, "call", recorded())
    found.end()
    (left,) = found.results
    assert (written, left.verdict.outcome, left.text) == ([], Outcome.NOT_JUDGED, None)
    assert left.changes == ("not written, since the test did not end",)


def test_rounds_that_are_not_added_leave_the_verdict_as_it_is():
    found, _ = begun()
    take(found, "call", result(text="schema: 2", changes=("now of 2 sessions",)), outcome="failed")
    take(found, "teardown")
    (left,) = found.results
    assert (left.verdict.outcome, left.text) == (Outcome.PASSED, None)
