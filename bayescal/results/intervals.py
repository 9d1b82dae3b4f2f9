"""Credible intervals of a result, of its variables and of their means over classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_choice, check_number
from bayescal.core.errors import InputError
from bayescal.core.variables import ERROR
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.text import percent

CONSERVATIVE: Final = "conservative"
HEDGED: Final = "hedged"
EQUAL_TAILED: Final = "eti"
HEDGE: Final = 0.5
"""Power of the descriptions' weights in the rule of the interval; the posterior has power 1."""

_WORDS: Final = {
    CONSERVATIVE: (
        "{percent} conservative credible interval: from the {low} quantile of the posterior that "
        "gives perfect calibration its probability, to the {high} quantile of the posterior given "
        "miscalibration. It covers at least {percent} of the posterior, and starts at 0 as soon as "
        "perfect calibration has a probability of {low} or more."
    ),
    HEDGED: (
        "{percent} conservative credible interval: from the {low} quantile of the average over the "
        "descriptions of the curve, calibrated among them, to the {high} quantile of the average "
        "over the others. In this rule the descriptions are weighted by the square root of their "
        "posterior probability, so that an unlikely one widens the interval."
    ),
    EQUAL_TAILED: "{percent} equal-tailed credible interval: {low} of the posterior lies on either "
    "side.",
}


def interval(tree: xr.DataTree, var: str, prob: float = 0.9) -> xr.DataArray:
    """Credible interval of a posterior variable, case by case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str
        A variable of its posterior.
    prob : float
        Posterior probability of the interval, strictly between 0 and 1.

    Returns
    -------
    xarray.DataArray
        The dims of the variable without chain and draw, then `ci_bound` (lower, upper). Its attrs
        say what it is: `ci_kind` ("hedged", "conservative" or "eti"), `ci_prob` and `ci_text`.

    Raises
    ------
    InputError
        If there is no such variable, or prob lies outside (0, 1).

    Notes
    -----
    A calibration error (ece, tce, mce) is 0 if the classifier is calibrated, which has the
    posterior probability p0, and follows the draws otherwise. With alpha = (1 - prob) / 2 its
    interval runs from the alpha quantile of that mixture (0 as soon as p0 >= alpha) to the
    1 - alpha quantile of the draws alone. The latter is never below the mixture's, so that the
    interval covers at least `prob` of the posterior. The mixture's own interval would collapse to
    [0, 0] near calibration. Of an average over descriptions of the curve (the group
    ``descriptions``) the lower end is the alpha quantile over all of them and the upper end the
    1 - alpha quantile over those that are not calibrated; in this rule, not in the posterior, their
    weights are the square roots of the posterior ones (hedged). Without p0 in the result, and for
    any other variable, the interval is equal-tailed. Draws that are NaN, as an AUC without a row of
    one class, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.results.intervals import averaged_quantile
    >>> draws = np.linspace(0.1, 0.2, 101)
    >>> averaged_quantile(draws, p_calibrated=0.5, level=0.05)
    0.0
    >>> round(averaged_quantile(draws, p_calibrated=0.5, level=0.75), 3)
    0.15
    """
    schema.check_result(tree)
    alpha = tail(prob)
    draws = access.variable(tree, schema.POSTERIOR, var).transpose(*schema.DRAW_DIMS, ...)
    rest = draws.dims[2:]
    values = draws.values.reshape(-1, *draws.shape[2:])
    p_calibrated = _p_calibrated(tree, var, draws.isel(chain=0, draw=0, drop=True))
    kind = EQUAL_TAILED if p_calibrated is None else CONSERVATIVE
    text = in_words(kind, prob)
    bounds = _quantiles(values, (alpha, 1 - alpha))
    if p_calibrated is not None:
        bounds[0] = _lower(values, p_calibrated, alpha)
    if access.has_variable(tree, schema.DESCRIPTIONS, var):
        described = _described(tree, var, rest)
        bounds = np.where(described, _hedged(tree, var, rest, alpha), bounds)
        others = "" if described.all() else f" Under priors without descriptions: {text}"
        kind, text = HEDGED, in_words(HEDGED, prob) + others
    return xr.DataArray(
        np.moveaxis(bounds, 0, -1),
        dims=(*rest, schema.CI_BOUND),
        coords={
            **{str(dim): draws[dim] for dim in rest if dim in draws.coords},
            schema.CI_BOUND: ["lower", "upper"],
        },
        name=var,
        attrs={"ci_kind": kind, "ci_prob": prob, "ci_text": text},
    )


