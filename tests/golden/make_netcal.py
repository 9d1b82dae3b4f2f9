"""ECE and MCE by netcal, which needs torch: kept as numbers, so that no test has to install it.

Run where netcal is installed: ``python tests/golden/make_netcal.py``. It needs nothing of bayescal.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from netcal.metrics import ECE, MCE

SEED, ROWS = 0, 400


def rows(decimals: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels as `make` in tests/quantities/ece/test_estimator.py draws them."""
    rng = np.random.default_rng(SEED)
    score = rng.random(ROWS)
    if decimals is not None:
        score = score.round(decimals)
    return score, (rng.random(ROWS) < score**1.4).astype(int)


def main() -> None:
    found = []
    for decimals in (None, 1):
        score, event = rows(decimals)
        for n_bins in (5, 10, 15):
            ece = float(ECE(n_bins).measure(score, event))
            mce = float(MCE(n_bins).measure(score, event))
            found.append({"decimals": decimals, "n_bins": n_bins, "ece": ece, "mce": mce})
    about = f"netcal {version('netcal')}, numpy {np.__version__}; {ROWS} rows, seed {SEED}."
    path = Path(__file__).with_name("netcal.json")
    path.write_text(json.dumps({"about": about, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
