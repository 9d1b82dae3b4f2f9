"""Measures by name: entry points, options, what is said of each, and PyTensor's numbers."""

import importlib
import sys
from collections.abc import MutableMapping

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.measures import Measure, measures, resolve
from tests.interpreted import PLAIN
from tests.measures.curves import curve

PLUG_IN = """
from bayescal.measures import Measure
median = Measure("median_score", "median score", lambda rate, score, mass: rate[..., 0])
"""


def named():
    """Every measure, with a threshold where it needs one."""
    return {
        name: resolve(name, **({"threshold": 0.4} if "threshold" in one.options else {}))
        for name, one in measures().items()
    }


@pytest.mark.parametrize("name", measures())
def test_what_is_said_of_a_measure(name):
    one = measures()[name]
    assert one.name == name
    assert one.meaning.endswith(".")
    assert "http" in one.reference
    assert one.components in ("all", "miscalibrated", "rows")
    assert one.better in ("less", "more", None)


@pytest.mark.parametrize("name", named())
def test_values_have_the_shape_of_the_draws(name):
    cells = curve(3, 2, 3, ends=False)
    assert np.shape(named()[name].function(*cells)) == (2, 3)


def test_pytensor_gives_the_same_numbers():
    pytensor = importlib.import_module("pytensor")
    # Smoothing looks for its bandwidth draw by draw.
    symbolic = {name: one.function for name, one in named().items() if name != "smece"}
    inputs = [pytensor.tensor.matrix(), pytensor.tensor.vector(), pytensor.tensor.matrix()]
    outputs = [function(*inputs) for function in symbolic.values()]
    cells = curve(3, 4, ends=False)
    found = pytensor.function(inputs, outputs, mode=PLAIN)(*cells)
    for (name, function), values in zip(symbolic.items(), found, strict=True):
        np.testing.assert_allclose(values, function(*cells), atol=1e-10, err_msg=name)


def test_an_entry_point_adds_a_measure(tmp_path, monkeypatch):
    (tmp_path / "other_package.py").write_text(PLUG_IN)
    about = tmp_path / "other_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[bayescal.measures]\nmedian = other_package:median\n")
    monkeypatch.syspath_prepend(tmp_path)
    measures.cache_clear()
    try:
        assert resolve("median_score").title == "median score"
    finally:
        measures.cache_clear()
        sys.modules.pop("other_package", None)


def test_all_measures_are_for_reading():
    assert not isinstance(measures(), MutableMapping)


@pytest.mark.parametrize(
    ("spec", "options", "name", "at"),
    [
        ("e90", {}, "e90", None),
        ("net_benefit:.25", {}, "net_benefit:0.25", 0.25),
        ("net_benefit", {"threshold": 0.25}, "net_benefit:0.25", 0.25),
        ("cost:0.2,1,5", {}, "cost:0.2,1,5", 0.2),
        ("cost", {"false_negative": 5}, "cost:0.5,1,5", 0.5),
        (measures()["tce"], {}, "tce", None),
    ],
)
def test_a_measure_is_found_with_its_options(spec, options, name, at):
    one = resolve(spec, **options)
    assert one.name == name
    assert at is None or one.function.keywords["threshold"] == at
    assert resolve(one.name).name == name


def test_a_function_is_a_measure():
    def share(rate, score, mass):
        return (mass * rate).sum(axis=-1)

    one = resolve(share)
    assert isinstance(one, Measure)
    assert (one.name, one.function, one.components) == ("share", share, "all")


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("e9", {}, "e90"),
        ("net_benefit", {}, "needs a threshold"),
        ("net_benefit:2", {}, r"threshold must be a number in \(0, 1\)"),
        ("net_benefit:a", {}, "must be numbers"),
        ("net_benefit:.1,.2", {}, "must be given as net_benefit:threshold"),
        ("e90:.5", {}, "must be given as e90"),
        ("e90", {"threshold": 0.5}, "no option 'threshold'"),
        ("cost:.5,-1", {}, "false_positive must be"),
        ("cost:.5,1", {"threshold": 0.4}, "must be set once; 'cost:.5,1' sets 'threshold', and"),
        (abs, {"threshold": 0.5}, "takes no options"),
    ],
)
def test_what_is_no_measure_is_refused(spec, options, message):
    with pytest.raises(InputError, match=message):
        resolve(spec, **options)
