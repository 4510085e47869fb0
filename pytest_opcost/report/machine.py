"""What was measured on, as the rows of a report: the Lab's, and those that a judge of costs must know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.report.quantities import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.costs import Environment
    from pytest_opcost.results import RunResults

_NOT_USED = "not used"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: its part (`Hardware`), its name, and a value for each machine."""

    part: str
    name: str
    values: tuple[str, ...]


def machines(run: RunResults) -> tuple[Environment, ...]:
    """The environments of a run, one for each machine key."""
    # As tests were measured, which is not as the run began: settings are in force only while measuring.
    known = [one.profile.environment for one in run.checks] + [training.environment for training in run.trainings]
    first: dict[str, Environment] = {}
    for environment in (*known, *run.environments):
        first.setdefault(environment.machine_key, environment)
    return tuple(first.values())


def machine_rows(environments: Iterable[Environment]) -> tuple[Row, ...]:
    """The table's rows, a value for each environment."""
    columns = [_column(environment) for environment in environments]
    names = dict.fromkeys(name for column in columns for name in column)
    return tuple(Row(part, name, tuple(column.get((part, name), NONE) for column in columns)) for part, name in names)


def _column(environment: Environment) -> dict[tuple[str, str], str]:
    details = dict(environment.details)
    gpu = environment.device != "cpu"
    cores = details.get("cpus")
    cpu = details.get("cpu", environment.device_name if not gpu else "unknown")
    system = ", ".join(details[name] for name in ("distribution", "os") if name in details)
    cuda = details.get("cuda")
    return {
        ("Hardware", "CPU"): cpu,
        ("Hardware", "CPU cores"): cores or "unknown",
        ("Hardware", "GPU"): environment.device_name if gpu else _NOT_USED,
        ("Hardware", "Number of GPUs"): details.get("gpus", "unknown") if gpu else _NOT_USED,
        ("Software", "Operating system"): system or "unknown",
        ("Software", "Framework"): f"torch {environment.torch}",
        ("Software", "CUDA"): cuda or _NOT_USED,
        ("Software", "cuDNN"): details.get("cudnn", _NOT_USED),
        ("Software", "Python"): details.get("python", "unknown"),
        ("Measuring", "Machine"): environment.machine_key,
        ("Measuring", "Instruction set or compute capability"): environment.capability,
        ("Measuring", "CPU threads"): str(environment.threads),
        ("Measuring", "Allocator"): environment.allocator,
        **{("Settings", name): value for name, value in environment.settings},
    }
