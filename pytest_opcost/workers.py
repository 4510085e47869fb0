"""What passes between the workers of pytest-xdist and their controller beside the reports of their tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pytest_opcost.errors import OptionError
from pytest_opcost.plain import environment_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_opcost.costs import Environment

_KEY = "opcost"


@dataclass(frozen=True, slots=True)
class WorkerNews:
    """What a worker says at its end: where it measured, where MNIST was found if it was, the seconds that it waited."""

    environments: tuple[Environment, ...]
    mnist: str | None
    waited: float


def send(config: pytest.Config, news: WorkerNews) -> None:
    """Say it, in a worker, before its session ends."""
    output: dict[str, Any] = config.workeroutput  # type: ignore[attr-defined]
    output[_KEY] = asdict(news) | {"environments": [asdict(one) for one in news.environments]}


def news_of(node: object) -> WorkerNews | None:
    """What the worker said; None of one that crashed."""
    data = getattr(node, "workeroutput", {}).get(_KEY)
    if data is None:
        return None
    return WorkerNews(tuple(map(environment_from, data["environments"])), data["mnist"], data["waited"])


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def worker_specs(config: pytest.Config) -> list[str]:
    """The workers that this run is going to have, each as execnet is told of it; none without pytest-xdist."""
    if is_worker(config) or config.getoption("dist", "no") == "no":
        return []
    specs = []
    for spec in config.getoption("tx", None) or ():
        times, star, rest = spec.partition("*")
        specs += [rest] * int(times) if star and times.isdigit() else [spec]
    return specs


def all_here(specs: Sequence[str]) -> bool:
    """Whether all workers are this interpreter, on this host, in this environment: what is here is what they have."""
    parts = [spec.split("//") for spec in specs]
    elsewhere = any(part.startswith(("python=", "via=", "env:")) for some in parts for part in some)
    return not elsewhere and all("popen" in some for some in parts)


def refuse_to_share(specs: Sequence[str], devices: Sequence[str], environments: Sequence[Environment]) -> None:
    """Where measurements may not wait for each other, so many workers may not measure on these devices.

    `environments` are the devices'. Raises OptionError.
    """
    places = {name: int(dict(one.details).get("gpus", 1)) for name, one in zip(devices, environments) if name == "cuda"}
    if shared := [device for device in devices if len(specs) > places.get(device, 1)]:
        raise OptionError(
            f"--opcost-turns=refuse, and {len(specs)} workers of pytest-xdist would measure on {shared[0]} at the same "
            "time: each would make the others' operators dearer.\n"
            "Expected: one worker, or a CUDA card for each.\n"
            "Run: pytest --opcost -n 0\nOr have them take turns, while other tests go on: --opcost-turns=wait"
        )
