"""Parts of PyMC models: products, whitened coefficients, counts given the logit.

PyTensor has no types, and Numba finds those of what it compiles: hence what is ignored below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.transforms import Transform
from pytensor.configdefaults import config
from pytensor.gradient import grad, grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import _vectorize_node
from scipy.special import expit, logsumexp

from bayescal.core.errors import OutputError

try:
    _ = config.compiledir
    from pytensor.link.numba.dispatch.basic import numba_njit
    from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key as _by_key
except (OSError, ValueError) as error:
    raise OutputError(
        f"PyTensor cannot keep what it compiles: {str(error).rstrip('.')}. Set the environment "
        "variable PYTENSOR_FLAGS to base_compiledir=DIRECTORY, one that can be written, or pass "
        "method='direct' (bayescal --quick)."
    ) from error

# PyTensor has no types.
_in_numba: Any = _by_key
_no_gradient: Any = grad_not_implemented


def product(matrix: Any, vector: Any, *, upper: bool = False) -> Any:
    """``matrix @ vector``, block by block if there are several; `upper` if zeros are below.

    PyTensor's own products go through BLAS, whose wrappers Numba compiles for half a minute.
    """
    return _Product(False, upper)(matrix, vector)


class _Product(Op):
    """Product of a matrix, or its transpose, with a vector; dimensions before these go along."""

    __props__ = ("transposed", "upper")

    def __init__(self, transposed: bool, upper: bool) -> None:
        self.transposed, self.upper = transposed, upper

    def make_node(self, *inputs: Any) -> Any:
        matrix, vector = map(pt.as_tensor, inputs)
        *lead, rows, columns = matrix.type.shape
        along = lead if vector.ndim == matrix.ndim - 1 else vector.type.shape[:-1]
        shape = (*along, columns if self.transposed else rows)
        return Apply(self, [matrix, vector], [pt.tensor(dtype="float64", shape=shape)])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        matrix, vector = inputs
        turned = np.swapaxes(matrix, -1, -2) if self.transposed else matrix
        if matrix.ndim == 2:
            outputs[0][0] = np.asarray(vector @ turned.T)
        else:
            outputs[0][0] = (turned @ vector[..., None])[..., 0]

    def pullback(self, inputs: Any, outputs: Any, slopes: Any) -> list[Any]:
        matrix, _ = inputs
        back = _Product(not self.transposed, self.upper)
        return [_no_gradient(self, 0, matrix, "it is data"), back(matrix, slopes[0])]

    L_op = pullback  # type: ignore[assignment]  # its older name


@_vectorize_node.register(_Product)
def _vectorized(op: Any, node: Any, *inputs: Any) -> Any:
    return op.make_node(*inputs)


@_in_numba(_Product)  # type: ignore[untyped-decorator]  # no types there
def _compiled(op: _Product, node: Any, **_: Any) -> Any:
    upper, transposed = op.upper, op.transposed

    # Loops that begin at 0, over contiguous lines, are those that the compiler vectorises.
    @numba_njit
    def forward(matrix, vector, found):  # type: ignore[no-untyped-def]  # Numba infers types
        for row in range(matrix.shape[0]):
            first = row if upper else 0
            line, part = matrix[row, first:], vector[first:]
            total = 0.0
            for column in range(len(line)):
                total += line[column] * part[column]
            found[row] = total

    @numba_njit
    def backward(matrix, vector, found):  # type: ignore[no-untyped-def]  # Numba infers types
        found[:] = 0
        for row in range(matrix.shape[0]):
            first, factor = row if upper else 0, vector[row]
            line, part = matrix[row, first:], found[first:]
            for column in range(len(line)):
                part[column] += line[column] * factor

    fill = backward if transposed else forward
    length = -1 if transposed else -2

    @numba_njit
    def of_one(matrix, vector):  # type: ignore[no-untyped-def]  # Numba infers types
        found = np.empty(matrix.shape[length])
        fill(matrix, vector, found)
        return found

    @numba_njit
    def of_each(matrix, vector):  # type: ignore[no-untyped-def]  # Numba infers types
        found = np.empty((matrix.shape[0], matrix.shape[length]))
        for place in range(matrix.shape[0]):
            fill(matrix[place], vector[place], found[place])
        return found

    # The number is part of the name under which the code is kept on disk: another for other code.
    return (of_one, 12) if node.inputs[0].ndim == 2 else (of_each, 13)


def log_sum_exp(values: Any) -> Any:
    """Log of the sum of exponentials; Numba needs eight seconds for the gradient of PyTensor's."""
    return _LogSumExp()(values)


