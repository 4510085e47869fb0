"""The options that say what counts as a drift: the same as pytest's, without `--opcost-` in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost import values
from pytest_opcost.judge import Rules

if TYPE_CHECKING:
    import argparse


def declare_rules(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument(
        "--tolerance", metavar="X",
        help="the least change of an operator worth telling, as a part of its cost (0.01 of host time, 0.003 of device "
        "time); what noise explains comes on top",
    )  # fmt: skip
    parser.add_argument("--floor", metavar="US", help="the same in microseconds a step; the larger counts")
    parser.add_argument(
        "--ratio", metavar="A/B=X", action="append", default=[],
        help="a ratio to compare and its band, such as copy/total=0.10; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--fail-on", metavar="WHAT", default="dearer",
        help="dearer (default), or drift: an operator that became cheaper is one too",
    )  # fmt: skip


def rules_of(given: argparse.Namespace) -> Rules:
    """The rules for one test; raises OptionError for a value that is not valid."""
    return Rules(
        dict(values.list_of(values.ratio)("--ratio", given.ratio)) if given.ratio else {},
        tolerance=None if given.tolerance is None else values.fraction("--tolerance", given.tolerance),
        floor_us=None if given.floor is None else values.microseconds("--floor", given.floor),
        cheaper_fails=values.one_of("dearer", "drift")("--fail-on", given.fail_on) == "drift",
    )
