"""The quantity's PyMC model: temperatures of classes around a shared one, and their average.

NUTS draws the temperatures of predicted classes; one temperature and vector scaling are drawn
without it. By quadrature there is a grid over mu and tau, and one integral a class at each point:
given both the classes are independent, and each has one number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from scipy.stats import halfnorm, norm

from bayescal.core.checks import check_is
from bayescal.core.quantity import BaseModel, DirectDraws, Draws, Floats, LabelModel
from bayescal.core.scores import Scores
from bayescal.core.streams import count_not_above
from bayescal.curves.average import in_chains
from bayescal.inference.direct import around, choose, zoomed
from bayescal.quantities.temperature.data import Rows, only_problem
from bayescal.quantities.temperature.logits import LOW, NODES, STEP, derivatives, look_up, quintic
from bayescal.quantities.temperature.priors import CLASS_WISE, MODELS, SHARED, VECTOR, Priors
from bayescal.quantities.temperature.vector_scaling import (
    LabeledLogits,
    prior_scaling,
    vector_posterior,
)

if TYPE_CHECKING:
    import pymc as pm


def build_model(data: Scores, priors: Priors | None = None) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores
        Scores of one classifier.
    priors : Priors, optional
        Priors; the defaults if not given.

    Returns
    -------
    pm.Model
        ``log_alpha ~ Normal(mu, tau)`` (label_class), and observed ``labels`` (label_class): rows
        of each predicted class, with the log likelihood in the pm.Data ``table``.

    Raises
    ------
    InputError
        If there are several classifiers, or groups.

    Notes
    -----
    A row of logits z and predicted class k has ``P(label = j) = softmax(exp(log_alpha_k) z)_j``.
    Given the predictions the log likelihood is a sum of one function of one number a class.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.temperature.truth("heterogeneous").scores(100, seed=1)
    >>> [v.name for v in bc.temperature.build_model(scores).free_RVs]
    ['mu', 'tau', 'log_alpha']
    """
    problem = only_problem(data, "build_model")
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.temperature.Priors().")
    return model_of(problem, temperatures_of(problem, priors))


def temperatures_of(problem: Rows, priors: Priors) -> HierarchicalTemperatures:
    """Join a problem and its priors."""
    return HierarchicalTemperatures(problem.table, problem.facts.predicted, priors)


def model_of(problem: Rows, temperatures: HierarchicalTemperatures) -> pm.Model:
    """Build the model of one problem."""
    import pymc as pm

    with pm.Model(coords={"label_class": list(problem.classes)}) as model:
        temperatures.add_to_model()
    return model


