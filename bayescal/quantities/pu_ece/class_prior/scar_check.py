"""Whether the positives look drawn from the unlabelled rows, at the class priors given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.prior_map import PriorMap
from bayescal.quantities.pu_ece.priors import Priors

type Floats = NDArray[np.float64]

# Below the first there is a warning; below the second there is nothing left to fit.
SUSPECT = 0.01
IMPOSSIBLE = 1e-6
# The least class prior that the prior allows: 1 in 1000 is below it.
_LEAST = -3.09


class Excess(NamedTuple):
    """The bin where the positives exceed most what the unlabelled rows can hold."""

    bin: int
    expected: float
    held: float
    p_value: float


def excess(problem: PUProblem, class_prior: float) -> Excess:
    """Find the bin that contradicts a class prior most."""
    n_positive, n_unlabeled = problem.n_positive, problem.n_unlabeled
    r = problem.positive_in_bins() / n_positive
    q = problem.unlabeled.bins.count / n_unlabeled
    # Half a row more keeps the variance of an empty bin off 0.
    spread_r, spread_q = (
        ((share * n + 0.5) / (n + 1)) * (1 - (share * n + 0.5) / (n + 1)) / n
        for share, n in ((r, n_positive), (q, n_unlabeled))
    )
    z = (class_prior * r - q) / np.sqrt(class_prior**2 * spread_r + spread_q)
    worst = int(z.argmax())
    p_value = min(1.0, len(z) * float(ndtr(-z[worst])))
    return Excess(worst, float(class_prior * r[worst]), float(q[worst]), p_value)


def check_possible(problem: PUProblem, priors: Priors) -> None:
    """Refuse a class prior that the data rule out altogether."""
    least = float(PriorMap.of(priors.class_prior)(np.asarray(_LEAST))[0])
    found = excess(problem, least)
    if found.p_value < IMPOSSIBLE:
        raise InputError(
            f"the class prior must leave each bin no more positives than rows; "
            f"{_where(problem, found)} holds {found.held:.3g} of the unlabelled rows, and a class "
            f"prior of {least:.3g}, the least that its prior allows, needs {found.expected:.3g}. "
            "Pass a class prior with mass below, or check that the positives are a random sample "
            "of the positives among the unlabelled rows (SCAR)."
        )


def data_warnings(problem: PUProblem, priors: Priors) -> list[str]:
    """Warn where the positives do not look drawn from the unlabelled rows."""
    found = excess(problem, priors.class_prior_mean)
    if found.p_value >= SUSPECT:
        return []
    return [
        "SCAR or the class prior does not fit the data: at a class prior of "
        f"{priors.class_prior_mean:.3g} {_where(problem, found)} should hold "
        f"{found.expected:.3g} of the unlabelled rows as positives, and holds "
        f"{found.held:.3g} in all (p = {found.p_value:.2g}). Check how the positives were "
        "selected, and try a smaller class prior."
    ]


def _where(problem: PUProblem, found: Excess) -> str:
    """Name a bin, and the classifier if it has a name of its own."""
    low, high = problem.unlabeled.bins.edges[found.bin : found.bin + 2]
    return (
        f"the bin of scores from {low:.3g} to {high:.3g} of "
        f"{problem.unlabeled.coords['classifier']!r}"
    )
