"""One classifier's fit, from its counts to the pieces of a result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.problem import Problem
from bayescal.core.room import Pieces
from bayescal.core.sampled import Exact
from bayescal.quantities import ece
from bayescal.quantities.ece.family import Family, family
from bayescal.quantities.ece.pieces import PRIOR_DRAWS, tell
from bayescal.quantities.ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EceCase:
    """One problem under its priors; made by `EceCase.of`."""

    problem: Problem
    priors: Priors
    rates: Family
    told: Sequence[str] = ()

    @classmethod
    def of(cls, problem: Problem, priors: Priors, told: Sequence[str] = ()) -> EceCase:
        """Join a problem and its priors."""
        return cls(problem, priors, family(problem, priors.label_rate), told)

    @property
    def coords(self) -> Mapping[str, str]:
        """Where the case stands in a result."""
        return self.problem.coords

    @property
    def structure(self) -> tuple[Any, ...]:
        """What tells its compiled model from others."""
        return self.rates.structure

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """None: the case is one classifier's."""
        return {}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables."""
        return ece.DIMS

    @property
    def variables(self) -> tuple[str, ...]:
        """The family's variables."""
        return self.rates.variables

    @property
    def target_accept(self) -> float:
        """The model's."""
        return self.rates.target_accept

    @property
    def max_depth(self) -> int:
        """The family's."""
        return self.rates.max_depth

    @property
    def notes(self) -> list[str]:
        """Warnings about the data."""
        return [*self.told, *notes(self.problem)]

    def fingerprint(self) -> str:
        """Hash of the counts, cells and bins."""
        cells, bins = self.problem.cells, self.problem.bins
        digest = hashlib.sha256(repr(sorted(self.coords.items())).encode())
        for array in (cells.edges, cells.count, cells.positives, cells.mean_score, bins.edges):
            digest.update(array.tobytes())
        # Bounds go by how the bins were chosen, steps by the end that bins own.
        digest.update(f"{bins.strategy} {bins.closed}".encode())
        return digest.hexdigest()

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        from bayescal.quantities.ece.model import model_of

        return model_of(self.problem, self.rates)

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads."""
        return self.rates.inputs()

    def exact(self, draws: int, rng: np.random.Generator) -> Exact:
        """Posterior without NUTS."""
        return self.rates.exact(draws, rng)

    def pieces(self, draws: Mapping[str, Floats], exact: Exact, rng: np.random.Generator) -> Pieces:
        """Everything a result holds of this case, but for the sampler's own figures."""
        rates = self.rates.cell_rates(draws, rng)
        told = tell(
            self.problem,
            self.priors,
            rates=rates,
            curve=lambda score: self.rates.curve(draws, rates, score),
            prior_rates=self.rates.prior_rates(PRIOR_DRAWS, rng),
            exact=exact,
            size=self.structure[-1],
            rng=rng,
        )
        return replace(
            told, posterior={**told.posterior, **draws}, log_prior=self.rates.log_prior(draws)
        )


def notes(problem: Problem) -> list[str]:
    """What a reader must know of the data."""
    positives, n = int(problem.bins.positives.sum()), problem.bins.n
    if positives in (0, n):
        return [
            f"all {n} labels are {'positive' if positives else 'negative'}. Label rates rest on "
            "one class alone; check the labels, and pos_label."
        ]
    return []
