"""Credible intervals of a result's variables and their means over classes, and P(below a limit)."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.bin_edges import place_in
from bayescal.core.checks import check_choice, check_number
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR
from bayescal.core.streams import stream
from bayescal.core.text import UNRELIABLE, percent
from bayescal.measures.errors import (
    SIMULATIONS,
    IfCalibrated,
    compared_with_simulated,
    simulated_of_cells,
)
from bayescal.measures.registry import range_of
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.measure import with_measure

CONSERVATIVE: Final = "conservative"
EQUAL_TAILED: Final = "eti"
_UNION: Final = "union"

_WORDS: Final = {
    CONSERVATIVE: (
        "{percent} conservative credible interval: from the {low} quantile of the posterior, whose "
        "draws are 0 where the classifier is calibrated, to the {high} quantile of the posterior "
        "given miscalibration. It covers at least {percent} of the posterior, and starts at 0 as "
        "soon as perfect calibration has a probability of {low} or more."
    ),
    _UNION: (
        "{percent} conservative credible interval: from the lower one of the {low} quantiles of "
        "the posterior and of that given miscalibration to the higher one of the {high} "
        "quantiles. It covers at least {percent} of the posterior."
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
        A variable of its posterior; or, of a result that holds a calibration curve, a measure such
        as "e90" or "net_benefit:0.25", see `bayescal.measure`.
    prob : float, default 0.9
        Posterior probability of the interval, strictly between 0 and 1.

    Returns
    -------
    xarray.DataArray
        The dims of the variable without chain and draw, then `ci_bound` (lower, upper). Its attrs
        say what it is: `ci_kind` ("conservative" or "eti"), `ci_prob` and `ci_text`.

    Raises
    ------
    InputError
        If there is no such variable, or prob lies outside (0, 1).

    Notes
    -----
    A calibration error is 0 in the draws in which the classifier is calibrated, a share p0 of them,
    and positive in the others, which the group ``given_miscalibration`` has alone. With
    alpha = (1 - prob) / 2 its interval runs from the alpha quantile of the posterior (0 as soon as
    p0 >= alpha) to the 1 - alpha quantile given miscalibration. The latter is never below the
    posterior's, so that the interval covers at least `prob` of it. The equal-tailed interval of the
    posterior would collapse to [0, 0] near calibration. What else that group has, such as the
    calibration curve, has the union of both equal-tailed intervals. Any other variable has an
    equal-tailed interval. Draws that are NaN, as an AUC without a row of one class, are left out.
    """
    tree, var = with_measure(tree, var)
    alpha = tail(prob)
    draws = access.variable(tree, schema.POSTERIOR, var).transpose(*schema.DRAW_DIMS, ...)
    rest = draws.dims[2:]
    values = draws.values.reshape(-1, *draws.shape[2:])
    bounds = _quantiles(values, (alpha, 1 - alpha))
    kind = EQUAL_TAILED
    if may_be_calibrated(tree, var):
        kind = CONSERVATIVE
        given = access.variable(tree, schema.GIVEN_MISCALIBRATION, var).transpose(*draws.dims)
        own = _quantiles(given.values.reshape(values.shape), (alpha, 1 - alpha))
        bounds = np.stack([np.fmin(bounds[0], own[0]), np.fmax(bounds[1], own[1])])
    conservative = kind == CONSERVATIVE
    # What is no error, such as a slope, is not 0 where the classifier is calibrated.
    of_error = access.described(tree, var).role == ERROR
    text = in_words(_UNION if conservative and not of_error else kind, prob)
    if conservative and (power := average_power(tree)):
        text += f" Components of the curve have weights by their evidence to the power {power}."
    text = _unreliable(tree, access.cases(tree)) + text
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


def _unreliable(tree: xr.DataTree, cases: Sequence[ResultSlice]) -> str:
    """What comes first where a fit of these cases did not converge."""
    return "" if access.all_converged(tree, cases) else UNRELIABLE


def may_be_calibrated(tree: xr.DataTree, var: str) -> bool:
    """Whether draws of a variable have another value where the classifier is calibrated."""
    held = access.has_variable(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED)
    return (
        held
        and access.has_variable(tree, schema.GIVEN_MISCALIBRATION, var)
        and bool(access.variable(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED).notnull().any())
    )


def average_power(tree: xr.DataTree) -> str:
    """Power of the evidence in the average, several only under several priors; "" without."""
    held = tree.attrs.get(schema.AVERAGE_POWER)
    powers = json.loads(held).values() if isinstance(held, str) else [held]
    return " or ".join(f"{one:g}" for one in sorted({one for one in powers if one is not None}))


