"""Results of `credal` without NUTS, for the tests of everything that only presents them."""

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

import bayescal as bc
from bayescal.quantities.credal.priors import ImpreciseDirichlet, LabelRatePrior

BINS = ImpreciseDirichlet(bins=6)


def make_split(
    classifiers: Sequence[str] = ("a",),
    classes: Sequence[str] = ("no", "yes"),
    *,
    calibration: int = 150,
    target: int = 30,
    seed: int = 0,
) -> bc.CalibrationSplit:
    """Simulate scores that know more or less of the label, later classifiers less."""
    rng = np.random.default_rng(seed)
    n, k = calibration + target, len(classes)
    label = rng.integers(0, k, n)
    logit = rng.normal(size=(len(classifiers), n, k))
    logit[:, np.arange(n), label] += np.linspace(2.0, 1.0, len(classifiers))[:, None]
    prob = np.exp(logit) / np.exp(logit).sum(axis=-1, keepdims=True)
    score = dict(zip(classifiers, prob[..., 1] if k == 2 else prob, strict=True))
    names = np.array(classes, dtype=object)[label]

    def part(rows: slice, y_true: object) -> bc.Scores:
        stacked = {name: values[rows] for name, values in score.items()}
        return bc.Scores.stack(
            stacked, y_true=y_true, classes=classes, pos_label=classes[1] if k == 2 else 1
        )

    known, asked = slice(0, calibration), slice(calibration, n)
    return bc.CalibrationSplit(
        calibration=part(known, names[known]), target=part(asked, [None] * target)
    )


def make_credal_result(
    classifiers: Sequence[str] = ("a",),
    classes: Sequence[str] = ("no", "yes"),
    *,
    prior: LabelRatePrior = BINS,
    converged: bool = True,
    draws: int = 100,
    calibration: int = 150,
    target: int = 30,
) -> xr.DataTree:
    """Fit simulated scores under a prior that has its posterior without NUTS."""
    data = make_split(classifiers, classes, calibration=calibration, target=target)
    tree = bc.fit(
        bc.credal, data, priors=bc.credal.Priors(prior), seed=20, method="direct", draws=draws
    )
    return tree if converged else failed(tree)


def failed(tree: xr.DataTree) -> xr.DataTree:
    """Say of a result that its fits did not converge."""
    names = ", ".join(json.loads(tree.attrs["classifiers"]))
    tree.attrs["status"] = f"{names}: the fit did not converge, R-hat 1.53 > 1.01. Sample longer."
    tree.attrs["converged"] = "false"
    held = tree["diagnostics"]["converged"]
    tree["diagnostics"]["converged"] = held.copy(data=np.zeros(held.shape, bool))
    return tree


def make_credal_grid(
    classifiers: Sequence[str] = ("a",), classes: Sequence[str] = ("no", "yes")
) -> xr.DataTree:
    """Fit the same under three priors."""
    priors = {"bins": BINS, "few": ImpreciseDirichlet(bins=3), "heavy": ImpreciseDirichlet(4, 6)}
    return bc.prior_sensitivity(
        bc.credal,
        make_split(classifiers, classes),
        {name: bc.credal.Priors(prior) for name, prior in priors.items()},
        seed=20,
        method="direct",
        draws=100,
    )
