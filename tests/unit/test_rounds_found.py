"""From what a round's process sent home, and how it ended, to what the round found."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from records import op, profile, result, step

from pytest_opcost import RoundError
from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.rounds import Side
from pytest_opcost.rounds.found import found_in
from pytest_opcost.rounds.process import Ended

SIDE = Side("base", Path("/usr/bin/python3"), Path("/base"), Path("/base"))
FACTS = OpFacts(
    (("f32[2,3]", 2), ("f32[3]", 1)), 200, (("gemm", 2),), 1, 64, (Place("forward", "fc1", "model.py:3"),), ("syncs",)
)


@pytest.fixture
def read(tmp_path):
    """Reads lines as those of a round of some tests whose process ended in some way."""

    def run(lines, *tests, returncode=0, output=b"", cut=""):
        path = tmp_path / "found.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + cut)
        return found_in(path, SIDE, tests, Ended(returncode, output, 30.0))

    return run


def started(test):
    return {"kind": "started", "test": test}


def finished(test):
    return {"kind": "finished", "test": test}


def measured(test, *checks, cost=None):
    results = [result(cost, test=test, check=check).to_data() for check in checks or (None,)]
    return {"kind": "measured", "test": test, "results": results}


def failed(test, text):
    return {"kind": "failed", "test": test, "text": text}


def end(status=0):
    return {"kind": "end", "status": status}


def whole(test):
    return [started(test), measured(test), finished(test)]


def test_profiles_come_home_as_they_were(read):
    cost = profile(op("aten::mm", 3.25, facts=FACTS), op("my::thing", 0.1 + 0.2, device_us=1 / 3))

    found = read([started("a"), measured("a", None, "second", cost=cost), finished("a"), end()], "a")

    assert found.side == "base"
    assert found.failures == {}
    assert found.profiles == {("a", None): cost, ("a", "second"): cost}


def test_a_test_may_measure_and_fail(read):
    found = read([started("a"), measured("a"), failed("a", "one"), failed("a", "two"), finished("a"), end(1)], "a")

    assert found.profiles == {("a", None): step()}
    assert found.failures == {"a": "one\ntwo"}


def test_a_test_that_measured_nothing_is_a_failure(read):
    found = read([started("a"), finished("a"), *whole("b"), end()], "a", "b")

    assert found.failures == {"a": "ended without a call of opcost.check"}


@pytest.mark.parametrize(
    ("returncode", "how"),
    [
        (-signal.SIGSEGV, "the process was killed by SIGSEGV, in this test"),
        (-signal.SIGKILL, "the process was killed by SIGKILL, as the kernel does where memory runs out, in this test"),
        (-63, "the process was killed by signal 63, in this test"),
        (7, "the process ended on its own, with exit status 7, in this test"),
        (None, "the process took longer than 30 s and was stopped, in this test"),
    ],
)
def test_a_test_that_takes_the_process_down(read, returncode, how):
    output = b"a\nb\xff\n\x1b[31mFatal\x1b[0m\n\n"

    found = read([*whole("a"), started("b"), measured("b")], "a", "b", "c", returncode=returncode, output=output)

    assert found.profiles.keys() == {("a", None), ("b", None)}
    assert found.failures["b"].splitlines() == [
        how,
        "The end of what it printed:",
        "  a",
        "  b\N{REPLACEMENT CHARACTER}",
        "  Fatal",
        "Try it by hand: cd /base && /usr/bin/python3 -m pytest b --opcost",
    ]
    assert found.failures["c"] == "was not run: " + how.removesuffix(", in this test") + ", at b"
    assert list(found.failures) == ["b", "c"]


def test_a_line_that_was_cut_off_is_left_out(read):
    found = read([*whole("a"), started("b")], "a", "b", returncode=-9, cut='{"kind": "measured", "te')

    assert found.profiles.keys() == {("a", None)}
    assert found.failures.keys() == {"b"}


def test_a_process_that_dies_after_its_last_test_has_found_everything(read):
    for lines in (whole("a"), [*whole("a"), end()]):
        assert read(lines, "a", returncode=-11).failures == {}
        assert read(lines, "a", returncode=None).failures == {}


def test_pytest_exit_stops_a_round(read):
    lines = [*whole("a"), started("b"), finished("b"), end(7)]
    told = "was not run: the process was ended by pytest.exit, with exit status 7"

    assert read(lines, "a", "b", "c").failures == {"b": "ended without a call of opcost.check", "c": told}
    assert read([*whole("a"), end(2)], "a", "c").failures == {"c": "was not run: the process was interrupted"}


def test_a_plugin_may_stop_the_tests(read):
    told = "was not run: a plugin or a conftest there stopped the tests before it"

    assert read([*whole("a"), end(1)], "a", "b").failures == {"b": told}


@pytest.mark.parametrize(
    ("lines", "returncode", "how"),
    [
        ([end(4)], 4, "could not use its options"),
        ([end(3)], 3, "ended with an internal error of pytest or a plugin"),
        ([], 1, "ended on its own, with exit status 1"),
        ([], -11, "was killed by SIGSEGV"),
        ([], None, "took longer than 30 s and was stopped"),
    ],
)
def test_a_process_that_ends_before_its_first_test_makes_no_round(read, lines, returncode, how):
    with pytest.raises(RoundError) as caught:
        read(lines, "a b", returncode=returncode, output=b"ERROR: no such option")

    assert str(caught.value).splitlines() == [
        f"no round on base: pytest, run by /usr/bin/python3 in /base, {how}",
        "The end of what it printed:",
        "  ERROR: no such option",
        "Expected: what runs in this process runs in a fresh one too.",
        "Try it by hand: cd /base && /usr/bin/python3 -m pytest 'a b' --opcost",
    ]


def test_a_process_that_printed_nothing(read):
    with pytest.raises(
        RoundError, match=re.escape("SIGKILL, as the kernel does where memory runs out\nIt printed nothing.")
    ):
        read([], "a", returncode=-9)


def test_long_output_is_told_by_its_end(read):
    output = b"".join(b"line %d\n" % number for number in range(100_000))

    text = read([started("a")], "a", returncode=-9, output=output).failures["a"]

    assert "  [...]\n  line 99980\n" in text
    assert "  line 99999\nTry" in text


def test_a_crash_is_told_by_its_innermost_calls(read):
    trace = "".join(f"  File {number}\n" for number in range(50))
    output = f"some words\nFatal Python error: Segmentation fault\n\n{trace}".encode()

    text = read([started("a")], "a", returncode=-11, output=output).failures["a"]

    assert "The end of what it printed:\n  Fatal Python error: Segmentation fault\n\n    File 0\n" in text
    assert "File 7\n" in text
    assert "File 8\n" not in text
