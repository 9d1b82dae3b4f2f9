"""From draws to the arrays of a result, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bayescal.core.bins.binning import Binning
from bayescal.core.columns import MISSING
from bayescal.core.quantity import (
    CaseArrays,
    DirectDraws,
    Draws,
    Floats,
    bound_values,
    bound_words,
)
from bayescal.quantities.temperature.bounds import Bounds, bounds
from bayescal.quantities.temperature.class_errors import ErrorDraws, cells_of, error_draws
from bayescal.quantities.temperature.data import Problem, data_warnings
from bayescal.quantities.temperature.errors import BINNING
from bayescal.quantities.temperature.estimator import estimate_of
from bayescal.quantities.temperature.loss import Integers
from bayescal.quantities.temperature.model import model_of, temperatures_of
from bayescal.quantities.temperature.models.hierarchical import HierarchicalTemperatures
from bayescal.quantities.temperature.predictive import confidences
from bayescal.quantities.temperature.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

PRIOR_DRAWS = 1000
METRICS = ("ece", "max_ece", "avg_ece")
DIMS: Mapping[str, tuple[str, ...]] = {
    "log_alpha": ("label_class",),
    "alpha": ("label_class",),
    "class_alpha": ("label_class",),
    "class_ece": ("label_class",),
    "class_ece_uncalibrated": ("label_class",),
    "labels": ("label_class",),
    "log_prior/log_alpha": (),
}
MONITORED = (*METRICS, *(f"{name}_uncalibrated" for name in METRICS), "log_alpha", "mu", "tau")


@dataclass(frozen=True, slots=True, eq=False)
class TemperatureCase:
    """One classifier under its priors; made by `TemperatureCase.of`."""

    problem: Problem
    priors: Priors
    model: HierarchicalTemperatures
    binning: Binning
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = DIMS
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # None: there is no alternative to weigh.
    evidence_draws: ClassVar[int] = 0

    @classmethod
    def of(cls, problem: Problem, priors: Priors, binning: Binning = BINNING) -> TemperatureCase:
        """Join a problem and its priors."""
        return cls(problem, priors, temperatures_of(problem, priors), binning)

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier."""
        return {"classifier": self.problem.classifier}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The classes."""
        return {"label_class": self.problem.classes}

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the data."""
        return data_warnings(self.problem)

    def fingerprint(self) -> str:
        """Hash of the data and of the bins."""
        return f"{self.problem.fingerprint()} {self.binning!r}"

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        return model_of(self.problem, self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        found = estimate_of(self.problem, binning=self.binning)
        prior = {name: value[None] for name, value in self._prior_draws(rng).items()}
        theory = _theory(self.problem)._asdict()
        return CaseArrays(
            coords=self.coords,
            posterior={
                **self._error_draws(draws, rng),
                **draws,
                "alpha": np.exp(draws["log_alpha"]),
            },
            prior=prior,
            log_likelihood={"labels": self.model.log_likelihood(draws)},
            log_prior=self.model.log_prior(draws),
            observed_data={"labels": self.model.count},
            point_estimate={**found._asdict(), "n": len(self.problem.known)},
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
        )

    def simulate(self, rng: np.random.Generator) -> tuple[TemperatureCase, dict[str, Floats]]:
        """Draw numbers from the prior, and labels given them, for the labelled rows.

        Notes
        -----
        Calibration errors are no function of the numbers alone, and are not among the values.
        """
        drawn = {name: value[0] for name, value in self.model.prior_draws(1, rng).items()}
        problem = self.problem
        alpha = np.exp(drawn["log_alpha"])[problem.predicted]
        noise = rng.gumbel(size=problem.logits.shape)
        label = (alpha[:, None] * problem.logits + noise).argmax(axis=1)
        label = np.where(problem.label == MISSING, MISSING, label)
        again = replace(problem, label=label)
        return TemperatureCase.of(again, self.priors, self.binning), drawn

    def _error_draws(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """Calibration errors of every draw, before and after, (chain, draw, ...)."""
        log_alpha = draws["log_alpha"]
        found = confidences(self.problem.logits, self.problem.predicted, log_alpha)
        after, before = (
            self._errors_at(score, found.places, found.at, log_alpha, rng)
            for score in (found.calibrated, found.uncalibrated)
        )
        named = {**after._asdict()}
        named |= {f"{name}_uncalibrated": value for name, value in before._asdict().items()}
        shape = log_alpha.shape[:2]
        return {name: value.reshape(*shape, *value.shape[1:]) for name, value in named.items()}

    def _errors_at(
        self, score: Floats, places: Floats, at: Floats, log_alpha: Floats, rng: np.random.Generator
    ) -> ErrorDraws:
        problem = self.problem
        label: Integers = problem.label
        cells = cells_of(score, problem.predicted, label, at, self.binning)
        accuracy = cells.accuracy(places, log_alpha.reshape(-1, problem.n_classes))
        return error_draws(cells, accuracy, self.priors.belief, problem.n_classes, rng)

    def _prior_draws(self, rng: np.random.Generator) -> dict[str, Floats]:
        drawn = self.model.prior_draws(PRIOR_DRAWS, rng)
        return {**drawn, "alpha": np.exp(drawn["log_alpha"])}


def _theory(problem: Problem) -> Bounds:
    """Bounds for the rows at hand, of half the Brier score."""
    rows = problem.known
    centred = problem.logits[rows] - problem.logits[rows].mean(axis=1, keepdims=True)
    count = np.bincount(problem.predicted[rows])
    return bounds(
        len(rows),
        problem.n_classes,
        logit_norm=max(float(np.linalg.norm(centred, axis=1).max()), np.finfo(float).tiny),
        p_min=float(count[count > 0].min() / len(rows)),
    )
