"""The quantity's PyMC models: label rates given counts, and the calibration errors they imply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, logsumexp, xlog1py, xlogy

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import check_choice, check_data, check_is
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.quantity import BaseModel, DirectDraws, Draws, Floats
from bayescal.core.scores import MULTICLASS, Scores
from bayescal.curves.average import Average
from bayescal.curves.cells import Problem, pad, padded_size
from bayescal.curves.priors import CurveAverage
from bayescal.curves.smooth import BASIS, Smooth
from bayescal.quantities.ece.data import in_table, problems
from bayescal.quantities.ece.pooled_curves import PooledCurves
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve

if TYPE_CHECKING:
    import pymc as pm


CELLS = 16
# Rates of 0 and 1 have no finite log density under priors that pull to the ends.
_SMALLEST = 1e-300


_DIMS = dict.fromkeys(("count", "positives", "score"), "cell")


@dataclass(frozen=True, slots=True, eq=False)
class _Bins(BaseModel):
    """A problem whose cells are its bins."""

    problem: Problem

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Kind, and number of bins, padded."""
        return (type(self).__name__.lower(), padded_size(self.problem.cells.n_bins, CELLS))

    def counts(self) -> dict[str, NDArray[Any]]:
        """Rows, and those with the event, padded."""
        cells, size = self.problem.cells, self.compile_key[-1]
        return {"count": pad(cells.count, size), "positives": pad(cells.positives, size)}

    def curve(self, draws: Draws, rates: Floats, score: Floats) -> Floats:
        """Step function: the rate of the bin that a score falls into, (..., point)."""
        return rates[..., self.problem.cells.find(score)]


@dataclass(frozen=True, slots=True, eq=False)
class Independent(_Bins):
    """A problem whose cells are its bins, under `IndependentBins`."""

    prior: IndependentBins
    variables: ClassVar[tuple[str, ...]] = ("rate",)
    # Above NUTS's own default: Jeffreys' corners at rates near 0 and 1 need small steps.
    target_accept: ClassVar[float] = 0.97

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, and the parameters of the prior."""
        return {
            **self.counts(),
            "alpha": np.asarray(self.prior.rate.alpha),
            "beta": np.asarray(self.prior.rate.beta),
        }

    def add_to_model(self) -> Any:
        """``rate ~ Beta(alpha, beta)``, ``positives ~ Binomial(count, rate)``."""
        import pymc as pm

        from bayescal.inference.graph import add_data

        data = add_data(self.inputs(), _DIMS)
        rate = pm.Beta("rate", data["alpha"], data["beta"], dims="cell")
        pm.Binomial("events", n=data["count"], p=rate, observed=data["positives"], dims="cell")
        return rate

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Independent label rates of the cells before the data, (draw, cell)."""
        size = (draws, self.problem.cells.n_bins)
        return rng.beta(self.prior.rate.alpha, self.prior.rate.beta, size=size)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Conjugate posterior."""
        alpha, beta = self.prior.rate.alpha, self.prior.rate.beta
        count, k = self.counts().values()
        misses = count - k
        rate = rng.beta(alpha + k, beta + misses, size=(draws, len(k)))
        evidence = (betaln(alpha + k, beta + misses) - betaln(alpha, beta)).sum()
        return DirectDraws({"rate": rate}, float(draws), "conjugate", float(evidence))

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Label rates of the cells, (..., cell): the rates themselves."""
        return draws["rate"][..., : self.problem.cells.n_bins]

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Beta density of each rate."""
        alpha, beta = self.prior.rate.alpha, self.prior.rate.beta
        rate = np.clip(draws["rate"], _SMALLEST, None)
        density = xlogy(alpha - 1, rate) + xlog1py(beta - 1, -np.minimum(rate, 1 - 1e-16))
        return {"rate": density - betaln(alpha, beta)}

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of the rates, less its mean before the data, (...)."""
        alpha, beta = self.prior.rate.alpha, self.prior.rate.beta
        log_rate, log_rest = digamma([alpha, beta]) - digamma(alpha + beta)
        mean = (alpha - 1) * log_rate + (beta - 1) * log_rest - betaln(alpha, beta)
        density = self.log_prior(draws)["rate"][..., : self.problem.cells.n_bins]
        return np.asarray((density - mean).sum(axis=-1))


