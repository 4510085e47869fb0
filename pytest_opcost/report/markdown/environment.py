"""The Lab's table of hardware and software, and what else decides a step's cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import plain, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.costs import Environment
    from pytest_opcost.results import RunResults


def environment_section(run: RunResults) -> list[str]:
    """One table for the whole run: a row for each thing, and in it whatever the run's machines and devices have."""
    known = [
        *(one.profile.environment for one in run.checks),
        *(one.environment for one in run.trainings),
        *run.environments,
    ]
    if not known:
        return ["Nothing was measured.", ""]
    cards = [one for one in known if one.device != "cpu"]
    rows = [
        ["Hardware", "CPU (number of vCPUs)", _each(_cpu(one) for one in known)],
        ["", "GPU (model, number)", _each(f"{one.device_name}, {_number(cards, one)}" for one in cards) or "none used"],
        ["Software", "OS version", _each(_detail(one, "os") for one in known)],
        ["", "Framework: Python packages and versions", _each(_packages(one) for one in known)],
        ["", "CUDA version", _each(_cuda(one) for one in cards) or "none used"],
        ["Measured", "Instruction set or compute capability", _each(one.capability for one in known)],
        ["", "CPU threads", _each(str(one.threads) for one in known)],
        ["", "Allocator", _each(one.allocator for one in known)],
        ["", "Machine, as baselines call it", _each(one.machine_key for one in known)],
        ["", "Data", _each([*(one.data or "" for one in run.checks), *(one.data for one in run.trainings)])],
    ]
    return [*table(["", "", ""], [row for row in rows if row[2]], left=3), ""]


def _each(values: Iterable[str]) -> str:
    return "; ".join(plain(value) for value in dict.fromkeys(values) if value)


def _detail(environment: Environment, name: str) -> str:
    return dict(environment.details).get(name, "")


def _cpu(environment: Environment) -> str:
    # An accelerator's environment names the processor beside it; a CPU's is one.
    name = _detail(environment, "cpu") or (environment.device_name if environment.device == "cpu" else "")
    count = _detail(environment, "cpus")
    return name + (f" ({count})" if name and count else "")


def _number(cards: Iterable[Environment], like: Environment) -> int:
    """How many cards of this model were used; a card tells itself apart by a hash of its own."""
    return len({_detail(one, "card") for one in cards if one.device_name == like.device_name})


def _packages(environment: Environment) -> str:
    python = _detail(environment, "python")
    return f"torch {environment.torch}" + (f", Python {python}" if python else "")


def _cuda(environment: Environment) -> str:
    cuda, cudnn = _detail(environment, "cuda"), _detail(environment, "cudnn")
    return cuda + (f", cuDNN {cudnn}" if cuda and cudnn else "")
