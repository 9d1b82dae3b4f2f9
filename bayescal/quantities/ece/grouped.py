"""All groups of one classifier in one model, from their counts to the pieces of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.curve import SmoothCurve
from bayescal.core.problem import Problem
from bayescal.core.room import Pieces
from bayescal.core.sampled import Exact
from bayescal.quantities import ece
from bayescal.quantities.ece.case import EceCase
from bayescal.quantities.ece.pieces import PRIOR_DRAWS, tell
from bayescal.quantities.ece.pooled import PooledCurves
from bayescal.quantities.ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]

# For the probability that one group is calibrated.
_EVIDENCE_DRAWS = 2000
_DRAW_GROUPS = ("posterior", "prior", "log_likelihood")
_PLAIN_GROUPS = (
    "observed_data",
    "constant_data",
    "point_estimate",
    "bounds",
    "model_average",
    "diagnostics",
)
_OWN_DIMS = {
    "common": ("basis",),
    "deviation": ("group", "basis"),
    "pooling": (),
    # One figure for the one model.
    "importance_ess": (),
    "rhat_max": (),
    "ess_min": (),
    "divergences": (),
    "ebfmi_min": (),
    "converged": (),
}
_BY_GROUP = (
    *("ece", "tce", "mce", "l2", "l2_debiased", "n", "prevalence"),
    *("p_calibrated", "ece_mean", "tce_mean", "mce_mean"),
    *("log_bayes_factor_jump", "jump_flag"),
    *("total_bias", "statistical_bias", "binning_bias", "deviation", "optimal_n_bins"),
    "least_bound_n_bins",
)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedCase:
    """The groups of one classifier (and class) under `PooledCurves`; made by `GroupedCase.of`."""

    coords: Mapping[str, str]
    alone: Sequence[EceCase]
    rates: PooledCurves
    told: Sequence[str]

    @classmethod
    def of(
        cls,
        problems: Sequence[Problem],
        prior: SmoothCurve,
        priors: Priors,
        told: Sequence[str] = (),
    ) -> GroupedCase:
        """Join the groups' problems."""
        coords = {dim: name for dim, name in problems[0].coords.items() if dim != "group"}
        alone = [EceCase.of(problem, priors) for problem in problems]
        return cls(coords, alone, PooledCurves(problems, prior, priors.pooling), told)

    @property
    def structure(self) -> tuple[Any, ...]:
        """What tells its compiled model from others."""
        return self.rates.structure

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the groups."""
        return {"group": tuple(case.coords["group"] for case in self.alone)}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables: those of the room after `group`."""
        room = {name: ("group", *dims) for name, dims in ece.DIMS.items()}
        # Deviation is a bound in one group of the result and a coefficient in another.
        bounds = {"bounds/deviation": ("group",)}
        return {**room, **dict.fromkeys(_BY_GROUP, ("group",)), **_OWN_DIMS, **bounds}

    @property
    def variables(self) -> tuple[str, ...]:
        """The model's variables."""
        return self.rates.variables

    @property
    def target_accept(self) -> float:
        """The model's."""
        return self.rates.target_accept

    @property
    def max_depth(self) -> int:
        """The model's."""
        return self.rates.max_depth

    @property
    def notes(self) -> list[str]:
        """Warnings about the data of each group."""
        return [
            *self.told,
            *(f"in group {case.coords['group']}, {n}" for case in self.alone for n in case.notes),
        ]

    def fingerprint(self) -> str:
        """Hash of the counts of all groups."""
        return "".join(case.fingerprint() for case in self.alone)

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        import pymc as pm

        _, groups, cells = self.structure
        basis = np.arange(self.rates.design_size)
        coords = {"group": np.arange(groups), "cell": np.arange(cells)}
        with pm.Model(coords={**coords, "basis": basis, "basis_": basis}) as model:
            self.rates.add_to_model()
        return model

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads."""
        return self.rates.inputs()

    def exact(self, draws: int, rng: np.random.Generator) -> Exact:
        """Posterior without NUTS."""
        return self.rates.exact(draws, rng)

    def pieces(self, draws: Mapping[str, Floats], exact: Exact, rng: np.random.Generator) -> Pieces:
        """Everything a result holds of the groups, but for the sampler's own figures.

        Notes
        -----
        Whether one group is calibrated is asked of its own rows, without the other groups.
        """
        before = self.rates.prior_draws(PRIOR_DRAWS, rng)
        told = [
            tell(
                case.problem,
                case.priors,
                rates=self.rates.cell_rates(draws, place),
                curve=partial(self.rates.curve, draws, place),
                prior_rates=self.rates.cell_rates(before, place),
                exact=case.exact(_EVIDENCE_DRAWS, rng),
                size=self.structure[-1],
                rng=rng,
            )
            for place, case in enumerate(self.alone)
        ]
        stacked = {name: _stack(told, name, axis=2) for name in _DRAW_GROUPS}
        stacked |= {name: _stack(told, name, axis=0) for name in _PLAIN_GROUPS}
        stacked["posterior"] |= draws
        # What the groups' probabilities of calibration rest on, not the draws.
        stacked["diagnostics"]["importance_ess"] = stacked["diagnostics"]["importance_ess"].min()
        return replace(told[0], **stacked, log_prior=self.rates.log_prior(draws))


def _stack(told: Sequence[Pieces], group: str, axis: int) -> dict[str, Any]:
    """Put the groups' arrays along a new axis."""
    return {
        name: np.stack([np.asarray(getattr(piece, group)[name]) for piece in told], axis=axis)
        for name in getattr(told[0], group)
    }
