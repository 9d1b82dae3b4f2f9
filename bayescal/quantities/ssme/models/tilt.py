"""Default model: the labels' probabilities are those of the pooled classifiers, tilted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
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
_SCALED = ("intercept", "weight", "bend")
_GROUPED = ("group_intercept", "group_slope")


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
    def n_groups(self) -> int:
        """Groups; 0 without."""
        return len(self.problem.panel.groups)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of classes, classifiers, groups and, padded, labels; and how labels came."""
        panel = self.problem.panel
        labels = padded_size(panel.n_labeled, LABELS)
        forced = self.problem.labeling == "one-per-class"
        return ("tilt", panel.n_classes, panel.n_classifiers, self.n_groups, labels, forced)

    @property
    def variables(self) -> tuple[str, ...]:
        """Coefficients, and the units and scales that they are products of."""
        return (*self.shown, *(name for parts in self._parts.values() for name in parts))

    @property
    def shown(self) -> tuple[str, ...]:
        """Coefficients."""
        return tuple(self._parts)

    @property
    def _parts(self) -> dict[str, tuple[str, ...]]:
        """What each coefficient is made of."""
        parts: dict[str, tuple[str, ...]]
        parts = {name: (f"{name}_scale", f"{name}_unit") for name in _SCALED}
        parts["slope"] = ("slope_unit", "class_slope_unit")
        if self.n_groups:
            parts |= {name: (f"{name}_scale", f"{name}_unit") for name in _GROUPED}
        return parts

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Features and labels of the labeled rows, scales of the priors, and the power."""
        panel, (log_pool, own, bend) = self.problem.panel, self.features
        *_, size, forced = self.compile_key
        rows, k, m = self.problem.rows, panel.n_classes, panel.n_classifiers
        prior = self.prior
        found: dict[str, NDArray[Any]] = {
            "log_pool": pad(log_pool[rows], size, k),
            "own_logs": pad(own[rows], size, k, m),
            "bend_feature": pad(bend[rows], size, k),
            "label_power": pad(np.full(len(rows), self.power), size),
            "observed_label": pad(self.problem.labels.astype(np.int64), size),
            "intercept_prior": np.asarray(prior.intercept),
            "weight_prior": np.asarray(prior.weight),
            "bend_prior": np.asarray(prior.curvature),
            "slope_prior": np.array([prior.slope_location, prior.slope_scale, prior.class_slope]),
        }
        if self.n_groups:
            assert panel.group is not None
            found["label_group"] = pad(panel.group[rows].astype(np.int64), size)
            found["group_prior"] = np.asarray(prior.group)
        if forced:
            found |= self._rows_of_all(m, k)
        return found

    def _rows_of_all(self, m: int, k: int) -> dict[str, NDArray[Any]]:
        """Features of random rows, over which the classes' mean probabilities are taken."""
        n = self.problem.panel.n_obs
        chosen = np.random.default_rng(_SEED).permutation(n)[:ROWS]
        log_weight = np.log(self.problem.weight[chosen] / self.problem.weight[chosen].sum())
        blank = np.full(ROWS - len(chosen), -np.inf)
        found = {
            "row_log_weight": np.concatenate([log_weight, np.maximum(blank, -1e6)]),
            "row_log_pool": pad(self.features.log_pool[chosen], ROWS, k),
            "row_own_logs": pad(self.features.own[chosen], ROWS, k, m),
            "row_bend": pad(self.features.bend[chosen], ROWS, k),
            "power": np.asarray(self.power),
        }
        if self.n_groups:
            assert self.problem.panel.group is not None
            found["row_group"] = pad(self.problem.panel.group[chosen].astype(np.int64), ROWS)
        return found

    def add_to_model(self) -> None:
        """``label ~ Categorical(softmax(eta))``, to the power; the forced labels' correction."""
        import pymc as pm

        from bayescal.quantities.ssme.models.power_likelihood import power_categorical

        data = {name: pm.Data(name, value) for name, value in self.inputs().items()}
        coefficients = self._coefficients(data)
        group = data.get("label_group")
        eta = _eta(coefficients, data["log_pool"], data["own_logs"], data["bend_feature"], group)
        power_categorical("label", eta, data["label_power"], data["observed_label"])
        if "power" not in data:
            return
        of_rows = (data[name] for name in ("row_log_pool", "row_own_logs", "row_bend"))
        eta = _eta(coefficients, *of_rows, data.get("row_group"))
        log_prob = eta - pm.math.logsumexp(eta, axis=-1, keepdims=True)
        mean = pm.math.logsumexp(log_prob + data["row_log_weight"][:, None], axis=0, keepdims=False)
        pm.Potential("one_per_class", -data["power"] * mean.sum())

    def _coefficients(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Free variables of the model in context, and the coefficients made of them."""
        import pymc as pm

        dims = {"intercept": "class", "weight": "classifier", "bend": None}
        found: dict[str, Any] = {}
        for name in _SCALED:
            scale = pm.math.exp(LOG_SCALE * pm.Normal(f"{name}_scale"))
            unit = pm.Normal(f"{name}_unit", dims=dims[name])
            found[name] = pm.Deterministic(
                name, data[f"{name}_prior"] * scale * unit, dims=dims[name]
            )
        location, slope, class_slope = (data["slope_prior"][place] for place in range(3))
        common = location + slope * pm.StudentT("slope_unit", nu=DEGREES)
        log_slope = common + class_slope * pm.Normal("class_slope_unit", dims="class")
        found["slope"] = pm.Deterministic("slope", pm.math.exp(log_slope), dims="class")
        if self.n_groups:
            by_group = {"group_intercept": ("group", "class"), "group_slope": ("group",)}
            for name in _GROUPED:
                scale = pm.HalfNormal(f"{name}_scale")
                unit = pm.Normal(f"{name}_unit", dims=by_group[name])
                found[name] = pm.Deterministic(
                    name, data["group_prior"] * scale * unit, dims=by_group[name]
                )
        return found

    def direct_draws(self, draws: int, rng: np.random.Generator) -> None:
        """None: coefficients are too many for importance sampling from the prior."""

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws from the priors, without the correction of forced labels."""
        panel, prior = self.problem.panel, self.prior
        k, m, g = panel.n_classes, panel.n_classifiers, self.n_groups
        found: dict[str, Floats] = {}

        def scaled(name: str, factor: float, scale: Floats, *shape: int) -> None:
            unit = rng.standard_normal((draws, *shape))
            found[f"{name}_unit"] = unit
            found[name] = factor * scale.reshape(draws, *(1 for _ in shape)) * unit

        for name, factor, shape in (
            ("intercept", prior.intercept, (k,)),
            ("weight", prior.weight, (m,)),
            ("bend", prior.curvature, ()),
        ):
            found[f"{name}_scale"] = rng.standard_normal(draws)
            scaled(name, factor, np.exp(LOG_SCALE * found[f"{name}_scale"]), *shape)
        found["slope_unit"] = rng.standard_t(DEGREES, draws)
        found["class_slope_unit"] = rng.standard_normal((draws, k))
        common = prior.slope_location + prior.slope_scale * found["slope_unit"]
        found["slope"] = np.exp(common[:, None] + prior.class_slope * found["class_slope_unit"])
        if g:
            for name, sizes in (("group_intercept", (g, k)), ("group_slope", (g,))):
                found[f"{name}_scale"] = np.abs(rng.standard_normal(draws))
                scaled(name, prior.group, found[f"{name}_scale"], *sizes)
        return found

    def label_probs(self, draws: Draws, rows: Any = EVERY_ROW) -> Floats:
        """Softmax of the tilt."""
        return np.asarray(softmax(self._eta_at(draws, rows), axis=-1))

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
        for name in _GROUPED if self.n_groups else ():
            found[name] = halfnorm.logpdf(draws[f"{name}_scale"]) + normal(draws[f"{name}_unit"])
        return found

    def _eta_at(self, draws: Draws, rows: Any) -> Floats:
        """Logits of some rows, (..., obs, class)."""
        log_pool, own, bend = (feature[rows] for feature in self.features)
        moved = np.tensordot(draws["weight"], own, axes=(-1, -1))
        eta = draws["intercept"][..., None, :] + draws["slope"][..., None, :] * log_pool
        eta = eta + moved + draws["bend"][..., None, None] * bend
        if not self.n_groups:
            return np.asarray(eta)
        assert self.problem.panel.group is not None
        group = self.problem.panel.group[rows]
        steeper = np.exp(draws["group_slope"])[..., group][..., None]
        return np.asarray(eta * steeper + draws["group_intercept"][..., group, :])


def _eta(coefficients: Mapping[str, Any], log_pool: Any, own: Any, bend: Any, group: Any) -> Any:
    """Logits of rows in PyTensor, (obs, class)."""
    import pymc as pm

    eta = coefficients["intercept"] + coefficients["slope"] * log_pool
    eta = eta + pm.math.dot(own, coefficients["weight"]) + coefficients["bend"] * bend
    if group is None:
        return eta
    steeper = pm.math.exp(coefficients["group_slope"])[group][:, None]
    return eta * steeper + coefficients["group_intercept"][group]
