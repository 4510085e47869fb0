"""The way in: arguments -> one subcommand -> an exit status; whatever goes wrong is told in words."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import pytest_opcost
from pytest_opcost.errors import OpcostError
from pytest_opcost.report.tables import WIDTH
from pytest_opcost.shell import compare, history, import_, machine, prune, report, show
from pytest_opcost.shell.command import MISUSED
from pytest_opcost.shell.printing import complain, make_printable

if TYPE_CHECKING:
    from collections.abc import Sequence

#: In the order in which the help names them; a further one is a line here.
COMMANDS = (
    show.COMMAND,
    compare.COMMAND,
    history.COMMAND,
    import_.COMMAND,
    report.COMMAND,
    prune.COMMAND,
    machine.COMMAND,
)

_DESCRIPTION = """\
What pytest-opcost measured and recorded, without running pytest: look at
baselines and results, compare them, and follow them through git."""
_EPILOGUE = """\
Baselines are the files below `baselines/` that `pytest --opcost` records,
results what `pytest --opcost --opcost-json=FILE` writes.

exit status: 0; 1 where `compare` finds a drift; 2 where what was asked for
is not valid or cannot be read or written."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `opcost ARGUMENTS` (those of the command line); the exit status."""
    make_printable()
    try:
        status = _run(arguments)
        _flush()
        return status
    except BrokenPipeError:
        _drop_output()  # whoever reads has seen enough (`| head`)
        return 128 + 13  # as a shell tells of SIGPIPE
    except KeyboardInterrupt:
        complain("interrupted")
        return 128 + int(signal.SIGINT)
    except (OpcostError, OSError) as error:
        complain(str(error))
        try:
            _flush()
        except OSError:  # a full disk stays full
            _drop_output()
        return MISUSED


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _drop_output() -> None:
    """Let what is left of the output go nowhere: Python would try to flush it once more, and fail, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    try:
        given = _parser().parse_args(arguments)
    except SystemExit as end:  # argparse has told all: its help, or what is wrong
        return int(end.code or 0)
    status: int = given.run(given)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="opcost", description=_DESCRIPTION, epilog=_EPILOGUE, formatter_class=_Help, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"pytest-opcost {pytest_opcost.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for command in COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            epilog=f"examples:\n{command.examples}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        command.declare(own)
        own.add_argument("--json", action="store_true", help="print one JSON document instead, for programs")
        own.set_defaults(run=command.run)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints fit the width, too."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        complain(message)
        raise SystemExit(MISUSED)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of the same width wherever it goes."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=WIDTH, max_help_position=24)
