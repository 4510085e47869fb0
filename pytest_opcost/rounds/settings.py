"""How a run measures, as plain data: every round does it alike, whatever the ini file of its tree says."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost.check_options import CheckOptions
from pytest_opcost.options import Missing, Options, Update
from pytest_opcost.workloads.source import SAMPLE_WORD

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the run that asks for a round, as far as they decide what is measured; see `Options`.

    `turn` is the round's number on its side: both sides of a pair have the same. `repetitions` is how many times one of
    a pair runs each test: 1 where it has no fellow on another side.
    """

    devices: tuple[str, ...]
    batch_sizes: tuple[int, ...]
    mnist: str | None
    threads: int
    quiet: bool
    exact: bool
    check: CheckOptions
    turn: int = 0
    repetitions: int = 1

    @classmethod
    def of(cls, options: Options, *, exact: bool, turn: int = 0, repetitions: int = 1) -> Settings:
        """The settings of a run. A folder of MNIST is this run's: data is seldom in git, where another tree is from."""
        mnist = options.mnist
        if mnist is not None and mnist != SAMPLE_WORD:
            mnist = str(Path(mnist).expanduser().absolute())
        return cls(
            devices=options.devices,
            batch_sizes=options.batch_sizes,
            mnist=mnist,
            threads=options.threads,
            quiet=options.quiet,
            exact=exact,
            check=options.check,
            turn=turn,
            repetitions=repetitions,
        )

    def applied_to(self, found: Options) -> Options:
        """The options of a round: these settings, the paths that were found there, and nothing that writes."""
        return replace(
            found,
            enabled=True,
            devices=self.devices,
            batch_sizes=self.batch_sizes,
            mnist=self.mnist,
            threads=self.threads,
            quiet=self.quiet,
            check=self.check,
            missing=Missing.REPORT,
            update=Update.NONE,
            prune=False,
            json=None,
            html=None,
            markdown=None,
            tensorboard=None,
            exports=(),
            github=False,
            base=None,
            base_python=None,
            only_measure=True,
            exact=self.exact,
            turn=self.turn,
        )

    def to_data(self) -> dict[str, Any]:
        """Plain data, which JSON can hold and `from_data` reads back."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Settings:
        """The inverse of `to_data`."""
        check = {**data["check"], "ratios": tuple((name, band) for name, band in data["check"]["ratios"])}
        lists = {name: tuple(data[name]) for name in ("devices", "batch_sizes")}
        return cls(**{**data, **lists, "check": CheckOptions(**check)})