class _LogSumExp(Op):
    """Log of the sum of exponentials along the last axis."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Any:
        (values,) = map(pt.as_tensor, inputs)
        return Apply(self, [values], [pt.tensor(dtype="float64", shape=values.type.shape[:-1])])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = np.asarray(logsumexp(inputs[0], axis=-1))

    def pullback(self, inputs: Any, outputs: Any, slopes: Any) -> list[Any]:
        return [slopes[0][..., None] * pt.exp(inputs[0] - outputs[0][..., None])]

    L_op = pullback  # type: ignore[assignment]  # its older name


_vectorize_node.register(_LogSumExp)(_vectorized)


@_in_numba(_LogSumExp)  # type: ignore[untyped-decorator]  # no types there
def _compiled_sum(op: _LogSumExp, node: Any, **_: Any) -> Any:
    if node.inputs[0].ndim != 2:
        raise NotImplementedError("rows of a matrix only")  # the models sum no other

    @numba_njit
    def log_sums(values):  # type: ignore[no-untyped-def]  # Numba infers types
        found = np.empty(values.shape[0])
        for row in range(values.shape[0]):
            largest = -np.inf
            for column in range(values.shape[1]):
                largest = max(largest, values[row, column])
            total = 0.0
            for column in range(values.shape[1]):
                total += np.exp(values[row, column] - largest)
            found[row] = largest + np.log(total)
        return found

    return log_sums, 1


class _OfVectors(Transform):  # type: ignore[misc]  # PyMC has no types
    """A transform of vectors."""

    ndim_supp = 1


class Radial(_OfVectors):
    """Vectors as others, ``value``, times the exponential of a function of their length.

    `log_factor` is that function, `log_divisor` about its value by the length of the product.
    """

    name = "radial"

    def __init__(self, log_factor: Callable[[Any], Any], log_divisor: Callable[[Any], Any]) -> None:
        self.log_factor, self.log_divisor = log_factor, log_divisor

    def forward(self, value: Any, *_: Any) -> Any:
        """To the coordinates that are sampled."""
        return value * pt.exp(-self.log_divisor(_length(value)))

    def backward(self, value: Any, *_: Any) -> Any:
        """From them."""
        return value * pt.exp(self.log_factor(_length(value)))

    def log_jac_det(self, value: Any, *_: Any) -> Any:
        """Log of the determinant of the Jacobian of `backward`."""
        length = _length(value)
        log_factor = self.log_factor(length)
        # A scale in all directions, and along the vector what the scale changes by beside it.
        along = (value**2).sum() / length * grad(log_factor, length)
        return value.shape[0] * log_factor + pt.log1p(along)


def _length(vector: Any) -> Any:
    # A vector of 0 has no direction in which its length rises.
    return pt.sqrt((vector**2).sum() + 1e-12)


class _Whitening(_OfVectors):
    """Coefficients as ``mean + scale * (root @ value)``, the distribution's own parameters."""

    name = "whitened"

    # PyMC passes the inputs of the variable; the distribution's parameters are the last of them.
    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, scale, root = inputs[-3:]
        return pt.linalg.solve_triangular(root, (value - mean) / scale, lower=False)

    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, scale, root = inputs[-3:]
        return mean + scale * product(root, value, upper=True)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        _, scale, root = inputs[-3:]
        return pt.log(scale).sum() + pt.log(pt.abs(root.diagonal())).sum()


