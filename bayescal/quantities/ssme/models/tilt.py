"""Default model: the labels' probabilities are those of the pooled classifiers, tilted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from scipy.stats import halfnorm, norm, t

from bayescal.core.calibration_curve.problem import pad, padded_size
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.models.base import EVERY_ROW
from bayescal.quantities.ssme.models.features import Features, features_of
from bayescal.quantities.ssme.priors import Tilt

LABELS = 32
# Rows on which the mean probability of each class is taken, where one label a class was forced.
ROWS = 256
# Degrees of freedom of the log slope.
DEGREES = 3.0
# Standard deviation of the logarithm of a scale: the labels can move it by a factor of five.
LOG_SCALE = 0.8
_SEED = 20
# Coefficients that are a scale times a unit: scales log-normal, or half-normal those of groups.
_SCALED = ("intercept", "weight", "bend")
_GROUPED = ("group_intercept", "group_slope")
_DIMS: Mapping[str, tuple[str, ...]] = {
    "intercept": ("class",),
    "weight": ("classifier",),
    "bend": (),
    "group_intercept": ("group", "class"),
    "group_slope": ("group",),
}


@dataclass(frozen=True, slots=True, eq=False)
class TiltModel:
    """A problem under `Tilt`; made by `TiltModel.of`."""

    # Scales times units make the density bend: at 0.9 transitions diverge now and then; 0.98 is too
    # near 1 for the tuning of a default fit, whose chains then may get stuck at tiny steps.
    target_accept: ClassVar = 0.95
    max_depth: ClassVar = 10

    problem: Problem
    prior: Tilt
    power: float
    features: Features

    @classmethod
    def of(cls, problem: Problem, prior: Tilt, power: float) -> TiltModel:
        """Compute the features of the rows."""
        return cls(problem, prior, power, features_of(problem.panel.probs, prior))

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of classes, classifiers, groups and, padded, labels; and how labels came."""
        panel = self.problem.panel
        labels = padded_size(panel.n_labeled, LABELS)
        forced = self.problem.labeling == "one-per-class"
        return ("tilt", panel.n_classes, panel.n_classifiers, len(panel.groups), labels, forced)

    @property
    def variables(self) -> tuple[str, ...]:
        """Coefficients, and the units and scales that they are products of."""
        scaled = [(f"{name}_scale", f"{name}_unit") for name in _SCALED]
        grouped = [(f"{name}_scale", f"{name}_unit") for name in self._grouped]
        parts = (*scaled, ("slope_unit", "class_slope_unit"), *grouped)
        return (*self.shown, *(name for part in parts for name in part))

    @property
    def shown(self) -> tuple[str, ...]:
        """Coefficients."""
        return (*_SCALED, "slope", *self._grouped)

    @property
    def _grouped(self) -> tuple[str, ...]:
        return _GROUPED if self.problem.panel.groups else ()

    @property
    def _factor(self) -> dict[str, float]:
        """The prior's own scale of each coefficient that has a scale and a unit."""
        prior = self.prior
        found = {"intercept": prior.intercept, "weight": prior.weight, "bend": prior.curvature}
        return found | dict.fromkeys(self._grouped, prior.group)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Features and labels of the labeled rows, scales of the priors, and the power."""
        *_, size, forced = self.compile_key
        rows, prior = self.problem.rows, self.prior
        found: dict[str, NDArray[Any]] = {
            **self._features_at("label", rows, size),
            "label_power": pad(np.full(len(rows), self.power), size),
            "observed_label": pad(self.problem.labels.astype(np.int64), size),
            **{f"{name}_prior": np.asarray(value) for name, value in self._factor.items()},
            "slope_prior": np.array([prior.slope_location, prior.slope_scale, prior.class_slope]),
        }
        if forced:
            # Random rows, over which the classes' mean probabilities are taken.
            chosen = np.random.default_rng(_SEED).permutation(self.problem.panel.n_obs)[:ROWS]
            weight = self.problem.weight[chosen]
            log_weight = np.full(ROWS, -1e6)
            log_weight[: len(chosen)] = np.log(weight / weight.sum())
            found |= self._features_at("row", chosen, ROWS)
            found |= {"row_log_weight": log_weight, "power": np.asarray(self.power)}
        return found

    def _features_at(self, what: str, rows: NDArray[np.intp], size: int) -> dict[str, NDArray[Any]]:
        """Features, and groups, of some rows, padded."""
        panel, (log_pool, own, bend) = self.problem.panel, self.features
        k, m = panel.n_classes, panel.n_classifiers
        found: dict[str, NDArray[Any]] = {
            f"{what}_log_pool": pad(log_pool[rows], size, k),
            f"{what}_own_logs": pad(own[rows], size, k, m),
            f"{what}_bend": pad(bend[rows], size, k),
        }
        if panel.group is not None:
            found[f"{what}_group"] = pad(panel.group[rows].astype(np.int64), size)
        return found

    def add_to_model(self) -> None:
        """``label ~ Categorical(softmax(eta))``, to the power; the forced labels' correction."""
        import pymc as pm

        from bayescal.quantities.ssme.models.power_likelihood import power_categorical

        data = {name: pm.Data(name, value) for name, value in self.inputs().items()}
        coefficients = self._coefficients(data)
        eta = _eta(coefficients, data, "label")
        power_categorical("label", eta, data["label_power"], data["observed_label"])
        if "power" not in data:
            return
        eta = _eta(coefficients, data, "row")
        log_prob = eta - pm.math.logsumexp(eta, axis=-1, keepdims=True)
        mean = pm.math.logsumexp(log_prob + data["row_log_weight"][:, None], axis=0, keepdims=False)
        pm.Potential("one_per_class", -data["power"] * mean.sum())

    def _coefficients(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Free variables of the model in context, and the coefficients made of them."""
        import pymc as pm

        found: dict[str, Any] = {}

        def add(name: str, scale: Any) -> None:
            dims = _DIMS[name] or None
            unit = pm.Normal(f"{name}_unit", dims=dims)
            found[name] = pm.Deterministic(name, data[f"{name}_prior"] * scale * unit, dims=dims)

        for name in _SCALED:
            add(name, pm.math.exp(LOG_SCALE * pm.Normal(f"{name}_scale")))
        location, slope, class_slope = (data["slope_prior"][place] for place in range(3))
        common = location + slope * pm.StudentT("slope_unit", nu=DEGREES)
        log_slope = common + class_slope * pm.Normal("class_slope_unit", dims="class")
        found["slope"] = pm.Deterministic("slope", pm.math.exp(log_slope), dims="class")
        for name in self._grouped:
            add(name, pm.HalfNormal(f"{name}_scale"))
        return found

    def direct_draws(self, draws: int, rng: np.random.Generator) -> None:
        """None: coefficients are too many for importance sampling from the prior."""

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws from the priors, without the correction of forced labels."""
        panel, prior = self.problem.panel, self.prior
        lengths = {
            "class": panel.n_classes,
            "classifier": panel.n_classifiers,
            "group": len(panel.groups),
        }
        found: dict[str, Floats] = {}

        def add(name: str, scale: Floats) -> None:
            shape = tuple(lengths[dim] for dim in _DIMS[name])
            unit = found[f"{name}_unit"] = rng.standard_normal((draws, *shape))
            found[name] = self._factor[name] * scale.reshape(draws, *(1 for _ in shape)) * unit

        for name in _SCALED:
            found[f"{name}_scale"] = rng.standard_normal(draws)
            add(name, np.exp(LOG_SCALE * found[f"{name}_scale"]))
        found["slope_unit"] = rng.standard_t(DEGREES, draws)
        found["class_slope_unit"] = rng.standard_normal((draws, panel.n_classes))
        common = prior.slope_location + prior.slope_scale * found["slope_unit"]
        found["slope"] = np.exp(common[:, None] + prior.class_slope * found["class_slope_unit"])
        for name in self._grouped:
            found[f"{name}_scale"] = np.abs(rng.standard_normal(draws))
            add(name, found[f"{name}_scale"])
        return found

    def label_probs(self, draws: Draws, rows: Any = EVERY_ROW) -> Floats:
        """Softmax of the tilt."""
        eta = self._eta_at(draws, rows)
        # Class by class: on a short axis NumPy, and SciPy's softmax with it, takes thrice as long.
        eta -= reduce(np.maximum, np.moveaxis(eta, -1, 0))[..., np.newaxis]
        odds = np.exp(eta, out=eta)
        odds /= (odds @ np.ones(odds.shape[-1]))[..., np.newaxis]
        return odds

    def log_likelihood(self, draws: Draws) -> Floats:
        """Categorical law of the labels, to the power."""
        rows, labels = self.problem.rows, self.problem.labels
        log_prob = log_softmax(self._eta_at(draws, rows), axis=-1)
        return np.asarray(self.power * log_prob[..., np.arange(len(rows)), labels])

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Densities of units and scales, together for each coefficient."""
        lead = draws["slope_unit"].ndim

        def normal(values: Floats) -> Floats:
            return np.asarray(norm.logpdf(values).sum(axis=tuple(range(lead, values.ndim))))

        found = {
            name: norm.logpdf(draws[f"{name}_scale"]) + normal(draws[f"{name}_unit"])
            for name in _SCALED
        }
        found["slope"] = t.logpdf(draws["slope_unit"], DEGREES) + normal(draws["class_slope_unit"])
        for name in self._grouped:
            found[name] = halfnorm.logpdf(draws[f"{name}_scale"]) + normal(draws[f"{name}_unit"])
        return found

    def _eta_at(self, draws: Draws, rows: Any) -> Floats:
        """Logits of some rows, (..., obs, class)."""
        log_pool, own, bend = (feature[rows] for feature in self.features)
        moved = np.tensordot(draws["weight"], own, axes=(-1, -1))
        eta = draws["intercept"][..., None, :] + draws["slope"][..., None, :] * log_pool
        eta = eta + moved + draws["bend"][..., None, None] * bend
        if self.problem.panel.group is None:
            return np.asarray(eta)
        group = self.problem.panel.group[rows]
        steeper = np.exp(draws["group_slope"])[..., group][..., None]
        return np.asarray(eta * steeper + draws["group_intercept"][..., group, :])


def _eta(coefficients: Mapping[str, Any], data: Mapping[str, Any], what: str) -> Any:
    """Logits of the labeled rows, or of the others, in PyTensor, (obs, class)."""
    import pymc as pm

    eta = coefficients["intercept"] + coefficients["slope"] * data[f"{what}_log_pool"]
    eta = eta + pm.math.dot(data[f"{what}_own_logs"], coefficients["weight"])
    eta = eta + coefficients["bend"] * data[f"{what}_bend"]
    if "group_slope" not in coefficients:
        return eta
    group = data[f"{what}_group"]
    steeper = pm.math.exp(coefficients["group_slope"])[group][:, None]
    return eta * steeper + coefficients["group_intercept"][group]
