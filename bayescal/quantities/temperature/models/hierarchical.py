"""Temperatures of classes around a shared one, with partial pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import halfnorm, norm

from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.quantities.temperature.models.quadrature import draw_posterior, normal_likelihoods
from bayescal.quantities.temperature.priors import Priors
from bayescal.quantities.temperature.table import LOW, NODES, STEP, look_up, quintic


@dataclass(frozen=True, slots=True, eq=False)
class HierarchicalTemperatures:
    """``log_alpha ~ Normal(mu, tau)`` with a tabulated log likelihood of each class."""

    table: Floats  # (class, node, 3)
    count: NDArray[np.int64]  # (class,)
    priors: Priors
    variables: ClassVar[tuple[str, ...]] = ("mu", "tau", "log_alpha")
    target_accept: ClassVar[float] = 0.98
    max_depth: ClassVar[int] = 8

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of classes."""
        return ("temperatures", len(self.table))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """The table a row, rows, parameters of the priors, and normal approximations."""
        numbers = (self.priors.mu.mu, self.priors.mu.sigma, self.priors.tau.sigma)
        each = self.table / np.maximum(self.count, 1)[:, None, None]
        pull, precision = normal_likelihoods(self.table, self.priors)
        return {
            "table": each,
            "count": self.count,
            "prior": np.array(numbers),
            "pull": pull,
            "precision": precision,
        }

    def add_to_model(self) -> Any:
        """Add the shared number, its spread, the classes' numbers and the likelihood."""
        import pymc as pm

        from bayescal.quantities.temperature.models.partial_pooling import pooled_normal

        data = {
            name: pm.Data(name, values, dims=_DIMS[name]) for name, values in self.inputs().items()
        }
        prior = data["prior"]
        mu = pm.Normal("mu", prior[0], prior[1])
        tau = pm.HalfNormal("tau", prior[2])
        log_alpha = pooled_normal(
            "log_alpha", mu, tau, data["pull"], data["precision"], dims="label_class"
        )
        # The rows of each class are given; the density is that of their labels.
        pm.CustomDist(
            "labels",
            log_alpha,
            data["table"],
            logp=_log_density,
            signature="(),(n,d)->()",
            observed=data["count"],
            dims="label_class",
        )
        return log_alpha

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Posterior by quadrature over mu and tau, and over each class given them."""
        found, log_evidence = draw_posterior(self.table, self.priors, draws, rng)
        return DirectDraws(found, draws, "quadrature", log_evidence)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Draws before any label counts."""
        mu = rng.normal(self.priors.mu.mu, self.priors.mu.sigma, draws)
        tau = np.abs(rng.normal(0, self.priors.tau.sigma, draws))
        log_alpha = rng.normal(mu[:, None], tau[:, None], (draws, len(self.table)))
        return {"mu": mu, "tau": tau, "log_alpha": log_alpha}

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Density of the shared number and its spread, and of all classes given them."""
        mu, tau = draws["mu"], draws["tau"]
        each = norm.logpdf(draws["log_alpha"], mu[..., None], tau[..., None])
        return {
            "mu": norm.logpdf(mu, self.priors.mu.mu, self.priors.mu.sigma),
            "tau": halfnorm.logpdf(tau, scale=self.priors.tau.sigma),
            "log_alpha": each.sum(axis=-1),
        }

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of the labels of each predicted class, (chain, draw, class)."""
        return look_up(self.table, draws["log_alpha"])


_DIMS = {
    "table": ("label_class", "node", "derivative"),
    "count": "label_class",
    "prior": "parameter",
    "pull": "label_class",
    "precision": "label_class",
}


def _log_density(count: Any, log_alpha: Any, table: Any) -> Any:
    """Log likelihood of each class, as `look_up` computes it."""
    import pytensor.tensor as pt

    place = pt.clip((log_alpha - LOW) / STEP, 0, NODES - 1)
    node = pt.minimum(pt.floor(place), NODES - 2).astype("int64")
    of = pt.arange(table.shape[0])  # type: ignore[no-untyped-call]  # PyTensor's
    left, right = table[of, node], table[of, node + 1]
    columns = (tuple(side[:, k] for k in range(3)) for side in (left, right))
    return count * quintic(place - node, *columns)
