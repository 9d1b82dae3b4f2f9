"""A smooth curve with a rough part on top, whose strength the data decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular, svd

from bayescal.core.columns import Floats
from bayescal.core.quantity import DirectDraws, Draws
from bayescal.curves.cells import labelled, pad, padded_counts, padded_size, score_logit
from bayescal.curves.smooth import CurveBasis
from bayescal.inference import direct
from bayescal.inference.direct import CellLikelihood, Gaussian, Joined, Regression, Weighted

# Roughness, relative to its prior scale, at which the evidence is looked at first.
_COARSE = np.array([0.05, 0.15, 0.35, 0.7, 1.2, 2.0, 3.2])
# Nodes of the integral over log roughness, in standard deviations of its posterior. Steps of .7
# would do for the evidence. Draws have the roughness of a node, and quantiles of an error that goes
# by the roughness need this step: with .7 they were off by 3 % of the interval's width.
_NODES = np.linspace(-2.8, 2.8, 13)
_JITTER = 1e-8
# Proposals go on for so many rounds, at nodes of at least this share, until one in so many counts.
_ROUNDS, _NEGLIGIBLE, _LEAST_EFFICIENT = 8, 1e-4, 4
CELLS = 28  # twice doubled, those of the smooth component
VARIABLES: Final = ("z", "roughness")
DIMS: Final[dict[str, str | tuple[str, ...]]] = {
    **dict.fromkeys(("count", "positives", "log_coefficient", "offset"), "interior"),
    **dict.fromkeys(("variance", "centre", "likely_spread", "precision"), "interior"),
    **dict.fromkeys(("vectors", "root"), ("interior", "interior_")),
}
# Variance of the directions that only fill the array: whatever the roughness, they stay the same.
_IDLE: Final = 1e8


@dataclass(frozen=True, slots=True, eq=False)
class RoughBasis:
    """Deviations of the cells' logits in directions that are independent at every roughness.

    A smooth part of covariance S and a rough part of covariance roughness^2 R, both over the cells,
    are diagonal together: ``S = V diag(variance) V'`` and ``R = V V'``. A deviation is then
    ``V (spread * z)`` with ``spread = sqrt(variance + roughness^2)`` and standard normal z.
    """

    basis: CurveBasis
    length: float
    places: Floats  # (cell,), in standard deviations of the logit
    vectors: Floats  # (cell, cell)
    variance: Floats  # (cell,)
    smooth: Floats  # (cell, basis): V^-1 times the design of the smooth part

    @classmethod
    def of(cls, basis: CurveBasis, score: Floats, length: float) -> RoughBasis:
        """Find the directions for the cells' scores."""
        places = score_logit(score) / basis.spread
        root = cholesky(
            _correlation(places, places, length) + _JITTER * np.eye(len(score)), lower=True
        )
        own = solve_triangular(root, basis.design(score), lower=True)
        left, singular, _ = svd(own)
        variance = np.zeros(len(score))
        variance[: len(singular)] = singular**2
        return cls(basis, length, places, root @ left, variance, left.T @ own)

    def spread(self, roughness: Any) -> Any:
        """Standard deviations of the directions, (..., cell)."""
        return np.sqrt(self.variance + np.square(roughness)[..., None])

    def deviation(self, z: Floats, roughness: Floats) -> Floats:
        """Deviation of the cells' logits, (..., cell)."""
        return np.asarray((self.spread(roughness) * z) @ self.vectors.T)

    def deviation_at(self, z: Floats, roughness: Floats, score: Floats) -> Floats:
        """Deviation at any score given those of the cells: its conditional mean, (..., point)."""
        weight = z / self.spread(roughness)
        places = score_logit(score) / self.basis.spread
        across = np.linalg.solve(self.vectors, _correlation(self.places, places, self.length))
        rough = np.square(roughness)[..., None] * (weight @ across)
        return np.asarray(weight @ self.smooth @ self.basis.design(score).T + rough)


def _correlation(first: Floats, second: Floats, length: float) -> Floats:
    """Half of it exponential, half of each place alone: neighbours share a part of it."""
    apart = np.abs(first[:, None] - second[None, :])
    return np.asarray((np.exp(-apart / length) + (apart == 0)) / 2)


class RoughPosterior(NamedTuple):
    """Weighted draws of the directions and of the roughness."""

    weighted: Weighted
    roughness: Floats  # (draw,)


