"""One temperature, one a predicted class, or vector scaling: an average by evidence.

NUTS draws the temperatures of predicted classes; the other two are drawn without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import halfnorm, norm

from bayescal.core.quantity import DirectDraws, Draws, Floats, LabelModel
from bayescal.inference.descriptions.described_curve import choose
from bayescal.quantities.temperature.models.hierarchical import HierarchicalTemperatures
from bayescal.quantities.temperature.models.quadrature import draw_posterior, posterior_grid
from bayescal.quantities.temperature.models.shared import draw_shared
from bayescal.quantities.temperature.models.vector_scaling import (
    LabeledLogits,
    prior_scaling,
    vector_posterior,
)
from bayescal.quantities.temperature.priors import CLASS_WISE, MODELS, SHARED, VECTOR, Priors

MOST_CLASSES: Final = 200
"""Classes up to which vector scaling is fitted: its cost grows with their cube."""
NEGLIGIBLE: Final = 1e-3
"""Probability below which a model is not drawn from."""
_OF_VECTOR: Final = ("log_coef", "shift", "shift_tau")


@dataclass(frozen=True, slots=True, eq=False)
class TemperatureAverage:
    """Labelled rows under the models of `Priors`."""

    temperatures: HierarchicalTemperatures
    labeled: LabeledLogits
    variables: ClassVar[tuple[str, ...]] = HierarchicalTemperatures.variables
    target_accept: ClassVar[float] = HierarchicalTemperatures.target_accept
    max_depth: ClassVar[int] = HierarchicalTemperatures.max_depth

    @property
    def priors(self) -> Priors:
        """Priors of all models."""
        return self.temperatures.priors

    @property
    def weights(self) -> Mapping[str, float]:
        """Prior probabilities of the models that are fitted."""
        found = dict(self.priors.weights)
        if self.labeled.n_classes > MOST_CLASSES:
            found.pop(VECTOR, None)
        return found

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """What NUTS samples."""
        return {CLASS_WISE: self.temperatures}

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """That of the temperatures of classes."""
        return self.temperatures.compile_key

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Those of the temperatures of classes."""
        return self.temperatures.inputs()

    def add_to_model(self) -> Any:
        """Add the temperatures of classes."""
        return self.temperatures.add_to_model()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Draws of every model, and its evidence."""
        found, fit = draw_posterior(self.temperatures.table, self.priors, draws, rng)
        others, evidence = self._others(draws, rng)
        evidence[CLASS_WISE] = fit
        return DirectDraws({**found, **others}, draws, "quadrature", evidence=evidence)

    def completed(
        self, draws: Draws, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], Mapping[str, float]]:
        """Add what NUTS does not draw, and the evidence of every model."""
        shape = draws["mu"].shape
        others, evidence = self._others(int(np.prod(shape)), rng)
        evidence[CLASS_WISE] = posterior_grid(self.temperatures.table, self.priors).log_integral
        shaped = {name: value.reshape(*shape, *value.shape[1:]) for name, value in others.items()}
        return {**draws, **shaped}, evidence

    def _others(
        self, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], dict[str, float]]:
        """Draws and evidence of the models without NUTS."""
        found: dict[str, Floats] = {}
        evidence: dict[str, float] = {}
        if SHARED in self.weights:
            table = self.temperatures.table
            found["shared"], evidence[SHARED] = draw_shared(table, self.priors, draws, rng)
        if VECTOR in self.weights:
            posterior = vector_posterior(self.labeled, self.priors)
            found |= posterior.draw(draws, rng)
            evidence[VECTOR] = posterior.log_evidence
        return found, evidence

    def probabilities(self, evidence: Mapping[str, float]) -> Floats:
        """Posterior probabilities of the models, (description,)."""
        held = self.weights
        logs = [np.log(held[name]) + evidence[name] if name in held else -np.inf for name in MODELS]
        return np.asarray(softmax(logs))

    def mixed(self, draws: Draws, weight: Floats, rng: np.random.Generator) -> dict[str, Any]:
        """Draws of the average; ``description`` is the place of the model of each, (chain, draw).

        Mean and scale are those of the draw's own model. The temperatures of a draw from vector
        scaling are those of one of the other two.
        """
        shape = draws["mu"].shape
        kept = np.where(weight < NEGLIGIBLE, 0.0, weight)
        chosen = choose(kept / kept.sum(), int(np.prod(shape)), rng).reshape(shape)
        found: dict[str, Any] = {
            name: draws[name] for name in (*self.variables, *_OF_VECTOR) if name in draws
        }
        found["description"] = chosen
        vector = chosen == MODELS.index(VECTOR)
        if SHARED in self.weights:
            share = weight[0] / max(weight[0] + weight[1], np.finfo(float).tiny)
            one = np.where(vector, rng.random(shape) < share, chosen == MODELS.index(SHARED))
            found["mu"] = np.where(one, draws["shared"], draws["mu"])
            found["tau"] = np.where(one, 0.0, draws["tau"])
            same = draws["shared"][..., None]
            found["log_alpha"] = np.where(one[..., None], same, draws["log_alpha"])
        if VECTOR in self.weights:
            found["mu"] = np.where(vector, draws["coef_mu"], found["mu"])
            found["tau"] = np.where(vector, draws["coef_tau"], found["tau"])
        return found

    def prior_draws(self, draws: int, rng: np.random.Generator) -> dict[str, Any]:
        """Draws before any label counts, as `mixed` gives them."""
        weight = np.array([self.weights.get(name, 0.0) for name in MODELS])
        raw = self.temperatures.prior_draws(draws, rng)
        raw["shared"] = rng.normal(self.priors.mu.mu, self.priors.mu.sigma, draws)
        if VECTOR in self.weights:
            raw |= prior_scaling(self.labeled.n_classes, self.priors, draws, rng)
        return self.mixed(raw, weight / weight.sum(), rng)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Density of the shared mean, and of the scales, of the model that each draw has.

        What depends on them is no prior to be scaled, but a part of the model. Draws without
        ``description`` are those of class temperatures.
        """
        of_scale = self._scale(draws["tau"], self.priors.tau.sigma)
        if "description" in draws and VECTOR in self.weights:
            vector = draws["description"] == MODELS.index(VECTOR)
            of_shift = self._scale(draws["shift_tau"], self.priors.shift.sigma)
            of_scale = of_scale + np.where(vector, of_shift, 0.0)
        of_mean = norm.logpdf(draws["mu"], self.priors.mu.mu, self.priors.mu.sigma)
        return {"mu": of_mean, "tau": of_scale}

    @staticmethod
    def _scale(value: Floats, sigma: float) -> Floats:
        """Log density over its mean, which a scale that is no parameter has."""
        density = halfnorm.logpdf(value, scale=sigma) + halfnorm.entropy(scale=sigma)
        return np.asarray(np.where(value == 0, 0.0, density))
