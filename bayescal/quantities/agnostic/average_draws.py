"""Draws of the averaged calibration curve: which description each has, and its rates anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.quantity import Draws
from bayescal.curves.average import Average, choose
from bayescal.curves.priors import CALIBRATED, COMPONENTS, SEGMENTS

type Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AverageDraws:
    """Curves of (chain, draw), each of one description, given that it is smooth or rough.

    Notes
    -----
    With the calibrated description among them, intervals of costs and ROC curves would collapse
    where a classifier is close to calibrated, and miss. So they would with segments, of which every
    second one is calibrated. Either is left out where there is another. For the same reason scores
    of 0 and 1 have an error rate of their own in every draw, and may never err in `curve_of` only.
    """

    described: Average
    draws: Draws
    chosen: NDArray[np.int64]  # (chain, draw), places in COMPONENTS

    @classmethod
    def posterior(
        cls,
        described: Average,
        draws: Draws,
        evidence: Mapping[str, float],
        rng: np.random.Generator,
    ) -> AverageDraws:
        """Choose descriptions by their posterior probabilities, given those that are drawn from."""
        chosen = _chosen(described.weights(evidence), draws["boundary"].shape[:2], rng)
        return cls._with_unseen(described, draws, chosen, rng)

    @classmethod
    def prior(cls, described: Average, number: int, rng: np.random.Generator) -> AverageDraws:
        """Draw curves before the data, (1, number)."""
        drawn = described.prior_draws(number, rng)
        weights = described.prior.weights if described.fitted else {}
        chosen = _chosen(weights, (1, number), rng)
        draws = {name: values[None] for name, values in drawn.items()}
        return cls._with_unseen(described, draws, chosen, rng)

    @classmethod
    def _with_unseen(
        cls,
        described: Average,
        draws: Draws,
        chosen: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> AverageDraws:
        """Draw those of the scores 0 and 1 that no labelled row has from their prior.

        Unlabelled rows may have such a score. The curve says nothing of it, as its logit is
        infinite.
        """
        shape = (*chosen.shape, 2)
        place = rng.normal(described.boundary_mean, described.boundary_spread, shape)
        return cls(described, {**draws, "unseen": place}, chosen)

    def cell_rates(self) -> Floats:
        """Label rates of the cells of labelled rows, (chain, draw, cell)."""
        ends = len(self.described.boundary_scores)
        return self._averaged(
            lambda name, draws: self.described.rates(name, draws, _all_err(draws, ends)),
            len(self.described.score),
        )

    def curve(self, score: Floats) -> Floats:
        """Calibration curve at any scores, (chain, draw, point)."""
        ends = len(self.described.boundary_scores) + 2
        return self._averaged(
            lambda name, draws: self._curve(name, draws, _all_err(draws, ends), score), len(score)
        )

    def curve_of(self, name: str, score: Floats, rng: np.random.Generator) -> Floats:
        """Calibration curve of every draw under one description, (chain, draw, point).

        Scores of 0 and 1 may err; one without labelled rows does not if the rest is calibrated.
        """
        described, shape = self.described, self.chosen.shape
        right = 1.0 if name == CALIBRATED else described.calibrated
        unseen = rng.random((*shape, 2)) >= right
        error = np.concatenate([described.draw_errors(name, shape, rng), unseen], axis=-1)
        return self._curve(name, self.draws, error, score)

    def log_prior(self) -> Floats:
        """Log prior density of the parameters of the description that each draw has."""
        return self._averaged(self.described.component_log_prior)

    def _curve(self, name: str, draws: Draws, error: NDArray[np.bool_], score: Floats) -> Floats:
        """Curve under one description; scores of 0 and 1 err or never do."""
        found = np.array(self.described.curve(name, draws, score))
        seen = [end.score for end in self.described.boundary_scores.values()]
        unseen = [end for end in (0, 1) if end not in seen]
        columns = [
            *((end, column, draws["boundary"][..., column]) for column, end in enumerate(seen)),
            *((end, len(seen) + end, draws["unseen"][..., end]) for end in unseen),
        ]
        for end, column, place in columns:
            away = np.where(error[..., column], expit(place), 0.0)
            found[..., score == end] = np.abs(end - away)[..., None]
        return found

    def _averaged(
        self,
        values: Callable[[str, Draws], Floats | float],
        *size: int,
    ) -> Floats:
        """Evaluate each draw under the description that it has, (chain, draw, *size)."""
        found = np.empty((*self.chosen.shape, *size))
        for number in np.unique(self.chosen):
            own = self.chosen == number
            draws = {name: held[own] for name, held in self.draws.items()}
            found[own] = values(COMPONENTS[number], draws)
        return found


def _all_err(draws: Draws, ends: int) -> NDArray[np.bool_]:
    return np.ones((*draws["boundary"].shape[:-1], ends), dtype=np.bool_)


def _chosen(
    weights: Mapping[str, float], shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.int64]:
    table = np.array([weights.get(name, 0.0) for name in COMPONENTS])
    for name in (CALIBRATED, SEGMENTS):
        others = table.copy()
        others[COMPONENTS.index(name)] = 0.0
        if others.any():
            table = others
    if not table.any():
        table[COMPONENTS.index(CALIBRATED)] = 1.0
    return choose(table / table.sum(), int(np.prod(shape)), rng).reshape(shape)
