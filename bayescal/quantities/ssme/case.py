"""All classifiers' fit, from their scores to the pieces of a result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bound import values_of, words_of
from bayescal.core.room import Pieces
from bayescal.quantities import ssme
from bayescal.quantities.ssme.bounds import bounds
from bayescal.quantities.ssme.doubt import doubts
from bayescal.quantities.ssme.evaluate import evaluate
from bayescal.quantities.ssme.family import Draws, Family, Floats, family
from bayescal.quantities.ssme.metrics import Metrics
from bayescal.quantities.ssme.priors import Priors
from bayescal.quantities.ssme.problem import Problem
from bayescal.quantities.ssme.yardsticks import METHODS, point_estimate, yardsticks

if TYPE_CHECKING:
    import pymc as pm

PRIOR_DRAWS = 300


@dataclass(frozen=True, slots=True, eq=False)
class SSMECase:
    """One problem under its priors; made by `SSMECase.of`."""

    problem: Problem
    priors: Priors
    model: Family
    ece: str | None
    keep_labels: bool

    @classmethod
    def of(
        cls, problem: Problem, priors: Priors, ece: str | None = None, keep_labels: bool = False
    ) -> SSMECase:
        """Join a problem and its priors."""
        return cls(problem, priors, family(problem, priors), ece, keep_labels)

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier, where there is only one."""
        names = self.problem.panel.classifiers
        return {"classifier": names[0]} if len(names) == 1 else {}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Classifiers, classes and groups."""
        panel = self.problem.panel
        found = {"label_class": tuple(map(str, panel.classes)), "method": METHODS}
        if panel.n_classifiers > 1:
            found["classifier"] = panel.classifiers
        return found | ({"group": panel.groups} if panel.groups else {})

    @property
    def structure(self) -> tuple[Any, ...]:
        """What tells its compiled model from others."""
        return self.model.structure

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables; those of metrics end with the group, where there are groups."""
        panel = self.problem.panel
        by_group = ("group",) if panel.groups else ()
        found = {
            name: (*dims, *by_group) if _is_metric(name) else dims
            for name, dims in ssme.DIMS.items()
        }
        if panel.n_classifiers > 1:
            return found
        return {name: tuple(d for d in dims if d != "classifier") for name, dims in found.items()}

    @property
    def variables(self) -> tuple[str, ...]:
        """The model's variables."""
        return self.model.variables

    @property
    def target_accept(self) -> float:
        """The model's."""
        return self.model.target_accept

    @property
    def max_depth(self) -> int:
        """The model's."""
        return self.model.max_depth

    @property
    def notes(self) -> Sequence[str]:
        """What is missing in the labels."""
        return doubts(self.problem.panel)

    def fingerprint(self) -> str:
        """Hash of scores, labels, groups and options."""
        panel = self.problem.panel
        digest = hashlib.sha256(repr((panel.classifiers, panel.classes, panel.groups)).encode())
        for array in (panel.probs, panel.y, panel.group, self.problem.weight):
            digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        digest.update(f"{self.problem.labeling} {self.ece} {self.keep_labels}".encode())
        return digest.hexdigest()

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        from bayescal.quantities.ssme.model import model_of

        return model_of(self.problem, self.model)

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads."""
        return self.model.inputs()

    def exact(self, draws: int, rng: np.random.Generator) -> None:
        """No posterior without NUTS."""

    def pieces(self, draws: Draws, exact: None, rng: np.random.Generator) -> Pieces:
        """Everything a result holds of this case, but for the sampler's own figures."""
        found = evaluate(
            self.problem, self.model, draws, rng, ece=self.ece, keep_labels=self.keep_labels
        )
        posterior: dict[str, Any] = {
            **self._squeezed(found.metrics),
            **self._squeezed({name: draws[name] for name in self.model.shown}),
        }
        if found.prob_label is not None:
            posterior["prob_label"] = found.prob_label
        theory = bounds(self.problem.panel.n_labeled, self.problem.panel.n_classifiers)._asdict()
        return Pieces(
            posterior=posterior,
            prior=self._squeezed(self._before(rng)),
            log_likelihood={"label": self.model.log_likelihood(draws)},
            log_prior=self.model.log_prior(draws),
            observed_data={"label": self.problem.labels},
            point_estimate=self._squeezed(point_estimate(self.problem, self.ece)),
            yardsticks=self._squeezed(yardsticks(self.problem, self.ece)),
            bounds=values_of(theory),
            bounds_attrs=words_of(theory),
            diagnostics={
                "importance_ess": np.nan,
                "log_bayes_factor_jump": np.nan,
                "jump_flag": False,
            },
        )

    def quantities(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """Metrics of every draw, (chain, draw, classifier[, group])."""
        return evaluate(self.problem, self.model, draws, rng, ece=self.ece).metrics

    def _before(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Metrics before any label counts."""
        prior = self.model.prior_draws(PRIOR_DRAWS, rng)
        return self.quantities({name: value[None] for name, value in prior.items()}, rng)

    def _squeezed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays without the dim of the classifiers, where there is only one."""
        if self.problem.panel.n_classifiers > 1:
            return dict(values)
        by_group = bool(self.problem.panel.groups)
        place = {"weight": -1} | dict.fromkeys(Metrics._fields, -2 if by_group else -1)
        return {
            name: np.squeeze(value, axis=place[name]) if name in place else value
            for name, value in values.items()
        }


def _is_metric(name: str) -> bool:
    return name.rsplit("/", 1)[-1] in Metrics._fields
