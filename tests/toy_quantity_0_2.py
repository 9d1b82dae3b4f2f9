"""A quantity as version 0.2 asked for it: `KIND`, and dims that the case names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta as beta_distribution
from scipy.stats import binom

from bayescal import Beta, Scores
from bayescal.core.checks import check_data
from bayescal.core.command import Command, Estimates, Option
from bayescal.core.quantity import (
    Bound,
    CaseArrays,
    DirectDraws,
    Draws,
    Plan,
    Reference,
    bound_values,
    bound_words,
)
from bayescal.core.score_options import FROM_LOGITS, LABEL, POS_LABEL, SCORE, read_labeled

NAME = "accuracy"
TITLE = "Accuracy"
ESTIMAND = "accuracy: the probability that the predicted class is the true one."
KIND = "metrics"
REFERENCES = (
    Reference(
        "hoeffding",
        'W. Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", Journal of '
        "the American Statistical Association 58(301), 1963. https://doi.org/10.2307/2282952",
        "Deviation of a mean, Theorem 1.",
    ),
)


@dataclass(frozen=True, slots=True)
class Priors:
    """Prior of the accuracy.

    Parameters
    ----------
    accuracy : Beta, default Beta(1, 1)
        The same for every classifier.
    """

    accuracy: Beta = field(default_factory=lambda: Beta(1, 1))

    def describe(self) -> str:
        """Say the prior in words."""
        return f"accuracy ~ {self.accuracy.describe()}"

    def to_json(self) -> str:
        """Write the prior as JSON."""
        return json.dumps({"accuracy": asdict(self.accuracy)})

    def alternatives(self) -> dict[str, Priors]:
        """Priors to compare this one with: Jeffreys', and one that expects a good classifier."""
        return {
            "default": self,
            "Jeffreys": Priors(Beta(0.5, 0.5)),
            "optimistic": Priors(Beta(8, 2)),
        }


class Estimate(NamedTuple):
    """The share of correct predictions, (classifier,)."""

    accuracy: np.ndarray


class Bounds(NamedTuple):
    """What theory says of the estimate."""

    deviation: Bound


def estimate(data: Scores) -> Estimate:
    """Share of the labelled rows whose predicted class is the true one."""
    correct, n = _counts(data)
    return Estimate(correct / n)


def bounds(n: int, delta: float = 0.1) -> Bounds:
    """Hoeffding's bound of the deviation of the share of `n` rows from the accuracy."""
    return Bounds(
        Bound(
            float(np.sqrt(np.log(2 / delta) / (2 * n))),
            f"|estimate - accuracy|, with probability {1 - delta:g}",
            "rows are independent",
        )
    )


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
    check_data(data, (Scores,), NAME, "Scores(y_true=..., y_prob=...)")
    correct, n = _counts(data)
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": n,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.is_binary else "top-label",
    }
    return Plan([AccuracyCase(data.classifiers, correct, n, priors)], attrs)


def _counts(data: Scores) -> tuple[np.ndarray, int]:
    """Correct predictions of each classifier, and the number of labelled rows."""
    labeled = data.y_true >= 0
    prob = data.y_prob[:, labeled]
    predicted = prob > 0.5 if data.is_binary else prob.argmax(axis=-1)
    return (predicted == data.y_true[labeled]).sum(axis=1), int(labeled.sum())


def _prior(text: str) -> Priors:
    """Read a prior from a word: flat or jeffreys."""
    return Priors(Beta(0.5, 0.5) if text == "jeffreys" else Beta(1, 1))


def _estimates(data: Scores, given: Mapping[str, Any]) -> Estimates:
    found = estimate(data).accuracy
    rows = [
        {"classifier": name, "accuracy": float(value)}
        for name, value in zip(data.classifiers, found, strict=True)
    ]
    return Estimates(rows, {"classifier": "", "accuracy": "accuracy"})


COMMAND = Command(
    help="Measure the accuracy of the scores in FILE, with its posterior.",
    example="accuracy scores.csv --label y --score forest",
    options=(LABEL, SCORE, POS_LABEL, FROM_LOGITS),
    prior=Option(
        flags=("--prior",),
        default="flat",
        choices=("flat", "jeffreys"),
        help="Prior of the accuracy.",
    ),
    read=read_labeled,
    priors=lambda given, data: _prior(given["prior"]),
    estimates=_estimates,
)
