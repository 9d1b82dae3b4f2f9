"""Random numbers by name, and what simulators of known truths share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.checks import check_is, check_known, check_number
from bayescal.core.columns import Whole
from bayescal.core.functionals import finite_logits, sigmoid
from bayescal.core.intake import finite_numbers
from bayescal.core.quantity import Floats


def stream(seed: int, *names: str, number: int = 0) -> np.random.Generator:
    """The generator of a seed, names in order, and a number; the same in every process."""
    # As JSON, ("a", "b") and ("a, b",) differ, and text that is no UTF-8 has bytes too.
    digest = blake2b(json.dumps(names).encode(), digest_size=16).digest()
    words = np.frombuffer(digest, "<u4").tolist()
    return np.random.default_rng([seed, *words, number])


def count_not_above(table: Floats, column: Whole, value: Floats) -> Whole:
    """Count entries of rising columns not above a value, as ``np.searchsorted(..., "right")``."""
    size, found = len(table), np.zeros(value.shape, np.int64)
    for step in 2 ** np.arange(size.bit_length())[::-1]:
        further = found + step
        last = table.take((np.minimum(further, size) - 1) * table.shape[1] + column)
        found = np.where((further <= size) & (last <= value), further, found)
    return found


type Seed = int | np.random.Generator | None


class LogisticScore:
    """A classifier whose score is a logistic function of one feature."""

    name: str
    b0: float
    b1: float
    event_probability: Callable[[Floats], Floats]

    def _check(self) -> None:
        check_is(self.name, str, "name", "Pass a word.")
        check_number(self.b0, "b0", "(-inf, inf)")
        check_number(self.b1, "b1", "(0, inf)", "Scores rise with the feature: pass 1.")

    def score(self, x: ArrayLike) -> Floats:
        """Give the classifier's score of a feature.

        Parameters
        ----------
        x : array-like
            Features.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            ``sigmoid(b0 + b1 x)``.
        """
        return sigmoid(self.b0 + self.b1 * finite_numbers(x, "x"))

    def probability(self, score: ArrayLike) -> Floats:
        """Give P(Y = 1 | f = score), the true calibration curve.

        Parameters
        ----------
        score : array-like, in [0, 1]
            Scores.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            Without approximation, as the score is a strictly rising function of the feature.
        """
        return self.event_probability((finite_logits(score) - self.b0) / self.b1)


def by_name[Truth](truths: Mapping[str, Truth], module: str) -> Callable[[str], Truth]:
    """Make the function `truth` of a simulator, which is this module."""

    def truth(name: str) -> Truth:
        """Look a simulated truth up by its name.

        Parameters
        ----------
        name : str
            A key of ``TRUTHS``.

        Returns
        -------
        object
            The truth: a simulated classifier, task or panel.

        Raises
        ------
        InputError
            If there is none of that name.
        """
        check_known(name, tuple(truths), "truth", module)
        return truths[name]

    truth.__module__, truth.__qualname__ = module, "truth"
    return truth
