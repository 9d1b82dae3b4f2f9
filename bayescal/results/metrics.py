"""The numbers of a result by flat names, as trackers of experiments take them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.intervals import tail
from bayescal.results.summary import records

_OF_CASE: Final = ("rhat_max", "ess_min", "divergences")


def metrics(tree: xr.DataTree, measures: Any = (), *, prob: float = 0.9) -> dict[str, float]:
    """Give the numbers of a result by flat names, for MLflow, Weights & Biases or skore.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    measures : sequence of str, Measure or callable, optional
        Further numbers of the curve, such as ``["e90", "net_benefit:0.25"]``: `bayescal.measure`.
    prob : float
        Posterior probability of the intervals, strictly between 0 and 1.

    Returns
    -------
    dict of str to float
        The columns of `bayescal.summary`: posterior means as ``tce``, intervals as ``tce_lower``
        and ``tce_upper``, plug-in estimates as ``ece_point``, and ``p_calibrated``, ``n`` and
        diagnostics; ``converged`` is 1 or 0. With several classifiers, classes or groups each has
        them as ``classifier/tce``. Numbers without a value are left out.

    Raises
    ------
    InputError
        If prob lies outside (0, 1), a measure is unknown, or two cases have the same flat name.

    Notes
    -----
    Names have letters, digits, ``_ - . /`` and blanks alone, which every tracker takes; other
    characters become ``_``, as in ``net_benefit_0.25``.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    >>> found = bc.metrics(bc.fit(bc.ece, scores, method="direct", seed=20), ["e90"])
    >>> found["tce_lower"] < found["tce"] < found["tce_upper"]
    True
    """
    schema.check_result(tree)
    tail(prob)
    rows = records(tree, prob, measures)
    dims = [dim for dim in schema.CASE_DIMS if len({str(row.get(dim, "")) for row in rows}) > 1]
    origin: dict[str, tuple[str, ...]] = {}
    found: dict[str, float] = {}
    for row in rows:
        # Means over classes have no class.
        names = tuple(str(row.get(dim) or "mean over classes") for dim in dims)
        for key, value in _numbers(row).items():
            name = "/".join(map(_safe, (*names, key)))
            if origin.setdefault(name, names) != names:
                raise InputError(
                    f"names of a result must differ in letters, digits, '_', '-' or '.'; "
                    f"{' / '.join(origin[name])!r} and {' / '.join(names)!r} do not. Rename one."
                )
            found[name] = value
    return found


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of a row of the summary that have a value; of a row of a metric under its name."""
    metric = row.get("metric")
    found = {"converged": float(row["status"] != schema.NOT_CONVERGED)}
    for key, value in row.items():
        if isinstance(value, int | float):
            name = key if metric is None or key in _OF_CASE else f"{metric}_{key}"
            found[name.removesuffix("_mean")] = float(value)
    return found


def _safe(name: str) -> str:
    """A part of a name that no tracker takes for a path or refuses."""
    kept = re.sub(r"[^\w.\- ]", "_", name)
    return kept if kept.strip(". ") else "_" * max(len(kept), 1)
