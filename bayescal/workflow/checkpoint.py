"""Finished cases on disk, so that a run that stops loses none of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal._version import __version__
from bayescal.core.quantity import Case, CaseArrays, Quantity
from bayescal.core.writing import checked_path, replacing, writing_to
from bayescal.workflow.sampling import Settings

_WORDS: Final = ("bounds_attrs", "warnings", "sampler")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A directory of finished cases, each under a name that says what it was computed from."""

    directory: Path
    quantity: Quantity
    recipe: str

    @classmethod
    def at(
        cls, directory: str | Path, quantity: Quantity, priors: Any, settings: Settings
    ) -> Checkpoint:
        """Use a directory."""
        recipe = [__version__, quantity.NAME, priors.to_json(), asdict(settings)]
        path = checked_path(directory, "checkpoint")
        return cls(path, quantity, json.dumps(recipe, sort_keys=True))

    def find(self, case: Case) -> CaseArrays | None:
        """Look up a finished case."""
        path = self._path(case)
        if not path.is_file():
            return None
        try:
            with path.open("rb") as file, np.load(file) as arrays:
                return _unpack(arrays, dict(case.coords))
        except Exception:  # flipped bits make zipfile, NumPy and JSON raise nearly anything
            # Cut off while it was written, or not ours: to be computed again.
            return None

    def keep(self, case: Case, result: CaseArrays) -> None:
        """Write a finished case."""
        path = self._path(case)
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        # netCDF takes longer to write than the case to fit.
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, **_pack(result))

    def _path(self, case: Case) -> Path:
        coords = json.dumps(dict(case.coords), sort_keys=True)
        key = f"{self.recipe}|{coords}|{case.fingerprint()}"
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        return self.directory / f"{self.quantity.NAME}-{name}.npz"


def _pack(result: CaseArrays) -> dict[str, Any]:
    """Arrays by "group/variable"; words as JSON."""
    arrays = {name: np.asarray(json.dumps(getattr(result, name))) for name in _WORDS}
    for group in _groups():
        for name, values in getattr(result, group).items():
            arrays[f"{group}/{name}"] = _without_objects(np.asarray(values))
    return arrays


def _without_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Words as text of fixed width: an array of objects would be pickled, and refused later."""
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def _unpack(arrays: Any, coords: dict[str, str]) -> CaseArrays:
    found: dict[str, Any] = {group: {} for group in _groups()}
    for key in arrays.files:
        if key not in _WORDS:
            group, _, name = key.partition("/")
            found[group][name] = arrays[key]
    for name in _WORDS:
        found[name] = json.loads(str(arrays[name]))
    return CaseArrays(coords=coords, **found)


def _groups() -> list[str]:
    return [field.name for field in fields(CaseArrays) if field.name not in ("coords", *_WORDS)]
