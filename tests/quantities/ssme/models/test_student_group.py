"""The multivariate Student-t against SciPy's, and its draws against its density."""

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_t, t

from bayescal.quantities.ssme.tilt import GROUP_DEGREES, draw_student, student_log_density


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_density_is_scipys(size):
    units = np.random.default_rng(1).normal(size=(4, 3, size))
    expected = multivariate_t.logpdf(units, shape=np.eye(size), df=GROUP_DEGREES)
    np.testing.assert_allclose(student_log_density(units, 1), np.reshape(expected, (4, 3)))


def test_a_single_unit_is_a_students_t():
    units = np.random.default_rng(1).normal(size=7)
    np.testing.assert_allclose(student_log_density(units, 0), t.logpdf(units, GROUP_DEGREES))


def test_draws_share_their_scale():
    found = draw_student(20_000, (3,), np.random.default_rng(2))
    assert kstest(found[:, 0], t(GROUP_DEGREES).cdf).pvalue > 1e-3
    # Of independent ones the sizes of two would not be correlated: a standard error of .007.
    sizes = np.argsort(np.argsort(np.abs(found), axis=0), axis=0)
    assert np.corrcoef(sizes[:, 0], sizes[:, 1])[0, 1] > 0.1


def test_draws_without_dims_are_independent():
    found = draw_student(20_000, (), np.random.default_rng(3))
    assert kstest(found, t(GROUP_DEGREES).cdf).pvalue > 1e-3
