"""A plan of labels: how wide an interval will be, and whether it will exclude a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_number
from bayescal.core.shown import Showing, Shown, strip_of
from bayescal.results.text import count, decimals, ends, fixed, percent, probability

if TYPE_CHECKING:
    import pandas as pd

ENOUGH: Final = 0.8
"""Probability of excluding the limit with which labels are called enough."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Showing):
    """What intervals will be like with more labels, from simulated samples.

    Parameters
    ----------
    var : str
        What the intervals are of.
    prob : float
        Their posterior probability.
    n : tuple of int
        Numbers of labels, rising.
    ends : ndarray of shape (n, replication, 2)
        Intervals of the simulated samples.
    limit : float, optional
        Value to be excluded.
    title : str, optional
        Name of `var` in sentences and pictures.

    Attributes
    ----------
    table : pandas.DataFrame
        A row a number of labels: `n`; `width` (mean), `width_se` (its Monte Carlo error),
        `width_lower` and `width_upper` (central range of probability `prob` over the samples); with
        a limit `prob_below` and `prob_above` (the interval lies wholly below or above it),
        `prob_excludes` (their sum) and `prob_se` (its Monte Carlo error).
    text : str
        The same in sentences.
    enough : int or None
        Least number of labels that excludes the limit with a probability of 0.8 or more.
    """

    var: str
    prob: float
    n: tuple[int, ...]
    ends: NDArray[np.float64]
    limit: float | None = None
    title: str = ""

    def with_limit(self, limit: float) -> LabelPlan:
        """Take another limit; the simulated samples stay.

        Parameters
        ----------
        limit : float
            Value to be excluded.

        Returns
        -------
        LabelPlan
            With the probabilities of excluding it.
        """
        return replace(self, limit=check_number(limit, "limit", "(-inf, inf)"))

    @cached_property
    def table(self) -> pd.DataFrame:
        """Widths and probabilities by number of labels."""
        import pandas as pd

        number = self.ends.shape[1]
        lower, upper = self.ends[..., 0], self.ends[..., 1]
        width, tail = upper - lower, (1 - self.prob) / 2
        low, high = np.quantile(width, (tail, 1 - tail), axis=1)
        columns = {
            "n": self.n,
            "width": width.mean(axis=1),
            "width_se": width.std(axis=1, ddof=1) / np.sqrt(number),
            "width_lower": low,
            "width_upper": high,
        }
        if self.limit is not None:
            below, above = (upper < self.limit).mean(axis=1), (lower > self.limit).mean(axis=1)
            chance = below + above
            columns |= {"prob_below": below, "prob_above": above, "prob_excludes": chance}
            columns["prob_se"] = np.sqrt(chance * (1 - chance) / number)
        return pd.DataFrame(columns)

    @property
    def enough(self) -> int | None:
        """Least number of labels that excludes the limit with a probability of 0.8 or more."""
        if self.limit is None:
            return None
        reached = self.table.n[self.table.prob_excludes >= ENOUGH]
        return None if reached.empty else int(reached.min())

    @property
    def text(self) -> str:
        """Say it in sentences."""
        width = self.table.width
        digits = decimals(0.0, float(width.min()))
        widths = ", ".join(
            f"{fixed(one, digits)} with {count(n)}" for n, one in zip(self.n, width, strict=True)
        )
        what = f"{percent(self.prob)} interval of {self.title or self.var}"
        return f"Expected width of the {what}: {widths} labels.{self._on_limit()}"

    def _on_limit(self) -> str:
        """Whether labels are enough to exclude the limit."""
        if self.limit is None:
            return ""
        n, limit = self.enough or self.n[-1], f"{self.limit:g}"
        row = self.table[self.table.n == n].iloc[0]
        found, below, above = (
            self._share(float(row[name])) for name in ("prob_excludes", "prob_below", "prob_above")
        )
        if self.enough is None:
            return f" Even {count(n)} labels exclude {limit} with a probability of {found} only."
        return (
            f" About {count(n)} labels exclude {limit} with a probability of {found} ({below} that "
            f"it lies below {limit}, {above} above)."
        )

    def _share(self, value: float) -> str:
        """Write a share of the samples; that of none or all only as finely as they tell."""
        least = max(1 / self.ends.shape[1], 0.001)
        if value < least:
            return f"< {least:.3g}"
        return f"> {1 - least:.3g}" if value > 1 - least else probability(value)

    def _show_(self) -> Shown:
        ranges = self.table[["width_lower", "width_upper", "width"]].itertuples(index=False)
        widths = [(one[0], one[1], one[2]) for one in ranges]
        digits = decimals(0.0, float(self.table.width.min()))
        chances = None if self.limit is None else self.table.prob_excludes
        return Shown(
            lead=[self.text],
            columns=(
                *("Labels", "Width", f"{percent(self.prob)} range"),
                *([] if chances is None else [f"P(excludes {self.limit:g})"]),
            ),
            rows=[
                (
                    *(count(n), fixed(width, digits), ends(low, high, digits)),
                    *([] if chances is None else [self._share(chances[place])]),
                )
                for place, (n, (low, high, width)) in enumerate(zip(self.n, widths, strict=True))
            ],
            strip=strip_of(widths, "Dot: mean width; band: its range over simulated samples.", 0.0),
        )

    def __repr__(self) -> str:
        """Say what is planned."""
        return f"<LabelPlan: {self.text}>"
