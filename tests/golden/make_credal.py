"""Write credal_direct.json: numbers of the version before cases, plans and methods were renamed.

To make it again, run this with that version on PYTHONPATH. `test_credal_golden.py` computes the
same numbers with this version, through the same functions.
"""

import json
from pathlib import Path

import numpy as np

import bayescal as bc

FILE = Path(__file__).parent / "credal_direct.json"
DRAWS = 200
VARIABLES = ("prob", "prob_lower", "prob_upper")


def split():
    """Two hundred calibration rows with distinct scores, and four target rows."""
    return bc.datasets.credal.truth("logistic").split(200, [0.05, 0.4, 0.62, 0.97], 7)


def label_rates():
    return {
        "IncrementIsotonic": bc.credal.IncrementIsotonic(),
        "ImpreciseDirichlet": bc.credal.ImpreciseDirichlet(),
    }


def direct_numbers(**how):
    """Means and three draws of each variable and prior, (mean and draws, row)."""
    found = {}
    for name, rate in label_rates().items():
        priors = bc.credal.Priors(rate)
        result = bc.fit(bc.credal, split(), priors=priors, seed=20, draws=DRAWS, chains=2, **how)
        posterior = result["posterior"].to_dataset()
        found[name] = {}
        for variable in VARIABLES:
            draws = posterior[variable].transpose("chain", "draw", "obs", ...).to_numpy()
            flat = draws.reshape(2 * DRAWS, -1)
            found[name][variable] = np.vstack([flat.mean(axis=0), flat[[0, 1, -1]]]).tolist()
    return found


def model_numbers():
    """Log density of the rising curve's model at three points of its free variables."""
    model = bc.credal.build_model(split(), bc.credal.Priors(bc.credal.MonotoneCurve()))
    density = model.compile_logp(mode="FAST_COMPILE")
    ((name, start),) = model.initial_point().items()
    at = np.random.default_rng(11).normal(size=(3, *np.shape(start)))
    return [float(density({name: one})) for one in at]


if __name__ == "__main__":
    numbers = {"direct": direct_numbers(quick=True), "logp": model_numbers()}
    FILE.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