# A rate is drawn to a score of 0 or 1 as to one this near to it, which has a density.
EDGE = 1e-6
_NODES = 2001
# Standard deviations of a prior, and a log density below its peak, beyond which nothing is left.
_REACH = 8.0
_NOTHING = 40.0
_FEW = 100
# Beyond these a rate is 0 or 1, or the score, and products of kappa and scores are no numbers.
_KAPPAS = (1e-290, 1e290)


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchical(_Bins):
    """A problem whose cells are its bins, under `HierarchicalBins`.

    Given kappa the rates are conjugate, so they are integrated out: NUTS sees kappa alone and the
    rates are drawn after it. This is the same posterior without its funnel.
    """

    prior: HierarchicalBins
    variables: ClassVar[tuple[str, ...]] = ("concentration",)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, mean scores, and the parameters of the prior."""
        return {
            **self.counts(),
            # Bins of the padding need a score too; without rows any does.
            "score": np.maximum(pad(self._score(), self.compile_key[-1]), EDGE),
            "mu": np.asarray(self.prior.concentration.mu),
            "sigma": np.asarray(self.prior.concentration.sigma),
        }

    def add_to_model(self) -> Any:
        """``positives ~ BetaBinomial(kappa f, kappa (1 - f), count)``, then the rates."""
        import pymc as pm

        from bayescal.inference.graph import add_data

        data = add_data(self.inputs(), _DIMS)
        count, positives = data["count"], data["positives"]
        kappa = pm.LogNormal("concentration", data["mu"], data["sigma"])
        alpha, beta = kappa * data["score"], kappa * (1 - data["score"])
        pm.BetaBinomial("events", alpha, beta, count, observed=positives, dims="cell")
        return pm.Beta("rate", alpha + positives, beta + (count - positives), dims="cell")

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Rates about the mean scores, for kappa from its prior."""
        prior, score = self.prior.concentration, self._score()
        kappa = np.clip(rng.lognormal(prior.mu, prior.sigma, size=(draws, 1)), *_KAPPAS)
        return rng.beta(kappa * score, kappa * (1 - score))

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Quadrature over log kappa, in even steps across all of the posterior."""
        prior = self.prior.concentration
        nodes = self._nodes()
        step = nodes[1] - nodes[0]
        log_weights = self._log_weights(nodes)
        weights = np.exp(log_weights - log_weights.max())
        ladder = (np.arange(draws) + rng.random()) / draws
        place = np.searchsorted(np.cumsum(weights) / weights.sum(), ladder).clip(0, _NODES - 1)
        standard = nodes[place] + step * (rng.random(draws) - 0.5)
        drawn = np.exp(np.clip(prior.mu + prior.sigma * standard, *np.log(_KAPPAS)))
        evidence = logsumexp(log_weights) + np.log(step) - np.log(2 * np.pi) / 2
        found = {"concentration": rng.permutation(drawn)}
        return DirectDraws(found, float(draws), "quadrature", float(evidence))

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Conjugate draws given kappa."""
        cells, score = self.problem.cells, self._score()
        kappa, misses = draws["concentration"][..., None], cells.count - cells.positives
        return np.asarray(rng.beta(kappa * score + cells.positives, kappa * (1 - score) + misses))

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log-normal density of kappa."""
        prior, log_kappa = self.prior.concentration, np.log(draws["concentration"])
        standard = (log_kappa - prior.mu) / prior.sigma
        constant = np.log(prior.sigma) + np.log(2 * np.pi) / 2
        return {"concentration": -(standard**2) / 2 - constant - log_kappa}

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of kappa, less its mean before the data, (...)."""
        prior, log_kappa = self.prior.concentration, np.log(draws["concentration"])
        standard = (log_kappa - prior.mu) / prior.sigma
        return np.asarray((1 - standard**2) / 2 - (log_kappa - prior.mu))

    def _score(self) -> Floats:
        return np.clip(self.problem.cells.mean_score, EDGE, 1 - EDGE)

    def _nodes(self) -> Floats:
        """Even steps of log kappa, in standard deviations of its prior, over the posterior."""
        prior = self.prior.concentration
        # Below a thousandth of a row the likelihood only falls.
        lowest = (np.log(1e-3) - prior.mu) / prior.sigma
        highest = (self._largest() - prior.mu) / prior.sigma
        span = np.linspace(min(lowest, 0) - _REACH, max(highest, 0) + _REACH, _NODES)
        held = span[:0]
        # Once, unless the posterior is narrower than a step.
        while len(held) < _FEW:
            log_weights = self._log_weights(span)
            held = span[log_weights > log_weights.max() - _NOTHING]
            step = span[1] - span[0]
            span = np.linspace(held[0] - step, held[-1] + step, _NODES)
        return span

    def _log_weights(self, standard: Floats) -> Floats:
        """Log posterior density of log kappa in standard deviations of its prior, unnormalised."""
        prior = self.prior.concentration
        log_kappa = np.clip(prior.mu + prior.sigma * standard, np.log(_KAPPAS[0]), self._largest())
        return self._log_likelihood(np.exp(log_kappa)) - standard**2 / 2

    def _largest(self) -> float:
        """Log kappa, far more rows than a bin has, past which the likelihood is flat."""
        return float(np.log(1e4 * self.problem.cells.count.max()))

    def _log_likelihood(self, kappa: Floats) -> Floats:
        cells, score = self.problem.cells, self._score()
        # Taken before beta is added, which may be too small to be seen beside the count.
        misses = cells.count - cells.positives
        alpha, beta = kappa[:, None] * score, kappa[:, None] * (1 - score)
        posterior = betaln(alpha + cells.positives, beta + misses)
        return np.asarray((posterior - betaln(alpha, beta)).sum(axis=1))


