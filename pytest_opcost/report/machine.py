"""What was measured on, as the rows of a report: the Lab's, and those that a judge of costs must know.

A page has a column for each machine; a text has one for the whole run, with all that its machines have in each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.report.quantities import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.costs import Environment
    from pytest_opcost.results import RunResults

_NOT_USED, _UNKNOWN = "not used", "unknown"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: its part (`Hardware`), its name, and a value for each column."""

    part: str
    name: str
    values: tuple[str, ...]


def machines(run: RunResults) -> tuple[Environment, ...]:
    """The environments of a run, one for each machine key."""
    first: dict[str, Environment] = {}
    for environment in _measured_on(run):
        first.setdefault(environment.machine_key, environment)
    return tuple(first.values())


def machine_rows(environments: Iterable[Environment]) -> tuple[Row, ...]:
    """The table's rows, a value for each environment."""
    columns = [_column(environment) for environment in environments]
    names = dict.fromkeys(name for column in columns for name in column)
    return tuple(Row(part, name, tuple(column.get((part, name), NONE) for column in columns)) for part, name in names)


def run_rows(run: RunResults) -> tuple[Row, ...]:
    """The rows of one table for the whole run, of one value each, and none for what is not known of any machine."""
    known = _measured_on(run)
    if not known:
        return ()
    cards = [one for one in known if one.device != "cpu"]
    models = (f"{one.device_name}, {_count_of(cards, one)}" for one in cards)
    data = [*(one.data or "" for one in run.checks), *(one.data for one in run.trainings)]
    rows = {
        ("Hardware", "CPU (number of vCPUs)"): _each(map(_cpu_with_cores, known)),
        ("Hardware", "GPU (model, number)"): _each(models) or "none used",
        ("Software", "OS version"): _each(map(_system, known)),
        ("Software", "Framework: Python packages and versions"): _each(map(_packages, known)),
        ("Software", "CUDA version"): _each(map(_cuda_with_cudnn, cards)) or "none used",
        ("Measured", "Instruction set or compute capability"): _each(one.capability for one in known),
        ("Measured", "CPU threads"): _each(_threads(one) for one in known),
        ("Measured", "Allocator"): _each(one.allocator for one in known),
        ("Measured", "Machine, as baselines call it"): _each(one.machine_key for one in known),
        ("Measured", "Data"): _each(data),
    }
    return tuple(Row(part, name, (value,)) for (part, name), value in rows.items() if value)


def _measured_on(run: RunResults) -> list[Environment]:
    # As tests were measured, which is not as the run began: settings are in force only while measuring.
    known = [one.profile.environment for one in run.checks] + [training.environment for training in run.trainings]
    return [*known, *run.environments]


def _column(environment: Environment) -> dict[tuple[str, str], str]:
    gpu = environment.device != "cpu"
    return {
        ("Hardware", "CPU"): _cpu(environment) or _UNKNOWN,
        ("Hardware", "CPU cores"): _detail(environment, "cpus") or _UNKNOWN,
        ("Hardware", "GPU"): environment.device_name if gpu else _NOT_USED,
        ("Hardware", "Number of GPUs"): (_detail(environment, "gpus") or _UNKNOWN) if gpu else _NOT_USED,
        ("Software", "Operating system"): _system(environment) or _UNKNOWN,
        ("Software", "Framework"): f"torch {environment.torch}",
        ("Software", "CUDA"): _detail(environment, "cuda") or _NOT_USED,
        ("Software", "cuDNN"): _detail(environment, "cudnn") or _NOT_USED,
        ("Software", "Python"): _detail(environment, "python") or _UNKNOWN,
        ("Measuring", "Machine"): environment.machine_key,
        ("Measuring", "Instruction set or compute capability"): environment.capability,
        ("Measuring", "CPU threads"): _threads(environment),
        ("Measuring", "Allocator"): environment.allocator,
        **{("Settings", name): value for name, value in environment.settings},
    }


def _each(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, values)))


def _detail(environment: Environment, name: str) -> str:
    return dict(environment.details).get(name, "")


def _threads(environment: Environment) -> str:
    return str(environment.threads) if environment.threads else _UNKNOWN


def _cpu(environment: Environment) -> str:
    # An accelerator's environment names the processor beside it; a CPU's is one.
    return _detail(environment, "cpu") or (environment.device_name if environment.device == "cpu" else "")


def _cpu_with_cores(environment: Environment) -> str:
    name, count = _cpu(environment), _detail(environment, "cpus")
    return name + (f" ({count})" if name and count else "")


def _count_of(cards: Iterable[Environment], like: Environment) -> int:
    """How many cards of this model were used; a card tells itself apart by a hash of its own."""
    return len({one.card for one in cards if one.device_name == like.device_name})


def _system(environment: Environment) -> str:
    return ", ".join(filter(None, (_detail(environment, name) for name in ("distribution", "os"))))


def _packages(environment: Environment) -> str:
    python = _detail(environment, "python")
    return f"torch {environment.torch}" + (f", Python {python}" if python else "")


def _cuda_with_cudnn(environment: Environment) -> str:
    cuda, cudnn = _detail(environment, "cuda"), _detail(environment, "cudnn")
    return cuda + (f", cuDNN {cudnn}" if cuda and cudnn else "")
