"""Quantities written for version 0.2, which named a kind and the dims of each case.

They work in this version, with a `DeprecationWarning`, and will not in the next.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache, wraps
from types import SimpleNamespace
from typing import Any, cast

from bayescal.core.quantity import Plan, Quantity
from bayescal.core.variables import ERROR, METRIC, ROW, Variable
from bayescal.results.io import variables_of_kind


@cache
def adapted(quantity: Any) -> Quantity:
    """A quantity of this contract as it is; one of version 0.2 with variables."""
    if hasattr(quantity, "VARIABLES") or not hasattr(quantity, "KIND"):
        return cast(Quantity, quantity)
    warnings.warn(
        f"{quantity.NAME} is written for bayescal 0.2: replace its KIND, and the dims of its "
        "cases, by VARIABLES. The next version will not read it.",
        DeprecationWarning,
        stacklevel=3,
    )

    @wraps(quantity.plan)
    def plan(*given: Any, **options: Any) -> Plan:
        found: Plan = quantity.plan(*given, **options)
        return found._replace(variables=_variables(quantity.KIND, found.cases[0]))

    names = {name: getattr(quantity, name) for name in dir(quantity) if not name.startswith("__")}
    # Worker processes import it.
    names["__name__"] = getattr(quantity, "__name__", quantity.NAME)
    return SimpleNamespace(**{**names, "plan": plan, "VARIABLES": ()})


def _variables(kind: str, case: Any) -> Sequence[Variable]:
    """What the kind says of the variables, with the dims that the case says."""
    main = variables_of_kind(kind, case.monitored)
    named = {one.name for one in main if one.role in (ERROR, METRIC, ROW)}
    dims = dict(case.dims)
    return [
        *(one._replace(dims=dims.get(one.name, ())) for one in main),
        *(Variable(name, name, own) for name, own in dims.items() if name not in named),
    ]
