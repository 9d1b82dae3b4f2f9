"""One classifier's fit, from its counts to the pieces of a result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from bayescal.core.bin_counts import BinCounts
from bayescal.core.edges import STRATEGIES
from bayescal.core.room import Pieces
from bayescal.quantities import ece
from bayescal.quantities.ece.bounds import Bounds, bounds
from bayescal.quantities.ece.estimator import estimate
from bayescal.quantities.ece.evidence import probability_calibrated
from bayescal.quantities.ece.family import Exact, Family, family
from bayescal.quantities.ece.posterior import curve_scores, quantities
from bayescal.quantities.ece.priors import Priors, SmoothCurve
from bayescal.quantities.ece.problem import Problem, pad
from bayescal.quantities.ece.segmentation import log_bayes_factor_jump

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]

# Jeffreys' "strong" evidence, as the natural logarithm of a Bayes factor.
_STRONG = float(np.log(10))
_PRIOR_DRAWS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class EceCase:
    """One problem under its priors; made by `EceCase.of`."""

    problem: Problem
    priors: Priors
    rates: Family

    @classmethod
    def of(cls, problem: Problem, priors: Priors) -> EceCase:
        """Join a problem and its priors.

        Parameters
        ----------
        problem : Problem
            Counts.
        priors : Priors
            Priors.

        Returns
        -------
        EceCase
            The case.
        """
        return cls(problem, priors, family(problem, priors.label_rate))

    @property
    def coords(self) -> Mapping[str, str]:
        """Where the case stands in a result."""
        return self.problem.coords

    @property
    def structure(self) -> tuple[Any, ...]:
        """What tells its compiled model from others."""
        return self.rates.structure

    @property
    def groups(self) -> tuple[str, ...]:
        """No groups."""
        return ()

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables."""
        return ece.DIMS

    @property
    def variables(self) -> tuple[str, ...]:
        """The family's variables."""
        return self.rates.variables

    @property
    def max_depth(self) -> int:
        """The family's."""
        return self.rates.max_depth

    @property
    def notes(self) -> list[str]:
        """Warnings about the data."""
        return notes(self.problem)

    def fingerprint(self) -> str:
        """Hash of the counts, cells and bins."""
        cells, bins = self.problem.cells, self.problem.bins
        digest = hashlib.sha256(repr(sorted(self.coords.items())).encode())
        for array in (cells.edges, cells.count, cells.positives, cells.mean_score, bins.edges):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        from bayescal.quantities.ece.model import model_of

        return model_of(self.problem, self.rates)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads."""
        return self.rates.inputs()

    def exact(self, draws: int, rng: np.random.Generator) -> Exact:
        """Posterior without NUTS."""
        return self.rates.exact(draws, rng)

    def pieces(self, draws: Mapping[str, Floats], exact: Exact, rng: np.random.Generator) -> Pieces:
        """Everything a result holds of this case, but for the sampler's own figures.

        Parameters
        ----------
        draws : mapping of str to ndarray of shape (chain, draw, ...)
            Draws of the family's variables.
        exact : Exact
            For the evidence.
        rng : numpy.random.Generator
            Source of the draws that need no sampler.

        Returns
        -------
        Pieces
            Arrays by group and variable.
        """
        problem, size = self.problem, self.structure[-1]
        rates = self.rates.cell_rates(draws, rng)
        posterior = quantities(problem, rates, rng)
        points = curve_scores(problem)
        posterior["calibration_curve"] = self.rates.curve(draws, rates, points)
        p_calibrated = probability_calibrated(
            problem.cells, exact.log_evidence, self.priors.calibrated
        )
        jump = self._log_bayes_factor_jump(exact)
        found = estimate(problem.bins)
        theory = _theory(problem.bins)
        slab = 1 - np.nan_to_num(p_calibrated)
        return Pieces(
            posterior={**posterior, **draws},
            prior=self._prior(rng),
            log_likelihood={
                "events": pad(_log_likelihood(problem, rates), *rates.shape[:-1], size)
            },
            log_prior=self.rates.log_prior(draws),
            observed_data={"events": pad(problem.cells.positives, size)},
            constant_data={
                "curve_score": points,
                "cell_count": pad(problem.cells.count, size),
                "cell_score": pad(problem.cells.mean_score, size),
            },
            point_estimate={
                **found._asdict(),
                "n": problem.bins.n,
                "prevalence": problem.bins.positives.sum() / problem.bins.n,
            },
            bounds={name: bound.value for name, bound in theory._asdict().items()},
            bounds_attrs={
                name: {"kind": bound.kind, "assumption": bound.assumption}
                for name, bound in theory._asdict().items()
            },
            model_average={
                "p_calibrated": p_calibrated,
                **{f"{name}_mean": slab * posterior[name].mean() for name in ("ece", "tce", "mce")},
            },
            diagnostics={
                "importance_ess": exact.ess,
                "log_bayes_factor_jump": jump,
                "jump_flag": bool(jump > _STRONG and not p_calibrated >= 0.05),
            },
        )

    def _prior(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Calibration errors before the labels, had the scores been seen: one chain."""
        rates = self.rates.prior_rates(_PRIOR_DRAWS, rng)
        drawn = quantities(self.problem, rates[None], rng)
        return {name: drawn[name] for name in ("ece", "tce", "mce")}

    def _log_bayes_factor_jump(self, exact: Exact) -> float:
        """Bins of their own have no curve that could miss a jump."""
        if not isinstance(self.priors.label_rate, SmoothCurve):
            return float("nan")
        return log_bayes_factor_jump(self.problem.cells, exact.log_evidence)


def notes(problem: Problem) -> list[str]:
    """What a reader must know of the data.

    Parameters
    ----------
    problem : Problem
        Counts.

    Returns
    -------
    list of str
        Sentences; empty if there is nothing to say.
    """
    positives, n = int(problem.bins.positives.sum()), problem.bins.n
    if positives in (0, n):
        return [
            f"all {n} labels are {'positive' if positives else 'negative'}. Label rates rest on "
            "one class alone; check the labels, and pos_label."
        ]
    return []


def _theory(bins: BinCounts) -> Bounds:
    """Bounds for bins as they were chosen: those of equal mass follow the scores."""
    known = bins.strategy in STRATEGIES
    return bounds(bins.n, bins.n_bins, bins.strategy if known else bins.edges)


def _log_likelihood(problem: Problem, rates: Floats) -> Floats:
    """Log probability of each cell's events, (chain, draw, cell), by the binomial law."""
    from scipy.special import gammaln

    count, events = problem.cells.count, problem.cells.positives
    choose = gammaln(count + 1.0) - gammaln(events + 1.0) - gammaln(count - events + 1.0)
    return np.asarray(choose + xlogy(events, rates) + xlog1py(count - events, -rates))
