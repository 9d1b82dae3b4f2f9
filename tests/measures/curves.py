"""Random calibration curves by cells, with everything that is hard on a measure."""

import numpy as np
from numpy.typing import NDArray

from bayescal.measures import resolve

type Floats = NDArray[np.float64]
type Curve = tuple[Floats, Floats, Floats]

SEEDS = range(6)


def curve(seed: int, *draws: int, ends: bool = True) -> Curve:
    """Rates (*draws, cell), increasing scores, and masses: 0, 1 and tiny ones among them."""
    rng = np.random.default_rng(seed)
    cells = (2, 3, 7, 20, 60, 120)[seed % 6]
    score = np.sort(rng.beta(0.7, 0.9, cells))
    rate = rng.beta(0.6, 0.6, (*draws, cells))
    mass = rng.dirichlet(np.full(cells, 0.3), draws) + 1e-12
    if ends:
        score[[0, -1]] = 0, 1
        rate[..., cells // 3] = 1
        rate[..., cells // 2] = 0
    return rate, score, mass / mass.sum(axis=-1, keepdims=True)


def rows(rate: Floats, score: Floats, mass: Floats) -> Curve:
    """Each cell as a row with the label and one without: labels, scores and weights."""
    label = np.repeat([1.0, 0.0], len(score))
    weight = np.concatenate([mass * rate, mass * (1 - rate)])
    held = weight > 0
    return label[held], np.tile(score, 2)[held], weight[held]


def value(name: str, *cells: Floats) -> Floats:
    """A measure by its name, with options."""
    return np.asarray(resolve(name).function(*cells))
