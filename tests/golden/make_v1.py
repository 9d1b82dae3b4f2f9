"""Make v1_*.nc.gz: results as version 0.1.0 wrote them (schema 1), compressed.

Run with version 0.1.0 on the path: ``python tests/golden/make_v1.py``.
"""

import gzip
import tempfile
import warnings
from pathlib import Path

import xarray as xr

import bayescal as bc

HERE = Path(__file__).parent


def keep(tree: xr.DataTree, name: str) -> None:
    """Save with 0.1.0, and compress the file."""
    with tempfile.TemporaryDirectory() as place:
        # Without the 1000 draws of the prior, the largest group.
        saved = bc.save(tree.drop_nodes("prior"), Path(place) / "result.nc")
        (HERE / f"v1_{name}.nc.gz").write_bytes(gzip.compress(saved.read_bytes(), 9, mtime=0))


# Collecting doctests imports this file: it must not run then.
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    pair = {"a": [k / 30 for k in range(30)], "b": [(k / 30) ** 2 for k in range(30)]}
    scores = bc.Scores.stack(pair, y_true=[k % 7 > 2 for k in range(30)])
    priors = {"default": bc.ece.Priors(), "tight": bc.ece.Priors(bc.ece.SmoothCurve(scale=0.3))}
    one = bc.Scores(y_true=[k % 7 > 2 for k in range(30)], y_prob=pair["a"], classifier="a")
    quick = {"seed": 20, "quick": True, "draws": 4}

    keep(bc.fit(bc.ece, scores, n_bins=3, **quick), "ece")
    keep(bc.prior_sensitivity(bc.ece, one, priors, n_bins=3, **quick), "grid")
    split = bc.datasets.credal.truth("logistic").split(60, [0.1, 0.5, 0.9], seed=1)
    rates = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    keep(bc.fit(bc.credal, split, priors=rates, **quick), "credal")
    panel = bc.datasets.ssme.truth("mixed").scores(10, 30, seed=1)
    keep(bc.fit(bc.ssme, panel, seed=20, draws=5, tune=5, chains=2), "ssme")
