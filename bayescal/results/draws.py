"""What draws of a posterior must be: numbers, and missing only where there is none."""

from __future__ import annotations

from typing import Final

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import schema

# Without a value in those draws of labels that are all of one class.
_MAY_LACK_DRAWS: Final = ("auc", "auprc")
_NUMBERS: Final = "biuf"


def check_draws(tree: xr.DataTree) -> None:
    """Check the draws of a posterior, which come from a file."""
    for name, draws in tree[schema.POSTERIOR].dataset.data_vars.items():
        if draws.dtype.kind not in _NUMBERS:
            raise InputError(
                f"posterior/{name} must hold numbers; it has the type {draws.dtype}. Fit again."
            )
        if name not in _MAY_LACK_DRAWS and _lacks(draws):
            raise InputError(
                f"posterior/{name} must hold numbers; {int(draws.isnull().sum())} of its "
                f"{draws.size} are NaN. Fit again."
            )


def _lacks(draws: xr.DataArray) -> bool:
    """Whether a number is missing other than in all draws of some classes, bins or descriptions."""
    missing = draws.isnull()
    if not missing.any():
        return False
    of_draws = [dim for dim in schema.DRAW_DIMS if dim in draws.dims]
    never = missing.all(of_draws)
    own = set(draws.dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS}
    return bool((missing.any(of_draws) & ~never).any()) or not own or bool(never.all())