def _quantiles(values: NDArray[Any], levels: tuple[float, float]) -> NDArray[np.float64]:
    """Quantiles over the first axis of the numbers that exist; NaN where there are none."""
    found = np.asarray(np.quantile(values, levels, axis=0))
    holes = np.isnan(found[0]) & ~np.isnan(values).all(axis=0)
    if holes.any():
        found[:, holes] = np.nanquantile(values[:, holes], levels, axis=0)
    return found


def in_words(kind: str, prob: float) -> str:
    """Say what an interval is, for a caption or a footnote."""
    alpha = tail(prob)
    return _WORDS[kind].format(percent=percent(prob), low=percent(alpha), high=percent(1 - alpha))


def tail(prob: float) -> float:
    """Probability left out on either side of an interval of probability `prob`."""
    return (1 - check_number(prob, "prob", "(0, 1)", "Pass 0.9 for 90%.")) / 2


class Marginal(NamedTuple):
    """Mean over classes of a calibration error."""

    mean: float  #: Posterior mean.
    lower: float  #: Interval of probability `prob`.
    upper: float  #: Its upper end.
    prob: float  #: Probability of the interval.
    text: str  #: The answer as a sentence.
    plug_in: float | None  #: Plug-in estimate; None where there is none.


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
        Calibration error, "ece", "tce" or "mce", or a measure such as "e90"; by default the binned.
    prob : float, default 0.9
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
        If the result has no classes or several priors, or a name, `var` or `prob` is wrong.

    Notes
    -----
    The estimand is the class-wise calibration error of Kull et al., all classes weighing the same:
    for `tce` the mean over classes k of ``E |P(Y = k | f_k) - f_k|``, for `ece` that of the binned
    scores. It is the l1 relative of the marginal calibration error of Kumar et al.

    Classes are fitted one by one, and their draws are joined as if independent. That is an
    approximation: a row of one class is a row of no other, so that the labels of the classes depend
    on each other. It touches the width of the interval, not the mean.

    The interval is that of `bayescal.interval`, to a quantile given that every class is
    miscalibrated. The same result gives the same numbers.

    References
    ----------
    .. [1] M. Kull et al., NeurIPS 2019, section 2. https://arxiv.org/abs/1910.12656
    .. [2] A. Kumar et al., NeurIPS 2019, Definition 2.4. https://arxiv.org/abs/1909.10155

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
    schema.check_result(tree)
    if schema.CLASS not in tree[schema.POSTERIOR].dims:
        raise InputError(
            "a mean over classes needs a result with classes; this one has none. Fit with "
            'multiclass="marginal".'
        )
    access.check_given(tree, classifier=classifier, group=group)
    first = access.find_case(tree, classifier, None, group)
    cases = next(cases for cases in access.along(tree, schema.CLASS) if first in cases)
    return _mean_over(tree, cases, var, prob)


def _mean_over(
    tree: xr.DataTree, cases: Sequence[ResultSlice], var: str | None, prob: float
) -> Marginal:
    alpha = tail(prob)
    tree, var = with_measure(tree, var)
    errors = {one.name: one for one in access.of_role(tree, ERROR)}
    if not errors:
        raise InputError(
            "a mean over classes is of calibration errors; this result holds none. Fit one."
        )
    chosen = str(access.main(tree).point) if var is None else var
    check_choice(chosen, tuple(errors), "var, a calibration error,")
    one = errors[chosen]
    low, high = (
        np.mean([_shuffled(tree, chosen, case, group) for case in cases], axis=0)
        for group in (schema.POSTERIOR, access.conditional_group(tree, chosen))
    )
    lower, upper = float(np.quantile(low, alpha)), float(np.quantile(high, 1 - alpha))
    mean = float(np.mean([access.posterior_mean(tree, chosen, case) for case in cases]))
    name = cases[0].classifier + ("" if cases[0].group is None else f", group {cases[0].group}")
    n, every = len(cases), len(_every_class(tree))
    of = f"the {n}" if n >= every else f"{n} of the {every}"
    text = (
        f"{_unreliable(tree, cases)}Mean {one.title} of {of} classes of {name}: {mean:.4f} "
        f"({percent(prob)} interval {lower:.4f} to {upper:.4f})."
    )
    points = [access.point(tree, chosen, case) for case in cases]
    plug_in = None if None in points else float(np.mean(np.array(points, dtype=float)))
    return Marginal(mean, lower, upper, prob, text, plug_in)


def marginals(
    tree: xr.DataTree, var: str | None = None, prob: float = 0.9
) -> list[tuple[ResultSlice, Marginal]]:
    """Mean over all classes for every classifier, group and prior; none where some are left out."""
    held = access.names_along(tree, schema.CLASS)
    if schema.CLASS not in tree[schema.POSTERIOR].dims or not {*_every_class(tree)} <= {*held}:
        return []
    each = access.along(tree, schema.CLASS)
    return [(cases[0], _mean_over(tree, cases, var, prob)) for cases in each]


