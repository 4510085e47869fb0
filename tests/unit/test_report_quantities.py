"""Quantities as a reader takes them in."""

from __future__ import annotations

import pytest

from pytest_opcost.report.quantities import (
    accuracy_text,
    band_text,
    change_text,
    digits,
    flop_text,
    rate_text,
    share_text,
    short_time,
    time_text,
    times_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (0.5, "0.500"),
        (3.254, "3.25"),
        (9.999, "10.0"),
        (123.4, "123"),
        (1239.6, "1,240"),
    ],
)
def test_three_digits_and_no_powers_of_ten(value, text):
    assert digits(value) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0.0, "0 µs"),
        (0.85, "0.850 µs"),
        (812.4, "812 µs"),
        (999.9, "1.00 ms"),
        (23_340, "23.3 ms"),
        (1_354_000, "1.35 s"),
    ],
)
def test_times(us, text):
    assert time_text(us) == text


def test_operations_and_rates():
    assert flop_text(37_789_696) == "37.8 MFLOP"
    assert rate_text(37_789_696, 881.0) == "42.9 GFLOP/s"
    assert (flop_text(0), rate_text(0, 5.0), rate_text(5, 0.0)) == ("–", "–", "–")  # noqa: RUF001


def test_shares_changes_and_factors():
    assert (share_text(0.4612), accuracy_text(0.98954)) == ("46.1 %", "98.95 %")
    assert [change_text(by) for by in (0.123, -0.004, 0.0001, -0.0001)] == ["+12.3 %", "−0.4 %", "0.0 %", "0.0 %"]  # noqa: RUF001
    assert (times_text(1.44), times_text(12.3)) == ("1.4 times", "12 times")
    assert (band_text(0.041), band_text(11.4)) == ("± 4.1 %", "up to 12 times")


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0.5, "0.5 us"),
        (812.3, "812 us"),
        (999.96, "1 ms"),
        (1000, "1 ms"),
        (23_310, "23.3 ms"),
        (1_350_000, "1.35 s"),
        (61_000_000, "61 s"),
    ],
)
def test_short_time(us, text):
    assert short_time(us) == text
