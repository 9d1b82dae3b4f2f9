"""The flow of SSME-NF: seeds and what training must reach; without the extra, what it must say."""

from dataclasses import replace

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme import flow
from bayescal.quantities.ssme.flow import (
    FixedBase,
    FlowSettings,
    JointBase,
    Normals,
    check_coordinates,
    latent_points,
    normals_of,
)
from tests.conftest import oracle

SMALL = FlowSettings(n_couplings=4, n_layers=2, width=32, n_epochs=300, learning_rate=3e-3)
# Compiled in a second; where it ends does not matter.
TINY = FlowSettings(n_couplings=1, n_layers=2, width=4, n_epochs=3, learning_rate=3e-3)


@pytest.fixture
def installed():
    oracle("flowjax")


def joint(prob, points):
    return JointBase(normals_of(points, prob, diagonal=True).mean, prob)


def fixed(prob, points):
    """Standard normals at the classes' means: the flow has to take out what correlates."""
    mean = normals_of(points, prob, diagonal=True).mean
    whitening = np.broadcast_to(np.eye(points.shape[1]), (*mean.shape, points.shape[1]))
    normals = Normals(mean, whitening, np.zeros(len(mean)))
    return FixedBase(normals, prob.mean(axis=0), (prob > 0).astype(float))


def test_one_coordinate_is_too_few():
    with pytest.raises(InputError, match="needs at least two coordinates"):
        check_coordinates(np.zeros((4, 1)))


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(flow, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'bayescal\[flow\]'"):
        latent_points(np.zeros((4, 2)), JointBase(np.zeros((2, 2)), np.full((4, 2), 0.5)), TINY, 0)


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_the_paper_s_networks():
    """Appendix C: 3 fully connected layers, with 128 units between them; ten couplings."""
    import equinox as eqx
    import flowjax.bijections as bijections
    import jax
    import jax.numpy as jnp

    built = flow._real_nvp(eqx, jax, jnp, bijections, jax.random.key(0), 5, FlowSettings())
    weights = [leaf.shape for leaf in jax.tree.leaves(built) if getattr(leaf, "ndim", 0) == 3]
    # (coupling, units out, units in): of 5 coordinates 2 go in, and 3 get a scale and a shift.
    assert weights == [(10, 128, 2), (10, 128, 128), (10, 6, 128)]


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("n_couplings", [2, 3])
def test_untrained_it_leaves_points_where_they_are(n_couplings):
    points = np.random.default_rng(0).normal(size=(30, 3))
    settings = replace(TINY, n_couplings=n_couplings, learning_rate=1e-12)
    found = latent_points(points, fixed(np.full((30, 2), 0.5), points), settings, 0)
    np.testing.assert_allclose(found, points, atol=1e-5)  # single precision


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_same_seed_same_points():
    coords = np.random.default_rng(0).normal(size=(80, 3))
    base = fixed(np.full((80, 2), 0.5), coords)
    first, again, other = (latent_points(coords, base, TINY, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("base", [joint, fixed])
def test_training_makes_classes_normal(base):
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

    straight = latent_points(bent, base(np.eye(2)[label], bent), SMALL, 0)
    assert correlation(straight) < 0.5 * correlation(bent)
