"""`opcost machine`: the key that baselines are kept under here, and what it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import values
from pytest_opcost.plain import environment_document
from pytest_opcost.report.tables import plain_table
from pytest_opcost.report.wrapping import wrapped
from pytest_opcost.shell.command import Command
from pytest_opcost.shell.known import FileError
from pytest_opcost.shell.printing import show_json, show_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_opcost.costs import Environment


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", metavar="DEVICE", action="append",
        help="cpu, cuda, cuda:1, mps, xpu; repeatable (default: all kinds that torch sees here)",
    )  # fmt: skip
    parser.add_argument("--threads", metavar="N", default="1", help="as with --opcost-threads (default 1)")
    parser.add_argument("--allocator", metavar="WHICH", default="quiet", help="quiet (default) or system")
    parser.add_argument(
        "--baselines", metavar="DIR", type=Path, default=Path("baselines"), help="their folder (default: baselines)"
    )


def _run(given: argparse.Namespace) -> int:
    threads = values.positive("--threads", given.threads)
    quiet = values.one_of("quiet", "system")("--allocator", given.allocator) == "quiet"
    names = values.list_of(values.device_name)("--device", given.device) if given.device else None
    try:
        from pytest_opcost.measure import environments_of
        from pytest_opcost.measure.threads import limited_threads

        with limited_threads(threads):  # as while measuring, since it is one of the settings
            found = environments_of(names or _visible(), threads, quiet=quiet, option="--device")
    except ImportError as error:
        raise FileError(f"the machine's key needs torch: {error}.\nInstall torch, 2.4 or newer.") from None
    if given.json:
        show_json({"machines": [_as_data(one, given.baselines) for one in found]})
    else:
        show_lines(line for one in found for line in _lines(one, given.baselines))
    return 0


def _visible() -> list[str]:
    """The kinds of devices that torch sees here."""
    import torch

    kinds = [(kind, getattr(torch, kind, None)) for kind in ("cuda", "mps", "xpu")]
    return ["cpu", *(kind for kind, module in kinds if module is not None and module.is_available())]


def _lines(environment: Environment, baselines: Path) -> Iterator[str]:
    yield from wrapped(environment.machine_key, "    ")
    yield from (f"  {line}" for line in plain_table(_parts(environment), ["in the key", "here"], left=2))
    count = _baselines(environment, baselines)
    folder = baselines / environment.machine_key
    yield from wrapped(f"  baselines: {count or 'none'} in {folder}", "    ")
    settings = ", ".join(f"{name} {value}" for name, value in environment.settings)
    yield from wrapped(f"  not in the key, and compared exactly: {settings}", "    ")
    details = ", ".join(f"{name} {value}" for name, value in environment.details)
    yield from wrapped(f"  only told: {details}", "    ")
    yield ""


def _parts(environment: Environment) -> list[list[str]]:
    """What the key is made of, see `Environment.machine_key`."""
    rows = [["device", environment.device], ["model", environment.device_name]]
    if environment.device == "cpu":
        rows += [["threads (--threads)", str(environment.threads)]]
        silent = ", which the key leaves out" if environment.allocator == "quiet" else ""
        rows += [["allocator (--allocator)", f"{environment.allocator}{silent}"]]
    return [*rows, ["torch's minor version", f"{environment.torch_minor} (of {environment.torch})"]]


def _baselines(environment: Environment, folder: Path) -> int:
    return len(list((folder / environment.machine_key).glob("*.yaml")))


def _as_data(environment: Environment, baselines: Path) -> dict[str, Any]:
    return {
        **environment_document(environment),
        "baselines": _baselines(environment, baselines),
    }


COMMAND = Command(
    name="machine",
    summary="the key of this machine, and what it is made of",
    description="""\
Costs belong to one machine, so baselines are kept in a folder for each:
baselines/KEY. This shows the key of each device here, and what goes into it.
Asks torch, so it takes a few seconds.""",
    examples="""\
  opcost machine
  opcost machine --device cuda --device cpu --threads 4""",
    declare=_declare,
    run=_run,
)
