"""How fast the core runs: another guest of the machine on the same core makes operators dearer, and no counter tells.

Two threads of one core share what computes, not only caches. Whoever runs on the other one may be another virtual
machine, which our own kernel knows nothing of: no load, no stolen time. Code that touches no memory tells it, since
nothing else slows that down.
"""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

#: How much more than the least a reading may be on a core of our own, where readings differ by 1 %.
_OWN = 1.06
#: So long a pause lets the thread be put on another core, and costs the caches little.
_PAUSE_SECONDS = 0.002
#: One run takes 5 us. The least of a few leaves interrupts out.
_NUMBERS, _RUNS = 1024, 6


class Pace:
    """Readings of the time that a fixed piece of register-bound code takes, 1,024 random numbers, here and now.

    Measured on a shared AMD EPYC: 4.6 us, and 0.4 % about it, on a core of our own; 37 to 100 % more with a neighbour,
    while convolutions took 10 %, `sqrt_` up to 49 % more. A Mersenne twister since it is all integer arithmetic that a
    core does at its full rate, the more so than vector instructions.
    """

    #: The least reading in this process, in nanoseconds: what tells a core of our own from a shared one.
    _least: ClassVar[int] = 1 << 62

    def __init__(self, patience: float) -> None:
        """`patience`: how many seconds to wait for a core of our own, in all."""
        self._patience = patience
        #: Seconds spent on that.
        self.waited = 0.0
        self._draw = np.random.Generator(np.random.MT19937(0)).random
        self._out = np.empty(_NUMBERS)
        self._readings: list[int] = []

    def settle(self) -> None:
        """Take a reading, some 30 us: where it tells of a neighbour, pause and take another, as long as there is
        patience. Where that was in vain, there is no more waiting until a lower reading tells that it would not be.
        """
        reading, start = self._reading(), time.perf_counter()
        while reading > _OWN * Pace._least and self.waited + time.perf_counter() - start < self._patience:
            time.sleep(_PAUSE_SECONDS)
            reading = self._reading()
        if reading > _OWN * Pace._least and self.waited < self._patience:
            Pace._least = reading  # in vain: a neighbour that stays, or a slower clock, need not be waited for again
        self.waited += time.perf_counter() - start
        self._readings.append(reading)

    def _reading(self) -> int:
        least = 1 << 62
        for _ in range(_RUNS):
            start = time.perf_counter_ns()
            self._draw(out=self._out)
            least = min(least, time.perf_counter_ns() - start)
        Pace._least = min(Pace._least, least)
        return least

    @property
    def us(self) -> float:
        """Microseconds: the lower quartile of what `settle` found, since costs too are those of the quieter steps; 0
        without readings.
        """
        return float(np.quantile(self._readings, 0.25)) / 1000 if self._readings else 0.0
