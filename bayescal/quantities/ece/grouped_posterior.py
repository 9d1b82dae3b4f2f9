"""All groups of one classifier in one model: from draws to what a result holds of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws
from bayescal.core.variables import named, undrawn
from bayescal.curves.average import in_chains
from bayescal.curves.cells import Problem, curve_scores
from bayescal.curves.priors import SMOOTH, CurveAverage, SmoothCurve
from bayescal.quantities.ece import VARIABLES
from bayescal.quantities.ece.model import model_of_groups
from bayescal.quantities.ece.pooled_curves import GroupCurve, PooledCurves
from bayescal.quantities.ece.posterior import (
    EVIDENCE_DRAWS,
    MONITORED,
    PRIOR_DRAWS,
    AveragedCase,
    CurveDraws,
    EceCase,
    Values,
    average_arrays,
    case_of,
    evidence_of,
    simulated,
)
from bayescal.quantities.ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

_MOST_NAMED = 5
_DRAW_GROUPS = (
    *("posterior", "prior", "log_likelihood", "posterior_predictive", "descriptions"),
    *("given_miscalibration", "curve"),
)
_PLAIN_GROUPS = (
    "observed_data",
    "constant_data",
    "point_estimate",
    "bounds",
    "model_average",
    "diagnostics",
)
_BY_GROUP = (
    *("l2", "l2_debiased", "n", "effective_n", "prevalence"),
    "p_calibrated",
    *("total_bias", "statistical_bias", "binning_bias", "optimal_n_bins", "least_bound_n_bins"),
    # A bound in one group of the result, a coefficient in another.
    "bounds/deviation",
)
GROUPED_VARIABLES = (
    *(one._replace(dims=("group", *one.dims)) for one in VARIABLES),
    *undrawn(*_BY_GROUP, dims=("group",)),
    *named("common", dims=("basis",)),
    *named("deviation", dims=("group", "basis")),
    *named("pooling"),
)
"""Variables of groups under one model."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupedCase:
    """The groups of one classifier (and class) under `PooledCurves`; made by `GroupedCase.of`."""

    coords: Mapping[str, str]
    alone: Sequence[EceCase | AveragedCase]
    model: PooledCurves
    notes: Sequence[str]
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # None: the evidence is that of each group on its own.
    evidence_draws: ClassVar[int] = 0

    @classmethod
    def of(
        cls,
        problems: Sequence[Problem],
        priors: Priors,
        notes: Sequence[str] = (),
    ) -> GroupedCase:
        """Join the groups' problems."""
        curve, pooled = priors.label_rate, problems
        if isinstance(curve, CurveAverage):
            curve, pooled = curve.curve, [without_ends(problem) for problem in problems]
        if not isinstance(curve, SmoothCurve):
            raise TypeError("groups share a curve, not bins")
        coords = {dim: name for dim, name in problems[0].coords.items() if dim != "group"}
        alone = [case_of(problem, priors) for problem in problems]
        return cls(coords, alone, PooledCurves(pooled, curve, priors.pooling), notes)

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the groups, and of the descriptions of an average."""
        return {
            "group": tuple(case.coords["group"] for case in self.alone),
            **self.alone[0].axes,
        }

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data of each group."""
        return [*self.notes, *self._by_group([case.warnings for case in self.alone])]

    def fingerprint(self) -> str:
        """Hash of the counts of all groups."""
        return "".join(case.fingerprint() for case in self.alone)

    def build_model(self, member: str = SMOOTH) -> pm.Model:
        """Build the model of the curves that the groups share, unsampled."""
        return model_of_groups(self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of the groups, but for the sampler's own figures.

        Notes
        -----
        Whether one group is calibrated is decided by its own rows, without the other groups.
        """
        before = self.model.prior_draws(PRIOR_DRAWS, rng)
        found = [self._arrays_of(place, draws, before, rng) for place in range(len(self.alone))]
        stacked: dict[str, Any] = {name: _stack(found, name, axis=2) for name in _DRAW_GROUPS}
        stacked |= {name: _stack(found, name, axis=0) for name in _PLAIN_GROUPS}
        stacked["posterior"] |= draws
        # What the groups' probabilities of calibration rest on, not the draws: the worst group.
        diagnostics = stacked["diagnostics"]
        diagnostics["importance_ess"] = diagnostics["importance_ess"].min()
        diagnostics["pareto_k"] = diagnostics["pareto_k"].max()
        return replace(
            found[0],
            coords=self.coords,
            warnings=self._by_group([arrays.warnings for arrays in found]),
            **stacked,
            log_prior=self.model.log_prior(draws),
        )

    def _arrays_of(
        self, place: int, draws: Draws, before: Draws, rng: np.random.Generator
    ) -> CaseArrays:
        """What a result holds of one group, whose smooth curve is that of the common model."""
        case, n_cells = self.alone[place], self.model.compile_key[-1]
        if isinstance(case, AveragedCase):
            shape = draws["common"].shape[:2]
            own = case.model.direct_draws(int(np.prod(shape)), rng)
            return average_arrays(
                case.problem,
                case.model.with_components({SMOOTH: GroupCurve(self.model, place, case.model)}),
                {**in_chains(own.draws, shape), **draws},
                own,
                n_cells,
                rng,
            )
        own = evidence_of(case.model.direct_draws(EVIDENCE_DRAWS, rng))
        rate = self.model.cell_rates(draws, place)
        given = CurveDraws(rate, self.model.curve(draws, place, curve_scores(case.problem)))
        return case.arrays_of(given, self.model.cell_rates(before, place), own, n_cells, rng)

    def simulate(self, rng: np.random.Generator) -> tuple[GroupedCase, Values]:
        """Draw coefficients from the prior and labels given them, group by group."""
        if isinstance(self.alone[0], AveragedCase):
            raise InputError(
                "groups under an average cannot be simulated: their weights come from each group's "
                "own rows, the smooth curve from all. Pass Priors(label_rate=SmoothCurve())."
            )
        before = self.model.prior_draws(1, rng)
        problems, values = zip(
            *(
                simulated(case.problem, self.model.cell_rates(before, place), rng)
                for place, case in enumerate(self.alone)
            ),
            strict=True,
        )
        again = GroupedCase.of(problems, self.alone[0].priors, self.notes)
        stacked = {name: np.stack([value[name] for value in values]) for name in values[0]}
        return again, {**stacked, "pooling": before["pooling"][0]}

    def _by_group(self, sentences: Sequence[Sequence[str]]) -> list[str]:
        """Sentences about groups, each once, with the first names; a sign stays one."""
        of: dict[str, list[str]] = {}
        for case, own in zip(self.alone, sentences, strict=True):
            for sentence in own:
                of.setdefault(sentence, []).append(case.coords["group"])
        return [type(said)(f"in {_in_words(names)}, {said}") for said, names in of.items()]


def _in_words(groups: Sequence[str]) -> str:
    shown, rest = groups[:_MOST_NAMED], len(groups) - _MOST_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"group{'s' * (len(groups) > 1)} {', '.join(shown)}{more}"


def without_ends(problem: Problem) -> Problem:
    """Leave out rows with a score of exactly 0 or 1, which no curve joins with the others."""
    cells = problem.cells
    end = (cells.mean_score == 0) | (cells.mean_score == 1)
    kept: dict[str, Any] = {
        name: np.where(end, 0, values)
        for name in ("count", "positives", "mass", "rows")
        if (values := getattr(cells, name)) is not None
    }
    return replace(problem, cells=replace(cells, **kept))


def _stack(found: Sequence[CaseArrays], group: str, axis: int) -> dict[str, Any]:
    """Put the groups' arrays along a new axis."""
    return {
        name: np.stack([np.asarray(getattr(arrays, group)[name]) for arrays in found], axis=axis)
        for name in getattr(found[0], group)
    }
