"""One classifier's fit, from its calibration rows to the pieces of a result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.binomial import log_binomial
from bayescal.core.bound import words_of
from bayescal.core.calibration_split import CalibrationSplit
from bayescal.core.room import Pieces
from bayescal.quantities import credal
from bayescal.quantities.credal.bounds import bounds
from bayescal.quantities.credal.doubt import doubts
from bayescal.quantities.credal.estimator import Estimate, estimate
from bayescal.quantities.credal.family import Draws, Exact, Family, Floats, cells_of, family
from bayescal.quantities.credal.imagined import Imagined
from bayescal.quantities.credal.joint import joint, joint_binary
from bayescal.quantities.credal.priors import ImpreciseDirichlet, Priors
from bayescal.quantities.credal.problem import Problem

if TYPE_CHECKING:
    import pymc as pm

PRIOR_DRAWS: Final = 500
LABEL_CLASS: Final = "label_class"
# Both classes of a binary task have a value of their own in this one alone.
_BY_CLASS: Final = "admissible"


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
    rates : Family
        The problem under its prior.
    """

    data: CalibrationSplit
    rows: NDArray[np.intp]
    problem: Problem
    priors: Priors
    rates: Family

    @classmethod
    def of(cls, data: CalibrationSplit, rows: NDArray[np.intp], priors: Priors) -> CredalCase:
        """Count the rows of one classifier."""
        problem = Problem.of(data, rows, cells_of(priors.label_rate))
        return cls(data, rows, problem, priors, family(problem, priors.label_rate))

    def relabelled(self, positives: NDArray[np.int64]) -> CredalCase:
        """Give the cells other numbers of labels."""
        problem = self.problem.relabelled(positives)
        return replace(self, problem=problem, rates=family(problem, self.priors.label_rate))

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
    def structure(self) -> tuple[Any, ...]:
        """What tells its compiled model from others."""
        return self.rates.structure

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables; a binary task has no dim of its one curve."""
        if not self.is_binary:
            return credal.DIMS
        return {
            name: dims if name == _BY_CLASS else tuple(d for d in dims if d != LABEL_CLASS)
            for name, dims in credal.DIMS.items()
        }

    @property
    def variables(self) -> tuple[str, ...]:
        """The model's variables."""
        return self.rates.variables

    @property
    def target_accept(self) -> float:
        """The model's."""
        return self.rates.target_accept

    @property
    def max_depth(self) -> int:
        """The model's."""
        return self.rates.max_depth

    @property
    def curves(self) -> tuple[str, ...]:
        """Names of the labels that the curves are of."""
        classes = self.axes[LABEL_CLASS]
        return classes[1:] if self.is_binary else classes

    @property
    def notes(self) -> Sequence[str]:
        """What is missing in the labels, and whether they fall as the score rises."""
        rising = not isinstance(self.priors.label_rate, ImpreciseDirichlet)
        return doubts(self.problem, self.curves, rising=rising)

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

        return model_of(self.rates, self.curves)

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads."""
        return self.rates.inputs()

    def exact(self, draws: int, rng: np.random.Generator) -> Exact | None:
        """Posterior without NUTS, where there is one."""
        return self.rates.exact(draws, rng)

    def imagined(self, draws: Draws) -> Imagined:
        """Probabilities and bounds of the rows."""
        lead = next(iter(draws.values())).shape[:2]
        flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in draws.items()}
        found = self.rates.imagined(flat, self.problem.target_rank)
        return Imagined._make(part.reshape(*lead, *part.shape[1:]) for part in found)

    def pieces(
        self, draws: Mapping[str, NDArray[Any]], exact: Exact | None, rng: np.random.Generator
    ) -> Pieces:
        """Everything a result holds of this case, but for the sampler's own figures."""
        found = self.imagined(draws)
        before = self.rates.prior_draws(PRIOR_DRAWS, rng)
        prior = self.imagined({name: value[None] for name, value in before.items()})
        told = estimate(self.data)
        theory, words = self._bounds(told)
        return Pieces(
            posterior=self._squeezed({**found._asdict(), **draws}) | self._joint(found),
            prior=self._squeezed(prior._asdict()),
            log_likelihood=self._squeezed({"events": self._log_likelihood(draws)}),
            log_prior=self.rates.log_prior(draws),
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
            diagnostics={
                "importance_ess": np.nan,
                "log_bayes_factor_jump": np.nan,
                "jump_flag": False,
            },
        )

    def _joint(self, found: Imagined) -> dict[str, NDArray[Any]]:
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
        return values, words_of(each[0])

    def _log_likelihood(self, draws: Mapping[str, NDArray[Any]]) -> Floats:
        """Log probability of the labels of each cell."""
        problem = self.problem
        return log_binomial(problem.positives, problem.count, self.rates.cell_prob(draws))

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
    own = credal.DIMS[name]
    return own.index(LABEL_CLASS) - len(own)
