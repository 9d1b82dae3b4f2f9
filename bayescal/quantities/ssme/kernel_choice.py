"""Which way of summing kernels suits the rows at hand."""

from __future__ import annotations

import numpy as np

from bayescal.quantities.ssme.grid_kernel import GridKernel
from bayescal.quantities.ssme.kernel import DenseKernel, Floats, Kernel
from bayescal.quantities.ssme.neighbor_kernel import NeighborKernel

# Kernels of all pairs are kept up to this many numbers (.4 GB), two bandwidths at 5,000 rows.
MOST_PAIRS = 50_000_000


def kernel_of(coords: Floats, widths: Floats, leave_one_out: bool) -> Kernel:
    """Take all pairs of rows while they fit, then a grid or near rows only."""
    pairs = len(coords) ** 2 * (1 + len(np.unique(widths)))
    if pairs <= MOST_PAIRS:
        return DenseKernel(coords, widths, leave_one_out)
    if coords.shape[1] == 1:
        return GridKernel(coords, widths, leave_one_out)
    return NeighborKernel(coords, widths, leave_one_out)
