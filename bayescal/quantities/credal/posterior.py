"""One classifier's fit, from its calibration rows to the pieces of a result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.binomial import log_binomial
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, bound_words
from bayescal.quantities.credal.bounds import bounds
from bayescal.quantities.credal.calibration_split import CalibrationSplit
from bayescal.quantities.credal.data import Problem, data_warnings
from bayescal.quantities.credal.estimator import Estimate, estimate
from bayescal.quantities.credal.models.base import LabelModel, cells_of, label_model
from bayescal.quantities.credal.models.pseudo_observations import PseudoObservations
from bayescal.quantities.credal.priors import ImpreciseDirichlet, Priors
from bayescal.quantities.credal.sets.decide_per_draw import joint, joint_binary

if TYPE_CHECKING:
    import pymc as pm

PRIOR_DRAWS: Final = 500
LABEL_CLASS: Final = "label_class"
# Both classes of a binary task have a value of their own in this one alone.
_BY_CLASS: Final = "admissible"


DIMS: Mapping[str, tuple[str, ...]] = {
    "prob": ("obs", "label_class"),
    "prob_lower": ("obs", "label_class"),
    "prob_upper": ("obs", "label_class"),
    "p0": ("obs", "label_class"),
    "p1": ("obs", "label_class"),
    "improper": ("obs",),
    "proper": ("obs",),
    "decision": ("obs",),
    "admissible": ("obs", "label_class"),
    "intercept": ("label_class",),
    "weight": ("label_class", "spline"),
    "increment": ("label_class", "step"),
    "rate": ("label_class", "cell"),
    "events": ("label_class", "cell"),
    "cell_count": ("label_class", "cell"),
    "cell_rank": ("label_class", "cell"),
    "cell_score": ("label_class", "cell"),
    "target_score": ("obs", "label_class"),
    "target_row": ("obs",),
    "selected_gap": ("label_class",),
    "prevalence_lower": ("label_class",),
    "prevalence_upper": ("label_class",),
    "merged_regret": ("label_class",),
    "least_width": ("label_class",),
    "log_prior/intercept": (),
    "log_prior/weight": (),
    "log_prior/increment": (),
    "log_prior/rate": (),
}
MONITORED = ("prob",)


@dataclass(frozen=True, slots=True, eq=False)
class CredalCase:
    """One classifier under its priors; made by `CredalCase.of`.

    Attributes
    ----------
    data : CalibrationSplit
        Of this classifier.
    rows : ndarray of shape (obs,), int
        Target rows that the result holds draws of.
    problem : Problem
        Counts and ranks.
    priors : Priors
        Priors.
    rates : LabelModel
        The problem under its prior.
    """

    data: CalibrationSplit
    rows: NDArray[np.intp]
    problem: Problem
    priors: Priors
    model: LabelModel

    @classmethod
    def of(cls, data: CalibrationSplit, rows: NDArray[np.intp], priors: Priors) -> CredalCase:
        """Count the rows of one classifier."""
        problem = Problem.of(data, rows, cells_of(priors.label_rate))
        return cls(data, rows, problem, priors, label_model(problem, priors.label_rate))

    def relabelled(self, positives: NDArray[np.int64]) -> CredalCase:
        """Give the cells other numbers of labels."""
        problem = self.problem.relabelled(positives)
        return replace(self, problem=problem, model=label_model(problem, self.priors.label_rate))

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier."""
        return {"classifier": self.data.calibration.classifiers[0]}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Classes."""
        return {LABEL_CLASS: tuple(map(str, self.data.calibration.classes))}

    @property
    def is_binary(self) -> bool:
        """Whether one curve serves both classes."""
        return self.problem.n_curves == 1

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables; a binary task has no dim of its one curve."""
        if not self.is_binary:
            return DIMS
        return {
            name: dims if name == _BY_CLASS else tuple(d for d in dims if d != LABEL_CLASS)
            for name, dims in DIMS.items()
        }

    @property
    def curves(self) -> tuple[str, ...]:
        """Names of the labels that the curves are of."""
        classes = self.axes[LABEL_CLASS]
        return classes[1:] if self.is_binary else classes

    @property
    def monitored(self) -> tuple[str, ...]:
        """Variables that must have converged."""
        return MONITORED

    @property
    def evidence_draws(self) -> int:
        """None: there is no alternative to weigh."""
        return 0

    @property
    def warnings(self) -> Sequence[str]:
        """What is missing in the labels, and whether they fall as the score rises."""
        rising = not isinstance(self.priors.label_rate, ImpreciseDirichlet)
        return data_warnings(self.problem, self.curves, rising=rising)

    def fingerprint(self) -> str:
        """Hash of both parts' scores and labels, and of the labels' counts."""
        digest = hashlib.sha256(repr((self.coords, self.axes)).encode())
        digest.update(self.problem.positives.tobytes())
        for part in (self.data.calibration, self.data.target):
            for array in (part.y_prob, part.y_true):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        from bayescal.quantities.credal.model import model_of

        return model_of(self.model, self.curves)

    def with_pseudo_observations(self, draws: Draws) -> PseudoObservations:
        """Probabilities and bounds of the rows."""
        lead = next(iter(draws.values())).shape[:2]
        flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in draws.items()}
        found = self.model.with_pseudo_observations(flat, self.problem.target_rank)
        return PseudoObservations._make(part.reshape(*lead, *part.shape[1:]) for part in found)

    def arrays(
        self,
        draws: Mapping[str, NDArray[Any]],
        direct: DirectDraws | None,
        rng: np.random.Generator,
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        found = self.with_pseudo_observations(draws)
        before = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self.with_pseudo_observations({name: value[None] for name, value in before.items()})
        told = estimate(self.data)
        theory, words = self._bounds(told)
        return CaseArrays(
            coords=self.coords,
            posterior=self._squeezed({**found._asdict(), **draws}) | self._joint(found),
            prior=self._squeezed(prior._asdict()),
            log_likelihood=self._squeezed({"events": self._log_likelihood(draws)}),
            log_prior=self.model.log_prior(draws),
            observed_data=self._squeezed({"events": self.problem.positives}),
            constant_data={
                **self._squeezed(
                    {
                        "cell_count": self.problem.count,
                        "cell_rank": self.problem.place,
                        "cell_score": self._cell_score(),
                        "target_score": self._target_score(),
                    }
                ),
                "target_row": self.rows,
            },
            point_estimate=self._point_estimate(told),
            bounds=theory,
            bounds_attrs=words,
        )

    def simulate(self, rng: np.random.Generator) -> tuple[CredalCase, dict[str, Floats]]:
        """Draw curves from the prior and labels from the model, for the same scores.

        Notes
        -----
        Classes are simulated apart, as they are modelled: their labels need not fit together.
        """
        drawn = self.model.prior_draws(1, rng)
        draws = {name: value[None] for name, value in drawn.items()}
        positives = rng.binomial(self.problem.count, self.model.cell_prob(drawn)[0])
        prob = self.with_pseudo_observations(draws).prob[0, 0]
        values = {name: value[0] for name, value in drawn.items()}
        return self.relabelled(positives), {"prob": prob, **values}

    def _joint(self, found: PseudoObservations) -> dict[str, NDArray[Any]]:
        """Decisions under the bounds of each draw; of several classes, whether sets are proper."""
        if self.is_binary:
            told = joint_binary(found.prob_lower[..., 0], found.prob_upper[..., 0])
            return {"decision": told.decision, "admissible": told.admissible}
        return joint(found.prob_lower, found.prob_upper)._asdict()

    def _point_estimate(self, told: Estimate) -> dict[str, Any]:
        """The paper's estimates of the rows held, and the share of improper ones of all."""
        few = Estimate._make(value[self.rows] for value in told)._asdict()
        return few | {
            "n": self.data.n_calibration,
            "improper_share": float(told.improper.mean()),
        }

    def _bounds(self, told: Estimate) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
        """Theory's bounds of each class, and their words."""
        n = self.data.n_calibration
        pairs = [(told.p0, told.p1)] if self.is_binary else zip(told.p0.T, told.p1.T, strict=True)
        each = [bounds(p0, p1, n)._asdict() for p0, p1 in pairs]
        values = {name: np.array([one[name].value for one in each]) for name in each[0]}
        if self.is_binary:
            values = {name: value[0] for name, value in values.items()}
        return values, bound_words(each[0])

    def _log_likelihood(self, draws: Mapping[str, NDArray[Any]]) -> Floats:
        """Log probability of the labels of each cell."""
        problem = self.problem
        return log_binomial(problem.positives, problem.count, self.model.cell_prob(draws))

    def _cell_score(self) -> Floats:
        """Score at the mean rank of each cell."""
        rows = zip(self.problem.ranks, self.problem.place, strict=True)
        return np.stack([np.interp(place, ranks.rank, ranks.score) for ranks, place in rows])

    def _target_score(self) -> NDArray[np.floating]:
        score = self.data.target.y_prob[0][self.rows]
        return np.asarray(score[:, None] if score.ndim == 1 else score)

    def _squeezed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays without the dim of the curves, where there is only one."""
        if not self.is_binary:
            return dict(values)
        return {
            name: np.squeeze(value, axis=_axis(name, np.ndim(value)))
            for name, value in values.items()
        }


def _axis(name: str, ndim: int) -> int:
    """Where a variable has the dim of the curves: last, or before its own last dim."""
    own = DIMS[name]
    return own.index(LABEL_CLASS) - len(own)
