import math

import pytest

from bayescal.core.errors import InputError
from bayescal.core.priors import check_finite, check_mass, check_positive


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite(value):
    with pytest.raises(InputError, match="mu must be a finite number; got"):
        check_finite(value, "mu")


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_what_is_not_positive(value):
    with pytest.raises(InputError, match="sigma must be a finite number above 0; got"):
        check_positive(value, "sigma")


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 90.0, math.nan])
def test_what_is_no_mass(value):
    with pytest.raises(InputError, match="mass must lie strictly between 0 and 1; got"):
        check_mass(value, "mass")


def test_good_numbers_pass():
    check_finite(-3.0, "mu")
    check_positive(1e-9, "sigma")
    check_mass(0.9, "mass")
