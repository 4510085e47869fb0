"""Which of many correlated figures have moved by themselves, and by how much. Knows nothing of operators.

A mean-shift outlier model of a multivariate normal vector: what most figures do together is taken for the machine's
doing, what one of them does beyond that is its own. Moved figures are freed one at a time, the clearest first, so that
none of them makes its neighbours look moved (forward search, as in Hadi and Simonoff, 1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A figure is freed when it lies this many standard errors off what the others predict.
FREE = 2.5


@dataclass(frozen=True, slots=True)
class Shift:
    """What a figure did beyond what the others explain, in logs: the estimate and its standard error."""

    by: float
    error: float


def shifts(moved: NDArray[np.float64], covariance: NDArray[np.float64]) -> list[Shift]:
    """The shift of each figure, given those that have not moved by themselves.

    `moved` are the figures' changes, of shape (figures,), in logs; `covariance`, of shape (figures, figures), is what
    such changes do where nothing has moved. At most half of the figures are freed: where more moved, there is no
    telling which of them did.
    """
    count = len(moved)
    kept = np.ones(count, dtype=bool)
    while kept.sum() > (count + 1) // 2:
        own, error = _given_the_others(moved[kept], covariance[kept][:, kept])
        far = np.abs(own) / error
        if far.max() < FREE:
            break
        kept[np.flatnonzero(kept)[far.argmax()]] = False
    by, errors = np.zeros(count), np.zeros(count)
    by[kept], errors[kept] = _given_the_others(moved[kept], covariance[kept][:, kept])
    if (freed := ~kept).any():
        weights = np.linalg.solve(covariance[kept][:, kept], covariance[kept][:, freed])
        by[freed] = moved[freed] - moved[kept] @ weights
        left = np.diag(covariance)[freed] - (covariance[kept][:, freed] * weights).sum(axis=0)
        errors[freed] = np.sqrt(left)
    return [Shift(float(one), float(error)) for one, error in zip(by, errors)]


def _given_the_others(
    moved: NDArray[np.float64], covariance: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each figure less what all others predict, and the standard error of that: by the inverse of the covariance."""
    precision = np.linalg.inv(covariance)
    own = np.diag(precision)
    return precision @ moved / own, 1 / np.sqrt(own)
