"""SSME-NF: seeds, shapes and what it must find; without the extra, what it must say."""

import subprocess
import sys

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme import flow
from bayescal.quantities.ssme.flow import FlowSettings, latent_points
from bayescal.quantities.ssme.flow_estimator import estimate_flow
from bayescal.quantities.ssme.metrics import metrics
from bayescal.quantities.ssme.panel import panel_of
from tests.quantities.ssme.made import binary, multiclass

SMALL = FlowSettings(n_couplings=2, n_layers=1, width=16, n_steps=60, learning_rate=3e-3)


@pytest.fixture
def installed():
    pytest.importorskip("flowjax", reason="the extra 'flow' is not installed")


def test_one_coordinate_is_too_few():
    with pytest.raises(InputError, match="needs at least two coordinates"):
        estimate_flow(bc.Scores(y_true=[0, None], y_prob=[0.2, 0.9]))


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(flow, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'bayescal\[flow\]'"):
        estimate_flow(binary()[0])


@pytest.mark.usefixtures("installed")
def test_same_seed_same_points():
    coords = np.random.default_rng(0).normal(size=(80, 3))
    prob = np.full((80, 2), 0.5)
    first, again, other = (latent_points(coords, prob, SMALL, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_training_makes_classes_normal():
    """Squared distances from the class mean, in class deviations, are chi-squared: mean d."""
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=600)
    normal = rng.normal(size=(600, 2)) + 4 * label[:, np.newaxis]
    bent = np.stack([normal[:, 0], normal[:, 1] + 0.5 * normal[:, 0] ** 2], axis=1)

    def correlation(points):
        """Mean over classes of |cor| between x and y, and between x^2 and y."""
        found = []
        for k in range(2):
            x, y = (points[label == k] - points[label == k].mean(axis=0)).T
            found += [abs(np.corrcoef(x, y)[0, 1]), abs(np.corrcoef(x**2, y)[0, 1])]
        return np.mean(found)

    settings = SMALL._replace(n_steps=600)
    straight = latent_points(bent, np.eye(2)[label], settings, 0)
    assert correlation(straight) < 0.5 * correlation(bent)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("make", [binary, multiclass])
def test_labels_that_clusters_tell(make):
    scores, truth = make(n=300)
    found = estimate_flow(scores, settings=SMALL, n_draws=None)
    k = scores.n_classes
    np.testing.assert_array_equal(found.prob_label[:20], np.eye(k)[truth[:20]])
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    exact = metrics(panel_of(scores).probs, np.eye(k)[truth])
    # A small flow on 300 rows; the standard error of an accuracy of 300 rows is .02.
    np.testing.assert_allclose(found.accuracy, exact.accuracy, atol=0.1)
    assert found.accuracy.shape == (3,)


def test_nothing_is_loaded_before_it_is_needed():
    code = (
        "import sys; import bayescal.quantities.ssme.flow_estimator; "
        "sys.exit(any(name in sys.modules for name in ('jax', 'flowjax', 'pymc')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
