"""Scores, models and results that tests of the quantity share."""

import json
from dataclasses import replace

import numpy as np
import xarray as xr
from scipy.stats import norm

import bayescal as bc
from bayescal.quantities.ssme import VARIABLES
from bayescal.quantities.ssme.data import Problem, score_matrix
from bayescal.quantities.ssme.model import label_model
from bayescal.quantities.ssme.posterior import SSMECase
from bayescal.quantities.ssme.priors import Priors, Tilt
from bayescal.results import schema
from bayescal.results.assemble import assemble
from tests.interpreted import PLAIN


def binary(n=200, m=3, n_labeled=20, seed=0, group=None):
    """Overlapping calibrated-like scores of m classifiers; the first rows are labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    logit = 1.5 * (2 * truth - 1) + rng.normal(size=(m, n))
    prob = 1 / (1 + np.exp(-logit))
    label = [int(y) if i < n_labeled else None for i, y in enumerate(truth)]
    scores = {f"c{j}": prob[j] for j in range(m)}
    return bc.Scores.stack(scores, y_true=label, group=group), truth


def weighted(weight=None, **given):
    """The same scores with weights of their rows."""
    scores, _ = binary(**given)
    return bc.Scores.stack(
        dict(zip(scores.classifiers, scores.y_prob, strict=True)),
        y_true=[None if y < 0 else int(y) for y in scores.y_true],
        group=None if scores.group is None else np.array(scores.groups)[scores.group],
        sample_weight=weight,
    )


def multiclass(n=200, m=3, k=4, n_labeled=20, seed=0):
    """The same for k classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    logit = 2.0 * np.eye(k)[truth] + rng.normal(size=(m, n, k))
    prob = np.exp(logit)
    prob /= prob.sum(axis=2, keepdims=True)
    label = [int(y) if i < n_labeled else None for i, y in enumerate(truth)]
    return bc.Scores.stack({f"c{j}": prob[j] for j in range(m)}, y_true=label), truth


# Sampling where its statistics are not the point.
TINY = {"draws": 50, "tune": 50, "chains": 2, "seed": 1}


def problem(labeling="random", **given) -> Problem:
    """Rows of overlapping binary scores."""
    return Problem.of(score_matrix(binary(**given)[0]), labeling)


def many_classes(labeling="random", **given) -> Problem:
    """Rows of several classes."""
    return Problem.of(score_matrix(multiclass(**given)[0]), labeling)


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


def result_of(keep_labels: bool = True, **given) -> tuple[xr.DataTree, Problem]:
    """A result, and the problem that it is of."""
    made = problem(**given)
    own = SSMECase.of(made, Priors(), keep_labels=keep_labels)
    rng = np.random.default_rng(1)
    arrays = own.arrays(in_chains(own.model.prior_draws(200, rng)), None, rng)
    # A sampler's figures, of which there are none.
    arrays = replace(arrays, diagnostics={"divergences": 0})
    attrs = dict.fromkeys(schema.REQUIRED_ATTRS, "[]") | {
        "schema_version": schema.SCHEMA_VERSION,
        "priors": Priors().to_json(),
        "n_labeled": made.matrix.n_labeled,
        "classifiers": json.dumps(made.matrix.classifiers),
    }
    tree = assemble([arrays], variables=VARIABLES, attrs=attrs, coords=own.axes)
    tree.attrs |= attrs
    return tree, made


def by_hand(coords, widths, weight, leave_one_out=False):
    """Sums of products of normal densities."""
    n, n_classes = weight.shape
    found = np.zeros((n, n_classes))
    for i in range(n):
        for k in range(n_classes):
            density = norm.pdf(coords, coords[i], widths[k]).prod(axis=1)
            if leave_one_out:
                density[i] = 0
            found[i, k] = density @ weight[:, k]
    return found


def contrasts(log_sums):
    """What is meant: classes of a row against each other."""
    return log_sums - log_sums[:, :1]


def made(n=60, d=2, k=3, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return spread * rng.normal(size=(n, d)), rng.dirichlet(np.ones(k), n)


def simulated(n_obs=300, n_labeled=40, n_classes=2, n_classifiers=3, seed=1):
    """Scores of noisy classifiers, with the labels of the first rows known; and all labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_obs)
    y[:n_classes] = np.arange(n_classes)
    logits = 1.5 * np.eye(n_classes)[y] + rng.normal(size=(n_classifiers, n_obs, n_classes))
    probs = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    known = [*map(int, y[:n_labeled]), *[None] * (n_obs - n_labeled)]
    return stacked(probs, known), y


def stacked(probs, y_true):
    """Scores of classifiers named by their place."""
    probs = np.asarray(probs)
    columns = probs[..., 1] if probs.shape[2] == 2 else probs
    names = {f"c{m}": column for m, column in enumerate(columns)}
    classes = list(range(probs.shape[2]))
    return bc.Scores.stack(names, y_true=y_true, classes=None if len(classes) == 2 else classes)


def unlabeled(scores):
    """The score matrix, without any label."""
    matrix = score_matrix(scores)
    return replace(matrix, y=np.full_like(matrix.y, -1))
