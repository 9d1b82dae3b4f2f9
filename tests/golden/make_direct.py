"""Numbers of bayescal 0.1.0 for posteriors without NUTS, which later versions have to keep.

``python tests/golden/make_direct.py`` writes direct.json next to it. The file was made with
version 0.1.0 (commit 390c59d), where ``method="direct"`` was called ``quick=True`` and a smooth
curve was the default of ``ece``. The Bayes factor of a jump was then taken out of the file: no
result holds it. As it took random numbers between groups, 14 means of ``ece groups``, which come
after that of the first group in the stream, were made anew with it gone; draws of the curves were
not. The log-likelihood of groups was taken out too: its cells are merged now where groups have
unequal numbers of them, and tests/results/test_assemble.py has their sums. Since version 0.3 the
draws of that time are those given miscalibration, and its averaged means are not kept; numbers of
``ece groups`` were made anew, as random numbers of its later groups come in another order. Of
``pu_ece``'s curves only estimates and bounds were kept: their model, tied to the class prior, is
gone. Do not make the file anew with a later version unless the change of the numbers is meant.
"""

import json
import warnings
from pathlib import Path

import numpy as np

import bayescal as bc

GOLDEN = Path(__file__).with_name("direct.json")
# Of every variable that is a draw, so many draws of each chain are kept in full.
KEPT = 4
GROUPS = ("posterior", "prior", "log_likelihood", "log_prior", "model_average", "point_estimate")
DIAGNOSTICS = ("importance_ess",)
RAW = ("tce", "coef", "concentration", "rate", "common", "pooling", "class_prior")


def rounded(score):
    """Six digits, which later versions, that round scores to twelve, leave as they are."""
    return np.clip(score, 0.001, 0.999).round(6)


def scores(*, groups):
    """Rows of an over-confident classifier, in three groups or none."""
    rng = np.random.default_rng(1)
    score = rounded(rng.random(400))
    y_true = rng.random(400) < 0.2 + 0.6 * score
    group = np.array(["a", "b", "c"])[rng.integers(3, size=400)]
    return bc.Scores(y_true=y_true, y_prob=score, group=group if groups else None)


def pu_scores():
    """Positives and unlabelled rows, half of them positive, with a smooth curve between."""
    rng = np.random.default_rng(2)
    positive = rounded(rng.beta(2, 1, (2, 600)))
    negative = rounded(rng.beta(1, 2, (2, 600)))
    return bc.PUScores(positive=positive[0, :200], unlabeled=np.append(positive[1], negative[1]))


def fits(**how):
    """Yield each fit with its name; `how` says not to use NUTS, as the version calls that."""
    ece, pu = bc.ece, bc.pu_ece
    rows, pu_rows = scores(groups=False), pu_scores()
    study = np.random.default_rng(3).beta(40, 40, size=500)
    asked = {
        "ece default": (ece, rows, ece.Priors(ece.SmoothCurve())),
        "ece Jeffreys": (ece, rows, ece.Priors(ece.IndependentBins(bc.Beta(0.5, 0.5)))),
        "ece hierarchical": (ece, rows, ece.Priors(ece.HierarchicalBins())),
        "ece groups": (ece, scores(groups=True), ece.Priors(ece.SmoothCurve())),
        "pu_ece Beta": (pu, pu_rows, pu.Priors(bc.Beta(20, 20))),
        "pu_ece known": (pu, pu_rows, pu.Priors(0.5, calibrated=0)),
        "pu_ece draws": (pu, pu_rows, pu.Priors(pu.PriorDraws(study))),
    }
    for name, (quantity, data, priors) in asked.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # So few draws never converge.
            settings = {"draws": 20, "chains": 2, "seed": 20, "n_bins": 6, **how}
            yield name, bc.fit(quantity, data, priors=priors, **settings)


def numbers(tree):
    """Mean and standard deviation of every variable, and some of the draws themselves."""
    found = {}
    given = tree["given_miscalibration"].data_vars if "given_miscalibration" in tree else {}
    for group in GROUPS:
        for name, values in tree[group].data_vars.items():
            of_errors = given.get(name, values) if group == "posterior" else values
            held = np.asarray(of_errors.values, dtype=float)
            held = held[np.isfinite(held)]
            found[f"{group}/{name}"] = [float(held.mean()), float(held.std())]
    for name in DIAGNOSTICS:
        if name in tree["diagnostics"] and np.isfinite(tree["diagnostics"][name]).all():
            found[f"diagnostics/{name}"] = np.ravel(tree["diagnostics"][name].values).tolist()
    for name in RAW:
        if name in tree["posterior"]:
            draws = given.get(name, tree["posterior"][name]).values[:, :KEPT]
            found[f"draws/{name}"] = np.ravel(draws).tolist()
    return found


if __name__ == "__main__":
    golden = {name: numbers(tree) for name, tree in fits(method="direct")}
    GOLDEN.write_text(json.dumps(golden, indent=0) + "\n")
