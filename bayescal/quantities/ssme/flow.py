"""SSME-NF: metrics under labels that a flow with a mixture of normals finds likely."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_number,
    check_seed,
    check_whole,
    generator,
)
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import ScoreMatrix, check_draws, score_matrix, with_known_labels
from bayescal.quantities.ssme.estimator import Estimate, Fit, check_prior, settings_of
from bayescal.quantities.ssme.imputed_labels import mean_score
from bayescal.quantities.ssme.kde import alr
from bayescal.quantities.ssme.metrics import convention_name, expected_metrics

CHOICES = {"base": ("fixed", "joint"), "covariance": ("full", "diagonal")}
_COUNTS = ("n_couplings", "n_layers", "width", "n_epochs", "batch_size", "em_epochs")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSettings:
    """Choices of a fit of SSME-NF.

    Parameters
    ----------
    n_couplings : int, default 10
        Affine coupling layers.
    n_layers : int, default 3
        Fully connected layers of each coupling's network, the one to the outputs among them.
    width : int, default 128
        Units between two fully connected layers.
    n_epochs : int, default 300
        Epochs of Adam, in which every row is looked at once.
    batch_size : int, default 256
        Rows looked at in one step; what does not fill a batch waits for the next epoch.
    learning_rate : float, default 2e-4
        Of Adam.
    base : {"fixed", "joint"}, default "fixed"
        Whether the classes' normals stay what the scores say of them, or are trained with the flow.
    covariance : {"full", "diagonal"}, default "full"
        Covariance of the normals.
    em_epochs : int, default 700
        Most epochs of EM for the normals, once the flow is trained.
    em_tolerance : float, default 0
        EM has converged once no label probability changes by more; 0 runs all epochs.

    Notes
    -----
    The defaults are the paper's (appendix C), which leaves optimiser, learning rate and batches
    open; these two were chosen on splits of MultiNLI that no benchmark reports.
    """

    n_couplings: int = 10
    n_layers: int = 3
    width: int = 128
    n_epochs: int = 300
    batch_size: int = 256
    learning_rate: float = 2e-4
    base: str = "fixed"
    covariance: str = "full"
    em_epochs: int = 700
    em_tolerance: float = 0.0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            check_whole(getattr(self, name), name, most=MOST_DRAWN)
        check_number(self.learning_rate, "learning_rate", "(0, 1]", "Pass 2e-4.")
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), choices, name)
        check_number(self.em_tolerance, "em_tolerance", "[0, inf)", "Pass 1e-4, say.")


PAPER = FlowSettings()
JOINT = FlowSettings(
    batch_size=1024, base="joint", covariance="diagonal", em_epochs=50, em_tolerance=1e-4
)
NAMED = {"paper": PAPER, "joint": JOINT}


def estimate_flow(
    scores: Scores | ScoreMatrix,
    *,
    settings: str | FlowSettings = "paper",
    class_prior: ArrayLike | None = None,
    n_draws: int | None = 500,
    ece: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate every classifier's metrics by SSME-NF; section 4 and appendix C of the paper.

    Parameters
    ----------
    scores : Scores or ScoreMatrix
        Scores of several classifiers or classes, some or all labels missing.
    settings : {"paper", "joint"} or FlowSettings, default "paper"
        What the paper says, uncorrelated normals trained with the flow, or custom choices.
    class_prior, n_draws, ece, seed
        As for `estimate`.

    Returns
    -------
    Estimate
        Metrics first, then the fit.

    Raises
    ------
    InputError
        If the extra ``flow`` is not installed, there is but one binary classifier, an option is out
        of range, or the training diverges.

    Notes
    -----
    Standardized log ratios s of all classifiers go through a flow T to a mixture of normals, one a
    class. By the paper, these normals are first fixed at the means and covariances of s, each row
    as much of a class as the mean score says (known labels in place), and T maximises the
    likelihood of section 4 for 300 epochs: labelled rows count with the density of their class,
    others with that of the mixture. Then T stays, and EM moves the normals for 700 epochs. The text
    says neither how s gives the first normals nor with which optimiser, batches or learning rate.
    With ``"joint"`` the normals, without correlations, are trained with the flow on the mean score
    as label probability, and EM starts from it. The flow is in single precision on the CPU.
    """
    matrix = score_matrix(scores)
    prior = None if class_prior is None else check_prior(class_prior, matrix.n_classes)
    check_seed(seed)
    # Before the training, which takes minutes.
    check_draws(n_draws)
    convention_name(ece, matrix.n_classes)
    fit = _fit(matrix, settings_of(settings, NAMED), prior, seed)
    rng = generator(seed)
    return Estimate(*expected_metrics(matrix, fit.prob_label, n_draws, rng, ece=ece), *fit)


