"""Command line and ini file -> frozen options. The only room that reads pytest's configuration."""

from __future__ import annotations

import os
import shlex
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import values
from pytest_opcost.check_options import CheckOptions
from pytest_opcost.declared import (
    AS_ASKED,
    OPTIONS,
    anything_given,
    asks_for_a_base,
    in_ini_file,
    on_command_line,
)
from pytest_opcost.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from pytest_opcost.partner import Partner


DEVICES, BATCH_SIZES = ("cpu",), (1, 16, 64)
#: Which file a test's baseline is, and what is in it.
_DECIDE_THE_BASELINE = ("mnist", "threads", "allocator", "ratio", "baselines")


class Missing(Enum):
    """What to do with a test that has no baseline."""

    RECORD = "record"
    REPORT = "report"
    FAIL = "fail"


class Update(Enum):
    """Which baselines a run may write on the user's word; without it missing ones alone, where that is allowed.

    `ROUNDS` adds a session's rounds to those that hold.
    """

    NONE = "none"
    ROUNDS = "rounds"
    MISSING = "missing"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that a run was told, checked. `github` says whether it is a step of a GitHub workflow.

    `only_measure` marks a process that is a round of another run, see `rounds`: its checks measure, and nothing
    is judged, written or reported. There `exact` says whether a check looks for exact facts too, `turn` is the round's
    number, and with a `partner` its checks measure in turns with those of another process. Where a round runs each test
    several times, `repetition` says which of them it is.

    `usual_devices` and `usual_batch_sizes` are those of a run whose command line asks for none, `repeated` the options
    by name that decide which baseline a test has, as this command line has them.
    """

    enabled: bool
    root: Path
    devices: tuple[str, ...]
    batch_sizes: tuple[int, ...]
    baselines: Path
    mnist: str | None
    cache: Path
    missing: Missing
    update: Update
    prune: bool
    threads: int
    quiet: bool
    rounds: int
    confirm: int
    json: Path | None
    html: Path | None = None
    markdown: Path | None = None
    tensorboard: Path | None = None
    epochs: int | None = None
    base: str | None = None
    base_python: Path | None = None
    exports: tuple[tuple[str, Path], ...] = ()
    github: bool = False
    turns_wait: bool = True
    check: CheckOptions = field(default_factory=CheckOptions)
    only_measure: bool = False
    exact: bool = True
    turn: int | None = None
    partner: Partner | None = None
    repetition: int | None = None
    usual_devices: tuple[str, ...] = DEVICES
    usual_batch_sizes: tuple[int, ...] = BATCH_SIZES
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def has_base(self) -> bool:
        """Whether it is judged against another commit or interpreter, in pairs, and not against baselines."""
        return self.base is not None or self.base_python is not None

    def needed(self, device: str | None, batch_size: int | None, *, mnist: bool) -> tuple[str, ...]:
        """What a command must have beside a test's id, so that pytest finds it, and its baseline, as this run did.

        `device` and `batch_size` are the test's parameters, None where it has none; `mnist` whether it takes MNIST.
        """
        found = []
        if (asked := device or self.devices[0]) not in self.usual_devices[: None if device else 1]:
            found.append(f"--opcost-device={asked}")
        if batch_size is not None and batch_size not in self.usual_batch_sizes:
            found.append(f"--opcost-batch-size={batch_size}")
        return (*found, *(one for name, all_ in self.repeated.items() if mnist or name != "mnist" for one in all_))


def read_options(config: pytest.Config, environ: Mapping[str, str] | None = None) -> Options:
    """All options, checked; the command line wins over the ini file, the ini file over the defaults.

    Raises OptionError for a value that is not valid, whether or not opcost is switched on.
    """
    environ = os.environ if environ is None else environ
    given: dict[str, Any] = {}
    usual: dict[str, Any] = {}
    repeated: dict[str, tuple[str, ...]] = {}
    for option in OPTIONS:
        value, parse = on_command_line(config, option.dest), values.parser(option.kind)
        in_file = in_ini_file(config, option.ini) or None
        if in_file is not None:
            # What the command line overrides need not be valid.
            with nullcontext() if value is None else suppress(OptionError):
                usual[option.name] = parse(f"{option.ini} in {config.inipath or 'the ini file'}", in_file)
        if value is not None:
            given[option.name] = parse(f"--opcost-{option.name}", value)
            repeated[option.name] = _as_given(option.name, value)
    given = usual | given

    def flag(name: str) -> bool:
        asked = on_command_line(config, name)
        return bool(in_ini_file(config, name)) if asked is None else bool(asked)

    def path(name: str) -> Path | None:
        return Path(given[name]) if name in given else None

    update = Update.ROUNDS if flag("opcost_add_rounds") else Update.NONE
    if flag("opcost_update_missing"):
        update = Update.MISSING
    if flag("opcost_update_baselines"):
        update = Update.ALL
    ratios = {"ratios": dict(given["ratio"])} if "ratio" in given else {}
    named = ("top", "tolerance", "floor", "warmup", "steps", "on-drift", "fail-on")
    per_check = [name for name in named if name in given]
    check = {name.replace("-", "_"): given[name] for name in per_check}
    root = config.rootpath
    found = Options(
        enabled=flag("opcost") or update is not Update.NONE or asks_for_a_base(config.invocation_params.args),
        root=root,
        devices=given.get("device", DEVICES),
        batch_sizes=given.get("batch-size", BATCH_SIZES),
        usual_devices=usual.get("device", DEVICES),
        usual_batch_sizes=usual.get("batch-size", BATCH_SIZES),
        repeated={name: repeated[name] for name in _DECIDE_THE_BASELINE if name in repeated},
        baselines=root / given.get("baselines", "baselines"),
        mnist=given.get("mnist") or environ.get("OPCOST_MNIST") or None,
        cache=Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-opcost",
        missing=_missing(given.get("missing", "record"), in_ci=values.switched_on(environ.get("CI", ""))),
        update=update,
        prune=flag("opcost_prune_baselines"),
        threads=given.get("threads", 1),
        quiet=given.get("allocator", "quiet") == "quiet",
        rounds=given.get("rounds", 5),
        confirm=given.get("confirm", 12),
        json=path("json"),
        html=path("html"),
        markdown=path("markdown"),
        tensorboard=path("tensorboard"),
        epochs=given.get("epochs"),
        turns_wait=given.get("turns", "wait") == "wait",
        base=given.get("base"),
        base_python=path("base-python"),
        exports=tuple((kind, Path(file)) for kind, file in given.get("export", ())),
        github=values.switched_on(environ.get("GITHUB_ACTIONS", "")),
        check=CheckOptions().updated({**check, **ratios}, "the options"),
    )
    _refuse_contradictions(found, config)
    as_asked = config.stash.get(AS_ASKED, None)
    return found if as_asked is None else as_asked(found)


def _as_given(name: str, value: object) -> tuple[str, ...]:
    """An option as a shell takes it, as often as it was given."""
    given = value if isinstance(value, (list, tuple)) else [value]
    return tuple(shlex.quote(f"--opcost-{name}={one}") for one in given)


def _refuse_contradictions(options: Options, config: pytest.Config) -> None:
    """What is not valid together, and what can never lead to a verdict. Raises OptionError."""
    if not anything_given(config):
        return
    from pytest_opcost.judge.reference import FEWEST_ROUNDS

    if 0 < options.confirm < FEWEST_ROUNDS:
        raise OptionError(
            f"--opcost-confirm={options.confirm} could never confirm anything: a median of so few says too little.\n"
            f"Expected: {FEWEST_ROUNDS} or more (default 12), or 0, which lets the first measurement decide."
        )
    if on_command_line(config, "opcost_add_rounds") and options.update is not Update.ROUNDS:
        raise OptionError(
            "--opcost-add-rounds adds to baselines that hold, and the other update options write them anew.\n"
            "Expected: one of them."
        )
    if options.update is Update.ROUNDS and not options.rounds:
        raise OptionError(
            "--opcost-add-rounds with --opcost-rounds=0 has nothing to add.\nExpected: 1 round or more (default 5)."
        )
    if not options.has_base:
        return
    name = "--opcost-base" if options.base is not None else "--opcost-base-python"
    if options.update is not Update.NONE:
        raise OptionError(
            f"{name} judges against what is measured now, and the update options write baselines.\n"
            "Expected: one of the two.\nJudge first, then record: pytest --opcost-update-baselines"
        )
    if config.getoption("numprocesses", None) or config.getoption("tx", None):
        raise OptionError(
            f"{name} measures two sides in turns, and pytest-xdist runs tests at the same time.\n"
            "Expected: one test at a time.\nRun it with -n 0."
        )
    if options.rounds < FEWEST_ROUNDS:
        raise OptionError(
            f"{name} with --opcost-rounds={options.rounds} could never find a change of cost.\n"
            f"Expected: {FEWEST_ROUNDS} pairs or more (default 5)."
        )


def _missing(asked: str, *, in_ci: bool) -> Missing:
    """CI compares; it records only where one of the update options says so."""
    return Missing.FAIL if in_ci and asked == "record" else Missing(asked)


def paths_below(arguments: Sequence[str], root: Path) -> tuple[Path, ...]:
    """The whole files and folders among the command line's arguments, absolute; single tests are left out."""
    return tuple((root / argument).resolve() for argument in arguments if "::" not in argument)