class _Blended(_Whitening):
    """As `_Whitening`, by a root between two: these, and the share of the second."""

    name = "blended"

    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, scale, low, high, share = inputs[-5:]
        return super().forward(value, mean, scale, low + share * (high - low))

    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, scale, low, high, share = inputs[-5:]
        near, far = (product(root, value, upper=True) for root in (low, high))
        return mean + scale * (near + share * (far - near))

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        _, scale, low, high, share = inputs[-5:]
        diagonal = low.diagonal() + share * (high - low).diagonal()
        return pt.log(scale).sum() + pt.log(pt.abs(diagonal)).sum()


class Knots(NamedTuple):
    """Where numbers lie between knots, (knot,), of which the first so many count."""

    knots: Any
    intervals: Any

    def place(self, value: Any) -> tuple[Any, Any]:
        """Knot to the left, and the share of the way from it to the next, from 0 to 1."""
        left = pt.minimum((self.knots[1:] < value).sum(), self.intervals - 1).astype("int64")
        width = self.knots[left + 1] - self.knots[left]
        return left, pt.clip((value - self.knots[left]) / width, 0, 1)


class _Stretching(_OfVectors):
    """A rising function of one number: rational quadratic between knots, linear beyond."""

    name = "stretched"

    def forward(self, value: Any, *inputs: Any) -> Any:
        # Near enough for where chains begin.
        standard, knots, _, intervals = inputs[-4:]
        left, part = Knots(knots, intervals[0]).place(value[0])
        return pt.stack([standard[left] + part * (standard[left + 1] - standard[left])])

    def backward(self, value: Any, *inputs: Any) -> Any:
        return pt.stack([self._at(value[0], *inputs[-4:])[0]])

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return pt.log(self._at(value[0], *inputs[-4:])[1])

    def _at(self, value: Any, standard: Any, knots: Any, slopes: Any, intervals: Any) -> Any:
        """Function and derivative."""
        left, t = Knots(standard, intervals[0]).place(value)
        low, high, rise = slopes[left], slopes[left + 1], knots[left + 1] - knots[left]
        width, both = standard[left + 1] - standard[left], t * (1 - t)
        mean = rise / width
        below = mean + (low + high - 2 * mean) * both
        inside = knots[left] + rise * (mean * t**2 + low * both) / below
        slope = mean**2 * (high * t**2 + 2 * mean * both + low * (1 - t) ** 2) / below**2
        return inside + slope * (value - standard[left] - t * width), slope


class _BlockWhitening(_OfVectors):
    """``value = mean + root @ standard``, block by block."""

    name = "whitened"
    ndim_supp = 2

    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, root = self._of(*inputs)
        return pt.linalg.solve_triangular(root, value - mean, lower=False, b_ndim=1)

    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, root = self._of(*inputs)
        return mean + product(root, value, upper=True)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        root = self._of(*inputs)[1]
        return pt.log(pt.abs(root.diagonal(axis1=-2, axis2=-1))).sum()

    def _of(self, *inputs: Any) -> Any:
        """Mean and root."""
        return inputs[-2:]


class _GroupedWhitening(_BlockWhitening):
    """The same, where means are ``group_centre - link (common - centre)``."""

    def _of(self, *inputs: Any) -> Any:
        common, centre, group_centre, root, link = inputs[-5:]
        groups, size = group_centre.shape
        moved = product(link.reshape((groups * size, size)), common - centre)
        return group_centre - moved.reshape((groups, size)), root


def _log_density(value: Any, *parameters: Any) -> Any:
    return -(value**2 + math.log(2 * math.pi)).sum() / 2


def _draw(mean: Any, *parameters: Any, rng: np.random.Generator, size: Any) -> Any:
    return rng.standard_normal((*(size or ()), mean.shape[-1]))


def _sampled_by(
    transform: _OfVectors,
    signature: str,
    name: str,
    *parameters: Any,
    dims: Any = None,
    logp: Callable[..., Any] = _log_density,
    random: Callable[..., Any] = _draw,
) -> Any:
    """Add variables, Normal(0, 1) if not said otherwise, sampled in coordinates of a transform."""
    return pm.CustomDist(
        name,
        *parameters,
        logp=logp,
        random=random,
        signature=signature,
        default_transform=transform,
        dims=dims,
    )


