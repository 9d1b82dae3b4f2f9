"""A normalizing flow that turns class scores into a mixture of normals, one a class."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats

# Rows looked at in one step: all of a small panel, a sample of a large one.
_BATCH = 1024
_PACKAGES = ("jax", "jax.numpy", "equinox", "optax", "paramax", "flowjax.flows")


class FlowSettings(NamedTuple):
    """Size of a flow and how it is trained.

    Parameters
    ----------
    n_couplings : int, default 10
        Affine coupling layers.
    n_layers : int, default 3
        Hidden layers of each coupling's network.
    width : int, default 128
        Units of a hidden layer.
    n_steps : int, default 300
        Steps of Adam; on up to 1,024 rows a step is an epoch.
    learning_rate : float, default 2e-4
        Of Adam.
    """

    n_couplings: int = 10
    n_layers: int = 3
    width: int = 128
    n_steps: int = 300
    learning_rate: float = 2e-4


def latent_points(coords: Floats, prob: Floats, settings: FlowSettings, seed: int) -> Floats:
    """Train a RealNVP flow, and return where it takes each row, (obs, coordinate).

    Notes
    -----
    The flow T and the base's means m_k and scales s_k maximise
    ``sum_i sum_k prob_ik log N(T(s_i); m_k, s_k^2) + log |det T'(s_i)|`` from standardised log
    ratios, with the classes' means there to start from.

    References
    ----------
    .. [1] L. Dinh, J. Sohl-Dickstein and S. Bengio, "Density estimation using Real NVP", ICLR
       2017, section 3. https://arxiv.org/abs/1605.08803
    """
    if coords.shape[1] < 2:
        raise InputError(
            "a flow of coupling layers needs at least two coordinates; got one. "
            "Pass several classifiers or classes, or use SSME-KDE."
        )
    jax, jnp, eqx, optax, paramax, flows = _packages()
    spread = coords.std(axis=0)
    points = (coords - coords.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    x, target = jnp.asarray(points), jnp.asarray(prob)
    key_flow, key_batch = jax.random.split(jax.random.key(seed))
    mass = np.maximum(prob.sum(axis=0), 1e-6)
    base = {
        "mean": jnp.asarray(prob.T @ points / mass[:, np.newaxis]),
        "log_scale": jnp.zeros((prob.shape[1], points.shape[1])),
    }
    flow = _real_nvp(flows, jax, jnp, key_flow, points.shape[1], settings)
    moving, still = eqx.partition((flow, base), eqx.is_inexact_array)

    def loss(moving: Any, rows: Any) -> Any:
        flow, base = paramax.unwrap(eqx.combine(moving, still))
        z, log_det = jax.vmap(flow.inverse_and_log_det)(x[rows])
        away = (z[:, jnp.newaxis] - base["mean"]) * jnp.exp(-base["log_scale"])
        log_density = -0.5 * (away**2).sum(axis=2) - base["log_scale"].sum(axis=1)
        return -((target[rows] * log_density).sum(axis=1) + log_det).mean()

    optimizer = optax.adam(settings.learning_rate)
    n, size = len(points), min(len(points), _BATCH)

    def step(state: Any, key: Any) -> Any:
        moving, memory = state
        rows = jax.random.permutation(key, n)[:size] if size < n else jnp.arange(n)
        update, memory = optimizer.update(jax.grad(loss)(moving, rows), memory, moving)
        return (optax.apply_updates(moving, update), memory), None

    def train(moving: Any) -> Any:
        keys = jax.random.split(key_batch, settings.n_steps)
        (trained, _), _ = jax.lax.scan(step, (moving, optimizer.init(moving)), keys)
        flow, _ = paramax.unwrap(eqx.combine(trained, still))
        return jax.vmap(flow.inverse_and_log_det)(x)[0]

    return np.asarray(eqx.filter_jit(train)(moving), dtype=np.float64)


def _real_nvp(
    flows: Any, jax: Any, jnp: Any, key: Any, n_coords: int, settings: FlowSettings
) -> Any:
    """The untrained flow, from data (inverse) to base."""
    normal = import_module("flowjax.distributions").Normal(jnp.zeros(n_coords))
    affine = import_module("flowjax.bijections").Affine()
    built = flows.coupling_flow(
        key,
        base_dist=normal,
        transformer=affine,
        flow_layers=settings.n_couplings,
        nn_depth=settings.n_layers,
        nn_width=settings.width,
    )
    return built.bijection


def _packages() -> tuple[Any, ...]:
    """Load what the extra brings."""
    try:
        return tuple(import_module(name) for name in _PACKAGES)
    except ImportError as missing:
        raise InputError(
            f"SSME-NF needs the extra 'flow'; got no module {missing.name!r}. "
            "Install it with: pip install 'bayescal[flow]'."
        ) from missing
