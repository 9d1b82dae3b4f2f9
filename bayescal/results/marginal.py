"""The mean over classes of the calibration error: the marginal calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import end_draws, tail
from bayescal.results.text import percent, variable_title


class Marginal(NamedTuple):
    """Mean over classes of a calibration error."""

    mean: float
    lower: float
    upper: float
    prob: float
    text: str
    plug_in: float | None


def marginal(
    tree: xr.DataTree,
    var: str = "ece",
    prob: float = 0.9,
    classifier: str | None = None,
    *,
    group: str | None = None,
) -> Marginal:
    """Posterior of the marginal calibration error, the mean over classes of each class's own.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with classes, fitted with ``multiclass="marginal"`` or ``"class-wise"``.
    var : {"ece", "tce", "mce"}
        Which error.
    prob : float
        Posterior probability of the interval, strictly between 0 and 1.
    classifier, group : str, optional
        Which classifier and group, needed where the result has several.

    Returns
    -------
    Marginal
        A named tuple: mean, interval, probability, sentence and plug-in estimate.

    Raises
    ------
    InputError
        If the result has no classes, a name is unknown or must be given, or `var` or `prob` is
        none of the above.

    Notes
    -----
    The estimand is the class-wise calibration error of Kull et al., all classes weighing the same:
    for `tce` the mean over classes k of ``E |P(Y = k | f_k) - f_k|``, for `ece` that of the binned
    scores. It is the l1 relative of the marginal calibration error of Kumar et al.

    Classes are fitted one by one, and their draws are joined as if independent. That is an
    approximation: a row of one class is a row of no other, so that the labels of the classes depend
    on each other. It touches the width of the interval, not the mean.

    With alpha = (1 - prob) / 2 the interval runs from the alpha quantile of the model-averaged
    draws, in which each class is 0 with its probability of calibration, to the 1 - alpha quantile
    of the draws given that every class is miscalibrated. It covers at least `prob` of the
    posterior. Averages over descriptions of the curve are weighted as in `interval`, by the square
    roots of the posterior weights. The same result gives the same numbers.

    References
    ----------
    .. [1] M. Kull et al., "Beyond temperature scaling: Obtaining well-calibrated multiclass
       probabilities with Dirichlet calibration", NeurIPS 2019, section 2.
       https://arxiv.org/abs/1910.12656
    .. [2] A. Kumar, P. Liang and T. Ma, "Verified Uncertainty Calibration", NeurIPS 2019,
       Definition 2.4. https://arxiv.org/abs/1909.10155

    Examples
    --------
    >>> import bayescal as bc
    >>> p = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2]] * 50
    >>> scores = bc.Scores(y_true=[0, 1, 2, 1] * 50, y_prob=p)
    >>> result = bc.fit(bc.ece, scores, n_bins=2, multiclass="marginal", seed=20, method="direct")
    >>> found = bc.marginal(result)
    >>> found.lower < found.mean < found.upper
    True
    """
    alpha = tail(prob)
    check_choice(var, schema.CALIBRATION_ERRORS, "var, a calibration error,")
    cases = _classes(tree, classifier, group)
    low, high = (
        np.mean([_shuffled(tree, var, case, which) for case in cases], axis=0)
        for which in (True, False)
    )
    lower, upper = float(np.quantile(low, alpha)), float(np.quantile(high, 1 - alpha))
    mean = float(np.mean([access.averaged_mean(tree, var, case) for case in cases]))
    name = cases[0].classifier + ("" if cases[0].group is None else f", group {cases[0].group}")
    text = (
        f"Mean {variable_title(var)} of the {len(cases)} classes of {name}: {mean:.4f} "
        f"({percent(prob)} interval {lower:.4f} to {upper:.4f})."
    )
    return Marginal(mean, lower, upper, prob, text, _plug_in(tree, var, cases))


def marginals(
    tree: xr.DataTree, var: str = "ece", prob: float = 0.9
) -> list[tuple[ResultSlice, Marginal]]:
    """Mean over classes for every classifier and group of a result."""
    if schema.CLASS not in tree[schema.POSTERIOR].dims:
        return []
    first: dict[tuple[str, str | None], ResultSlice] = {}
    for case in access.cases(tree):
        first.setdefault((case.classifier, case.group), case)
    return [
        (case, marginal(tree, var, prob, name, group=group))
        for (name, group), case in first.items()
    ]


def _classes(tree: xr.DataTree, classifier: str | None, group: str | None) -> list[ResultSlice]:
    """One case a class, of one classifier and group."""
    schema.check_result(tree)
    if schema.CLASS not in tree[schema.POSTERIOR].dims:
        raise InputError(
            "a mean over classes needs a result with classes; this one has none. Fit with "
            'multiclass="marginal".'
        )
    access.check_given(tree, classifier=classifier, group=group)
    first = access.find_case(tree, classifier, None, group)
    wanted = (first.classifier, first.group)
    return [case for case in access.cases(tree) if (case.classifier, case.group) == wanted]


def _shuffled(
    tree: xr.DataTree, var: str, case: ResultSlice, calibrated: bool
) -> NDArray[np.float64]:
    """Draws of one class, independent of the others'."""
    rng = access.stream_of(tree, *case.names, number=int(calibrated))
    return rng.permutation(end_draws(tree, var, case, calibrated))


def _plug_in(tree: xr.DataTree, var: str, cases: Sequence[ResultSlice]) -> float | None:
    """Mean of the classes' estimates; that of the ECE stands for the error without bins too."""
    name = "mce" if var == "mce" else "ece"
    if not access.has_variable(tree, schema.POINT_ESTIMATE, name):
        return None
    found = [access.variable(tree, schema.POINT_ESTIMATE, name, case).item() for case in cases]
    return float(np.mean(found))
