"""Whether the decisions of rows are robust to the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.results import access
from bayescal.results.access import ResultSlice
from bayescal.results.rows import read_rows
from bayescal.results.text import UNRELIABLE, counted

VAR = "prob"


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

    case: str
    prob: float
    n_rows: int
    n_against: int
    n_apart: int
    rows: tuple[RowsUnderPrior, ...]

    @property
    def var(self) -> str:
        """The variable that it is on."""
        return VAR

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
        by_prior = "; ".join(
            f"{row.n_open} under {row.prior} (mean width {row.width:.3f})" for row in self.rows
        )
        apart = ""
        if self.n_apart:
            apart = f" In {counted(self.n_apart, 'row')} bounds under two priors do not overlap."
        return (
            f"{'' if self.converged else UNRELIABLE}{head} Of {self.n_rows} rows stay open: "
            f"{by_prior}.{apart}"
        )


def row_conclusions(tree: xr.DataTree, prob: float = 0.9) -> list[RowConclusion]:
    """Conclusions on the rows of every classifier."""
    access.prior_names(tree)
    return [
        _conclusion(tree, cases, prob) for cases in access.group_over_priors(access.cases(tree))
    ]


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
            shift=float(np.abs(one.median - first.median).mean()),
            converged=access.case_converged(tree, case),
        )
        for case, one, differs in zip(cases, found, against, strict=True)
    )
    return RowConclusion(
        case=access.name_over_priors(cases[0]),
        prob=prob,
        n_rows=len(first.row),
        n_against=int(_against(decided).sum()),
        n_apart=int(apart.sum()),
        rows=rows,
    )


def _against(decided: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows decided for two classes, of decisions (prior, obs)."""
    known = np.ma.masked_less(decided, 0)
    # No class is above none: rows that nobody decides are masked, and so not against.
    return np.asarray((known.max(axis=0) != known.min(axis=0)).filled(False), dtype=bool)
