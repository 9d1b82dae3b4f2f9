"""Tails are stretched on one side and shortened on the other; the middle stays."""

import numpy as np

from bayescal.inference.stretching import stretched, unstretched

AT = np.linspace(-8, 8, 33)


def test_it_is_undone() -> None:
    np.testing.assert_allclose(unstretched(stretched(AT)), AT, atol=1e-12)


def test_the_middle_stays_and_tails_are_long() -> None:
    np.testing.assert_allclose(stretched(AT / 100), AT / 100, rtol=3e-4)
    assert (np.diff(stretched(AT)) > 0).all()
    assert stretched(6.0) > 20
