"""How fast the core runs: another guest of the machine on the same core makes operators dearer, and no counter tells.

Two threads of one core share what computes, not only caches. Whoever runs on the other one may be another virtual
machine, which our own kernel knows nothing of: no load, no stolen time. Code that touches no memory tells it, since
nothing else slows that down.
"""

from __future__ import annotations

import time

import numpy as np

#: One run takes 5 us. The least of a few leaves interrupts out.
_NUMBERS, _RUNS = 1024, 6


class Pace:
    """Readings of the time that a fixed piece of register-bound code takes, 1,024 random numbers, here and now.

    Measured on a shared AMD EPYC: 4.6 us, and 0.4 % about it, on a core of our own; 37 to 100 % more with a neighbour,
    while convolutions took 10 %, `sqrt_` up to 49 % more. A Mersenne twister since it is all integer arithmetic that a
    core does at its full rate, the more so than vector instructions.
    """

    def __init__(self) -> None:
        self._draw = np.random.Generator(np.random.MT19937(0)).random
        self._out = np.empty(_NUMBERS)
        self._readings: list[int] = []

    def read(self) -> None:
        """Take a reading, some 30 us."""
        least = 1 << 62
        for _ in range(_RUNS):
            start = time.perf_counter_ns()
            self._draw(out=self._out)
            least = min(least, time.perf_counter_ns() - start)
        self._readings.append(least)

    @property
    def us(self) -> float:
        """Microseconds: the lower quartile of the readings, since costs too are those of the quieter steps; 0 without
        readings.
        """
        return float(np.quantile(self._readings, 0.25)) / 1000 if self._readings else 0.0
