"""Simulated classifiers whose measure, costs and ROC curve are known.

Scores are Beta distributed, and the logit of P(Y = 1 | score) is a straight line in the logit of
the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from scipy.stats import beta

from bayescal.core.checks import MOST_SIMULATED, check_is, check_number, check_whole, generator
from bayescal.core.intake import to_probabilities
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.core.streams import Seed, by_name
from bayescal.measures.errors import c
from bayescal.quantities.agnostic.decisions import DecisionRule, check_rule
from bayescal.quantities.agnostic.functionals import cost_draws, roc_draws

# Scores of equal mass that stand for all.
_GRID: Final = 100_000


@dataclass(frozen=True)
class Truth:
    """A simulated classifier and what is true of it.

    Parameters
    ----------
    name : str
        Its name in `TRUTHS`.
    alpha, beta : float
        Parameters of the scores' distribution.
    intercept, slope : float
        Of the logit of P(Y = 1 | score) as a function of the score's logit; 0 and 1 if calibrated.

    Examples
    --------
    >>> import bayescal as bc
    >>> [round(bc.datasets.agnostic.truth(name).c, 3) for name in ("over", "calibrated")]
    [0.065, 0.0]
    """

    name: str
    alpha: float
    beta: float
    intercept: float
    slope: float

    def __post_init__(self) -> None:
        check_is(self.name, str, "name", "Pass a word.")
        for name in ("alpha", "beta"):
            check_number(getattr(self, name), name, "(0, inf)")
        for name in ("intercept", "slope"):
            check_number(getattr(self, name), name, "(-inf, inf)")

    def probability(self, score: ArrayLike) -> Floats:
        """Give P(Y = 1 | score), the true calibration curve.

        Parameters
        ----------
        score : array-like, in (0, 1)
            Scores.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            The curve.
        """
        return np.asarray(
            expit(self.intercept + self.slope * logit(to_probabilities(score, "score")))
        )

    def scores(self, n: int, seed: Seed = None, n_unlabeled: int = 0) -> Scores:
        """Draw rows.

        Parameters
        ----------
        n : int
            Rows with labels.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.
        n_unlabeled : int, default 0
            Rows without.

        Returns
        -------
        Scores
            The rows, those with labels first.
        """
        rng = generator(seed)
        check_whole(n, "n", most=MOST_SIMULATED)
        check_whole(n_unlabeled, "n_unlabeled", 0, most=MOST_SIMULATED)
        score = rng.beta(self.alpha, self.beta, n + n_unlabeled)
        label = (rng.random(n) < self.probability(score[:n])).astype(int)
        return Scores(
            y_true=[*label.tolist(), *[None] * n_unlabeled], y_prob=score, classifier=self.name
        )

    @property
    def c(self) -> float:
        """The calibration measure."""
        score, rate = self._grid
        return float(c(rate, score, np.full(_GRID, 1 / _GRID)))

    @property
    def auc(self) -> float:
        """The area under the ROC curve."""
        _, rate = self._grid
        return float(roc_draws(rate, 1 - rate).auc)

    def cost(self, rule: DecisionRule) -> float:
        """Give the expected cost of a rule.

        Parameters
        ----------
        rule : DecisionRule
            The rule.

        Returns
        -------
        float
            Expected cost of a row, without set-up costs.
        """
        check_rule(rule)
        score, rate = self._grid
        return float(cost_draws(rule, score, rate, 1 - rate)) / _GRID

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Scores of equal mass, and their rates."""
        score = beta.ppf((np.arange(_GRID) + 0.5) / _GRID, self.alpha, self.beta)
        return score, self.probability(score)


TRUTHS: Final = {
    truth.name: truth
    for truth in (
        Truth("calibrated", 1.0, 1.5, 0.0, 1.0),
        Truth("over", 0.8, 1.2, 0.0, 0.5),
        Truth("under", 2.0, 2.0, 0.0, 1.8),
        Truth("shifted", 1.0, 3.0, 0.5, 1.0),
    )
}
"""Calibrated; over-confident; under-confident; and with scores that are too low."""


truth = by_name(TRUTHS, __name__)