def _described(tree: xr.DataTree, var: str, rest: tuple[Hashable, ...]) -> NDArray[np.bool_]:
    """Where an average over descriptions has a weight for each, (*rest)."""
    drawn = access.variable(tree, schema.DESCRIPTIONS, var).isel(chain=0, draw=0, drop=True)
    weight = access.variable(tree, schema.MODEL_AVERAGE, "weight").broadcast_like(drawn)
    return np.asarray(weight.notnull().all(schema.DESCRIPTION).transpose(*rest).values)


def _hedged(
    tree: xr.DataTree, var: str, rest: tuple[Hashable, ...], alpha: float
) -> NDArray[np.float64]:
    """Ends of the interval of an average over descriptions, (2, *rest)."""
    drawn = access.variable(tree, schema.DESCRIPTIONS, var)
    weight = access.variable(tree, schema.MODEL_AVERAGE, "weight").broadcast_like(
        drawn.isel(chain=0, draw=0, drop=True)
    )
    values = drawn.transpose(*rest, schema.DESCRIPTION, *schema.DRAW_DIMS).values
    values = values.reshape(*values.shape[:-2], -1)
    weights = weight.transpose(*rest, schema.DESCRIPTION).values ** HEDGE
    bounds = np.empty((2, *weights.shape[:-1]))
    for place in np.ndindex(weights.shape[:-1]):
        own = weights[place]
        other = _uncalibrated(own, drawn[schema.DESCRIPTION].values)
        bounds[(0, *place)] = weighted_quantiles(values[place], own, alpha)
        bounds[(1, *place)] = weighted_quantiles(values[place], other, 1 - alpha)
    return bounds


def end_draws(
    tree: xr.DataTree, var: str, case: ResultSlice, calibrated: bool
) -> NDArray[np.float64]:
    """Draws, sorted, of the average with or without calibration, from which ends are taken."""
    draws = np.sort(access.flat_draws(tree, var, case))
    levels = (np.arange(len(draws)) + 0.5) / len(draws)
    if access.has_variable(tree, schema.DESCRIPTIONS, var):
        drawn = access.variable(tree, schema.DESCRIPTIONS, var, case)
        values = drawn.transpose(schema.DESCRIPTION, ...).values.reshape(drawn.shape[-1], -1)
        weights = access.variable(tree, schema.MODEL_AVERAGE, "weight", case).values ** HEDGE
        if not calibrated:
            weights = _uncalibrated(weights, drawn[schema.DESCRIPTION].values)
        return np.asarray(weighted_quantiles(values, weights, levels))
    p_calibrated = access.prob_calibrated(tree, case) or 0.0
    if not calibrated or p_calibrated >= 1:
        return draws if not calibrated else np.zeros_like(draws)
    above = (levels - p_calibrated) / (1 - p_calibrated)
    return np.asarray(np.where(above > 0, np.quantile(draws, above.clip(0)), 0.0))


def end_prob_calibrated(tree: xr.DataTree, var: str, case: ResultSlice) -> float:
    """Probability of calibration in the rule of the interval's ends."""
    if not access.has_variable(tree, schema.DESCRIPTIONS, var):
        return access.prob_calibrated(tree, case) or 0.0
    weight = access.variable(tree, schema.MODEL_AVERAGE, "weight", case)
    hedged = weight.values**HEDGE
    calibrated = weight[schema.DESCRIPTION].values == schema.CALIBRATED
    return float(hedged[calibrated].sum() / hedged.sum())


def _uncalibrated(weights: NDArray[Any], names: NDArray[Any]) -> NDArray[Any]:
    """Weights without the calibrated description, unless there is no other."""
    other = np.where(names == schema.CALIBRATED, 0.0, weights)
    return other if other.any() else weights


def weighted_quantiles(values: NDArray[Any], weights: NDArray[Any], levels: Any) -> Any:
    """Quantiles of a mixture, from equally many draws of each component, (component, draw)."""
    order = np.argsort(values, axis=None)
    cumulative = np.cumsum(np.repeat(weights, values.shape[-1])[order])
    places = np.searchsorted(cumulative, np.asarray(levels) * cumulative[-1])
    return values.ravel()[order[np.minimum(places, len(order) - 1)]]