def _every_class(tree: xr.DataTree) -> list[str]:
    """The classes of the whole fit, of which a selection may have left some out."""
    return [str(name) for name in json.loads(str(tree.attrs.get("classes", "[]")))]


def _shuffled(tree: xr.DataTree, var: str, case: ResultSlice, group: str) -> NDArray[np.float64]:
    """Draws of one class, independent of the others'."""
    rng = access.stream_of(tree, *case.names, number=int(group == schema.POSTERIOR))
    return rng.permutation(access.flat_draws(tree, var, case, group))


_CELLS: Final = (schema.CELL_SCORE, schema.CELL_COUNT)
_BINS: Final = (schema.BIN_EDGES, schema.BIN_MASS)


def if_calibrated(tree: xr.DataTree, case: ResultSlice, prob: float) -> IfCalibrated | None:
    """Plug-in ECE under calibration, whatever the seed; None without labelled rows in bins."""
    main = access.main(tree)
    of_bins = access.has_variable(tree, schema.POINT_ESTIMATE, *_BINS, schema.POSITIVES)
    of_cells_too = access.has_variable(tree, schema.CONSTANT_DATA, *_CELLS)
    if main.role != ERROR or main.point is None or not (of_bins and of_cells_too):
        return None
    score, count = access.values(tree, schema.CONSTANT_DATA, case, *_CELLS)
    edges, mass = access.values(tree, schema.POINT_ESTIMATE, case, *_BINS)
    held = count > 0
    observed = access.scalar(tree, schema.POINT_ESTIMATE, main.point, case)
    if observed is None or not held.any():
        return None
    score, count = score[held], count[held]
    place = place_in(edges, score, str(tree.attrs.get("closed", "right")))
    in_bin = np.bincount(place, count, len(mass))
    share, rng = mass[place] * count / in_bin[place], stream(0, *case.names, "if calibrated")
    simulated = simulated_of_cells(score, share, count, place, SIMULATIONS, rng)
    return compared_with_simulated(case.label, simulated, observed, prob)


def prob_below(tree: xr.DataTree, var: str | None, limit: float) -> xr.DataArray:
    """Posterior probability that an error, metric or measure is below a limit, case by case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str or None
        A variable of its posterior; or, of a result that holds a calibration curve, a measure such
        as "e90" or "net_benefit:0.25", see `bayescal.measure`. None is the main one.
    limit : float
        The value that would matter.

    Returns
    -------
    xarray.DataArray
        P(var < limit), by the variable's dims less chain and draw; its `text` says what it is.

    Raises
    ------
    InputError
        If there is no such variable, or the limit is not a finite number.

    See Also
    --------
    prob_above : P(var > limit).
    interval : The credible interval of the same posterior.

    Notes
    -----
    It is the share of posterior draws below the limit. Draws of calibration errors are 0 where the
    classifier is calibrated, a share P(calibrated) of them, so that these count as below any limit
    above 0. The draws are those of `bayescal.interval`, `bayescal.summary` and the plots. Draws
    that are NaN, as an AUC without a row of one class, are left out. Its Monte Carlo standard error
    is about sqrt(P (1 - P) / draws), .005 at P = .9 with 4,000 independent draws.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> float(bc.prob_below(result, "tce", 0.02).item()) < 0.1
    True
    """
    return _share(tree, var, limit, operator.lt, "below")


def prob_above(tree: xr.DataTree, var: str | None, limit: float) -> xr.DataArray:
    """Posterior probability that an error, metric or measure is above a limit, case by case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str or None
        A variable or measure, as of `prob_below`.
    limit : float
        The value that would matter.

    Returns
    -------
    xarray.DataArray
        P(var > limit), by the variable's dims less chain and draw; its `text` says what it is.

    Raises
    ------
    InputError
        If there is no such variable, or the limit is not a finite number.

    See Also
    --------
    prob_below : P(var < limit), with notes on both.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> float(bc.prob_above(result, "auc", 0.5).item()) > 0.99
    True
    """
    return _share(tree, var, limit, operator.gt, "above")


def _share(
    tree: xr.DataTree, var: str | None, limit: float, beyond: Callable[[Any, Any], Any], side: str
) -> xr.DataArray:
    """Share of the draws that exist which lie beyond the limit."""
    tree, name = with_measure(tree, access.main(tree).name if var is None else var)
    remedy = "Pass the value that would matter, not in percent."
    value = check_number(limit, "limit", range_of(name), remedy)
    draws = access.variable(tree, schema.POSTERIOR, name)
    found: xr.DataArray = (
        beyond(draws, value).astype(float).where(draws.notnull()).mean(schema.DRAW_DIMS)
    )
    head = _unreliable(tree, access.cases(tree))
    text = f"{head}Posterior probability that {name} is {side} {value:g}."
    return found.rename(name).assign_attrs(text=text)
