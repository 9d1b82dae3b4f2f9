"""Whether what is concluded from a result is robust to the prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import xarray as xr

from bayescal.core.checks import check_is, check_number
from bayescal.core.errors import InputError
from bayescal.core.variables import ERROR, ROW
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import interval
from bayescal.results.measure import with_measure
from bayescal.results.rows import RowConclusion, row_conclusions
from bayescal.results.text import UNRELIABLE, percent, several

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

    case: str
    var: str
    prob: float
    threshold: float | None
    rows: tuple[UnderPrior, ...]
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
        and_where = "".join(f" and {self._where(side)}" for side in common)
        unknown = [row.prior for row in self.rows if row.side == "unknown"]
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
    if threshold is not None:
        check_number(threshold, "threshold", "(-inf, inf)")
    main = access.main(tree)
    tree, var = with_measure(tree, var)
    name = main.name if var is None else var
    check_is(name, str, "var", "Pass the name of a variable of the result.")
    if main.role != ROW or name != main.name:
        return [*_conclude(tree, name, prob, threshold)]
    if threshold is not None:
        raise InputError(
            f"threshold must be left out for rows; got {threshold}. Their classes are compared "
            "with each other."
        )
    return [*row_conclusions(tree, prob)]


def _conclude(
    tree: xr.DataTree, var: str, prob: float, threshold: float | None
) -> list[Conclusion]:
    """Conclusions on a variable with one number a case.

    Errors are compared with perfect calibration, or a threshold; others with a threshold, or none,
    as they have no value that all want to reach.
    """
    check_one_number(access.variable(tree, schema.POSTERIOR, var))
    one = access.described(tree, var)
    if threshold is None and one.role != ERROR and access.main(tree).role == ERROR:
        raise InputError(
            f"threshold must be given for {var!r}: only calibration errors have a value, 0, that "
            "stands for perfect calibration. Pass the value that matters."
        )
    asked = Conclusion("", var, prob, threshold, (), one.full or one.title)
    bounds = interval(tree, var, prob)
    sided = one.role == ERROR or threshold is not None
    return [
        _conclusion(tree, asked, together, bounds, sided)
        for together in access.along(tree, schema.PRIOR_NAME)
    ]


def check_one_number(draws: xr.DataArray) -> None:
    """Refuse variables with several numbers a case."""
    if set(draws.dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS}:
        raise InputError(
            f"var must have one number a case; {str(draws.name)!r} has dims {draws.dims[2:]}. "
            "Choose another."
        )


def _conclusion(
    tree: xr.DataTree,
    asked: Conclusion,
    together: tuple[ResultSlice, ...],
    bounds: xr.DataArray,
    sided: bool,
) -> Conclusion:
    draws = [access.flat_draws(tree, asked.var, case) for case in together]
    moments = [(float(np.nanmean(one)), float(np.nanstd(one))) for one in draws]
    first_mean, first_sd = moments[0]
    rows = []
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
                shift=_shift(mean - first_mean, first_sd, sd),
                converged=access.case_converged(tree, case),
                side=side,
            )
        )
    return replace(asked, case=access.name_over_priors(together[0]), rows=tuple(rows))


def _shift(move: float, first_sd: float, sd: float) -> float:
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
