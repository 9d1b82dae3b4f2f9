"""Estimates that a posterior is read beside."""

from dataclasses import replace

import numpy as np
import pytest

from bayescal.quantities.ssme.estimator import estimate, estimate_by_group
from bayescal.quantities.ssme.metrics import Metrics, metrics
from bayescal.quantities.ssme.posterior import (
    METHODS,
    point_estimate,
    reference_estimates,
)
from tests.quantities.ssme.problems import grouped, many_classes, problem


def mean_and_labels(panel):
    """The mean score, and known labels where there are."""
    mean = panel.probs.mean(axis=0)
    mean[panel.labeled] = np.eye(panel.n_classes)[panel.y[panel.labeled]]
    return mean


@pytest.mark.parametrize("make", [problem, many_classes])
def test_ensemble_and_labels_alone(make):
    made = make(n=80)
    panel = made.panel
    found = reference_estimates(made, None)
    of_ensemble = metrics(panel.probs, mean_and_labels(panel))
    known = metrics(panel.probs[:, made.rows], np.eye(panel.n_classes)[made.labels])
    assert METHODS == ("ensemble", "labeled")
    for name in Metrics._fields:
        np.testing.assert_allclose(found[name], [getattr(of_ensemble, name), getattr(known, name)])


def test_by_group():
    made = grouped()
    panel = made.panel
    found = reference_estimates(made, None)
    for g in range(3):
        own = panel.take(panel.group == g)
        known = own.take(own.labeled)
        of_ensemble = metrics(own.probs, mean_and_labels(own))
        of_labels = metrics(known.probs, np.eye(2)[known.y])
        for name in Metrics._fields:
            expected = [getattr(of_ensemble, name), getattr(of_labels, name)]
            np.testing.assert_allclose(found[name][..., g], expected)


def test_without_labels_the_labels_say_nothing():
    made = problem(n=60)
    none = replace(made, panel=replace(made.panel, y=np.full(60, -1, dtype="i4")))
    found = reference_estimates(none, None)
    assert all(np.isnan(values[1]).all() for values in found.values())
    assert all(np.isfinite(values[0]).all() for values in found.values())


def test_the_point_estimate_is_ssme_kde():
    made = problem(n=60)
    expected = estimate(made.panel)
    found = point_estimate(made, None)
    assert set(found) == {*Metrics._fields, "class_prior"}
    for name, values in found.items():
        np.testing.assert_array_equal(values, getattr(expected, name))


def test_the_point_estimate_by_group():
    made = grouped()
    expected = estimate_by_group(made.panel)
    for name, values in point_estimate(made, None).items():
        np.testing.assert_array_equal(values, getattr(expected, name))
