"""Which of several classifiers on the same rows is the best calibrated, and how surely."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.lookup import find_case


def prob_best(
    tree: xr.DataTree, var: str = "tce", *, class_: str | None = None, group: str | None = None
) -> dict[str, float]:
    """Posterior probability of each classifier that its calibration error is the smallest.

    Notes
    -----
    The draws of all classifiers are coupled by a Gaussian copula with the correlations of the
    group `pairing`, and replaced by 0 with the probability of calibration, as `difference` does
    for two. Where several errors are 0 at once, that draw counts in equal parts for each of them.
    """
    if not schema.has_variable(tree, schema.ERROR_CORRELATION, "correlation"):
        raise InputError(
            "a ranking needs the group 'pairing', which this result does not have. Fit the "
            "classifiers together, on the same rows: Scores.stack({name: y_prob, ...}, y_true=y)."
        )
    names = schema.classifier_names(tree)
    cases = [find_case(tree, name, class_, group) for name in names]
    rng = np.random.default_rng([abs(int(tree.attrs["seed"])), len(names)])
    errors = np.stack([_sorted_draws(tree, var, case) for case in cases])
    correlation = schema.variable(
        tree, schema.ERROR_CORRELATION, "correlation", _unpaired(cases[0])
    )
    factor = _factor(correlation.sel(classifier=names, classifier_other=names).values)
    z = factor @ rng.standard_normal(errors.shape)
    errors = np.take_along_axis(errors, np.argsort(np.argsort(z, axis=1), axis=1), axis=1)
    errors[rng.random(errors.shape) < _p_calibrated(tree, cases)[:, None]] = 0.0
    smallest = errors == errors.min(axis=0)
    share = (smallest / smallest.sum(axis=0)).mean(axis=1)
    return dict(zip(names, map(float, share), strict=True))


def _unpaired(case: schema.Case) -> schema.Case:
    """The case without its classifier: all classifiers of its class and group."""
    sel = {dim: value for dim, value in case.sel.items() if dim != schema.CLASSIFIER}
    return schema.Case(case.classifier, case.class_, case.group, sel, case.label)


def _sorted_draws(tree: xr.DataTree, var: str, case: schema.Case) -> NDArray[np.float64]:
    values = schema.variable(tree, schema.POSTERIOR, var, case).values
    return np.sort(np.asarray(values, dtype=np.float64).ravel())


def _factor(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """A square root of the matrix; what rounding made negative is set to 0, unit rows restored."""
    full = np.nan_to_num(correlation)
    np.fill_diagonal(full, 1.0)
    values, vectors = np.linalg.eigh(full)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))


def _p_calibrated(tree: xr.DataTree, cases: list[schema.Case]) -> NDArray[np.float64]:
    found = [schema.scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case) for case in cases]
    return np.array([0.0 if p is None or np.isnan(p) else p for p in found])