def whitened_normal(
    name: str, mean: Any, root: Any, dims: str | None = None, scale: Any = None
) -> Any:
    """Add independent Normal(0, 1) variables, sampled as ``mean + scale * (root @ value)``.

    With 1e8 rows the posterior of a curve's coefficients is a needle in 30 dimensions, with 100
    rows nearly the prior; in these coordinates both are close to standard normal.
    """
    scale = mean * 0 + 1 if scale is None else scale
    return _sampled_by(_Whitening(), "(p),(p),(p,p)->(p)", name, mean, scale, root, dims=dims)


def blended_normal(
    name: str, mean: Any, roots: tuple[Any, Any, Any], dims: str | None = None, scale: Any = None
) -> Any:
    """Add variables as `whitened_normal` does, by a root between two: these, and a share."""
    scale = mean * 0 + 1 if scale is None else scale
    signature = "(p),(p),(p,p),(p,p),()->(p)"
    return _sampled_by(_Blended(), signature, name, mean, scale, *roots, dims=dims)


def stretched_normal(name: str, standard: Any, knots: Any, slopes: Any, intervals: Any) -> Any:
    """Add a Normal(0, 1) variable, (1,), sampled through a rising function of a standard value.

    The function has values `knots` and slopes at `standard`, (knot,), and the first so many
    `intervals` between these.
    """
    parameters = (pt.zeros(1), standard, knots, slopes, pt.stack([intervals]))
    return _sampled_by(_Stretching(), "(p),(k),(k),(k),(e)->(p)", name, *parameters)


def _line_density(value: Any, steep: Any, steepness: Any, *parameters: Any) -> Any:
    """Log density of standard normals of which the first two may be wider together."""
    odds = pt.log(steep) - pt.log1p(-steep) - 2 * pt.log(steepness)
    wider = (1 - steepness**-2) * (value[:2] ** 2).sum() / 2
    return _log_density(value) + pt.log1p(-steep) + pt.softplus(odds + wider)


def _draw_line(
    steep: Any, steepness: Any, mean: Any, *parameters: Any, rng: np.random.Generator, size: Any
) -> Any:
    found = _draw(mean, rng=rng, size=size)
    wide = rng.random((*found.shape[:-1], 1)) < steep
    found[..., :2] *= np.where(wide, steepness, 1)
    return found


def whitened_line(
    name: str, line: tuple[Any, Any], mean: Any, root: Any, dims: str | None = None
) -> Any:
    """Add variables as `whitened_normal` does, but for the first two, intercept and slope.

    With a probability both are so many times as wide: `line` holds these two numbers.
    """
    parameters, signature = (*line, mean, mean * 0 + 1, root), "(),(),(p),(p),(p,p)->(p)"
    how: dict[str, Any] = {"logp": _line_density, "random": _draw_line}
    return _sampled_by(_Whitening(), signature, name, *parameters, dims=dims, **how)


def _draw_blocks(mean: Any, root: Any, rng: np.random.Generator, size: Any) -> Any:
    return rng.standard_normal((*(size or ()), *mean.shape[-2:]))


def whitened_blocks(name: str, mean: Any, root: Any, dims: tuple[str, str]) -> Any:
    """Add independent Normal(0, 1) variables in blocks, each sampled where its posterior is."""
    by, signature = _BlockWhitening(), "(g,b),(g,b,b)->(g,b)"
    return _sampled_by(by, signature, name, mean, root, dims=dims, random=_draw_blocks)


class _Conditional(_OfVectors):
    """Variables as ``centre + width * value``, both given the shared mean and spread."""

    name = "conditional"

    # PyMC passes the inputs of the variable; the distribution's parameters are the last of them.
    def forward(self, value: Any, *inputs: Any) -> Any:
        centre, width = _conditional(*inputs[-4:])
        return (value - centre) / width

    def backward(self, value: Any, *inputs: Any) -> Any:
        centre, width = _conditional(*inputs[-4:])
        return centre + width * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return pt.log(_conditional(*inputs[-4:])[1]).sum()