@dataclass(frozen=True, eq=False)
class Rough:
    """Cells under a smooth and a rough part, with roughness ~ HalfNormal(scale)."""

    basis: RoughBasis
    offset: Floats  # (cell,)
    cells: CellLikelihood
    scale: float
    exact: ClassVar[bool] = False
    variables: ClassVar[tuple[str, ...]] = VARIABLES
    # By effective draws a second: smaller steps cost more than they add. Trajectories of at most
    # seven steps are cheaper, but leave the roughness with too few effective draws on some data.
    target_accept: ClassVar[float] = 0.8
    max_depth: ClassVar[int] = 10
    # Whitened: only the size of the steps has to be found.
    tune: ClassVar[int] = 150

    def at(self, roughness: float) -> Regression:
        """Hold the roughness: a regression on standard normal z."""
        design = self.basis.vectors * self.basis.spread(np.asarray(roughness))
        return Regression(self.offset, design, self.cells)

    def log_density(self, roughness: Any) -> Any:
        """Log density of log roughness."""
        constant = np.log(2 / np.pi) / 2 - np.log(self.scale)
        return constant - np.square(roughness / self.scale) / 2 + np.log(roughness)

    def nodes(self) -> Floats:
        """Values of the roughness at which its posterior is summed, evenly spaced in logs."""
        logs = np.log(self.scale * _COARSE)
        found = [
            float(direct.laplace_evidence(self.at(roughness), gaussian))
            + self.log_density(roughness)
            for roughness, gaussian in self._coarse
        ]
        # Left of the first node the likelihood has no say: the density of the logarithm rises.
        fine = np.linspace(logs[0] - 3, logs[-1], 400)
        value = np.where(fine < logs[0], found[0] + fine - logs[0], np.interp(fine, logs, found))
        weight = np.exp(value - value.max())
        centre = np.average(fine, weights=weight)
        spread = np.sqrt(np.average((fine - centre) ** 2, weights=weight))
        return np.asarray(np.exp(centre + spread * _NODES))

    @cached_property
    def _coarse(self) -> list[tuple[float, Gaussian]]:
        """First values of the roughness, with the modes of the coefficients there."""
        found: list[tuple[float, Gaussian]] = []
        for roughness in self.scale * _COARSE:
            start = self._moved(*found[-1], roughness).mean if found else None
            found.append((roughness, direct.laplace_gaussian(self.at(roughness), start=start)))
        return found

    def gaussians(self, nodes: Floats) -> list[Gaussian]:
        """Gaussians nearest to the posterior at each node, each sought from the one before."""
        found, near = [], min(self._coarse, key=lambda one: abs(np.log(nodes[0] / one[0])))
        for roughness in nodes:
            start = self._moved(*near, roughness)
            near = (roughness, direct.variational_gaussian(self.at(roughness), start=start))
            found.append(near[1])
        return found

    def _moved(self, before: float, found: Gaussian, roughness: float) -> Gaussian:
        """The same curve at another roughness."""
        ratio = self.basis.spread(np.asarray(before)) / self.basis.spread(np.asarray(roughness))
        return Gaussian(found.mean * ratio, found.root)

    def likely_roughness(self) -> float:
        """Roughness in the middle of its posterior."""
        return float(np.median(self.nodes()))

    def posterior(self, draws: int, rng: np.random.Generator) -> RoughPosterior:
        """Importance sampling at nodes of the roughness, with `draws` over all nodes.

        Rates near 0 or 1 of cells with few rows have a skew posterior, unlike a Gaussian: see
        `sample_nodes` and `Weighted.smoothed`.
        """
        nodes = self.nodes()
        gaussians = self.gaussians(nodes)

        def sample(places: Sequence[int], number: int) -> list[Weighted]:
            each = [(self.at(nodes[place]), gaussians[place]) for place in places]
            return [direct.importance_sample(*one, number, rng) for one in each]

        for found in self.sample_nodes(nodes, sample, [draws] * _ROUNDS):
            if found.weighted.ess >= draws / _LEAST_EFFICIENT:
                break
        return found

    def sample_nodes(
        self,
        nodes: Floats,
        sample: Callable[[Sequence[int], int], Iterable[Weighted]],
        rounds: Iterable[int],
    ) -> Iterator[RoughPosterior]:
        """Join samples at nodes of the roughness, by their places and the number at each.

        Rounds of so many proposals add to each other; later ones are at the nodes that matter.
        """
        samples: list[tuple[int, Weighted]] = []
        kept = np.ones(len(nodes), dtype=bool)
        for draws in rounds:
            each = max(1, -(-draws // len(nodes)))
            places = np.flatnonzero(kept).tolist()
            samples += zip(places, sample(places, each), strict=True)
            found, share = self._joined(nodes, samples)
            yield found
            kept = share > _NEGLIGIBLE

    def _joined(
        self, nodes: Floats, rounds: Sequence[tuple[int, Weighted]]
    ) -> tuple[RoughPosterior, Floats]:
        """Weights over all nodes, and the share of each node in the posterior."""
        places = np.concatenate([np.full(len(one.draws), place) for place, one in rounds])
        number = np.bincount(places, minlength=len(nodes))
        step = np.log(nodes[1] / nodes[0])
        density = self.log_density(nodes) + np.log(step)
        logs = np.concatenate([one.log_weights for _, one in rounds])
        logs = logs + (density + np.log(len(places) / number))[places]
        weighted = Weighted(Joined([one.draws for _, one in rounds]), logs).smoothed()
        share = np.bincount(places, np.exp(logs - logs.max()), len(nodes))
        return RoughPosterior(weighted, nodes[places]), share / share.sum()

    def sample(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Draws of the posterior."""
        weighted, roughness = self.posterior(2 * draws, rng)
        place = weighted.resampled_places(draws, rng)
        return weighted.direct_draws({"z": weighted.draws[place], "roughness": roughness[place]})

    direct_draws = sample

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Directions and roughness before the data."""
        return {
            "z": rng.standard_normal((draws, len(self.offset))),
            "roughness": self.scale * np.abs(rng.standard_normal(draws)),
        }

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the cells' logits, (..., cell)."""
        return self.basis.deviation(draws["z"], draws["roughness"])

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation at any score, (..., point)."""
        return self.basis.deviation_at(draws["z"], draws["roughness"], score)

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of directions and roughness, less its mean before the data, (...)."""
        strength = np.square(draws["roughness"] / self.scale)
        return np.asarray((1 - draws["z"] ** 2).sum(axis=-1) / 2 + (1 - strength) / 2)

    def log_prior(self, draws: Draws) -> Draws:
        """The same by name, as power-scaling wants it."""
        return {"curve": self.log_prior_excess(draws)}

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Whole or effective rows, and the number of cells, padded."""
        count = labelled(self.cells).count
        return ("rough", count.dtype.kind, padded_size(len(count), CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, and the Gaussian that whitens them."""
        size, likely = self.compile_key[-1], self.likely_roughness()
        gaussian = direct.variational_gaussian(self.at(likely))
        return {**padded_counts(self.cells, size), **rough_inputs(self, likely, gaussian, size)}

    def add_to_model(self) -> Any:
        """``positives ~ Binomial(count, sigmoid(offset + vectors @ (spread * z)))``."""
        from bayescal.inference.graph import add_data, observe_counts

        data = add_data(self.inputs(), DIMS)
        return observe_counts(data, rough_logit(data), "interior")


def at_other_spread(gaussian: Gaussian, ratio: Floats) -> Gaussian:
    """Where coefficients are about if directions have `ratio` times the spread, (..., basis).

    What the rows know of a direction stays: see `rough_logit`.
    """
    shrunk = np.minimum(np.vecdot(gaussian.root, gaussian.root), 1)
    narrower = 1 / (shrunk + (1 - shrunk) * ratio**2)
    root = gaussian.root * np.sqrt(narrower)[..., None]
    return Gaussian(gaussian.mean * ratio * narrower, root)


def between_nodes(found: Gaussian, spread: Floats, every: int) -> list[Gaussian]:
    """Gaussians at each node, whose directions have the `spread`, (node, basis).

    They are blended from those `every` so many nodes apart, (knot, node, basis).
    """
    gaussians = []
    for node, own in enumerate(spread):
        share = node % every / every
        low, high = (
            at_other_spread(found[:, place], own / spread[place * every])
            for place in (node // every, -(-node // every))
        )
        mean = (1 - share) * low.mean + share * high.mean
        gaussians.append(Gaussian(mean, (1 - share) * low.root + share * high.root))
    return gaussians


def rough_inputs(
    rough: Rough, roughness: float, gaussian: Gaussian, size: int
) -> dict[str, NDArray[Any]]:
    """Offsets, directions, and the Gaussian that whitens them, padded.

    `gaussian` is near the posterior of the coefficients at this roughness; it has as many of them
    as there are directions, or `size`.
    """
    held, known = len(rough.offset), len(gaussian.mean)
    variance = np.full(size, _IDLE)
    variance[:held] = rough.basis.variance
    root = np.eye(size)
    root[:known, :known] = gaussian.root
    shrunk = np.minimum(np.square(root).sum(axis=1), 1)
    return {
        "offset": pad(rough.offset, size),
        "vectors": pad(rough.basis.vectors, size, size),
        "variance": variance,
        "roughness_scale": np.asarray(rough.scale),
        "centre": pad(gaussian.mean, size),
        "likely_spread": np.sqrt(variance + roughness**2),
        "precision": 1 / shrunk - 1,
        "root": root,
    }


def rough_logit(data: dict[str, Any], whitened: Callable[..., Any] | None = None) -> Any:
    """Add ``z`` and ``roughness`` to the model in context; return the cells' logits, (interior,).

    `whitened` is `whitened_normal`, or takes another kind of root.

    A direction of standard deviation s whose deviation d the rows know with precision p has a
    coefficient of mean ``s p d / (1 + p s^2)`` and variance ``1 / (1 + p s^2)``. The whitening
    follows both from the likely roughness to any other; `precision` is ``p s^2`` at the likely one.
    """
    import pymc as pm
    from pymc.distributions.transforms import log_exp_m1

    from bayescal.inference.graph import product, whitened_normal

    # On a log scale the prior is a wall above its scale, at which transitions diverge.
    roughness = pm.HalfNormal("roughness", data["roughness_scale"], default_transform=log_exp_m1)
    spread = pm.math.sqrt(data["variance"] + roughness**2)
    ratio = spread / data["likely_spread"]
    narrower = (1 + data["precision"]) / (1 + data["precision"] * ratio**2)
    centre = data["centre"] * ratio * narrower
    add = whitened or whitened_normal
    z = add("z", centre, data["root"], dims="interior", scale=pm.math.sqrt(narrower))
    return data["offset"] + product(data["vectors"], spread * z)
