"""Default model: the labels' probabilities are those of the pooled classifiers, tilted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_softmax, softmax
from scipy.stats import chi2, f, halfnorm, norm

from bayescal.core.quantity import BaseModel, Draws, Floats
from bayescal.curves.cells import pad, padded_size
from bayescal.quantities.ssme import opinion_pool
from bayescal.quantities.ssme.data import EVERY_ROW, Problem, classes_at
from bayescal.quantities.ssme.opinion_pool import UNITS, LogSlope
from bayescal.quantities.ssme.priors import Tilt

LABELS = 32
# Of many labels, doublings would lengthen sampling by more than another size costs to compile.
_STEP = 1024
# Rows on which the mean probability of each class is taken, where one label a class was forced.
ROWS = 256
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
class TiltModel(BaseModel):
    """A problem under `Tilt`; made by `TiltModel.of`."""

    # Heavy tails make the density bend: with longer steps a transition diverges now and then.
    target_accept: ClassVar = 0.99

    problem: Problem
    prior: Tilt
    power: float
    features: Features
    log_slope: LogSlope

    @classmethod
    def of(cls, problem: Problem, prior: Tilt, power: float) -> TiltModel:
        """Compute the features of the rows."""
        return cls(problem, prior, power, *features_of(problem.matrix.probs, prior))

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of classes, classifiers, groups and, padded, labels; and how labels came."""
        matrix = self.problem.matrix
        n = matrix.n_labeled
        labels = min(padded_size(n, LABELS), (n // _STEP + 1) * _STEP)
        forced = self.problem.labeling == "one-per-class"
        return ("tilt", matrix.n_classes, matrix.n_classifiers, len(matrix.groups), labels, forced)

    @property
    def variables(self) -> tuple[str, ...]:
        """Coefficients, and the units and scales that they are products of."""
        units = (f"{name}_unit" for name in (*_SCALED, *self._grouped))
        scales = (f"{name}_scale" for name in self._grouped)
        return (*self.shown, "log_slope_unit", *units, *scales)

    @property
    def shown(self) -> tuple[str, ...]:
        """Variables that a result holds: coefficients."""
        return ("intercept", "log_slope", "slope", "weight", "bend", "own_bend", *self._grouped)

    @property
    def _grouped(self) -> Mapping[str, tuple[str, ...]]:
        # A single one has nothing to deviate from.
        return _GROUPED if len(self.problem.matrix.groups) > 1 else {}

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Features and labels of the labelled rows, scales of the priors, and the power."""
        *_, size, forced = self.compile_key
        rows = self.problem.rows
        found: dict[str, NDArray[Any]] = {
            **self._features_at("label", rows, size),
            "label_power": pad(self.power * self.problem.matrix.label_rows, size),
            "observed_label": pad(self.problem.labels.astype(np.int64), size),
            **{
                f"{name}_prior": np.asarray(_factor(self.prior, name))
                for name in (*_SCALED, *self._grouped)
            },
            "slope_table": self.log_slope.table(),
        }
        if forced:
            # Over these the classes' mean probabilities are taken.
            chosen, weight = _some_of_each_class(self.features.log_pool, self.problem.weight)
            log_weight = np.full(ROWS, -1e6)
            log_weight[: len(chosen)] = np.log(weight / weight.sum())
            found |= self._features_at("row", chosen, ROWS)
            found |= {"row_log_weight": log_weight, "power": np.asarray(self.power)}
        return found

    def _features_at(self, what: str, rows: NDArray[np.intp], size: int) -> dict[str, NDArray[Any]]:
        """Features, and groups, of some rows, padded."""
        matrix, (log_pool, own, bend, own_bend) = self.problem.matrix, self.features
        k, m = matrix.n_classes, matrix.n_classifiers
        found: dict[str, NDArray[Any]] = {
            f"{what}_log_pool": pad(log_pool[rows], size, k),
            f"{what}_own_logs": pad(own[rows], size, k, m),
            f"{what}_bend": pad(bend[rows], size, k),
            f"{what}_own_bend": pad(own_bend[rows], size, k, m),
        }
        if (of_row := matrix.group) is not None and self._grouped:
            found[f"{what}_group"] = pad(of_row[rows].astype(np.int64), size)
        return found

    def add_to_model(self) -> None:
        """``label ~ Categorical(softmax(eta))``, to the power; the forced labels' correction."""
        import pymc as pm

        from bayescal.inference.graph import log_sum_exp

        data = {name: pm.Data(name, value) for name, value in self.inputs().items()}
        coefficients = self._coefficients(data)
        eta = _eta(coefficients, data, "label")
        power_categorical("label", eta, data["label_power"], data["observed_label"])
        if "power" not in data:
            return
        eta = _eta(coefficients, data, "row")
        log_prob = eta - log_sum_exp(eta)[:, None]
        mean = log_sum_exp((log_prob + data["row_log_weight"][:, None]).T)
        pm.Potential("one_per_class", -data["power"] * mean.sum())

    def _coefficients(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Free variables of the model in context, and the coefficients made of them."""
        import pymc as pm

        found: dict[str, Any] = {}
        for name, dims in _SCALED.items():
            unit = student_group(f"{name}_unit", self._lengths(dims), dims)
            value = data[f"{name}_prior"] * unit
            found[name] = (
                value if name == "class_slope" else pm.Deterministic(name, value, dims=dims or None)
            )
        unit = pm.Normal("log_slope_unit")
        common = pm.Deterministic("log_slope", opinion_pool.log_slope_at(unit, data["slope_table"]))
        slope = pm.math.exp(common + found.pop("class_slope"))
        found["slope"] = pm.Deterministic("slope", slope, dims="class")
        for name, dims in self._grouped.items():
            unit = pm.Normal(f"{name}_unit", dims=dims)
            value = data[f"{name}_prior"] * pm.HalfNormal(f"{name}_scale") * unit
            found[name] = pm.Deterministic(name, value, dims=dims)
        return found

    def _lengths(self, dims: tuple[str, ...]) -> tuple[int, ...]:
        matrix = self.problem.matrix
        lengths = {
            "class": matrix.n_classes,
            "classifier": matrix.n_classifiers,
            "group": len(matrix.groups),
        }
        return tuple(lengths[dim] for dim in dims)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Variables before the labels, (draw, ...), without the correction of forced labels."""
        found: dict[str, Floats] = {}
        for name, dims in _SCALED.items():
            unit = draw_student(draws, self._lengths(dims), rng)
            found |= {f"{name}_unit": unit, name: _factor(self.prior, name) * unit}
        unit = found["log_slope_unit"] = rng.standard_normal(draws)
        found["log_slope"] = opinion_pool.log_slope_at(unit, self.log_slope.table())
        found["slope"] = np.exp(found["log_slope"][:, None] + found.pop("class_slope"))
        for name, dims in self._grouped.items():
            shape = self._lengths(dims)
            scale = found[f"{name}_scale"] = np.abs(rng.standard_normal(draws))
            unit = found[f"{name}_unit"] = rng.standard_normal((draws, *shape))
            scale = scale.reshape(draws, *(1 for _ in shape))
            found[name] = _factor(self.prior, name) * scale * unit
        return found

    def label_probs(self, draws: Draws, rows: Any = EVERY_ROW) -> Floats:
        """Softmax of the tilt: probability of each label of some rows, (..., obs, class)."""
        by_class = np.moveaxis(self._eta_at(draws, rows), -1, 0)
        # Class by class: on a short axis NumPy, and SciPy's softmax with it, takes thrice as long.
        by_class -= reduce(np.maximum, by_class)
        odds = np.exp(by_class, out=by_class)
        odds /= reduce(np.add, odds)
        return np.moveaxis(odds, 0, -1)

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of each known label, to the power, (..., label)."""
        rows, labels = self.problem.rows, self.problem.labels
        log_prob = log_softmax(self._eta_at(draws, rows), axis=-1)
        found = log_prob[..., np.arange(len(rows)), labels]
        if self.problem.labeling == "one-per-class":
            chosen, weight = _some_of_each_class(self.features.log_pool, self.problem.weight)
            each = zip(chosen, weight / weight.sum(), strict=True)
            # Row by row: probabilities of all would take several times the memory of the draws.
            mean = sum(share * self.label_probs(draws, [row])[..., 0, :] for row, share in each)
            found -= of_forced(np.log(mean), labels)
        return np.asarray(self.power * self.problem.matrix.label_rows * found)

    def log_scores(self, draws: Draws) -> Draws:
        """Nothing: labels are modelled given the scores."""
        return {}

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Densities of units and scales, together for each coefficient."""
        found = {
            name: student_log_density(draws[f"{name}_unit"], len(dims))
            for name, dims in _SCALED.items()
        }
        found["log_slope"] = norm.logpdf(draws["log_slope_unit"])
        found["slope"] = found.pop("class_slope")
        for name, dims in self._grouped.items():
            unit = norm.logpdf(draws[f"{name}_unit"]).sum(axis=tuple(range(-len(dims), 0)))
            found[name] = halfnorm.logpdf(draws[f"{name}_scale"]) + unit
        return found

    def _eta_at(self, draws: Draws, rows: Any) -> Floats:
        """Logits of some rows, (..., obs, class); class by class in memory, for metrics."""
        log_pool, own, bend, own_bend = (feature[rows] for feature in self.features)
        of_all = [draws["weight"], draws["own_bend"], draws["bend"][..., None]]
        found = []
        for k in range(self.problem.matrix.n_classes):
            of_class = [draws[name][..., [k]] for name in ("slope", "intercept")]
            coefficients = np.concatenate([*of_all, *of_class], axis=-1)
            columns = [own[:, k].T, own_bend[:, k].T, [bend[:, k], log_pool[:, k]]]
            design = np.concatenate([*columns, np.ones((1, len(log_pool)))])
            found.append(coefficients @ design)
        eta = np.stack(found)
        if (of_row := self.problem.matrix.group) is not None and self._grouped:
            group = of_row[rows]
            eta *= np.exp(draws["group_slope"])[..., group]
            eta += np.moveaxis(draws["group_intercept"][..., group, :], -1, 0)
        return np.moveaxis(eta, 0, -1)


def of_forced(log_share: Floats, labels: NDArray[np.int32]) -> Floats:
    """Share a class's log probability, which its forced label takes off, by label, (..., label)."""
    return np.asarray((log_share / np.bincount(labels))[..., labels])


def _some_of_each_class(log_pool: Floats, weight: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Choose rows that stand for all, those of a rare class as often as others; their weights."""
    if len(weight) <= ROWS:
        return np.arange(len(weight)), weight
    # Of random rows none may be of a rare class, whose mean would follow from its intercept alone.
    pool = softmax(log_pool, axis=1)
    often = weight * (pool / np.average(pool, axis=0, weights=weight)).mean(axis=1)
    order = np.lexsort((pool.max(axis=1), pool.argmax(axis=1)))
    share = np.cumsum(often[order]) / often.sum()
    chosen = order[np.searchsorted(share, (np.arange(ROWS) + 0.5) / ROWS)]
    return chosen, weight[chosen] / often[chosen]


def _factor(prior: Tilt, name: str) -> float:
    """The prior's own scale of a coefficient."""
    return float(getattr(prior, _FACTORS.get(name, name)))


def _eta(coefficients: Mapping[str, Any], data: Mapping[str, Any], what: str) -> Any:
    """Logits of the labelled rows, or of the others, in PyTensor, (obs, class)."""
    import pymc as pm

    eta = coefficients["intercept"] + coefficients["slope"] * data[f"{what}_log_pool"]
    eta = eta + _moved(data[f"{what}_own_logs"], coefficients["weight"])
    eta = eta + _moved(data[f"{what}_own_bend"], coefficients["own_bend"])
    eta = eta + coefficients["bend"] * data[f"{what}_bend"]
    if "group_slope" not in coefficients:
        return eta
    group = data[f"{what}_group"]
    steeper = pm.math.exp(coefficients["group_slope"])[group][:, None]
    return eta * steeper + coefficients["group_intercept"][group]


def _moved(features: Any, weight: Any) -> Any:
    """Sum of features of (obs, class, classifier), weighed by classifier."""
    from bayescal.inference.graph import product

    n_obs, n_classes, n_classifiers = features.shape
    rows = features.reshape((n_obs * n_classes, n_classifiers))
    return product(rows, weight).reshape((n_obs, n_classes))


# Where classifiers are alike nothing is left of them: dividing by that would blow rounding up.
_LEAST_SPREAD = 1e-6
_LEAST_OWN_BEND = 1e-3


class Features(NamedTuple):
    """Features of rows, by class."""

    log_pool: Floats  # (obs, class): log of the pooled probability, centred over classes
    own: Floats  # (obs, class, classifier): each classifier's log probabilities, centred
    bend: Floats  # (obs, class): what a regression of the pooled probability on log_pool leaves
    own_bend: Floats  # (obs, class, classifier): the same of each classifier's, on its own too


def features_of(probs: Floats, prior: Tilt) -> tuple[Features, LogSlope]:
    """Compute the features of all rows, and the prior of the log slope that they suggest."""
    # Own log probabilities keep what they share with the opinion pool's: weights that move together
    # steepen or flatten the pool, most where the better classifiers do.
    above_0 = opinion_pool.lifted(probs)
    weights = opinion_pool.agreement_weights(above_0, prior.opinion_pool)
    pool = opinion_pool.pooled(above_0, weights)
    log_pool = _centred(np.log(pool))
    logs = _centred(np.log(above_0))
    own = logs - logs.mean(axis=1, keepdims=True)
    own /= np.maximum(own.std(axis=(1, 2), keepdims=True), _LEAST_SPREAD)
    bend = _residual(pool - 1 / pool.shape[1], log_pool)
    bend /= max(float(bend.std()), _LEAST_SPREAD)
    own_bend = np.stack([_own_bend(p, log, log_pool) for p, log in zip(above_0, logs, strict=True)])
    found = Features(log_pool, np.moveaxis(own, 0, -1), bend, np.moveaxis(own_bend, 0, -1))
    return found, LogSlope.of(prior, above_0, weights)


def _centred(logs: Floats) -> Floats:
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))


def _own_bend(probs: Floats, logs: Floats, base: Floats) -> Floats:
    """Bend of one classifier; 0 where its probabilities follow from their logarithms."""
    left = _residual(probs - 1 / probs.shape[1], base, logs)
    spread = float(left.std())
    return left / spread if spread > _LEAST_OWN_BEND else np.zeros_like(left)


def _residual(values: Floats, *bases: Floats) -> Floats:
    """What a regression through the origin leaves."""
    matrix = np.stack([base.ravel() for base in bases], axis=1)
    found = np.linalg.lstsq(matrix, values.ravel(), rcond=None)[0]
    return np.asarray(values - (matrix @ found).reshape(values.shape))


GROUP_DEGREES = 3.0


def student_group(name: str, shape: tuple[int, ...], dims: tuple[str, ...]) -> Any:
    """Add a vector or a number of Student-t units, whose common scale is integrated out."""
    import pymc as pm

    if not shape:
        return pm.StudentT(name, nu=GROUP_DEGREES)
    how = {"default_transform": _by_normal_units(shape[0])} if shape[0] >= _MANY else {}
    return pm.CustomDist(
        name,
        np.zeros(shape),
        logp=_student_logp,
        random=_student_draw,
        dims=dims,
        signature="(unit)->(unit)",
        **how,
    )


# From so many units on NUTS is slow between the energies of their heavy tails (E-BFMI .31 of 20
# units, .19 of 50), and has them by way of normal ones.
_MANY = 12


def _by_normal_units(size: int) -> Any:
    """Student-t units as normal ones, whose length is stretched from quantiles to quantiles."""
    import pytensor.tensor as pt

    from bayescal.inference.graph import Radial

    # The length of normal units is about normal, of a variance of 1/2.
    length = np.sqrt(size) + UNITS / np.sqrt(2)
    square = length**2
    lower = f.ppf(chi2.cdf(square, size), size, GROUP_DEGREES)
    upper = f.isf(chi2.sf(square, size), size, GROUP_DEGREES)
    log_factor = np.log(size * np.where(square < size, lower, upper) / square) / 2
    table = pt.as_tensor(np.stack([log_factor, np.gradient(log_factor)]))
    return Radial(
        lambda one: opinion_pool.log_slope_at(np.sqrt(2) * (one - np.sqrt(size)), table),
        lambda one: cast(Any, pt).interp(one, length * np.exp(log_factor), log_factor),
    )


def student_log_density(units: Floats, ndim: int) -> Floats:
    """Log density of units whose last `ndim` dims, 0 or 1, are those of the group."""
    square = (units**2).sum(axis=-1) if ndim else units**2
    return np.asarray(
        _student_density(units.shape[-1] if ndim else 1, np.log1p(square / GROUP_DEGREES))
    )


def draw_student(draws: int, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw units, (draw, *shape)."""
    return np.asarray(_student_draw(np.zeros(shape), rng, (draws, *shape)))


def _student_density(size: int, log_distance: Any) -> Any:
    """Log density at a distance."""
    half = (GROUP_DEGREES + size) / 2
    constant = gammaln(half) - gammaln(GROUP_DEGREES / 2) - size / 2 * np.log(GROUP_DEGREES * np.pi)
    return float(constant) - half * log_distance


def _student_logp(value: Any, centre: Any) -> Any:
    import pytensor.tensor as pt

    size = centre.type.shape[-1]
    return _student_density(size, pt.log1p(((value - centre) ** 2).sum() / GROUP_DEGREES))


def _student_draw(centre: Floats, rng: np.random.Generator, size: Any) -> Floats:
    shape = centre.shape if size is None else tuple(size)
    # One scale for each group: all but the last dim of a vector are draws.
    lead = (*shape[:-1], 1) if centre.ndim else shape
    return centre + rng.standard_normal(shape) / np.sqrt(
        rng.chisquare(GROUP_DEGREES, lead) / GROUP_DEGREES
    )


def _power_logp(value: Any, eta: Any, power: Any) -> Any:
    import pytensor.tensor as pt

    from bayescal.inference.graph import log_sum_exp

    classes = pt.arange(eta.shape[1])  # type: ignore[no-untyped-call]  # PyTensor's
    chosen = pt.eq(value[:, None], classes)
    log_prob = (eta * chosen).sum(axis=-1) - log_sum_exp(eta)
    return (power * log_prob).sum()


def _draw_classes(eta: Any, power: Any, rng: np.random.Generator, size: Any) -> Any:
    # The power weighs what labels say of the coefficients; given those, labels come as they are.
    shape = eta.shape[:-1] if size is None else size
    return classes_at(softmax(eta, axis=-1), rng.random(shape))


def power_categorical(name: str, eta: Any, power: Any, observed: Any) -> Any:
    """Observe labels, (label,), whose likelihood is raised to a power."""
    import pymc as pm

    return pm.CustomDist(
        name,
        eta,
        power,
        logp=_power_logp,
        random=_draw_classes,
        observed=observed,
        dtype="int64",
        signature="(label,class),(label)->(label)",
    )
