"""What the calibration curve looks like, in a word and in a sentence."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.text import probability

# A jump is told where the curve jumps within so many cells with at least this probability.
_WINDOW: Final = 2
_LIKELY: Final = 0.5
_MOST_JUMPS: Final = 4


class CurveShape(NamedTuple):
    """The most probable description of a calibration curve.

    Parameters
    ----------
    name : str
        "calibrated", "smooth", "rough" or "segments".
    weight : float, in [0, 1]
        Its posterior probability.
    jumps : tuple of float
        Scores near which a curve of segments jumps.
    """

    name: str
    weight: float
    jumps: tuple[float, ...]

    @property
    def sentence(self) -> str:
        """What the curve looks like."""
        near = ", ".join(f"{score:.2g}" for score in self.jumps)
        words = {
            schema.CALIBRATED: "The scores between 0 and 1 look calibrated",
            "smooth": "The calibration curve is smooth",
            "rough": "The calibration curve is rough: one score's rate says little of its "
            "neighbour's",
            "segments": f"The calibration curve jumps near {near}"
            if near
            else "The calibration curve has stretches that are off and others that are not",
        }
        return f"{words[self.name]} (probability {probability(self.weight)})."


def curve_shape(tree: xr.DataTree, case: ResultSlice) -> CurveShape | None:
    """Find the most probable description; None where the result is no average of them."""
    if not access.has_variable(tree, schema.MODEL_AVERAGE, "weight"):
        return None
    weight = access.variable(tree, schema.MODEL_AVERAGE, "weight", case)
    best = int(np.argmax(weight.values))
    name = str(weight[schema.DESCRIPTION].values[best])
    jumps = _jumps(tree, case) if name == "segments" else ()
    return CurveShape(name, float(weight[best]), jumps)


def _jumps(tree: xr.DataTree, case: ResultSlice) -> tuple[float, ...]:
    """Scores near which the curve jumps, the likeliest ones, in order."""
    chance = access.variable(tree, schema.MODEL_AVERAGE, "jump_probability", case).values
    score = access.variable(tree, schema.CONSTANT_DATA, "cell_score", case).values
    near = np.convolve(chance, np.ones(2 * _WINDOW + 1), mode="same")
    found: list[int] = []
    for place in np.argsort(-near, kind="stable"):
        if near[place] < _LIKELY or len(found) == _MOST_JUMPS:
            break
        if all(abs(place - other) > 2 * _WINDOW for other in found):
            found.append(int(place))
    return tuple(_middle(score, chance, place) for place in sorted(found))


def _middle(score: NDArray[np.float64], chance: NDArray[np.float64], place: int) -> float:
    """Mean score of the jumps around a cell."""
    window = slice(max(place - _WINDOW, 0), place + _WINDOW + 1)
    return float(np.average(score[window], weights=chance[window]))
