"""Which kernel is taken for how many rows."""

import numpy as np
import pytest

from bayescal.quantities.ssme.kde import (
    MOST_PAIRS,
    DenseKernel,
    GridKernel,
    NeighborKernel,
    kernel_of,
)


@pytest.mark.parametrize(
    ("n", "n_coords", "widths", "kind"),
    [
        (60, 1, [0.1, 0.1], DenseKernel),
        (61, 1, [0.1, 0.1], GridKernel),
        (60, 3, [0.1, 0.1], DenseKernel),
        (61, 3, [0.1, 0.1], NeighborKernel),
        # Two bandwidths need two kernel matrices.
        (48, 3, [0.1, 0.2], DenseKernel),
        (49, 3, [0.1, 0.2], NeighborKernel),
    ],
)
def test_choice(monkeypatch, n, n_coords, widths, kind):
    """All pairs while distances and one matrix a bandwidth fit: here 7,200 = 2 x 60^2 numbers."""
    monkeypatch.setattr("bayescal.quantities.ssme.kde.MOST_PAIRS", 7_200)
    coords = np.random.default_rng(1).normal(size=(n, n_coords))
    for leave_one_out in (False, True):
        kernel = kernel_of(coords, np.array(widths), leave_one_out)
        assert isinstance(kernel, kind)
        assert kernel.leave_one_out is leave_one_out


def test_five_thousand_rows_are_the_most_of_one_bandwidth():
    assert MOST_PAIRS == 2 * 5000**2