def _fit(matrix: ScoreMatrix, settings: FlowSettings, class_prior: Floats | None, seed: int) -> Fit:
    """Train the flow, then the normals that it leads to."""
    coords = alr(matrix.probs, "last")
    if coords.shape[1] < 2:
        raise InputError(
            "a flow of coupling layers needs at least two coordinates; got one. "
            "Pass several classifiers or classes, or use SSME-KDE."
        )
    spread = coords.std(axis=0)
    coords = (coords - coords.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    start = mean_score(matrix)
    diagonal = settings.covariance == "diagonal"
    normals = normals_of(coords, start, diagonal=diagonal)
    if settings.base == "joint":
        points = latent_points(coords, JointBase(normals.mean, start), settings, seed)
    else:
        prior = start.mean(axis=0) if class_prior is None else class_prior
        possible = with_known_labels(matrix, np.ones_like(start))
        points = latent_points(coords, FixedBase(normals, prior, possible), settings, seed)
        start = label_probs(points, normals, prior)
    return fit_normals(
        points,
        start,
        matrix.known,
        matrix.labeled,
        class_prior,
        diagonal=diagonal,
        max_epochs=settings.em_epochs,
        tolerance=settings.em_tolerance,
    )


# Variances, in units of the coordinate's, stay above this: no class ends in a point or plane.
_LEAST_VARIANCE = 1e-3
_LEAST_MASS = 1e-10
_LEAST_PRIOR = 1e-300


class Normals(NamedTuple):
    """A normal density of each class."""

    mean: Floats  # (class, coordinate)
    whitening: Floats  # (class, coordinate, coordinate): of a class, (x - mean) W is standard
    log_det: Floats  # (class,): log of the determinant of W


def normals_of(points: Floats, prob: Floats, *, diagonal: bool) -> Normals:
    """Means and covariances of points, each as much of a class as its probability says."""
    scale = points.std(axis=0)
    scale[scale == 0] = 1.0
    mass = np.maximum(prob.sum(axis=0), _LEAST_MASS)[:, np.newaxis]
    mean = prob.T @ points / mass
    whitening = np.empty((*mean.shape, mean.shape[1]))
    log_det = np.empty(len(mean))
    for k, of_class in enumerate(prob.T):
        away = (points - mean[k]) / scale
        covariance = (of_class[:, np.newaxis] * away).T @ away / mass[k]
        if diagonal:
            covariance = np.diag(np.diag(covariance))
        variance, direction = np.linalg.eigh(covariance)
        variance = np.maximum(variance, _LEAST_VARIANCE)
        whitening[k] = direction / np.sqrt(variance) / scale[:, np.newaxis]
        log_det[k] = -0.5 * np.log(variance).sum() - np.log(scale).sum()
    return Normals(mean, whitening, log_det)


def label_probs(points: Floats, normals: Normals, prior: Floats) -> Floats:
    """Probability of each class at each point, (obs, class)."""
    away = np.einsum("kid,kde->kie", points - normals.mean[:, np.newaxis], normals.whitening)
    log_density = normals.log_det - 0.5 * (away**2).sum(axis=2).T
    return np.asarray(softmax(log_density + np.log(np.maximum(prior, _LEAST_PRIOR)), axis=1))


def fit_normals(
    points: Floats,
    start: Floats,
    known: Floats,
    labeled: NDArray[np.bool_],
    class_prior: Floats | None = None,
    *,
    diagonal: bool = False,
    max_epochs: int = 50,
    tolerance: float = 1e-4,
) -> Fit:
    """Alternate between the normals of the classes, and label probabilities."""
    q = start.copy()
    q[labeled] = known
    prior = q.mean(axis=0) if class_prior is None else class_prior
    for epoch in range(1, max_epochs + 1):
        updated = label_probs(points, normals_of(points, q, diagonal=diagonal), prior)
        updated[labeled] = known
        change = float(np.abs(updated - q).max())
        q = updated
        prior = q.mean(axis=0) if class_prior is None else class_prior
        if change <= tolerance:
            return Fit(q, prior, epoch, True)
    return Fit(q, prior, max_epochs, False)


class FixedBase(NamedTuple):
    """Normals that stay; a row counts with ``log sum_k possible_ik pi_k N(z_i; mu_k, S_k)``."""

    normals: Normals
    prior: Floats  # (class,)
    possible: Floats  # (obs, class): 0 for the classes that a labelled row is not of, else 1

    def start(self) -> dict[str, Any]:
        """Parameters that are trained with the flow, where training starts."""
        return {}

    def log_density(self, trained: Any, z: Any, rows: Any) -> Any:
        """Log likelihood of each of some rows at its latent point, up to a constant."""
        jax, jnp = import_module("jax"), import_module("jax.numpy")
        mean, whitening, log_det = (jnp.asarray(part, jnp.float32) for part in self.normals)
        away = jnp.einsum("ikd,kde->ike", z[:, None] - mean, whitening)
        # In double precision: single precision has no numbers below 1e-45.
        log_prior = jnp.asarray(np.log(np.maximum(self.prior, _LEAST_PRIOR)), jnp.float32)
        logs = log_det - 0.5 * (away**2).sum(axis=2) + log_prior
        return jax.nn.logsumexp(logs, axis=1, b=jnp.asarray(self.possible)[rows])


class JointBase(NamedTuple):
    """Normals trained with the flow; a row counts with ``sum_k prob_ik log N(z_i; m_k, s_k^2)``."""

    mean: Floats  # (class, coordinate), to start from
    prob: Floats  # (obs, class)

    def start(self) -> dict[str, Any]:
        """See `FixedBase`."""
        return {"mean": self.mean, "log_scale": np.zeros(self.mean.shape)}

    def log_density(self, trained: Any, z: Any, rows: Any) -> Any:
        """See `FixedBase`."""
        jnp = import_module("jax.numpy")
        away = (z[:, None] - trained["mean"]) * jnp.exp(-trained["log_scale"])
        log_density = -0.5 * (away**2).sum(axis=2) - trained["log_scale"].sum(axis=1)
        return (jnp.asarray(self.prob)[rows] * log_density).sum(axis=1)


_PACKAGES = ("jax", "jax.numpy", "equinox", "optax", "paramax", "flowjax.bijections")


def latent_points(
    points: Floats, base: FixedBase | JointBase, settings: FlowSettings, seed: int
) -> Floats:
    """Train a RealNVP flow (Dinh et al. 2017); where it takes each row, (obs, coordinate).

    T maximises the sum over rows of ``log p(T(s_i)) + log |det T'(s_i)|``, p the base's density;
    what the base has to be trained is trained with it. T starts as the identity: a base that is
    fixed where the classes are would else have to find other classes there.
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

    found = np.asarray(eqx.filter_jit(train)(moving), dtype=np.float64)
    # In single precision a step that is too long ends in NaN, which would pass for labels.
    if not np.isfinite(found).all():
        raise InputError(
            "the flow's training must end in finite numbers, which it did not; got learning_rate="
            f"{settings.learning_rate:g}. Pass a smaller one, as FlowSettings(learning_rate=2e-4)."
        )
    return found


def _real_nvp(
    eqx: Any, jax: Any, jnp: Any, bijections: Any, key: Any, n_coords: int, settings: FlowSettings
) -> Any:
    """The identity, from data (inverse) to base; layers transform one half and turn the order."""

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
