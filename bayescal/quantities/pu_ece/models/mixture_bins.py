"""The paper's bins as a model: positives and negatives, whose mixture the unlabelled are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from bayescal.core.bin_counts import BinCounts
from bayescal.core.quantity import BaseModel, Draws, Floats
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.curve_and_class_prior import cubic_in_graph
from bayescal.quantities.pu_ece.priors import ClassPrior, IndependentBins, MixtureBins, PriorMap

_VARIABLES = ("positive_mass", "negative_mass", "class_prior_normal")
# Draws of which those that the constraint leaves are chosen.
_FEWEST = 1000
# Masses of 0 have no finite log density under priors that pull to the ends.
_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Bins(BaseModel):
    """A problem under `MixtureBins` or `IndependentBins`; its cells are the bins.

    Both are models of r, the positives' bins, and t, the negatives'. In them independence of r and
    q is a density: the prior of q at ``q = pi r + (1 - pi) t``, times ``(1 - pi)**(bins - 1)``, by
    which t stretches into q. Without direct draws: no Gaussian fits the corners of posteriors.
    """

    problem: PUProblem
    prior: PriorMap
    positive: float
    negative: float
    unlabeled: float
    stretch: float
    variables: ClassVar[tuple[str, ...]] = _VARIABLES
    # Above NUTS's own default: bins without positives or negatives make corners.
    target_accept: ClassVar[float] = 0.95

    @classmethod
    def of(
        cls, problem: PUProblem, prior: MixtureBins | IndependentBins, class_prior: ClassPrior
    ) -> Bins:
        """Put the prior into numbers."""
        found, many = PriorMap.of(class_prior), problem.cells.n_bins - 1
        if isinstance(prior, MixtureBins):
            return cls(problem, found, prior.concentration, prior.concentration, 0.0, 0.0)
        return cls(problem, found, prior.concentration, 1.0, prior.concentration - 1, float(many))

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of bins."""
        return ("bins", self.problem.cells.n_bins)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, the class prior and the numbers of the prior."""
        bins = self.compile_key[-1]
        return {
            "positive": self.problem.positive,
            "unlabeled": self.problem.cells.count,
            "n_positive": np.asarray(self.problem.n_positive),
            "n_unlabeled": np.asarray(self.problem.n_unlabeled),
            "prior_logit": self.prior.value,
            "prior_slope": self.prior.slope,
            "positive_concentration": np.full(bins, self.positive),
            "negative_concentration": np.full(bins, self.negative),
            "unlabeled_power": np.asarray(self.unlabeled),
            "stretch": np.asarray(self.stretch),
        }

    def add_to_model(self) -> tuple[Any, Any]:
        """``unlabeled ~ Multinomial(pi r + (1 - pi) t)``, ``positive ~ Multinomial(r)``."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayescal.inference.graph import add_data

        data = add_data(self.inputs(), _DIMS)
        r = pm.Dirichlet("positive_mass", data["positive_concentration"], dims="cell")
        t = pm.Dirichlet("negative_mass", data["negative_concentration"], dims="cell")
        normal = pm.Normal("class_prior_normal")
        logit = cubic_in_graph(normal, data["prior_logit"], data["prior_slope"])
        class_prior = pm.Deterministic("class_prior", pm.math.sigmoid(logit))
        q = class_prior * r + (1 - class_prior) * t
        kept = data["stretch"] * pt.log1p(-class_prior)
        pm.Potential("constraint", kept + data["unlabeled_power"] * pt.log(q).sum())
        pm.Multinomial("events", data["n_positive"], r, observed=data["positive"], dims="cell")
        pm.Multinomial("rows", data["n_unlabeled"], q, observed=data["unlabeled"], dims="cell")
        return class_prior * r / q, q

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Dirichlet and normal draws; those of independent bins weighed by the constraint."""
        bins, many = self.compile_key[-1], max(10 * draws, _FEWEST) if self.stretch else draws
        r = rng.dirichlet(np.full(bins, self.positive), many)
        t = rng.dirichlet(np.full(bins, self.negative), many)
        normal = rng.standard_normal(many)
        class_prior = self.prior(normal)[:, None]
        q = class_prior * r + (1 - class_prior) * t
        log_weight = self.stretch * np.log1p(-class_prior[:, 0])
        log_weight += self.unlabeled * np.log(q).sum(axis=1)
        weight = np.exp(log_weight - log_weight.max())
        kept = rng.choice(many, draws, p=weight / weight.sum())
        return dict(zip(_VARIABLES, (r[kept], t[kept], normal[kept]), strict=True))

    def class_prior(self, draws: Draws) -> Floats:
        """Class prior of its normal."""
        return self.prior(draws["class_prior_normal"])

    def cell_rates(self, draws: Draws) -> Floats:
        """``pi r / q``."""
        share = self.class_prior(draws)[..., None] * draws["positive_mass"]
        return np.asarray(share / self.masses(draws))

    def masses(self, draws: Draws) -> Floats:
        """The mixture q."""
        class_prior = self.class_prior(draws)[..., None]
        return class_prior * draws["positive_mass"] + (1 - class_prior) * draws["negative_mass"]

    def curve(self, draws: Draws, score: Floats) -> Floats:
        """Rate of the bin that holds the score."""
        cells: BinCounts = self.problem.cells
        return np.asarray(self.cell_rates(draws)[..., cells.find(score)])

    def draw_positives(self, draws: Draws, rng: np.random.Generator) -> NDArray[np.int64]:
        """Multinomial over the bins."""
        r = draws["positive_mass"]
        return rng.multinomial(self.problem.n_positive, r / r.sum(axis=-1, keepdims=True))

    def draw_problem(self, draws: Draws, rng: np.random.Generator) -> PUProblem:
        """Both samples anew, of as many rows."""
        cells, q = self.problem.cells, self.masses(draws)[0, 0]
        count = rng.multinomial(cells.n, q / q.sum())
        counted = replace(cells, count=count, positives=np.zeros_like(count))
        unlabeled = replace(self.problem.unlabeled, cells=counted, bins=counted)
        return PUProblem.of(unlabeled, self.draw_positives(draws, rng)[0, 0])

    def log_likelihood(self, draws: Draws) -> Floats:
        """Each bin's terms of the two multinomials, without what the data alone set."""
        positive, count = self.problem.positive, self.problem.cells.count
        spent = gammaln(positive + 1.0) + gammaln(count + 1.0)
        return np.asarray(
            xlogy(positive, draws["positive_mass"]) + xlogy(count, self.masses(draws)) - spent
        )

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Density of the bins, up to a constant, and of the class prior if it is not known."""
        parts = (
            (self.positive - 1, draws["positive_mass"]),
            (self.negative - 1, draws["negative_mass"]),
            (self.unlabeled, self.masses(draws)),
        )
        powers = (power * np.log(np.maximum(mass, _SMALLEST)) for power, mass in parts)
        found = {"bins": np.asarray(sum(powers)).sum(axis=-1)}
        if not self.prior.known:
            found["class_prior"] = self.prior.log_density(draws["class_prior_normal"])
        return found


_DIMS = {
    **dict.fromkeys(("positive", "unlabeled"), "cell"),
    **dict.fromkeys(("positive_concentration", "negative_concentration"), "cell"),
    **dict.fromkeys(("prior_logit", "prior_slope"), "knot"),
}
