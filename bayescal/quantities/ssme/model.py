"""The quantity's PyMC model: the labels that are known, given all classifiers' scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, softmax
from scipy.stats import norm

from bayescal.core.checks import check_is, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import BaseModel, Draws, Floats
from bayescal.core.scores import Scores
from bayescal.curves.cells import pad, padded_size
from bayescal.quantities.ssme.data import EVERY_ROW, Problem, unseen_names, weighted_matrix
from bayescal.quantities.ssme.kde import EPSILON
from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture, Tilt
from bayescal.quantities.ssme.tilt import TiltModel, of_forced, power_categorical

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    data: Scores, priors: Priors | None = None, *, labeling: str = "random"
) -> pm.Model:
    """Build the model of all classifiers at once, unsampled.

    Parameters
    ----------
    data : Scores
        Scores of one or several classifiers; labels may be missing.
    priors : Priors, optional
        Priors; the defaults if not given.
    labeling : {"random", "one-per-class"}, default "random"
        How rows were chosen to be labelled: at random, or one of each class first.

    Returns
    -------
    pm.Model
        Observed ``label`` (label_row), padded; Deterministics ``intercept``, ``slope`` (class),
        ``log_slope``, ``weight``, ``own_bend`` (classifier), ``bend``, and of several groups
        ``group_intercept``, ``group_slope``; data as pm.Data. Metrics are computed from draws of
        these: no gradient touches the rows without label.

    Raises
    ------
    InputError
        If the data are no Scores, the labeling is unknown, or a class has no label with
        ``"one-per-class"``.

    Notes
    -----
    The tilt says that the density of the scores given class k is that of all scores times
    ``exp(eta_k)``, up to a constant: an exponential tilt [1]_. Of randomly labelled rows that
    leaves the probability of the label given the scores, ``softmax(eta)``. With one label a class
    forced, each of those K labels is a draw of the scores given its class, and its likelihood is
    divided by the class's mean probability over all rows (256 of them, of every class alike many
    by the pool, and weighted accordingly): the potential ``one_per_class``.

    References
    ----------
    .. [1] J. A. Anderson, Biometrika 59(1), 1972. https://doi.org/10.1093/biomet/59.1.19

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores.stack({"a": [0.2, 0.9, 0.6], "b": [0.4, 0.7, 0.1]}, y_true=[0, 1, None])
    >>> sorted(v.name for v in bc.ssme.build_model(scores).deterministics)
    ['bend', 'intercept', 'log_slope', 'own_bend', 'slope', 'weight']
    """
    problem = Problem.of(weighted_matrix(data), labeling)
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.ssme.Priors().")
    return model_of(problem, label_model(problem, priors))


def model_of(problem: Problem, labels: LabelModel) -> pm.Model:
    """Build the model of one problem."""
    import pymc as pm

    matrix = problem.matrix
    coords = {
        "class": [str(label) for label in matrix.classes],
        "classifier": list(matrix.classifiers),
    }
    if matrix.groups:
        coords["group"] = list(matrix.groups)
    with pm.Model(coords=coords) as model:
        labels.add_to_model()
    return model


def label_model(problem: Problem, priors: Priors) -> LabelModel:
    """Join a problem and its priors."""
    power = priors.likelihood_power(problem.matrix.effective_labels)
    if isinstance(priors.label, Tilt):
        return TiltModel.of(problem, priors.label, power)
    return MixtureModel.of(problem, priors.label, power)


LABELS = 128
# Rows without label that the likelihood sums over; each stands for several where there are more.
ROWS = 1024
_ROWS_AT_ONCE = 32
_SEED = 20


@dataclass(frozen=True, slots=True, eq=False)
class MixtureModel(BaseModel):
    """A problem under a mixture; made by `MixtureModel.of`."""

    # Above NUTS's default: components narrow and widen.
    target_accept: ClassVar = 0.9

    problem: Problem
    prior: GaussianMixture
    power: float
    score: Floats  # (obs, dim): centred logs of all classifiers, whitened over all rows
    # Class shares, centres and log widths.
    variables: ClassVar[tuple[str, ...]] = ("class_share", "location", "log_width")
    shown: ClassVar[tuple[str, ...]] = variables

    @classmethod
    def of(cls, problem: Problem, prior: GaussianMixture, power: float) -> MixtureModel:
        """Whiten the scores."""
        matrix = problem.matrix
        if matrix.weight is not None:
            raise InputError(
                "a mixture cannot use sample weights; got those of "
                f"{matrix.n_obs} rows. Use Tilt(), or leave these out: scores.without_weight()."
            )
        if bare := unseen_names(problem.labels, matrix.classes):
            raise InputError(
                "a mixture knows components by their labels, so that every class needs one; "
                f"without any: {listing(bare)}. Label a row of each class, or use Tilt."
            )
        logs = np.log(np.clip(matrix.probs, EPSILON, 1 - EPSILON))
        # Centred over classes, which thereby count alike.
        score = _whitened(np.hstack(list(logs - logs.mean(axis=2, keepdims=True))))
        if not score.size:
            raise InputError(
                "a mixture tells classes by their scores, which must differ; got the same in all "
                f"{matrix.n_obs} rows. Check the columns of scores, or use Tilt."
            )
        return cls(problem, prior, power, score)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Kind, numbers of classes and dimensions and, padded, labels; and how labels came."""
        matrix = self.problem.matrix
        labels = padded_size(matrix.n_labeled, LABELS)
        kind, forced = type(self.prior).__name__, self.problem.labeling == "one-per-class"
        return (kind, matrix.n_classes, matrix.n_classifiers, forced, labels, self.score.shape[1])

    @property
    def _degrees(self) -> float | None:
        return self.prior.degrees if isinstance(self.prior, StudentTMixture) else None

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Scores of labelled rows and of some others, labels, and the priors' scales."""
        *_, size, dim = self.compile_key
        rows = self.problem.rows
        others = np.flatnonzero(~self.problem.matrix.labeled)
        chosen = np.random.default_rng(_SEED).permutation(others)[:ROWS]
        # Rows of a small group stand for fewer than those of a large one.
        weight = self.problem.weight[chosen]
        stands_for = weight * (self.problem.weight[others].sum() / max(weight.sum(), 1))
        found = {
            "label_score": pad(self.score[rows], size, dim),
            "label_power": pad(np.full(len(rows), self.power), size),
            "observed_label": pad(self.problem.labels.astype(np.int64), size),
            "row_score": pad(self.score[chosen], ROWS, dim),
            "row_power": pad(self.power * stands_for, ROWS),
            "location_prior": np.asarray(self.prior.location),
            "scale_prior": np.asarray(self.prior.scale),
        }
        if self.problem.labeling == "one-per-class":
            found["power"] = np.asarray(self.power)
        if self._degrees is not None:
            found["degrees"] = np.asarray(self._degrees)
        return found

    def add_to_model(self) -> None:
        """Labelled rows by their class, the others by the sum over classes; forced labels."""
        import pymc as pm
        import pytensor.tensor as pt

        data = {name: pm.Data(name, value) for name, value in self.inputs().items()}
        _, n_classes, _, forced, _, dim = self.compile_key
        share = pm.Dirichlet("class_share", a=np.ones(n_classes), dims="class")
        # By shape: the dims of whitened scores have no names.
        shape = (n_classes, dim)
        location = pm.Normal("location", sigma=data["location_prior"], shape=shape)
        log_width = pm.Normal("log_width", sigma=data["scale_prior"], shape=shape)

        def joint(score: Any) -> Any:
            at = (score[:, None, :] - location) * pt.exp(-log_width)
            if "degrees" in data:
                density = pm.logp(pm.StudentT.dist(nu=data["degrees"]), at)
            else:
                density = pm.logp(pm.Normal.dist(), at)
            return pt.log(share) + (density - log_width).sum(axis=-1)

        # The class given the scores, and the scores: together the joint density of both.
        labeled, unlabeled = joint(data["label_score"]), joint(data["row_score"])
        power_categorical("label", labeled, data["label_power"], data["observed_label"])
        of_labeled = data["label_power"] * pm.math.logsumexp(labeled, axis=-1, keepdims=False)
        of_others = data["row_power"] * pm.math.logsumexp(unlabeled, axis=-1, keepdims=False)
        pm.Potential("scores", of_labeled.sum() + of_others.sum())
        if forced:
            pm.Potential("one_per_class", -data["power"] * pt.log(share).sum())

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Variables before the labels, (draw, ...)."""
        k, dim = self.problem.matrix.n_classes, self.score.shape[1]
        return {
            "class_share": rng.dirichlet(np.ones(k), draws),
            "location": self.prior.location * rng.standard_normal((draws, k, dim)),
            "log_width": self.prior.scale * rng.standard_normal((draws, k, dim)),
        }

    def label_probs(self, draws: Draws, rows: Any = EVERY_ROW) -> Floats:
        """Bayes' rule: probability of each label of some rows, (..., obs, class)."""
        return np.asarray(softmax(self._joint(draws, self.score[rows]), axis=-1))

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of each known label given the scores, to the power, (..., label)."""
        rows, labels = self.problem.rows, self.problem.labels
        joint = self._joint(draws, self.score[rows])
        found = joint[..., np.arange(len(rows)), labels] - logsumexp(joint, axis=-1)
        if self.problem.labeling == "one-per-class":
            found -= of_forced(np.log(draws["class_share"]), labels)
        return np.asarray(self.power * found)

    def log_scores(self, draws: Draws) -> Draws:
        """Log density of the scores, to the power, (...)."""
        given = self.inputs()
        score = np.concatenate([given["label_score"], given["row_score"]])
        power = np.concatenate([given["label_power"], given["row_power"]])
        kept, found = np.flatnonzero(power), np.zeros(draws["class_share"].shape[:-1])
        for rows in np.split(kept, range(_ROWS_AT_ONCE, len(kept), _ROWS_AT_ONCE)):
            found += logsumexp(self._joint(draws, score[rows]), axis=-1) @ power[rows]
        return {"scores": found}

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Densities, summed over classes and dimensions."""
        axes = (-2, -1)
        constant = gammaln(draws["class_share"].shape[-1])
        return {
            "class_share": np.full(draws["class_share"].shape[:-1], constant),
            "location": norm.logpdf(draws["location"], scale=self.prior.location).sum(axis=axes),
            "log_width": norm.logpdf(draws["log_width"], scale=self.prior.scale).sum(axis=axes),
        }

    def _joint(self, draws: Draws, score: Floats) -> Floats:
        """Log density of class and scores, (..., obs, class)."""
        found = np.log(draws["class_share"])[..., None, :]
        for d in range(score.shape[1]):
            # Dimension by dimension: all at once would hold draws x rows x classes x dimensions.
            width = np.exp(draws["log_width"][..., None, :, d])
            at = (score[:, d, None] - draws["location"][..., None, :, d]) / width
            found = found + _log_density(at, self._degrees) - np.log(width)
        return np.asarray(found)


type LabelModel = TiltModel | MixtureModel
"""Labels of one problem under one prior."""


def _log_density(at: Floats, degrees: float | None) -> Floats:
    """Standard normal, or Student-t, without scipy.stats' checks of every number."""
    if degrees is None:
        return np.asarray(-(at**2) / 2 - np.log(2 * np.pi) / 2)
    constant = gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - np.log(np.pi * degrees) / 2
    return np.asarray(constant - (degrees + 1) / 2 * np.log1p(at**2 / degrees))


def _whitened(score: Floats) -> Floats:
    """Uncorrelated coordinates of variance 1; directions without any spread are left out."""
    centred = score - score.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    # Equal scores differ from their mean by rounding.
    kept = size > 1e-8 * max(size.max(), np.sqrt(len(score)))
    return np.asarray(left[:, kept] * np.sqrt(len(score)))
