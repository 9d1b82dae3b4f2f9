"""Class probabilities row by row: bounds, decisions, their table, and whether they are robust."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.bin_edges import evenly
from bayescal.core.errors import InputError
from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import ROW, Floats
from bayescal.core.text import UNRELIABLE, count, counted
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import tail

if TYPE_CHECKING:
    import pandas as pd


VAR = schema.PROB
_FEW: Final = 9
"""Rows that power scaling takes by default."""
EVEN = 0.5
"""Probability above which one of two classes is the more probable one."""


class Rows(NamedTuple):
    """The target rows that a result holds, of one case; made by `read_rows`."""

    row: NDArray[np.int64]  # (obs,)
    curves: tuple[str, ...]
    classes: tuple[str, ...]
    score: Floats  # (obs, curve)
    mean: Floats  # (obs, curve)
    lower: Floats  # (obs, curve)
    upper: Floats  # (obs, curve)
    p0: Floats  # (obs, curve)
    p1: Floats  # (obs, curve)
    merged: Floats  # (obs, curve)
    p_decision: Floats  # (obs, class)
    decision: NDArray[np.int64]  # (obs,)
    is_open: NDArray[np.bool_]  # (obs, class)
    improper: NDArray[np.bool_]  # (obs,)
    p_improper: Floats  # (obs,)

    @property
    def n_open(self) -> NDArray[np.int64]:
        """How many classes stay open in each row."""
        return np.asarray(self.is_open.sum(axis=1))

    @property
    def width(self) -> Floats:
        """Widths of the bounds, (obs, curve)."""
        return self.upper - self.lower


def check_rows(tree: xr.DataTree, what: str, remedy: str) -> None:
    """Refuse results that are not of rows."""
    if access.main(tree).role != ROW:
        raise InputError(
            f"{what} needs a result of class probabilities row by row; this one is of "
            f"{tree.attrs['quantity']}. {remedy}"
        )


def read_rows(tree: xr.DataTree, case: ResultSlice, prob: float = 0.9) -> Rows:
    """Read the rows of one case; the bounds alone decide, see `row_table`."""
    alpha, held = tail(prob), partial(access.variable_along, tree, schema.OBS, case=case)

    def draws(name: str) -> Floats:
        return access.flattened(held(schema.POSTERIOR, name))

    def plain(group: str, name: str) -> Floats:
        return _columns(held(group, name).values)

    access.check_every_class(tree)
    binary = tree.attrs["multiclass"] == "binary"
    classes = tuple(map(str, access.json_attribute(tree, "classes")))
    lower = _columns(np.quantile(draws(schema.PROB_LOWER), alpha, axis=0))
    upper = _columns(np.quantile(draws(schema.PROB_UPPER), 1 - alpha, axis=0))
    decided = draws(schema.DECISION)
    proper = draws(schema.PROPER).mean(axis=0) if not binary else np.ones(len(lower))
    improper = held(schema.POINT_ESTIMATE, schema.IMPROPER)
    found = decide_binary(lower[:, 0], upper[:, 0]) if binary else decide(lower, upper)
    return Rows(
        row=held(schema.CONSTANT_DATA, schema.TARGET_ROW).values,
        curves=classes[1:] if binary else classes,
        classes=classes,
        score=plain(schema.CONSTANT_DATA, schema.TARGET_SCORE),
        # Sums round by the order in memory, which a file may change.
        mean=_columns(np.ascontiguousarray(draws(schema.PROB)).mean(axis=0)),
        lower=lower,
        upper=upper,
        p0=plain(schema.POINT_ESTIMATE, schema.P0),
        p1=plain(schema.POINT_ESTIMATE, schema.P1),
        merged=plain(schema.POINT_ESTIMATE, schema.PROB),
        p_decision=np.stack([(decided == k).mean(axis=0) for k in range(len(classes))], axis=1),
        decision=found.decision,
        is_open=found.admissible,
        improper=improper.values.astype(bool),
        p_improper=1 - proper,
    )


def share_of_targets(tree: xr.DataTree, shown: int) -> str:
    """Say how many target rows are shown: a fit holds some of many, and a selection fewer."""
    held, target = (int(tree.attrs[name]) for name in ("n_held", "n_target"))
    if shown == target:
        return "all " * (target > 1) + counted(target, "target row")
    how = "evenly spaced by score" if shown == held else "which were selected"
    return f"{count(shown)} of the {count(target)} target rows, {how}"


def _columns(values: NDArray[np.float64]) -> Floats:
    """A row's values side by side, one where there is one curve."""
    return np.asarray(values if values.ndim == 2 else values[:, np.newaxis], dtype=np.float64)


def probabilities_of_case(tree: xr.DataTree, case: ResultSlice) -> dict[str, xr.DataArray]:
    """Probabilities at a few rows, evenly spaced by the score of the last class."""
    held = partial(access.variable_along, tree, schema.OBS, case=case)
    score = held(schema.CONSTANT_DATA, schema.TARGET_SCORE).values
    places = evenly(score.reshape(len(score), -1)[:, -1], _FEW)
    return {VAR: held(schema.POSTERIOR, VAR).isel(obs=np.sort(places))}


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
        prob               posterior mean of the probability of the class given the score
        lower, upper       bounds of probability `prob`
        p0, p1             Venn-Abers probabilities; no interval of any coverage
        merged             both merged, ``p1 / (1 - p0 + p1)``, summing to 1 over classes
        decision           class decided on: the open one whose lower probability is largest
        p_decision         share of the draws whose own bounds decide on it
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
    1 - alpha quantile of ``prob_upper``. A class is open where it is the most probable one under
    some probabilities within the bounds; of two classes, where its bounds reach 1/2. Of several
    classes improper bounds are discounted first.

    Only the target rows with draws are listed, 200 at most: the root attributes `n_held` and
    `n_target` count them and all. The quantity's own functions have bounds of every row.

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

    check_rows(tree, "a table of rows", "Use bayescal.summary instead.")
    parts = [_lines(tree, case, prob) for case in access.cases(tree)]
    return pd.DataFrame([line for part in parts for line in part]).set_index("obs")


