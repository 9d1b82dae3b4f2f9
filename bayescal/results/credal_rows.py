"""Names that plots, report and command line still import; to be removed with those imports."""

from __future__ import annotations

import xarray as xr

from bayescal.results.kind import kind_name, require_kind
from bayescal.results.rows import EVEN, LABEL_CLASS
from bayescal.results.rows import Rows as CredalRows
from bayescal.results.rows import read_rows as credal_rows

__all__ = ["EVEN", "LABEL_CLASS", "CredalRows", "check_credal", "credal_rows", "is_credal"]


def is_credal(tree: xr.DataTree) -> bool:
    """Use `kind_of` instead."""
    return kind_name(tree) == "rows"


def check_credal(tree: xr.DataTree, what: str) -> None:
    """Use `require_kind` instead."""
    require_kind(tree, "rows", what, "Use bayescal.summary instead.")
