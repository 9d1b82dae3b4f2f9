"""Whether what is concluded from a result stands under every prior that was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.credal_rows import is_credal
from bayescal.results.intervals import interval
from bayescal.results.metrics import is_joint, metric_title
from bayescal.results.prior_grid import priors_of, without_prior
from bayescal.results.row_conclusion import VAR as ROWS
from bayescal.results.row_conclusion import RowConclusion, row_conclusions
from bayescal.results.schema import Case
from bayescal.results.summary import averaged_mean, case_converged

_NAMES: Final = {
    "tce": "calibration error",
    "ece": "binned calibration error (ECE)",
    "mce": "largest calibration gap (MCE)",
}
_UNTOLD: Final = {"unknown", ""}
_LEAST_SD: Final = 1e-12


@dataclass(frozen=True, slots=True)
class UnderPrior:
    """What one prior leads to.

    Attributes
    ----------
    prior : str
        Its name.
    mean, sd : float
        Mean and standard deviation of the posterior, averaged over calibrated and miscalibrated.
    lower, upper : float
        Interval, as `bayescal.interval` has it.
    p_calibrated : float or None
        Posterior probability of calibration; None where the prior gives it none.
    shift : float
        Mean less that under the first prior, in posterior standard deviations (root of the two
        priors' mean variance).
    converged : bool
        Whether the fit passed its diagnostics.
    side : {"below", "above", "both", "unknown", ""}
        Where the interval lies: below or above the threshold, or on both sides of it. Against
        perfect calibration, "both" is an interval that starts at 0, "above" one that does not, and
        "unknown" a prior that gives calibration no probability and so cannot tell. "" where there
        is nothing to be held against: metrics without a threshold.
    """

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
    """Whether the conclusion for one case survives the change of prior.

    Attributes
    ----------
    case : str
        Name of the case; "" where there is only one.
    var : str
        The quantity.
    prob : float
        Probability of the intervals.
    threshold : float or None
        What the quantity was held against; None for perfect calibration.
    rows : tuple of UnderPrior
        One a prior, in the order given.
    """

    case: str
    var: str
    prob: float
    threshold: float | None
    rows: tuple[UnderPrior, ...]

    @property
    def overlap(self) -> bool:
        """Whether every two intervals overlap."""
        return max(row.lower for row in self.rows) <= min(row.upper for row in self.rows)

    @property
    def agree(self) -> bool:
        """Whether the intervals lie on the same side."""
        return len({row.side for row in self.rows} - _UNTOLD) <= 1

    @property
    def survives(self) -> bool:
        """Whether the conclusion survives."""
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
        what = _NAMES.get(self.var, metric_title(self.var))
        of = f" of {self.case}" if self.case else ""
        head = f"{what}{of}".strip()
        doubt = "" if self.converged else "Not to be relied on, a fit did not converge. "
        answer = (
            f"The conclusion on the {head} survives: "
            if self.survives
            else f"The conclusion on the {head} does not survive: "
        )
        return f"{doubt}{answer}{self._reason()}. {self._move()}"

    def _reason(self) -> str:
        intervals = f"the {100 * self.prob:.6g}% intervals"
        if not self.overlap:
            low = max(self.rows, key=lambda row: row.lower)
            high = min(self.rows, key=lambda row: row.upper)
            return (
                f"{intervals} under {high.prior} ({_ends(high)}) and {low.prior} ({_ends(low)}) "
                "do not overlap"
            )
        if not self.agree:
            sides: dict[str, list[str]] = {}
            for row in self.rows:
                if row.side not in _UNTOLD:
                    sides.setdefault(row.side, []).append(row.prior)
            told = [f"{self._where(side)} under {_list(names)}" for side, names in sides.items()]
            return f"{intervals} {' but '.join(told)}"
        number = "both" if len(self.rows) == 2 else f"all {len(self.rows)}"
        told_sides = {row.side for row in self.rows} - _UNTOLD
        where = "".join(f" and {self._where(side)}" for side in told_sides)
        unknown = [row.prior for row in self.rows if row.side == "unknown"]
        apart = f"; {_list(unknown)} cannot tell calibration" if unknown else ""
        if len(unknown) == len(self.rows):
            apart = "; none gives calibration a probability, so that no side can be told"
        return f"under {number} priors {intervals} overlap{where}{apart}"

    def _where(self, side: str) -> str:
        if self.threshold is None:
            return "allow perfect calibration" if side == "both" else "exclude perfect calibration"
        level = f"{self.threshold:g}"
        return f"lie {side} {level}" if side != "both" else f"hold {level}"

    def _move(self) -> str:
        most, first = self.largest, self.rows[0]
        if abs(most.shift) < 0.005:
            return f"The posterior mean moves by less than 0.01 sd from that under {first.prior}."
        return (
            f"The posterior mean moves most under {most.prior}: {most.mean - first.mean:+.4f} from "
            f"{first.mean:.4f} under {first.prior}, {abs(most.shift):.2f} posterior sd."
        )


def conclusions(
    tree: xr.DataTree,
    var: str | None = None,
    prob: float = 0.9,
    threshold: float | None = None,
) -> list[Conclusion | RowConclusion]:
    """Ask of every case whether its conclusion survives the change of prior.

    Parameters
    ----------
    tree : xarray.DataTree
        What `bayescal.prior_sensitivity` returned.
    var : str, optional
        A variable of its posterior with one number a case; by default ``accuracy`` of results of
        `bayescal.ssme`, else ``tce``, else ``ece``. Of results of `bayescal.credal` it is
        ``prob``, with all its rows.
    prob : float, in (0, 1), default 0.9
        Probability of the intervals.
    threshold : float, optional
        What the quantity is held against, say the error that is still tolerable; perfect
        calibration by default, and nothing for results of `bayescal.ssme`.

    Returns
    -------
    list of Conclusion or of RowConclusion
        One for each classifier, class and group. The latter for the rows of `bayescal.credal`.

    Raises
    ------
    InputError
        If it is a result of one prior, the variable is not there or has several numbers a case,
        no threshold is given for a variable that is not a calibration error, or one for rows.

    Notes
    -----
    The conclusion survives if, first, the intervals under every two priors overlap and, second,
    all lie on the same side: all wholly below `threshold`, all wholly above it, or all across
    it. Without a threshold the sides are "perfect calibration is excluded" (the interval does
    not start at 0) and "it is not"; metrics of several classifiers have no such sides. Both are
    rules of thumb for reading, not tests. Shifts of the mean are from the first prior, in
    posterior standard deviations.

    Decisions of rows survive if no row is decided for one class under one prior and for another
    class under another; rows that stay open under one of them are counted, not held against it.
    """
    priors_of(tree)
    name = var or default_quantity(tree)
    if is_credal(tree) and name == ROWS:
        if threshold is not None:
            raise InputError(
                f"threshold must be left out for the rows of bayescal.credal; got {threshold}. "
                "Their classes are held against each other."
            )
        return [*row_conclusions(tree, prob)]
    draws = schema.variable(tree, schema.POSTERIOR, name)
    if set(draws.dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS}:
        raise InputError(
            f"var must have one number a case; {name!r} has dims {draws.dims[2:]}. Choose another."
        )
    if threshold is None and not is_joint(tree) and name not in schema.CALIBRATION_ERRORS:
        raise InputError(
            f"threshold must be given for {name!r}: only calibration errors have a value, 0, that "
            "stands for perfect calibration. Pass the value that matters."
        )
    bounds = interval(tree, name, prob)
    return [
        _conclusion(tree, name, prob, threshold, cases, bounds)
        for cases in without_prior(schema.cases(tree))
    ]


def default_quantity(tree: xr.DataTree) -> str:
    """Name the quantity that a result is about."""
    held = [str(name) for name in tree[schema.POSTERIOR].data_vars]
    return next((name for name in ("accuracy", "tce", "ece", "prob") if name in held), held[0])


def _conclusion(
    tree: xr.DataTree,
    var: str,
    prob: float,
    threshold: float | None,
    cases: tuple[Case, ...],
    bounds: xr.DataArray,
) -> Conclusion:
    moments = [_moments(tree, var, case) for case in cases]
    first_mean, first_sd = moments[0]
    rows = []
    for case, (mean, sd) in zip(cases, moments, strict=True):
        lower, upper = (float(end) for end in schema.at(bounds, case).values)
        p_calibrated = _p_calibrated(tree, case)
        rows.append(
            UnderPrior(
                prior=str(case.prior),
                mean=mean,
                sd=sd,
                lower=lower,
                upper=upper,
                p_calibrated=p_calibrated,
                shift=_shift(mean - first_mean, first_sd, sd),
                converged=case_converged(tree, case),
                side=""
                if threshold is None and is_joint(tree)
                else _side(lower, upper, threshold, p_calibrated),
            )
        )
    several = [value for dim, value in cases[0].sel.items() if dim != schema.PRIOR_NAME]
    return Conclusion(" / ".join(several), var, prob, threshold, tuple(rows))


def _moments(tree: xr.DataTree, var: str, case: Case) -> tuple[float, float]:
    """Mean and standard deviation, of the average with exact calibration where there is one."""
    draws = schema.variable(tree, schema.POSTERIOR, var, case).values
    zero = _p_calibrated(tree, case) if var in schema.CALIBRATION_ERRORS else None
    share = 0.0 if zero is None else zero
    variance = (1 - share) * (float(np.nanvar(draws)) + share * float(np.nanmean(draws)) ** 2)
    return averaged_mean(tree, var, case), float(np.sqrt(variance))


def _p_calibrated(tree: xr.DataTree, case: Case) -> float | None:
    found = schema.scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case)
    return None if found is None or np.isnan(found) else found


def _shift(move: float, first_sd: float, sd: float) -> float:
    """Move in units of spread; a point that moves at all moves without end."""
    scale = float(np.sqrt((first_sd**2 + sd**2) / 2))
    if scale > _LEAST_SD:
        return move / scale
    return 0.0 if abs(move) <= _LEAST_SD else float(np.copysign(np.inf, move))


def _side(lower: float, upper: float, threshold: float | None, p_calibrated: float | None) -> str:
    if threshold is None:
        if p_calibrated is None:
            return "unknown"
        return "above" if lower > 0 else "both"
    if upper < threshold:
        return "below"
    return "above" if lower > threshold else "both"


def _ends(row: UnderPrior) -> str:
    return f"{row.lower:.4f} to {row.upper:.4f}"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
