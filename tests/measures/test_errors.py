"""Sizes, quantiles and directions of the gap: brute force, closed forms and NumPy's quantiles."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.curves import SEEDS, curve, value

ROUNDING = 1e-12


def by_hand(rate, score, mass):
    """Every measure of the gap from its definition, in loops."""
    gap = [r - s for r, s in zip(rate, score, strict=True)]
    parts = [w * g for w, g in zip(mass, gap, strict=True)]
    size = np.abs(gap)
    ends = range(len(parts) + 1)
    quantile = {q: np.quantile(size, q, weights=mass, method="inverted_cdf") for q in (0.5, 0.9)}
    return {
        "tce": sum(map(abs, parts)),
        "ici": sum(map(abs, parts)),
        "emax": max(size),
        "l2": sum(w * g * g for w, g in zip(mass, gap, strict=True)) ** 0.5,
        "eci": 100 * sum(w * g * g for w, g in zip(mass, gap, strict=True)),
        "e50": quantile[0.5],
        "e90": quantile[0.9],
        "over": -sum(part for part in parts if part < 0),
        "under": sum(part for part in parts if part > 0),
        "mean_gap": sum(parts),
        "oe": np.average(rate, weights=mass) / np.average(score, weights=mass),
        "c": max(abs(sum(parts[i:j])) for i, j in combinations(ends, 2)),
        "ks": max(abs(sum(parts[:j])) for j in ends),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_every_measure_of_the_gap_is_its_definition(seed):
    cells = curve(seed)
    for name, expected in by_hand(*cells).items():
        assert value(name, *cells) == pytest.approx(expected, abs=ROUNDING), name


@given(st.integers(0, 10_000))
def test_what_measures_of_one_curve_have_to_do_with_each_other(seed):
    cells = curve(seed)
    of = {name: value(name, *cells) for name in by_hand(*cells)}
    assert of["over"] + of["under"] == pytest.approx(of["tce"], abs=ROUNDING)
    assert of["under"] - of["over"] == pytest.approx(of["mean_gap"], abs=ROUNDING)
    order = ["mean_gap", "ks", "c", "tce", "l2", "emax"]
    assert np.diff([abs(of[name]) for name in order]).min() > -ROUNDING
    assert of["e50"] <= of["e90"] <= of["emax"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_calibrated_curve_has_no_error(seed):
    _, score, mass = curve(seed)
    for name in by_hand(score, score, mass):
        expected = 1 if name == "oe" else 0
        assert value(name, score, score, mass) == pytest.approx(expected, abs=1e-15), name
