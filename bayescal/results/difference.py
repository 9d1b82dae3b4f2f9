"""The difference of two classifiers' errors or metrics on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.credal_rows import is_credal
from bayescal.results.intervals import tail
from bayescal.results.lookup import find_case
from bayescal.results.metrics import check_metric, is_joint, metric_title
from bayescal.results.schema import Case
from bayescal.results.summary import averaged_mean


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """How much larger the first classifier's error or metric is than the second's.

    Attributes
    ----------
    first, second, var : str
        What was subtracted from what.
    mean : float
        Posterior mean of first minus second, averaged over calibrated and miscalibrated.
    lower, upper : float
        Credible interval of probability `prob`.
    prob : float
        Posterior probability of the interval.
    prob_first_larger : float
        Posterior probability that the first classifier's error or metric is the larger one.
    prob_equal : float
        Posterior probability that both are perfectly calibrated; of metrics, that they are equal.
    correlation : float
        Correlation of the two that the pairing of the rows brings, in [-1, 1]; NaN where one of
        them does not vary.
    draws : array
        Model-averaged draws of the difference, shape (chain * draw,).
    """

    first: str
    second: str
    var: str
    mean: float
    lower: float
    upper: float
    prob: float
    prob_first_larger: float
    prob_equal: float
    correlation: float
    draws: NDArray[np.float64] = field(repr=False)

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        sure = f"{100 * self.prob:.6g}% interval {self.lower:+.4f} to {self.upper:+.4f}"
        return (
            f"{metric_title(self.var)} of {self.first} minus {self.second}: "
            f"{self.mean:+.4f} ({sure}); "
            f"{self.first}'s is the larger with probability {self.prob_first_larger:.2f}."
        )


def difference(
    tree: xr.DataTree,
    first: str,
    second: str,
    var: str = "tce",
    prob: float = 0.9,
    *,
    class_: str | None = None,
    group: str | None = None,
) -> Difference:
    """Posterior of the difference of two classifiers' errors or metrics, first minus second.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of several classifiers on the same rows.
    first, second : str
        Two of its classifiers.
    var : {"tce", "ece", "mce"}
        Which error; of a result of `bayescal.ssme`, any of its metrics.
    prob : float
        Posterior probability of the interval, strictly between 0 and 1.
    class_, group : str, optional
        Which class and group, needed where the result tells several apart.

    Returns
    -------
    Difference
        Mean, interval, probabilities and draws.

    Raises
    ------
    InputError
        If a name is unknown, or the result does not know how the classifiers' errors correlate.

    Notes
    -----
    A result of `bayescal.ssme` has all classifiers in one posterior: draws are subtracted one by
    one, those in which the metric is undefined left out, and the interval is equal-tailed.

    Elsewhere each classifier's posterior is fitted on its own. Shared rows make the two errors
    dependent: labels that by chance flatter one classifier flatter a similar one too. The two
    sets of draws are therefore coupled by a Gaussian copula, whose correlation is that of the
    two estimates over the rows (group `pairing`). Each marginal posterior stays as it is, draw
    for draw.

    For the model average, each classifier's draw is replaced by 0 with its probability of
    calibration, independently. The interval sets the averaged draws of the one against the other's
    given miscalibration, as the conservative interval of a single error does: its lower end is the
    alpha quantile of "averaged first minus miscalibrated second", its upper end the 1 - alpha
    quantile of "miscalibrated first minus averaged second". Draw by draw the averaged difference
    lies between the two, so that the interval holds at least `prob` of the posterior; for two well
    calibrated classifiers it neither collapses to [0, 0] nor denies that only one of them is. The
    mean is the exact difference of the two averaged means. The same result and names give the same
    numbers, and exchanging the names changes their signs only.
    """
    alpha = tail(prob)
    schema.check_result(tree)
    if is_credal(tree):
        raise InputError(
            "a difference needs an error or a metric of each classifier; this result holds "
            "probabilities given each classifier's own score, which are different questions. "
            "Compare widths and open rows with bayescal.summary, or fit bayescal.ece or ssme."
        )
    joint = is_joint(tree)
    if joint:
        check_metric(tree, var)
    elif var not in schema.CALIBRATION_ERRORS:
        choices = ", ".join(schema.CALIBRATION_ERRORS)
        raise InputError(f"var must be a calibration error; got {var!r}. Choose from {choices}.")
    if first == second:
        raise InputError(f"first and second must differ; got {first!r} twice. Name two.")
    _check_one_case(tree, class_=class_, group=group)
    names = schema.classifier_names(tree)
    pair = [find_case(tree, name, class_, group) for name in (first, second)]
    if joint:
        return _of_paired_draws(tree, pair, var, prob)
    # The pair is coupled in the result's order, so that exchanging the names only changes the sign.
    order = sorted((0, 1), key=lambda k: names.index(pair[k].classifier))
    ordered = (pair[order[0]], pair[order[1]])
    correlation = _correlation(tree, *ordered)
    rng = np.random.default_rng([_seed(tree), *(names.index(case.classifier) for case in ordered)])
    marginals = [_draws(tree, var, case) for case in ordered]
    coupled = _couple(marginals[0], marginals[1], correlation, rng)
    kept = [
        draws * _keep(tree, case, len(draws), rng)
        for case, draws in zip(ordered, coupled, strict=True)
    ]
    (one, one_averaged), (two, two_averaged) = ((coupled[k], kept[k]) for k in order)
    averaged = one_averaged - two_averaged
    return Difference(
        first=first,
        second=second,
        var=var,
        mean=averaged_mean(tree, var, pair[0]) - averaged_mean(tree, var, pair[1]),
        lower=float(np.quantile(one_averaged - two, alpha)),
        upper=float(np.quantile(one - two_averaged, 1 - alpha)),
        prob=prob,
        prob_first_larger=float(np.mean(averaged > 0)),
        prob_equal=float(np.mean(averaged == 0)),
        correlation=correlation,
        draws=averaged,
    )


def _of_paired_draws(tree: xr.DataTree, pair: list[Case], var: str, prob: float) -> Difference:
    """Subtract draw by draw what one posterior holds of both."""
    alpha = tail(prob)
    one, two = (schema.variable(tree, schema.POSTERIOR, var, case).values.ravel() for case in pair)
    known = ~(np.isnan(one) | np.isnan(two))
    one, two = one[known], two[known]
    where = "".join(f" in group {case.group}" for case in pair[:1] if case.group is not None)
    if len(one) == 0:
        raise InputError(
            f"a difference needs draws of both; {var!r}{where} is undefined in every draw. Choose "
            "another metric."
        )
    apart = one - two
    return Difference(
        first=pair[0].classifier,
        second=pair[1].classifier,
        var=var,
        mean=float(apart.mean()),
        lower=float(np.quantile(apart, alpha)),
        upper=float(np.quantile(apart, 1 - alpha)),
        prob=prob,
        prob_first_larger=float(np.mean(apart > 0)),
        prob_equal=float(np.mean(apart == 0)),
        correlation=_of_draws(one, two),
        draws=apart,
    )


def _of_draws(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return float("nan")
    return float(np.corrcoef(one, two)[0, 1])


def _check_one_case(tree: xr.DataTree, **given: str | None) -> None:
    """Refuse to choose a class or a group for the user."""
    for name, value in given.items():
        dim = name.rstrip("_")
        if value is None and tree[schema.POSTERIOR].sizes.get(dim, 1) > 1:
            choices = ", ".join(repr(str(v)) for v in tree[schema.POSTERIOR].dataset[dim].values)
            raise InputError(
                f"{name} must be one of the result's; got none. Choose from {choices}."
            )


def _correlation(tree: xr.DataTree, one: Case, other: Case) -> float:
    if not schema.has_variable(tree, schema.ERROR_CORRELATION, "correlation"):
        raise InputError(
            "a difference needs the group 'pairing', which this result does not have. Fit the "
            "classifiers together, on the same rows: Scores.stack({name: y_prob, ...}, y_true=y)."
        )
    matrix = schema.variable(tree, schema.ERROR_CORRELATION, "correlation", one)
    return float(matrix.sel(classifier_other=other.classifier).item())


def _seed(tree: xr.DataTree) -> int:
    return abs(int(tree.attrs["seed"]))


def _draws(tree: xr.DataTree, var: str, case: Case) -> NDArray[np.float64]:
    values = schema.variable(tree, schema.POSTERIOR, var, case).values
    return np.sort(np.asarray(values, dtype=np.float64).ravel())


def _couple(
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    correlation: float,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reorder two sorted samples to the ranks of a bivariate normal of that correlation."""
    z = rng.standard_normal((2, len(one)))
    second = correlation * z[0] + np.sqrt(max(0.0, 1 - correlation**2)) * z[1]
    return one[_ranks(z[0])], other[_ranks(second)]


def _ranks(values: NDArray[Any]) -> NDArray[np.intp]:
    return np.argsort(np.argsort(values))


def _keep(tree: xr.DataTree, case: Case, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which draws are of the miscalibrated part of the posterior."""
    p_calibrated = schema.scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case)
    uniform = rng.random(n)
    if p_calibrated is None or np.isnan(p_calibrated):
        return np.ones(n, dtype=np.bool_)
    return np.asarray(uniform >= p_calibrated)
