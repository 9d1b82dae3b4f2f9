"""Default model: the labels' probabilities are those of the pooled classifiers, tilted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from scipy.stats import halfnorm, norm

from bayescal.core.calibration_curve.problem import pad, padded_size
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.models import student_group
from bayescal.quantities.ssme.models.base import EVERY_ROW
from bayescal.quantities.ssme.models.features import Features, features_of
from bayescal.quantities.ssme.models.log_slope import LogSlope, log_slope_at
from bayescal.quantities.ssme.priors import Tilt

LABELS = 32
# Rows on which the mean probability of each class is taken, where one label a class was forced.
ROWS = 256
_SEED = 20
# Coefficients that are a scale of the prior times units of a Student-t, and their dims. Log slopes
# of the classes are deviations from the common one.
_SCALED: Mapping[str, tuple[str, ...]] = {
    "intercept": ("class",),
    "class_slope": ("class",),
    "weight": ("classifier",),
    "bend": (),
    "own_bend": ("classifier",),
}
# Those of groups have a scale to be inferred.
_GROUPED: Mapping[str, tuple[str, ...]] = {
    "group_intercept": ("group", "class"),
    "group_slope": ("group",),
}
_FACTORS = {"bend": "curvature", "own_bend": "own_curvature"} | dict.fromkeys(_GROUPED, "group")


@dataclass(frozen=True, slots=True, eq=False)
class TiltModel:
    """A problem under `Tilt`; made by `TiltModel.of`."""

    # Heavy tails make the density bend: with longer steps a transition diverges now and then.
    target_accept: ClassVar = 0.99
    max_depth: ClassVar = 10

    problem: Problem
    prior: Tilt
    power: float
    features: Features
    log_slope: LogSlope

    @classmethod
    def of(cls, problem: Problem, prior: Tilt, power: float) -> TiltModel:
        """Compute the features of the rows."""
        return cls(problem, prior, power, *features_of(problem.panel.probs, prior))

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
        units = (f"{name}_unit" for name in (*_SCALED, *self._grouped))
        scales = (f"{name}_scale" for name in self._grouped)
        return (*self.shown, "log_slope_unit", *units, *scales)

    @property
    def shown(self) -> tuple[str, ...]:
        """Coefficients."""
        return (
            "intercept",
            "log_slope",
            "slope",
            "weight",
            "bend",
            "own_bend",
            *self._grouped,
        )

    @property
    def _grouped(self) -> Mapping[str, tuple[str, ...]]:
        return _GROUPED if self.problem.panel.groups else {}

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Features and labels of the labeled rows, scales of the priors, and the power."""
        *_, size, forced = self.compile_key
        rows = self.problem.rows
        found: dict[str, NDArray[Any]] = {
            **self._features_at("label", rows, size),
            "label_power": pad(np.full(len(rows), self.power), size),
            "observed_label": pad(self.problem.labels.astype(np.int64), size),
            **{
                f"{name}_prior": np.asarray(_factor(self.prior, name))
                for name in (*_SCALED, *self._grouped)
            },
            "slope_table": self.log_slope.table(),
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
        panel, (log_pool, own, bend, own_bend) = self.problem.panel, self.features
        k, m = panel.n_classes, panel.n_classifiers
        found: dict[str, NDArray[Any]] = {
            f"{what}_log_pool": pad(log_pool[rows], size, k),
            f"{what}_own_logs": pad(own[rows], size, k, m),
            f"{what}_bend": pad(bend[rows], size, k),
            f"{what}_own_bend": pad(own_bend[rows], size, k, m),
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
        for name, dims in _SCALED.items():
            unit = student_group.student_group(f"{name}_unit", self._lengths(dims), dims)
            value = data[f"{name}_prior"] * unit
            found[name] = (
                value if name == "class_slope" else pm.Deterministic(name, value, dims=dims or None)
            )
        unit = pm.Normal("log_slope_unit")
        common = pm.Deterministic("log_slope", log_slope_at(unit, data["slope_table"]))
        slope = pm.math.exp(common + found.pop("class_slope"))
        found["slope"] = pm.Deterministic("slope", slope, dims="class")
        for name, dims in self._grouped.items():
            unit = pm.Normal(f"{name}_unit", dims=dims)
            value = data[f"{name}_prior"] * pm.HalfNormal(f"{name}_scale") * unit
            found[name] = pm.Deterministic(name, value, dims=dims)
        return found

    def _lengths(self, dims: tuple[str, ...]) -> tuple[int, ...]:
        panel = self.problem.panel
        lengths = {
            "class": panel.n_classes,
            "classifier": panel.n_classifiers,
            "group": len(panel.groups),
        }
        return tuple(lengths[dim] for dim in dims)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> None:
        """None: coefficients are too many for importance sampling from the prior."""

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws from the priors, without the correction of forced labels."""
        found: dict[str, Floats] = {}
        for name, dims in _SCALED.items():
            unit = student_group.draw(draws, self._lengths(dims), rng)
            found |= {f"{name}_unit": unit, name: _factor(self.prior, name) * unit}
        unit = found["log_slope_unit"] = rng.standard_normal(draws)
        found["log_slope"] = log_slope_at(unit, self.log_slope.table())
        found["slope"] = np.exp(found["log_slope"][:, None] + found.pop("class_slope"))
        for name, dims in self._grouped.items():
            shape = self._lengths(dims)
            scale = found[f"{name}_scale"] = np.abs(rng.standard_normal(draws))
            unit = found[f"{name}_unit"] = rng.standard_normal((draws, *shape))
            scale = scale.reshape(draws, *(1 for _ in shape))
            found[name] = _factor(self.prior, name) * scale * unit
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
        found = {
            name: student_group.log_density(draws[f"{name}_unit"], len(dims))
            for name, dims in _SCALED.items()
        }
        found["log_slope"] = norm.logpdf(draws["log_slope_unit"])
        found["slope"] = found.pop("class_slope")
        for name, dims in self._grouped.items():
            unit = norm.logpdf(draws[f"{name}_unit"]).sum(axis=tuple(range(-len(dims), 0)))
            found[name] = halfnorm.logpdf(draws[f"{name}_scale"]) + unit
        return found

    def _eta_at(self, draws: Draws, rows: Any) -> Floats:
        """Logits of some rows, (..., obs, class)."""
        log_pool, own, bend, own_bend = (feature[rows] for feature in self.features)
        moved = np.tensordot(draws["weight"], own, axes=(-1, -1))
        moved = moved + np.tensordot(draws["own_bend"], own_bend, axes=(-1, -1))
        eta = draws["intercept"][..., None, :] + draws["slope"][..., None, :] * log_pool
        eta = eta + moved + draws["bend"][..., None, None] * bend
        if self.problem.panel.group is None:
            return np.asarray(eta)
        group = self.problem.panel.group[rows]
        steeper = np.exp(draws["group_slope"])[..., group][..., None]
        return np.asarray(eta * steeper + draws["group_intercept"][..., group, :])


def _factor(prior: Tilt, name: str) -> float:
    """The prior's own scale of a coefficient."""
    return float(getattr(prior, _FACTORS.get(name, name)))


def _eta(coefficients: Mapping[str, Any], data: Mapping[str, Any], what: str) -> Any:
    """Logits of the labeled rows, or of the others, in PyTensor, (obs, class)."""
    import pymc as pm

    eta = coefficients["intercept"] + coefficients["slope"] * data[f"{what}_log_pool"]
    eta = eta + pm.math.dot(data[f"{what}_own_logs"], coefficients["weight"])
    eta = eta + pm.math.dot(data[f"{what}_own_bend"], coefficients["own_bend"])
    eta = eta + coefficients["bend"] * data[f"{what}_bend"]
    if "group_slope" not in coefficients:
        return eta
    group = data[f"{what}_group"]
    steeper = pm.math.exp(coefficients["group_slope"])[group][:, None]
    return eta * steeper + coefficients["group_intercept"][group]
