"""A normalizing flow that turns class scores into a mixture of normals, one a class."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.flow.base import Base
from bayescal.quantities.ssme.flow.settings import FlowSettings

_PACKAGES = ("jax", "jax.numpy", "equinox", "optax", "paramax", "flowjax.bijections")


def check_coordinates(coords: Floats) -> None:
    """Check that a coupling layer has something to couple."""
    if coords.shape[1] < 2:
        raise InputError(
            "a flow of coupling layers needs at least two coordinates; got one. "
            "Pass several classifiers or classes, or use SSME-KDE."
        )


def latent_points(points: Floats, base: Base, settings: FlowSettings, seed: int) -> Floats:
    """Train a RealNVP flow, and return where it takes each row, (obs, coordinate).

    Notes
    -----
    The flow T maximises the sum over rows of ``log p(T(s_i)) + log |det T'(s_i)|``, p the base's
    density; what the base has to be trained is trained with it. T starts as the identity: a base
    that is fixed where the classes are would else have to find other classes there.

    References
    ----------
    .. [1] L. Dinh, J. Sohl-Dickstein and S. Bengio, "Density estimation using Real NVP", ICLR
       2017, section 3. https://arxiv.org/abs/1605.08803
    .. [2] P. Izmailov, P. Kirichenko, M. Finzi and A. G. Wilson, "Semi-Supervised Learning with
       Normalizing Flows", ICML 2020, section 3. https://arxiv.org/abs/1912.13025
    """
    jax, jnp, eqx, optax, paramax, bijections = _packages()
    x = jnp.asarray(points)
    key_flow, key_batch = jax.random.split(jax.random.key(seed))
    flow = _real_nvp(eqx, jax, jnp, bijections, key_flow, points.shape[1], settings)
    started = jax.tree.map(jnp.asarray, base.start())
    moving, still = eqx.partition((flow, started), eqx.is_inexact_array)

    def loss(moving: Any, rows: Any) -> Any:
        flow, trained = paramax.unwrap(eqx.combine(moving, still))
        z, log_det = jax.vmap(flow.inverse_and_log_det)(x[rows])
        return -(base.log_density(trained, z, rows) + log_det).mean()

    optimizer = optax.adam(settings.learning_rate)
    n, size = len(points), min(len(points), settings.batch_size)

    def step(state: Any, rows: Any) -> Any:
        moving, memory = state
        update, memory = optimizer.update(jax.grad(loss)(moving, rows), memory, moving)
        return (optax.apply_updates(moving, update), memory), None

    def epoch(state: Any, key: Any) -> Any:
        rows = jax.random.permutation(key, n)[: n // size * size].reshape(-1, size)
        return jax.lax.scan(step, state, rows)

    def train(moving: Any) -> Any:
        keys = jax.random.split(key_batch, settings.n_epochs)
        (trained, _), _ = jax.lax.scan(epoch, (moving, optimizer.init(moving)), keys)
        flow, _ = paramax.unwrap(eqx.combine(trained, still))
        return jax.vmap(flow.inverse_and_log_det)(x)[0]

    return np.asarray(eqx.filter_jit(train)(moving), dtype=np.float64)


def _real_nvp(
    eqx: Any, jax: Any, jnp: Any, bijections: Any, key: Any, n_coords: int, settings: FlowSettings
) -> Any:
    """The untrained flow, from data (inverse) to base: the identity.

    Every layer transforms one half of the coordinates and turns their order round.
    """

    def zeroed(coupling: Any) -> Any:
        return coupling.conditioner.layers[-1].weight, coupling.conditioner.layers[-1].bias

    def layer(key: Any) -> Any:
        coupling = bijections.Coupling(
            key,
            transformer=bijections.Affine(),
            untransformed_dim=n_coords // 2,
            dim=n_coords,
            nn_width=settings.width,
            # Depth counts hidden layers, after which there is one more to the outputs.
            nn_depth=settings.n_layers - 1,
        )
        identity = eqx.tree_at(zeroed, coupling, replace_fn=jnp.zeros_like)
        return bijections.Chain([identity, bijections.Flip((n_coords,))])

    layers = eqx.filter_vmap(layer)(jax.random.split(key, settings.n_couplings))
    back = [bijections.Flip((n_coords,))] * (settings.n_couplings % 2)
    return bijections.Invert(bijections.Chain([bijections.Scan(layers), *back]))


def _packages() -> tuple[Any, ...]:
    """Load what the extra brings."""
    try:
        return tuple(import_module(name) for name in _PACKAGES)
    except ImportError as missing:
        raise InputError(
            f"SSME-NF needs the extra 'flow'; got no module {missing.name!r}. "
            "Install it with: pip install 'bayescal[flow]'."
        ) from missing
