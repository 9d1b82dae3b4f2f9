"""One classifier's fit, from its counts to the pieces of a result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.bound import values_of, words_of
from bayescal.core.error_draws import curve_scores, error_draws
from bayescal.core.problem import pad
from bayescal.core.room import Pieces
from bayescal.core.sampled import Exact
from bayescal.quantities import pu_ece
from bayescal.quantities.pu_ece.doubt import doubts
from bayescal.quantities.pu_ece.family import Draws, Family, family
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.problem import PUProblem
from bayescal.quantities.pu_ece.sensitivity import class_prior_curve
from bayescal.quantities.pu_ece.theory import estimate_of, theory_of

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]

PRIOR_DRAWS = 1000
_ERRORS = ("ece", "tce", "mce")


@dataclass(frozen=True, slots=True, eq=False)
class PUCase:
    """One problem under its priors; made by `PUCase.of`."""

    problem: PUProblem
    priors: Priors
    rates: Family

    @classmethod
    def of(cls, problem: PUProblem, priors: Priors) -> PUCase:
        """Join a problem and its priors."""
        return cls(problem, priors, family(problem, priors))

    @property
    def coords(self) -> Mapping[str, str]:
        """Where the case stands in a result."""
        return self.problem.unlabeled.coords

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
        return pu_ece.DIMS

    @property
    def variables(self) -> tuple[str, ...]:
        """The family's variables."""
        return self.rates.variables

    @property
    def target_accept(self) -> float:
        """The family's."""
        return self.rates.target_accept

    @property
    def max_depth(self) -> int:
        """The family's."""
        return self.rates.max_depth

    @property
    def notes(self) -> Sequence[str]:
        """Doubts about the sampling of the positives, or about the class prior."""
        return doubts(self.problem, self.priors)

    def fingerprint(self) -> str:
        """Hash of the counts, cells and bins."""
        cells, bins = self.problem.cells, self.problem.unlabeled.bins
        digest = hashlib.sha256(repr(sorted(self.coords.items())).encode())
        for array in (
            cells.edges,
            cells.count,
            self.problem.positive,
            cells.mean_score,
            bins.edges,
        ):
            digest.update(array.tobytes())
        digest.update(f"{bins.strategy} {bins.closed}".encode())
        return digest.hexdigest()

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        from bayescal.quantities.pu_ece.model import model_of

        return model_of(self.problem, self.rates)

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads."""
        return self.rates.inputs()

    def exact(self, draws: int, rng: np.random.Generator) -> Exact | None:
        """Posterior without NUTS; None for bins."""
        return self.rates.exact(draws, rng)

    def pieces(self, draws: Draws, exact: Exact | None, rng: np.random.Generator) -> Pieces:
        """Everything a result holds of this case, but for the sampler's own figures."""
        problem, points = self.problem, curve_scores(self.problem.unlabeled)
        posterior = self.quantities(draws, rng)
        prior_draws = self.rates.prior_draws(PRIOR_DRAWS, rng)
        before = self.quantities({name: v[None] for name, v in prior_draws.items()}, rng)
        p_calibrated = self.probability_calibrated(exact)
        slab = 1 - np.nan_to_num(p_calibrated)
        theory = theory_of(problem, self.priors)._asdict()
        held = np.flatnonzero(problem.positive + problem.cells.count)
        size = self.structure[-1]
        log_likelihood = self.rates.log_likelihood(draws)[..., held]
        return Pieces(
            posterior={**posterior, "calibration_curve": self.rates.curve(draws, points), **draws},
            prior={name: before[name] for name in (*_ERRORS, "class_prior")},
            log_likelihood={
                "events": pad(log_likelihood, *log_likelihood.shape[:-1], size),
            },
            log_prior=self.rates.log_prior(draws),
            observed_data={"events": pad(problem.positive[held], size)},
            constant_data={
                "curve_score": points,
                "cell_count": pad(problem.total[held], size),
                "cell_score": pad(problem.cells.mean_score[held], size),
            },
            point_estimate=estimate_of(problem, self.priors),
            bounds=values_of(theory),
            bounds_attrs=words_of(theory),
            model_average={
                "p_calibrated": p_calibrated,
                **{f"{name}_mean": slab * posterior[name].mean() for name in _ERRORS},
            },
            diagnostics={
                "importance_ess": np.nan if exact is None else exact.ess,
                # Jumps are weighed against labels; positives and unlabelled rows cannot tell them.
                "log_bayes_factor_jump": np.nan,
                "jump_flag": False,
            },
            sensitivity=class_prior_curve(problem, self.priors, rng),
        )

    def quantities(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """Calibration errors, label rates, gaps and class prior of every draw."""
        rates = self.rates.cell_rates(draws)
        found = error_draws(self.problem.unlabeled, rates, self.rates.masses(draws, rng))
        return {**found, "class_prior": self.rates.class_prior(draws)}

    def probability_calibrated(self, exact: Exact | None) -> float:
        """Weigh a calibrated classifier against the curve."""
        prior = self.priors.calibrated
        if exact is None or prior == 0:
            return float("nan")
        return float(expit(self.rates.log_calibrated() - exact.log_evidence + logit(prior)))
