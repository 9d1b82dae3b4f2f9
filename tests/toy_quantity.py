"""The smallest quantity: the accuracy of classifiers, by a Beta-binomial model."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from bayescal import Beta, Scores
from bayescal.core import quantity
from bayescal.core.checks import check_data
from bayescal.core.command import (
    FROM_LOGITS,
    LABEL,
    POS_LABEL,
    SCORE,
    Command,
    estimates_of,
    prior_in_words,
    read_labeled,
)
from bayescal.core.quantity import METRIC, MORE, Variable
from bayescal.quantities import base

FLAT, JEFFREYS = Beta(1, 1), Beta(0.5, 0.5)
NAME = "accuracy"
TITLE = "Accuracy"
ESTIMAND = "accuracy: the probability that the predicted class is the true one."
VARIABLES = (Variable("accuracy", "accuracy", role=METRIC, better=MORE, point="accuracy"),)
HOEFFDING = "W. Hoeffding, JASA 58(301), 1963. https://doi.org/10.2307/2282952"
REFERENCES = (quantity.Reference("hoeffding", HOEFFDING, "Deviation of a mean, Theorem 1."),)


@dataclass(frozen=True)
class Priors(base.BasePriors):
    accuracy: Beta = FLAT

    def alternatives(self) -> dict[str, "Priors"]:
        return {"default": self, "Jeffreys": Priors(JEFFREYS), "high": Priors(Beta(8, 2))}


class Estimate(NamedTuple):
    accuracy: np.ndarray


class Bounds(NamedTuple):
    deviation: quantity.Bound


def estimate(data: Scores) -> Estimate:
    return Estimate(_correct(data).mean(axis=1))


def bounds(n: int, delta: float = 0.1) -> Bounds:
    reach = float(np.sqrt(np.log(2 / delta) / (2 * n)))
    words = f"|estimate - accuracy|, with probability {1 - delta:g}"
    return Bounds(quantity.Bound(reach, words, "rows are independent"))


@dataclass(frozen=True)
class BetaBinomial(base.BaseModel):
    k: int
    n: int
    prior: Beta
    variables = ("accuracy",)

    def add_to_model(self) -> None:
        import pymc as pm

        accuracy = pm.Beta("accuracy", self.prior.alpha, self.prior.beta)
        pm.Binomial("correct", self.n, accuracy, observed=self.k)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> quantity.DirectDraws:
        a, b = self.prior.alpha + self.k, self.prior.beta + self.n - self.k
        return quantity.DirectDraws({"accuracy": rng.beta(a, b, draws)}, draws, "conjugate")

    def log_prior(self, draws: Any) -> dict[str, np.ndarray]:
        density = stats.beta(self.prior.alpha, self.prior.beta).logpdf
        return {"accuracy": density(draws["accuracy"])}


@dataclass(frozen=True)
class Case(base.BaseCase):
    coords: dict[str, str]
    model: BetaBinomial

    def answer(self, draws: Any, rng: np.random.Generator) -> dict[str, Any]:
        k, n, prior = self.model.k, self.model.n, self.model.prior
        return {
            "posterior": draws,
            "prior": {"accuracy": rng.beta(prior.alpha, prior.beta, (1, 500))},
            "log_likelihood": {"correct": stats.binom.logpmf(k, n, draws["accuracy"])},
            "observed_data": {"correct": k},
            "point_estimate": {"accuracy": k / n, "n": n},
            "bounds": bounds(n)._asdict(),
        }

    def simulate(self, rng: np.random.Generator) -> tuple["Case", dict[str, float]]:
        n, prior = self.model.n, self.model.prior
        truth = rng.beta(prior.alpha, prior.beta)
        again = BetaBinomial(rng.binomial(n, truth), n, prior)
        return Case(self.coords, again), {"accuracy": truth}


def plan(data: Scores, priors: Priors) -> quantity.Plan:
    check_data(data, (Scores,), NAME, "Scores(y_true=..., y_prob=...)")
    cases = [
        Case({"classifier": name}, BetaBinomial(int(own.sum()), own.size, priors.accuracy))
        for name, own in zip(data.classifiers, _correct(data), strict=True)
    ]
    rows = {"n_obs": data.n_obs, "n_labeled": data.n_labeled}
    return quantity.Plan(cases, {**rows, "classes": [str(label) for label in data.classes]})


def _correct(data: Scores) -> np.ndarray:  # (classifier, obs)
    known = data.y_true >= 0
    return (data.y_prob[:, known] > 0.5) == data.y_true[known]


COMMAND = Command(
    help="Measure the accuracy of the scores in FILE, with its posterior.",
    example="accuracy scores.csv --label y --score forest",
    options=(LABEL, SCORE, POS_LABEL, FROM_LOGITS),
    prior=prior_in_words({"flat": Priors(FLAT), "jeffreys": Priors(JEFFREYS)}),
    read=read_labeled,
    estimates=lambda data, given: estimates_of(data.classifiers, estimate(data)),
)