def _conditional(mu: Any, tau: Any, pull: Any, precision: Any) -> tuple[Any, Any]:
    """Mean and standard deviation given mu and tau, if the likelihoods were normal."""
    variance = 1 / (precision + tau**-2)
    return variance * (pull + mu * tau**-2), pt.sqrt(variance)


def _log_pooled(value: Any, mu: Any, tau: Any, pull: Any, precision: Any) -> Any:
    apart = (value - mu) / tau
    return (-(apart**2) / 2 - pt.log(tau) - math.log(2 * math.pi) / 2).sum()


def _log_density_of_deviations(value: Any, scale: Any, *_: Any) -> Any:
    standard = value / scale
    return -(standard**2 + math.log(2 * math.pi)).sum() / 2 - value.shape[0] * pt.log(scale).sum()


def _draw_deviations(scale: Any, *inputs: Any, rng: np.random.Generator, size: Any) -> Any:
    group_centre = inputs[-3]
    return rng.normal(0, scale[..., None, :], (*(size or ()), *group_centre.shape[-2:]))


def whitened_deviations(scale: Any, *inputs: Any) -> Any:
    """Add independent Normal(0, scale) ``deviation`` of each group, (group, basis).

    `inputs` are common coefficients and what `_GroupedWhitening` has after these.
    """
    by, signature = _GroupedWhitening(), "(b),(b),(b),(g,b),(g,b,b),(g,b,b)->(g,b)"
    how: dict[str, Any] = {"logp": _log_density_of_deviations, "random": _draw_deviations}
    return _sampled_by(by, signature, "deviation", scale, *inputs, dims=("group", "basis"), **how)


def _draw_pooled(
    mu: Any, tau: Any, pull: Any, precision: Any, rng: np.random.Generator, size: Any
) -> Any:
    return rng.normal(mu, tau, (*(size or ()), pull.shape[-1]))


def pooled_normal(name: str, mu: Any, tau: Any, pull: Any, precision: Any, dims: str) -> Any:
    """Add Normal(mu, tau) variables with likelihoods about ``exp(pull t - precision t**2 / 2)``.

    They are sampled in coordinates of their posterior given mu and tau. Neither the centred nor the
    non-centred parametrisation serves every variable: the first fails where the likelihood says
    little beside the prior, the second where it says much.
    """
    by, signature = _Conditional(), "(),(),(k),(k)->(k)"
    how: dict[str, Any] = {"logp": _log_pooled, "random": _draw_pooled}
    return _sampled_by(by, signature, name, mu, tau, pull, precision, dims=dims, **how)


def _log_binomial(value: Any, count: Any, logit_p: Any, log_coefficient: Any) -> Any:
    return log_coefficient + value * logit_p - count * pt.softplus(logit_p)


def _draw_counts(
    count: Any, logit_p: Any, log_coefficient: Any, rng: np.random.Generator, size: Any
) -> Any:
    return rng.binomial(count, expit(logit_p), size=size)


def logit_binomial(
    name: str, count: Any, logit_p: Any, log_coefficient: Any, observed: Any, dims: Any
) -> Any:
    """Observe binomial counts, (cell,), without ``pm.Binomial``'s three log-gammas a gradient."""
    return pm.CustomDist(
        name,
        count,
        logit_p,
        log_coefficient,
        logp=_log_binomial,
        random=_draw_counts,
        observed=observed,
        dims=dims,
        # Of weighted rows, counts are effective numbers.
        dtype=count.dtype,
    )


def add_data(inputs: Mapping[str, Any], dims: Mapping[str, Any]) -> dict[str, Any]:
    """Add data to the model in context, with dims by name."""
    return {name: pm.Data(name, values, dims=dims.get(name)) for name, values in inputs.items()}


def observe_counts(data: Mapping[str, Any], logit: Any, dims: Any) -> Any:
    """Observe ``events``, counts of labels in a model's data; return their rates."""
    count, positives = data["count"], data["positives"]
    logit_binomial("events", count, logit, data["log_coefficient"], positives, dims)
    return pm.math.sigmoid(logit)
