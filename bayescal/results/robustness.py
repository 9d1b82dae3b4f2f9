"""How a posterior answers to the prior: power scaling, and whether what is concluded is robust."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_is, check_known, check_number, checked_words
from bayescal.core.errors import InputError
from bayescal.core.quantity import DATA as UNDRAWN
from bayescal.core.quantity import ERROR, METRIC, ROW, Quantity, Variable
from bayescal.core.text import UNRELIABLE, percent, several
from bayescal.measures.measure import as_variable
from bayescal.measures.registry import measures, range_of, resolve
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.densities import Values, pooled, totals
from bayescal.results.intervals import interval
from bayescal.results.measure import is_of_rows, with_measure
from bayescal.results.rows import RowConclusion, probabilities_of_case, row_conclusions

if TYPE_CHECKING:
    import pandas as pd

THRESHOLD: Final = 0.05
"""Sensitivity from which on it matters, as ArviZ and Kallioinen et al. have it."""
LEAST_SHIFT: Final = 0.1
"""Move of the mean, in posterior standard deviations, that matters; that of 400 effective draws has
a Monte Carlo error of half as much."""
MIN_DRAWS: Final = 100
ALL: Final = "all"

DATA: Final = "the data decide"
BOTH: Final = "prior and data both matter"
PRIOR: Final = "the prior dominates"
SPREAD: Final = "the prior moves the spread, not the mean"
FLAT: Final = "flat prior: refit under others (prior_sensitivity)"
NONE: Final = "no prior in the model: refit under others (prior_sensitivity)"
OF_ROWS: Final = "of the rows alone, whatever the prior"
CONSTANT: Final = "does not vary"
IMPOSSIBLE: Final = "a draw has no finite density"
UNDEFINED: Final = "undefined in some draws"

# Relative to its size, a log density that varies less has no shape but rounding.
_ROUNDING: Final = 1e-9
_POWERS: Final = (0.99, 1.01)
_UNKNOWN: Final = dict.fromkeys(
    [f"{by}_{what}" for what in ("sensitivity", "shift") for by in ("prior", "likelihood")],
    float("nan"),
)


def power_scale(tree: xr.DataTree, var_names: str | Sequence[str] | None = None) -> pd.DataFrame:
    """How strongly each quantity depends on each prior, without a refit.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.fit`, with its groups `log_prior` and `log_likelihood`.
    var_names : str or sequence of str, optional
        Posterior variables; by default those with one number a case or a bin, and of results of
        rows ``prob`` at up to nine rows evenly spaced by score. Of a variable with several numbers
        the most prior-sensitive one is shown.

    Returns
    -------
    pandas.DataFrame
        Index `case`; a row a case, quantity and prior. Columns:

        ======================  ==================================================================
        quantity                variable, with the element shown, as ``label_rate[3]``
        prior                   variable of the model whose prior is scaled; "all" for all at once,
                                where there are several
        prior_sensitivity       ArviZ's psense: how fast the posterior changes, in its distribution,
                                per doubling of the prior's weight; 0 not at all; NaN for a flat
                                prior
        likelihood_sensitivity  the same of the likelihood
        prior_shift             change of the posterior mean per doubling of the prior's weight, in
                                posterior standard deviations; its sign is the direction
        likelihood_shift        the same of the likelihood
        diagnosis               in words
        ======================  ==================================================================

        Sensitivities are at least 0; shifts have a sign.

    Raises
    ------
    InputError
        If the result lacks what is scaled (as one of several priors), 100 draws, or the variable.

    Notes
    -----
    Measures of rows, such as the AUC, are drawn from the rows alone: no prior bears on them.

    The posterior is reweighted to be proportional to ``prior**a * likelihood`` (or ``prior *
    likelihood**a``) at the powers a = 0.99 and 1.01, by importance sampling, and compared with what
    it is. Shifts are derivatives at 1: ``log(2) cov(quantity, log prior) / sd(quantity)``.
    From 0.05 on a sensitivity matters: the prior's alone means that it dominates, both that prior
    and data pull, perhaps apart. Fits are power-scaled in the model's own parameters; of an
    average, draws of all components are, calibrated ones among them, whose weights follow their
    evidence to its power (`average_power`). A flat prior keeps its shape at every power: refit
    under others with `bayescal.prior_sensitivity`.

    Errors after calibration are those of the probabilities that this posterior gives. A refit gives
    others, and as rows change bins such an error jumps, by a tenth of a standard deviation or so.

    References
    ----------
    .. [1] N. Kallioinen et al., power-scaling, 2024. https://doi.org/10.1007/s11222-023-10366-5

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(2000, seed=1)
    >>> tree = bc.fit(bc.ece, scores, seed=20, method="direct")
    >>> bc.power_scale(tree, "tce")["diagnosis"].item()
    'the data decide'
    """
    import pandas as pd

    schema.check_result(tree)
    if problem := obstacle(tree):
        raise InputError(problem)
    names = None if var_names is None else checked_words(var_names, "var_names")
    if names is not None:
        for place, name in enumerate(names):
            tree, names[place] = with_measure(tree, name)
    rows = []
    of_rows = any(one.role == ROW for one in access.answers(tree))
    for case in access.cases(tree):
        if names is None:
            scaled = (probabilities_of_case if of_rows else numbers_of_case)(tree, case)
        else:
            scaled = {name: access.variable(tree, schema.POSTERIOR, name, case) for name in names}
        rows += [(case.label, row) for row in _case_rows(tree, case, scaled)]
    index = pd.Index([label for label, _ in rows], name="case")
    return pd.DataFrame([row for _, row in rows], index=index)


def obstacle(tree: xr.DataTree) -> str:
    """Why a result cannot be power-scaled; "" if it can."""
    if access.is_prior_grid(tree):
        return (
            "power scaling is of one prior; this result holds refits under several. Pass the "
            "result of bayescal.fit under one of them."
        )
    if schema.LOG_LIKELIHOOD not in tree.children:
        return (
            f"power scaling needs the group {schema.LOG_LIKELIHOOD!r}, which this result does not "
            "have. Fit again with bayescal.fit."
        )
    sizes = tree[schema.POSTERIOR].sizes
    draws = sizes.get(schema.CHAIN, 1) * sizes.get(schema.DRAW, 1)
    if draws < MIN_DRAWS:
        return f"power scaling needs at least {MIN_DRAWS} draws; got {draws}. Fit with more."
    if pooled(tree) and set(access.names_along(tree, schema.GROUP)) != set(
        access.json_attribute(tree, "groups")
    ):
        return (
            "power scaling of groups under one prior needs the rows of all of them; this selection "
            "lacks some. Pass the whole result, and select from the table."
        )
    return ""


def numbers_of_case(tree: xr.DataTree, case: ResultSlice) -> dict[str, xr.DataArray]:
    """Variables with one number a case or a bin: what is scaled by default but for rows."""
    posterior = tree[schema.POSTERIOR].dataset
    along = [dim for dim in schema.CASE_DIMS if dim in posterior.coords]
    numbers = {*schema.DRAW_DIMS, *schema.CASE_DIMS, schema.BIN}
    return {
        str(name): access.variable(tree, schema.POSTERIOR, str(name), case)
        for name, values in posterior.data_vars.items()
        # What classifiers or groups have in common belongs to none of the cases.
        if all(access.is_along(tree, schema.POSTERIOR, str(name), dim) for dim in along)
        and set(values.dims) <= numbers
        and values.dtype.kind == "f"
    }


def _case_rows(
    tree: xr.DataTree, case: ResultSlice, scaled: Mapping[str, xr.DataArray]
) -> Iterator[dict[str, Any]]:
    for name, draws in scaled.items():
        if is_of_rows(tree, name):
            yield {**case.coords, "quantity": name, "prior": ALL, **_UNKNOWN, "diagnosis": OF_ROWS}
            continue
        values = draws.transpose(*schema.DRAW_DIMS, ...).values
        values = values.reshape(*values.shape[:2], -1)
        likelihood = np.asarray(sum(totals(tree, schema.LOG_LIKELIHOOD, case, name).values()))
        by_data = _sensitivity(values, likelihood)
        for prior, density in _priors(tree, case, name).items():
            by_prior = _sensitivity(values, density)
            worst = 0 if np.isnan(by_prior).all() else int(np.nanargmax(by_prior))
            one = values[..., worst]
            yield {
                **case.coords,
                "quantity": _element(name, draws, worst),
                "prior": prior,
                "prior_sensitivity": float(by_prior[worst]),
                "likelihood_sensitivity": float(by_data[worst]),
                "prior_shift": _shift(one, density),
                "likelihood_shift": _shift(one, likelihood),
                "diagnosis": _diagnosis(one, by_prior[worst], by_data[worst], density, likelihood),
            }


def _priors(tree: xr.DataTree, case: ResultSlice, var: str) -> dict[str, NDArray[Any] | None]:
    """Log density over the draws of each prior, and of all together; None for a model without."""
    single = totals(tree, schema.LOG_PRIOR, case, var)
    if len(single) < 2:
        return dict(single) or {ALL: None}
    return {ALL: np.sum(list(single.values()), axis=0), **single}


def _sensitivity(values: Values, density: Values | None) -> NDArray[np.float64]:
    """ArviZ's psense of each element, by a log density over the draws, if there is one."""
    found = np.full(values.shape[2], np.nan)
    known = ~np.isnan(values).any(axis=(0, 1))
    moving = np.array([known[i] and not _constant(values[..., i]) for i in range(len(known))])
    if density is None or not np.isfinite(density).all() or _constant(density) or not moving.any():
        return found
    # Loaded here, since results are read without it.
    import arviz_stats  # noqa: F401  # registers the accessor

    lower, upper = (_weights(density, power) for power in _POWERS)
    measured = xr.DataArray(values[..., moving], dims=(*schema.DRAW_DIMS, "element"))
    powers = {"lower_alpha": _POWERS[0], "upper_alpha": _POWERS[1]}
    weights = {"lower_w": lower, "upper_w": upper, "sample_dims": list(schema.DRAW_DIMS)}
    found[moving] = measured.azstats.power_scale_sense(**weights, **powers).values
    return found


def _weights(density: NDArray[Any], power: float) -> xr.DataArray:
    """Importance of each draw were the density raised to a power."""
    # ArviZ's smoothing of their tail would change nothing that is shown, so close to 1.
    log = (power - 1) * density
    weights = np.exp(log - log.max())
    return xr.DataArray(weights / weights.sum(), dims=schema.DRAW_DIMS)


def _constant(values: NDArray[Any]) -> bool:
    return bool(np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())))


def _shift(values: NDArray[Any], density: NDArray[Any] | None) -> float:
    """Derivative of the mean by log2 of the power, in standard deviations."""
    known = density is not None and np.isfinite(density).all() and not np.isnan(values).any()
    if density is None or not known or _constant(density) or _constant(values):
        return float("nan")
    covariance = float(np.mean((values - values.mean()) * (density - density.mean())))
    return float(np.log(2) * covariance / values.std())


def _diagnosis(
    values: Values, by_prior: float, by_data: float, density: Values | None, likelihood: Values
) -> str:
    if np.isnan(values).any():
        return UNDEFINED
    if _constant(values):
        return CONSTANT
    if density is None:
        return NONE
    if not (np.isfinite(density).all() and np.isfinite(likelihood).all()):
        return IMPOSSIBLE
    if _constant(density):
        return FLAT
    if by_prior < THRESHOLD:
        return DATA
    if abs(_shift(values, density)) < LEAST_SHIFT:
        return SPREAD
    return BOTH if by_data >= THRESHOLD else PRIOR


def _element(name: str, draws: xr.DataArray, place: int) -> str:
    """Name of an element, as ``label_rate[3]``."""
    own = [dim for dim in draws.dims if dim not in schema.DRAW_DIMS]
    if not own:
        return name
    where = np.unravel_index(place, [draws.sizes[dim] for dim in own])
    labels = [str(draws[dim].values[at]) for dim, at in zip(own, where, strict=True)]
    return f"{name}[{', '.join(labels)}]"


_NO_SIDE: Final = {"unknown", ""}
_LEAST_SD: Final = 1e-12


@dataclass(frozen=True, slots=True)
class UnderPrior:
    """What one prior leads to."""

    prior: str
    mean: float
    sd: float
    lower: float
    upper: float
    p_calibrated: float | None
    shift: float
    converged: bool
    side: str


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Whether the conclusion for one case is robust to the prior."""

    case: str  #: Classifier, class and group, in words.
    var: str  #: Name of the variable.
    prob: float  #: Probability of the intervals.
    threshold: float | None  #: What intervals should lie on one side of.
    rows: tuple[UnderPrior, ...]  #: By prior: mean, sd, lower, upper, shift, p_calibrated.
    name: str = ""
    """Name of the variable in full."""

    @property
    def overlap(self) -> bool:
        """Whether every two intervals overlap."""
        return max(row.lower for row in self.rows) <= min(row.upper for row in self.rows)

    @property
    def agree(self) -> bool:
        """Whether the intervals lie on the same side."""
        return len({row.side for row in self.rows} - _NO_SIDE) <= 1

    @property
    def robust(self) -> bool:
        """Whether the intervals overlap and lie on the same side."""
        return self.overlap and self.agree

    @property
    def converged(self) -> bool:
        """Whether all the fits it rests on converged."""
        return all(row.converged for row in self.rows)

    @property
    def largest(self) -> UnderPrior:
        """The prior that moves the mean furthest from that under the first."""
        return max(self.rows[1:], key=lambda row: abs(row.shift))

    @property
    def text(self) -> str:
        """The answer in sentences."""
        of = f" of {self.case}" if self.case else ""
        head = "" if self.converged else UNRELIABLE
        answer = "is robust" if self.robust else "is not robust"
        return (
            f"{head}The conclusion on the {self.name or self.var}{of} {answer} to the prior: "
            f"{self._reason()}. {self._move()}"
        )

    def _reason(self) -> str:
        intervals = f"the {percent(self.prob)} intervals"
        if not self.overlap:
            low = max(self.rows, key=lambda row: row.lower)
            high = min(self.rows, key=lambda row: row.upper)
            ends = [f"{one.prior} ({one.lower:.4f} to {one.upper:.4f})" for one in (high, low)]
            return f"{intervals} under {' and '.join(ends)} do not overlap"
        if not self.agree:
            sides: dict[str, list[str]] = {}
            for row in self.rows:
                if row.side not in _NO_SIDE:
                    sides.setdefault(row.side, []).append(row.prior)
            where = [f"{self._where(side)} under {several(names)}" for side, names in sides.items()]
            return f"{intervals} {' but '.join(where)}"
        number = "both" if len(self.rows) == 2 else f"all {len(self.rows)}"
        common = {row.side for row in self.rows} - _NO_SIDE
        unknown = [row.prior for row in self.rows if row.side == "unknown"]
        given = ", where calibration has a probability," if unknown else ""
        and_where = "".join(f" and{given} {self._where(side)}" for side in common)
        verb = "gives" if len(unknown) == 1 else "give"
        apart = f"; {several(unknown)} {verb} calibration no probability" if unknown else ""
        if len(unknown) == len(self.rows):
            apart = "; none gives calibration a probability, so that it cannot be excluded"
        return f"under {number} priors {intervals} overlap{and_where}{apart}"

    def _where(self, side: str) -> str:
        if self.threshold is None:
            return "allow perfect calibration" if side == "both" else "exclude perfect calibration"
        value = f"{self.threshold:g}"
        return f"lie {side} {value}" if side != "both" else f"cover {value}"

    def _move(self) -> str:
        most, first = self.largest, self.rows[0]
        if abs(most.shift) < 0.005:
            return f"The posterior mean moves by less than 0.01 sd from that under {first.prior}."
        return (
            f"The posterior mean moves most under {most.prior}: {most.mean - first.mean:+z.4f} "
            f"from {first.mean:.4f} under {first.prior}, {abs(most.shift):.2f} posterior sd."
        )


def conclusions(
    tree: xr.DataTree, var: str | None = None, prob: float = 0.9, threshold: float | None = None
) -> list[Conclusion | RowConclusion]:
    """Whether the conclusion of every case is robust to the prior.

    Parameters
    ----------
    tree : xarray.DataTree
        What `bayescal.prior_sensitivity` returned.
    var : str, optional
        A variable of its posterior with one number a case; the result's main one by default, such
        as ``tce`` or ``accuracy``. Of results of rows it is ``prob``, with all its rows.
    prob : float, in (0, 1), default 0.9
        Probability of the intervals.
    threshold : float, optional
        What the variable is compared with, say the error that is still tolerable; by default
        perfect calibration for calibration errors, and nothing for metrics.

    Returns
    -------
    list of Conclusion or of RowConclusion
        One for each classifier, class and group. The latter for results of rows.

    Raises
    ------
    InputError
        If it is a result of one prior, the variable is not there or has several numbers a case,
        no threshold is given for a variable that needs one, or one for rows.

    Notes
    -----
    The conclusion is robust if, first, the intervals under every two priors overlap and, second,
    all lie on the same side: all wholly below `threshold`, all wholly above it, or all across
    it. Without a threshold the sides are "perfect calibration is excluded" (the interval does
    not start at 0) and "it is not"; metrics of several classifiers have no such sides. Both are
    rules of thumb, not tests. Shifts of the mean are from the first prior, in posterior sd.

    Decisions of rows are robust if no row is decided for one class under one prior and for another
    class under another; rows that stay open under one of them are counted, not held against it.
    """
    access.prior_names(tree)
    main = access.main(tree)
    tree, var = with_measure(tree, var)
    name = main.name if var is None else var
    check_is(name, str, "var", "Pass the name of a variable of the result.")
    if main.role == ROW and name == main.name:
        _check_threshold(main, main, threshold)
        return [*row_conclusions(tree, prob)]
    check_one_number(name, access.variable(tree, schema.POSTERIOR, name).dims)
    one = access.described(tree, name)
    _check_threshold(one, main, threshold)
    asked = Conclusion("", name, prob, threshold, (), one.full or one.title)
    bounds, sided = interval(tree, name, prob), one.role == ERROR or threshold is not None
    return [_conclusion(tree, asked, cases, bounds, sided) for cases in with_value(tree, name)]


def check_question(quantity: Quantity, var: Any, threshold: float | None) -> None:
    """Refuse a variable that no result of the quantity has, or a threshold that does not fit."""
    every = {one.name: one for one in quantity.VARIABLES}
    known = {name: one for name, one in every.items() if "/" not in name and one.role != UNDRAWN}
    main = next(iter(known.values()))
    one = main if var is None else known.get(var) if isinstance(var, str) else None
    if one is None and isinstance(var, str):
        # Options may give a metric several names that begin alike, such as a cost for each rule.
        metrics = [one for one in known.values() if one.role == METRIC]
        one = next((one for one in metrics if var.startswith(f"{one.name}_")), None)
    if one is None:
        of_curve = measures() if f"{schema.CURVE}/rate" in every else ()
        if isinstance(var, str) or not of_curve:
            word = var.partition(":")[0] if isinstance(var, str) else var
            where = f"a result of {quantity.NAME}"
            check_known(word, (*known, *of_curve), "variable or measure", where)
        one = as_variable(resolve(var), None)
    elif one is not main and var not in measures():
        check_one_number(one.name, one.dims)
    _check_threshold(one, main, threshold)


def _check_threshold(one: Variable, main: Variable, threshold: float | None) -> None:
    if threshold is None:
        if one.role != ERROR and main.role == ERROR:
            raise InputError(
                f"threshold must be given for {one.name!r}: only calibration errors have a value, "
                "0, that stands for perfect calibration. Pass the value that matters."
            )
        return
    check_number(threshold, "threshold", range_of(one.name), "Pass no percent.")
    if one.role == ROW:
        raise InputError(
            f"threshold must be left out for rows; got {threshold}. Their classes are compared "
            "with each other."
        )


def with_value(tree: xr.DataTree, var: str) -> list[tuple[ResultSlice, ...]]:
    """Cases by prior; of a group without a value nothing is concluded."""
    found = [
        cases
        for cases in access.along(tree, schema.PRIOR_NAME)
        if not any(np.isnan(access.flat_draws(tree, var, case)).all() for case in cases)
    ]
    if not found:
        raise InputError(
            f"a conclusion needs draws; {var!r} is undefined in every draw. Choose another metric."
        )
    return found


def check_one_number(var: str, dims: Sequence[Hashable]) -> None:
    """Refuse variables with several numbers a case."""
    if set(dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS}:
        own = tuple(dim for dim in dims if dim not in schema.DRAW_DIMS)
        raise InputError(f"var must have one number a case; {var!r} has dims {own}. Name another.")


def _conclusion(
    tree: xr.DataTree,
    asked: Conclusion,
    together: tuple[ResultSlice, ...],
    bounds: xr.DataArray,
    sided: bool,
) -> Conclusion:
    draws = [access.flat_draws(tree, asked.var, case) for case in together]
    moments = [(float(np.nanmean(one)), float(np.nanstd(one))) for one in draws]
    (first_mean, first_sd), rows = moments[0], []
    for case, (mean, sd) in zip(together, moments, strict=True):
        lower, upper = access.ends(bounds, case)
        p_calibrated = access.prob_calibrated(tree, case)
        side = _side(lower, upper, asked.threshold, p_calibrated) if sided else ""
        rows.append(
            UnderPrior(
                prior=str(case.prior),
                mean=mean,
                sd=sd,
                lower=lower,
                upper=upper,
                p_calibrated=p_calibrated,
                shift=_move(mean - first_mean, first_sd, sd),
                converged=access.case_converged(tree, case),
                side=side,
            )
        )
    return replace(asked, case=access.name_over_priors(together[0]), rows=tuple(rows))


def _move(move: float, first_sd: float, sd: float) -> float:
    """Move in units of spread; a point that moves at all moves without end."""
    scale = float(np.sqrt((first_sd**2 + sd**2) / 2))
    if scale > _LEAST_SD:
        return move / scale
    return 0.0 if abs(move) <= _LEAST_SD else float(np.copysign(np.inf, move))


def _side(lower: float, upper: float, threshold: float | None, p_calibrated: float | None) -> str:
    if threshold is None and p_calibrated is None:
        return "unknown"
    if threshold is None:
        return "above" if lower > 0 else "both"
    if upper < threshold:
        return "below"
    return "above" if lower > threshold else "both"
