"""A quantity as version 0.2 asked for it: `KIND`, and dims that the case names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta as beta_distribution
from scipy.stats import binom
from toy_quantity import COMMAND, ESTIMAND, NAME, REFERENCES, TITLE, Priors, bounds, estimate

from bayescal import Beta, Scores
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Plan, bound_values, bound_words

__all__ = ["COMMAND", "ESTIMAND", "NAME", "REFERENCES", "TITLE", "Priors", "bounds", "estimate"]
KIND = "metrics"


@dataclass(frozen=True, slots=True, eq=False)
class BetaBinomial:
    """``correct ~ Binomial(n, accuracy)`` with ``accuracy ~ Beta(alpha, beta)``."""

    correct: np.ndarray
    n: int
    prior: Beta
    variables: tuple[str, ...] = ("accuracy",)
    target_accept: float = 0.8
    max_depth: int = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of classifiers."""
        return ("beta-binomial", len(self.correct))

    def inputs(self) -> dict[str, np.ndarray]:
        """Counts, and the parameters of the prior."""
        values = {"n": self.n, "alpha": self.prior.alpha, "beta": self.prior.beta}
        return {"correct": self.correct, **{key: np.asarray(v) for key, v in values.items()}}

    def add_to_model(self) -> None:
        """Add the accuracy and the observed counts."""
        import pymc as pm

        data = {name: pm.Data(name, value) for name, value in self.inputs().items()}
        shape = len(self.correct)
        accuracy = pm.Beta("accuracy", data["alpha"], data["beta"], shape=shape)
        pm.Binomial("events", data["n"], accuracy, observed=data["correct"])

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Conjugate posterior."""
        a, b = self.prior.alpha + self.correct, self.prior.beta + self.n - self.correct
        return DirectDraws({"accuracy": rng.beta(a, b, (draws, len(a)))}, draws, "conjugate")

    def log_prior(self, draws: Draws) -> Draws:
        """Beta density of each accuracy."""
        density = beta_distribution.logpdf(draws["accuracy"], self.prior.alpha, self.prior.beta)
        return {"accuracy": density}


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyCase:
    """All classifiers at once."""

    classifiers: tuple[str, ...]
    correct: np.ndarray
    n: int
    priors: Priors
    monitored: tuple[str, ...] = ("accuracy",)
    warnings: tuple[str, ...] = ()
    evidence_draws: int = 0

    @property
    def model(self) -> BetaBinomial:
        """What is sampled."""
        return BetaBinomial(self.correct, self.n, self.priors.accuracy)

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier, where there is only one."""
        return {"classifier": self.classifiers[0]} if len(self.classifiers) == 1 else {}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The classifiers, where there are several."""
        return {} if self.coords else {"classifier": self.classifiers}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables."""
        own = ("classifier",) if self.axes else ()
        return {"accuracy": own, "events": own}

    def fingerprint(self) -> str:
        """Hash of the counts."""
        said = repr((self.classifiers, self.correct.tolist(), self.n))
        return hashlib.sha256(said.encode()).hexdigest()

    def build_model(self) -> Any:
        """Build the PyMC model, unsampled."""
        import pymc as pm

        with pm.Model(coords={"classifier": list(self.classifiers)}) as model:
            self.model.add_to_model()
        return model

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything that a result holds."""
        accuracy = draws["accuracy"]
        prior = rng.beta(self.priors.accuracy.alpha, self.priors.accuracy.beta, (1, 500, 1))
        theory = bounds(self.n)._asdict()
        return CaseArrays(
            coords=self.coords,
            posterior={"accuracy": self._squeezed(accuracy)},
            prior={"accuracy": self._squeezed(prior * np.ones(len(self.correct)))},
            log_likelihood={"events": self._squeezed(binom.logpmf(self.correct, self.n, accuracy))},
            log_prior={"accuracy": self._squeezed(self.model.log_prior(draws)["accuracy"])},
            posterior_predictive={"events": self._squeezed(rng.binomial(self.n, accuracy))},
            observed_data={"events": self._squeezed(self.correct)},
            point_estimate={"accuracy": self._squeezed(self.correct / self.n), "n": self.n},
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
        )

    def simulate(self, rng: np.random.Generator) -> tuple[AccuracyCase, dict[str, np.ndarray]]:
        """Draw accuracies from the prior, and counts given them."""
        prior = self.priors.accuracy
        accuracy = rng.beta(prior.alpha, prior.beta, len(self.correct))
        correct = rng.binomial(self.n, accuracy)
        case = AccuracyCase(self.classifiers, correct, self.n, self.priors)
        return case, {"accuracy": self._squeezed(accuracy)}

    def _squeezed(self, values: np.ndarray) -> np.ndarray:
        return values if self.axes else values[..., 0]


def build_model(data: Scores, priors: Priors | None = None) -> Any:
    """Build the PyMC model, unsampled."""
    return plan(data, priors or Priors()).cases[0].build_model()


def plan(data: Scores, priors: Priors) -> Plan:
    """Plan the one fit of all classifiers."""
    known = data.y_true >= 0
    correct = ((data.y_prob[:, known] > 0.5) == data.y_true[known]).sum(axis=1)
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary",
    }
    return Plan([AccuracyCase(data.classifiers, correct, data.n_labeled, priors)], attrs)
