"""The options that pytest is told of, each with its ini twin, and what `--device` stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost import values
from pytest_opcost.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Option:
    """One option of the plugin and its ini twin."""

    name: str
    help: str
    parse: Callable[[str, Any], Any]
    metavar: str | None = None
    repeatable: bool = False

    @property
    def ini(self) -> str:
        return "opcost_" + self.name.replace("-", "_")

    @property
    def dest(self) -> str:
        return self.ini


OPTIONS: tuple[Option, ...] = (
    Option("device", "device to run on: cpu (default), cuda, cuda:1, mps, xpu; repeatable",
            values.list_of(values.device_name), "DEVICE", True),
    Option("batch-size", "batch sizes to run with (default 1,16,64)", values.list_of(values.positive), "N,N,..."),
    Option("baselines", "folder of the baselines (default: baselines, beside the ini file)", values.path, "DIR"),
    Option("missing", "a test without a baseline: record (default), report or fail (default where CI is set)",
            values.one_of("record", "report", "fail"), "WHAT"),
    Option("mnist", "folder with MNIST's four IDX files, or `sample` for the shipped images "
                     "(also OPCOST_MNIST in the environment)", values.text, "DIR"),
    Option("threads", "CPU threads while measuring (default 1)", values.positive, "N"),
    Option("allocator", "quiet (default: glibc keeps memory between steps) or system",
            values.one_of("quiet", "system"), "WHICH"),
    Option("warmup", "steps before the measured ones (default 5)", values.natural, "N"),
    Option("steps", "measured steps (default: 30, more of short ones to fill 0.3 s)", values.positive, "N"),
    Option("rounds", "fresh processes that a new baseline is made of (default 5)", values.natural, "N"),
    Option("confirm", "fresh processes that a cost may take to be confirmed (default 12)", values.natural, "N"),
    Option("base", "judge against this commit, measured beside yours on this machine, instead of baselines",
            values.text, "REF"),
    Option("base-python", "judge against the same tests run by this other interpreter, instead of baselines",
            values.path, "PATH"),
    Option("turns", "where another process measures on the same device, such as another worker of pytest-xdist: wait "
                    "(default) for its turn, or refuse to measure", values.one_of("wait", "refuse"), "WHAT"),
    Option("top", "operators shown and kept in detail (default 10)", values.positive, "N"),
    Option("tolerance", "the least change of an operator that is worth telling, as a part of its cost (default 0.01 of "
                         "host time, 0.003 of device time); what noise explains comes on top", values.fraction, "X"),
    Option("floor", "the same in microseconds a step; the larger of the two counts (default 5 of host time, 0.5 of "
                     "device time)", values.microseconds, "US"),
    Option("ratio", "a ratio to watch and its band, such as copy/total=0.10; repeatable",
            values.list_of(values.ratio), "A/B=X", True),
    Option("on-drift", "fail (default) or report", values.one_of("fail", "report"), "WHAT"),
    Option("fail-on", "dearer (default: an operator that became cheaper is told), or drift: it fails too",
            values.one_of("dearer", "drift"), "WHAT"),
    Option("epochs", "epochs that `lenet_training` trains (default: 14 on the full MNIST, 1 on the sample)",
            values.positive, "N"),
    Option("html", "write a page with all results to this folder", values.path, "DIR"),
    Option("markdown", "write the Lab's report to this file, its pictures beside it", values.path, "FILE"),
    Option("tensorboard", "write curves, graphs and costs for TensorBoard to this folder", values.path, "DIR"),
    Option("json", "write everything that was measured and judged to this file", values.path, "FILE"),
)  # fmt: skip

FLAGS: tuple[tuple[str, str], ...] = (
    ("opcost", "measure the opcost tests and compare them with their baselines"),
    ("opcost-update-baselines", "write the baseline of every measured test (implies --opcost)"),
    ("opcost-update-missing", "write only the baselines that do not exist yet (implies --opcost)"),
    ("opcost-add-rounds", "add this session's fresh processes to the baselines that hold (implies --opcost)"),
    ("opcost-prune-baselines", "remove the baselines whose test no longer exists"),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its ini twin."""
    group = parser.getgroup("opcost", "operator-cost regression (pytest-opcost)")
    for name, text in FLAGS:
        group.addoption(f"--{name}", action="store_true", default=None, dest=name.replace("-", "_"), help=text)
        parser.addini(name.replace("-", "_"), text, type="bool", default=None)
    for option in OPTIONS:
        action = "append" if option.repeatable else "store"
        group.addoption(
            f"--opcost-{option.name}", action=action, default=None, dest=option.dest, metavar=option.metavar,
            help=option.help,
        )  # fmt: skip
        if option.repeatable:
            parser.addini(option.ini, option.help, type="linelist", default=None)
        else:
            parser.addini(option.ini, option.help, type="string", default=None)


def add_device_alias(parser: pytest.Parser) -> bool:
    """`--device` as a second name of `--opcost-device`, unless another plugin or a conftest owns it: then False."""
    try:
        _, unknown = parser.parse_known_and_unknown_args(["--device=cpu"])
    except Exception:  # whatever the owner makes of the value, it is an owner's doing
        return False
    if not unknown:
        return False
    parser.getgroup("opcost").addoption(
        "--device",
        action="append",
        default=None,
        dest="opcost_device",
        type=_checked_alias,
        metavar="DEVICE",
        help="same as --opcost-device",
    )
    return True


def _checked_alias(value: str) -> str:
    """The value of `--device` as it is; checked here, where it is still known which of the two names was written."""
    try:
        values.list_of(values.device_name)("--device", value)
    except OptionError as error:
        raise pytest.UsageError(str(error)) from None
    return value
