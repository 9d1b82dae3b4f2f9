"""Simulated scores whose calibration curve P(Y = 1 | score) is known: smooth, in steps, or falling.

Scores are uniform on [0, 1]; what follows from their order does not depend on that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import MOST_SIMULATED, check_call, check_is, check_whole, generator
from bayescal.core.errors import InputError
from bayescal.core.intake import to_probabilities
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.core.streams import Seed, by_name
from bayescal.quantities.credal.data import CalibrationSplit

# Draws of labels until both are there; with one label in 20 rows a hundred are more than enough.
_TRIES: Final = 1000


@dataclass(frozen=True)
class CurveTruth:
    """A simulated binary task and its calibration curve.

    Parameters
    ----------
    name : str
        Its name in `TRUTHS`.
    kind : {"smooth", "step", "non-monotone"}
        What the curve is like.
    curve : callable
        P(Y = 1 | score) of an array of scores.

    Examples
    --------
    >>> from bayescal.quantities.credal.simulator import truth
    >>> truth("one_step").probability([0.1, 0.9]).tolist()
    [0.2, 0.8]
    """

    name: str
    kind: str
    curve: Callable[[Floats], Floats]

    def __post_init__(self) -> None:
        check_is(self.name, str, "name", "Pass a word.")
        check_is(self.kind, str, "kind", "Pass a word.")
        check_call(self.curve, "curve", needed=True)

    def probability(self, score: ArrayLike) -> Floats:
        """Give P(Y = 1 | score).

        Parameters
        ----------
        score : array-like, in [0, 1]
            Scores.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            Probabilities.
        """
        return np.asarray(self.curve(to_probabilities(score, "score")), dtype=np.float64)

    def sample(self, n: int, seed: Seed = None) -> tuple[Floats, NDArray[np.uint8]]:
        """Draw rows of both labels.

        Parameters
        ----------
        n : int, at least 2
            How many.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        score : ndarray of shape (obs,), in [0, 1]
            Scores.
        label : ndarray of shape (obs,), uint8
            Labels, at least one of each: samples of one label alone are drawn again.

        Raises
        ------
        InputError
            If a thousand samples have one label alone.
        """
        check_whole(n, "n", 2, "There must be a row of each label.", MOST_SIMULATED)
        rng = generator(seed)
        for _ in range(_TRIES):
            score = rng.random(n)
            label = (rng.random(n) < self.probability(score)).astype(np.uint8)
            if 0 < label.sum() < n:
                return score, label
        raise InputError(
            f"curve must let both labels occur; {n} rows of {self.name} had one label alone, "
            f"{_TRIES} times over. Draw more rows, or pass a curve between 0 and 1."
        )

    def split(self, n: int, target: int | ArrayLike, seed: Seed = None) -> CalibrationSplit:
        """Draw calibration rows and target rows.

        Parameters
        ----------
        n : int, at least 2
            Calibration rows.
        target : int or array-like of shape (obs,), in [0, 1]
            Number of target rows, or their scores.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        CalibrationSplit
            Target rows come without labels.
        """
        rng = generator(seed)
        score, label = self.sample(n, rng)
        rows = target
        if isinstance(target, int | np.integer):
            rows = rng.random(check_whole(target, "target", most=MOST_SIMULATED))
        calibration = Scores(y_true=label, y_prob=score, classifier=self.name)
        return CalibrationSplit(calibration=calibration, target=rows)


TRUTHS: Final[dict[str, CurveTruth]] = {
    name: CurveTruth(name, kind, curve)
    for name, kind, curve in (
        ("logistic", "smooth", lambda s: 1 / (1 + np.exp(-6 * (s - 0.5)))),
        ("shallow", "smooth", lambda s: 0.3 + 0.3 * s),
        ("power", "smooth", lambda s: s**3),
        ("late", "smooth", lambda s: 0.02 + 0.6 / (1 + np.exp(-10 * (s - 0.8)))),
        ("calibrated", "smooth", lambda s: s),
        ("one_step", "step", lambda s: np.where(s < 0.5, 0.2, 0.8)),
        (
            "three_steps",
            "step",
            lambda s: np.select([s < 0.25, s < 0.6, s < 0.85], [0.05, 0.3, 0.55], 0.95),
        ),
        ("bump", "non-monotone", lambda s: 0.15 + 0.7 * np.exp(-(((s - 0.6) / 0.2) ** 2))),
        ("wave", "non-monotone", lambda s: 0.5 + 0.3 * np.sin(7 * s)),
        ("falling", "non-monotone", lambda s: 0.8 - 0.6 * s),
    )
}
"""All named truths: smooth rising ones, rising steps, and curves that fall somewhere."""


truth = by_name(TRUTHS, __name__)
