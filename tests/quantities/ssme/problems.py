"""Problems, models and checks of the posterior that its tests share."""

import numpy as np
from pytensor.compile.mode import Mode

from bayescal.quantities.ssme.data import Problem, panel_of
from bayescal.quantities.ssme.model import label_model
from bayescal.quantities.ssme.priors import Priors, Tilt
from tests.quantities.ssme.made import binary, multiclass

# Python alone: compiling takes longer than a few densities.
PLAIN = Mode(linker="py", optimizer="fast_compile")
# Sampling where its statistics are not the point.
TINY = {"draws": 50, "tune": 50, "chains": 2, "seed": 1}


def problem(labeling="random", **given) -> Problem:
    """Rows of overlapping binary scores."""
    return Problem.of(panel_of(binary(**given)[0]), labeling)


def many_classes(labeling="random", **given) -> Problem:
    """Rows of several classes."""
    return Problem.of(panel_of(multiclass(**given)[0]), labeling)


def grouped(labeling="random", n=60, n_labeled=20, **given) -> Problem:
    """Rows of three groups."""
    group = np.array(["x", "y", "z"])[np.arange(n) % 3]
    return problem(labeling, n=n, n_labeled=n_labeled, group=group, **given)


def model(made, label=None, power=0.6, discount=0.0):
    """Join a problem and a label model."""
    return label_model(made, Priors(label=label or Tilt(), power=power, discount=discount))


def in_chains(draws, chains=2):
    """Fold draws (draw, ...) into (chain, draw, ...)."""
    return {name: v.reshape(chains, -1, *v.shape[1:]) for name, v in draws.items()}


def log_density_of(model, variables):
    """Log density of a PyMC model at a point of the named free variables, Jacobians left out."""
    logp = model.compile_logp(jacobian=False, mode=PLAIN)
    transforms = model.rvs_to_transforms

    def at(point):
        given = {}
        for rv in model.free_RVs:
            value, transform = point[rv.name], transforms[rv]
            if transform is not None:
                value = transform.forward(value, *rv.owner.inputs).eval(mode=PLAIN)
            given[model.rvs_to_values[rv].name] = np.asarray(value)
        return float(logp(given))

    assert {rv.name for rv in model.free_RVs} <= set(variables)
    return at
