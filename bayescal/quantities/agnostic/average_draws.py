"""Draws of the averaged calibration curve: which description each has, and its rates anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.curve_average import CALIBRATED, DESCRIPTIONS
from bayescal.core.quantity import Draws
from bayescal.inference.descriptions.described_curve import DescribedCurve, choose

type Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AverageDraws:
    """Curves of (chain, draw), each of one description; calibrated ones are among them."""

    described: DescribedCurve
    draws: Draws
    chosen: NDArray[np.int64]  # (chain, draw), places in DESCRIPTIONS
    error: NDArray[np.bool_]  # (chain, draw, end): whether a score of 0 or 1 errs

    @classmethod
    def posterior(
        cls,
        described: DescribedCurve,
        draws: Draws,
        evidence: Mapping[str, float],
        rng: np.random.Generator,
    ) -> AverageDraws:
        """Choose descriptions by their posterior probabilities."""
        shape = draws["end"].shape[:2]
        error = described.draw_errors(shape, rng)
        return cls(described, draws, _chosen(described.weights(evidence), shape, rng), error)

    @classmethod
    def prior(
        cls, described: DescribedCurve, number: int, rng: np.random.Generator
    ) -> AverageDraws:
        """Draw curves before the data, (1, number)."""
        drawn = described.prior_draws(number, rng)
        calibrated = described.calibrated if described.fitted else 1.0
        weights = {name: (1 - calibrated) * w for name, w in described.prior.weights.items()}
        chosen = _chosen({CALIBRATED: calibrated, **weights}, (1, number), rng)
        error = rng.random((1, number, len(described.ends))) >= described.calibrated
        draws = {name: values[None] for name, values in drawn.items()}
        return cls(described, draws, chosen, np.asarray(error))

    def cell_rates(self) -> Floats:
        """Label rates of the cells of labelled rows, (chain, draw, cell)."""
        return self.averaged(lambda name: self.described.rates(name, self.draws, self.error))

    def curve(self, score: Floats) -> Floats:
        """Calibration curve at any scores, (chain, draw, point)."""
        return self.averaged(lambda name: self.curve_of(name, score))

    def curve_of(self, name: str, score: Floats) -> Floats:
        """Calibration curve under one description; scores of 0 and 1 are as the data have them."""
        found = np.array(self.described.curve(name, self.draws, score))
        for column, end in enumerate(self.described.ends.values()):
            erring = end.event_rate(self.draws["end"][..., column])
            rate = np.where(self.error[..., column], erring, end.score)
            found[..., score == end.score] = rate[..., None]
        return found

    def log_prior(self) -> Floats:
        """Log prior density of the parameters of the description that each draw has."""
        zero = np.zeros(self.chosen.shape)
        return self.averaged(lambda name: zero + self.described.log_prior(name, self.draws))

    def averaged(self, values: Callable[[str], Floats]) -> Floats:
        """Take each draw from the description that it has."""
        present = [DESCRIPTIONS[number] for number in np.unique(self.chosen)]
        found = values(present[0])
        for name in present[1:]:
            own = self.chosen == DESCRIPTIONS.index(name)
            found[own] = values(name)[own]
        return found


def _chosen(
    weights: Mapping[str, float], shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.int64]:
    table = np.array([weights.get(name, 0.0) for name in DESCRIPTIONS])
    return choose(table, int(np.prod(shape)), rng).reshape(shape)
