"""The direct minimiser of the measure over a class of functions, as a linear programme."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog

from bayescal.core.checks import check_flag, check_same_length
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.calibration.link import Link
from bayescal.quantities.agnostic.calibration.tied_scores import Floats, TiedScores, tied_scores


class Minimum(NamedTuple):
    """The best function of a class."""

    link: Link
    objective: float


def minimise_measure(
    score: ArrayLike,
    *,
    label: ArrayLike,
    basis: ArrayLike | None = None,
    nondecreasing: bool = True,
) -> Minimum:
    """Find the function of the score with the least calibration measure in a class.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.
    basis : array-like of shape (obs, k), optional
        Functions of each row's score, of which the function is a linear combination; rows of equal
        scores must have equal values. By default any value at each distinct score.
    nondecreasing : bool, default True
        Whether the function may not fall.

    Returns
    -------
    Minimum
        The function and its objective.

    Raises
    ------
    InputError
        If scores or labels are not such, `basis` does not fit, or no combination lies in [0, 1].

    Notes
    -----
    The objective is ``max_{a,b} |sum_{a < i <= b} (y_i - g_i)| / n`` with the rows in the order of
    their scores. It is c_emp of the result where g rises strictly, and a bound of it where g is
    nondecreasing. With xi_1 and xi_2 for how far the prefix sums of g fall below and rise above
    those of y, it is ``xi_1 + xi_2``, a linear programme in the coefficients.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017,
       section 3.3.3 and the proof of Claim 5. https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.calibration.minimiser import minimise_measure
    >>> found = minimise_measure([0.1, 0.2, 0.3, 0.4], label=[0, 1, 0, 1])
    >>> round(found.objective, 6)
    0.125
    """
    check_flag(nondecreasing, "nondecreasing")
    tied = tied_scores(score, label)
    value, total = _free(tied) if basis is None else _combined(tied, score, basis)
    size = value.shape[1]
    n = int(tied.rows.sum())
    wanted = np.cumsum(tied.positive) / n
    ones, none = np.ones((len(wanted), 1)), np.zeros((len(wanted), 1))
    limits = [
        sparse.hstack([total, none, -ones]),
        sparse.hstack([-total, -ones, none]),
        _padded(value),
        _padded(-value),
    ]
    ends = [wanted, -wanted, np.ones(len(wanted)), np.zeros(len(wanted))]
    if nondecreasing:
        limits.append(_padded(value[:-1] - value[1:]))
        ends.append(np.zeros(len(wanted) - 1))
    found = linprog(
        np.append(np.zeros(size), [1.0, 1.0]),
        A_ub=sparse.vstack(limits).tocsr(),
        b_ub=np.concatenate(ends),
        bounds=[(None, None)] * size + [(0, None)] * 2,
        method="highs",
    )
    if found.x is None:
        raise InputError(
            "some combination of the basis must lie in [0, 1] and rise as asked; none does. Add a "
            "constant column to basis."
        )
    g = np.clip(value @ found.x[:size], 0.0, 1.0)
    return Minimum(Link(tied.score, g), float(found.fun))


def _free(tied: TiedScores) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values and prefix sums from the prefix sums themselves: few entries, unlike the reverse."""
    size, n = len(tied.score), int(tied.rows.sum())
    total = sparse.eye_array(size, format="csr")
    steps = total - sparse.eye_array(size, k=-1, format="csr")
    return sparse.csr_array(sparse.diags_array(n / tied.rows) @ steps), total


def _combined(
    tied: TiedScores, score: ArrayLike, basis: ArrayLike
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values and prefix sums of the combinations of a basis."""
    columns = to_doubles(basis, "basis")
    if columns.ndim != 2 or not np.isfinite(columns).all():
        raise InputError(
            f"basis must be finite numbers of shape (obs, k); got shape {columns.shape}. Pass a "
            "column for each function."
        )
    check_same_length(np.size(score), "score", len(columns), "basis")
    distinct, first, place = np.unique(
        np.asarray(score, dtype=np.float64), return_index=True, return_inverse=True
    )
    values: Floats = columns[first]
    if (values[place] != columns).any():
        row = int((values[place] != columns).any(axis=1).argmax())
        raise InputError(
            f"basis must be a function of the score; rows of score {distinct[place[row]]:g} "
            f"differ, at row {row}. Compute it from the score."
        )
    share = tied.rows / tied.rows.sum()
    return sparse.csr_array(values), sparse.csr_array(np.cumsum(share[:, None] * values, axis=0))


def _padded(table: sparse.csr_array) -> sparse.csr_array:
    """Add the columns of xi_1 and xi_2, which do not enter."""
    return sparse.hstack([table, sparse.csr_array((table.shape[0], 2))])