def _quantiles(values: NDArray[Any], levels: tuple[float, float]) -> NDArray[np.float64]:
    """Quantiles over the first axis of the numbers that exist; NaN where there are none."""
    found = np.asarray(np.quantile(values, levels, axis=0))
    holes = np.isnan(found[0]) & ~np.isnan(values).all(axis=0)
    if holes.any():
        found[:, holes] = np.nanquantile(values[:, holes], levels, axis=0)
    return found


def averaged_quantile(draws: NDArray[Any], p_calibrated: float, level: float) -> float:
    """Quantile of a mixture of the point 0 and positive draws."""
    if p_calibrated >= level:
        return 0.0
    return float(np.quantile(draws, (level - p_calibrated) / (1 - p_calibrated)))


def in_words(kind: str, prob: float) -> str:
    """Say what an interval is, for a caption or a footnote."""
    alpha = tail(prob)
    return _WORDS[kind].format(percent=percent(prob), low=percent(alpha), high=percent(1 - alpha))


def tail(prob: float) -> float:
    """Probability left out on either side of an interval of probability `prob`."""
    return (1 - check_number(prob, "prob", "(0, 1)", "Pass 0.9 for 90%.")) / 2


def _p_calibrated(tree: xr.DataTree, var: str, like: xr.DataArray) -> NDArray[Any] | None:
    """Probability of calibration in the shape of `like`; None where the variable has no use of it.

    A prior without a calibrated alternative leaves NaN.
    """
    if access.described(tree, var).role != ERROR:
        return None
    if not access.has_variable(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED):
        return None
    found = access.variable(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED)
    if not set(found.dims) <= set(like.dims) or bool(found.isnull().all()):
        return None
    return np.asarray(found.fillna(0.0).broadcast_like(like).transpose(*like.dims).values)


def _lower(values: NDArray[Any], p_calibrated: NDArray[Any], alpha: float) -> NDArray[Any]:
    lower = np.empty(p_calibrated.shape)
    for place in np.ndindex(p_calibrated.shape):
        lower[place] = averaged_quantile(values[:, *place], float(p_calibrated[place]), alpha)
    return lower


def prob_exceeds(tree: xr.DataTree, var: str, value: float, case: ResultSlice) -> float:
    """P(var > value) of one case, averaged over descriptions of the curve where there are any."""
    if not access.has_variable(tree, schema.DESCRIPTIONS, var):
        return float((access.flat_draws(tree, var, case) > value).mean())
    drawn = access.variable(tree, schema.DESCRIPTIONS, var, case)
    weight = access.variable(tree, schema.MODEL_AVERAGE, "weight", case)
    return float((drawn > value).mean(schema.DRAW_DIMS) @ weight)


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
    var: str | None = None,
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
    var : str, optional
        Which calibration error, "ece", "tce" or "mce"; the binned one by default.
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
    cases = _classes(tree, classifier, group)
    errors = {one.name: one for one in access.of_role(tree, ERROR)}
    if not errors:
        raise InputError(
            "a mean over classes is of calibration errors; this result holds none. Fit one."
        )
    chosen = str(access.main(tree).point) if var is None else var
    check_choice(chosen, tuple(errors), "var, a calibration error,")
    one = errors[chosen]
    low, high = (
        np.mean([_shuffled(tree, chosen, case, which) for case in cases], axis=0)
        for which in (True, False)
    )
    lower, upper = float(np.quantile(low, alpha)), float(np.quantile(high, 1 - alpha))
    mean = float(np.mean([access.averaged_mean(tree, chosen, case) for case in cases]))
    name = cases[0].classifier + ("" if cases[0].group is None else f", group {cases[0].group}")
    text = (
        f"Mean {one.title} of the {len(cases)} classes of {name}: {mean:.4f} "
        f"({percent(prob)} interval {lower:.4f} to {upper:.4f})."
    )
    return Marginal(mean, lower, upper, prob, text, _plug_in(tree, chosen, cases))


def marginals(
    tree: xr.DataTree, var: str | None = None, prob: float = 0.9
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
    """Mean of the classes' estimates."""
    found = [access.point(tree, var, case) for case in cases]
    return None if None in found else float(np.mean(np.array(found, dtype=float)))