@dataclass(frozen=True, eq=False)
class HierarchicalTemperatures(BaseModel):
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

    @cached_property
    def grid(self) -> Grid:
        """The posterior of mu and log tau."""
        return posterior_grid(self.table, self.priors)

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

        from bayescal.inference.graph import add_data, pooled_normal

        data = add_data(self.inputs(), _DIMS)
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

    def prior_draws(self, draws: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Draws before any label counts."""
        mu = rng.normal(self.priors.mu.mu, self.priors.mu.sigma, draws)
        tau = np.abs(rng.normal(0, self.priors.tau.sigma, draws))
        log_alpha = rng.normal(mu[:, None], tau[:, None], (draws, len(self.table)))
        return {"mu": mu, "tau": tau, "log_alpha": log_alpha}

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


MOST_CLASSES: Final = 200
"""Classes up to which vector scaling is fitted: its cost grows with their cube."""
NEGLIGIBLE: Final = 1e-3
"""Probability below which a model is not drawn from."""
POINTS: Final = 16
"""Points of equal posterior probability that stand for the draws of a class."""
_DRAWS_OF_POINTS: Final = 4000
_OF_VECTOR: Final = ("log_coef", "shift", "shift_tau")


@dataclass(frozen=True, slots=True, eq=False)
class TemperatureAverage(BaseModel):
    """Labelled rows under the models of `Priors`."""

    temperatures: HierarchicalTemperatures
    labeled: LabeledLogits
    variables: ClassVar[tuple[str, ...]] = HierarchicalTemperatures.variables

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

    def add_to_model(self) -> Any:
        """Add the temperatures of classes."""
        return self.temperatures.add_to_model()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Draws of every model, and its evidence."""
        found = draw_posterior(self.temperatures.table, self.temperatures.grid, draws, rng)
        others, evidence = self._others(draws, rng)
        evidence[CLASS_WISE] = self.temperatures.grid.log_integral
        return DirectDraws({**found, **others}, draws, "quadrature", evidence=evidence)

    def completed(
        self, draws: Draws, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], Mapping[str, float]]:
        """Add what NUTS does not draw, and the evidence of every model."""
        others, evidence = self._others(draws["mu"].size, rng)
        evidence[CLASS_WISE] = self.temperatures.grid.log_integral
        return {**draws, **in_chains(others, draws["mu"].shape)}, evidence

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
        weights = self.weights
        logs = [
            np.log(weights[name]) + evidence[name] if name in weights else -np.inf
            for name in MODELS
        ]
        return np.asarray(softmax(logs))

    def mixed(self, draws: Draws, weight: Floats, rng: np.random.Generator) -> dict[str, Any]:
        """Draws of the average; ``description`` is the place of the model of each, (chain, draw).

        Temperatures of a draw from vector scaling are those of one of the other two models.
        """
        shape = draws["mu"].shape
        kept = np.where(weight < NEGLIGIBLE, 0.0, weight)
        chosen = choose(kept, int(np.prod(shape)), rng).reshape(shape)
        found: dict[str, Any] = {
            name: draws[name] for name in (*self.variables, *_OF_VECTOR) if name in draws
        }
        found["description"] = chosen
        vector = chosen == MODELS.index(VECTOR)
        if SHARED in self.weights:
            other = rng.random(shape) < _share_of_one(weight)
            one = np.where(vector, other, chosen == MODELS.index(SHARED))
            found["mu"] = np.where(one, draws["shared"], draws["mu"])
            found["tau"] = np.where(one, 0.0, draws["tau"])
            same = draws["shared"][..., None]
            found["log_alpha"] = np.where(one[..., None], same, draws["log_alpha"])
        if VECTOR in self.weights:
            found["mu"] = np.where(vector, draws["coef_mu"], found["mu"])
            found["tau"] = np.where(vector, draws["coef_tau"], found["tau"])
        return found

    def points(self, weight: Floats) -> Floats:
        """Points of equal probability of each class's number, (point, class), at any seed the same.

        Calibrated confidences are their means. Between seeds a row would move from one bin to
        another, and errors by more than their draws say.
        """
        rng, table = np.random.default_rng(0), self.temperatures.table
        found = draw_posterior(table, self.temperatures.grid, _DRAWS_OF_POINTS, rng)["log_alpha"]
        if SHARED in self.weights:
            shared, _ = draw_shared(table, self.priors, _DRAWS_OF_POINTS, rng)
            one = rng.random(_DRAWS_OF_POINTS) < _share_of_one(weight)
            found = np.where(one[:, None], shared[:, None], found)
        return points_of(found)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> dict[str, Any]:
        """Draws before any label counts, as `mixed` gives them."""
        weight = np.array([self.weights.get(name, 0.0) for name in MODELS])
        raw = self.temperatures.prior_draws(draws, rng)
        raw["shared"] = rng.normal(self.priors.mu.mu, self.priors.mu.sigma, draws)
        if VECTOR in self.weights:
            raw |= prior_scaling(self.labeled.n_classes, self.priors, draws, rng)
        return self.mixed(raw, weight / weight.sum(), rng)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Density of the mean and the scales of each draw's model, which the rest depends on."""
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


def points_of(log_alpha: Floats) -> Floats:
    """Middles of parts of equal probability of each class's draws, (point, class)."""
    middles = (np.arange(POINTS) + 0.5) / POINTS
    return np.quantile(log_alpha.reshape(-1, log_alpha.shape[-1]), middles, axis=0)


def _share_of_one(weight: Floats) -> float:
    """Probability of one temperature among the models without vector scaling."""
    one, class_wise = weight[MODELS.index(SHARED)], weight[MODELS.index(CLASS_WISE)]
    return float(one / max(one + class_wise, np.finfo(float).tiny))


_SHARED_PLACES: Final = 401
# Standard deviations of the prior on either side; natural logarithm below the largest density.
_SHARED_REACH: Final = 7.0
_SHARED_DEPTH: Final = 20.0
_SHARED_ROUNDS: Final = 2


