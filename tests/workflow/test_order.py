"""A classifier has the same draws whichever others are fitted with it, in whichever order."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import ConvergenceWarning
from bayescal.core.streams import stream
from tests.several import DIRECT, NAMES, data_of, result_of

ORDERS = {"permuted": (NAMES[2], NAMES[0], NAMES[1]), "alone": (NAMES[2],)}


def of_one(tree, group, name):
    """Variables of one classifier, which has no dimension where it is the only one."""
    held = tree[group].to_dataset()
    return held.sel(classifier=name) if "classifier" in held.dims else held


def equal(first, second, name):
    for group in ("posterior", "prior", "model_average", "log_prior", "descriptions"):
        if group not in first.children:
            continue
        before, after = of_one(first, group, name), of_one(second, group, name)
        for variable in before.data_vars:
            held = [one[variable].values for one in (before, after)]
            # What is padded to a common length is longer beside a longer one.
            cut = tuple(slice(min(sizes)) for sizes in zip(*(a.shape for a in held), strict=True))
            np.testing.assert_array_equal(*(a[cut] for a in held), err_msg=f"{group}/{variable}")


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("key", DIRECT)
def test_direct_draws_belong_to_names(key, order):
    equal(result_of(key), result_of(key, ORDERS[order]), NAMES[2])


@pytest.mark.mcmc
def test_nuts_draws_belong_to_names():
    fits = []
    for names in (NAMES, ORDERS["permuted"], ORDERS["alone"]):
        quantity, data, _ = data_of("ece", names)
        priors = bc.ece.Priors(bc.ece.SmoothCurve())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits.append(bc.fit(quantity, data, priors=priors, draws=30, tune=50, chains=2, seed=20))
    for other in fits[1:]:
        equal(fits[0], other, NAMES[2])


@pytest.mark.slow
def test_draws_under_several_priors_belong_to_names():
    grids = []
    for names in (NAMES[:2], NAMES[1::-1]):
        quantity, data, _ = data_of("ece", names)
        priors = {str(s): bc.ece.Priors(bc.ece.SmoothCurve(scale=s)) for s in (0.5, 1.0)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            grids.append(
                bc.prior_sensitivity(quantity, data, priors, seed=20, method="direct", draws=50)
            )
    equal(*grids, NAMES[0])


def test_streams_differ_by_seed_name_and_number_and_by_nothing_else():
    asked = [(1, ("a",), 0), (2, ("a",), 0), (1, ("b",), 0), (1, ("a", "b"), 0), (1, ("a",), 1)]
    first = [stream(seed, *names, number=number).random() for seed, names, number in asked]
    assert len(set(first)) == len(asked)
    again = [stream(seed, *names, number=number).random() for seed, names, number in asked]
    assert first == again
    # Lists of names that read alike are others.
    assert stream(1, "ab").random() != stream(1, "a", "b").random()
    assert np.isfinite(stream(1, "\ud800").random())
