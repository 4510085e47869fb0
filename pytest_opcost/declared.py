"""The options that take a value, of which pytest is told where one may stand; their ini twins; and `--device`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.plugin import ALL_DECLARED, FLAGS, GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pytest_opcost.options import Options

#: In a process that is a round of another run (see `rounds`): turns the options that are found there into that run's.
AS_ASKED: pytest.StashKey[Callable[[Options], Options]] = pytest.StashKey()
#: Whether somebody else owns `--device`, which this command line has.
FOREIGN_DEVICE: pytest.StashKey[bool] = pytest.StashKey()


@dataclass(frozen=True, slots=True)
class Option:
    """One option of the plugin and its ini twin.

    `kind` says which values make sense, see `values.parser`.
    """

    name: str
    help: str
    kind: str
    metavar: str | None = None
    repeatable: bool = False

    @property
    def dest(self) -> str:
        """Where pytest keeps its value, which is also its name in the ini file."""
        return "opcost_" + self.name.replace("-", "_")

    ini = dest


OPTIONS: tuple[Option, ...] = (
    Option("device", "device to run on: cpu (default), cuda, cuda:1, mps, xpu; repeatable",
            "devices", "DEVICE", True),
    Option("batch-size", "batch sizes to run with (default 1,16,64)", "sizes", "N,N,..."),
    Option("baselines", "folder of the baselines (default: baselines, beside the ini file)", "path", "DIR"),
    Option("missing", "a test without a baseline: record (default), report or fail (default where CI is set)",
            "record|report|fail", "WHAT"),
    Option("mnist", "folder with MNIST's four IDX files, or `sample` for the shipped images "
                     "(also OPCOST_MNIST in the environment)", "text", "DIR"),
    Option("threads", "CPU threads while measuring (default 1)", "positive", "N"),
    Option("allocator", "quiet (default: glibc keeps memory between steps) or system",
            "quiet|system", "WHICH"),
    Option("warmup", "steps before the measured ones (default 5)", "natural", "N"),
    Option("steps", "measured steps (default: 30, and more of short ones)", "positive", "N"),
    Option("rounds", "fresh processes that a new baseline is made of (default 5)", "natural", "N"),
    Option("confirm", "fresh processes that a cost may take to be confirmed (default 12)", "natural", "N"),
    Option("base", "judge against this commit, measured beside yours on this machine, instead of baselines",
            "text", "REF"),
    Option("base-python", "judge against the same tests run by this other interpreter, instead of baselines",
            "path", "PATH"),
    Option("turns", "where another process measures on the same device, such as another worker of pytest-xdist: wait "
                    "(default) for its turn, or refuse to measure", "wait|refuse", "WHAT"),
    Option("top", "operators shown and kept in detail (default 10)", "positive", "N"),
    Option("tolerance", "the least change of an operator that is worth telling, as a part of its cost (default 0.01 of "
                         "host time, 0.003 of device time); what noise explains comes on top", "fraction", "X"),
    Option("floor", "the same in microseconds a step; the larger of the two counts (default 2 of host time, 0.01 of "
                     "device time)", "microseconds", "US"),
    Option("ratio", "a ratio to watch and its band (default 0.10), such as copy/total=0.05; repeatable",
            "ratios", "A/B=X", True),
    Option("on-drift", "fail (default) or report", "fail|report", "WHAT"),
    Option("fail-on", "dearer (default: an operator that became cheaper is told), or drift: it fails too",
            "dearer|drift", "WHAT"),
    Option("epochs", "epochs that `lenet_training` trains (default: 14 on the full MNIST, 1 on the sample)",
            "positive", "N"),
    Option("html", "write a page with all results to this folder", "path", "DIR"),
    Option("markdown", "write a Markdown report to this file, its pictures beside it", "path", "FILE"),
    Option("tensorboard", "write curves, graphs and costs for TensorBoard to this folder", "path", "DIR"),
    Option("export", "write the results for others, as bencher, csv, github-action-benchmark, gitlab, openmetrics or "
                     "pytest-benchmark; repeatable", "exports", "FORMAT:PATH", True),
    Option("json", "write everything that was measured and judged to this file", "path", "FILE"),
)  # fmt: skip

#: What parametrizes tests of `opcost_device` and `opcost_batch_size` that take no `opcost`, and run without it.
_FOR_EVERY_RUN = ("device", "batch-size")


def add_options(parser: pytest.Parser) -> None:
    """Declare every option that takes a value, and its ini twin."""
    group = parser.getgroup(GROUP)
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


def anything_given(config: pytest.Config) -> bool:
    """Whether an option is set: on the command line, in the ini file, or by the run that this is a round of."""
    if config.stash.get(AS_ASKED, None) is not None:
        return True
    dests = [name.replace("-", "_") for name, _ in FLAGS] + [option.dest for option in OPTIONS]
    return any(on_command_line(config, dest) is not None or in_ini_file(config, dest) for dest in dests)


def on_command_line(config: pytest.Config, dest: str) -> Any:
    """What the command line has for an option; None also where the options are not declared."""
    return config.getoption(dest, None)


def in_ini_file(config: pytest.Config, name: str) -> Any:
    """What the ini file has for an option; None also where not all are declared, since it has none of them then."""
    return config.getini(name) if ALL_DECLARED in config.stash else None


def without_effect(words: Sequence[object]) -> list[str]:
    """The options among a command line's words that nothing comes of where nothing is measured.

    Those of the ini file and of `addopts` are not among them: there they wait for the run that measures.
    """
    given = _named(words)
    names = [f"--opcost-{option.name}" for option in OPTIONS if option.name not in _FOR_EVERY_RUN]
    return [name for name in names if name in given]


def asks_for_a_base(words: Sequence[object]) -> bool:
    """Whether a command line's words, without `addopts`, have what makes sense of a run that measures alone."""
    return not _named(words).isdisjoint(("--opcost-base", "--opcost-base-python"))


def _named(words: Sequence[object]) -> set[str]:
    return {str(word).partition("=")[0] for word in words}


class NoEffect:
    """A plugin that says at the end of which options nothing came; no warning, which -W error makes a failure."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(f"opcost: no effect without --opcost: {', '.join(self._names)}", yellow=True)


def before_conftests(config: pytest.Config, args: Sequence[str]) -> None:
    """Prepare the process before a conftest can import torch."""
    words = list(map(str, args))
    given = any(word.startswith("--opcost") for word in words)
    if given:
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # Kineto reads it when torch is first imported
    if "PYTEST_XDIST_WORKER" in os.environ and (given or config.getini("opcost")):
        from pytest_opcost import cards

        cards.turn_cards([*words, *(config.getini("opcost_device") or ())])


def after_conftests(config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Take `--device`, if nobody else owns it; only where it or help is asked for, since looking takes its time."""
    if any(word.startswith("--device") or word in ("-h", "--help") for word in map(str, args)):
        config.stash[FOREIGN_DEVICE] = not add_device_alias(parser)


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
    from pytest_opcost.errors import OptionError
    from pytest_opcost.values import parser

    try:
        parser("devices")("--device", value)
    except OptionError as error:
        raise pytest.UsageError(str(error)) from None
    return value
