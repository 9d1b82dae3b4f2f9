"""Results of `ssme` without PyMC, for the tests of everything that only presents them.

Draws are normal around made-up truths, with noise that the classifiers share, as they share rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.quantity import METRIC, MORE, CaseArrays
from bayescal.quantities import ssme
from bayescal.results.assemble import assemble

Array = NDArray[Any]

METRICS = tuple(one.name for one in ssme.VARIABLES if one.role == METRIC)
HIGHER = tuple(one.name for one in ssme.VARIABLES if one.better == MORE)

_TRUTH = {
    "accuracy": 0.84,
    "ece": 0.05,
    "auc": 0.9,
    "auprc": 0.86,
    "mce": 0.12,
    "log_loss": 0.4,
    "brier": 0.13,
}


def make_panel_result(
    classifiers: Sequence[str] = ("a", "b", "c"),
    groups: Sequence[str] = (),
    *,
    draws: int = 200,
    chains: int = 4,
    converged: bool = True,
    status: str = "ok",
    labeled: bool = True,
    seed: int = 0,
) -> xr.DataTree:
    """Make up a result of `ssme`; later classifiers are worse.

    Where it did not converge the status says so; without labels the estimate on the labelled rows
    is NaN.
    """
    rng = np.random.default_rng(seed)
    m, g = len(classifiers), max(len(groups), 1)
    shape = (*((m,) if m > 1 else ()), *((g,) if groups else ()))
    metrics = {name: _draws(rng, name, (chains, draws), m, g, shape) for name in METRICS}
    centre = {name: value.mean(axis=(0, 1)) for name, value in metrics.items()}
    off = 0.02 if labeled else np.nan
    slope = rng.normal(size=(chains, draws))
    n_labeled = 40 if labeled else 0
    theory = ssme.bounds(n_labeled, m)._asdict()
    case = CaseArrays(
        coords={"classifier": classifiers[0]} if m == 1 else {},
        posterior={**metrics, "bend": slope},
        prior={name: value[:1, : draws // 2] for name, value in metrics.items()},
        sample_stats={"diverging": np.zeros((chains, draws), bool)},
        log_likelihood={"label": rng.normal(-0.3, 0.05, (chains, draws, max(n_labeled, 1)))},
        log_prior={"bend": -0.5 * slope**2},
        point_estimate={**{k: v + 0.01 for k, v in centre.items()}, "class_prior": [0.5, 0.5]},
        reference_estimates={name: np.stack([v - 0.01, v + off]) for name, v in centre.items()},
        bounds={name: bound.value for name, bound in theory.items()},
        bounds_attrs={
            name: {"kind": bound.kind, "assumption": bound.assumption}
            for name, bound in theory.items()
        },
        diagnostics={
            "rhat_max": 1.002 if converged else 1.53,
            "ess_min": 1500.0 if converged else 7.0,
            "divergences": 0 if converged else 31,
            "ebfmi_min": 0.9,
            "converged": converged,
        },
    )
    wrong = "all classifiers: the fit did not converge, R-hat 1.53 > 1.01. Sample longer."
    return assemble(
        [case],
        variables=ssme.VARIABLES,
        coords={
            "method": ("ensemble", "labeled"),
            "label_class": ("0", "1"),
            **({"classifier": classifiers} if m > 1 else {}),
            **({"group": groups} if groups else {}),
        },
        attrs={
            "bayescal_version": "0.1.0",
            "quantity": "ssme",
            "title": ssme.TITLE,
            "estimand": ssme.ESTIMAND,
            "references": [one._asdict() for one in ssme.REFERENCES],
            "classifiers": list(classifiers),
            "classes": ["0", "1"],
            "n_obs": 1040,
            "n_labeled": n_labeled,
            "multiclass": "binary",
            "labeling": "random",
            "ece_convention": "equal-mass",
            "priors": {"label": {"Tilt": {"intercept": 0.3}}, "power": 0.6},
            "prior_text": "The label's probability is that of the pooled classifiers, tilted.",
            "method": "nuts",
            "sampler": "nutpie NUTS",
            "sampler_version": "0.16",
            "draws": draws,
            "chains": chains,
            "seed": seed,
            "status": status if converged else wrong,
            "converged": converged,
        },
    )


def _draws(
    rng: np.random.Generator,
    name: str,
    size: tuple[int, int],
    m: int,
    g: int,
    shape: tuple[int, ...],
) -> Array:
    worse = -0.02 if name in HIGHER else 0.02
    truth = _TRUTH[name] + worse * np.arange(m)[:, None] + 0.01 * np.arange(g)
    shared, own = rng.normal(size=(*size, 1, g)), rng.normal(size=(*size, m, g))
    return np.abs(truth + 0.01 * shared + 0.01 * own).reshape(*size, *shape)
