"""The rows of a result as a table: bounds, decision, and which classes stay open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from bayescal.results import access
from bayescal.results.kind import require_kind
from bayescal.results.rows import Rows, read_rows

if TYPE_CHECKING:
    import pandas as pd


def row_table(tree: xr.DataTree, prob: float = 0.9) -> pd.DataFrame:
    """Tabulate the target rows that a result holds, one line a row (and class, of more than two).

    Parameters
    ----------
    tree : xarray.DataTree
        A result of class probabilities, row by row.
    prob : float, in (0, 1), default 0.9
        Probability of the bounds.

    Returns
    -------
    pandas.DataFrame
        Index `obs`, the row's place in the result. Columns:

        =================  ===================================================================
        classifier, prior  names, where there are several
        row                the row's place among the target rows, from 0
        class              which class the probabilities are of; of two, the positive one
        score              the classifier's score
        prob               posterior median of the probability of the class given the score
        lower, upper       bounds of probability `prob`
        p0, p1             Venn-Abers probabilities; no interval of any coverage
        merged             both merged, ``p1 / (1 - p0 + p1)``, summing to 1 over classes
        decision           class decided on (the largest lower probability) in most draws
        p_decision         posterior probability of that decision
        n_open             number of classes that stay open; 1 is a decided row
        open               their names, joined by " / "
        p_improper         posterior probability that the bounds leave no class probabilities
        improper           whether p0 and p1 leave none
        status             "ok" or "NOT CONVERGED"
        =================  ===================================================================

        Scores, probabilities and bounds are in [0, 1].

    Raises
    ------
    InputError
        If the result is of another kind, or `prob` lies outside (0, 1).

    Notes
    -----
    With ``alpha = (1 - prob) / 2``, bounds are the alpha quantile of ``prob_lower`` and the
    1 - alpha quantile of ``prob_upper``. A class is ruled out where the posterior probability that
    it (or another one that is ruled out) is the most probable class under some probabilities
    within the bounds is at most alpha; of two classes, where the bounds lie beyond 1/2.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.datasets.credal.truth("logistic").split(200, [0.1, 0.5, 0.9], seed=1)
    >>> priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    >>> result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    >>> bc.row_table(result)[["score", "decision", "open"]]
         score decision   open
    obs
    0      0.1        0      0
    1      0.5        1  0 / 1
    2      0.9        1      1
    """
    import pandas as pd

    require_kind(tree, "rows", "a table of rows", "Use bayescal.summary instead.")
    parts = [_lines(tree, case, prob) for case in access.cases(tree)]
    return pd.DataFrame([line for part in parts for line in part]).set_index("obs")


def _lines(tree: xr.DataTree, case: access.ResultSlice, prob: float) -> list[dict[str, Any]]:
    rows = read_rows(tree, case, prob)
    status = access.case_status(tree, case)
    return [
        {**case.sel, "obs": place, **_line(rows, place, k), "status": status}
        for place in range(len(rows.row))
        for k in range(len(rows.curves))
    ]


def _line(rows: Rows, place: int, k: int) -> dict[str, Any]:
    at, decision = (place, k), int(rows.decision[place])
    return {
        "row": int(rows.row[place]),
        "class": rows.curves[k],
        "score": float(rows.score[at]),
        "prob": float(rows.median[at]),
        "lower": float(rows.lower[at]),
        "upper": float(rows.upper[at]),
        "p0": float(rows.p0[at]),
        "p1": float(rows.p1[at]),
        "merged": float(rows.merged[at]),
        "decision": rows.classes[decision],
        "p_decision": float(rows.p_decision[place, decision]),
        "n_open": int(rows.n_open[place]),
        "open": open_names(rows, place),
        "p_improper": float(rows.p_improper[place]),
        "improper": bool(rows.improper[place]),
    }


def open_names(rows: Rows, place: int) -> str:
    """Name the classes that stay open in a row."""
    named = zip(rows.classes, rows.is_open[place], strict=True)
    return " / ".join(name for name, stays in named if stays)
