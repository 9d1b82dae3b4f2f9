"""What the calibration curve of a result looks like."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import xarray as xr

from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.text import in_words, probability, several

# A jump is told where the curve jumps within so many cells with at least this probability.
_WINDOW: Final = 2
_LIKELY: Final = 0.5
_MOST_JUMPS: Final = 4


class CurveShape(NamedTuple):
    """The most probable description of a calibration curve."""

    name: str
    weight: float
    jumps: tuple[float, ...]

    @property
    def words(self) -> str:
        """What the curve looks like."""
        near = several([f"{score:.2g}" for score in self.jumps])
        found = {
            schema.CALIBRATED: "The scores between 0 and 1 look calibrated",
            "smooth": "The calibration curve is smooth",
            "rough": "The calibration curve is rough: one score's rate says little of its "
            "neighbour's",
            "segments": f"The calibration curve jumps near {near}"
            if near
            else "The calibration curve has stretches that are off and others that are not",
        }
        return found[self.name]

    @property
    def sentence(self) -> str:
        """What it looks like, and how probable that is."""
        return f"{self.words} (probability {in_words(probability(self.weight))})."


def curve_shape(tree: xr.DataTree, case: ResultSlice) -> CurveShape | None:
    """Find the most probable description; None where there are none, or no curve."""
    weights = description_weights(tree, case)
    if not weights:
        return None
    name = max(weights, key=lambda one: weights[one])
    return CurveShape(name, weights[name], _jumps(tree, case) if name == "segments" else ())


class BoundaryScore(NamedTuple):
    """Rows whose score is exactly 0 or 1."""

    score: str
    rows: float
    positives: float
    p_calibrated: float


def boundary_scores(tree: xr.DataTree, case: ResultSlice) -> list[BoundaryScore]:
    """Find the scores of exactly 0 and 1 that have rows, with what the posterior says of them."""
    if not access.has_variable(tree, schema.MODEL_AVERAGE, schema.BOUNDARY_CALIBRATED):
        return []
    chance = access.variable(tree, schema.MODEL_AVERAGE, schema.BOUNDARY_CALIBRATED, case).dropna(
        schema.BOUNDARY
    )
    score, rows = access.values(
        tree, schema.CONSTANT_DATA, case, schema.CELL_SCORE, schema.CELL_COUNT
    )
    events = access.cell_events(tree, case).values
    found = []
    for one in chance:
        name = str(one[schema.BOUNDARY].item())
        own = (score == float(name)) & (rows > 0)
        found.append(BoundaryScore(name, rows[own].sum(), events[own].sum(), float(one)))
    return found


def description_weights(tree: xr.DataTree, case: ResultSlice) -> dict[str, float]:
    """Posterior probabilities of the descriptions; {} where there are none, or no curve."""
    if not (
        access.has_variable(tree, schema.MODEL_AVERAGE, schema.WEIGHT) and lies_on_curve(tree, case)
    ):
        return {}
    weight = access.variable(tree, schema.MODEL_AVERAGE, schema.WEIGHT, case)
    if weight.isnull().any():
        return {}
    names = map(str, weight[schema.DESCRIPTION].values)
    return dict(zip(names, map(float, weight.values), strict=True))


def lies_on_curve(tree: xr.DataTree, case: ResultSlice) -> bool:
    """Whether rows have two scores or more between 0 and 1, so that they lie on a curve."""
    held = (schema.CELL_SCORE, schema.CELL_COUNT)
    if not access.has_variable(tree, schema.CONSTANT_DATA, *held):
        return True
    score, count = access.values(tree, schema.CONSTANT_DATA, case, *held)
    return np.unique(score[(count > 0) & (score > 0) & (score < 1)]).size > 1


def _jumps(tree: xr.DataTree, case: ResultSlice) -> tuple[float, ...]:
    """Scores near which the curve jumps, the likeliest ones, in order."""
    held = {schema.MODEL_AVERAGE: schema.JUMP_PROBABILITY, schema.CONSTANT_DATA: schema.CELL_SCORE}
    if not all(access.has_variable(tree, *one) for one in held.items()):
        return ()
    chance, score = (access.variable(tree, *one, case).values for one in held.items())
    near = np.array([chance[_window(place)].sum() for place in range(len(chance))])
    found: list[int] = []
    for place in np.argsort(-near, kind="stable"):
        if near[place] < _LIKELY or len(found) == _MOST_JUMPS:
            break
        if all(abs(place - other) > 2 * _WINDOW for other in found):
            found.append(int(place))
    windows = map(_window, sorted(found))
    return tuple(float(np.average(score[near], weights=chance[near])) for near in windows)


def _window(place: int) -> slice:
    """Cells that are near a cell."""
    return slice(max(place - _WINDOW, 0), place + _WINDOW + 1)
