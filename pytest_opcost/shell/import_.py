"""`opcost import`: a printed table or a trace -> a file of results that the other commands understand."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.errors import InputError
from pytest_opcost.shell.command import Command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.results import CheckResult

SUFFIX = ".opcost.json"
_WIDTH = 80
SUMMARY = "make a printed table or a trace of torch's profiler into results"
DESCRIPTION = """\
Make what torch's profiler printed or saved into a file of results.

FILE is a text with one or more tables, as print(prof.key_averages().table())
prints them, of any torch since 1.0; or a trace, as export_chrome_trace() and
tensorboard_trace_handler() write it (.json, .json.gz).

The results are written beside FILE, as FILE's name with .opcost.json, and are
what `opcost show` and `opcost compare` take. Nothing is judged. What the file
does not tell of the machine is unknown: say it, if you know it.
"""
EXAMPLES = """\
  opcost import trace.json.gz
  opcost import table.txt --steps 10 --torch 1.5.0 --device-name "GTX 1080 Ti"
  opcost import before.txt after.txt -o both.opcost.json
"""


def declare(parser: argparse.ArgumentParser) -> None:
    """The options that no other command has."""
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a text with tables, or a trace")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="write all results into this one file")
    parser.add_argument("--force", action="store_true", help="replace what is there")
    told = parser.add_argument_group("what the file does not tell")
    told.add_argument("--steps", metavar="N", type=_whole, help="steps it has, where none are marked (1)")
    told.add_argument("--means", action="store_true", help="of a trace, means over its steps, as tables have them")
    told.add_argument("--batch-size", metavar="N", type=_whole, help="the steps' batch size")
    told.add_argument("--device", metavar="DEVICE", type=_device, help="cpu, cuda, mps or xpu")
    told.add_argument("--device-name", metavar="NAME", help="the CPU's or the card's name")
    told.add_argument("--torch", metavar="VERSION", type=_version, help="torch's version")
    told.add_argument("--threads", metavar="N", type=_whole, help="CPU threads")


def run(args: argparse.Namespace) -> int:
    """Import all files and write them, or none of them; raises InputError where one cannot be.

    Returns 0.
    """
    from pytest_opcost.imports.document import run_of
    from pytest_opcost.imports.files import import_file
    from pytest_opcost.imports.known import Known
    from pytest_opcost.report.json import json_text

    known = Known(
        args.device, args.device_name, args.torch, args.threads, args.steps, args.batch_size, means=args.means
    )
    outputs = {} if args.json and args.output is None else _outputs(args.files, args.output, force=args.force)
    imported = {path: import_file(path, known) for path in args.files}
    every = [result for results in imported.values() for result in results]
    for output, sources in outputs.items():
        _write(output, json_text(run_of([result for source in sources for result in imported[source]])))
    if args.json:
        sys.stdout.write(json_text(run_of(every), ascii_only=True))
        return 0
    for output, sources in outputs.items():
        told = (line for source in sources for result in imported[source] for line in _told(result))
        print("\n".join([f"{output}: written", *told]))
    return 0


def _whole(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return int(text)


def _device(text: str) -> str:
    from pytest_opcost.errors import OptionError
    from pytest_opcost.values import device_name

    try:
        return device_name("--device", text)
    except OptionError as error:
        raise argparse.ArgumentTypeError(" ".join(str(error).splitlines()[:2])) from None


def _version(text: str) -> str:
    if re.fullmatch(r"\d+\.\d+\S*", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no version of torch. Expected: such as 2.4.1 or 1.5.0")
    return text


def _outputs(files: Sequence[Path], output: Path | None, *, force: bool) -> dict[Path, list[Path]]:
    """Each file to write, and what goes into it. Raises InputError where something would be lost."""
    outputs: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(files):
        outputs.setdefault(output or beside(path), []).append(path)
    originals = {path.resolve() for path in files}
    for target, sources in outputs.items():
        if target.resolve() in originals:
            raise InputError(f"{target}: that is the file to import.\nChoose another place for the results with -o.")
        if output is None and len(sources) > 1:
            names = " and ".join(map(str, sources))
            raise InputError(f"{target}: {names} would both be written there.\nGive them one file with -o.")
        if target.exists() and not force:
            raise InputError(f"{target}: this file exists.\nTo replace it: --force. To write elsewhere: -o OUT")
    return outputs


def beside(path: Path) -> Path:
    """Where a file's results are written: `run.pt.trace.json.gz` -> `run.pt.trace.opcost.json`."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain.with_name(plain.stem + SUFFIX)


def _write(path: Path, text: str) -> None:
    from pytest_opcost.whole_files import replace_file

    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise InputError(
            f"{path}: the results could not be written: {error.strerror or error}.\nChoose another place with -o."
        ) from None


def _told(result: CheckResult) -> Iterator[str]:
    """A line of figures, and what a reader of them must know."""
    from pytest_opcost.report.quantities import digits, short_time

    profile = result.profile
    parts = [f"{len(profile.ops)} operators", f"host {short_time(profile.total_host_us)}"]
    parts += [f"{profile.environment.device} {short_time(profile.total_device_us)}"] if profile.total_device_us else []
    parts += [f"{form} {digits(value)}" for form, value in result.ratios.items()]
    lines = [f"{result.subject.title}: {', '.join(parts)}", *(f"- {remark}" for remark in profile.remarks)]
    for line in lines:
        yield from textwrap.wrap(
            line, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )


COMMAND = Command("import", SUMMARY, DESCRIPTION, EXAMPLES, declare, run)
