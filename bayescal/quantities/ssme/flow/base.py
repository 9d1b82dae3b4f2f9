"""Where a flow leads to: normals that stay, or normals that are trained with it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.flow.gaussian_em import Normals


class Base(Protocol):
    """A density of latent points, under what is known of the rows' labels."""

    def start(self) -> Any:
        """Parameters that are trained with the flow, where training starts."""

    def log_density(self, trained: Any, z: Any, rows: Any) -> Any:
        """Log likelihood of each of some rows at its latent point, up to a constant."""


class FixedBase(NamedTuple):
    """A mixture of normals that stays.

    Notes
    -----
    A row counts with the log of ``sum_k possible_ik pi_k N(z_i; mu_k, Sigma_k)``: labelled rows
    with the density of their class, others with that of the mixture.
    """

    normals: Normals
    prior: Floats  # (class,)
    possible: Floats  # (obs, class): 0 for the classes that a labelled row is not of, else 1

    def start(self) -> dict[str, Any]:
        """See `Base`."""
        return {}

    def log_density(self, trained: Any, z: Any, rows: Any) -> Any:
        """See `Base`."""
        jax, jnp = import_module("jax"), import_module("jax.numpy")
        mean, whitening, log_det = (jnp.asarray(part, jnp.float32) for part in self.normals)
        away = jnp.einsum("ikd,kde->ike", z[:, None] - mean, whitening)
        logs = log_det - 0.5 * (away**2).sum(axis=2) + jnp.log(jnp.asarray(self.prior))
        return jax.nn.logsumexp(logs, axis=1, b=jnp.asarray(self.possible)[rows])


class JointBase(NamedTuple):
    """Normals without correlations that are trained with the flow.

    Notes
    -----
    A row counts with ``sum_k q_ik log N(z_i; m_k, s_k^2)``, q the label probabilities that are
    given, which stay what they are.
    """

    mean: Floats  # (class, coordinate), to start from
    prob: Floats  # (obs, class)

    def start(self) -> dict[str, Any]:
        """See `Base`."""
        return {"mean": self.mean, "log_scale": np.zeros(self.mean.shape)}

    def log_density(self, trained: Any, z: Any, rows: Any) -> Any:
        """See `Base`."""
        jnp = import_module("jax.numpy")
        away = (z[:, None] - trained["mean"]) * jnp.exp(-trained["log_scale"])
        log_density = -0.5 * (away**2).sum(axis=2) - trained["log_scale"].sum(axis=1)
        return (jnp.asarray(self.prob)[rows] * log_density).sum(axis=1)
