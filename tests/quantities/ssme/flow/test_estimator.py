"""SSME-NF as a whole: labels that clusters show, and what is loaded when."""

import subprocess
import sys

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme import flow
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.flow import (
    FlowSettings,
    estimate_flow,
    fit_normals,
    label_probs,
    normals_of,
    settings_of,
)
from bayescal.quantities.ssme.metrics import metrics
from tests.conftest import oracle
from tests.quantities.ssme.made import binary, multiclass

SMALL = {"n_couplings": 2, "n_layers": 2, "width": 16, "n_epochs": 60, "learning_rate": 3e-3}


def test_one_coordinate_is_too_few():
    with pytest.raises(InputError, match="needs at least two coordinates"):
        estimate_flow(bc.Scores(y_true=[0, None], y_prob=[0.2, 0.9]))


@pytest.fixture
def unbent(monkeypatch):
    """A flow that does nothing: points stay log ratios, and no extra is needed."""
    monkeypatch.setattr(flow, "latent_points", lambda coords, *_: coords)


@pytest.mark.usefixtures("unbent")
@pytest.mark.parametrize("name", ["paper", "joint"])
def test_where_the_flow_does_nothing_it_is_a_mixture_of_normals_on_log_ratios(name):
    scores, truth = binary()
    found = estimate_flow(scores, settings=name, n_draws=None)
    panel = panel_of(scores)
    logit = np.log(panel.probs[..., 1] / panel.probs[..., 0]).T
    known, start = np.eye(2)[truth[:20]], panel.probs.mean(axis=0)
    start[:20] = known
    settings = settings_of(name)
    diagonal = settings.covariance == "diagonal"
    if name == "paper":
        # EM starts from the normals that the flow was trained to.
        normals = normals_of(logit, start, diagonal=diagonal)
        start = label_probs(logit, normals, start.mean(axis=0))
    expected = fit_normals(
        logit,
        start,
        known,
        panel.labeled,
        diagonal=diagonal,
        max_epochs=settings.em_epochs,
        tolerance=settings.em_tolerance,
    )
    # Probabilities are clipped at 1e-6 first, further out than any of these.
    np.testing.assert_allclose(found.prob_label, expected.prob_label, atol=1e-9)
    for ours, theirs in zip(found[:7], metrics(panel.probs, found.prob_label), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert found.n_iter == expected.n_iter == (700 if name == "paper" else found.n_iter)


@pytest.mark.usefixtures("unbent")
def test_given_class_prior_and_seed():
    scores, _ = multiclass()
    given = {"class_prior": [0.1, 0.2, 0.3, 0.4], "n_draws": 5}
    first, again, other = (estimate_flow(scores, seed=seed, **given) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.class_prior, given["class_prior"])
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.accuracy, other.accuracy)
    with pytest.raises(InputError, match="class_prior must hold 4 probabilities"):
        estimate_flow(scores, class_prior=[0.5, 0.5])


@pytest.mark.mcmc
@pytest.mark.parametrize(("make", "base"), [(binary, "fixed"), (multiclass, "joint")])
def test_labels_that_clusters_tell(make, base):
    oracle("flowjax")
    scores, truth = make(n=300)
    found = estimate_flow(scores, settings=FlowSettings(base=base, **SMALL), n_draws=None)
    k = scores.n_classes
    np.testing.assert_array_equal(found.prob_label[:20], np.eye(k)[truth[:20]])
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    exact = metrics(panel_of(scores).probs, np.eye(k)[truth])
    # A small flow on 300 rows; the standard error of an accuracy of 300 rows is .02.
    np.testing.assert_allclose(found.accuracy, exact.accuracy, atol=0.1)
    assert found.accuracy.shape == (3,)


@pytest.mark.mcmc
def test_nothing_is_loaded_before_it_is_needed():
    code = (
        "import sys; import bayescal.quantities.ssme.flow; "
        "sys.exit(any(name in sys.modules for name in ('jax', 'flowjax', 'pymc')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
