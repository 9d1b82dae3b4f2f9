"""Results written by earlier versions, brought to the present schema.

The only place above the quantities that names one: version 1 did not say of which kind a result is.
"""

from __future__ import annotations

from typing import Final

import xarray as xr

from bayescal.results import schema

_KINDS: Final = {"ece": "errors", "pu_ece": "errors", "ssme": "metrics", "credal": "rows"}
_POINT_LABELS: Final = {"ssme": "SSME-KDE"}
_GROUPS: Final = {"yardsticks": schema.REFERENCE_ESTIMATES, "pairing": schema.ERROR_CORRELATION}
_ONLY_ECE: Final = ("log_bayes_factor_jump", "jump_flag")
_ONLY_WEIGHTED: Final = ("importance_ess",)


def upgrade(tree: xr.DataTree) -> xr.DataTree:
    """Bring a result of schema 1 to the present one; others are left as they are."""
    if tree.attrs.get("schema_version") != 1 or tree.attrs.get("quantity") not in _KINDS:
        return tree
    quantity = str(tree.attrs["quantity"])
    groups = {
        _GROUPS.get(str(name), str(name)): child.to_dataset()
        for name, child in tree.children.items()
    }
    if schema.DIAGNOSTICS in groups:
        surplus = {"ece": (), "pu_ece": _ONLY_ECE}.get(quantity, _ONLY_ECE + _ONLY_WEIGHTED)
        groups[schema.DIAGNOSTICS] = groups[schema.DIAGNOSTICS].drop_vars(surplus, errors="ignore")
    attrs = dict(tree.attrs)
    nuts = str(attrs.get("sampler", "")).startswith("nutpie")
    attrs |= {
        "schema_version": schema.SCHEMA_VERSION,
        schema.RESULT_KIND: _KINDS[quantity],
        "method": "nuts" if nuts else "direct",
    }
    if quantity in _POINT_LABELS:
        attrs[schema.POINT_LABEL] = _POINT_LABELS[quantity]
    if "survives" in attrs:
        attrs["robust"] = attrs.pop("survives")
    found = xr.DataTree.from_dict(groups)
    found.attrs = attrs
    return found
