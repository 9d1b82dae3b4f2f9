"""Numbers of `bayescal.ssme` at fixed inputs: `python -m tests.golden.make_ssme FILE` writes them.

`tests/golden/ssme_logp.json` was written with the first version of the package, before its modules
were moved, so that a test of later versions shows a change of the model or of a metric.
"""

import json
import sys
from dataclasses import replace

import numpy as np

import bayescal as bc

try:
    from bayescal.quantities.ssme.data import Problem, score_matrix
    from bayescal.quantities.ssme.estimator import RELEASE, KDESettings
    from bayescal.quantities.ssme.kde import DenseKernel, GridKernel, NeighborKernel
    from bayescal.quantities.ssme.model import label_model

    PRIORS = {"power": 0.6, "discount": 0.0}
    # The first version took the log ratios to the first class.
    AS_FIRST = {"settings": KDESettings(reference="first")}
    # It weighed labelled rows in the first epoch too.
    AS_RELEASE = {"settings": replace(RELEASE, weighted_start=True)}
except ImportError:  # the first version
    from bayescal.quantities.ssme.family import family as label_model
    from bayescal.quantities.ssme.grid_kernel import GridKernel
    from bayescal.quantities.ssme.kernel import DenseKernel
    from bayescal.quantities.ssme.neighbor_kernel import NeighborKernel
    from bayescal.quantities.ssme.panel import panel_of as score_matrix
    from bayescal.quantities.ssme.problem import Problem

    PRIORS, AS_FIRST, AS_RELEASE = {"power": 0.6}, {}, {"variant": "release"}
from bayescal.quantities.ssme.posterior import evaluate
from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture

ROWS, LABELED = 50, 16


def scores(n_classes, groups=False):
    """Three classifiers of overlapping scores; the first rows are labeled."""
    rng = np.random.default_rng(7)
    truth = rng.integers(n_classes, size=ROWS)
    raw = np.exp(1.5 * np.eye(n_classes)[truth] + rng.normal(size=(3, ROWS, n_classes)))
    prob = raw / raw.sum(axis=2, keepdims=True)
    columns = prob[..., 1] if n_classes == 2 else prob
    label = [int(y) if i < LABELED else None for i, y in enumerate(truth)]
    group = [f"g{i % 2}" for i in range(ROWS)] if groups else None
    return bc.Scores.stack(dict(zip("abc", columns, strict=True)), y_true=label, group=group)


def log_densities():
    """Log density of each model, Jacobians included, at three points of its free variables."""
    from pytensor.compile.mode import Mode

    # Python alone: compiling takes longer than three densities.
    plain = Mode(linker="py", optimizer="fast_compile")
    models = {
        "Gaussian mixture": bc.ssme.build_model(scores(2), Priors(GaussianMixture(), **PRIORS)),
        "Student-t mixture": bc.ssme.build_model(scores(3), Priors(StudentTMixture(), **PRIORS)),
    }
    found = {}
    for name, model in models.items():
        rng = np.random.default_rng(8)
        shapes = {key: np.shape(value) for key, value in sorted(model.initial_point().items())}
        log_density = model.compile_logp(mode=plain)
        points = [
            {key: 0.5 * rng.normal(size=shape) for key, shape in shapes.items()} for _ in range(3)
        ]
        found[name] = [float(log_density(point)) for point in points]
    return found


def metric_draws():
    """Metrics under drawn label probabilities and weights, by convention."""
    rng = np.random.default_rng(9)
    found = {}
    for n_classes, ece in ((2, "equal-mass"), (2, "equal-width"), (3, "top-label")):
        matrix = score_matrix(scores(n_classes))
        q = rng.dirichlet(np.ones(n_classes), (2, ROWS))
        values = bc.ssme.metrics(matrix.probs, q, rng.exponential(size=(2, ROWS)), ece=ece)
        found[ece] = {key: value.tolist() for key, value in values._asdict().items()}
    return found


def evaluated():
    """Draws of metrics for fixed coefficients of the default tilt, without and with groups."""
    found = {}
    for name, made in (("rows", scores(2)), ("groups", scores(2, groups=True))):
        rng = np.random.default_rng(10)
        problem = Problem.of(score_matrix(made), "random")
        draws = {
            "intercept": 0.3 * rng.normal(size=(2, 2, 2)),
            # One slope for both classes: the first version did not centre what slopes multiply.
            "slope": np.repeat(rng.uniform(0.5, 2, (2, 2, 1)), 2, axis=2),
            "weight": 0.2 * rng.normal(size=(2, 2, 3)),
            "bend": 0.2 * rng.normal(size=(2, 2)),
            # Later versions have bends of single classifiers too.
            "own_bend": np.zeros((2, 2, 3)),
        }
        if name == "groups":
            draws["group_intercept"] = 0.2 * rng.normal(size=(2, 2, 2, 2))
            draws["group_slope"] = 0.2 * rng.normal(size=(2, 2, 2))
        model = label_model(problem, Priors())
        values = evaluate(problem, model, draws, np.random.default_rng(11), ece=None).metrics
        found[name] = {key: value.tolist() for key, value in values.items()}
    return found


def estimates():
    """SSME-KDE as in the paper and as in its code, and the baselines that draw no regression."""
    made = scores(3)
    baselines = bc.ssme.baselines
    found = {
        "paper": bc.ssme.estimate(made, **AS_FIRST, n_draws=20),
        "release": bc.ssme.estimate_each(made, **AS_RELEASE, n_draws=20),
        "by group": bc.ssme.estimate_by_group(scores(2, groups=True), n_draws=20),
        "ensemble": bc.ssme.ensemble(made),
        "labeled": baselines.labeled(made),
        "majority vote": baselines.majority_vote(made),
        "Dawid-Skene": baselines.dawid_skene(made),
        "AutoEval": baselines.autoeval(made),
    }
    return {
        name: {key: np.asarray(value).tolist() for key, value in values._asdict().items()}
        for name, values in found.items()
    }


def kernel_sums():
    """Log sums of every kernel, classes of a row against each other."""
    rng = np.random.default_rng(12)
    weight = rng.dirichlet(np.ones(3), 30)
    widths = np.array([0.4, 0.8, 0.4])
    found = {}
    for kind, n_coords in ((DenseKernel, 2), (NeighborKernel, 2), (GridKernel, 1)):
        # Rounded, so that rows are tied.
        coords = rng.normal(size=(30, n_coords)).round(1)
        for leave_one_out in (False, True):
            sums = kind(coords, widths, leave_one_out).log_sums(weight)
            found[f"{kind.__name__}, {leave_one_out}"] = (sums[:, 1:] - sums[:, :1]).tolist()
    return found


PARTS = {
    "log_densities": log_densities,
    "metrics": metric_draws,
    "evaluate": evaluated,
    "estimates": estimates,
    "kernels": kernel_sums,
}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump({name: part() for name, part in PARTS.items()}, file)