def _lines(tree: xr.DataTree, case: ResultSlice, prob: float) -> list[dict[str, Any]]:
    rows = read_rows(tree, case, prob)
    status = access.case_status(tree, case)
    return [
        {**case.sel, "obs": place, **_line(rows, place, k), "status": status}
        for place in range(len(rows.row))
        for k in range(len(rows.curves))
    ]


def _line(rows: Rows, place: int, k: int) -> dict[str, Any]:
    decision = int(rows.decision[place])
    numbers = {"score": rows.score, "prob": rows.mean, "lower": rows.lower, "upper": rows.upper}
    numbers |= {"p0": rows.p0, "p1": rows.p1, "merged": rows.merged}
    return {
        "row": int(rows.row[place]),
        "class": rows.curves[k],
        **{name: float(values[place, k]) for name, values in numbers.items()},
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


@dataclass(frozen=True, slots=True)
class RowsUnderPrior:
    """What one prior leads to, over the rows."""

    prior: str
    width: float
    n_open: int
    n_alike: int
    n_against: int
    shift: float
    converged: bool


@dataclass(frozen=True, slots=True)
class RowConclusion:
    """Whether decisions are robust to the prior, for one classifier."""

    case: str  #: Classifier, in words.
    prob: float  #: Probability of the bounds.
    n_rows: int  #: Number of rows.
    n_against: int  #: Rows decided one way under one prior and another under another.
    n_apart: int  #: Rows whose bounds under two priors do not overlap.
    rows: tuple[RowsUnderPrior, ...]  #: By prior: width, n_open, n_alike, n_against, shift.
    var: str = VAR  #: Name of the variable.

    @property
    def robust(self) -> bool:
        """Whether no row is decided one way under one prior and another way under another."""
        return self.n_against == 0

    @property
    def converged(self) -> bool:
        """Whether all the fits it rests on converged."""
        return all(row.converged for row in self.rows)

    @property
    def text(self) -> str:
        """The answer in sentences."""
        of = f" of {self.case}" if self.case else ""
        if self.robust:
            head = f"The decisions{of} are robust: no row is decided differently under two priors."
        else:
            head = (
                f"The decisions{of} are not robust: {counted(self.n_against, 'row')} of "
                f"{self.n_rows} {'is' if self.n_against == 1 else 'are'} decided differently under "
                "two priors."
            )
        stay = " stays open" if self.rows[0].n_open == 1 else " stay open"
        by_prior = "; ".join(
            f"{row.n_open}{stay * (row is self.rows[0])} under {row.prior} (mean width "
            f"{row.width:.3f})"
            for row in self.rows
        )
        apart = ""
        if self.n_apart:
            apart = f" In {counted(self.n_apart, 'row')} bounds under two priors do not overlap."
        return (
            f"{'' if self.converged else UNRELIABLE}{head} Of "
            f"{counted(self.n_rows, 'row')} {by_prior}.{apart}"
        )


def row_conclusions(tree: xr.DataTree, prob: float = 0.9) -> list[RowConclusion]:
    """Conclusions on the rows of every classifier."""
    access.prior_names(tree)
    return [_conclusion(tree, cases, prob) for cases in access.along(tree, schema.PRIOR_NAME)]


def _conclusion(tree: xr.DataTree, cases: tuple[ResultSlice, ...], prob: float) -> RowConclusion:
    found = [read_rows(tree, case, prob) for case in cases]
    lower, upper = (np.stack([getattr(one, end) for one in found]) for end in ("lower", "upper"))
    apart = (lower.max(axis=0) > upper.min(axis=0)).any(axis=1)
    # The only class that is open in each row, -1 where there are more.
    decided = np.stack([np.where(one.n_open == 1, one.is_open.argmax(axis=1), -1) for one in found])
    against = [_against(decided[[0, k]]) for k in range(len(found))]
    first = found[0]
    rows = tuple(
        RowsUnderPrior(
            prior=str(case.prior),
            width=float(one.width.mean()),
            n_open=int((one.n_open > 1).sum()),
            n_alike=int((one.is_open == first.is_open).all(axis=1).sum()),
            n_against=int(differs.sum()),
            shift=float(np.abs(one.mean - first.mean).mean()),
            converged=access.case_converged(tree, case),
        )
        for case, one, differs in zip(cases, found, against, strict=True)
    )
    name, n_against = access.name_over_priors(cases[0]), int(_against(decided).sum())
    return RowConclusion(name, prob, len(first.row), n_against, int(apart.sum()), rows)


def _against(decided: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows decided for two classes, of decisions (prior, obs)."""
    known = np.ma.masked_less(decided, 0)
    # No class is above none: rows that nobody decides are masked, and so not against.
    return np.asarray((known.max(axis=0) != known.min(axis=0)).filled(False), dtype=bool)
