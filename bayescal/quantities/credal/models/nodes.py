"""Scores at which draws of a curve are kept, and the curve at any other score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.calibration_curve.smooth_curve import EDGE
from bayescal.core.quantity import Floats

# Nodes beyond the lowest and the highest score, by their distance in logits.
_BEYOND: Final = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
# Scores between 0 and 1 with rows, at most.
MOST: Final = 100
_LINE: Final = MOST + 2 * len(_BEYOND) + 2
NODES: Final = _LINE + MOST
# From a score with rows to the node beside it, in logits, and to what counts as that score.
_BESIDE, _SAME = 1e-6, 1e-8
_LEAST: Final = 1e-300
_HIGHEST: Final = 1 - np.finfo(np.float64).epsneg


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Scores of the nodes, (node,); made by `Nodes.of`.

    First those of a line from 0 to 1, then the scores with rows themselves. The line passes beside
    these: a rough curve has a part of its own at every score with rows, which no other score
    shares. The last of either part is repeated, so that all curves have as many nodes.
    """

    score: Floats

    @classmethod
    def of(cls, held: Floats) -> Nodes:
        """Put nodes at the scores with rows, all between 0 and 1, beside and beyond them."""
        inner = held if len(held) else np.array([0.5])
        place = logit(inner)
        line = np.concatenate(
            [place[0] - _BEYOND[::-1], place + _BESIDE, place[-1] + _BEYOND],
        )
        found = expit(line).clip(EDGE, 1 - EDGE)
        padded = np.pad(found, (0, _LINE - 2 - len(found)), "edge")
        own = np.pad(inner, (0, MOST - len(inner)), "edge")
        return cls(np.concatenate([[0.0], padded, [1.0], own]))

    @property
    def ends(self) -> dict[float, int]:
        """Nodes of the scores 0 and 1."""
        return {0.0: 0, 1.0: _LINE - 1}

    def with_ends(self, rate: Floats, never_errs: NDArray[Any]) -> Floats:
        """Rates at the nodes, (..., node), where scores of 0 and 1 may never err, (..., 2)."""
        found = rate.copy()
        for end, node in self.ends.items():
            found[..., node] = np.where(never_errs[..., int(end)], end, rate[..., node])
        return found

    def of_held(self, number: int) -> int:
        """Node of a score with rows, by its place among them."""
        return _LINE + number

    def interpolated(self, rate: Floats, score: Floats) -> Floats:
        """Rates at any scores from those at the nodes, (draw, obs).

        Along the line the logits of rates are linear in that of the score. Scores with rows, and
        those of 0 and 1, have the rates of their own nodes.
        """
        line = logit(self.score[1 : _LINE - 1])
        place = logit(score.clip(self.score[1], self.score[_LINE - 2]))
        right = np.searchsorted(line, place).clip(1, len(line) - 1)
        gap = line[right] - line[right - 1]
        share = np.divide(place - line[right - 1], gap, out=np.ones(len(gap)), where=gap > 0)
        low, high = (logit(rate[:, at].clip(_LEAST, _HIGHEST)) for at in (right, right + 1))
        found = np.asarray(expit(low + share * (high - low)))
        held = logit(self.score[_LINE:])
        nearest = np.searchsorted((held[1:] + held[:-1]) / 2, place)
        same = np.abs(held[nearest] - place) < _SAME
        found[:, same] = rate[:, _LINE + nearest[same]]
        for end, node in self.ends.items():
            found[:, score == end] = rate[:, node, None]
        return found
