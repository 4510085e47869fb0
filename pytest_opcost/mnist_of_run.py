"""Where MNIST comes from in one run: looked up once, and the same for its rounds, its workers and its reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.controller import Controller
    from pytest_opcost.options import Options
    from pytest_opcost.workloads.mnist import MnistSource


class MnistOfRun:
    """Finds MNIST when it is first asked for; `workers` may have found it before."""

    def __init__(self, options: Options, workers: Controller) -> None:
        self._options, self._workers = options, workers
        self._source: MnistSource | None = None

    def source(self) -> MnistSource:
        """Where it comes from; raises DataError for a folder without it."""
        from pytest_opcost.workloads.source import find_mnist

        if self._source is None:
            self._source = find_mnist(self._options.mnist or self._workers.mnist, self._options.cache / "mnist")
        return self._source

    @property
    def given(self) -> str | None:
        """What says where it was found, as an option does; None while nobody has looked."""
        return None if self._source is None else self._source.given

    @property
    def known(self) -> bool:
        """Whether it is found without the network."""
        return bool(self.given or self._options.mnist or self._workers.mnist)

    def options_of_rounds(self) -> Options:
        """The options with MNIST from where it was found: no round looks for it, or downloads it, again."""
        return self._options if self._source is None else replace(self._options, mnist=self._source.given)