def draw_shared(
    table: Floats, priors: Priors, draws: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Draw the log alpha of all classes, (draw,), and compute the log evidence."""
    reach = _SHARED_REACH * priors.mu.sigma
    place = np.linspace(priors.mu.mu - reach, priors.mu.mu + reach, _SHARED_PLACES)

    def log_density(log_alpha: Floats) -> Floats:
        prior = norm.logpdf(log_alpha, priors.mu.mu, priors.mu.sigma)
        return np.asarray(prior + look_up(table, log_alpha[:, None]).sum(axis=1))

    place, density = zoomed(log_density, place, _SHARED_DEPTH, _SHARED_ROUNDS)
    step, share = place[1] - place[0], np.exp(density - logsumexp(density))
    at = rng.choice(place, draws, p=share) + rng.uniform(-step / 2, step / 2, draws)
    return at, float(logsumexp(density) + np.log(step))


_COARSE: Final = 17
_FINE: Final = 33
# The ends of mu are drawn together, in so many rounds at most, until so many places have density.
_MOST_ROUNDS: Final = 12
_ENOUGH: Final = 16
# Natural logarithm: what lies further below the largest density is left out.
_DEPTH: Final = 10.0
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
# Standard deviations on either side of a class's mode, and places there, to draw its number.
_REACH: Final = 7.0
_PLACES: Final = 57
_NEWTON_STEPS: Final = 8
_LONGEST_STEP: Final = 5 * STEP
# Numbers that are worked on at once.
_MOST: Final = 1 << 22
_LOG_ROOT: Final = np.log(2 * np.pi) / 2


class Grid(NamedTuple):
    """Cells of mu and log tau: where the classes are near each other, mu is known far better."""

    mu: Floats  # (mu, log tau): middles, evenly spaced at each log tau
    log_tau: Floats  # (log tau,)
    log_mass: Floats  # (mu, log tau): logarithm of the posterior mass, unnormalised

    @property
    def log_integral(self) -> float:
        """Logarithm of the mass of all cells."""
        return float(logsumexp(self.log_mass))


def draw_posterior(
    table: Floats, grid: Grid, draws: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Draw mu, tau and each class's number."""
    share = np.exp(grid.log_mass - grid.log_integral).ravel()
    cell = rng.choice(share.size, draws, p=share / share.sum())
    inside = rng.uniform(-0.5, 0.5, (2, draws))
    i, j = np.divmod(cell, len(grid.log_tau))
    mu = grid.mu[i, j] + inside[0] * (grid.mu[1] - grid.mu[0])[j]
    tau = np.exp(grid.log_tau[j] + inside[1] * (grid.log_tau[1] - grid.log_tau[0]))
    order = np.argsort(cell, kind="stable")
    used, point = np.unique(cell[order], return_inverse=True)
    at_mu, at_tau = grid.mu.ravel()[used], np.exp(grid.log_tau)[used % len(grid.log_tau)]
    log_alpha = np.empty((draws, len(table)))
    # Classes given a cell's middle: over a cell they hardly change.
    log_alpha[order] = draw_classes(table, at_mu, at_tau, point, rng)
    return {"mu": mu, "tau": tau, "log_alpha": log_alpha}


def posterior_grid(table: Floats, priors: Priors) -> Grid:
    """Find where the posterior of mu and log tau is, and lay a fine grid there."""
    log_tau = np.linspace(np.log(priors.tau.sigma / 3e4), np.log(5 * priors.tau.sigma), _COARSE)
    ends = priors.mu.mu + 5 * priors.mu.sigma * np.array([[-1.0], [1.0]])
    found = _grid(table, priors, np.broadcast_to(ends, (2, _COARSE)), log_tau)
    first, last = around(logsumexp(found.log_mass, axis=0), _DEPTH)
    fine = np.linspace(log_tau[first], log_tau[last], _FINE)
    ends = np.array([np.interp(fine, log_tau, end) for end in found.mu[[0, -1]]])
    return _grid(table, priors, ends, fine)


def _grid(table: Floats, priors: Priors, ends: Floats, log_tau: Floats) -> Grid:
    """Cells between ends of mu, (2, log tau), drawn together until enough have density."""
    for _ in range(_MOST_ROUNDS):
        mu = np.linspace(ends[0], ends[1], _FINE)
        density = _log_posterior(table, priors, mu, log_tau)
        if (density > density.max(axis=0) - _DEPTH).sum(axis=0).min() >= _ENOUGH:
            break
        kept = np.transpose([around(column, _DEPTH) for column in density.T])
        ends = np.take_along_axis(mu, kept, axis=0)
    cell = (mu[1] - mu[0]) * (log_tau[1] - log_tau[0])
    return Grid(mu, log_tau, density + np.log(cell))


def _log_posterior(table: Floats, priors: Priors, mu: Floats, log_tau: Floats) -> Floats:
    """Log posterior density, unnormalised, (mu, log tau)."""
    at_mu, tau = mu.ravel(), np.tile(np.exp(log_tau), len(mu))
    density = norm.logpdf(at_mu, priors.mu.mu, priors.mu.sigma)
    # The density of log tau is that of tau times tau.
    density += halfnorm.logpdf(tau, scale=priors.tau.sigma) + np.log(tau)
    rows = max(1, _MOST // (8 * len(table)))
    for start in range(0, len(tau), rows):
        at = slice(start, start + rows)
        density[at] += _log_integrals(table, at_mu[at], tau[at]).sum(axis=1)
    return np.asarray(density.reshape(mu.shape))


def _log_integrals(table: Floats, mu: Floats, tau: Floats) -> Floats:
    """Log of each class's likelihood, its number integrated out, (point, class)."""
    mode, width = _modes(table, mu, tau)
    terms = np.array(
        [
            np.log(weight) + x**2 / 2 + _log_joint(table, mode + width * x, mu, tau)
            for x, weight in zip(_POINTS, _WEIGHTS, strict=True)
        ]
    )
    largest = terms.max(axis=0)
    return np.asarray(largest + np.log(np.exp(terms - largest).sum(axis=0) * width))


def _log_joint(table: Floats, log_alpha: Floats, mu: Floats, tau: Floats) -> Floats:
    """Log density of each class's number, and of its labels given it, (..., point, class)."""
    scale = tau[:, None]
    prior = -(((log_alpha - mu[:, None]) / scale) ** 2) / 2 - np.log(scale) - _LOG_ROOT
    return np.asarray(prior + look_up(table, log_alpha))


def _modes(table: Floats, mu: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """Mode and width of each class's number given mu and tau, (point, class)."""
    mode = np.broadcast_to(mu[:, None], (len(mu), len(table)))
    for _ in range(_NEWTON_STEPS):
        slope, curvature = derivatives(table, mode)
        slope = slope - (mode - mu[:, None]) / tau[:, None] ** 2
        width = 1 / np.sqrt(np.maximum(-curvature, 0) + 1 / tau[:, None] ** 2)
        mode = mode + np.clip(slope * width**2, -_LONGEST_STEP, _LONGEST_STEP)
    return mode, width


def normal_likelihoods(table: Floats, priors: Priors) -> tuple[Floats, Floats]:
    """Each class's likelihood as ``exp(pull t - precision t**2 / 2)`` near its mode, (class,)."""
    mu, tau = np.array([priors.mu.mu]), np.array([np.hypot(priors.mu.sigma, priors.tau.sigma)])
    mode, _ = _modes(table, mu, tau)
    slope, curvature = derivatives(table, mode)
    precision = np.maximum(-curvature, 0)
    return (slope + precision * mode)[0], precision[0]


def draw_classes(
    table: Floats, mu: Floats, tau: Floats, point: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Draw each class's number given the mu and tau of its `point`, which rises, (draw, class)."""
    size = max(1, _MOST // (_PLACES * len(table)))
    found = []
    for start in range(0, len(mu), size):
        at = slice(start, start + size)
        first, last = np.searchsorted(point, [start, start + size])
        found.append(_drawn(table, mu[at], tau[at], point[first:last] - start, rng))
    return np.concatenate(found)


def _drawn(
    table: Floats, mu: Floats, tau: Floats, point: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Draw by the distribution function of each point and class, tabulated about its mode."""
    mode, width = _modes(table, mu, tau)
    places = np.linspace(-_REACH, _REACH, _PLACES)
    density = _log_joint(table, mode + width * places[:, None, None], mu, tau)
    density = np.exp(density - density.max(axis=0))
    below = np.zeros_like(density)
    np.cumsum((density[1:] + density[:-1]) / 2, axis=0, out=below[1:])
    wanted = rng.random((len(point), len(table))) * below[-1, point]
    own, tables = point[:, None] * len(table) + np.arange(len(table)), below.reshape(_PLACES, -1)
    left = np.minimum(count_not_above(tables, own, wanted) - 1, _PLACES - 2)
    low, high = (tables[at, own] for at in (left, left + 1))
    found = places[left] + (wanted - low) / (high - low) * (places[1] - places[0])
    return np.asarray(mode[point] + width[point] * found)
