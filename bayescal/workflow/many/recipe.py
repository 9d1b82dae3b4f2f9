"""What a fit was computed from, and how two such recipes differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bayescal._version import __version__
from bayescal.core.quantity import Quantity
from bayescal.workflow.many.fingerprint import fingerprint
from bayescal.workflow.sampling import Settings

_PLAIN = (str, int, float, type(None))


@dataclass(frozen=True, slots=True)
class Common:
    """What all fits of one call share."""

    quantity: Quantity
    priors: Any
    settings: Settings
    options: dict[str, Any]
    keep: str

    def recipe(self, data: Any) -> dict[str, Any]:
        """What the fit to these data depends on, as JSON holds it."""
        options = {name: _plain(value) for name, value in sorted(self.options.items())}
        return {
            "version": __version__,
            "quantity": self.quantity.NAME,
            "data": fingerprint(data),
            "priors": json.loads(self.priors.to_json()),
            "options": options,
            "keep": self.keep,
            **asdict(self.settings),
        }


def _plain(value: Any) -> Any:
    """An option as it is, where a reader can see what it is; its hash otherwise."""
    return value if isinstance(value, _PLAIN) else fingerprint(value)


def difference(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say in which respects a stored fit is another one; "" where it is the one wanted."""
    names = [name for name in {**wanted, **stored} if stored.get(name) != wanted.get(name)]
    return ", ".join(_of(name, stored.get(name), wanted.get(name)) for name in names)


def _of(name: str, stored: Any, wanted: Any) -> str:
    if name in ("data", "priors", "options"):
        return f"other {name}"
    return f"{name} {stored!r} instead of {wanted!r}"
