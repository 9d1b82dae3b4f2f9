"""Products with data's matrices against NumPy's, interpreted and compiled, and their gradients."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.gradient import verify_grad
from pytensor.graph.replace import vectorize_graph
from scipy.special import logsumexp, softmax

from bayescal.inference.graph import log_sum_exp, product
from tests.interpreted import PLAIN

RNG = np.random.default_rng(4)
MATRIX = RNG.normal(size=(5, 5))
OBLONG = RNG.normal(size=(7, 4))
BLOCKS = RNG.normal(size=(3, 4, 4))
MODES = [PLAIN, pytest.param("NUMBA", marks=pytest.mark.mcmc)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("matrix", "upper"), [(OBLONG, False), (np.triu(MATRIX), True), (MATRIX, False)]
)
def test_a_product_and_its_gradient(matrix, upper, mode):
    x, slope = RNG.normal(size=matrix.shape[1]), RNG.normal(size=matrix.shape[0])
    vector = pt.vector("x")
    found = product(pt.constant(matrix), vector, upper=upper)
    gradient = pytensor.grad((found * slope).sum(), vector)
    values = pytensor.function([vector], [found, gradient], mode=mode)(x)
    np.testing.assert_allclose(values[0], matrix @ x, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(values[1], matrix.T @ slope, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_blocks_go_one_by_one(mode):
    x, slope = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    vectors = pt.matrix("x")
    found = product(pt.constant(BLOCKS), vectors)
    gradient = pytensor.grad((found * slope).sum(), vectors)
    values = pytensor.function([vectors], [found, gradient], mode=mode)(x)
    for block in range(3):
        np.testing.assert_allclose(values[0][block], BLOCKS[block] @ x[block], rtol=1e-13)
        np.testing.assert_allclose(values[1][block], BLOCKS[block].T @ slope[block], rtol=1e-13)


@pytest.mark.parametrize(("matrix", "shape"), [(OBLONG, (4,)), (BLOCKS, (3, 4))])
def test_many_vectors_at_once(matrix, shape):
    many = RNG.normal(size=(6, *shape))
    one, every = pt.tensor("one", shape=shape), pt.tensor("every", shape=(None, *shape))
    found = vectorize_graph(product(pt.constant(matrix), one), {one: every})
    values = found.eval({every: many}, mode=PLAIN)
    for place, vector in enumerate(many):
        expected = np.einsum("...ij,...j->...i", matrix, vector)
        np.testing.assert_allclose(values[place], expected, rtol=1e-13)


def test_second_derivatives_too():
    def curve(x):
        return pytensor.grad(pt.exp(product(pt.constant(OBLONG / 4), x)).sum(), x)

    verify_grad(curve, [RNG.normal(size=4)], rng=RNG, mode=PLAIN)


def test_a_matrix_of_parameters_is_refused():
    x = pt.matrix("x")
    with pytest.raises(Exception, match="it is data"):
        pytensor.function([x], pytensor.grad(product(x, np.ones(2)).sum(), x))


@pytest.mark.parametrize("mode", MODES)
def test_log_of_summed_exponentials_and_its_gradient(mode):
    x, slope = 400 * RNG.normal(size=(5, 3)), RNG.normal(size=5)
    values = pt.matrix("x")
    found = log_sum_exp(values)
    gradient = pytensor.grad((found * slope).sum(), values)
    sums, slopes = pytensor.function([values], [found, gradient], mode=mode)(x)
    np.testing.assert_allclose(sums, logsumexp(x, axis=1), rtol=1e-13)
    expected = slope[:, None] * softmax(x, axis=1)
    np.testing.assert_allclose(slopes, expected, rtol=1e-12, atol=1e-300)