type LabelModel = Smooth | Independent | Hierarchical
"""Label rates of one problem under one prior."""


def label_model(problem: Problem, priors: Priors) -> LabelModel:
    """Join a problem and the one prior of its label rates."""
    match priors.label_rate:
        case CurveAverage():
            raise TypeError("an average has several priors; see Average")
        case SmoothCurve() as prior:
            return Smooth.of(problem, prior)
        case IndependentBins() as prior:
            return Independent(problem, prior)
        case HierarchicalBins() as prior:
            return Hierarchical(problem, prior)


def build_model(
    data: Scores | BinCounts | Counts,
    priors: Priors | None = None,
    *,
    binning: Binning | None = None,
    multiclass: str = "top-label",
    **fields: Unpack[BinningFields],
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores, BinCounts or Counts
        One classifier's scores with labels, or counts.
    priors : Priors, optional
        Priors; `Priors()` if not given.
    binning : Binning, optional
        Bins of the evaluation, in place of those of `Counts`; not used with `BinCounts`.
    multiclass : {"top-label"}, default "top-label"
        How several classes become binary problems.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    pm.Model
        Observed ``events``, data as pm.Data; cells are padded with empty ones. Under an average
        it is the model of the last description that NUTS samples, with the parameters ``z``
        (interior) and ``roughness``: errors come from the draws of all descriptions. Under one
        prior ``events`` have the dim cell, and there are Deterministics ``label_rate`` and ``gap``
        (bin), ``ece``, ``tce`` and ``mce``.

    Raises
    ------
    InputError
        If the data hold more than one binary problem, or, under one prior, rows have weights.

    Notes
    -----
    The model is that of a classifier that is not calibrated; the probability that it is comes from
    comparing its evidence with that of the calibrated alternative, which has no parameters.
    ``gamma`` has no data below it: the cells' masses are Dirichlet(count) whatever the labels.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> sorted(v.name for v in bc.ece.build_model(scores, n_bins=2).free_RVs)
    ['roughness', 'z']
    >>> one = bc.ece.Priors(label_rate=bc.ece.SmoothCurve())
    >>> sorted(v.name for v in bc.ece.build_model(scores, one, n_bins=2).deterministics)
    ['ece', 'gap', 'label_rate', 'mce', 'tce']
    """
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.ece.Priors().")
    check_data(data, (Scores, BinCounts, Counts), "ece", "Scores(y_true=..., y_prob=...)")
    check_choice(multiclass, MULTICLASS, "multiclass")
    bins = Binning.of(binning, **fields)
    rows = in_table(data, bins if binning is not None or fields else None)
    found = problems(rows, priors, bins, multiclass)
    if len(found) > 1:
        raise InputError(
            f"a model is that of one binary problem; got {len(found)}. "
            "Take one classifier with .select(name), and one class with .one_vs_rest(label)."
        )
    if isinstance(priors.label_rate, CurveAverage):
        return Average.of(found[0], priors.label_rate, priors.calibrated).build()
    return model_of(found[0], label_model(found[0], priors))


def model_of(problem: Problem, labels: LabelModel) -> pm.Model:
    """Label rates of cells and their counts, the cells' masses, and the errors of both."""
    _check_whole(problem)
    import pymc as pm

    from bayescal.curves.error_model import add_errors, mass_of_rows

    cells = labels.compile_key[-1]
    coords = {"cell": np.arange(cells), "bin": np.arange(problem.bins.n_bins)}
    with pm.Model(coords=coords) as model:
        rate = labels.add_to_model()
        mass = mass_of_rows(problem, cells)
        add_errors(problem, rate, mass, cells)
    return model


def _check_whole(problem: Problem) -> None:
    """Check that counts are whole: PyMC would cut effective ones down to whole numbers."""
    if problem.cells.weighted:
        raise InputError(
            "the PyMC model must have whole counts of rows; got effective ones of weighted rows. "
            "Pass method='direct'."
        )


def model_of_groups(labels: PooledCurves) -> pm.Model:
    """Label rates of the cells of all groups and their counts; errors are computed from draws."""
    for problem in labels.problems:
        _check_whole(problem)
    import pymc as pm

    _, groups, cells = labels.compile_key
    basis = np.arange(BASIS)
    coords = {"group": np.arange(groups), "cell": np.arange(cells)}
    with pm.Model(coords={**coords, "basis": basis, "basis_": basis}) as model:
        labels.add_to_model()
    return model
